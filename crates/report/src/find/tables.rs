//! The tables: agreement with each rule and description lengths, with the paper's values beside ours; and the tests behind them.

use wug_score::estimate::share_of_runs;
use wug_score::metric::bits;

use super::group::{Comparison, Group, GroupRow};
use super::runs::PreferenceRun;
use super::sheets::Sheet;
use super::{NAME, published};
use crate::plan_fields::spread_note;
use crate::published::other_data;
use crate::table::{Cell, Column, Decimals, IntervalKind, Rank, Row, Scope, Table, Value};

const TWO: Decimals = Decimals(2);
const NONE: &str = "none of them";

const FITTING: &str = "FPA, of seeds that fit";
const ALL: &str = "FPA, of all seeds";
const ACCURACY: &str = "accuracy";
const NATS: &str = "L (nats)";

/// Which unit the paper's lengths seem to be in.
const UNIT: &str = "Ours are nats. The paper says nats, but its figures seem to be bits (one nat is 1.44 bits), which is what the released code prints: multiply ours by 1.44 to compare. Not every cell fits that either (docs/errata.md).";

/// A table that has nothing but its head.
fn blank(group: &Group<'_>, name: &str, title: &str) -> Table {
    let keys: Vec<&str> = std::iter::once("learner").chain(group.keys.iter().map(String::as_str)).collect();
    let id = format!("{}{name}", group.sheet.id());
    Table::blank(Scope::Suite(NAME), group.reading, &id, title, &keys)
}

fn row_keys(row: &GroupRow<'_>) -> Vec<String> {
    std::iter::once(row.learner.to_owned()).chain(row.values.iter().cloned()).collect()
}

/// Preferences: how many seeds agree with each rule, and how long the rules' descriptions are.
pub(super) fn main(group: &Group<'_>) -> Option<Table> {
    if group.sheet == Sheet::Growth {
        return Some(growth(group));
    }
    let agreement = group.results().iter().any(|r| PreferenceRun::of(r).is_some_and(|r| r.fits().is_some()));
    let described = group.rows.iter().any(|row| group.rules.iter().any(|rule| !row.nats(rule).is_empty()));
    let accuracy = group.sheet.is_accuracy();
    let comparisons = group.comparisons();
    let mut table = blank(group, "", &group.sheet.name());
    let rules = || group.rules.iter().copied();
    if agreement && !accuracy {
        let with_none = || rules().chain([NONE]);
        table.columns.extend(with_none().map(|rule| Column::of(FITTING, rule)));
        table.columns.extend(with_none().map(|rule| Column::of(ALL, rule)));
    }
    if accuracy {
        table.columns.extend(rules().map(|rule| Column::of(ACCURACY, rule)));
    }
    if agreement {
        table.columns.push(Column::new("seeds that fit"));
    }
    if described {
        table.columns.extend(rules().map(|rule| Column::of(NATS, rule)));
    }
    for (i, row) in group.rows.iter().enumerate() {
        let mut cells = Vec::new();
        if agreement && !accuracy {
            let (fitting, all) = (row.fitting(), row.runs.as_slice());
            cells.extend(group.rules.iter().map(|rule| fpa(group, row, rule, &fitting, true)));
            cells.push(share(&fitting, PreferenceRun::agrees_with_none));
            cells.extend(group.rules.iter().map(|rule| fpa(group, row, rule, all, false)));
            cells.push(share(all, PreferenceRun::agrees_with_none));
        }
        if accuracy {
            cells.extend(group.rules.iter().map(|rule| {
                let values: Vec<f64> = row.runs.iter().filter_map(|run| run.accuracy(rule)).collect();
                let paper =
                    paper(group, row, |id, value, learner| published::agreement(id, value, learner, rule));
                Cell { n: Some(values.len()), paper, ..Cell::maybe(Value::mean(&values, true, TWO)) }
            }));
        }
        if agreement {
            let known = row.runs.iter().filter(|run| run.fits().is_some()).count();
            cells.push(Cell::ours(format!("{} of {known}", row.fitting().len())));
        }
        if described {
            cells.extend(group.rules.iter().map(|rule| length(group, (i, row), rule, &comparisons)));
        }
        table.rows.push(Row { keys: row_keys(row), cells });
    }
    table.notes = notes(group, &table, described);
    Some(table).filter(|table| !table.columns.is_empty())
}

/// The paper's value of a row.
fn paper(
    group: &Group<'_>,
    row: &GroupRow<'_>,
    of: impl Fn(&str, &str, &str) -> Option<Value>,
) -> Option<Value> {
    match (&group.sheet, &row.printed) {
        (Sheet::Printed(id, _), Some(value)) => of(id, value, row.learner),
        _ => None,
    }
}

fn share<'a>(runs: &[PreferenceRun<'a>], passes: impl Fn(PreferenceRun<'a>) -> Option<bool>) -> Cell {
    let known: Vec<bool> = runs.iter().filter_map(|run| passes(*run)).collect();
    let passed = known.iter().filter(|passed| **passed).count();
    let value = share_of_runs(passed, known.len());
    let value = value.map(|estimate| Value::estimate(estimate, IntervalKind::Share, TWO));
    Cell { n: Some(known.len()), ..Cell::maybe(value) }
}

fn fpa(
    group: &Group<'_>,
    row: &GroupRow<'_>,
    rule: &str,
    runs: &[PreferenceRun<'_>],
    compared: bool,
) -> Cell {
    let mut cell = share(runs, |run| run.agrees(rule));
    if compared {
        cell.paper = paper(group, row, |id, value, learner| published::agreement(id, value, learner, rule));
        cell.paper_n = cell.paper.is_some().then(|| row.paper_seeds(&group.sheet));
    }
    cell
}

/// A description length; in bold if it is the shortest of its row, and the tests tell it from all others.
fn length(
    group: &Group<'_>,
    (i, row): (usize, &GroupRow<'_>),
    rule: &str,
    comparisons: &[Comparison<'_>],
) -> Cell {
    let values = row.nats(rule);
    let own: Vec<&Comparison<'_>> =
        comparisons.iter().filter(|one| one.row == i && one.best == rule).collect();
    let all = own.len() + 1 == group.rules.len() && !own.is_empty();
    let best = all && own.iter().all(|one| one.corrected < group.sheet.level());
    let paper = paper(group, row, |id, value, learner| published::nats(id, value, learner, rule));
    Cell {
        n: Some(values.len()),
        paper_n: paper.is_some().then(|| row.paper_seeds(&group.sheet)),
        paper,
        rank: if best { Rank::Best } else { Rank::Open },
        ..Cell::maybe(Value::mean(&values, false, TWO))
    }
}

/// Nats per example as more examples are shown.
fn growth(group: &Group<'_>) -> Table {
    let mut table = blank(group, "", &group.sheet.name());
    table.columns = group.rules.iter().map(|rule| Column::of("nats per example", *rule)).collect();
    for row in &group.rows {
        let cell = |rule: &&str| {
            let values: Vec<f64> = row.runs.iter().filter_map(|run| per_example(*run, rule)).collect();
            Cell { n: Some(values.len()), ..Cell::maybe(Value::mean(&values, false, TWO)) }
        };
        table.rows.push(Row { keys: row_keys(row), cells: group.rules.iter().map(cell).collect() });
    }
    table.notes = notes(group, &table, false);
    table.notes.push("The paper prints a figure, and no numbers.".to_owned());
    table
}

pub(super) fn per_example(run: PreferenceRun<'_>, rule: &str) -> Option<f64> {
    run.value(&format!("holdout/{rule}"), &wug_score::metric::DESCRIPTION_LENGTH_PER_EXAMPLE)
}

fn notes(group: &Group<'_>, table: &Table, described: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if matches!(group.sheet, Sheet::Printed(..)) {
        notes.push(format!("Paper: {}.", published::PAPER));
        notes.extend(other_data(group.reading));
        notes.push("The paper's FPA is of the seeds that learned their training pairs; its star marks p below its level.".to_owned());
        notes.extend(group.sheet.caveats().into_iter().map(str::to_owned));
    }
    let has_fpa = table.columns.iter().any(|column| column.group == FITTING);
    if has_fpa {
        notes.push("FPA: the share of seeds all of whose outputs are those of the rule.".to_owned());
    }
    if described {
        notes.push(format!(
            "L: the mean number of nats that it takes to send the rule's outputs for unseen inputs, block by block. Bold: the shortest of a row, if paired t-tests over seeds tell it from every other (two-sided, p < {} after Holm's correction for all comparisons of the table).",
            group.sheet.level()
        ));
        notes.extend(unit(group));
    }
    notes.extend(spread_note(
        group.rows.iter().map(|row| row.runs.iter().flat_map(|run| run.results()).collect()),
    ));
    notes.extend(table.interval_note());
    notes
}

/// The unit of the paper's lengths, where they are beside ours.
fn unit(group: &Group<'_>) -> Option<String> {
    matches!(group.sheet, Sheet::Printed(..)).then(|| UNIT.to_owned())
}

/// The main table, small enough for a terminal.
pub(super) fn headline(group: &Group<'_>) -> Option<Table> {
    let mut table = main(group)?;
    // FPA of the seeds that fit alone: those of all seeds are in the report.
    let kept: Vec<bool> = table.columns.iter().map(|column| column.group != ALL).collect();
    let mut keep = kept.iter();
    table.columns.retain(|_| keep.next().copied().unwrap_or(true));
    for row in &mut table.rows {
        let mut keep = kept.iter();
        row.cells.retain(|_| keep.next().copied().unwrap_or(true));
    }
    let described = table.columns.iter().any(|column| column.group == NATS);
    let other = other_data(group.reading).filter(|_| matches!(group.sheet, Sheet::Printed(..)));
    table.notes = other.into_iter().chain(unit(group).filter(|_| described)).collect();
    Some(table.compact())
}

/// The tests behind the bold of a table.
pub(super) fn tests(group: &Group<'_>) -> Option<Table> {
    let comparisons = group.comparisons();
    let title = format!("{}: which description is shorter", group.sheet.name());
    let mut table = blank(group, "-tests", &title);
    table.keys.extend(["shortest", "other"].map(str::to_owned));
    table.columns =
        ["seeds", "difference (nats)", "difference (bits)", "effect size", "t", "p", "p, corrected"]
            .map(Column::new)
            .to_vec();
    for Comparison { row, best, other, test, corrected } in &comparisons {
        let keys = row_keys(&group.rows[*row]).into_iter().chain([(*best).to_owned(), (*other).to_owned()]);
        let number = |x: f64| Cell::ours(Value::number(x, TWO));
        let small = |p: f64| Cell::ours(format!("{p:.2e}"));
        let cells = vec![
            Cell::ours(test.n.to_string()),
            number(test.difference),
            number(bits(test.difference)),
            number(test.effect),
            number(test.t),
            small(test.p),
            small(*corrected),
        ];
        table.rows.push(Row { keys: keys.collect(), cells });
    }
    table.notes = vec![
        "Paired t-tests over seeds, two-sided. Effect size: the mean difference in standard deviations of the differences (Cohen's d of paired samples). Corrected: Holm's method, for all comparisons of this table.".to_owned(),
        format!("The paper's level is {}.", group.sheet.level()),
    ];
    Some(table).filter(|table| !table.rows.is_empty())
}
