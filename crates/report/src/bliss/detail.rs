//! The details behind the index: every language by learner and factor.

use std::collections::BTreeMap;

use wug_score::metric::Direction::Higher;
use wug_score::metric::{LANGUAGE_MODELING_SYMBOL_EXCESS, LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE};
use wug_score::select::first_best;
use wug_score::strata::Margin;
use wug_score::{Aggregate, Metric, RunResult};

use super::index_run::IndexRun;
use super::rows::{RunGroup, RunsByRow, counted, margins, settings_notes};
use crate::parameters;
use crate::plan_fields::spread_note;
use crate::table::{Cell, Column, Decimals, Row, Table, Value, distinct, grouped};

const DECIMALS: Decimals = Decimals(4);
/// How many symbols, or powers of one, are shown of a string.
const SYMBOLS: usize = 30;
/// What is shown where evaluation was stopped in every run.
const STOPPED: &str = "stopped";

/// One table per language, or two if it was evaluated in two ways.
pub(super) fn tables(group: &RunGroup<'_>) -> Vec<Table> {
    let all = group.rows(|run| !run.is_from_first() && !run.margins().is_empty());
    let kinds = distinct(all.keys().map(|key| (key.language, key.measure())));
    kinds.into_iter().map(|(language, measure)| table(group, language, measure, &all)).collect()
}

fn table(group: &RunGroup<'_>, language: &str, measure: &str, all: &RunsByRow<'_>) -> Table {
    let rows: RunsByRow<'_> = all
        .iter()
        .filter(|(key, _)| (key.language, key.measure()) == (language, measure))
        .map(|(key, runs)| (key.clone(), runs.clone()))
        .collect();
    let (columns, margins) = (group.varying(&rows), margins(&rows));
    let deterministic = rows.values().flatten().any(|run| run.is_deterministic());
    let mut name = if group.of_paper { language.to_owned() } else { format!("index-{language}") };
    let mut title = format!("Behind the index: {language}");
    if !measure.is_empty() {
        name = format!("{name}-{measure}");
        title = format!("{title}, {measure}");
    }
    let mut table = group.blank(&name, &title, &["learner", "b"]);
    table.about.insert("language".to_owned(), language.to_owned());
    table.keys.extend(columns.names());
    table.columns = heads(&margins, deterministic);
    for (key, runs) in &rows {
        for (factor, runs) in by_factor(runs) {
            let keys =
                [key.learner.to_owned(), factor.to_string()].into_iter().chain(columns.values(&key.settings));
            table.rows.push(Row { keys: keys.collect(), cells: cells(&runs, &margins, deterministic) });
        }
    }
    table.notes.extend(notes(deterministic));
    table
        .notes
        .extend(spread_note(rows.values().flat_map(|runs| by_factor(runs)).map(|(_, runs)| results(&runs))));
    table.notes.extend(table.interval_note());
    table.notes.extend(settings_notes(&columns));
    table
}

fn by_factor<'a>(runs: &[IndexRun<'a>]) -> BTreeMap<usize, Vec<IndexRun<'a>>> {
    let mut by_factor: BTreeMap<usize, Vec<IndexRun<'a>>> = BTreeMap::new();
    for run in runs {
        by_factor.entry(run.factor).or_default().push(*run);
    }
    by_factor
}

fn results<'a>(runs: &[IndexRun<'a>]) -> Vec<&'a RunResult> {
    runs.iter().map(|run| run.result).collect()
}

/// Where accuracy is the same at every margin, it is shown once.
fn heads(margins: &[Margin], deterministic: bool) -> Vec<Column> {
    const STEPS: [&str; 4] = ["best", "errors", "mean", "chance"];
    let mut columns: Vec<Column> =
        STEPS.iter().filter(|_| deterministic).map(|name| Column::of("correct steps", *name)).collect();
    for margin in margins {
        let steps = STEPS.iter().filter(|_| !deterministic);
        let names = steps.chain(&["accepted", "longest"]);
        columns.extend(names.map(|name| Column::of(format!("ε = {margin}"), *name)));
    }
    columns.extend(["first failure", "configuration", "runs"].map(Column::new));
    columns.extend(["nats", "of chance"].map(|name| Column::of("training above optimum", name)));
    columns.push(Column::new("parameters"));
    columns
}

fn cells(runs: &[IndexRun<'_>], margins: &[Margin], deterministic: bool) -> Vec<Cell> {
    // The most forgiving margin comes first. Where accuracy does not depend on it, any would do.
    let Some(&most) = margins.first() else { return Vec::new() };
    let mut cells = if deterministic { steps(runs, most) } else { Vec::new() };
    for &margin in margins {
        cells.extend(if deterministic { Vec::new() } else { steps(runs, margin) });
        // A stopped run was tested on the shortest strings, whose share is no share of the test.
        let accepted = best(runs, margin).map(|run| match run.stopped() {
            Some(_) => Some(Value::from(STOPPED)),
            None => run.accepted(margin).map(|x| Value::number(x, DECIMALS)),
        });
        cells.push(Cell { ours: accepted.flatten(), ..Cell::default() });
        cells.push(Cell { ours: solved_length(runs, margin), ..Cell::default() });
    }
    let best = best(runs, most);
    cells.push(Cell { ours: best.and_then(first_failure).map(Value::from), ..Cell::default() });
    let shown = best.map(|run| run.configuration().shown()).filter(|shown| !shown.is_empty());
    cells.push(Cell { ours: shown.map(Value::from), ..Cell::default() });
    cells.push(run_counts(runs));
    for metric in [&LANGUAGE_MODELING_SYMBOL_EXCESS.metric, &LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE.metric]
    {
        cells.push(Cell { ours: best.and_then(|run| trained(run, metric)), ..Cell::default() });
    }
    cells.push(Cell::maybe(parameters::range(runs.iter().map(|run| run.result))));
    cells
}

/// The run with the most correct steps, the first of equals. Those that were stopped were evaluated on the shortest strings
/// only, and come last.
fn best<'a>(runs: &[IndexRun<'a>], margin: Margin) -> Option<IndexRun<'a>> {
    let (stopped, whole): (Vec<IndexRun<'a>>, Vec<IndexRun<'a>>) =
        runs.iter().copied().partition(|run| run.stopped().is_some());
    let best = |of: &[IndexRun<'a>]| first_best(of, Higher, |run| run.accuracy(margin)).copied();
    best(&whole).or_else(|| best(&stopped))
}

/// The best share of correct steps, its errors, the mean over the runs that were evaluated to the end, and chance.
fn steps(runs: &[IndexRun<'_>], margin: Margin) -> Vec<Cell> {
    let Some(best) = best(runs, margin) else { return vec![Cell::default(); 4] };
    let errors = best.steps(margin).map(|steps| (steps.scored - steps.correct, steps.scored));
    let (share, errors) = match best.stopped() {
        Some((strings, of)) => (
            Some(Value::from(STOPPED)),
            errors.map(|(errors, _)| {
                format!("{} in {} of {} strings", grouped(errors), grouped(strings), grouped(of))
            }),
        ),
        None => (
            best.accuracy(margin).map(|x| Value::number(x, DECIMALS)),
            errors.map(|(errors, scored)| format!("{} of {}", grouped(errors), grouped(scored))),
        ),
    };
    let to_the_end = runs.iter().filter(|run| run.stopped().is_none());
    let scores: Vec<f64> = to_the_end.filter_map(|run| run.accuracy(margin)).collect();
    let mean = Value::mean(&scores, true, DECIMALS);
    vec![
        Cell {
            ours: share,
            // No run finished, so this is not the best of their number.
            n: best.stopped().is_none().then_some(runs.len()),
            best_of: true,
            ..Cell::default()
        },
        Cell { ours: errors.map(Value::from), ..Cell::default() },
        Cell { ours: mean, n: Some(scores.len()), ..Cell::default() },
        Cell { ours: best.chance(margin).map(|x| Value::number(x, DECIMALS)), ..Cell::default() },
    ]
}

/// How far the best run solves strings.
pub(super) fn solved_length(runs: &[IndexRun<'_>], margin: Margin) -> Option<Value> {
    let solved: Vec<f64> = runs.iter().filter_map(|run| run.solved_length(margin)).collect();
    Some(Value::number(Aggregate::Max.of(&solved)?, Decimals(0)))
}

/// The first string of the test that was rejected at the smallest margin.
fn first_failure(run: IndexRun<'_>) -> Option<String> {
    let rejected = run.result.hardest.first()?;
    let parts = powers(rejected.string.split_whitespace().collect());
    let mut shown = parts.iter().take(SYMBOLS).map(String::as_str).collect::<Vec<_>>().join(" ");
    if parts.is_empty() {
        shown.push('ε');
    } else if parts.len() > SYMBOLS {
        shown.push_str(" …");
    }
    Some(shown)
}

/// Symbols one by one, or as `a^21 b^21` where most are repeated.
fn powers(symbols: Vec<&str>) -> Vec<String> {
    let runs: Vec<&[&str]> = symbols.chunk_by(|a, b| a == b).collect();
    // Powers are shorter only where symbols repeat about three times on average.
    if 3 * runs.len() > symbols.len() {
        return symbols.into_iter().map(str::to_owned).collect();
    }
    let power = |run: &[&str]| match run {
        [one] => (*one).to_owned(),
        _ => format!("{}^{}", run[0], run.len()),
    };
    runs.into_iter().map(power).collect()
}

fn run_counts(runs: &[IndexRun<'_>]) -> Cell {
    let stopped = runs.iter().filter(|run| run.stopped().is_some()).count();
    let counted = counted(runs);
    Cell::ours(if stopped == 0 { counted } else { format!("{counted} ({stopped} stopped)") })
}

fn trained(run: IndexRun<'_>, metric: &Metric) -> Option<Value> {
    run.result.value("training", metric.name).map(|x| Value::number(x, DECIMALS))
}

fn notes(deterministic: bool) -> Vec<String> {
    let steps = if deterministic {
        "Correct steps: those at which only one symbol can come, and it is the likeliest."
    } else {
        "Correct steps: those at which exactly the symbols that can come have probabilities above ε."
    };
    vec![
        format!("{steps} Best: the run with the most, of equals the first in the order of the paper's grids, then of seeds; errors, accepted, first failure, configuration and training are of that run. Mean: over the runs evaluated to the end, in brackets how many."),
        "Chance: repeating the last symbol, or where several can come giving each the same probability. Accepted: the share of strings that are accepted by themselves. Longest: up to which length some run, not always the best, accepts every string. First failure: the first string that is rejected at the smallest ε.".to_owned(),
        "Stopped: evaluation ends where nothing can be solved any more; what was evaluated until then are the shortest strings, so it is not compared with the rest.".to_owned(),
        "Training above optimum: cross-entropy on the training strings above that of the grammar they were drawn from, in nats per symbol, and on a scale where 1 is giving every symbol the same probability.".to_owned(),
    ]
}
