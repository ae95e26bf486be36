//! What lies behind the index: every language by learner and factor.

use std::collections::BTreeMap;

use wug_score::metric::Direction::Higher;
use wug_score::metric::{LANGUAGE_MODELING_SYMBOL_EXCESS, LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE};
use wug_score::select::first_best;
use wug_score::strata::Margin;
use wug_score::{Aggregate, Metric};

use super::group::{Group, TrialsByRow, VaryingColumns, counted, margins};
use super::trial::Trial;
use crate::table::{Cell, Column, Decimals, Row, Table, Value, distinct, spread};

const DECIMALS: Decimals = Decimals(4);
/// How many symbols, or powers of one, are shown of a string.
const SYMBOLS: usize = 30;
/// What stands where marking was stopped in every run.
const STOPPED: &str = "stopped";

/// One table per language, or two if it was marked in two ways.
pub(super) fn tables(group: &Group<'_>) -> Vec<Table> {
    let all = group.places(|trial| !trial.is_from_first() && !trial.margins().is_empty());
    let kinds = distinct(all.keys().map(|place| (place.language, place.measure())));
    kinds.into_iter().map(|kind| table(group, kind, &all)).collect()
}

fn table(group: &Group<'_>, (language, measure): (&str, &str), all: &TrialsByRow<'_>) -> Table {
    let places: TrialsByRow<'_> = all
        .iter()
        .filter(|(place, _)| (place.language, place.measure()) == (language, measure))
        .map(|(place, trials)| (place.clone(), trials.clone()))
        .collect();
    let (told, margins) = (VaryingColumns::of(&places), margins(&places));
    let deterministic = places.values().flatten().any(|trial| trial.is_deterministic());
    let mut name = if group.of_paper { language.to_owned() } else { format!("index-{language}") };
    let mut title = format!("Behind the index: {language}");
    if !measure.is_empty() {
        name = format!("{name}-{measure}");
        title = format!("{title}, {measure}");
    }
    let mut table = group.blank(&name, &title, &["learner", "b"]);
    table.about.insert("language".to_owned(), language.to_owned());
    table.keys.extend(told.names());
    table.columns = columns(&margins, deterministic);
    for (place, trials) in &places {
        let mut by_factor: BTreeMap<usize, Vec<Trial<'_>>> = BTreeMap::new();
        for trial in trials {
            by_factor.entry(trial.factor).or_default().push(*trial);
        }
        for (factor, trials) in by_factor {
            let keys = [place.learner.to_owned(), factor.to_string()].into_iter().chain(told.values(place));
            table.rows.push(Row { keys: keys.collect(), cells: cells(&trials, &margins, deterministic) });
        }
    }
    table.notes.extend(notes(deterministic));
    table.notes.extend(told.note());
    table
}

/// Where accuracy is the same at every margin, it is said once.
fn columns(margins: &[Margin], deterministic: bool) -> Vec<Column> {
    const STEPS: [&str; 4] = ["best", "wrong", "mean", "chance"];
    let mut columns: Vec<Column> =
        STEPS.iter().filter(|_| deterministic).map(|name| Column::of("right steps", *name)).collect();
    for margin in margins {
        let steps = STEPS.iter().filter(|_| !deterministic);
        let names = steps.chain(&["accepted", "longest"]);
        columns.extend(names.map(|name| Column::of(format!("ε = {margin}"), *name)));
    }
    columns.extend(["first failure", "configuration", "runs"].map(Column::new));
    columns.extend(["nats", "of chance"].map(|name| Column::of("training above optimum", name)));
    columns
}

fn cells(trials: &[Trial<'_>], margins: &[Margin], deterministic: bool) -> Vec<Cell> {
    let Some(&most) = margins.first() else { return Vec::new() };
    let mut cells = if deterministic { steps(trials, most) } else { Vec::new() };
    for &margin in margins {
        cells.extend(if deterministic { Vec::new() } else { steps(trials, margin) });
        let accepted = best(trials, margin).map(|trial| match trial.stopped() {
            Some(_) => Some(Value::from(STOPPED)),
            None => trial.accepted(margin).map(|x| Value::number(x, DECIMALS)),
        });
        cells.push(Cell { ours: accepted.flatten(), ..Cell::default() });
        cells.push(Cell { ours: reach(trials, margin), ..Cell::default() });
    }
    let best = best(trials, most);
    cells.push(Cell { ours: best.and_then(first_failure).map(Value::from), ..Cell::default() });
    let shown = best.map(|trial| trial.configuration().shown()).filter(|shown| !shown.is_empty());
    cells.push(Cell { ours: shown.map(Value::from), ..Cell::default() });
    cells.push(runs(trials));
    for metric in [&LANGUAGE_MODELING_SYMBOL_EXCESS, &LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE] {
        cells.push(Cell { ours: best.and_then(|trial| trained(trial, metric)), ..Cell::default() });
    }
    cells
}

/// The trial with the most right steps, the first of equals. Those that were stopped saw only the shortest strings, and come
/// last.
fn best<'a>(trials: &[Trial<'a>], margin: Margin) -> Option<Trial<'a>> {
    let (stopped, whole): (Vec<Trial<'a>>, Vec<Trial<'a>>) =
        trials.iter().copied().partition(|trial| trial.stopped().is_some());
    let best = |of: &[Trial<'a>]| first_best(of, Higher, |trial| trial.accuracy(margin)).copied();
    best(&whole).or_else(|| best(&stopped))
}

/// The best share of right steps, how many are wrong there, the mean over the runs that were marked to the end, and what
/// one gets who knows nothing.
fn steps(trials: &[Trial<'_>], margin: Margin) -> Vec<Cell> {
    let Some(best) = best(trials, margin) else { return vec![Cell::default(); 4] };
    let wrong = best.steps(margin).map(|steps| (steps.scored - steps.right, steps.scored));
    let (share, wrong) = match best.stopped() {
        Some((strings, of)) => (
            Some(Value::from(STOPPED)),
            wrong.map(|(wrong, _)| {
                format!("{} in {} of {} strings", grouped(wrong), grouped(strings), grouped(of))
            }),
        ),
        None => (
            best.accuracy(margin).map(|x| Value::number(x, DECIMALS)),
            wrong.map(|(wrong, scored)| format!("{} of {}", grouped(wrong), grouped(scored))),
        ),
    };
    let whole = trials.iter().filter(|trial| trial.stopped().is_none());
    let scores: Vec<f64> = whole.filter_map(|trial| trial.accuracy(margin)).collect();
    let mean = Aggregate::Mean.of(&scores).map(|mean| Value::with_std(mean, spread(&scores), DECIMALS));
    vec![
        Cell { ours: share, ..Cell::default() },
        Cell { ours: wrong.map(Value::from), ..Cell::default() },
        Cell { ours: mean, n: Some(scores.len()), ..Cell::default() },
        Cell { ours: best.chance(margin).map(|x| Value::number(x, DECIMALS)), ..Cell::default() },
    ]
}

/// How far the best run solves strings.
pub(super) fn reach(trials: &[Trial<'_>], margin: Margin) -> Option<Value> {
    let reached: Vec<f64> = trials.iter().filter_map(|trial| trial.reach(margin)).collect();
    Some(Value::number(Aggregate::Max.of(&reached)?, Decimals(0)))
}

/// The first string of the test that was rejected where least is forgiven.
fn first_failure(trial: Trial<'_>) -> Option<String> {
    let hard = trial.result.hardest.first()?;
    let parts = powers(hard.string.split_whitespace().collect());
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
    if 3 * runs.len() > symbols.len() {
        return symbols.into_iter().map(str::to_owned).collect();
    }
    let power = |run: &[&str]| match run {
        [one] => (*one).to_owned(),
        _ => format!("{}^{}", run[0], run.len()),
    };
    runs.into_iter().map(power).collect()
}

fn runs(trials: &[Trial<'_>]) -> Cell {
    let stopped = trials.iter().filter(|trial| trial.stopped().is_some()).count();
    let counted = counted(trials);
    Cell::ours(if stopped == 0 { counted } else { format!("{counted} ({stopped} stopped)") })
}

fn trained(trial: Trial<'_>, metric: &Metric) -> Option<Value> {
    trial.result.value("training", metric.name).map(|x| Value::number(x, DECIMALS))
}

/// 50,205,000 for 50205000.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|part| std::str::from_utf8(part).ok()).collect();
    parts.join(",")
}

fn notes(deterministic: bool) -> Vec<String> {
    let steps = if deterministic {
        "Right steps: those at which only one symbol can come, and it is the likeliest."
    } else {
        "Right steps: those at which exactly the symbols that can come have probabilities above ε."
    };
    vec![
        format!("{steps} Best: the run with the most, of equals the first in the order of the paper's grids, then of seeds; wrong, accepted, first failure, configuration and training are of that run. Mean: over the runs marked to the end, in brackets how many."),
        "Chance: repeating the last symbol, or where several can come giving each the same probability. Accepted: the share of strings that are accepted by themselves. Longest: up to which length some run, not always the best, accepts every string. First failure: the first string that is rejected at the smallest ε.".to_owned(),
        "Stopped: marking ends where nothing can be solved any more; what was marked until then are the shortest strings, so it is not compared with the rest.".to_owned(),
        "Training above optimum: cross-entropy on the training strings above that of the grammar they were drawn from, in nats per symbol, and on a scale where 1 is giving every symbol the same probability.".to_owned(),
    ]
}
