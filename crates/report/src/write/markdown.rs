//! Tables for a repository or a paper.

use crate::summary::Summary;
use crate::table::{Cell, Row, Table, shown};

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
    lines.extend(table.notes.iter().map(|note| format!("- {}", escaped(note))));
}

fn cell(cell: &Cell) -> String {
    let ours = escaped(&shown(cell.ours.as_ref()));
    let ours = if cell.best { format!("**{ours}**") } else { ours };
    let count = cell.count();
    match &cell.paper {
        Some(paper) => format!("{ours}{count} · *{}*", escaped(&paper.show())),
        None => ours + &count,
    }
}

fn line(fields: impl Iterator<Item = String>) -> String {
    format!("| {} |", fields.collect::<Vec<_>>().join(" | "))
}

/// With a backslash before whatever Markdown would take for a sign of its own.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}
