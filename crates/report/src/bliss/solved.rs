//! Figure 3: how far strings are solved, against the number of training strings.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::Aggregate;
use wug_score::strata::Margin;

use super::detail::solved_length;
use super::index_run::IndexRun;
use super::rows::{ORDER, RunGroup, RunsByRow, SHUFFLED, margins, settings_notes};
use crate::parameters;
use crate::plot::{AxisLabels, Figure, Mark, Panel, drawing};
use crate::table::{BEST_OF_NOTE, Cell, Column, Decimals, Row, Table, Value, distinct};

/// Languages whose strings are in the order of one number n, and how many symbols each n adds.
const COUNTING: [(&str, usize); 3] = [("an-bn", 2), ("an-bn-cn", 3), ("an-bn-cn-dn", 4)];
/// The row of the training strings.
const SEEN: &str = "seen in training";

/// The runs whose tests begin with the shortest string, and the strictest margin of theirs.
fn runs_from_first<'a>(group: &RunGroup<'a>) -> Option<(RunsByRow<'a>, Margin)> {
    let rows = group.rows(IndexRun::is_from_first);
    // Figure 3 is at ε = 0; other margins forgive strings that are wrong.
    let strictest = *margins(&rows).last()?;
    Some((rows, strictest))
}

/// By the number of training strings.
fn by_size<'a>(runs: &[IndexRun<'a>]) -> BTreeMap<usize, Vec<IndexRun<'a>>> {
    let mut sizes: BTreeMap<usize, Vec<IndexRun<'a>>> = BTreeMap::new();
    for run in runs {
        sizes.entry(run.training()).or_default().push(*run);
    }
    sizes
}

/// The runs of each row, and of each language and setting all of them for the row of the training strings.
fn with_seen<'a>(by_row: &RunsByRow<'a>) -> RunsByRow<'a> {
    let mut rows = by_row.clone();
    for (key, runs) in by_row {
        // Training strings do not depend on the learner, so that all runs of the language tell them.
        rows.entry(key.below_learners(SEEN)).or_default().extend(runs);
    }
    rows
}

/// The largest n in training.
fn largest_seen(runs: &[IndexRun<'_>]) -> Option<usize> {
    let n = |run: &IndexRun<'_>| {
        let (_, symbols) = COUNTING.iter().find(|(language, _)| *language == run.language())?;
        Some(run.longest_trained()? / symbols)
    };
    runs.iter().filter_map(n).max()
}

fn seen(runs: &[IndexRun<'_>]) -> Option<Value> {
    largest_seen(runs).map(|n| Value::number(n as f64, Decimals(0)))
}

/// The figure as a table; `None` without runs from the first string on.
pub(super) fn table(group: &RunGroup<'_>) -> Option<Table> {
    let (rows, margin) = runs_from_first(group)?;
    let columns = group.varying(&rows);
    let sizes: BTreeSet<usize> = rows.values().flat_map(|runs| by_size(runs).into_keys()).collect();
    let title = format!("{}, as a table", title(group));
    let mut table = group.blank(name(group), &title, &["language", "learner"]);
    table.keys.extend(columns.names());
    table.columns = sizes.iter().map(|size| Column::of("training strings", size.to_string())).collect();
    table.rows = with_seen(&rows)
        .into_iter()
        .map(|(key, runs)| {
            let keys = [key.language, key.learner].map(str::to_owned).into_iter();
            let by_size = by_size(&runs);
            let of = |size: &usize| by_size.get(size).map_or(&[][..], Vec::as_slice);
            let cell = |size: &usize| match key.learner {
                SEEN => Cell { ours: seen(of(size)), ..Cell::default() },
                _ => Cell {
                    ours: solved_length(of(size), margin),
                    n: Some(of(size).len()),
                    best_of: true,
                    ..Cell::default()
                },
            };
            Row {
                keys: keys.chain(columns.values(&key.settings)).collect(),
                cells: sizes.iter().map(cell).collect(),
            }
        })
        .collect();
    table.notes.extend(notes(group, margin));
    table.notes.push(format!("{BEST_OF_NOTE} The figure shows all of them and their mean."));
    table.notes.extend(settings_notes(&columns));
    Some(table)
}

/// The table in short.
pub(super) fn headline(group: &RunGroup<'_>) -> Option<Table> {
    let (_, margin) = runs_from_first(group)?;
    let table = table(group)?;
    let order = table.keys.iter().any(|key| key == SHUFFLED).then(|| ORDER.to_owned());
    let notes = notes(group, margin).into_iter().chain(order).collect();
    Some(Table { notes, ..table }.compact())
}

/// The figure, a panel per language; `None` without runs from the first string on.
pub(super) fn figure(group: &RunGroup<'_>) -> Option<Figure> {
    let (rows, margin) = runs_from_first(group)?;
    let learners = distinct(rows.keys().map(|key| key.learner));
    let languages = distinct(rows.keys().map(|key| key.language));
    let panels: Vec<Panel> =
        languages.into_iter().filter_map(|language| panel(language, &learners, &rows, margin)).collect();
    let runs = || group.runs.iter().map(|run| run.result);
    let series: Vec<String> = learners.iter().map(|learner| parameters::labelled(learner, runs())).collect();
    let title = format!("{} ({} reading)", title(group), group.reading);
    let mut notes = notes(group, margin);
    notes.push("A line goes through the means over the runs of a learner, which are points; the paper shows the best run. In the legend, the trainable parameters. Crosses: the largest n in training. Both axes are logarithmic; what solves no string lies at the bottom.".to_owned());
    (!panels.is_empty()).then(|| Figure {
        id: format!("{}-{}-{}-drawn", group.scope().name(), group.reading, name(group)),
        svg: drawing(&title, &series, &panels),
        title,
        notes,
    })
}

fn panel(language: &str, learners: &[&str], rows: &RunsByRow<'_>, margin: Margin) -> Option<Panel> {
    let mut marks = Vec::new();
    let mut crosses: BTreeMap<usize, usize> = BTreeMap::new();
    for (key, runs) in rows.iter().filter(|(key, _)| key.language == language) {
        let series = learners.iter().position(|learner| *learner == key.learner)?;
        let (mut line, mut points) = (Vec::new(), Vec::new());
        for (size, runs) in by_size(runs) {
            // A map by size: learners with the same training strings share one cross.
            crosses.extend(largest_seen(&runs).map(|n| (size, n)));
            let solved: Vec<f64> = runs.iter().filter_map(|run| run.solved_length(margin)).collect();
            line.extend(Aggregate::Mean.of(&solved).map(|mean| (size as f64, mean)));
            points.extend(solved.into_iter().map(|n| (size as f64, n)));
        }
        marks.push(Mark::Line { series, points: line, thin: false });
        if !points.is_empty() {
            marks.push(Mark::Points { series, points });
        }
    }
    marks.push(Mark::Crosses(crosses.into_iter().map(|(size, n)| (size as f64, n as f64)).collect()));
    // Training sets and solved lengths both span orders of magnitude.
    Panel::logarithmic(language, AxisLabels { x: "training strings", y: "largest n solved" }, marks)
}

fn name(group: &RunGroup<'_>) -> &'static str {
    if group.of_paper { "figure-3" } else { "solved" }
}

fn title(group: &RunGroup<'_>) -> String {
    let number = if group.of_paper { "Figure 3: largest" } else { "Largest" };
    format!("{number} n solved against the number of training strings")
}

fn notes(group: &RunGroup<'_>, margin: Margin) -> Vec<String> {
    let tested = group.runs.iter().filter(|run| run.is_from_first());
    let strings: BTreeSet<usize> = tested.map(|run| run.plan().data.test.strings).collect();
    let strings = strings.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    vec![format!(
        "How many of the language's first {strings} strings are accepted at ε = {margin} without exception, shortest first: for aⁿbⁿ, up to which n."
    )]
}
