//! What tables say about the runs behind a cell: how many, which differ in what, and whether more than noise sets it apart.

mod fixtures;

use fixtures::generalization::{FACTORS, planned, solving};
use fixtures::{as_in_the_paper, named, render, row, scored, set, tables};
use wug_report::Rank::{Best, Open, Tied};
use wug_report::{Format, Table, Value};
use wug_score::{Point, RunResult};

/// Runs of a learner on parity with these accuracies, seeds from 0 on.
fn runs(learner: &str, loss: &str, validation: &str, accuracies: &[f64]) -> Vec<RunResult> {
    let run =
        |(seed, x): (u64, &f64)| as_in_the_paper(scored(["parity", learner, loss, validation], seed, *x));
    (0..).zip(accuracies).map(run).collect()
}

fn cell<'t>(table: &'t Table, keys: &[&str], column: &str) -> &'t wug_report::Cell {
    let row = table.rows.iter().find(|row| row.keys == keys).unwrap_or_else(|| panic!("no {keys:?}"));
    let at = table.columns.iter().position(|c| c.full_name() == column);
    &row.cells[at.unwrap_or_else(|| panic!("no {column} in {:?}", table.columns))]
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(String::new, Value::show)
}

#[test]
fn a_single_loss_stands_beside_the_papers_row_of_that_loss() {
    // LSTM on parity: 0.90 ± 0.20 with R+NS, the best of four losses, but 0.66 ± 0.22 with R.
    let of = |losses: &[&str], column: &str| {
        let results: Vec<RunResult> = losses
            .iter()
            .flat_map(|loss| ["short", "long"].map(|validation| runs("lstm", loss, validation, &[0.7])))
            .flatten()
            .collect();
        let all = tables(&results);
        let cell = cell(named(&all, "flare-published-2"), &["parity"], column).clone();
        (shown(cell.paper.as_ref()), cell.paper_n.unwrap())
    };
    let (bias, expressivity) = ("Inductive bias: lstm", "Expressivity: lstm");
    assert_eq!(of(&["R"], bias), ("0.66 ± 0.22".to_owned(), 10));
    assert_eq!(of(&["R", "R+NS"], bias), ("0.90 ± 0.20".to_owned(), 10));
    assert_eq!(of(&["R", "R+LM", "R+NS", "R+LM+NS"], bias), ("0.90 ± 0.20".to_owned(), 10));
    assert_eq!(of(&["R"], expressivity), ("1.00".to_owned(), 10));
    assert_eq!(of(&["R", "R+LM", "R+NS", "R+LM+NS"], expressivity), ("1.00".to_owned(), 40));
}

#[test]
fn the_best_of_ours_is_compared_with_the_best_of_as_many_as_the_papers() {
    // Two of twelve runs reach the paper's 1.00; of ten of them the best is 1.00 unless both are left out: 1 in 66 times.
    let mut accuracies = vec![0.6; 10];
    accuracies.extend([0.999, 1.0]);
    let results = runs("lstm", "R", "long", &accuracies);
    let all = tables(&results);
    let table = named(&all, "flare-published-2-best-of");
    let of = |column: &str| cell(table, &["parity", "lstm"], column);
    assert_eq!((of("best").n, of("best").paper_n, of("best").best_of), (Some(12), Some(10), true));
    assert_eq!(shown(of("share of runs: at least 0.99").ours.as_ref()), "0.17 [0.05, 0.45]");
    assert_eq!(shown(of("share of runs: at least the paper's best").ours.as_ref()), "0.17 [0.05, 0.45]");
    let Some(Value::Number { value, interval, .. }) =
        of("best of the paper's number of runs: expected").ours.clone()
    else {
        panic!("no number")
    };
    // All twelve, both good ones among the ten: 45/66, the better alone 10/66, the other alone 10/66, none 1/66.
    assert!((value - (55.0 * 1.0 + 10.0 * 0.999 + 0.6) / 66.0).abs() < 1e-12, "{value}");
    assert!(interval.unwrap().low < value && interval.unwrap().high <= 1.0);
    assert_eq!(
        shown(of("best of the paper's number of runs: reaches the paper's").ours.as_ref()),
        "0.84 [0.38, 1.00]"
    );
    // Fewer runs than the paper's say so.
    let all = tables(&results[..9]);
    let few = cell(
        named(&all, "flare-published-2-best-of"),
        &["parity", "lstm"],
        "best of the paper's number of runs: expected",
    );
    assert_eq!(shown(few.ours.as_ref()), "not enough runs: 9 of 10 of a loss");
}

#[test]
fn bold_is_what_beats_all_others_and_nothing_at_chance() {
    let ranks = |of: &[(&str, &[f64])]| {
        let results: Vec<RunResult> =
            of.iter().flat_map(|(learner, accuracies)| runs(learner, "R", "short", accuracies)).collect();
        let all = tables(&results);
        let cells = &named(&all, "flare-published-2").rows[0].cells;
        cells[..3].iter().map(|cell| cell.rank).collect::<Vec<_>>()
    };
    let (good, bad) = (&[0.98, 0.99, 1.0, 0.97][..], &[0.6, 0.55, 0.62, 0.58][..]);
    let coin = &[0.5, 0.49, 0.51, 0.5][..];
    assert_eq!(ranks(&[("transformer", bad), ("rnn", coin), ("lstm", good)]), [Open, Open, Best]);
    assert_eq!(ranks(&[("transformer", bad), ("rnn", good), ("lstm", good)]), [Open, Tied, Tied]);
    assert_eq!(ranks(&[("transformer", coin), ("lstm", &[0.4, 0.41, 0.42, 0.4])]), [Open; 3]);
    assert_eq!(ranks(&[("transformer", &bad[..3]), ("lstm", &good[..3])]), [Open; 3]);
    let results = [runs("rnn", "R", "short", bad), runs("lstm", "R", "short", good)].concat();
    assert!(render(&results, Format::Markdown).unwrap().contains("**0.98 ± 0.01"));
    assert!(render(&results, Format::Html).unwrap().contains("<b>0.98 ± 0.01</b>"));
    let results = [
        runs("transformer", "R", "short", bad),
        runs("rnn", "R", "short", good),
        runs("lstm", "R", "short", good),
    ];
    assert!(render(&results.concat(), Format::Html).unwrap().contains("<u>0.98 ± 0.01</u>"));
}

#[test]
fn settings_that_were_drawn_are_shown_and_named() {
    let mut results = runs("lstm", "R", "short", &[0.9; 5]);
    for (i, result) in results.iter_mut().enumerate() {
        set(result, "learner.settings.learning_rate", (0.001 * (i + 1) as f64).into());
        result.parameters = Some(63_700 + i);
    }
    let all = tables(&results);
    let notes = named(&all, "flare-published-2").notes.join("\n");
    assert!(notes.contains("Runs in a cell differ in their seed and learning rate."), "{notes}");
    assert!(notes.contains("Trainable parameters: lstm 63,700 to 63,704."), "{notes}");
    assert!(notes.contains("Data drawn with seed 0."), "{notes}");
    assert!(!notes.contains("More than 5 %"), "{notes}");
    // The weights of a network that was searched for are not trained.
    let mut searched = results.clone();
    for result in &mut searched {
        result.data["found"] = serde_json::json!({});
    }
    let notes = named(&tables(&searched), "flare-published-2").notes.join("\n");
    assert!(!notes.contains("Trainable parameters"), "{notes}");
    let table = named(&all, "recognition-published-settings");
    let at = ["parity", "lstm", "64000", "R", "short"];
    assert_eq!(row(table, &at)[..2], ["5", "63,700 to 63,704"]);
    // What is the same in all rows is in a note.
    let notes = table.notes.join("\n");
    assert!(notes.contains("learning rate 0.001 to 0.005") && notes.contains("clip 5"), "{notes}");
    results[0].parameters = Some(50_000);
    let notes = named(&tables(&results), "flare-published-2").notes.join("\n");
    assert!(notes.contains("More than 5 % from the size asked for: lstm 50,000 for 64,000."), "{notes}");
}

#[test]
fn data_of_several_seeds_are_named_and_other_data_are_a_caution() {
    let mut results = runs("lstm", "R", "short", &[0.9; 2]);
    results[1].plan.data_seed = Some(7);
    results[1].run.data_hash = "other".to_owned();
    let text = render(&results, Format::Markdown).unwrap();
    assert!(text.contains("Data drawn with the seeds 0, 7."), "{text}");
    assert!(text.contains("cells have runs on data drawn with different seeds: parity (0, 7)"), "{text}");
    assert!(text.contains("differ in their data seed and seed."), "{text}");
    assert!(!text.contains("the data differ"), "{text}");
    results[1].plan.data_seed = Some(0);
    let text = render(&results, Format::Markdown).unwrap();
    assert!(text.contains("drawn with the same seed: parity") && !text.contains("different seeds"), "{text}");
}

/// Stack-LSTMs of both memories, which train alike: three seeds at each factor, of which one solves b = 1 and b = 2.
fn stacks() -> Vec<RunResult> {
    let mut results = Vec::new();
    for factor in FACTORS {
        for seed in [100, 101, 102] {
            for memory in [100, 50] {
                let solved = factor <= 2 && seed == 101;
                let mut result = solving(planned("an-bn", "stack-lstm", factor, seed), [solved, false]);
                set(&mut result, "learner.settings.memory", memory.into());
                result.run.plan = format!("{}-{memory}", result.run.plan);
                let training = Some(1.0 / seed as f64);
                result.curve = vec![Point { epoch: 1, steps: 1, training, validation: None }];
                results.push(result);
            }
        }
    }
    results
}

#[test]
fn a_run_under_settings_that_make_no_difference_counts_once() {
    let mut results = stacks();
    let text = render(&results, Format::Markdown).unwrap();
    assert!(text.contains("12 of 24 runs are the same as another"), "{text}");
    let all = tables(&results);
    let table = named(&all, "bliss-published-2");
    assert_eq!(row(table, &["an-bn", "stack-lstm"])[5], "1 × 3");
    let index = cell(table, &["an-bn", "stack-lstm"], "all steps: ε = 0.005");
    assert_eq!((shown(index.ours.as_ref()), index.n, index.paper_n), ("2".to_owned(), Some(3), Some(12)));
    // The one with the smaller memory is shown, wherever it is in the list.
    let settings =
        row(named(&all, "generalization-published-settings"), &["an-bn", "stack-lstm", "1", "cross-entropy"]);
    assert!(settings[0] == "3" && !settings.contains(&"50, 100".to_owned()), "{settings:?}");
    assert!(named(&all, "generalization-published-settings").notes.join("\n").contains("memory 50,"));
    // Where training differs, there are two.
    for result in
        results.iter_mut().filter(|result| result.plan.learner.settings.count("memory") == Some(100))
    {
        result.curve[0].training = Some(0.5);
    }
    assert_eq!(row(named(&tables(&results), "bliss-published-2"), &["an-bn", "stack-lstm"])[5], "2 × 3");
}

#[test]
fn an_index_is_compared_with_that_of_the_best_of_as_many_as_the_papers() {
    let all = tables(&stacks());
    let table = named(&all, "bliss-published-2-best-of");
    let at = |b: &str| row(table, &["an-bn", "stack-lstm", b]);
    assert_eq!(at("1")[..2], ["0.333 [0.061, 0.792]", "0.992 [0.533, 1.000]"]);
    assert_eq!(at("10")[..2], ["0.000 [0.000, 0.561]", "0.000 [0.000, 1.000]"]);
    // Three runs leave everything open, the paper's 10 too.
    assert_eq!(at("𝔹")[1], "2 (<1 to 10)");
    let paper = cell(table, &["an-bn", "stack-lstm", "𝔹"], "all steps, ε = 0.005: best of the paper's n");
    assert_eq!(shown(paper.paper.as_ref()), "10");
    // Baselines have no such rows, and no number of runs.
    let baseline = FACTORS.map(|b| solving(planned("an-bn", "bigram", b, 0), [true, false]));
    let all = tables(&baseline);
    assert!(all.iter().all(|table| table.id != "bliss-published-2-best-of"));
    assert_eq!(cell(named(&all, "bliss-published-2"), &["an-bn", "bigram"], "all steps: ε = 0.005").n, None);
}
