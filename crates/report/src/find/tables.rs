//! The tables: agreement with each rule and description lengths, with the paper's values beside ours; and the tests behind them.

use wug_score::estimate::share_of_runs;
use wug_score::metric::bits;

use super::group::{RuleComparison, SheetRow, SheetRuns};
use super::runs::PreferenceRun;
use super::sheets::Sheet;
use super::{NAME, published};
use crate::departures::PaperFigure;
use crate::pivot::Pivot;
use crate::plan_fields::spread_note;
use crate::table::{Cell, Column, Decimals, IntervalKind, Rank, Scope, Table, Value};

const TWO: Decimals = Decimals(2);
const NONE: &str = "none of them";

const FITTING: &str = "FPA, of seeds that fit";
const ALL: &str = "FPA, of all seeds";
const ACCURACY: &str = "accuracy";
const NATS: &str = "L (nats)";

/// Which unit the paper's lengths seem to be in.
const UNIT: &str = "Ours are nats. The paper says nats, but its figures seem to be bits (one nat is 1.44 bits), which is what the released code prints: multiply ours by 1.44 to compare. Not every cell fits that either (docs/errata.md).";

/// A table that has nothing but its head.
fn blank(group: &SheetRuns<'_>, name: &str, title: &str) -> Table {
    let keys: Vec<&str> = std::iter::once("learner").chain(group.keys.iter().map(String::as_str)).collect();
    let id = format!("{}{name}", group.sheet.id());
    Table::blank(Scope::Suite(NAME), group.reading, &id, title, &keys)
}

fn row_keys(row: &SheetRow<'_>) -> Vec<String> {
    std::iter::once(row.learner.to_owned()).chain(row.values.iter().cloned()).collect()
}

/// Preferences: how many seeds agree with each rule, and how long the rules' descriptions are.
pub(super) fn main(group: &SheetRuns<'_>) -> Option<Table> {
    if group.sheet == Sheet::Growth {
        return Some(growth(group));
    }
    let agreement = group.rows.iter().flat_map(|row| &row.runs).any(|run| run.fits().is_some());
    let described = group.rows.iter().any(|row| group.rules.iter().any(|rule| !row.nats(rule).is_empty()));
    let accuracy = group.sheet.is_accuracy();
    let comparisons = group.comparisons();
    let rules = || group.rules.iter().copied();
    let mut pivot: Pivot<'_, usize> = Pivot::new();
    let row = |i: usize| &group.rows[i];
    if agreement && !accuracy {
        pivot = pivot
            .columns(
                rules(),
                |rule| Column::of(FITTING, *rule),
                move |i, rule| {
                    fpa(row(*i), &row(*i).fitting(), rule, figure(group, row(*i), published::agreement, rule))
                },
            )
            .column(Column::of(FITTING, NONE), move |i| {
                share(&row(*i).fitting(), PreferenceRun::agrees_with_none)
            })
            .columns(
                rules(),
                |rule| Column::of(ALL, *rule),
                move |i, rule| share(&row(*i).runs, |run| run.agrees(rule)),
            )
            .column(Column::of(ALL, NONE), move |i| share(&row(*i).runs, PreferenceRun::agrees_with_none));
    }
    if accuracy {
        pivot = pivot.columns(
            rules(),
            |rule| Column::of(ACCURACY, *rule),
            move |i, rule| {
                let values: Vec<f64> = row(*i).runs.iter().filter_map(|run| run.accuracy(rule)).collect();
                let figure = figure(group, row(*i), published::agreement, rule);
                let figure = figure.map(|figure| PaperFigure { n: None, ..figure });
                let ours = Cell { n: Some(values.len()), ..Cell::maybe(Value::mean(&values, true, TWO)) };
                ours.with_paper(row(*i).all(), figure)
            },
        );
    }
    if agreement {
        pivot = pivot.column(Column::new("seeds that fit"), move |i| {
            let known = row(*i).runs.iter().filter(|run| run.fits().is_some()).count();
            Cell::ours(format!("{} of {known}", row(*i).fitting().len()))
        });
    }
    if described {
        let comparisons = &comparisons;
        pivot = pivot.columns(
            rules(),
            |rule| Column::of(NATS, *rule),
            move |i, rule| length(group, *i, rule, comparisons),
        );
    }
    let rows = group.rows.iter().enumerate().map(|(i, row)| (row_keys(row), i));
    let mut table = pivot.fill(blank(group, "", &group.sheet.name()), rows);
    table.notes = notes(group, &table, described);
    Some(table).filter(|table| !table.columns.is_empty())
}

/// A printed figure of a row, by the table, the value, the learner and the rule.
fn figure(
    group: &SheetRuns<'_>,
    row: &SheetRow<'_>,
    printed: fn(&str, &str, &str, &str) -> Option<Value>,
    rule: &str,
) -> Option<PaperFigure> {
    let (Sheet::Printed(id, _), Some(value)) = (&group.sheet, &row.printed) else { return None };
    let value = printed(id, value, row.learner, rule)?;
    Some(PaperFigure { value, n: Some(row.paper_seeds(&group.sheet)) })
}

fn share<'a>(runs: &[PreferenceRun<'a>], passes: impl Fn(PreferenceRun<'a>) -> Option<bool>) -> Cell {
    let known: Vec<bool> = runs.iter().filter_map(|run| passes(*run)).collect();
    let passed = known.iter().filter(|passed| **passed).count();
    let value = share_of_runs(passed, known.len());
    let value = value.map(|estimate| Value::estimate(estimate, IntervalKind::Share, TWO));
    // Without a known run the cell is empty: zero would say that none agreed.
    Cell { n: Some(known.len()), ..Cell::maybe(value) }
}

fn fpa(row: &SheetRow<'_>, runs: &[PreferenceRun<'_>], rule: &str, figure: Option<PaperFigure>) -> Cell {
    share(runs, |run| run.agrees(rule)).with_paper(row.all(), figure)
}

/// A description length; in bold if it is the shortest of its row, and the tests tell it from all others.
fn length(group: &SheetRuns<'_>, i: usize, rule: &str, comparisons: &[RuleComparison<'_>]) -> Cell {
    let row = &group.rows[i];
    let values = row.nats(rule);
    let own: Vec<&RuleComparison<'_>> =
        comparisons.iter().filter(|one| one.row == i && one.best == rule).collect();
    // A rule without a length was not compared: "shortest of all" would then be too much.
    let all = own.len() + 1 == group.rules.len() && !own.is_empty();
    let best = all && own.iter().all(|one| one.corrected < group.sheet.level());
    let ours = Cell {
        n: Some(values.len()),
        rank: if best { Rank::Best } else { Rank::Open },
        ..Cell::maybe(Value::mean(&values, false, TWO))
    };
    ours.with_paper(row.all(), figure(group, row, published::nats, rule))
}

/// Nats per example as more examples are shown.
fn growth(group: &SheetRuns<'_>) -> Table {
    let mut table = Pivot::new()
        .columns(
            &group.rules,
            |rule| Column::of("nats per example", **rule),
            |row: &&SheetRow<'_>, rule| {
                let values: Vec<f64> = row.runs.iter().filter_map(|run| per_example(*run, rule)).collect();
                Cell { n: Some(values.len()), ..Cell::maybe(Value::mean(&values, false, TWO)) }
            },
        )
        .fill(blank(group, "", &group.sheet.name()), group.rows.iter().map(|row| (row_keys(row), row)));
    table.notes = notes(group, &table, false);
    table.notes.push("The paper prints a figure, and no numbers.".to_owned());
    table
}

pub(super) fn per_example(run: PreferenceRun<'_>, rule: &str) -> Option<f64> {
    run.value(&format!("holdout/{rule}"), &wug_score::metric::DESCRIPTION_LENGTH_PER_EXAMPLE)
}

fn notes(group: &SheetRuns<'_>, table: &Table, described: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if matches!(group.sheet, Sheet::Printed(..)) {
        notes.push(format!("Paper: {}.", published::PAPER));
        notes.extend(group.reading_note.clone());
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
fn unit(group: &SheetRuns<'_>) -> Option<String> {
    matches!(group.sheet, Sheet::Printed(..)).then(|| UNIT.to_owned())
}

/// The main table, small enough for a terminal.
pub(super) fn headline(group: &SheetRuns<'_>) -> Option<Table> {
    let mut table = main(group)?;
    // FPA of the seeds that fit alone: those of all seeds are in the report.
    table.retain_columns(|column| column.group != ALL);
    let described = table.columns.iter().any(|column| column.group == NATS);
    let unit = unit(group).filter(|_| described);
    let other = group.reading_note.clone().filter(|_| matches!(group.sheet, Sheet::Printed(..)));
    table.notes = other.into_iter().chain(unit).collect();
    Some(table.compact())
}

/// The tests behind the bold of a table.
pub(super) fn tests(group: &SheetRuns<'_>) -> Option<Table> {
    let comparisons = group.comparisons();
    let title = format!("{}: which description is shorter", group.sheet.name());
    let mut table = blank(group, "-tests", &title);
    table.keys.extend(["shortest", "other"].map(str::to_owned));
    let number = |x: f64| Cell::ours(Value::number(x, TWO));
    let small = |p: f64| Cell::ours(format!("{p:.2e}"));
    let keyed = comparisons.iter().map(|one| {
        let own = [one.best, one.other].map(str::to_owned);
        (row_keys(&group.rows[one.row]).into_iter().chain(own).collect(), one)
    });
    let mut table = Pivot::new()
        .column(Column::new("seeds"), |one: &&RuleComparison<'_>| Cell::ours(one.test.n.to_string()))
        .column(Column::new("difference (nats)"), |one| number(one.test.difference))
        .column(Column::new("difference (bits)"), |one| number(bits(one.test.difference)))
        .column(Column::new("effect size"), |one| number(one.test.effect))
        .column(Column::new("t"), |one| number(one.test.t))
        .column(Column::new("p"), |one| small(one.test.p))
        .column(Column::new("p, corrected"), |one| small(one.corrected))
        .fill(table, keyed);
    table.notes = vec![
        "Paired t-tests over seeds, two-sided. Effect size: the mean difference in standard deviations of the differences (Cohen's d of paired samples). Corrected: Holm's method, for all comparisons of this table.".to_owned(),
        format!("The paper's level is {}.", group.sheet.level()),
    ];
    Some(table).filter(|table| !table.rows.is_empty())
}
