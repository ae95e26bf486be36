//! A table: named rows, named columns, and in each cell our value beside the paper's.

mod value;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wug_score::metric::Direction;
use wug_score::select::first_best;
use wug_score::{Measurement, Reading};

pub use value::{Decimals, Value};
pub(crate) use value::{shown, spread};

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
    /// What it shows.
    pub title: String,
    /// What all its rows have in common, such as the suite or protocol, and the reading.
    pub about: BTreeMap<String, String>,
    /// How its values were obtained.
    pub notes: Vec<String>,
    /// What the names of its rows are names of.
    pub keys: Vec<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// What it shares with its neighbours, or nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its own name.
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

/// A row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name, one part per key of the table.
    pub keys: Vec<String>,
    /// A cell per column.
    pub cells: Vec<Cell>,
}

/// A cell: what we measured beside what was published.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// Our value; absent if nothing was run.
    pub ours: Option<Value>,
    /// The paper's value, where it has one.
    pub paper: Option<Value>,
    /// How many runs our value is of, where no other cell of the row shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Whether it is the best of those it is compared with.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub best: bool,
}

impl Cell {
    /// A cell that no paper has.
    pub fn ours(value: impl Into<Value>) -> Self {
        Self { ours: Some(value.into()), ..Self::default() }
    }

    /// What was measured of some runs, and how many of them.
    pub(crate) fn of_runs(measured: &[&Measurement], decimals: Decimals) -> Self {
        Self { ours: Value::of_runs(measured, decimals), n: Some(measured.len()), ..Self::default() }
    }

    /// How many runs, in brackets, where the cell shows it.
    pub(crate) fn count(&self) -> String {
        self.n.filter(|_| self.ours.is_some()).map_or_else(String::new, |n| format!(" ({n})"))
    }
}

/// Finds the best of some cells by their values as rounded when shown. Ties are all the best; with fewer than two values
/// there is nothing to compare, and none is.
pub(crate) fn set_best(cells: &mut [Cell], better: Direction) {
    let values: Vec<Option<f64>> = cells.iter().map(|cell| cell.ours.as_ref()?.rounded()).collect();
    let compared = values.iter().flatten().count() > 1;
    let best = first_best(&values, better, |value| *value).copied().flatten();
    for (cell, value) in cells.iter_mut().zip(values) {
        let ties = value.zip(best).is_some_and(|(value, best)| !better.improves(best, value));
        cell.best = compared && ties;
    }
}

/// From the lowest to the highest of some values, or the one value that they all show.
pub(crate) fn range(lowest: f64, highest: f64) -> String {
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

    /// Whether a paper's value is shown beside ours.
    pub(crate) fn has_paper(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.paper.is_some())
    }

    /// Whether a column holds only words of ours, which are aligned to the left.
    pub(crate) fn is_words(&self, column: usize) -> bool {
        let words = |cell: &Cell| matches!(cell.ours, None | Some(Value::Text(_))) && cell.paper.is_none();
        self.rows.iter().all(|row| words(&row.cells[column]))
    }

    /// What an interval is, if there is one.
    pub(crate) fn interval_note(&self) -> Option<String> {
        let level = |cell: &Cell| match cell.ours {
            Some(Value::Number { interval: Some(interval), .. }) => {
                Some(format!("{}%", 100.0 * interval.level))
            }
            _ => None,
        };
        let levels: BTreeSet<String> =
            self.rows.iter().flat_map(|row| &row.cells).filter_map(level).collect();
        let levels = levels.into_iter().collect::<Vec<_>>().join(" or ");
        (!levels.is_empty()).then(|| {
            format!("In square brackets: {levels} bootstrap interval over the strings, of a single run.")
        })
    }

    /// Without spreads, intervals and the number of runs in each cell, which a note gives once instead.
    pub(crate) fn compact(mut self) -> Self {
        let run = self.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.ours.is_some());
        let counts: Vec<usize> = run.filter_map(|cell| cell.n).collect();
        for cell in self.rows.iter_mut().flat_map(|row| &mut row.cells) {
            cell.n = None;
            for value in [&mut cell.ours, &mut cell.paper].into_iter().flatten() {
                if let Value::Number { std, interval, .. } = value {
                    (*std, *interval) = (None, None);
                }
            }
        }
        if let (Some(least), Some(most)) = (counts.iter().min(), counts.iter().max()) {
            let range = if least == most { least.to_string() } else { format!("{least} to {most}") };
            self.notes.push(format!("Runs per cell: {range}."));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(values: &[Option<f64>], decimals: usize, better: Direction) -> Vec<bool> {
        let cell = |x: &Option<f64>| Cell {
            ours: x.map(|x| Value::number(x, Decimals(decimals))),
            ..Cell::default()
        };
        let mut cells: Vec<Cell> = values.iter().map(cell).collect();
        set_best(&mut cells, better);
        cells.iter().map(|cell| cell.best).collect()
    }

    #[test]
    fn the_best_cell_is_found_by_value_and_direction() {
        // As text, 9 would be above 10.
        let values = [Some(9.0), Some(10.0), None];
        assert_eq!(best(&values, 0, Direction::Higher), [false, true, false]);
        assert_eq!(best(&values, 0, Direction::Lower), [true, false, false]);
        assert_eq!(best(&[Some(-2.0), Some(-1.0)], 1, Direction::Higher), [false, true]);
    }

    #[test]
    fn ties_as_shown_are_all_best_and_a_single_value_is_not() {
        assert_eq!(best(&[Some(0.931), Some(0.9349), Some(0.5)], 2, Direction::Higher), [true, true, false]);
        assert_eq!(best(&[Some(0.931), Some(0.9349)], 3, Direction::Higher), [false, true]);
        assert_eq!(best(&[Some(0.9), None, Some(f64::NAN)], 2, Direction::Higher), [false; 3]);
    }
}
