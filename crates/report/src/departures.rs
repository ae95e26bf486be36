//! The one rule of all suites: a paper's figure stands beside runs that are as in the paper, and beside no others. What the others
//! have otherwise is named.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::Reading;
use wug_score::plan::PlanKind;

use crate::cells::PaperCells;
use crate::run::Run;
use crate::table::{Cell, Table, Value};

/// A figure as a paper printed it, and how many runs it is of where that is known.
#[derive(Clone, Debug)]
pub(crate) struct PaperFigure {
    pub(crate) value: Value,
    pub(crate) n: Option<usize>,
}

impl Cell {
    /// The cell of some runs with the paper's figure beside it, or with the reasons why it is not. What was not run shows the paper's.
    pub(crate) fn with_paper<'r>(
        self,
        runs: impl IntoIterator<Item = Run<'r, impl PlanKind>>,
        figure: Option<PaperFigure>,
    ) -> Self {
        let runs: Vec<Run<'_, _>> = runs.into_iter().collect();
        // Cells are marked even where the paper has no figure: the runs still depart.
        let departures = words(runs.iter().copied());
        // One run that departs is enough: the value is of all of them.
        let figure = figure.filter(|_| runs.iter().all(|run| run.is_as_in_paper()));
        let (paper, paper_n) = figure.map(|figure| (figure.value, figure.n)).unzip();
        Self { paper, paper_n: paper_n.flatten(), departures, ..self }
    }
}

/// In what some runs are not as in the paper: each field once, with all values that they have.
pub(crate) fn words<'r>(runs: impl IntoIterator<Item = Run<'r, impl PlanKind>>) -> Vec<String> {
    let mut fields: BTreeMap<&str, [BTreeSet<String>; 2]> = BTreeMap::new();
    let mut named: BTreeMap<&str, String> = BTreeMap::new();
    for one in runs.into_iter().flat_map(|run| &run.reported.departures) {
        let [ours, paper] = fields.entry(&one.field).or_default();
        // Sets: seeds of one cell depart alike, and one mention is enough.
        ours.insert(shown(one.ours.as_ref()));
        paper.insert(shown(one.paper.as_ref()));
        named.entry(&one.field).or_insert_with(|| one.name());
    }
    let list = |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(", ");
    let one = |(field, [ours, paper]): (&&str, &[BTreeSet<String>; 2])| {
        format!("{} {} (paper: {})", named[*field], list(ours), list(paper))
    };
    fields.iter().map(one).collect()
}

fn shown(value: Option<&serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "none".to_owned(),
    }
}

/// A note on runs that stand apart from a paper's tables, and why; `None` if none departs from it.
pub(crate) fn apart_note<'r>(
    paper: &str,
    runs: impl IntoIterator<Item = Run<'r, impl PlanKind>>,
) -> Option<String> {
    let departures = words(runs).join("; ");
    (!departures.is_empty()).then(|| format!("Not to be compared with the figures of {paper}: {departures}."))
}

/// A note that the paper's figures are of other data than ours, where they are, and of what else the corrected reading changes.
pub(crate) fn reading_note<'r>(
    cells: &PaperCells<'_>,
    reading: Reading,
    runs: impl IntoIterator<Item = Run<'r, impl PlanKind>>,
) -> Option<String> {
    if reading == Reading::Published {
        return None;
    }
    let implied = runs.into_iter().filter_map(Run::cell).flat_map(|cell| cells.implied(cell));
    let implied = implied.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
    let data = "The paper's figures are of the published data, ours of the corrected.";
    let also = if implied.is_empty() { String::new() } else { format!(" They also differ in: {implied}.") };
    Some(format!("{data}{also}"))
}

impl Table {
    /// A note on the mark of cells whose runs are not as in the paper, where there are any.
    pub(crate) fn departure_note(&self) -> Option<String> {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let departures: BTreeSet<&String> = cells.flat_map(|cell| &cell.departures).collect();
        let departures = departures.into_iter().cloned().collect::<Vec<_>>().join("; ");
        (!departures.is_empty())
            .then(|| format!("{MARK}: not as in the paper, whose figure is not shown: {departures}."))
    }
}

/// What stands in cells whose runs depart from the paper.
pub(crate) const MARK: &str = "≠";
