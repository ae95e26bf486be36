//! JSON as columns: nested fields by their path, and the kind that all values of a column have in common.

use serde_json::Value as Json;
use wug_table::{ColumnValue as Value, Kind};

/// Adds every field of an object that is no object itself, under its path, such as `data.training`. What is `null` is left out;
/// a list is kept as it is.
pub(crate) fn flatten(value: &Json, path: &str, out: &mut Vec<(String, Json)>) {
    match value {
        Json::Null => {}
        Json::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(value, &path, out);
            }
        }
        other => out.push((path.to_owned(), other.clone())),
    }
}

/// The kind of a column with these values. Where they have none in common, it is text.
pub(super) fn kind(values: &[&Json]) -> Kind {
    let all = |is: fn(&Json) -> bool| values.iter().all(|value| is(value));
    if values.is_empty() {
        Kind::Text
    } else if all(Json::is_boolean) {
        Kind::Boolean
    // Before `is_u64`: small numbers are both, and signed integers suit more programs.
    } else if all(Json::is_i64) {
        Kind::Integer
    } else if all(Json::is_u64) {
        Kind::Unsigned
    } else if all(Json::is_number) {
        Kind::Float
    } else {
        Kind::Text
    }
}

/// A value in a column of a kind; lists are text, so that a column of them can be grouped by.
pub(super) fn value(value: &Json, kind: Kind) -> Value<'static> {
    match (kind, value) {
        (Kind::Boolean, Json::Bool(on)) => Value::Boolean(*on),
        (Kind::Integer, Json::Number(n)) => n.as_i64().into(),
        (Kind::Unsigned, Json::Number(n)) => n.as_u64().into(),
        (Kind::Float, Json::Number(n)) => n.as_f64().into(),
        (_, Json::String(text)) => text.clone().into(),
        (_, other) => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_fields_are_named_by_their_path_and_lists_stay() {
        let mut flat = Vec::new();
        flatten(&json!({"a": 1, "b": {"c": null, "d": {"e": "x"}}, "l": [0.5, 0]}), "", &mut flat);
        let expected = [("a", json!(1)), ("b.d.e", json!("x")), ("l", json!([0.5, 0]))];
        assert_eq!(flat, expected.map(|(name, value)| (name.to_owned(), value)));
        assert_eq!(value(&flat[2].1, Kind::Text), Value::from("[0.5,0]"));
    }

    #[test]
    fn a_column_has_the_kind_that_its_values_have_in_common() {
        for (values, expected) in [
            (json!([1, -2]), Kind::Integer),
            (json!([1, u64::MAX]), Kind::Unsigned),
            (json!([-1, u64::MAX]), Kind::Float),
            (json!([1, 0.5]), Kind::Float),
            (json!([true, false]), Kind::Boolean),
            (json!([true, 1]), Kind::Text),
            (json!(["x", 1]), Kind::Text),
            (json!([]), Kind::Text),
        ] {
            let values = values.as_array().unwrap();
            assert_eq!(kind(&values.iter().collect::<Vec<_>>()), expected, "{values:?}");
        }
    }
}
