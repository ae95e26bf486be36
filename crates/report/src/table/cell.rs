//! A cell of a table: what we measured beside what was published, and of how many runs each is.

use serde::Serialize;
use wug_score::Measurement;

use super::{Decimals, Value};
use crate::departures::MARK;

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
    /// How many runs the paper's value is of, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_n: Option<usize>,
    /// In what the runs are not as in the paper, so that its value is not beside ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub departures: Vec<String>,
    /// Whether the values are those of the best of the runs, and not of all of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub best_of: bool,
    /// How it compares with the others of its row.
    #[serde(skip_serializing_if = "is_open")]
    pub rank: Rank,
}

/// How a mean compares with the others of its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// Not known to be better than another.
    #[default]
    Open,
    /// Better than some, and not to be told from the best.
    Tied,
    /// Better than all others.
    Best,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_open(rank: &Rank) -> bool {
    *rank == Rank::Open
}

impl Cell {
    /// A cell that no paper has.
    pub fn ours(value: impl Into<Value>) -> Self {
        Self { ours: Some(value.into()), ..Self::default() }
    }

    /// A cell that no paper has, or an empty one.
    pub(crate) fn maybe(value: Option<impl Into<Value>>) -> Self {
        Self { ours: value.map(Into::into), ..Self::default() }
    }

    /// What was measured of some runs, and how many of them.
    pub(crate) fn of_runs(measured: &[&Measurement], decimals: Decimals) -> Self {
        Self { ours: Value::of_runs(measured, decimals), n: Some(measured.len()), ..Self::default() }
    }

    /// Of how many runs our value is, in brackets, where the cell shows it.
    pub(crate) fn count(&self) -> String {
        let best = if self.best_of { "best of " } else { "" };
        // A count beside an empty cell would look like runs that scored nothing.
        self.n.filter(|_| self.ours.is_some()).map_or_else(String::new, |n| format!(" ({best}{n})"))
    }

    /// The mark of a cell whose runs are not as in the paper, after a blank.
    pub(crate) fn mark(&self) -> String {
        if self.departures.is_empty() { String::new() } else { format!(" {MARK}") }
    }

    /// Of how many runs the paper's value is, in brackets, where that is known.
    pub(crate) fn paper_count(&self) -> String {
        let best = if self.best_of { "of " } else { "" };
        self.paper_n.filter(|_| self.paper.is_some()).map_or_else(String::new, |n| format!(" ({best}{n})"))
    }
}
