//! The index of Lan, Chemla and Katzir: its cells show what was measured, and no more.

mod fixtures;

use fixtures::generalization::{
    Counts, FACTORS, configured, detailed, evaluated, index, planned, solving, stopped, with_index,
};
use fixtures::{named, printed, read_as, row, tables};
use wug_report::ABSENT;
use wug_score::{Ending, Reading, RunResult};

const PRINTED: &str = include_str!("../src/bliss/published/index.csv");

#[test]
fn the_papers_values_give_the_papers_table() {
    let number = |text: &str| if text == "<1" { None } else { Some(text.parse().unwrap()) };
    let results: Vec<RunResult> = printed(PRINTED)
        .into_iter()
        .flat_map(|row| {
            let [lenient, strict] = [row[2], row[3]].map(number);
            // A test that is solved without errors is solved with some.
            assert!(strict.is_none() || strict == lenient || (lenient, strict) == (Some(10), Some(1)));
            FACTORS.map(|b| {
                let strict = strict == Some(b);
                solving(planned(row[0], row[1], b, 100), [strict || lenient == Some(b), strict])
            })
        })
        .collect();
    let tables = tables(&results);
    let table = named(&tables, "bliss-published-2");
    assert_eq!(table.rows.len(), 24);
    for (printed, row) in printed(PRINTED).iter().zip(&table.rows) {
        assert_eq!(row.keys, printed[..2]);
        for (cell, expected) in row.cells.iter().zip(&printed[2..]) {
            let shown = [&cell.ours, &cell.paper].map(|value| value.as_ref().unwrap().show());
            assert_eq!(shown, [*expected; 2], "{:?}", row.keys);
        }
    }
}

/// The test windows of aⁿbⁿ, by factor.
const WINDOWS: [(usize, usize, usize); 4] = [(1, 25, 1024), (2, 23, 2022), (4, 21, 4020), (10, 21, 10_020)];

#[test]
fn repeating_the_last_symbol_is_incorrect_once_per_string() {
    let mut results: Vec<RunResult> = Vec::new();
    for (factor, first, last) in WINDOWS {
        let (strings, scored) = (last - first + 1, (first..=last).sum::<usize>());
        // One incorrect step in n is forgiven from n = 200 on.
        let counts: [Counts; 2] = [
            ("0.005", [scored - strings, scored], [last - 199, strings]),
            ("0", [scored - strings, scored], [0, strings]),
        ];
        results.push(evaluated(planned("an-bn", "repeat-last", factor, 0), &counts));
        let all = ([scored, scored], [strings, strings]);
        let counts = [("0.005", all.0, all.1), ("0", all.0, all.1)];
        results.push(evaluated(planned("an-bn", "true-grammar", factor, 0), &counts));
    }
    assert_eq!(index(&results, "an-bn", "repeat-last"), ["10", "<1", "<1", "<1", "1, 2, 4, 10", "1 × 1"]);
    assert_eq!(index(&results, "an-bn", "true-grammar"), ["10", "10", "10", "10", "1, 2, 4, 10", "1 × 1"]);
    // The paper's learners are there with its values, and without ours.
    assert_eq!(index(&results, "an-bn", "mdlrnn"), [ABSENT; 6]);
    let tables = tables(&results);
    let learners: Vec<&str> =
        named(&tables, "bliss-published-2").rows.iter().map(|row| row.keys[1].as_str()).collect();
    assert_eq!(learners, ["lstm", "stack-lstm", "baby-ntm", "mdlrnn", "repeat-last", "true-grammar"]);
    let behind = named(&tables, "bliss-published-an-bn");
    assert_eq!(row(behind, &["repeat-last", "1"])[..3], ["0.9981", "1,000 of 524,500", "0.9981"]);
    assert_eq!(row(behind, &["repeat-last", "10"])[..3], ["0.9998", "10,000 of 50,205,000", "0.9998"]);
}

#[test]
fn factors_that_were_not_run_leave_the_index_open() {
    let mut results = with_index("an-bn", "lstm", [Some(2), None]);
    assert_eq!(index(&results, "an-bn", "lstm")[..2], ["2", "<1"]);
    results.truncate(2);
    let expected = ["≥2", "none of 1, 2", "none of 1, 2", "none of 1, 2", "1, 2 (not 4, 10)", "1 × 1"];
    assert_eq!(index(&results, "an-bn", "lstm"), expected);
    // Smaller factors cannot make a larger index.
    let results = with_index("an-bn", "lstm", [Some(10), Some(10)]).split_off(3);
    assert_eq!(index(&results, "an-bn", "lstm")[..2], ["10", "10"]);
    // A failed run counts as not run.
    let mut results = with_index("an-bn", "lstm", [None, None]);
    results[3].scores.clear();
    results[3].ending = Ending::Failed { message: "out of memory".to_owned() };
    assert_eq!(index(&results, "an-bn", "lstm")[0], "none of 1, 2, 4");
    assert!(named(&tables(&results), "bliss-published-2").notes.join("\n").contains("Of 4 runs, 1 failed"));
}

#[test]
fn a_stopped_evaluation_is_not_solved_however_good_its_start() {
    let results = FACTORS.map(|b| stopped(solving(planned("an-bn", "lstm", b, 100), [true, true]), 40));
    assert_eq!(index(&results, "an-bn", "lstm")[..4], ["<1"; 4]);
    let tables = tables(&results);
    let shown = row(named(&tables, "bliss-published-an-bn"), &["lstm", "1"]);
    assert_eq!(shown[..5], ["stopped", "0 in 40 of 1,000 strings", ABSENT, "0.2500", "stopped"]);
    assert!(shown.contains(&"1 × 1 (1 stopped)".to_owned()), "{shown:?}");
    // Beside a run that was evaluated to the end, it is neither counted in the mean nor the best.
    let mut results = results.to_vec();
    results.push(solving(planned("an-bn", "lstm", 1, 101), [false, false]));
    let tables = fixtures::tables(&results);
    let shown = row(named(&tables, "bliss-published-an-bn"), &["lstm", "1"]);
    assert_eq!(shown[..3], ["0.9950", "501 of 100,000", "0.9950"]);
}

#[test]
fn both_criteria_of_acceptance_are_shown() {
    // One incorrect step among many is forgiven over all steps, but not within its string.
    let counts = [("0.005", [99_999, 100_000], [999, 1000]), ("0", [99_999, 100_000], [999, 1000])];
    let results = [evaluated(planned("an-bn", "lstm", 1, 100), &counts)];
    assert_eq!(index(&results, "an-bn", "lstm")[..4], ["≥1", "none of 1", "none of 1", "none of 1"]);
    // For a Dyck language nothing is forgiven.
    let results = [evaluated(planned("dyck-1", "lstm", 1, 100), &counts)];
    assert_eq!(index(&results, "dyck-1", "lstm")[..4], ["none of 1"; 4]);
    // Without scored steps the index is not known.
    let counts = [("0.005", [0, 0], [1000, 1000]), ("0", [0, 0], [1000, 1000])];
    let results = [evaluated(planned("dyck-1", "lstm", 1, 100), &counts)];
    assert_eq!(index(&results, "dyck-1", "lstm")[..4], [ABSENT; 4]);
}

#[test]
fn ties_go_to_the_first_of_the_papers_grid() {
    let grid = [(128, "l1", 1.0), (2, "none", 0.0), (2, "l2", 1.0), (2, "l1", 0.01), (2, "l1", 0.1)];
    let mut results: Vec<RunResult> = Vec::new();
    for (hidden, regularization, lambda) in grid {
        for seed in [101, 100] {
            let string = format!("{}{}", "a ".repeat(25), "b ".repeat(25));
            let result = solving(configured(hidden, regularization, lambda, seed), [true, false]);
            results.push(detailed(result, &string, 0.25 / seed as f64));
        }
    }
    let behind =
        |results: &[RunResult]| row(named(&tables(results), "bliss-published-an-bn"), &["lstm", "1"]);
    let shown = behind(&results);
    assert_eq!(
        shown[8..],
        ["a^25 b^25", "2 units, L1 0.1, 1000 epochs", "5 × 2", "0.0025", "0.0013", "63,713"],
        "{shown:?}"
    );
    results.remove(0);
    assert_eq!(behind(&results)[10], "9 of 5 × 2");
    // A better run is the best, wherever it is in the grid.
    let counts = [("0.005", [99_501, 100_000], [1000, 1000]), ("0", [99_501, 100_000], [0, 1000])];
    results.push(evaluated(configured(32, "l2", 0.1, 102), &counts));
    let shown = behind(&results);
    assert_eq!(shown[9..11], ["32 units, L2 0.1, 1000 epochs", "10 of 6 × 3"], "{shown:?}");
    assert_eq!(shown[4], "1.0000");
    let more = solving(planned("an-bn", "lstm", 2, 100), [false, false]);
    results.push(more);
    assert_eq!(index(&results, "an-bn", "lstm")[5], "b = 1: 10 of 6 × 3; b = 2: 1 × 1");
}

#[test]
fn the_first_failure_is_short_whatever_it_is() {
    for (string, shown) in [
        ("a a a a b b b b".to_owned(), "a^4 b^4".to_owned()),
        ("a^300 b^300".to_owned(), "a^300 b^300".to_owned()),
        ("( ( ) ) ( )".to_owned(), "( ( ) ) ( )".to_owned()),
        ("( ) ".repeat(20), "( ) ".repeat(15) + "…"),
        (String::new(), "ε".to_owned()),
    ] {
        let result = detailed(solving(planned("an-bn", "lstm", 1, 100), [false, false]), &string, 0.1);
        let tables = tables(&[result]);
        let cells = row(named(&tables, "bliss-published-an-bn"), &["lstm", "1"]);
        assert_eq!(cells[8], shown, "{string}");
    }
}

#[test]
fn readings_are_never_mixed() {
    let mut results = with_index("an-bn", "lstm", [Some(1), None]);
    let mut corrected = with_index("an-bn", "lstm", [Some(10), Some(10)]);
    corrected.iter_mut().for_each(|result| read_as(result, Reading::Corrected));
    results.extend(corrected);
    assert_eq!(index(&results, "an-bn", "lstm")[..2], ["1", "<1"]);
    let tables = tables(&results);
    let table = named(&tables, "bliss-corrected-2");
    assert_eq!(row(table, &["an-bn", "lstm"])[..2], ["10", "10"]);
    assert!(table.notes.join("\n").contains("published data"));
}

/// A result is a file, which anyone can have edited.
#[test]
fn more_correct_steps_than_scored_ones_are_not_shown() {
    let counts: [Counts; 2] = [("0.005", [4_294_967_296, 3488], [0, 64]), ("0", [3, 2], [0, 64])];
    let results = [evaluated(planned("an-bn", "repeat-last", 1, 0), &counts)];
    for table in tables(&results) {
        let cells = table.rows.iter().flat_map(|row| &row.cells);
        let shown: Vec<String> = cells.filter_map(|cell| Some(cell.ours.as_ref()?.show())).collect();
        assert!(
            !shown.iter().any(|text| text.ends_with(" of 3,488") || text.ends_with(" of 2")),
            "{shown:?}"
        );
    }
}
