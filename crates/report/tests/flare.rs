//! The paper's own values, given as if we had measured them, must give the paper's tables.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod fixtures;

use fixtures::{accuracy, cross_entropy, named, printed, recognition, sized, tables};
use wug_report::{Table, Value};
use wug_score::RunResult;

const FULL: &str = include_str!("../src/flare/published/full.csv");
const MAIN: &str = include_str!("../src/flare/published/main.csv");
const BEST_LOSS: &str = include_str!("../src/flare/published/best_loss.csv");
const SIZES: &str = include_str!("../src/flare/published/model_size.csv");

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// Runs for every printed row: two whose mean and spread are those printed, and for a row of the long validation
/// set one whose score is the printed maximum instead. The first has the lowest validation loss and all else
/// that is printed of the selected run, except its test accuracy where that would change the mean.
fn from_print() -> Vec<RunResult> {
    let mut results = Vec::new();
    for row in printed(FULL) {
        let at = [row[0], row[1], row[2], row[3]];
        let [mean, std, max] = [9, 10, 11].map(|i| number(row[i]));
        let split = format!("validation-{}", row[3]);
        let mut selected = vec![
            accuracy("training", number(row[4])),
            cross_entropy(&split, number(row[5])),
            accuracy(&split, number(row[6])),
        ];
        selected.extend(row[7].parse().ok().map(|x| accuracy("test-short-held-out", x)));
        let mut tests = if row[3] == "short" { vec![mean - std, mean + std] } else { vec![max] };
        selected.push(accuracy("test", tests.remove(0)));
        let others =
            tests.into_iter().map(|x| vec![accuracy("test", x), cross_entropy(&split, number(row[5]) + 1.0)]);
        for (seed, scores) in (1..).zip(std::iter::once(selected).chain(others)) {
            results.push(recognition(at, seed, scores));
        }
    }
    results
}

/// What we show, without the interval, and what the paper shows in a cell.
fn shown(table: &Table, row: usize, column: usize) -> (String, String) {
    let cell = &table.rows[row].cells[column];
    (without_interval(cell.ours.as_ref()), cell.paper.as_ref().unwrap().show())
}

fn without_interval(value: Option<&Value>) -> String {
    value.unwrap().show().split(" [").next().unwrap().to_owned()
}

#[test]
fn table_2_follows_from_tables_4_to_21() {
    let tables = tables(&from_print());
    let table = named(&tables, "flare-published-2");
    assert_eq!(table.rows.len(), 18);
    for (i, row) in printed(MAIN).into_iter().enumerate() {
        assert_eq!(table.rows[i].keys, [row[0]]);
        for learner in 0..3 {
            let expected = format!("{} ± {}", row[1 + 2 * learner], row[2 + 2 * learner]);
            assert_eq!(shown(table, i, learner), (expected.clone(), expected), "{} {learner}", row[0]);
            let expected = row[7 + learner].to_owned();
            assert_eq!(shown(table, i, 3 + learner), (expected.clone(), expected), "{} {learner}", row[0]);
        }
    }
}

#[test]
fn table_3_follows_from_tables_4_to_21() {
    let tables = tables(&from_print());
    let table = named(&tables, "flare-published-3");
    for (i, row) in printed(BEST_LOSS).into_iter().enumerate() {
        for column in 0..6 {
            let paper = row[1 + column];
            assert_eq!(
                shown(table, i, column),
                (format!("{paper} (of 4)"), format!("{paper} (of 4)")),
                "{} {column}",
                row[0]
            );
        }
    }
}

#[test]
fn every_printed_value_of_a_language_is_in_its_table() {
    let tables = tables(&from_print());
    for (i, row) in printed(FULL).into_iter().enumerate() {
        let table = named(&tables, &format!("flare-published-{}", 4 + i / 24));
        assert_eq!((table.about["language"].as_str(), table.rows.len()), (row[0], 24));
        let (keys, cells) = (&table.rows[i % 24].keys, &table.rows[i % 24].cells);
        assert_eq!(*keys, row[1..4]);
        for column in [0, 1, 2, 3, 4, 6] {
            let printed = row[if column < 5 { 4 + column } else { 11 }];
            let paper = cells[column].paper.as_ref().map(wug_report::Value::show);
            assert_eq!(paper.unwrap_or_default(), printed, "{keys:?} {column}");
        }
        for cell in &cells[..4] {
            assert_eq!(cell.ours, cell.paper, "{keys:?}");
        }
        assert_eq!(cells[5].paper.as_ref().unwrap().show(), format!("{} ± {}", row[9], row[10]));
        if row[3] == "short" {
            assert_eq!(without_interval(cells[5].ours.as_ref()), format!("{} ± {}", row[9], row[10]));
        } else {
            assert_eq!(cells[6].ours, cells[6].paper);
        }
    }
}

#[test]
fn table_22_repeats_what_tables_4_to_21_say_of_64k() {
    let mut results = from_print();
    let larger = recognition(["parity", "lstm", "R", "long"], 1, vec![accuracy("test", 0.25)]);
    results.push(sized(larger, 128_000));
    let tables = tables(&results);
    let table = named(&tables, "flare-published-22");
    assert_eq!(table.columns.len(), 9);
    for row in printed(SIZES) {
        let cells = &table.rows.iter().find(|r| r.keys == [row[0]]).unwrap().cells;
        for column in 0..9 {
            assert_eq!(cells[column].paper.as_ref().unwrap().show(), row[1 + column], "{} {column}", row[0]);
        }
        for column in [1, 4, 7] {
            assert_eq!(cells[column].ours.as_ref().unwrap().show(), row[1 + column], "{} {column}", row[0]);
        }
        let larger = cells[8].ours.as_ref().map(wug_report::Value::show);
        assert_eq!(larger.as_deref(), (row[0] == "parity").then_some("0.25"), "{}", row[0]);
    }
}
