//! Whatever a result says, it is shown and does nothing else.

use proptest::prelude::*;

use super::{csv, escaped_json, escaped_xml, is_hidden, markdown, one_line, visible};

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
        "|",
        "`",
        "\\",
        "[a](b)",
        "![x](y)",
        "<b>",
        "</script>",
        "&lt;",
        "\"",
        "'",
        "=1+1",
        "-1.5",
        "+x",
        "@cmd",
        ",",
        "1. ",
        "- ",
        "# ",
        "http://x",
        "www.x",
        "$x$",
        "~~",
        "é",
        "𝔹",
        "\u{fffe}",
    ]);
    let any = prop_oneof![pieces.prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    prop::collection::vec(any, 0..12).prop_map(|parts| parts.concat())
}

/// What is left when the escapes of Markdown are taken away, and which characters were not escaped.
fn without_escapes(text: &str) -> (String, String) {
    let (mut all, mut bare, mut chars) = (String::new(), String::new(), text.chars());
    while let Some(c) = chars.next() {
        if c == '\\' {
            all.extend(chars.next());
        } else {
            all.push(c);
            bare.push(c);
        }
    }
    (all, bare)
}

proptest! {
    #[test]
    fn visible_text_has_no_hidden_character_and_loses_nothing(text in hostile()) {
        let shown = visible(&text);
        prop_assert!(!shown.contains(is_hidden));
        prop_assert!(text.contains(is_hidden) || shown == text);
        prop_assert!(!one_line(&text).contains(is_hidden));
    }

    #[test]
    fn markdown_is_text_and_nothing_else(text in hostile()) {
        let escaped = markdown::escaped(&text);
        let (all, bare) = without_escapes(&escaped);
        prop_assert_eq!(all, one_line(&text));
        prop_assert!(!bare.contains(['|', '*', '_', '`', '<', '>', '[', ']', '#', '&', '~', '$', '!']), "{}", escaped);
        prop_assert!(!bare.contains("://") && !escaped.contains(is_hidden), "{}", escaped);
        let item = markdown::item(&text);
        prop_assert!(item.starts_with("- ") && !item[2..].starts_with(['-', '+', '=', '#', '>']), "{}", item);
    }

    #[test]
    fn a_csv_field_is_one_field_and_no_formula(text in hostile()) {
        let field = csv::escaped(&text);
        prop_assert!(!field.contains(is_hidden));
        let inner = if let Some(rest) = field.strip_prefix('"') {
            rest.strip_suffix('"').unwrap().replace("\"\"", "\"")
        } else {
            prop_assert!(!field.contains([',', '"']));
            field.clone()
        };
        let formula = inner.starts_with(['=', '+', '-', '@', '\t', '\r']);
        prop_assert!(!formula || inner.parse::<f64>().is_ok(), "{}", inner);
        prop_assert_eq!(inner.strip_prefix('\'').filter(|_| !text.starts_with('\'')).unwrap_or(&inner), visible(&text));
    }

    #[test]
    fn xml_says_the_text_in_elements_and_attributes(text in hostile()) {
        let page = format!("<p title=\"{0}\" id='{0}'>{0}</p>", escaped_xml(&text));
        let document = roxmltree::Document::parse(&page).unwrap();
        let root = document.root_element();
        prop_assert_eq!(root.attribute("title").unwrap(), one_line(&text));
        prop_assert_eq!(root.attribute("id").unwrap(), one_line(&text));
        prop_assert_eq!(root.text().unwrap_or_default(), one_line(&text));
    }

    #[test]
    fn json_keeps_its_value_and_ends_no_script(text in hostile()) {
        let json = escaped_json(&serde_json::to_string_pretty(&[&text]).unwrap());
        prop_assert!(!json.contains("</") && !json.replace('\n', "").contains(is_hidden));
        prop_assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), vec![text]);
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
        assert_eq!(csv::escaped(field), expected);
    }
}
