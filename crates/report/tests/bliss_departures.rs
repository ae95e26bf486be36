//! Which runs of the index are shown beside the paper's values, where the others are shown, and the formats of both.

mod fixtures;

use fixtures::generalization::{configured, far, index, planned, solving, with_index};
use fixtures::{figures, named, render, row, set, tables};
use serde_json::{Value, json};
use wug_report::Format;
use wug_score::RunResult;

#[test]
fn only_runs_as_in_the_paper_are_shown_beside_it() {
    let departures = [
        ("lstm", "measure.criterion", json!("categorical"), "criterion"),
        ("lstm", "data.order", json!(2), "data order"),
        ("lstm", "data.prior", json!(0.5), "data prior"),
        ("lstm", "data.factor", json!(5), "data factor"),
        ("lstm", "data.training", json!(999), "data training"),
        ("lstm", "measure.margins", json!([0.005]), "margins"),
        ("lstm", "learner.settings.hidden", json!(64), "hidden"),
        ("lstm", "learner.settings.layers", json!(2), "layers"),
        ("lstm", "learner.settings.epochs", json!(100), "epochs"),
        ("lstm", "learner.settings.learning_rate", json!(0.01), "learning rate"),
        ("lstm", "learner.settings.regularization", json!("l3"), "regularization"),
        ("lstm", "learner.settings.lambda", json!(0.5), "lambda"),
        ("lstm", "learner.settings.batch", json!(10), "batch"),
        ("stack-lstm", "learner.settings.hidden", json!(9), "hidden"),
        ("stack-lstm", "learner.settings.epochs", json!(4), "epochs"),
        ("stack-lstm", "learner.settings.memory", json!(2050), "memory"),
        ("stack-lstm", "learner.settings.test_memory", json!(50), "test memory"),
        ("stack-lstm", "learner.settings.memory_width", json!(6), "memory width"),
        ("stack-lstm", "learner.settings.gate", json!("gumbel"), "gate"),
        ("stack-lstm", "learner.settings.batch", json!("all"), "batch"),
        ("stack-lstm", "learner.settings.learning_rate", json!(0.1), "learning rate"),
        ("stack-lstm", "learner.settings.regularization", json!("l1"), "regularization"),
        ("baby-ntm", "learner.settings.memory", json!(50), "memory"),
        ("lstm", "data.test.after", json!("after-last"), "data test after"),
        ("lstm", "learner.settings.loss", json!("sigmoid-mse"), "loss"),
    ];
    for (learner, path, value, name) in departures {
        // Only settings can be absent; where the paper has no such setting, none is no departure.
        let is_setting = path.starts_with("learner.settings.") && !path.ends_with(".loss");
        let absent = is_setting.then_some(Value::Null);
        for value in [Some(value), absent].into_iter().flatten() {
            let mut result = solving(planned("an-bn", learner, 1, 100), [true, false]);
            set(&mut result, path, value);
            let tables = tables(&[result]);
            assert!(tables.iter().all(|table| table.id.starts_with("generalization-published-")), "{path}");
            assert!(tables.iter().flat_map(|t| &t.rows).flat_map(|r| &r.cells).all(|c| c.paper.is_none()));
            let notes = tables[0].notes.join("\n");
            // Without its constant a run is nearest to one that is not regularised.
            let named = notes.contains(name) || path.ends_with("lambda");
            assert!(notes.contains("Not to be compared") && named, "{path}: {notes}");
        }
    }
    let result = solving(configured(2, "none", 0.0, 7), [true, false]);
    assert_eq!(tables(std::slice::from_ref(&result))[0].id, "bliss-published-2");
    // Other data of the same description are as in the paper.
    let mut result = solving(planned("an-bn", "lstm", 1, 100), [true, false]);
    result.plan.data_seed = Some(1);
    assert_eq!(tables(&[result])[0].id, "bliss-published-2");
}

#[test]
fn a_language_evaluated_in_two_ways_has_a_row_and_a_table_for_each() {
    let run = |factor, measure: &str, solved| {
        let mut result = solving(planned("an-bn", "lstm", factor, 100), solved);
        set(&mut result, "data.prior", json!(0.5));
        set(&mut result, "measure.criterion", json!(measure));
        result.run.plan += measure;
        result
    };
    let results = [run(4, "deterministic", [true, true]), run(10, "categorical", [false, false])];
    let both = tables(&results);
    let behind = |table: &&wug_report::Table| table.title.starts_with("Behind the index: an-bn, ");
    assert_eq!(both.iter().filter(behind).map(|table| table.rows.len()).collect::<Vec<_>>(), [1, 1]);
    let measures = |table: &wug_report::Table| {
        let at = table.keys.iter().position(|key| key == "measure")?;
        Some(table.rows.iter().map(|row| row.keys[at].clone()).collect::<Vec<_>>())
    };
    assert_eq!(measures(&both[0]).unwrap(), ["categorical", "deterministic"]);
    assert_eq!(measures(&tables(&results[..1])[0]), None);
}

#[test]
fn any_language_and_learner_can_have_an_index() {
    let at = |prior: f64, factor: usize, solved: bool| {
        let mut result = solving(planned("dyck-2-3", "gru", factor, 1), [solved, false]);
        set(&mut result, "data.prior", prior.into());
        result
    };
    let results = [at(0.3, 1, true), at(0.3, 5, false), at(0.5, 1, false), at(0.5, 5, true)];
    let tables = tables(&results);
    let table = named(&tables, "generalization-published-index");
    assert_eq!(table.keys, ["language", "learner", "prior"]);
    assert_eq!(row(table, &["dyck-2-3", "gru", "0.3"])[..2], ["≥1", "none of 1, 5"]);
    assert_eq!(row(table, &["dyck-2-3", "gru", "0.5"])[..2], ["≥5", "none of 1, 5"]);
    assert_eq!(table.notes.iter().filter(|note| note.contains("order 3, data seed 100")).count(), 1);
    assert_eq!(named(&tables, "generalization-published-index-dyck-2-3").rows.len(), 4);
    // Ten strings cannot be divided by four, so that factor is not missing.
    let small = [1, 2, 10].map(|factor| {
        let mut result = solving(planned("an-bn", "lstm", factor, 1), [factor == 2, false]);
        set(&mut result, "data.order", 1.into());
        set(&mut result, "data.training", (10 / factor).into());
        result.data["evaluated"]["of"] = (10 * factor).into();
        result
    });
    let table = &fixtures::tables(&small)[0];
    assert_eq!(row(table, &["an-bn", "lstm"])[..2], ["2", "<1"]);
    // A learner of its own has a row in the paper's table, with nothing beside it.
    let results = with_index("an-bn", "gru", [Some(4), Some(4)]);
    assert_eq!(index(&results, "an-bn", "gru")[..2], ["4", "4"]);
    // Sets of other sizes have no index, but their details are shown.
    let mut result = solving(planned("an-bn", "lstm", 1, 1), [true, true]);
    result.data["evaluated"]["of"] = 500.into();
    let ids: Vec<String> = fixtures::tables(&[result]).into_iter().map(|table| table.id).collect();
    assert_eq!(ids, ["generalization-published-index-an-bn", "generalization-published-settings"]);
}

#[test]
fn sizes_and_listed_settings_have_rows_and_the_grids_of_the_paper_are_pooled() {
    let run = |rate: f64, hidden: usize, size: usize| {
        let mut result = solving(planned("an-bn", "gru", 1, 1), [true, false]);
        result.run.plan = format!("{rate}-{hidden}-{size}");
        for (name, value) in [("learning_rate", rate), ("hidden", hidden as f64)] {
            result.run.coordinates.set(name, value);
        }
        result.plan.learner.size = Some(size);
        set(&mut result, "learner.settings.hidden", hidden.into());
        result
    };
    let mut results = vec![run(0.1, 2, 1000), run(0.1, 4, 1000), run(0.01, 2, 1000), run(0.01, 2, 2000)];
    results.push(solving(planned("an-bn", "repeat-last", 1, 1), [true, false]));
    let tables = tables(&results);
    let table = named(&tables, "bliss-published-2");
    assert_eq!(table.keys, ["language", "learner", "size", "learning rate"]);
    assert_eq!(row(table, &["an-bn", "gru", "1000", "0.1"])[5], "2 × 1");
    assert_eq!(row(table, &["an-bn", "gru", "2000", "0.01"])[5], "1 × 1");
}

#[test]
fn the_order_of_training_strings_is_said() {
    let run = |shuffle: bool, seed: u64| {
        let mut result = solving(planned("an-bn", "stack-lstm", 1, seed), [true, false]);
        set(&mut result, "learner.settings.shuffle", shuffle.into());
        result.run.plan = format!("{shuffle}-{seed}");
        result
    };
    let mut results = vec![run(false, 1), solving(planned("an-bn", "repeat-last", 1, 1), [true, false])];
    let text = render(&results, Format::Table).unwrap();
    assert!(text.contains("Shuffled: true, the training strings"), "{text}");
    let sheets = tables(&results);
    let table = named(&sheets, "bliss-published-2");
    assert_eq!(table.keys, ["language", "learner"]);
    assert!(table.notes.iter().any(|note| note.contains("shuffled false")), "{:?}", table.notes);
    results.push(run(true, 1));
    let sheets = tables(&results);
    let table = named(&sheets, "bliss-published-2");
    assert_eq!(table.keys, ["language", "learner", "shuffled"]);
    for shuffled in ["true", "false"] {
        assert_eq!(row(table, &["an-bn", "stack-lstm", shuffled])[5], "1 × 1");
    }
    // What no cell shows needs no explanation.
    let solved = with_index("dyck-1", "gru", [Some(10), Some(10)]);
    let sheets = tables(&solved);
    assert!(!named(&sheets, "bliss-published-2").notes.iter().any(|note| note.contains("≥2")));
}

/// Figure 3: two learners, four sizes, three seeds.
fn figure_3() -> Vec<RunResult> {
    let mut results = Vec::new();
    for (training, longest, n) in [(100, 40, 20), (250, 40, 21), (500, 44, 60), (1000, 48, 1000)] {
        for seed in [100, 101, 102] {
            let less = (102 - seed) as usize;
            results.push(far("lstm", training, longest, seed, 20 + less));
            results.push(far("baby-ntm", training, longest, seed, n - 5 * less));
        }
    }
    results
}

#[test]
fn the_figure_shows_every_run_and_the_training_strings() {
    let results = figure_3();
    let all = tables(&results);
    let table = named(&all, "bliss-published-figure-3");
    assert_eq!(row(table, &["an-bn", "seen in training"]), ["20", "20", "22", "24"]);
    assert_eq!(row(table, &["an-bn", "lstm"]), ["22"; 4]);
    assert_eq!(row(table, &["an-bn", "baby-ntm"]), ["20", "21", "60", "1000"]);
    // Tests from the first string on have no index.
    let ids: Vec<&str> = all.iter().map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["bliss-published-figure-3", "generalization-published-settings"]);
    let figures = figures(&results);
    let document = roxmltree::Document::parse(&figures[0].svg).unwrap();
    let count = |class: &str| {
        let has = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
        };
        document.descendants().filter(has).count()
    };
    // Two lines and the legend; three runs at each of four sizes, and the legend; a cross per size.
    assert_eq!((figures.len(), count("line"), count("dot"), count("cross")), (1, 4, 26, 4));
    let text: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
    assert!(["100", "500", "1000", "1", "10"].iter().all(|tick| text.contains(tick)), "{text:?}");
    let mut short = far("lstm", 100, 40, 1, 20);
    set(&mut short, "data.test.strings", 30.into());
    short.data["evaluated"]["of"] = 30.into();
    assert_eq!(fixtures::tables(&[short])[0].id, "generalization-published-solved");
}

#[test]
fn every_format_has_the_index() {
    let mut results = with_index("an-bn", "lstm", [Some(10), None]);
    results.extend(with_index("dyck-1", "stack-lstm", [None, None]).split_off(2));
    results.extend(figure_3());
    for format in [Format::Markdown, Format::Csv, Format::Json, Format::Html] {
        let text = render(&results, format).unwrap();
        for table in tables(&results) {
            assert!(text.contains(&table.id) || text.contains(&table.title), "{format:?}: {}", table.id);
        }
        // Configurations, factors and seeds are distinguished, so that nothing is mixed.
        assert!(!text.contains("means mix them") && !text.contains("the data differ"), "{text}");
    }
    let page = render(&results, Format::Html).unwrap();
    assert!(figures(&results).iter().all(|figure| page.contains(&figure.svg)));
    let text = render(&results, Format::Table).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    insta::assert_snapshot!(text, @r###"
    Runs:      30: 30 finished
    Protocols: generalization
    Readings:  published
    Versions:  wug 0.1.0

    Table 2: the index 𝔹 (published reading)
    ours/paper; – was not run
    (n): the best of n runs

                          all steps                                             every string
    language  learner                     ε = 0.005                      ε = 0  ε = 0.005          runs
    ────────  ──────────  ─────────────────────────  ─────────────────────────  ─────────────────  ─────
    an-bn     lstm                   10 (1)/10 (63)             <1 (1)/<1 (63)  <1 (1)             1 × 1
    an-bn     stack-lstm                  –/10 (12)                  –/<1 (12)  –                  –
    an-bn     baby-ntm                     –/10 (6)                    –/1 (6)  –                  –
    an-bn     mdlrnn                           –/10                       –/10  –                  –
    dyck-1    lstm                        –/<1 (63)                  –/<1 (63)  –                  –
    dyck-1    stack-lstm  none of 4, 10 (1)/<1 (12)  none of 4, 10 (1)/<1 (12)  none of 4, 10 (1)  1 × 1
    dyck-1    baby-ntm                     –/<1 (6)                   –/<1 (6)  –                  –
    dyck-1    mdlrnn                            –/2                        –/2  –                  –

      Largest b so that a model trained on 10^N/b strings solves the next 10^N·b: best of all
      configurations and seeds, each cell by itself.
      Best of: how many runs at the factor that is solved, or where none is, the fewest at any.
      All steps: at most a share ε of all steps is incorrect, as in the paper's Table 2. Every string:
      of each string by itself; at ε = 0 both are the same.
      <1: no factor was solved.
      ≥2, none of 1, 2: larger or other factors were not run.
      Shuffled: true, the training strings are read in a new random order in every epoch; false, in the
      order of the released files, which are sorted by length. Networks that read one string at a time
      learn far more from strings in random order. The code of these networks that the paper used does
      not shuffle.
      The paper's figures: at each factor the best of 63 LSTMs (21 configurations, 3 seeds), 12
      Stack-LSTMs (4, 3) or 6 Baby-NTMs (2, 3); MDLRNN once per configuration, it does not say how many.

    Figure 3: largest n solved against the number of training strings, as a table (published reading)
    (n): the best of n runs

                                training strings
    language  learner              100     250     500      1000
    ────────  ────────────────  ──────  ──────  ──────  ────────
    an-bn     lstm              22 (3)  22 (3)  22 (3)    22 (3)
    an-bn     baby-ntm          20 (3)  21 (3)  60 (3)  1000 (3)
    an-bn     seen in training      20      20      22        24

      How many of the language's first 1000 strings are accepted at ε = 0 without exception, shortest
      first: for aⁿbⁿ, up to which n.

    Markdown, CSV, JSON and HTML reports have every table in full.
    "###);
    results[0].run.data_hash = "other".to_owned();
    results.push(results[0].clone());
    results.last_mut().unwrap().run.data_hash = "another".to_owned();
    assert!(
        render(&results, Format::Markdown)
            .unwrap()
            .contains("the data differ between runs of one language, drawn with the same seed: an-bn")
    );
}
