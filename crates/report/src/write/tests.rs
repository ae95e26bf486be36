//! Whatever a result says, it is shown and does nothing else.

use proptest::prelude::*;

use wug_table::is_hidden;

use super::{escaped_xml, markdown, one_line};

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
    fn xml_says_the_text_in_elements_and_attributes(text in hostile()) {
        let page = format!("<p title=\"{0}\" id='{0}'>{0}</p>", escaped_xml(&text));
        let document = roxmltree::Document::parse(&page).unwrap();
        let root = document.root_element();
        prop_assert_eq!(root.attribute("title").unwrap(), one_line(&text));
        prop_assert_eq!(root.attribute("id").unwrap(), one_line(&text));
        prop_assert_eq!(root.text().unwrap_or_default(), one_line(&text));
    }
}
