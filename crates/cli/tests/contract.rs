//! The contract between plans and reports: every run of every built-in experiment falls into the table and cell of the paper
//! that it is meant for. A field of a plan that is renamed on one side alone would silently empty the tables.

#![expect(clippy::unwrap_used, reason = "a test says why it fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::json;
use wug_lab::generalization::{Criterion, Generalization};
use wug_lab::learners::{UpdateRule, keys};
use wug_lab::pairs::{OUT_OF_DISTRIBUTION, Pairs, TEST, VALIDATION};
use wug_lab::plan::RunPlan;
use wug_lab::preference::Preference;
use wug_lab::protocol::Outcome;
use wug_lab::recognition::Recognition;
use wug_lab::score::metric::{
    AGREEMENT_WITH_NONE, ANSWERS_SEEN, CATEGORICAL_ACCEPTANCE, CATEGORICAL_ACCURACY, DESCRIPTION_LENGTH,
    DESCRIPTION_LENGTH_PER_EXAMPLE, DETERMINISTIC_ACCEPTANCE, DETERMINISTIC_ACCURACY, EXACT_MATCH,
    HIGHEST_ACCURACY, LAST_ACCURACY, PAIR_CEILING, PERFECT_AGREEMENT, PERPLEXITY, RECOGNITION_ACCURACY,
    RECOGNITION_CROSS_ENTROPY, SOLVED_LENGTH, WADE, WADE_ABOVE_CHANCE, pair_accuracy,
};
use wug_lab::score::pairs::{PairComparison, Ties};
use wug_lab::score::plan::Recipe;
use wug_lab::score::strata::Margin;
use wug_lab::score::{Ending, Measurement, Metric, Ratio, RunResult, Stratum, Totals};
use wug_lab::spec::{BUILT_IN, Experiment, Scale, recipes};
use wug_lab::speed::Speed;
use wug_report::{Figure, Logs, RecordFormat, Report, Table, TableFormat, Value, records};

/// The runs of an experiment at full scale; of a hundred seeds, two are enough. The one about reviews has those of a fixture.
fn planned(name: &str) -> Vec<RunPlan> {
    let reviews = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/reviews.csv");
    let mut sets = Vec::new();
    sets.extend(name.starts_with("wade_").then_some(("seeds", "2")));
    sets.extend((name == "wade_table2").then_some(("corpus.path", reviews)));
    planned_at(name, Scale::Paper, &sets)
}

fn planned_at(name: &str, scale: Scale, sets: &[(&str, &str)]) -> Vec<RunPlan> {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Experiment::load(name, scale, &sets).unwrap().runs
}

fn measured(split: &str, stratum: Stratum, metric: &'static Metric, value: f64) -> Measurement {
    Measurement::new(split, stratum, &metric.measured(Totals::of(&[Ratio::once(value)]), Some(0.5)))
}

fn outcome(data: serde_json::Value, scores: Vec<Measurement>) -> Outcome {
    Outcome {
        ending: Ending::Finished,
        parameters: Some(1),
        data,
        curve: Vec::new(),
        scores,
        hardest: Vec::new(),
        strings: Vec::new(),
    }
}

/// A result of recognition with this accuracy everywhere.
fn recognized(plan: &RunPlan, accuracy: f64) -> RunResult {
    let p = plan.of::<Recognition>().unwrap();
    let splits: serde_json::Map<_, _> =
        p.data.splits().iter().map(|s| (s.name.clone(), json!({ "examples": s.size }))).collect();
    let on = |split: &str| {
        let metric = &RECOGNITION_CROSS_ENTROPY.metric;
        [
            measured(split, Stratum::All, &RECOGNITION_ACCURACY.metric, accuracy),
            measured(split, Stratum::All, metric, 1.0 - accuracy),
        ]
    };
    let scores = ["training", p.measure.validation.split(), "test-short-held-out", "test"]
        .map(on)
        .into_iter()
        .flatten();
    plan.result("hash".to_owned(), outcome(json!({ "splits": splits }), scores.collect()))
}

/// A result of generalization with every step correct, or none.
fn generalized(plan: &RunPlan, solved: bool) -> RunResult {
    let p = plan.of::<Generalization>().unwrap();
    let value = f64::from(u8::from(solved));
    let (accuracy, acceptance) = match p.measure.criterion {
        Criterion::Deterministic => (&DETERMINISTIC_ACCURACY, &DETERMINISTIC_ACCEPTANCE),
        Criterion::Categorical => (&CATEGORICAL_ACCURACY, &CATEGORICAL_ACCEPTANCE),
    };
    let scores = p.measure.margins.iter().flat_map(|&margin| {
        let at = Stratum::Margin(Margin::new(margin).unwrap());
        [(accuracy, value), (acceptance, value), (&SOLVED_LENGTH, 40.0)]
            .map(|(metric, value)| measured("test", at, metric, value))
    });
    let strings = p.data.test.strings;
    let facts =
        json!({ "longest": 40, "evaluated": { "strings": strings, "of": strings, "stopped": false } });
    plan.result("hash".to_owned(), outcome(facts, scores.collect()))
}

/// A result of speed with this score everywhere.
fn learned(plan: &RunPlan, score: f64) -> RunResult {
    plan.of::<Speed>().unwrap();
    let facts = json!({
        "test_answers": 100, "leak": { "changed": 0, "of": 100 },
        "curve": { "seen": [0, 8, 16], "correct": [10, 50, (100.0 * score) as u64] },
    });
    let scores = [&WADE, &WADE_ABOVE_CHANCE, &HIGHEST_ACCURACY, &LAST_ACCURACY]
        .map(|metric| measured("test", Stratum::All, metric, score));
    plan.result("hash".to_owned(), outcome(facts, scores.into()))
}

/// A result of preference: all outputs are those of the first rule, whose description is the shortest.
fn followed(plan: &RunPlan, nats: f64) -> RunResult {
    let p = plan.of::<Preference>().unwrap();
    // Every rule of the built-in tasks, in the order of the task.
    let family = p.subject.split(':').next().unwrap();
    let rules: &[&str] = match family {
        "count-or-memorization" => &["count", "mem"],
        "add-or-multiply" => &["add", "mul", "mem"],
        "multiply-by-3" => &["mul1", "mul2", "mul3", "mem"],
        "hierarchical-or-linear" => &["hierar", "linear"],
        "scan" if p.subject == "scan:split=simple" => &["comp"],
        _ => &["comp", "mem"],
    };
    let mut scores = vec![
        measured("training", Stratum::All, &PERFECT_AGREEMENT, 1.0),
        measured("holdout", Stratum::All, &AGREEMENT_WITH_NONE, 0.0),
    ];
    for (i, rule) in rules.iter().enumerate() {
        let split = format!("holdout/{rule}");
        let first = if i == 0 { 1.0 } else { 0.0 };
        scores.push(measured(&split, Stratum::All, &PERFECT_AGREEMENT, first));
        scores.push(measured(&split, Stratum::All, &EXACT_MATCH, first));
        // Seeds differ a little, so that tests have something to test.
        let length = nats + 10.0 * i as f64 + 0.01 * (p.seed % 7) as f64 * (i + 1) as f64;
        scores.push(measured(&split, Stratum::All, &DESCRIPTION_LENGTH, length));
        scores.push(measured(&split, Stratum::All, &DESCRIPTION_LENGTH_PER_EXAMPLE, length / 100.0));
    }
    plan.result("hash".to_owned(), outcome(json!({ "rules": rules }), scores))
}

/// A result of pairs with this accuracy in all comparisons, and this perplexity on the validation strings.
fn preferred(plan: &RunPlan, accuracy: f64, perplexity: f64) -> RunResult {
    let on = |split: &str| {
        let each = PairComparison::ALL
            .map(|c| measured(split, Stratum::All, pair_accuracy(c, Ties::Wrong), accuracy));
        each.into_iter().chain([measured(split, Stratum::All, &PAIR_CEILING, 1.0)]).collect::<Vec<_>>()
    };
    let mut scores = vec![measured(VALIDATION, Stratum::All, &PERPLEXITY, perplexity)];
    scores.extend([TEST, OUT_OF_DISTRIBUTION].into_iter().flat_map(on));
    plan.result("hash".to_owned(), outcome(json!({}), scores))
}

fn measured_well(plan: &RunPlan) -> RunResult {
    match plan.protocol() {
        "recognition" => recognized(plan, 0.9),
        "speed" => learned(plan, 0.9),
        "preference" => followed(plan, 1.0),
        "pairs" => preferred(plan, 0.9, 5.0),
        _ => generalized(plan, true),
    }
}

fn named<'t>(tables: &'t [Table], id: &str) -> &'t Table {
    let ids = || tables.iter().map(|table| table.id.as_str()).collect::<Vec<_>>();
    tables.iter().find(|table| table.id == id).unwrap_or_else(|| panic!("no {id} among {:?}", ids()))
}

/// The recipes of the papers, planned once.
fn papers() -> &'static [Recipe] {
    static PAPERS: OnceLock<Vec<Recipe>> = OnceLock::new();
    PAPERS.get_or_init(|| recipes().unwrap())
}

fn report(results: &[RunResult]) -> Report {
    Report::new(results, papers()).unwrap()
}

fn tables_of(results: &[RunResult]) -> Vec<Table> {
    report(results).tables
}

fn figures(results: &[RunResult]) -> Vec<Figure> {
    report(results).figures
}

/// The tables that a terminal shows.
fn headline(results: &[RunResult]) -> Vec<Table> {
    report(results).headline
}

/// Whether a table is a suite's, or lists the settings of runs.
fn is_of(table: &Table, suite: &str) -> bool {
    table.id.starts_with(&format!("{suite}-")) || table.id.ends_with("-settings")
}

fn cell(table: &Table, keys: &[&str], column: &str) -> String {
    let row = table.rows.iter().find(|row| row.keys.iter().zip(keys).all(|(a, b)| a == b)).unwrap();
    let at = table.columns.iter().position(|c| c.full_name() == column);
    let at = at.unwrap_or_else(|| panic!("no {column} in {:?}", table.columns));
    row.cells[at].ours.as_ref().map(Value::show).unwrap_or_default()
}

#[test]
fn every_run_of_an_experiment_is_claimed_by_the_suite_it_is_named_after() {
    for name in [
        "flare_table2",
        "flare_table22",
        "bliss_table2",
        "bliss_figure3",
        "tse_table3",
        "tse_table3_normal",
        "tse_table3_sgd",
        "wade_table2",
        "wade_table4",
        "wade_rules",
        "find_table1",
        "find_table2",
        "find_tables3to6",
        "find_table7",
        "find_table8",
        "find_appendix_c",
        "find_appendix_d",
    ] {
        let (expected, mut results) = (name.split('_').next().unwrap(), Vec::new());
        for plan in planned(name) {
            let result = measured_well(&plan);
            results.push(result);
        }
        for table in tables_of(&results) {
            assert!(is_of(&table, expected), "{name}: {}", table.id);
        }
    }
}

#[test]
fn runs_of_flare_fill_the_cells_of_their_language_and_learner() {
    // Each language and learner has an accuracy of its own.
    let runs = planned("flare_table2");
    let mut accuracies: BTreeMap<(String, String), f64> = BTreeMap::new();
    let mut results = Vec::new();
    for plan in &runs {
        let p = plan.of::<Recognition>().unwrap();
        let next = 0.5 + 0.004 * accuracies.len() as f64;
        let accuracy = *accuracies.entry((p.subject.clone(), p.learner.name.clone())).or_insert(next);
        results.push(recognized(plan, accuracy));
    }
    assert_eq!(accuracies.len(), 18 * 3);
    let tables = tables_of(&results);
    let main = named(&tables, "flare-published-2");
    assert_eq!(main.rows.len(), 18);
    for ((language, learner), accuracy) in &accuracies {
        let shown = cell(main, &[language], &format!("Inductive bias: {learner}"));
        assert!(shown.starts_with(&format!("{accuracy:.2}")), "{language} {learner}: {shown} {accuracy}");
        let shown = cell(main, &[language], &format!("Expressivity: {learner}"));
        assert!(shown.starts_with(&format!("{accuracy:.2}")), "{language} {learner}: {shown} {accuracy}");
    }
    // Nothing is left over for the tables of what no paper has.
    assert!(tables.iter().all(|table| is_of(table, "flare")));
    let sizes: Vec<RunResult> = planned("flare_table22").iter().map(|plan| recognized(plan, 0.75)).collect();
    let tables = tables_of(&sizes);
    let table = named(&tables, "flare-published-22");
    let cells: Vec<_> = table.rows.iter().flat_map(|row| &row.cells).collect();
    assert!(!cells.is_empty() && cells.iter().any(|cell| cell.ours.is_some()));
}

#[test]
fn runs_of_bliss_fill_the_cells_of_their_language_and_learner() {
    // What is solved at b = 4 by all learners, at no larger factor by any.
    let solved = |plan: &RunPlan| plan.of::<Generalization>().unwrap().data.factor <= 4;
    let results: Vec<RunResult> =
        planned("bliss_table2").iter().map(|plan| generalized(plan, solved(plan))).collect();
    let tables = tables_of(&results);
    let table = named(&tables, "bliss-published-2");
    let languages = ["an-bn", "an-bn-cn", "an-bn-cn-dn", "an-bm-cn-plus-m", "dyck-1", "dyck-2"];
    for language in languages {
        // A stack of 100 rows is the same run as one of 50 where strings are short.
        let stacks = if ["an-bn", "dyck-1"].contains(&language) { "2 × 3" } else { " × 3" };
        for (learner, grid) in
            [("lstm", "21 × 3"), ("stack-lstm", stacks), ("baby-ntm", "2 × 3"), ("bigram", "1 × 1")]
        {
            for margin in ["0.005", "0"] {
                let shown = cell(table, &[language, learner], &format!("all steps: ε = {margin}"));
                assert_eq!(shown, "4", "{language} {learner}");
            }
            let runs = cell(table, &[language, learner], "runs");
            assert!(runs.contains(grid), "{language} {learner}: {runs}, not {grid}");
        }
    }
    assert!(tables.iter().all(|table| is_of(table, "bliss")));
    let far: Vec<RunResult> = planned("bliss_figure3").iter().map(|plan| generalized(plan, true)).collect();
    assert!(tables_of(&far).iter().all(|table| is_of(table, "bliss")));
    assert!(!figures(&far).is_empty());
}

#[test]
fn runs_of_wade_fill_the_cells_of_their_task_and_learner() {
    let mut expected: BTreeMap<(String, String, bool), f64> = BTreeMap::new();
    let mut results = Vec::new();
    for plan in planned("wade_table4") {
        let p = plan.of::<Speed>().unwrap();
        let published = p.reading == wug_lab::language::Reading::Published;
        let next = 0.2 + 0.001 * expected.len() as f64;
        let score = *expected.entry((p.subject.clone(), p.learner.name.clone(), published)).or_insert(next);
        results.push(learned(&plan, score));
    }
    let all = tables_of(&results);
    let table = named(&all, "wade-published-4");
    assert_eq!(table.rows.len(), 10);
    for ((task, learner, _), score) in expected.iter().filter(|((_, _, published), _)| *published) {
        let shown = cell(table, &[task], learner);
        assert!(shown.starts_with(&format!("{score:.2}")), "{task} {learner}: {shown} {score}");
        assert!(!cell(named(&all, "wade-published-5"), &[task], learner).is_empty());
    }
    let corrected = named(&all, "wade-corrected-4");
    for column in [
        "reca",
        "esn",
        "esn as published",
        "rnn",
        "rnn batch 8",
        "lstm",
        "gru",
        "transformer",
        "bag-of-words",
    ] {
        assert!(!cell(corrected, &["qa"], column).is_empty(), "{column}");
    }
    assert!(all.iter().all(|table| table.id.starts_with("wade-") || table.id.ends_with("-settings")));
    assert_eq!(figures(&results).len(), 2);
    // The best rule on the seeds of the sweep is chosen.
    let rules: Vec<RunResult> = Experiment::load("wade_rules", Scale::Quick, &[])
        .unwrap()
        .runs
        .iter()
        .map(|plan| {
            let rule = plan.of::<Speed>().unwrap().learner.settings.count("rule").unwrap();
            learned(plan, if rule == 90 { 0.8 } else { 0.4 })
        })
        .collect();
    let all = tables_of(&rules);
    assert_eq!(cell(named(&all, "wade-corrected-rules"), &["qa"], "by WADE: rule"), "90");
}

/// The paper says batches of one; a batch of 8 bounds WADE by 1/8, so that it cannot be compared with reservoirs.
#[test]
fn corrected_networks_see_one_sequence_at_a_time_at_quick_scale() {
    for name in ["wade_table4", "wade_table5", "wade_figure3"] {
        let runs = planned_at(name, Scale::Quick, &[]);
        let corrected = runs.iter().map(|plan| plan.of::<Speed>().unwrap());
        let corrected = corrected.filter(|p| p.reading == wug_lab::language::Reading::Corrected);
        let batches: BTreeSet<(&str, usize)> = corrected
            .filter(|p| p.learner.name == "lstm")
            .map(|p| (p.learner.name.as_str(), p.measure.batch))
            .collect();
        assert_eq!(batches, BTreeSet::from([("lstm", 1)]), "{name}");
    }
}

#[test]
fn a_batch_above_one_is_said_to_bound_wade_and_has_columns_of_its_own() {
    let results: Vec<RunResult> = planned("wade_table4").iter().map(|plan| learned(plan, 0.1)).collect();
    let bounded = |tables: &[Table], id: &str| {
        named(tables, id).notes.iter().any(|note| note.contains("at most 0.125 for batches of 8"))
    };
    let all = tables_of(&results);
    assert!(bounded(&all, "wade-corrected-4") && bounded(&all, "wade-corrected-above-chance"));
    assert!(!bounded(&all, "wade-published-4"), "steps are updates there");
    assert!(bounded(&headline(&results), "wade-corrected-4"));
    let batch = |result: &RunResult| result.plan_of::<Speed>().unwrap().measure.batch;
    let ones: Vec<RunResult> = results.iter().filter(|result| batch(result) == 1).cloned().collect();
    assert!(!bounded(&tables_of(&ones), "wade-corrected-4"));
    // Two seeds in each cell, of one batch size.
    let corrected = named(&all, "wade-corrected-4");
    for column in ["lstm", "lstm batch 8"] {
        let at = corrected.columns.iter().position(|c| c.full_name() == column).unwrap();
        assert!(corrected.rows.iter().all(|row| row.cells[at].n == Some(2)), "{column}");
    }
    // Runs that no paper has are told the same.
    let other = tables_of(&learned_in("learners = \"rnn\"\nsequences = 100\nbatch = [1, 4]"));
    let other = named(&other, "speed-corrected-other");
    assert_eq!(other.rows.len(), 2);
    assert!(
        other.notes.iter().any(|note| note.contains("at most 0.25 for batches of 4")),
        "{:?}",
        other.notes
    );
}

/// The results of a section on task 5, all with the same score.
fn learned_in(section: &str) -> Vec<RunResult> {
    let text = format!("title = \"x\"\n[[speed]]\nlanguages = \"qa\"\nseeds = 2\n{section}");
    let runs = Experiment::read("x", "x.toml", &text, Scale::Paper, &[]).unwrap().runs;
    runs.iter().map(|plan| learned(plan, 0.5)).collect()
}

/// A cell has runs of the same settings, and the notes of its table are true of all of them.
#[test]
fn runs_of_wade_with_other_settings_are_not_mixed() {
    let columns = |sections: &[&str], id: &str| -> Vec<String> {
        let all = tables_of(&sections.iter().flat_map(|section| learned_in(section)).collect::<Vec<_>>());
        let table = all.iter().find(|table| table.id == id);
        table.map_or_else(Vec::new, |table| table.columns.iter().map(wug_report::Column::full_name).collect())
    };
    let (corrected, published) = ("wade-corrected-4", "wade-published-4");
    let sized = "decoder_features = 1800\npasses = 10";
    assert_eq!(
        columns(&[&format!("learners = \"rnn\"\nlearning_rate = [0.001, 0.01]\n{sized}")], corrected),
        ["rnn", "rnn learning rate 0.01"]
    );
    assert_eq!(
        columns(&["learners = { name = \"reca\", projection = [60, 10] }"], corrected),
        ["reca", "reca projection 10"]
    );
    // As published unless something else is said; what departs has a column of its own, without the paper's figures.
    assert_eq!(columns(&["learners = \"reca\"\nreading = \"published\""], published), ["reca"]);
    for other in [
        "learners = \"reca\"\nreading = \"published\"\ndecoder = \"softmax\"",
        "learners = \"reca\"\nreading = \"published\"\nlabels = \"all\"",
        "learners = \"reca\"\nreading = \"published\"\nunit = \"sequences\"",
        "learners = \"reca\"\nreading = \"published\"\nwade = { thresholds = 20 }",
        &format!("learners = \"rnn\"\nreading = \"published\"\nbatch = 8\n{sized}"),
    ] {
        let all = tables_of(&learned_in(other));
        let cells: Vec<_> = named(&all, published).rows.iter().flat_map(|row| &row.cells).collect();
        assert!(cells.iter().any(|cell| !cell.departures.is_empty()), "{other}");
        assert!(cells.iter().all(|cell| cell.paper.is_none()), "{other}");
    }
    // Generic tables have a row for each size.
    let all = tables_of(&learned_in("learners = \"rnn\"\nsizes = [8000, 64000]\nsequences = 100"));
    assert_eq!(named(&all, "speed-corrected-other").rows.len(), 2);
}

/// Learners that see answers, tasks without enough sequences and tasks where one answer always does are named; curves are exported.
#[test]
fn cautions_and_curves_of_speed() {
    let mut results = learned_in("learners = \"rnn\"\nsequences = 100");
    let text = |results: &[RunResult]| report(results).summary.cautions.join("\n");
    assert_eq!(text(&results), "cells have runs on data drawn with different seeds: qa (1, 2)");
    results[0].scores.push(measured("test", Stratum::All, &ANSWERS_SEEN, 0.25));
    results[0].data["train"] = json!(40);
    results[0].data["test"] = json!(10);
    let accuracy = results[1].scores.iter_mut().find(|m| m.metric == HIGHEST_ACCURACY.name);
    accuracy.unwrap().chance = Some(1.0);
    let cautions = text(&results);
    for expected in ["1 runs see the answers that they predict (rnn", "qa 50 of 100", "on qa, always giving"]
    {
        assert!(cautions.contains(expected), "{cautions}");
    }
    let mut rows = Vec::new();
    records(&results, papers(), &Logs::new(), RecordFormat::Curves, TableFormat::Jsonl, &mut rows).unwrap();
    let rows = String::from_utf8(rows).unwrap();
    assert_eq!(rows.lines().count(), 6);
    assert!(rows.lines().nth(1).unwrap().contains(r#""seen":8.0,"accuracy":0.5"#), "{rows}");
}

/// Reviews stand beside the paper's Table 2 if they are as many as its own, and not if they are a fixture's.
#[test]
fn reviews_stand_beside_the_papers_figures_only_if_they_are_its_reviews() {
    let runs = planned("wade_table2");
    let mut results: Vec<RunResult> = runs.iter().map(|plan| learned(plan, 0.05)).collect();
    let printed = |results: &[RunResult], id: &str| {
        let all = tables_of(results);
        let table = named(&all, id);
        assert_eq!(table.rows.len(), 5);
        table.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.paper.is_some()).count()
    };
    for id in ["wade-published-2", "wade-corrected-2"] {
        assert_eq!(printed(&results, id), 0, "{id}");
    }
    for result in &mut results {
        (result.data["train"], result.data["test"]) = (json!(25_000), json!(25_000));
    }
    for id in ["wade-published-2", "wade-corrected-2"] {
        assert_eq!(printed(&results, id), 10, "{id}");
    }
    let all = tables_of(&results);
    assert!(named(&all, "wade-corrected-2").notes.iter().any(|note| note.contains("at most 0.125")));
}

#[test]
fn runs_of_find_fill_the_cells_of_their_tables() {
    // Each setting of each learner has a description length of its own.
    for (name, ids, rows) in [
        ("find_table1", &["1a", "1b", "1c", "1d"][..], [16, 16, 4, 12].as_slice()),
        ("find_table2", &["2"], &[16]),
        ("find_tables3to6", &["3a", "4b", "5c", "6d"], &[12, 12, 12, 12]),
        ("find_table7", &["7"], &[6]),
        ("find_table8", &["8a", "8b", "8c", "8d"], &[1, 1, 1, 1]),
        ("find_appendix_c", &["Ca", "Cb", "Cc", "Cd"], &[4, 4, 4, 4]),
        ("find_appendix_d", &["D"], &[6]),
    ] {
        let mut cells: BTreeMap<(String, String), usize> = BTreeMap::new();
        let results: Vec<RunResult> = planned(name)
            .iter()
            .map(|plan| {
                let p = plan.of::<Preference>().unwrap();
                let count = cells.len();
                let cell = *cells
                    .entry((p.subject.clone(), format!("{} {:?}", p.learner.name, p.learner.settings)))
                    .or_insert(count);
                followed(plan, cell as f64)
            })
            .collect();
        let tables = tables_of(&results);
        for (id, rows) in ids.iter().zip(rows) {
            let table = named(&tables, &format!("find-published-{id}"));
            assert_eq!(
                table.rows.len(),
                *rows,
                "{name} {id}: {:?}",
                table.rows.iter().map(|r| &r.keys).collect::<Vec<_>>()
            );
            // The paper has a value beside every one of ours but those that it has a dash for.
            let printed =
                table.rows.iter().filter(|row| row.cells.iter().any(|cell| cell.paper.is_some())).count();
            // Of Appendix C, it has words for two learners on two tasks.
            let dashes = match *id {
                "3a" | "6d" | "5c" | "4b" | "Ca" | "Cb" => 2,
                "Cc" | "Cd" => 4,
                _ => 0,
            };
            assert!(printed + dashes >= *rows, "{name} {id}: {printed} of {rows}");
            assert!(
                table.rows.iter().flat_map(|row| &row.cells).all(|cell| cell.ours.is_some()),
                "{name} {id}"
            );
        }
    }
    let one = |name: &str| planned(name).iter().map(|plan| followed(plan, 3.0)).collect::<Vec<_>>();
    let all = tables_of(&one("find_table1"));
    let main = named(&all, "find-published-1a");
    assert!(cell(main, &["lstm", "40"], "L (nats): count").starts_with("3.0"));
    assert!(cell(main, &["lstm", "40"], "FPA, of seeds that fit: count").starts_with("1.00"));
    assert!(named(&all, "find-published-1a-tests").rows.len() == 16);
    assert!(all.iter().all(|table| is_of(table, "find")));
    let far = one("find_figure3");
    assert_eq!(named(&tables_of(&far), "find-published-figure3").rows.len(), 4 * 99);
    assert!(!figures(&far).is_empty());
}

/// The tables of runs by Adam have the same cells with and without runs by SGD, which have tables of their own or none of the paper's.
#[test]
fn runs_of_find_by_sgd_are_not_in_the_tables_of_adam() {
    let of =
        |name: &str, nats: f64| planned(name).iter().map(|plan| followed(plan, nats)).collect::<Vec<_>>();
    let adam = of("find_tables3to6", 3.0);
    let both: Vec<RunResult> = adam.iter().cloned().chain(of("find_appendix_c", 7.0)).collect();
    let (before, after) = (tables_of(&adam), tables_of(&both));
    for table in before.iter().filter(|table| table.id.starts_with("find-")) {
        assert_eq!(table.rows, named(&after, &table.id).rows, "{}", table.id);
    }
    let settings = named(&after, "preference-published-settings");
    let by = |row: &&wug_report::Row, name: &str| row.keys.iter().any(|key| key == name);
    assert_eq!(settings.rows.iter().filter(|row| by(row, "sgd")).count(), 16);
    let sgd = named(&after, "find-published-Ca");
    assert!(sgd.title.contains("Appendix C, SGD"), "{}", sgd.title);
    assert!(cell(sgd, &["lstm"], "L (nats): count").starts_with("7.0"));
    let paper = |row: usize| sgd.rows[row].cells.iter().find_map(|cell| cell.paper.as_ref().map(Value::show));
    assert_eq!([0, 1, 2, 3].map(paper), [None, None, Some("1.00".to_owned()), Some("1.00".to_owned())]);
    // The same settings with SGD: no table of the paper has them.
    let sgd = ("optimizer".to_owned(), "sgd".to_owned());
    for name in ["find_table2", "find_table7", "find_table8", "find_figure3", "find_appendix_d"] {
        let sets = [sgd.clone(), ("seeds".to_owned(), "2".to_owned())];
        let runs = Experiment::load(name, Scale::Paper, &sets).unwrap().runs;
        let results: Vec<RunResult> = runs.iter().map(|plan| followed(plan, 3.0)).collect();
        let ids: Vec<String> = tables_of(&results).into_iter().map(|table| table.id).collect();
        let other = |id: &String| {
            id.starts_with("find-published-of-")
                || id.starts_with("find-corrected-of-")
                || id.ends_with("-settings")
        };
        assert!(ids.iter().all(other), "{name}: {ids:?}");
    }
}

/// What a paper trained by Adam is not compared with what SGD gives.
#[test]
fn runs_of_flare_and_wade_by_sgd_are_not_in_the_cells_of_adam() {
    let sets = ["optimizer=\"sgd\"", "languages=\"parity\"", "seeds=1"];
    let sets = sets.map(|set| set.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap());
    let runs = Experiment::load("flare_table2", Scale::Paper, &sets).unwrap().runs;
    let results: Vec<RunResult> = runs.iter().map(|plan| recognized(plan, 0.5)).collect();
    let main = tables_of(&results);
    let departs =
        |cell: &&wug_report::Cell| cell.departures.iter().any(|departure| departure.contains("optimizer"));
    let cells: Vec<_> = main.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells).collect();
    assert!(cells.iter().any(departs), "what departs is marked");
    assert!(cells.iter().filter(|cell| departs(cell)).all(|cell| cell.paper.is_none()));
    let all = tables_of(&learned_in(
        "learners = \"rnn\"\noptimizer = [\"adam\", \"sgd\"]\ndecoder_features = 1800\npasses = 10",
    ));
    let columns: Vec<String> =
        named(&all, "wade-corrected-4").columns.iter().map(wug_report::Column::full_name).collect();
    assert_eq!(columns, ["rnn", "rnn optimizer sgd"]);
}

#[test]
fn description_lengths_say_which_unit_the_papers_seem_to_be_in() {
    let results: Vec<RunResult> = planned("find_table8").iter().map(|plan| followed(plan, 3.0)).collect();
    let says = |tables: &[Table]| {
        let table = named(tables, "find-published-8a");
        table.notes.iter().any(|note| note.contains("its figures seem to be bits"))
    };
    assert!(says(&tables_of(&results)) && says(&headline(&results)));
}

/// Corrected, as the paper describes, or as its code does it.
fn version(plan: &RunPlan) -> &'static str {
    let p = plan.of::<Pairs>().unwrap();
    match (p.reading, p.learner.settings.find(&keys::TRAIN_OUTPUT)) {
        (wug_lab::language::Reading::Corrected, _) => "corrected",
        (_, Some(true)) => "as described",
        (_, _) => "published",
    }
}

fn papers_figures(table: &Table) -> usize {
    table.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.paper.is_some()).count()
}

#[test]
fn runs_of_tse_fill_the_cells_of_their_language_learner_and_version() {
    // Each cell has an accuracy of its own in the run with the lowest perplexity, and others are lower.
    let runs = planned("tse_table3");
    assert_eq!(runs.len(), 3 * (4 * 5 * 3 * 3 * 10) + 2 * (4 * 5 * 6));
    let mut accuracies: BTreeMap<(String, String, &str), f64> = BTreeMap::new();
    let mut results = Vec::new();
    for plan in &runs {
        let p = plan.of::<Pairs>().unwrap();
        let next = 0.5 + 0.001 * accuracies.len() as f64;
        let key = (p.subject.clone(), p.learner.name.clone(), version(plan));
        let accuracy = *accuracies.entry(key).or_insert(next);
        let chosen = p.seed == 0
            && p.learner.settings.find(&keys::LEARNING_RATE).is_none_or(|rate| [0.1, 1e-4].contains(&rate));
        results.push(if chosen { preferred(plan, accuracy, 5.0) } else { preferred(plan, 0.1, 6.0) });
    }
    let tables = tables_of(&results);
    let table = named(&tables, "tse-3");
    assert_eq!((table.rows.len(), accuracies.len()), (20, 20 * (3 * 3 + 6 * 2)));
    for ((language, learner, version), accuracy) in &accuracies {
        // Ten terminals are the default, which names leave out.
        let (name, terminals) = language.split_once(":terminals=").unwrap_or((language, "10"));
        for split in ["in-dist", "out-of-dist"] {
            let shown = cell(table, &[name, terminals], &format!("{learner} (1): {split} {version}"));
            assert_eq!(shown, format!("{accuracy:.4}"), "{language} {learner} {version}");
        }
    }
    let mut groups: Vec<&str> = table.columns.iter().map(|column| column.group.as_str()).collect();
    groups.dedup();
    let learners = ["lstm", "joulin-stack-rnn", "transformer", "uniform", "unigram", "bigram", "trigram"];
    assert!(
        groups.iter().zip(learners).all(|(group, name)| group.starts_with(name)),
        "the order of the paper, then that of the experiment: {groups:?}"
    );
    assert!(tables.iter().all(|table| is_of(table, "tse")));
    assert!(figures(&results).is_empty(), "nothing is known by length");
}

#[test]
fn what_the_tse_paper_describes_stands_beside_its_figures() {
    let results: Vec<RunResult> = planned("tse_table3")
        .iter()
        .map(|plan| preferred(plan, if version(plan) == "as described" { 0.75 } else { 0.25 }, 5.0))
        .collect();
    let tables = tables_of(&results);
    let table = named(&tables, "tse-3");
    assert_eq!(papers_figures(table), 20 * 3 * 2 * 2, "beside published pairs, as described and as released");
    for learner in ["lstm", "joulin-stack-rnn", "transformer"] {
        let column = format!("{learner} (1): out-of-dist as described");
        let at = table.columns.iter().position(|c| c.full_name() == column).unwrap();
        assert!(table.rows.iter().all(|row| row.cells[at].paper.is_some()), "{column}");
        assert_eq!(cell(table, &["np-vp", "5"], &column), "0.7500");
    }
}

/// Runs on fewer strings than the paper's have no cells in its table. Generic tables must still tell them apart.
#[test]
fn a_trained_output_layer_is_not_pooled_with_an_untrained_one_at_quick_scale() {
    let runs = planned_at("tse_table3", Scale::Quick, &[]);
    let results: Vec<RunResult> = runs
        .iter()
        .filter(|plan| plan.of::<Pairs>().unwrap().learner.name == "lstm")
        .map(|plan| preferred(plan, if version(plan) == "as described" { 0.75 } else { 0.25 }, 5.0))
        .collect();
    assert_eq!(results.len(), 3 * 4);
    let tables = tables_of(&results);
    let table = tables.iter().find(|table| table.id.starts_with("pairs-published")).unwrap();
    let shown: BTreeSet<String> = table
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(|cell| cell.ours.as_ref().map(Value::show))
        .filter(|text| text.starts_with("0."))
        .collect();
    assert!(shown.contains("0.750") && shown.contains("0.250"), "{shown:?}");
}

/// The paper says AdamW, the released configuration SGD, both with batches of 512. No source has batches of 2,048.
#[test]
fn settings_found_by_search_stand_apart_from_the_papers() {
    let accuracy = |plan: &RunPlan| {
        let p = plan.of::<Pairs>().unwrap();
        let sgd = p.learner.name == "joulin-stack-rnn"
            && p.learner.settings.find(&keys::OPTIMIZER) == Some(UpdateRule::Sgd);
        match (sgd, p.learner.settings.count("batch")) {
            (true, Some(2048)) => 0.95,
            (true, _) => 0.75,
            _ => 0.25,
        }
    };
    let runs = ["tse_table3", "tse_table3_sgd"].into_iter().flat_map(planned);
    let tables = tables_of(&runs.map(|plan| preferred(&plan, accuracy(&plan), 5.0)).collect::<Vec<_>>());
    let table = named(&tables, "tse-3");
    for (learner, accuracy) in [("joulin-stack-rnn", "0.2500"), ("joulin-stack-rnn by SGD", "0.7500")] {
        for version in ["corrected", "as described", "published"] {
            let column = format!("{learner} (1): out-of-dist {version}");
            assert_eq!(cell(table, &["np-vp", "5"], &column), accuracy, "{column}");
        }
    }
    assert_eq!(papers_figures(table), 20 * 4 * 2 * 2, "the paper's figures are beside both optimisers");
    assert!(table.columns.iter().all(|column| !column.full_name().contains("2,048")));
    assert!(table.notes.iter().any(|note| note.contains("exchanged in print")));
    assert!(table.notes.iter().all(|note| !note.contains("2,048")), "{:?}", table.notes);
    let apart = named(&tables, "tse-3-search");
    assert!(apart.title.contains("Not the paper's settings, found by search (27 tried at T = 5)"));
    for version in ["corrected", "as described"] {
        let column = format!("joulin-stack-rnn by SGD, batches of 2,048 (1): out-of-dist {version}");
        assert_eq!(cell(apart, &["np-vp", "5"], &column), "0.9500", "{column}");
    }
    assert!(apart.notes.iter().any(|note| note.contains("No source has this setting")));
}

#[test]
fn a_run_of_the_released_configuration_is_told_nothing_of_batches_of_2048() {
    let runs =
        planned_at("tse_table3_sgd", Scale::Paper, &[("seeds", "1"), ("epochs", "3"), ("batch", "512")]);
    let results: Vec<RunResult> = runs.iter().map(|plan| preferred(plan, 0.5, 5.0)).collect();
    let notes: Vec<String> = tables_of(&results).into_iter().flat_map(|table| table.notes).collect();
    assert!(notes.iter().any(|note| note.contains("epochs 3 (paper: 15)")), "{notes:?}");
    assert!(notes.iter().all(|note| !note.contains("2,048") && !note.contains("2048")), "{notes:?}");
}

#[test]
fn terminals_from_a_normal_distribution_have_a_table_of_their_own() {
    let runs = ["tse_table3", "tse_table3_normal"].into_iter().flat_map(planned);
    let normal = |plan: &RunPlan| plan.of::<Pairs>().unwrap().subject.contains("law=normal");
    let results: Vec<RunResult> =
        runs.map(|plan| preferred(&plan, if normal(&plan) { 0.75 } else { 0.25 }, 5.0)).collect();
    let tables = tables_of(&results);
    let column = "lstm (1): in-dist as described";
    for terminals in ["5", "10", "500"] {
        assert_eq!(cell(named(&tables, "tse-3"), &["nested", terminals], column), "0.2500");
        assert_eq!(cell(named(&tables, "tse-3-normal"), &["nested", terminals], column), "0.7500");
    }
    assert_eq!(papers_figures(named(&tables, "tse-3-normal")), 20 * 3 * 2);
}

/// Everything that a plan has is in an export, so that runs which differ can be told apart without their hash.
#[test]
fn exported_rows_differ_by_more_than_a_hash() {
    for (name, _) in BUILT_IN {
        let results: Vec<RunResult> = planned(name).iter().map(measured_well).collect();
        let mut text = Vec::new();
        records(&results, papers(), &Logs::new(), RecordFormat::Scores, TableFormat::Jsonl, &mut text)
            .unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            let (hash, row) = line.split_once(',').unwrap();
            assert!(hash.starts_with(r#"{"plan":"#) && seen.insert(row), "{name}: {row}");
        }
        assert!(!seen.is_empty());
    }
}
