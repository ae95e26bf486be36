//! The page, and the figures on it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod fixtures;

use fixtures::{figures, many, recognition, render};
use wug_report::Format;
use wug_score::{Ending, RunResult};

fn page(results: &[RunResult]) -> String {
    render(results, Format::Html).unwrap()
}

/// The page without its doctype, which is no XML.
fn parsed(page: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(page.strip_prefix("<!DOCTYPE html>\n").unwrap()).unwrap()
}

#[test]
fn a_page_is_well_formed_and_needs_no_other_file() {
    let page = page(&many());
    let document = parsed(&page);
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(
            !["script", "link", "img", "iframe", "object", "image", "use"].contains(&node.tag_name().name())
        );
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && name != "src" && name != "style", "{name}");
            assert!(name != "href" || attribute.value().starts_with('#'), "{}", attribute.value());
        }
    }
    assert!(!page.contains("@import") && !page.contains("url("));
    let web: Vec<&str> = page.match_indices("http").map(|(i, _)| &page[i..i + 26]).collect();
    assert!(web.iter().all(|start| *start == "http://www.w3.org/2000/svg"), "{web:?}");
}

#[test]
fn every_entry_of_the_contents_links_to_its_section() {
    let page = page(&many());
    let document = parsed(&page);
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let links: Vec<&str> = document.descendants().filter_map(|node| node.attribute("href")).collect();
    assert_eq!(links, ids.iter().map(|id| format!("#{id}")).collect::<Vec<_>>());
    let distinct: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert!(distinct.len() == ids.len() && ids.len() > 6, "{ids:?}");
}

#[test]
fn wide_tables_scroll_in_a_box_of_their_own() {
    let page = page(&many());
    let document = parsed(&page);
    let tables: Vec<_> = document.descendants().filter(|node| node.has_tag_name("table")).collect();
    assert!(tables.len() > 3);
    assert!(tables.iter().all(|table| table.parent().unwrap().attribute("class") == Some("wide")));
    assert!(page.contains(".wide{overflow-x:auto"));
}

#[test]
fn text_of_results_is_escaped() {
    let mut result = recognition(["parity", "lstm", "R", "short"], 1, Vec::new());
    result.ending = Ending::Failed { message: "<script>\"&\u{0}\u{1b}</script>".to_owned() };
    "<b>&".clone_into(&mut result.run.version);
    result.run.coordinates.set("learner", "\"><svg");
    "<i>".clone_into(&mut result.run.protocol);
    let page = page(&[result]);
    let document = parsed(&page);
    assert!(page.contains("&lt;script&gt;"));
    assert!(
        document.descendants().all(|node| !["script", "b", "i", "svg"].contains(&node.tag_name().name()))
    );
}

#[test]
fn each_figure_is_a_file_of_its_own_that_shows_every_point() {
    let results = many();
    let figures = figures(&results);
    let titles: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(titles, ["flare-published-figure-2", "flare-published-figure-3", "flare-published-curves"]);
    let count = |i: usize, class: &str| {
        let document = roxmltree::Document::parse(&figures[i].svg).unwrap();
        assert_eq!(document.root_element().tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
        let has = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
        };
        document.descendants().filter(has).count()
    };
    // Two languages with 50 strings each for the best transformer, and an entry of the legend.
    assert_eq!((count(0, "dot"), count(0, "head")), (101, 2));
    // Three languages with a mean and a band for three learners, and the legend; 40, 80 and log 2 in each; two seeds.
    assert_eq!((count(1, "line"), count(1, "band"), count(1, "rule"), count(1, "thin")), (12, 9, 9, 18));
    // The same of their learning curves.
    assert_eq!((count(2, "line"), count(2, "band"), count(2, "thin")), (12, 9, 18));
}
