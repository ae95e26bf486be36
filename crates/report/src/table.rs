//! A table: named rows, named columns, and in each cell our value beside the paper's.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wug_score::select::rounded;
use wug_score::{Aggregate, Interval, Measurement, Reading};

/// What stands where there is no value.
pub const ABSENT: &str = "–";

/// A table, not yet laid out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// A name that no other table of the report has, fit for an address.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What all its rows have in common, such as the suite and the reading.
    pub about: BTreeMap<String, String>,
    /// How its values came about.
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
    /// How many runs our value is of, where that is not said elsewhere in the row.
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
    pub(crate) fn of_runs(measured: &[&Measurement], places: Decimals) -> Self {
        Self { ours: Value::of_runs(measured, places), n: Some(measured.len()), ..Self::default() }
    }

    /// How many runs, in brackets, where it is said here.
    pub(crate) fn count(&self) -> String {
        self.n.filter(|_| self.ours.is_some()).map_or_else(String::new, |n| format!(" ({n})"))
    }
}

/// A value and how it is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in full, rounded only when it is shown.
    Number {
        /// The number.
        value: f64,
        /// The standard deviation that goes with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        std: Option<f64>,
        /// The bootstrap interval of a single run.
        #[serde(skip_serializing_if = "Option::is_none")]
        interval: Option<Interval>,
        /// How it is rounded.
        #[serde(skip)]
        places: Decimals,
    },
    /// Words.
    Text(String),
}

/// To how many decimals a number is rounded when it is shown: once, from the number in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimals(pub usize);

impl Decimals {
    fn show(self, x: f64) -> String {
        let Self(decimals) = self;
        rounded(x, decimals).map_or_else(|| ABSENT.to_owned(), |x| format!("{x:.decimals$}"))
    }
}

impl Value {
    /// A number without a spread.
    pub fn number(value: f64, places: Decimals) -> Self {
        Self::Number { value, std: None, interval: None, places }
    }

    /// A number with its standard deviation, where it has one.
    pub fn with_std(value: f64, std: Option<f64>, places: Decimals) -> Self {
        Self::Number { value, std, interval: None, places }
    }

    /// What was measured of several runs: the mean and the population standard deviation, or of a single run its
    /// value and interval; `None` of none.
    pub(crate) fn of_runs(measured: &[&Measurement], places: Decimals) -> Option<Self> {
        let values: Vec<f64> = measured.iter().filter_map(|m| m.value).collect();
        let interval = match measured {
            [one] => one.interval,
            _ => None,
        };
        Some(Self::Number { value: Aggregate::Mean.of(&values)?, std: spread(&values), interval, places })
    }

    /// As it is shown. Standard deviations have two decimals, as in print.
    ///
    /// ```
    /// use wug_report::{Decimals, Value};
    /// let value = Value::with_std(0.9349, Some(0.0149), Decimals(3));
    /// assert_eq!(value.show(), "0.935 ± 0.01");
    /// assert_eq!(Value::number(0.9349, Decimals(2)).show(), "0.93"); // not 0.94 by way of 0.935
    /// ```
    pub fn show(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number { value, std, interval, places } => {
                let std = std.map_or_else(String::new, |std| format!(" ± {}", Decimals(2).show(std)));
                let interval = interval.map_or_else(String::new, |interval| {
                    format!(" [{}, {}]", places.show(interval.low), places.show(interval.high))
                });
                places.show(*value) + &std + &interval
            }
        }
    }

    /// As it is shown, without its spread.
    pub(crate) fn show_short(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number { value, places, .. } => places.show(*value),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// A value as it is shown, or the sign that there is none.
pub(crate) fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), Value::show)
}

/// The population standard deviation; one run has none.
pub(crate) fn spread(scores: &[f64]) -> Option<f64> {
    Aggregate::PopulationStd.of(scores).filter(|_| scores.len() > 1)
}

/// Marks the best of some cells as it is shown: all of them where several show the same, none where there is
/// nothing to compare.
pub(crate) fn mark_best(cells: &mut [Cell]) {
    let shown: Vec<Option<String>> =
        cells.iter().map(|cell| cell.ours.as_ref().map(Value::show_short)).collect();
    let best = shown.iter().flatten().max();
    let compared = shown.iter().flatten().count() > 1;
    for (cell, shown) in cells.iter_mut().zip(&shown) {
        cell.best = compared && shown.as_ref() == best;
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
    /// A table of one suite and reading, still without columns and rows.
    pub(crate) fn blank(suite: &str, reading: Reading, name: &str, title: &str, keys: &[&str]) -> Self {
        Self {
            id: format!("{suite}-{reading}-{name}"),
            title: format!("{title} ({reading} reading)"),
            about: BTreeMap::from([
                ("suite".to_owned(), suite.to_owned()),
                ("reading".to_owned(), reading.name().to_owned()),
            ]),
            notes: Vec::new(),
            keys: keys.iter().map(|&key| key.to_owned()).collect(),
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Whether a paper's value stands beside ours.
    pub(crate) fn has_paper(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.paper.is_some())
    }

    /// Whether a column holds words of ours alone, which begin at the left.
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

    /// Without spreads, intervals and the number of runs in each cell, which is said once in a note instead.
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
