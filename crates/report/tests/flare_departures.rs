//! Which runs are shown beside the paper's values, and the notes on those values.

mod fixtures;

use fixtures::{as_in_the_paper, figures, many, read_as, render, scored, set, sized, tables};
use serde_json::{Value, json};
use wug_report::{Format, Table};
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
    let data = [("training", "training"), ("validation-long", "validation"), ("test", "test")];
    for (split, what) in data {
        let what = format!("data {what}");
        let mut changed = run();
        changed.data["splits"][split]["examples"] = 200.into();
        other(&changed, &what);
        changed.data["splits"][split].take();
        other(&changed, &what);
    }
    for (path, value) in [("data.short", json!(30)), ("data.long", json!(60)), ("data.longest", json!(100))] {
        for value in [value, Value::Null] {
            let mut changed = run();
            set(&mut changed, path, value);
            other(&changed, &path.replace('.', " "));
        }
    }
}

/// The data are the paper's, so that there is a cell for the run: with a mark, and without the paper's figure.
#[test]
fn runs_that_are_trained_in_another_way_have_a_mark_in_their_cell() {
    let departures = [
        ("dropout", json!(0.2)),
        ("clip", json!(1.0)),
        ("decay", json!(0.9)),
        ("decay_patience", json!(5)),
        ("patience", json!(5)),
        ("max_epochs", json!(2)),
        ("learning_rate", json!(0.02)),
        ("batch_symbols", json!(64)),
    ];
    for (name, value) in departures {
        for value in [value, Value::Null] {
            let mut changed = run();
            set(&mut changed, &format!("learner.settings.{name}"), value);
            has_mark(&changed, &name.replace('_', " "));
        }
    }
    let mut changed = run();
    set(&mut changed, "learner.matching", json!("nearest"));
    has_mark(&changed, "matching nearest (paper: published)");
}

fn has_mark(changed: &RunResult, what: &str) {
    let tables = tables(std::slice::from_ref(changed));
    assert_eq!(tables[0].id, "flare-published-2", "{what}");
    let cell = &tables[0].rows[0].cells[5];
    assert!(cell.ours.is_some() && cell.paper.is_none(), "{what}");
    assert!(cell.departures.iter().any(|departure| departure.starts_with(what)), "{:?}", cell.departures);
    let text = render(std::slice::from_ref(changed), Format::Markdown).expect("text");
    assert!(text.contains("≠: not as in the paper") && text.contains("(best of 1) ≠"), "{text}");
    // Beside a run that is as in the paper it has no place in its cell.
    let both = fixtures::tables(&[changed.clone(), run()]);
    assert_eq!(both[0].rows[0].cells[5].n, Some(1));
    assert!(both[0].rows[0].cells[5].paper.is_some(), "{what}");
    assert!(both.iter().any(|table| table.id == "recognition-published-overview"), "{what}");
}

#[test]
fn settings_that_the_paper_drew_may_vary() {
    let same = |path: &str, value: Value| {
        let mut changed = run();
        set(&mut changed, path, value);
        let table = &tables(&[changed])[0];
        assert_eq!(table.id, "flare-published-2", "{path}");
        assert!(table.rows[0].cells[5].paper.is_some(), "{path}");
    };
    same("learner.settings.learning_rate", json!(1e-4));
    same("learner.settings.learning_rate", json!(1e-2));
    same("learner.settings.batch_symbols", json!(128));
    same("learner.settings.batch_symbols", json!(4096));
    // The strings of a directory count, not what would have been drawn; and only the validation set of the run.
    same("data.training", json!(7));
    let mut changed = run();
    changed.data["splits"]["validation-short"].take();
    assert_eq!(ids(&[changed])[0], "flare-published-2");
}

#[test]
fn notes_say_what_the_papers_values_are_of() {
    let mut results = many();
    results.push(sized(run(), 128_000));
    for reading in Reading::ALL {
        results.iter_mut().for_each(|result| read_as(result, reading));
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
    results.push(sized(run(), 32_000));
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
    assert!(figures(&results).iter().all(|figure| page.contains(&figure.svg)));
}
