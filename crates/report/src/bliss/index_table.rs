//! Table 2: the index of each language and learner, at each margin and by both criteria of acceptance.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::strata::Margin;
use wug_score::{Acceptance, generalization_index};

use super::index_run::IndexRun;
use super::published::{learners, runs as paper_runs};
use super::rows::{ORDER, RowKey, RunGroup, RunsByRow, counted, margins, settings_notes};
use crate::table::{Cell, Column, Row, Table, Value};

/// The column of the factors that were run.
const FACTORS_RUN: &str = "factors run";
/// What a cell is, in short.
const INDEX: &str = "Largest b so that a model trained on 10^N/b strings solves the next 10^N·b: best of all configurations and seeds, each cell by itself.";
/// When a test is solved, in short.
const BOTH: &str = "All steps: at most a share ε of all steps is incorrect, as in the paper's Table 2. Every string: of each string by itself; at ε = 0 both are the same.";
/// How an index is shown that is not known.
const UNSOLVED: &str = "<1: no factor was solved.";
const OPEN: &str = "≥2, none of 1, 2: larger or other factors were not run.";
/// What the paper's figures are of.
const PAPER: &str = "The paper's figures: at each factor the best of 63 LSTMs (21 configurations, 3 seeds), 12 Stack-LSTMs (4, 3) or 6 Baby-NTMs (2, 3); MDLRNN once per configuration, it does not say how many.";
/// What is in brackets.
const BEST_OF: &str =
    "Best of: how many runs at the factor that is solved, or where none is, the fewest at any.";

/// The table; `None` without runs of the index.
pub(super) fn table(group: &RunGroup<'_>) -> Option<Table> {
    let by_row = index_runs(group);
    let (columns, margins, factors) = (group.varying(&by_row), margins(&by_row), group.factors());
    if margins.is_empty() {
        return None;
    }
    let (name, title) =
        if group.of_paper { ("2", "Table 2: the index 𝔹") } else { ("index", "The index 𝔹") };
    let mut table = group.blank(name, title, &["language", "learner"]);
    table.keys.extend(columns.names());
    let heads = Acceptance::ALL.into_iter().flat_map(|acceptance| {
        margins.iter().map(move |margin| Column::of(shown(acceptance), format!("ε = {margin}")))
    });
    table.columns = heads.chain([FACTORS_RUN, "runs"].map(Column::new)).collect();
    table.rows = rows(group, &by_row)
        .into_iter()
        .map(|(key, runs)| {
            let keys = [key.language, key.learner].map(str::to_owned);
            let keys = keys.into_iter().chain(columns.values(&key.settings)).collect();
            Row { keys, cells: cells(group, &key, runs, &margins, &factors) }
        })
        .collect();
    table.notes.extend(notes(group, open(&table.rows)));
    table.notes.extend(settings_notes(&columns));
    Some(table)
}

/// The runs that an index is of.
pub(super) fn index_runs<'a>(group: &RunGroup<'a>) -> RunsByRow<'a> {
    group.rows(IndexRun::has_index)
}

/// The factors that some runs would need for their index to be known in full.
pub(super) fn asked(runs: &[IndexRun<'_>], factors: &BTreeSet<usize>) -> BTreeSet<usize> {
    // 10ᴺ/b must be whole: a factor that does not divide the order leaves no gap in an index.
    let possible = |factor: &usize| runs.first().is_some_and(|run| run.sizes(*factor).is_some());
    factors.iter().copied().filter(possible).collect()
}

/// The runs of each row: those that were run and, in the table of the paper, none for what only the paper has.
fn rows<'p, 'a>(group: &RunGroup<'a>, by_row: &'p RunsByRow<'a>) -> BTreeMap<RowKey<'a>, &'p [IndexRun<'a>]> {
    let mut rows: BTreeMap<_, _> = by_row.iter().map(|(key, runs)| (key.clone(), runs.as_slice())).collect();
    for language in by_row.keys().map(|key| key.language).filter(|_| group.of_paper) {
        let run = |learner: &str| by_row.keys().any(|p| p.language == language && p.learner == learner);
        let in_print = learners().into_iter().filter(|learner| !run(learner));
        rows.extend(in_print.map(|learner| (RowKey::in_print(language, learner), &[][..])));
    }
    rows
}

fn cells(
    group: &RunGroup<'_>,
    key: &RowKey<'_>,
    runs: &[IndexRun<'_>],
    margins: &[Margin],
    factors: &BTreeSet<usize>,
) -> Vec<Cell> {
    let asked = asked(runs, factors);
    let cell = |margin: Margin, acceptance: Acceptance| {
        let known = known_index(runs, margin, acceptance, &asked);
        let (ours, n) = known.map(|known| (known.shown, known.best_of)).unzip();
        // Baselines are the same in every run.
        let n = n.filter(|_| runs.iter().any(|run| run.is_trained()));
        let paper = paper(group, key, margin, acceptance);
        let paper_n = paper.as_ref().and_then(|_| paper_runs(key.learner));
        Cell { ours: ours.map(Value::from), n, paper, paper_n, best_of: true, ..Cell::default() }
    };
    let indices =
        Acceptance::ALL.into_iter().flat_map(|acceptance| margins.iter().map(move |&m| (m, acceptance)));
    indices.map(|(margin, acceptance)| cell(margin, acceptance)).chain(behind(runs, &asked)).collect()
}

/// The table in short.
pub(super) fn headline(group: &RunGroup<'_>) -> Option<Table> {
    let mut table = table(group)?;
    // Cells show where factors are missing, and where nothing is forgiven, both criteria are the same.
    let again = Column::of(self::shown(Acceptance::EveryString), "ε = 0");
    table.retain_columns(|column| column.name != FACTORS_RUN && *column != again);
    let order = table.notes.iter().any(|note| note == ORDER).then_some(ORDER);
    let notes = [INDEX, BEST_OF, BOTH].into_iter().chain(open(&table.rows)).chain(order);
    let notes = notes.chain(group.of_paper.then_some(PAPER));
    let notes = notes.map(str::to_owned).chain(group.reading_note.clone()).collect();
    Some(Table { notes, ..table })
}

pub(super) fn shown(acceptance: Acceptance) -> &'static str {
    match acceptance {
        Acceptance::AllSteps => "all steps",
        Acceptance::EveryString => "every string",
    }
}

/// The paper's value, which goes by all steps.
fn paper(group: &RunGroup<'_>, key: &RowKey<'_>, margin: Margin, acceptance: Acceptance) -> Option<Value> {
    let has = group.of_paper && acceptance == Acceptance::AllSteps;
    key.printed(margin).filter(|_| has).map(Value::from)
}

/// The runs that were evaluated at each factor, and how many of them solved it.
pub(super) fn solved_by_factor(
    runs: &[IndexRun<'_>],
    margin: Margin,
    acceptance: Acceptance,
) -> BTreeMap<usize, (usize, usize)> {
    let mut factors: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for run in runs {
        let Some(solved) = run.solved(margin, acceptance) else { continue };
        let (passed, of) = factors.entry(run.factor).or_default();
        *passed += usize::from(solved);
        *of += 1;
    }
    factors
}

/// The index of the best of some runs.
pub(super) struct KnownIndex {
    /// The number; absent where no factor was solved.
    pub(super) index: Option<usize>,
    /// As it is shown: as far as it is known, and no further.
    pub(super) shown: String,
    /// Of how many runs it is the best: those at the factor that is solved, or if none is, the fewest at any.
    pub(super) best_of: usize,
}

/// The index of the best of these runs; `None` if nothing was evaluated.
pub(super) fn known_index(
    runs: &[IndexRun<'_>],
    margin: Margin,
    acceptance: Acceptance,
    asked: &BTreeSet<usize>,
) -> Option<KnownIndex> {
    let factors = solved_by_factor(runs, margin, acceptance);
    let run: BTreeSet<usize> = factors.keys().copied().collect();
    let (least, fewest) = (run.first()?, factors.values().map(|(_, of)| *of).min()?);
    // A larger factor that was not run might be solved too: the index is then a lower bound.
    let mut open = asked.difference(&run);
    let index = generalization_index(factors.iter().map(|(factor, (passed, _))| (*factor, *passed > 0)));
    let shown = match index {
        Some(solved) if open.any(|factor| *factor > solved) => format!("≥{solved}"),
        Some(solved) => solved.to_string(),
        None if open.next().is_none() => format!("<{least}"),
        None => format!("none of {}", list(&run)),
    };
    // If none is solved, only the fewest runs at any factor can be claimed to have failed.
    Some(KnownIndex { index, shown, best_of: index.map_or(fewest, |solved| factors[&solved].1) })
}

/// Which factors were evaluated, and how many configurations and seeds of each.
fn behind(runs: &[IndexRun<'_>], asked: &BTreeSet<usize>) -> [Cell; 2] {
    let mut by_factor: BTreeMap<usize, Vec<IndexRun<'_>>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_evaluated()) {
        by_factor.entry(run.factor).or_default().push(*run);
    }
    if by_factor.is_empty() {
        return Default::default();
    }
    let run: BTreeSet<usize> = by_factor.keys().copied().collect();
    let open: BTreeSet<usize> = asked.difference(&run).copied().collect();
    let factors = if open.is_empty() { list(&run) } else { format!("{} (not {})", list(&run), list(&open)) };
    let counts: Vec<(usize, String)> = by_factor.iter().map(|(factor, of)| (*factor, counted(of))).collect();
    let distinct: BTreeSet<&str> = counts.iter().map(|(_, count)| count.as_str()).collect();
    // Factors were usually run alike, and one count then says it for all.
    let runs = if distinct.len() == 1 {
        counts[0].1.clone()
    } else {
        counts.iter().map(|(factor, count)| format!("b = {factor}: {count}")).collect::<Vec<_>>().join("; ")
    };
    [Cell::ours(factors), Cell::ours(runs)]
}

fn list(factors: &BTreeSet<usize>) -> String {
    factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What the signs in cells mean, where there are some.
fn open(rows: &[Row]) -> Vec<&'static str> {
    let cells = rows.iter().flat_map(|row| &row.cells);
    let shown: Vec<String> =
        cells.flat_map(|cell| [&cell.ours, &cell.paper]).flatten().map(Value::show).collect();
    let any = |signs: &[&str]| shown.iter().any(|text| signs.iter().any(|sign| text.starts_with(sign)));
    let notes = [any(&["<"]).then_some(UNSOLVED), any(&["≥", "none of"]).then_some(OPEN)];
    notes.into_iter().flatten().collect()
}

fn notes(group: &RunGroup<'_>, open: Vec<&str>) -> Vec<String> {
    let paper = group.of_paper.then(|| PAPER.to_owned());
    let mut notes = vec![
        INDEX.to_owned(),
        BEST_OF.to_owned(),
        "All steps: of all scored steps of all strings, at most a share ε is incorrect; only this fits the paper's Table 2. Every string: that holds for each string by itself, as its §3.5 says. At ε = 0 both are the same.".to_owned(),
        "Where no step has a single possible symbol (Dyck), ε is the probability above which a symbol counts as possible, and every step must be correct: at ε = 0 no softmax can pass unless it underflows.".to_owned(),
        "Baselines are rows too: a score that one of them reaches says nothing about a learner. Repeating the last symbol is incorrect once per string of aⁿbⁿ, which ε = 0.005 forgives over all steps.".to_owned(),
        "Runs: configurations × seeds at each factor. An evaluation that was stopped, because nothing could be solved any more, counts as not solved.".to_owned(),
    ];
    notes.extend(open.into_iter().map(str::to_owned));
    notes.extend(paper);
    notes.extend(group.bad_note());
    notes
}
