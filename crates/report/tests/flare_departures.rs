//! Which runs are shown beside the paper's values, and the notes on those values.

mod fixtures;

use fixtures::{as_in_the_paper, many, scored};
use serde_json::{Value, json};
use wug_report::{Format, Table, render, tables};
use wug_score::{Reading, RunResult};

fn run() -> RunResult {
    as_in_the_paper(scored(["parity", "lstm", "R", "long"], 1, 0.5))
}

fn ids(results: &[RunResult]) -> Vec<String> {
    tables(results).into_iter().map(|table| table.id).collect()
}

#[test]
fn runs_of_other_data_or_settings_are_not_shown_beside_the_paper() {
    let expected = ["2", "2-best-of", "3", "6"].map(|name| format!("flare-published-{name}"));
    assert_eq!(ids(&[run()]), [&expected[..], &["recognition-published-settings".to_owned()]].concat());
    let other = |changed: &RunResult, what: &str| {
        let tables = tables(std::slice::from_ref(changed));
        assert_eq!(tables[0].id, "recognition-published-overview", "{what}");
        let notes = tables[0].notes.join("\n");
        assert!(notes.contains("Not to be compared") && notes.contains(what), "{notes}");
    };
    let data = [("training", "10,000"), ("validation-long", "1,000"), ("test", "5,010")];
    for (split, what) in data {
        let mut changed = run();
        changed.data["splits"][split]["examples"] = 200.into();
        other(&changed, what);
        changed.data["splits"][split].take();
        other(&changed, what);
    }
    let plan = [
        ("/data/short", json!(30), "up to 40"),
        ("/data/long", json!(60), "up to length 80"),
        ("/data/longest", json!(100), "up to length 500"),
        ("/settings/dropout", json!(0.2), "dropout 0.1"),
        ("/clip", json!(1.0), "clipped at 5"),
        ("/decay", json!(0.9), "decay of 0.5"),
        ("/decay_patience", json!(5), "after 4 bad"),
        ("/patience", json!(5), "after 10 bad"),
        ("/learning_rate", json!(0.02), "learning rates"),
        ("/batch_symbols", json!(64), "batches of 128"),
        ("/matching", json!("nearest"), "widths as published"),
    ];
    for (at, value, what) in plan {
        for value in [value, Value::Null] {
            let mut changed = run();
            *changed.plan.pointer_mut(at).unwrap() = value;
            other(&changed, what);
        }
    }
}

#[test]
fn settings_that_the_paper_drew_may_vary() {
    let same = |at: &str, value: Value| {
        let mut changed = run();
        *changed.plan.pointer_mut(at).unwrap() = value;
        assert_eq!(ids(&[changed])[0], "flare-published-2", "{at}");
    };
    same("/learning_rate", json!(1e-4));
    same("/learning_rate", json!(1e-2));
    same("/batch_symbols", json!(128));
    same("/batch_symbols", json!(4096));
    same("/max_epochs", json!(60));
    // The strings of a directory count, not what would have been drawn; and only the validation set of the run.
    same("/data/training", json!(7));
    let mut changed = run();
    changed.data["splits"]["validation-short"].take();
    assert_eq!(ids(&[changed])[0], "flare-published-2");
}

#[test]
fn notes_say_what_the_papers_values_are_of() {
    let mut results = many();
    results.push(run());
    results.last_mut().unwrap().run.coordinates.set("size", 128_000_usize);
    for reading in Reading::ALL {
        results.iter_mut().for_each(|result| result.run.reading = reading);
        let of_paper = |table: &&Table| !table.id.ends_with("hardest") && !table.id.ends_with("settings");
        for table in tables(&results).iter().filter(of_paper) {
            let notes = table.notes.join("\n");
            let runs = if table.id.ends_with("-22") { "the best of 10 runs" } else { "10 runs" };
            assert!(notes.contains(runs), "{}: {notes}", table.id);
            assert_eq!(notes.contains("published data"), reading == Reading::Corrected, "{}", table.id);
        }
        let text = render(&results, Format::Table).unwrap();
        let count = |what: &str| text.matches(what).count();
        assert_eq!((count("10 runs of each of four"), count("best of 10 runs")), (1, 1), "{text}");
        assert_eq!(count("published data"), if reading == Reading::Corrected { 2 } else { 0 }, "{text}");
    }
}

#[test]
fn every_table_and_figure_of_the_paper_is_in_every_full_report() {
    let mut results = many();
    results.push(run());
    results.last_mut().unwrap().run.coordinates.set("size", 32_000_usize);
    let expected = ["2", "2-best-of", "3", "5", "6", "9", "22", "22-best-of", "hardest"];
    let expected = expected.map(|name| format!("flare-published-{name}"));
    assert_eq!(ids(&results), [&expected[..], &["recognition-published-settings".to_owned()]].concat());
    for format in [Format::Markdown, Format::Csv, Format::Json, Format::Html] {
        let text = render(&results, format).unwrap();
        for table in tables(&results) {
            assert!(text.contains(&table.id) || text.contains(&table.title), "{format:?}: {}", table.id);
        }
    }
    let page = render(&results, Format::Html).unwrap();
    assert!(wug_report::figures(&results).iter().all(|figure| page.contains(&figure.svg)));
}
