//! Tables for a repository or a paper.

use super::one_line;
use crate::summary::Summary;
use crate::table::{Cell, Rank, Row, Table, shown};

/// The summary, and every table under a head of its own.
pub(crate) fn markdown(summary: &Summary, tables: &[Table]) -> String {
    let mut lines = vec!["# Report".to_owned(), String::new()];
    lines.extend(summary.lines().iter().map(|(name, line)| format!("- **{name}**: {}", escaped(line))));
    tables.iter().for_each(|table| push(&mut lines, table));
    lines.join("\n") + "\n"
}

fn push(lines: &mut Vec<String>, table: &Table) {
    lines.extend([String::new(), format!("## {}", escaped(&table.title)), String::new()]);
    if table.has_paper() {
        lines.extend(["Ours, then *the paper's*; – was not run.".to_owned(), String::new()]);
    }
    let heads = table.columns.iter().map(|column| escaped(&column.full_name()));
    lines.push(line(table.keys.iter().map(|key| escaped(key)).chain(heads)));
    let rule = table.keys.iter().map(|_| "---").chain(table.columns.iter().map(|_| "---:"));
    lines.push(line(rule.map(str::to_owned)));
    let row = |row: &Row| line(row.keys.iter().map(|key| escaped(key)).chain(row.cells.iter().map(cell)));
    lines.extend(table.rows.iter().map(row));
    lines.push(String::new());
    lines.extend(table.notes.iter().map(|note| item(note)));
}

fn cell(cell: &Cell) -> String {
    let ours = escaped(&shown(cell.ours.as_ref()));
    let ours = match cell.rank {
        Rank::Open => ours,
        // What is shown as underlined.
        Rank::Tied => format!("<ins>{ours}</ins>"),
        Rank::Best => format!("**{ours}**"),
    };
    let count = cell.count() + &cell.mark();
    match &cell.paper {
        Some(paper) => format!("{ours}{count} · *{}{}*", escaped(&paper.show()), cell.paper_count()),
        None => ours + &count,
    }
}

fn line(fields: impl Iterator<Item = String>) -> String {
    format!("| {} |", fields.collect::<Vec<_>>().join(" | "))
}

/// In one line, with a backslash before whatever Markdown would take for a sign of its own: emphasis, code, links, tags,
/// entities, formulas, cells, and addresses that become links by themselves.
pub(super) fn escaped(text: &str) -> String {
    let text = one_line(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let address = c == ':' && rest.peek() == Some(&'/')
            || c == '.' && out.len() >= 3 && out.as_bytes()[out.len() - 3..].eq_ignore_ascii_case(b"www");
        if address
            || matches!(c, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '#' | '&' | '~' | '$' | '!')
        {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The text of an item of a list, which may not begin a list, a heading or a line of its own.
pub(super) fn item(text: &str) -> String {
    let text = escaped(text);
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match text[digits..].chars().next() {
        Some('-' | '+' | '=') if digits == 0 => format!("- \\{text}"),
        // `1.` after the dash would begin a numbered list inside the item.
        Some('.' | ')') if digits > 0 => format!("- {}\\{}", &text[..digits], &text[digits..]),
        _ => format!("- {text}"),
    }
}
