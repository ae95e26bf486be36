//! Whatever is written is read back, is text and nothing else, and is the same bytes.

use proptest::prelude::*;

use super::*;

/// Strings full of what some format takes for a sign of its own.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\u{1b}[2J",
        "\u{9b}31m",
        "\u{202e}",
        "\u{feff}",
        "\r\n",
        "\t",
        "\0",
        "\\",
        "</script>",
        "\"",
        "'",
        "=1+1",
        "-1.5",
        "+x",
        "@cmd",
        ",",
        "é",
        "𝔹",
        "\u{fffe}",
    ]);
    let any = prop_oneof![pieces.prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    prop::collection::vec(any, 0..8).prop_map(|parts| parts.concat())
}

fn columns() -> Vec<TypedColumn> {
    vec![
        TypedColumn::new("text", Kind::Text),
        TypedColumn::new("integer", Kind::Integer),
        TypedColumn::new("unsigned", Kind::Unsigned),
        TypedColumn::new("float", Kind::Float),
        TypedColumn::new("boolean", Kind::Boolean),
        TypedColumn::list("texts", Kind::Text),
        TypedColumn::list("floats", Kind::Float),
    ]
}

type Scalars = (Option<String>, Option<i64>, Option<u64>, Option<f64>, Option<bool>);
type Lists = (Option<Vec<String>>, Option<Vec<Option<f64>>>);

fn row() -> impl Strategy<Value = (Scalars, Lists)> {
    let finite = || any::<f64>().prop_filter("finite", |x| x.is_finite());
    let scalar = (
        prop::option::of(hostile()),
        any::<Option<i64>>(),
        any::<Option<u64>>(),
        prop::option::of(finite()),
        any::<Option<bool>>(),
    );
    let texts = prop::option::of(prop::collection::vec(hostile(), 0..3));
    let floats = prop::option::of(prop::collection::vec(prop::option::of(finite()), 0..3));
    (scalar, (texts, floats))
}

fn values((scalars, lists): &(Scalars, Lists)) -> Vec<ColumnValue<'static>> {
    let (text, integer, unsigned, float, boolean) = scalars.clone();
    let list = |values: Option<ColumnValue<'static>>| values.unwrap_or_default();
    vec![
        text.into(),
        integer.into(),
        unsigned.into(),
        float.into(),
        boolean.into(),
        list(lists.0.clone().map(ColumnValue::from_iter)),
        list(lists.1.clone().map(ColumnValue::from_iter)),
    ]
}

fn written(format: TableFormat, columns: Vec<TypedColumn>, rows: &[Vec<ColumnValue<'static>>]) -> Vec<u8> {
    let mut table = TableWriter::new(Vec::new(), format, columns).unwrap();
    rows.iter().for_each(|row| table.row(row).unwrap());
    table.finish().unwrap()
}

/// The fields of RFC 4180, with whether each was in quotes.
fn parsed(csv: &str) -> Vec<Vec<(String, bool)>> {
    let (mut rows, mut row, mut field, mut quoted, mut inside) =
        (Vec::new(), Vec::new(), String::new(), false, false);
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if inside && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => (inside, quoted) = (!inside, true),
            ',' | '\n' if !inside => {
                row.push((std::mem::take(&mut field), std::mem::take(&mut quoted)));
                if c == '\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            c => field.push(c),
        }
    }
    rows
}

fn json(value: &ColumnValue<'_>) -> serde_json::Value {
    match value {
        ColumnValue::Null => serde_json::Value::Null,
        ColumnValue::Text(text) => text.as_ref().into(),
        ColumnValue::Integer(n) => u64::try_from(*n).map_or_else(|_| (*n as i64).into(), Into::into),
        ColumnValue::Float(x) => (*x).into(),
        ColumnValue::Boolean(on) => (*on).into(),
        ColumnValue::List(values) => values.iter().map(json).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn visible_text_has_no_hidden_character_and_loses_nothing(text in hostile()) {
        let shown = visible(&text);
        prop_assert!(!shown.contains(is_hidden));
        prop_assert!(text.contains(is_hidden) || shown == text);
        prop_assert!(!one_line(&text).contains(is_hidden));
    }

    #[test]
    fn json_keeps_its_value_and_ends_no_script(text in hostile()) {
        let json = escaped_json(&serde_json::to_string_pretty(&[&text]).unwrap());
        prop_assert!(!json.contains("</") && !json.replace('\n', "").contains(is_hidden));
        prop_assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), vec![text]);
    }

    #[test]
    fn parquet_is_read_back(rows in prop::collection::vec(row(), 0..20)) {
        let rows: Vec<_> = rows.iter().map(values).collect();
        let bytes = written(TableFormat::Parquet, columns(), &rows);
        prop_assert_eq!(&bytes, &written(TableFormat::Parquet, columns(), &rows));
        let (read, back) = read_parquet(bytes).unwrap();
        prop_assert_eq!(read, columns());
        prop_assert_eq!(back.collect::<Result<Vec<_>, _>>().unwrap(), rows);
    }

    #[test]
    fn json_lines_are_read_back(rows in prop::collection::vec(row(), 0..20)) {
        let rows: Vec<_> = rows.iter().map(values).collect();
        let text = String::from_utf8(written(TableFormat::Jsonl, columns(), &rows)).unwrap();
        prop_assert!(!text.contains("</") && !text.replace('\n', "").contains(is_hidden));
        prop_assert_eq!(text.lines().count(), rows.len());
        for (line, row) in text.lines().zip(&rows) {
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            prop_assert!(object.keys().eq(columns().iter().map(|column| &column.name)));
            prop_assert_eq!(object.values().cloned().collect::<Vec<_>>(), row.iter().map(json).collect::<Vec<_>>());
        }
    }

    #[test]
    fn csv_has_a_field_per_value_and_no_formula(rows in prop::collection::vec(row(), 0..20)) {
        let rows: Vec<_> = rows.iter().map(values).collect();
        let text = String::from_utf8(written(TableFormat::Csv, columns(), &rows)).unwrap();
        prop_assert!(!text.replace('\n', "").contains(is_hidden));
        let lines = parsed(&text);
        prop_assert_eq!(lines.len(), rows.len() + 1);
        for (fields, row) in lines[1..].iter().zip(&rows) {
            prop_assert_eq!(fields.len(), row.len());
            for ((field, quoted), value) in fields.iter().zip(row) {
                let formula = field.starts_with(['=', '+', '-', '@']);
                prop_assert!(!formula || field.parse::<f64>().is_ok(), "{}", field);
                prop_assert_eq!(field.is_empty() && !quoted, *value == ColumnValue::Null);
                match value {
                    ColumnValue::Text(text) => {
                        let bare = field.strip_prefix('\'').filter(|_| !text.starts_with('\'')).unwrap_or(field);
                        prop_assert_eq!(bare, visible(text));
                    }
                    ColumnValue::Integer(n) => prop_assert_eq!(field.parse::<i128>().unwrap(), *n),
                    ColumnValue::Float(x) => prop_assert_eq!(field.parse::<f64>().unwrap().to_bits(), x.to_bits()),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn numbers_stay_numbers_in_csv() {
    for (field, expected) in [
        ("-1.5", "-1.5"),
        ("+2e3", "+2e3"),
        ("-1+1", "'-1+1"),
        ("=A1", "'=A1"),
        ("@x", "'@x"),
        ("\t=1", "\\t=1"),
        ("-a,b", "\"'-a,b\""),
    ] {
        assert_eq!(csv_field(field), expected);
    }
}

#[test]
fn infinity_is_not_absent_in_any_format() {
    let infinite = [f64::NEG_INFINITY, f64::INFINITY];
    let rows = infinite.map(|x| vec![ColumnValue::Float(x), ColumnValue::from_iter([-1.5, x])]);
    let columns = || vec![TypedColumn::new("x", Kind::Float), TypedColumn::list("l", Kind::Float)];
    let text = |format| String::from_utf8(written(format, columns(), &rows)).unwrap();
    let lines = "{\"x\":\"-inf\",\"l\":[-1.5,\"-inf\"]}\n{\"x\":\"inf\",\"l\":[-1.5,\"inf\"]}\n";
    assert_eq!(text(TableFormat::Jsonl), lines);
    let lines = "x,l\n-inf,\"[-1.5,\"\"-inf\"\"]\"\ninf,\"[-1.5,\"\"inf\"\"]\"\n";
    assert_eq!(text(TableFormat::Csv), lines);
    let (_, back) = read_parquet(written(TableFormat::Parquet, columns(), &rows)).unwrap();
    assert_eq!(back.collect::<Result<Vec<_>, _>>().unwrap(), rows);
}

#[test]
fn what_is_not_a_number_is_absent_and_whole_numbers_become_floats() {
    let rows = [vec![ColumnValue::Float(f64::NAN)]];
    let column = || vec![TypedColumn::new("x", Kind::Float)];
    assert_eq!(written(TableFormat::Jsonl, column(), &rows), b"{\"x\":null}\n");
    // A line without anything would be skipped by readers.
    assert_eq!(written(TableFormat::Csv, column(), &rows), b"x\n\"\"\n");
    assert_eq!(written(TableFormat::Csv, column(), &[vec![ColumnValue::Integer(2)]]), b"x\n2.0\n");
}

#[test]
fn wrong_columns_and_values_are_refused() {
    let two = || vec![TypedColumn::new("a", Kind::Text), TypedColumn::new("a", Kind::Text)];
    for columns in [vec![], two(), vec![TypedColumn::new("", Kind::Text)]] {
        assert!(matches!(
            TableWriter::new(Vec::new(), TableFormat::Csv, columns),
            Err(TableError::Columns(_))
        ));
    }
    for format in TableFormat::ALL {
        let columns = vec![TypedColumn::new("n", Kind::Unsigned), TypedColumn::list("l", Kind::Text)];
        let mut table = TableWriter::new(Vec::new(), format, columns).unwrap();
        let message = |row: &[ColumnValue<'_>], table: &mut TableWriter<Vec<u8>>| {
            table.row(row).unwrap_err().to_string()
        };
        assert_eq!(message(&[ColumnValue::Null], &mut table), "a row of 1 values in a table of 2 columns");
        let wrong = message(&[ColumnValue::Integer(-1), ColumnValue::Null], &mut table);
        assert_eq!(wrong, "the column `n` is of integers without a sign, but was given Integer(-1)");
        let wrong = message(&[ColumnValue::Null, "x".into()], &mut table);
        assert!(wrong.starts_with("the column `l` is of lists of text"), "{wrong}");
    }
}

/// What is held in memory does not grow with the table: groups are written when they are full.
#[test]
fn row_groups_are_bounded() {
    struct Largest(usize, Vec<u8>);
    impl std::io::Write for Largest {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += 1;
            self.1.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let columns = vec![TypedColumn::new("n", Kind::Integer)];
    let mut table = TableWriter::new(Largest(0, Vec::new()), TableFormat::Parquet, columns).unwrap();
    for n in 0..150_000_usize {
        table.row(&[n.into()]).unwrap();
    }
    let Largest(writes, bytes) = table.finish().unwrap();
    assert_eq!(writes, 4, "three groups and the footer");
    let (_, rows) = read_parquet(bytes).unwrap();
    assert!(rows.enumerate().all(|(i, row)| row.unwrap() == [ColumnValue::from(i)]));
}
