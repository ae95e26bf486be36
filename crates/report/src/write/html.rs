//! One page that needs no other file: contents, tables, figures, in light and in dark.

use super::escaped_xml;
use crate::plot::Figure;
use crate::summary::Summary;
use crate::table::{ABSENT, Cell, Column, Rank, Row, Table, Value};

const STYLE: &str = include_str!("page.css");
/// From how many characters on words may be broken.
const LONG: usize = 40;

/// The page. It is also well-formed XML, so that programs can read it.
pub(crate) fn html(summary: &Summary, tables: &[Table], figures: &[Figure]) -> String {
    let named = tables.iter().map(|table| (&table.id, &table.title));
    let named = named.chain(figures.iter().map(|figure| (&figure.id, &figure.title)));
    let contents = each(named, |(id, title)| {
        format!("<li><a href=\"#{}\">{}</a></li>\n", address(id), escaped_xml(title))
    });
    let facts =
        each(summary.lines(), |(name, line)| format!("<dt>{name}</dt><dd>{}</dd>\n", escaped_xml(&line)));
    let sections = each(tables, section) + &each(figures, figure);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>wug report</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>wug report</h1>\n<dl>\n{facts}</dl>\n\
         <nav>\n<ul>\n{contents}</ul>\n</nav>\n<main>\n{sections}</main>\n</body>\n</html>\n"
    )
}

/// Every item as text, one after the other.
fn each<T>(items: impl IntoIterator<Item = T>, written: impl Fn(T) -> String) -> String {
    items.into_iter().map(written).collect()
}

/// A name as part of an address: whatever is no letter, digit or hyphen becomes a hyphen.
fn address(id: &str) -> String {
    id.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect()
}

fn figure(figure: &Figure) -> String {
    let (id, title) = (address(&figure.id), escaped_xml(&figure.title));
    format!(
        "<section id=\"{id}\">\n<h2>{title}</h2>\n<figure>\n{}\n</figure>\n{}</section>\n",
        figure.svg,
        notes(&figure.notes)
    )
}

fn section(table: &Table) -> String {
    let legend = if table.has_paper() {
        "<p class=\"notes\">Ours above, the paper's below; – was not run.</p>\n"
    } else {
        ""
    };
    let row = |row: &Row| {
        let keys = each(&row.keys, |key| format!("<th scope=\"row\">{}</th>", escaped_xml(key)));
        let cells = each(row.cells.iter().enumerate(), |(i, one)| cell(one, table.is_words(i)));
        format!("<tr>{keys}{cells}</tr>\n")
    };
    format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n{legend}<div class=\"wide\">\n<table>\n<thead>\n{}</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n{}</section>\n",
        address(&table.id),
        escaped_xml(&table.title),
        head(table),
        each(&table.rows, row),
        notes(&table.notes)
    )
}

fn head(table: &Table) -> String {
    let grouped = table.columns.iter().any(|column| !column.group.is_empty());
    let keys = each(&table.keys, |key| format!("<th class=\"key\">{}</th>", escaped_xml(key)));
    let names = each(table.columns.iter().enumerate(), |(i, column)| {
        let class = if table.is_words(i) { " class=\"words\"" } else { "" };
        format!("<th{class}>{}</th>", escaped_xml(&column.name))
    });
    let names = format!("<tr>{keys}{names}</tr>\n");
    if grouped { groups(table) + &names } else { names }
}

/// The names of groups, each across its columns.
fn groups(table: &Table) -> String {
    // Neighbours only: the same name further right begins a group of its own.
    let same = |a: &Column, b: &Column| a.group == b.group;
    let group = |columns: &[Column]| {
        let name = columns.first().map_or("", |column| &column.group);
        format!("<th class=\"group\" colspan=\"{}\">{}</th>", columns.len(), escaped_xml(name))
    };
    let groups = each(table.columns.chunk_by(same), group);
    format!("<tr>{}{groups}</tr>\n", "<th></th>".repeat(table.keys.len()))
}

/// A cell of a column, which may be one of words.
fn cell(cell: &Cell, words: bool) -> String {
    let class = match &cell.ours {
        Some(Value::Text(text)) if text.chars().count() > LONG => " class=\"long words\"",
        _ if words => " class=\"words\"",
        _ => "",
    };
    let absent = || (ABSENT.to_owned(), String::new());
    let (ours, interval) = cell.ours.as_ref().map_or_else(absent, Value::parts);
    let ours = escaped_xml(&ours);
    let ours = match cell.rank {
        Rank::Open => ours,
        Rank::Tied => format!("<u>{ours}</u>"),
        Rank::Best => format!("<b>{ours}</b>"),
    };
    let more = soft("n", &(interval + &cell.count() + &cell.mark()));
    let paper = cell.paper.as_ref().map_or_else(String::new, |paper| paper.show() + &cell.paper_count());
    format!("<td{class}>{ours}{more}{}</td>", soft("paper", &paper))
}

/// Text of a class, or nothing.
fn soft(class: &str, text: &str) -> String {
    // The blank before brackets stays outside, where it is not taken for a part of them.
    let blank = if text.starts_with(' ') { " " } else { "" };
    let text = escaped_xml(text);
    if text.is_empty() { text } else { format!("{blank}<span class=\"{class}\">{text}</span>") }
}

fn notes(notes: &[String]) -> String {
    let items = each(notes, |note| format!("<li>{}</li>\n", escaped_xml(note)));
    if items.is_empty() { items } else { format!("<ul class=\"notes\">\n{items}</ul>\n") }
}
