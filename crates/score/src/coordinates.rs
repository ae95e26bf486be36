//! What tells the runs of an experiment apart: language, learner, size, loss, factor, … in the order tables list them.

use std::cmp::Ordering;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The value of a coordinate: a word, a number or a switch. Words are ordered before numbers, numbers before switches.
#[derive(Clone, Debug)]
pub enum Coordinate {
    /// A name, such as that of a language.
    Text(String),
    Integer(u64),
    Number(f64),
    Switch(bool),
}

impl Coordinate {
    /// What it is ordered by.
    fn order(&self) -> (u8, &str, f64) {
        match self {
            Self::Text(text) => (0, text, 0.0),
            // Experiments write 1 and 1.0 for the same size or rate: both are one coordinate.
            Self::Integer(n) => (1, "", *n as f64),
            Self::Number(x) => (1, "", *x),
            Self::Switch(on) => (2, "", f64::from(*on)),
        }
    }
}

impl Ord for Coordinate {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((a, text, x), (b, other, y)) = (self.order(), other.order());
        a.cmp(&b).then_with(|| text.cmp(other)).then_with(|| x.total_cmp(&y))
    }
}

impl PartialOrd for Coordinate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Coordinate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Coordinate {}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(n) => n.fmt(f),
            Self::Number(x) => x.fmt(f),
            Self::Switch(on) => on.fmt(f),
        }
    }
}

impl From<&str> for Coordinate {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Coordinate {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Coordinate {
    fn from(n: usize) -> Self {
        Self::Integer(n as u64)
    }
}

impl From<u64> for Coordinate {
    fn from(n: u64) -> Self {
        Self::Integer(n)
    }
}

impl From<f64> for Coordinate {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<bool> for Coordinate {
    fn from(on: bool) -> Self {
        Self::Switch(on)
    }
}

/// The coordinates of a run, in order. A protocol writes them, exports make them columns, and tables read them by name.
///
/// ```
/// use wug_score::Coordinates;
/// let at = Coordinates::default().with("language", "parity").with("size", 64_000_usize);
/// assert_eq!((at.text("language"), at.integer("size"), at.text("loss")), (Some("parity"), Some(64_000), None));
/// assert_eq!(serde_json::to_string(&at).unwrap(), r#"{"language":"parity","size":64000}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coordinates(Vec<(String, Coordinate)>);

impl Coordinates {
    /// The same with one more at the end, or with its value replaced.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Coordinate>) -> Self {
        self.set(name, value);
        self
    }

    /// The same; a coordinate that does not apply is left out.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<Coordinate>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub fn set(&mut self, name: &str, value: impl Into<Coordinate>) {
        let value = value.into();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// The coordinate of a name.
    pub fn get(&self, name: &str) -> Option<&Coordinate> {
        self.0.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// A coordinate that is a word.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Coordinate::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A coordinate that is a count.
    pub fn integer(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Coordinate::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// A coordinate that is any number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Coordinate::Integer(n) => Some(*n as f64),
            Coordinate::Number(x) => Some(*x),
            _ => None,
        }
    }

    /// A coordinate as it is shown; empty if there is none.
    pub fn show(&self, name: &str) -> String {
        self.get(name).map_or_else(String::new, Coordinate::to_string)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Coordinate)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl Serialize for Coordinates {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            match value {
                Coordinate::Text(text) => map.serialize_entry(name, text)?,
                Coordinate::Integer(n) => map.serialize_entry(name, n)?,
                Coordinate::Number(x) => map.serialize_entry(name, x)?,
                Coordinate::Switch(on) => map.serialize_entry(name, on)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Coordinate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Values;
        impl Visitor<'_> for Values {
            type Value = Coordinate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word, a number or a switch")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Coordinate, E> {
                Ok(text.into())
            }

            fn visit_u64<E: Error>(self, n: u64) -> Result<Coordinate, E> {
                Ok(n.into())
            }

            // Parsers hand over whole numbers from 0 on as u64: this one is negative, and no count.
            fn visit_i64<E: Error>(self, n: i64) -> Result<Coordinate, E> {
                Ok((n as f64).into())
            }

            fn visit_f64<E: Error>(self, x: f64) -> Result<Coordinate, E> {
                Ok(x.into())
            }

            fn visit_bool<E: Error>(self, on: bool) -> Result<Coordinate, E> {
                Ok(on.into())
            }
        }
        from.deserialize_any(Values)
    }
}

impl<'de> Deserialize<'de> for Coordinates {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Coordinates;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of coordinates")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Coordinates, A::Error> {
                let mut all = Coordinates::default();
                while let Some((name, value)) = map.next_entry::<String, Coordinate>()? {
                    if all.get(&name).is_some() {
                        return Err(A::Error::custom(format!("the coordinate `{name}` is given twice")));
                    }
                    all.0.push((name, value));
                }
                Ok(all)
            }
        }
        from.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_read_in_the_order_they_were_written() {
        let all = Coordinates::default()
            .with("zeta", 0.5)
            .with("alpha", "x")
            .with("n", 3_usize)
            .with("on", true)
            .with_some("none", None::<usize>);
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(text, r#"{"zeta":0.5,"alpha":"x","n":3,"on":true}"#);
        assert_eq!(serde_json::from_str::<Coordinates>(&text).unwrap(), all);
        assert!(serde_json::from_str::<Coordinates>(r#"{"a":1,"a":2}"#).is_err());
        assert!(serde_json::from_str::<Coordinates>(r#"{"a":[1]}"#).is_err());
    }

    #[test]
    fn numbers_are_ordered_by_value_and_words_by_letter() {
        let ordered: [Coordinate; 6] =
            ["a".into(), "b".into(), 0.5.into(), 2_usize.into(), 10_usize.into(), true.into()];
        assert!(ordered.is_sorted());
        assert_eq!(Coordinate::from(2.0), Coordinate::from(2_usize));
    }
}
