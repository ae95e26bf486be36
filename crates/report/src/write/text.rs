//! Tables for a terminal: aligned, and never wider than [`WIDTH`].

use unicode_width::UnicodeWidthStr;

use super::one_line;
use crate::summary::Summary;
use crate::table::{Cell, Column, Table, Value, shown};

const WIDTH: usize = 100;
const CELL: usize = 60;
const GAP: &str = "  ";

/// The summary, and the tables one below the other.
pub(crate) fn text(summary: &Summary, tables: &[Table]) -> String {
    let mut out = String::new();
    for (name, line) in summary.lines() {
        push_wrapped(&mut out, &format!("{:<11}", format!("{name}:")), &line);
    }
    tables.iter().for_each(|table| push(&mut out, table));
    out.push_str("\nMarkdown, CSV, JSON and HTML reports have every table in full.\n");
    out
}

fn push(out: &mut String, table: &Table) {
    out.push('\n');
    push_wrapped(out, "", &table.title);
    if table.has_paper() {
        out.push_str("ours/paper; – was not run\n");
    }
    if table.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.best_of && cell.ours.is_some()) {
        out.push_str("(n): the best of n runs\n");
    }
    for part in parts(table) {
        out.push('\n');
        push_part(out, &part);
    }
    out.push('\n');
    table.notes.iter().for_each(|note| push_wrapped(out, "  ", note));
}

/// A column as it is written: its group, and its name above its cells.
struct TextColumn {
    group: String,
    cells: Vec<String>,
    width: usize,
    left: bool,
}

impl TextColumn {
    fn new(group: &str, cells: impl Iterator<Item = String>, left: bool) -> Self {
        let cells: Vec<String> = cells.map(|cell| cut(&one_line(&cell))).collect();
        let width = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        Self { group: one_line(group), cells, width, left }
    }

    fn aligned(&self, i: usize) -> String {
        let blank = " ".repeat(self.width - self.cells[i].width());
        if self.left { self.cells[i].clone() + &blank } else { blank + &self.cells[i] }
    }
}

/// The table in parts that are narrow enough, each with the names of the rows.
fn parts(table: &Table) -> Vec<Vec<TextColumn>> {
    let names = || {
        table.keys.iter().enumerate().map(|(i, key)| {
            let below = table.rows.iter().map(|row| row.keys[i].clone());
            TextColumn::new("", std::iter::once(key.clone()).chain(below), true)
        })
    };
    let column = |(i, column): (usize, &Column)| {
        let below = table.rows.iter().map(|row| written(&row.cells[i]));
        let cells = std::iter::once(column.name.clone()).chain(below);
        TextColumn::new(&column.group, cells, table.is_words(i))
    };
    let mut columns = table.columns.iter().enumerate().map(column);
    let mut parts = Vec::new();
    let mut part: Vec<TextColumn> = names().collect();
    for group in table.columns.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
        let group: Vec<TextColumn> = columns.by_ref().take(group.len()).collect();
        // A group that fits into a part of its own is not divided.
        // Each part repeats the names of the rows, so they count in its width.
        let whole = width(&names().collect::<Vec<_>>()) + GAP.len() + width(&group) <= WIDTH;
        let size = if whole { group.len().max(1) } else { 1 };
        let mut group = group.into_iter().peekable();
        while group.peek().is_some() {
            let next: Vec<TextColumn> = group.by_ref().take(size).collect();
            let fits = width(&part) + GAP.len() + width(&next) <= WIDTH;
            if !fits && part.len() > table.keys.len() {
                parts.push(std::mem::replace(&mut part, names().collect()));
            }
            part.extend(next);
        }
    }
    parts.push(part);
    parts
}

fn width(part: &[TextColumn]) -> usize {
    part.iter().map(|column| column.width + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
}

fn written(cell: &Cell) -> String {
    let count = |value: &Option<Value>, n: Option<usize>| match (value, n) {
        (Some(_), Some(n)) => format!(" ({n})"),
        _ => String::new(),
    };
    let ours = shown(cell.ours.as_ref()) + &count(&cell.ours, cell.n) + &cell.mark();
    match &cell.paper {
        Some(paper) => format!("{ours}/{}{}", paper.show(), count(&cell.paper, cell.paper_n)),
        None => ours,
    }
}

fn push_part(out: &mut String, part: &[TextColumn]) {
    if part.iter().any(|column| !column.group.is_empty()) {
        push_line(out, &groups(part));
    }
    let lines = part.first().map_or(0, |column| column.cells.len());
    for i in 0..lines {
        push_line(out, &part.iter().map(|column| column.aligned(i)).collect::<Vec<_>>().join(GAP));
        if i == 0 {
            push_line(out, &part.iter().map(|column| "─".repeat(column.width)).collect::<Vec<_>>().join(GAP));
        }
    }
}

/// The names of groups, each above the first of its columns.
fn groups(part: &[TextColumn]) -> String {
    let mut line = String::new();
    let mut at = 0;
    let mut last = "";
    for column in part {
        if column.group != last {
            line.push_str(&" ".repeat(at - line.width().min(at)));
            line.push_str(&column.group);
            last = &column.group;
        }
        at += column.width + GAP.len();
    }
    line
}

/// No wider than a cell may be.
fn cut(text: &str) -> String {
    if text.width() <= CELL {
        return text.to_owned();
    }
    let mut start = String::new();
    for c in text.chars() {
        start.push(c);
        // One place is left for the ellipsis; a wide character may take two.
        if start.width() >= CELL {
            start.pop();
            break;
        }
    }
    start + "…"
}

fn push_line(out: &mut String, line: &str) {
    // Blanks at the end would make diffs of saved reports noisy.
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Words, with a first line that begins with `head` and others that begin as far to the right.
fn push_wrapped(out: &mut String, head: &str, text: &str) {
    let indent = " ".repeat(head.width());
    let mut line = head.to_owned();
    let mut empty = true;
    for word in one_line(text).split(' ') {
        if !empty && line.width() + 1 + word.width() > WIDTH {
            push_line(out, &line);
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    push_line(out, &line);
}
