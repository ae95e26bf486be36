//! A table: named rows, named columns, and in each cell our value beside the paper's.

mod cell;
mod rank;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wug_score::Reading;

pub use cell::{Cell, Rank};
pub(crate) use rank::{BEST_OF_NOTE, BOLD_NOTE, set_ranks};
pub(crate) use value::shown;
pub use value::{Decimals, IntervalKind, Uncertainty, Value};

/// What is shown where there is no value.
pub const ABSENT: &str = "–";

/// The note of tables whose cells are means over runs.
pub(crate) const MEAN_NOTE: &str =
    "Mean ± population standard deviation over runs; in brackets the number of runs.";

/// Whose table it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope<'a> {
    /// One of a suite, by its name.
    Suite(&'a str),
    /// One of the runs of a protocol, by its name.
    Protocol(&'a str),
}

impl Scope<'_> {
    /// The name, which begins the ids of tables and figures.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Suite(name) | Self::Protocol(name) => name,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Suite(_) => "suite",
            Self::Protocol(_) => "protocol",
        }
    }
}

/// A table, not yet laid out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// A name that no other table of the report has, fit for an address.
    pub id: String,
    pub title: String,
    /// What all its rows have in common, such as the suite or protocol, and the reading.
    pub about: BTreeMap<String, String>,
    /// How its values were obtained.
    pub notes: Vec<String>,
    /// What the names of its rows are names of.
    pub keys: Vec<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// What it shares with its neighbours, or nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    pub name: String,
}

impl Column {
    /// A column on its own.
    pub fn new(name: impl Into<String>) -> Self {
        Self { group: String::new(), name: name.into() }
    }

    /// A column of a group.
    pub fn of(group: impl Into<String>, name: impl Into<String>) -> Self {
        Self { group: group.into(), name: name.into() }
    }

    /// Group and name in one line.
    pub fn full_name(&self) -> String {
        if self.group.is_empty() { self.name.clone() } else { format!("{}: {}", self.group, self.name) }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name, one part per key of the table.
    pub keys: Vec<String>,
    /// A cell per column.
    pub cells: Vec<Cell>,
}

/// From the lowest to the highest of some values, or the one value that they all show.
pub(crate) fn range(lowest: f64, highest: f64) -> String {
    // Compared as shown: 0.5001 and 0.5002 are one value to a reader.
    let (lowest, highest) = (format!("{lowest:.3}"), format!("{highest:.3}"));
    if lowest == highest { lowest } else { format!("{lowest} to {highest}") }
}

/// Each of some names once, in the order in which they first come.
pub(crate) fn distinct<T: PartialEq>(names: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

impl Table {
    /// A table of one scope and reading, still without columns and rows.
    pub(crate) fn blank(scope: Scope<'_>, reading: Reading, name: &str, title: &str, keys: &[&str]) -> Self {
        Self {
            id: format!("{}-{reading}-{name}", scope.name()),
            title: format!("{title} ({reading} reading)"),
            about: BTreeMap::from([
                (scope.kind().to_owned(), scope.name().to_owned()),
                ("reading".to_owned(), reading.name().to_owned()),
            ]),
            notes: Vec::new(),
            keys: keys.iter().map(|&key| key.to_owned()).collect(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Drops the other columns, and their cells.
    pub(crate) fn retain_columns(&mut self, is_kept: impl Fn(&Column) -> bool) {
        let kept: Vec<bool> = self.columns.iter().map(is_kept).collect();
        let mut columns = kept.iter();
        self.columns.retain(|_| columns.next() == Some(&true));
        for row in &mut self.rows {
            let mut cells = kept.iter();
            row.cells.retain(|_| cells.next() == Some(&true));
        }
    }

    /// Whether a paper's value is shown beside ours.
    pub(crate) fn has_paper(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.paper.is_some())
    }

    /// Whether a column holds only words of ours, which are aligned to the left.
    pub(crate) fn is_words(&self, column: usize) -> bool {
        let words = |cell: &Cell| matches!(cell.ours, None | Some(Value::Text(_))) && cell.paper.is_none();
        self.rows.iter().all(|row| words(&row.cells[column]))
    }

    /// What the intervals are, if there are any.
    pub(crate) fn interval_note(&self) -> Option<String> {
        let kind = |cell: &Cell| match cell.ours {
            Some(Value::Number { interval: Some(interval), .. }) => Some(interval.words()),
            _ => None,
        };
        let kinds: BTreeSet<String> = self.rows.iter().flat_map(|row| &row.cells).filter_map(kind).collect();
        let kinds = kinds.into_iter().collect::<Vec<_>>().join("; ");
        (!kinds.is_empty()).then(|| format!("In square brackets: {kinds}."))
    }

    /// Without spreads and intervals. A note says once how many runs means are of; each cell still says what it is the best of.
    pub(crate) fn compact(mut self) -> Self {
        let cells = || self.rows.iter().flat_map(|row| &row.cells).filter(|cell| !cell.best_of);
        let run: Vec<usize> = cells().filter(|cell| cell.ours.is_some()).filter_map(|cell| cell.n).collect();
        let printed: Vec<usize> = cells().filter_map(|cell| cell.paper_n).collect();
        for cell in self.rows.iter_mut().flat_map(|row| &mut row.cells) {
            if !cell.best_of {
                (cell.n, cell.paper_n) = (None, None);
            }
            for value in [&mut cell.ours, &mut cell.paper].into_iter().flatten() {
                if let Value::Number { std, interval, .. } = value {
                    (*std, *interval) = (None, None);
                }
            }
        }
        if let Some(run) = whole_range(&run) {
            let paper = whole_range(&printed).map_or_else(String::new, |n| format!("; the paper's: {n}"));
            self.notes.push(format!("Runs per mean: {run}{paper}."));
        }
        self
    }
}

/// From the least to the most of some counts, or the one that they all are; `None` without counts.
pub(crate) fn whole_range(counts: &[usize]) -> Option<String> {
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    let (least, most) = (grouped(*least), grouped(*most));
    Some(if least == most { least } else { format!("{least} to {most}") })
}

pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}
