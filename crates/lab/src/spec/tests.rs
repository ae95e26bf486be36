use super::*;
use wug_learner::registry::keys;
use wug_score::plan::{Recognition, StringSource};

use crate::recognition::{RecognitionPlan, model};

fn rate(plan: &RecognitionPlan) -> f64 {
    plan.learner.settings.get(&keys::LEARNING_RATE)
}

fn batch(plan: &RecognitionPlan) -> usize {
    plan.learner.settings.get(&keys::BATCH_SYMBOLS)
}

fn read(text: &str, scale: Scale, sets: &[(&str, &str)]) -> Result<Experiment, String> {
    let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Experiment::read("x", "x.toml", text, scale, &sets).map_err(|error| error.to_string())
}

const SMALL: &str = "title = \"small\"\n\n[[recognition]]\nlanguages = [\"parity\", \"first\"]\nseeds = 2\n\
                     [recognition.data]\ntest = 100\n[recognition.quick]\nseeds = 1\n[recognition.quick.data]\ntest = 50\n\
                     [recognition.smoke]\nlearners = [\"rnn\"]\n";

fn plan(run: &RunPlan) -> &RecognitionPlan {
    run.of::<Recognition>().unwrap()
}

#[test]
fn scales_and_sets_change_what_they_name_and_nothing_else() {
    let paper = read(SMALL, Scale::Paper, &[]).unwrap();
    assert_eq!(paper.runs.len(), 2 * 2 * 3 * 4 * 2);
    let quick = read(SMALL, Scale::Quick, &[]).unwrap();
    assert_eq!(quick.runs.len(), 2 * 3 * 4 * 2);
    assert_eq!((plan(&quick.runs[0]).data.test, plan(&quick.runs[0]).data.training), (50, 10_000));
    let smoke = read(SMALL, Scale::Smoke, &[("losses", "R,R+NS"), ("recognition.data.test", "7")]).unwrap();
    assert_eq!(smoke.runs.len(), 2 * 2 * 2 * 2);
    assert_eq!(plan(&smoke.runs[0]).data.test, 7);
    let one = read(
        SMALL,
        Scale::Paper,
        &[("learning_rate", "0.005"), ("languages", "parity"), ("validation", "long")],
    )
    .unwrap();
    assert_eq!(one.runs.len(), 2 * 3 * 4);
    assert!(one.runs.iter().all(|run| (rate(plan(run)) - 0.005).abs() < 1e-15));
}

const RANGES: [(&str, &str); 3] = [
    ("learning_rate", "{ from = 1e-4, to = 1e-2, scale = 'log' }"),
    ("batch_symbols", "{ from = 128, to = 4096 }"),
    ("loss_weight", "{ from = 0.01, to = 10, scale = 'log' }"),
];

#[test]
fn hyperparameters_are_fixed_unless_a_range_is_given() {
    let runs = read(SMALL, Scale::Paper, &[("learners", "rnn,lstm")]).unwrap().runs;
    for run in &runs {
        let plan = plan(run);
        let recommended = if plan.learner.name == "rnn" { 0.001 } else { 0.002 };
        assert_eq!((rate(plan), batch(plan)), (recommended, 1024));
        assert!(!run.label().contains("learning_rate"), "{}", run.label());
    }
    let sets =
        [("learning_rate", "0.01,0.02"), ("losses", "R"), ("learners", "rnn"), ("languages", "parity")];
    let listed = read(SMALL, Scale::Quick, &sets).unwrap().runs;
    let labels: Vec<String> = listed.iter().map(RunPlan::label).collect();
    assert_eq!(labels[0], "parity rnn (63,438 parameters) R short seed 0 (learning_rate 0.01)");
    assert_eq!(labels[2], "parity rnn (63,438 parameters) R short seed 0 (learning_rate 0.02)");
    let own = "title = \"x\"\n[[recognition]]\nlanguages = \"parity\"\nlosses = \"R\"\nseeds = 3\nvalidation = \"short\"\n\
               learners = [{ name = \"rnn\", dropout = { from = 0.1, to = 0.2 } }, \"lstm\"]\n";
    let runs = read(own, Scale::Paper, &[]).unwrap().runs;
    let dropout = |run: &RunPlan| {
        plan(run).learner.settings.get_value("dropout").and_then(wug_parameter::SettingValue::real).unwrap()
    };
    let drawn: std::collections::BTreeSet<u64> = runs.iter().map(|run| dropout(run).to_bits()).collect();
    assert_eq!(drawn.len(), 4, "three of the rnn, one of the lstm");
    assert!(
        runs.iter().all(|run| (0.1..=0.2).contains(&dropout(run)) && run.label().contains("(dropout 0.1"))
    );
    // A run is the same whatever the others of its section are.
    let alone = read(own, Scale::Paper, &[("learners", "lstm")]).unwrap().runs;
    assert_eq!(alone[0].id(), runs[1].id());
    let text = serde_json::to_string(&runs[0]).unwrap();
    let again: RunPlan = serde_json::from_str(&text).unwrap();
    assert_eq!((again.label(), again.id()), (runs[0].label(), runs[0].id()));
    for (value, words) in [
        ("{ from = 2, to = 1 }", "`from` at most `to`"),
        ("{ from = 0, to = 1, scale = 'log' }", "above 0 in a range"),
        ("{ from = 1, to = inf }", "`from` at most `to`"),
        ("{ from = 1 }", "or a range"),
        ("{ from = 1, to = 2, scale = 'square' }", "or a range"),
    ] {
        let message = read(own, Scale::Paper, &[("learning_rate", value)]).unwrap_err();
        assert!(message.contains("`learning_rate`: cannot be {") && message.contains(words), "{message}");
    }
    let message = read(own, Scale::Paper, &[("batch_symbols", "{ from = 1.5, to = 2 }")]).unwrap_err();
    assert!(message.contains("whole number"), "{message}");
}

/// The draws of the published experiments are part of their results.
#[test]
fn draws_stay_as_they_were() {
    let runs = Experiment::load("flare_table2", Scale::Paper, &[]).unwrap().runs;
    let plan = plan(&runs[3]);
    let drawn = (plan.measure.loss.name(), rate(plan), batch(plan), plan.measure.weights.language_modeling);
    assert_eq!(drawn, ("R+LM", 0.000_268_609_346_417_580_1, 3822, 5.480_473_913_683_019));
}

#[test]
fn sizes_are_matched_and_those_that_are_missed_are_named() {
    let sets = |matching: &'static str| {
        [
            ("sizes", "8000"),
            ("matching", matching),
            ("losses", "R"),
            ("learners", "rnn,lstm,transformer,stack-rnn"),
        ]
    };
    let nearest = read(SMALL, Scale::Paper, &sets("nearest")).unwrap();
    assert_eq!(nearest.missed_sizes(), Vec::<String>::new());
    for run in &nearest.runs {
        let (parameters, model) = (plan(run).learner.parameters.unwrap(), model(plan(run), 2).unwrap());
        assert!((7_600..=8_400).contains(&parameters), "{}", run.label());
        assert_eq!(model.layout().count(), parameters);
    }
    let published = read(SMALL, Scale::Paper, &sets("published")).unwrap();
    assert_eq!(
        published.missed_sizes(),
        [
            "transformer has 4,409 parameters, not 8,000: so `matching = \"published\"` has it; `\"nearest\"` may come nearer"
        ]
    );
    assert!(
        published.runs.iter().any(|run| run.label().contains("transformer (4,409 parameters for 8,000) R"))
    );
    let fixed = [("heads", "8"), ("layers", "5"), ("feedforward", "4")];
    let fixed = read(SMALL, Scale::Paper, &[&sets("nearest")[..], &fixed].concat()).unwrap().missed_sizes();
    assert!(
        fixed
            .iter()
            .any(|line| line.starts_with("transformer has 4,409 parameters, not 8,000: the settings"))
    );
    let given = read(SMALL, Scale::Paper, &[("losses", "R"), ("learners", "rnn"), ("hidden", "10")]).unwrap();
    assert!(
        given
            .runs
            .iter()
            .all(|run| plan(run).learner.size == Some(1131) && plan(run).learner.parameters == Some(1131))
    );
}

#[test]
fn hyperparameters_stay_in_their_ranges_and_differ_between_runs() {
    let runs = read(SMALL, Scale::Paper, &RANGES).unwrap().runs;
    let rates: std::collections::BTreeSet<u64> = runs.iter().map(|r| rate(plan(r)).to_bits()).collect();
    assert_eq!(rates.len(), runs.len());
    for run in &runs {
        let plan = plan(run);
        assert!((1e-4..=1e-2).contains(&rate(plan)) && (128..=4096).contains(&batch(plan)));
        let (lm, ns) = plan.measure.loss.heads();
        for (head, weight) in
            [(lm, plan.measure.weights.language_modeling), (ns, plan.measure.weights.next_symbols)]
        {
            assert!(if head { (0.01..=10.0).contains(&weight) } else { weight == 0.0 }, "{weight}");
        }
    }
}

#[test]
fn the_same_spec_gives_the_same_ids_and_other_specs_give_others() {
    let ids =
        |sets| read(SMALL, Scale::Paper, sets).unwrap().runs.iter().map(RunPlan::id).collect::<Vec<_>>();
    assert_eq!(ids(&[]), ids(&[]));
    let all: std::collections::BTreeSet<String> =
        ids(&[]).into_iter().chain(ids(&[("dropout", "0.2")])).collect();
    assert_eq!(all.len(), 2 * ids(&[]).len());
}

#[test]
fn errors_name_the_field_the_line_and_the_nearest_name() {
    let error = |from: &str, to: &str| read(&SMALL.replacen(from, to, 1), Scale::Paper, &[]).unwrap_err();
    let message = error("seeds = 2", "seed = 2");
    assert!(message.starts_with("x.toml, line 5: `seed`: unknown field; did you mean `seeds`?"), "{message}");
    let message = error("\"parity\"", "\"partiy\"");
    assert!(
        message.starts_with("x.toml, line 4: `languages`: unknown language `partiy`; did you mean `parity`?"),
        "{message}"
    );
    let message = error("[\"rnn\"]", "[\"rnm\"]");
    assert_eq!(read(&SMALL.replacen("\"rnn\"", "\"rnm\"", 1), Scale::Smoke, &[]).unwrap_err(), message);
    assert!(
        message.starts_with("x.toml, line 13: `learners`: unknown learner `rnm`; did you mean `rnn`?"),
        "{message}"
    );
    let message = error("seeds = 2", "seeds = \"two\"");
    assert!(
        message.contains("line 5") && message.contains("cannot be two; it must be a whole number"),
        "{message}"
    );
    let message = error("title = \"small\"", "title = ");
    assert!(message.starts_with("x.toml, line 1"), "{message}");
    let message = error("seeds = 2", "dropout = 1.5");
    assert_eq!(message, "x.toml, line 5: `dropout`: cannot be 1.5; it must be from 0 to below 1");
    let message = error("test = 50", "tset = 50");
    assert!(
        message.starts_with("x.toml, line 11: `data.tset`: unknown field; did you mean `test`?"),
        "{message}"
    );
    let message = read(SMALL, Scale::Paper, &[("sedes", "3")]).unwrap_err();
    assert!(
        message.contains("`sedes`: unknown field; did you mean `seeds` or `sizes`? There are: losses"),
        "{message}"
    );
    assert!(read("title = \"x\"", Scale::Paper, &[]).unwrap_err().contains("has no runs"));
}

#[test]
fn every_built_in_experiment_can_be_planned_at_every_scale() {
    for (name, text) in BUILT_IN {
        for scale in Scale::ALL {
            let experiment = Experiment::read(name, name, text, scale, &fixtures(name)).unwrap();
            assert!(!experiment.runs.is_empty(), "{name} {}", scale.name());
        }
    }
}

#[test]
fn lines_are_those_of_the_key_or_item_itself() {
    let error = |text: &str| read(text, Scale::Paper, &[]).unwrap_err();
    let two = "title = \"small\" # seeds = 0\n[[recognition]]\nseeds = 1\nlanguages = [\n  \"parity\",\n  \"first\",\n]\n\
               [[recognition]]\nlanguages = \"parity\"\nseeds = 1\n[recognition.quick]\n\"seeds\" = 1\n";
    assert!(read(two, Scale::Paper, &[]).is_ok());
    assert!(error(&two.replacen("\"first\"", "\"frist\"", 1)).starts_with("x.toml, line 6: `languages`"));
    assert!(
        error(&two.replace("seeds = 1\n[recog", "seeds = 0\n[recog")).starts_with("x.toml, line 10: `seeds`")
    );
    assert!(error(&two.replace("\"seeds\" = 1", "\"seeds\" = 0")).starts_with("x.toml, line 12: `seeds`"));
    let message = error(&SMALL.replace("[[recognition]]", "[recognition]"));
    assert!(message.starts_with("x.toml, line 3: `recognition`: must have two brackets"), "{message}");
    let message = error(&SMALL.replace("recognition.quick]", "recognition.quik]"));
    assert!(message.starts_with("x.toml, line 8: `quik`: unknown field; did you mean `quick`?"), "{message}");
    let message = error(&SMALL.replace("seeds = 2", "learning_rate = \"fast\""));
    assert_eq!(message, "x.toml, line 5: `learning_rate`: cannot be fast; it must be a number above 0");
    let message = error(&SMALL.replace("seeds = 2", "sizes = [\"big\"]"));
    assert!(
        message.starts_with("x.toml, line 5: `sizes`: cannot be big; it must be a whole number"),
        "{message}"
    );
}

#[test]
fn errors_of_set_name_it_and_not_the_file() {
    let error = |sets: &[(&str, &str)]| read(SMALL, Scale::Smoke, sets).unwrap_err();
    assert_eq!(
        error(&[("seeds", "0")]),
        "--set seeds=0: `seeds`: cannot be 0; it must be a whole number from 1 on"
    );
    assert_eq!(
        error(&[("dropout", "0.2"), ("recognition.data.short", "100")]),
        "--set recognition.data.short=100: `data.short`: cannot be 100; it must be at most `long`, 80"
    );
    let message = error(&[("languages", "partiy"), ("losses", "R")]);
    assert!(
        message.starts_with("--set languages=partiy: `languages`: unknown language `partiy`"),
        "{message}"
    );
    let message = error(&[("data.long", "20"), ("losses", "R")]);
    assert!(message.starts_with("--set data.long=20: `data.short`"), "{message}");
    for key in ["", ".", "data.", "data..test", "recognition."] {
        assert!(error(&[(key, "1")]).contains("a part of the key is empty"), "{key}");
    }
    assert!(error(&[("seeds.x", "1")]).contains("`seeds` has no parts"));
    let message =
        read(&SMALL.replace("seeds = 2", "seeds = 0"), Scale::Paper, &[("seeds", "2")]).unwrap_err();
    assert!(message.starts_with("x.toml, line 5: `seeds`: cannot be 0"), "{message}");
}

#[test]
fn infinite_and_huge_numbers_are_refused() {
    for (key, value) in [
        ("clip", "inf"),
        ("clip", "nan"),
        ("dropout", "nan"),
        ("decay", "inf"),
        ("learning_rate", "inf"),
        ("loss_weight", "[0.1, inf]"),
        ("batch_symbols", "128.5"),
        ("batch_symbols", "1e300"),
        ("seeds", "1000000000000"),
        ("seeds", "9223372036854775807"),
        ("data.training", "10000001"),
        ("data.held_out", "9223372036854775807"),
        ("data.longest", "9223372036854775807"),
    ] {
        let message = read(SMALL, Scale::Paper, &[(key, value)]).unwrap_err();
        assert!(message.starts_with(&format!("--set {key}={value}: `{key}`: ")), "{message}");
    }
}

#[test]
fn data_that_are_read_are_identified_by_content() {
    let roots = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let mut request = crate::data::Request::parse("flare/parity").unwrap();
    for (key, value) in [("training.size", "60"), ("validation-long.lengths", "0..70"), ("test.size", "30")] {
        request.options.insert(key.to_owned(), value.to_owned());
    }
    let text = "title = \"x\"\n[[recognition]]\nreading = \"corrected\"\nlanguages = \"parity\"\nseeds = 1\n";
    let runs = roots.each_ref().map(|root| {
        crate::data::write(&request, &root.path().join("parity"), false, &mut |_| {}).unwrap();
        let directory = format!("'{}'", root.path().display());
        read(text, Scale::Paper, &[("data.directory", &directory)]).unwrap().runs
    });
    let data = &plan(&runs[0][0]).data;
    assert_eq!((data.training, data.test, data.held_out), (60, 30, 1000));
    assert!(data.short <= 40 && data.long > 40 && data.long <= 70 && data.longest > 400, "{data:?}");
    assert_ne!(runs[0], runs[1]);
    assert!(runs[0].iter().zip(&runs[1]).all(|(a, b)| a.id() == b.id()));

    let directory = format!("'{}'", roots[0].path().display());
    let error = |sets: &[(&str, &str)]| {
        let sets = [&[("data.directory", directory.as_str())], sets].concat();
        read(text, Scale::Paper, &sets).unwrap_err()
    };
    let message = error(&[("data.test", "7")]);
    assert!(
        message.starts_with("--set data.test=7: `data.test`: cannot be given with `directory`"),
        "{message}"
    );
    let message = error(&[("reading", "published")]);
    assert!(message.contains("holds data of reading `corrected`"), "{message}");
}

const BOTH: &str = "title = \"both\"\n[[recognition]]\nlanguages = \"parity\"\nseeds = 1\n[[generalization]]\nlanguages = \"an-bn\"\n\
                    learners = [\"lstm\"]\nseeds = 1\nhidden = 4\n";

#[test]
fn set_goes_to_the_sections_that_have_the_field() {
    let runs = |sets: &[(&str, &str)]| {
        let runs = read(BOTH, Scale::Paper, sets).unwrap().runs;
        let recognition = runs.iter().filter(|run| run.protocol() == "recognition").count();
        (recognition, runs.len() - recognition)
    };
    assert_eq!(runs(&[]), (24, 4));
    assert_eq!(runs(&[("learners", "lstm"), ("max_epochs", "3"), ("factors", "1")]), (8, 1));
    assert_eq!(runs(&[("generalization.seeds", "2"), ("generalization.hidden", "2,4,8")]), (24, 2 * 4 * 3));
    assert_eq!(runs(&[("seeds", "2"), ("recognition.losses", "R")]), (12, 8));
    let error = |text: &str, sets: &[(&str, &str)]| read(text, Scale::Paper, sets).unwrap_err();
    let message = error(BOTH, &[("max_epoch", "3")]);
    assert!(message.starts_with("--set max_epoch=3: `max_epoch`: unknown field; did you mean `max_epochs`"));
    let message = error(BOTH, &[("generalization.max_epochs", "3")]);
    assert!(
        message.starts_with("--set generalization.max_epochs=3: `max_epochs`: unknown field"),
        "{message}"
    );
    let message = error(SMALL, &[("generalization.order", "2")]);
    assert_eq!(message, "--set generalization.order=2: x.toml has no section [[generalization]]");
    let message = error(&BOTH.replace("[[generalization]]", "[generalization]"), &[]);
    assert!(message.starts_with("x.toml, line 5: `generalization`: must have two brackets"), "{message}");
    let message = error(&BOTH.replace("hidden = 4", "hiden = 4"), &[]);
    assert!(
        message.starts_with("x.toml, line 9: `hiden`: unknown field; did you mean `hidden`?"),
        "{message}"
    );
}

/// The seeds of a run and of its data, each pair once.
fn seed_pairs(sets: &[(&str, &str)]) -> std::collections::BTreeSet<(u64, u64)> {
    let pair = |run: &RunPlan| {
        assert_eq!(plan(run).data.source, StringSource::Drawn);
        (plan(run).seed, plan(run).data_seed.unwrap())
    };
    read(SMALL, Scale::Smoke, sets).unwrap().runs.iter().map(pair).collect()
}

#[test]
fn data_are_drawn_anew_for_each_seed_unless_seeds_are_given() {
    assert_eq!(seed_pairs(&[]), [(0, 0), (1, 1)].into());
    assert_eq!(seed_pairs(&[("data.seed", "run")]), seed_pairs(&[]));
    assert_eq!(seed_pairs(&[("data.seed", "7")]), [(0, 7), (1, 7)].into());
    assert_eq!(seed_pairs(&[("data.seed", "[7, 8]")]), [(0, 7), (0, 8), (1, 7), (1, 8)].into());
    for (given, said) in
        [("[]", "at least one"), ("luck", "a whole number from 0 on"), ("1.5", "a whole number from 0 on")]
    {
        let message = read(SMALL, Scale::Smoke, &[("data.seed", given)]).unwrap_err();
        assert!(message.contains("data.seed") || message.contains("`seed`"), "{message}");
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn the_index_can_be_asked_of_several_sets_of_strings() {
    let text = "title = \"x\"\n[[generalization]]\nlanguages = [\"an-bn\"]\nlearners = [\"lstm\", \"unigram\"]\n\
                seeds = 2\nfactors = 1\n";
    let runs = |sets| read(text, Scale::Paper, sets).unwrap().runs.len();
    // One deterministic baseline for each set of strings, two seeds of the LSTM.
    assert_eq!(runs(&[]), 3);
    assert_eq!(runs(&[("data_seed", "[1, 2]")]), 6);
    assert_eq!(runs(&[("data_seed", "run")]), 4);
    let published = [("reading", "published"), ("data_seed", "4294967296")];
    assert!(read(text, Scale::Paper, &published).unwrap_err().contains("up to 4294967295"));
}

#[test]
fn listed_settings_are_coordinates_and_drawn_ones_are_not() {
    let coordinates = |run: &RunPlan, name: &str| run.coordinates().get(name).map(ToString::to_string);
    let sets = [
        ("learning_rate", "0.001,0.01"),
        ("batch_symbols", "{ from = 128, to = 4096 }"),
        ("losses", "R,R+NS"),
        ("loss_weight", "0.5,2"),
        ("languages", "parity"),
    ];
    let runs = read(SMALL, Scale::Smoke, &sets).unwrap().runs;
    let all = |name: &str| -> Vec<Option<String>> {
        let values: std::collections::BTreeSet<_> = runs.iter().map(|run| coordinates(run, name)).collect();
        values.into_iter().collect()
    };
    assert_eq!(all("learning_rate"), [Some("0.001".to_owned()), Some("0.01".to_owned())]);
    // Without an auxiliary loss there is nothing to weigh.
    assert_eq!(all("loss_weight"), [None, Some("0.5".to_owned()), Some("2".to_owned())]);
    assert_eq!(all("batch_symbols"), [None]);
    // Workers read plans from a file.
    let again: RunPlan = serde_json::from_value(serde_json::to_value(&runs[0]).unwrap()).unwrap();
    assert_eq!((again.coordinates(), again.id()), (runs[0].coordinates(), runs[0].id()));
    let own = "title = \"x\"\n[[generalization]]\nlanguages = \"an-bn\"\nseeds = 1\nfactors = 1\npriors = [0.2, 0.3]\n\
               learners = [{ name = \"lstm\", hidden = 2 }, { name = \"lstm\", hidden = 4 }, \"gru\"]\n";
    let runs = read(own, Scale::Paper, &[]).unwrap().runs;
    let at: Vec<_> = runs.iter().map(|run| (coordinates(run, "hidden"), coordinates(run, "prior"))).collect();
    assert_eq!(
        at.iter().filter(|(hidden, prior)| hidden.as_deref() == Some("4") && prior.is_some()).count(),
        2
    );
    assert!(at.iter().all(|(hidden, _)| hidden.is_some()), "{at:?}");
}

#[test]
fn a_negative_number_is_refused_with_what_is_allowed() {
    let error = read(SMALL, Scale::Smoke, &[("learning_rate", "-1")]).unwrap_err();
    assert!(error.contains("`learning_rate`: cannot be -1; it must be a number above 0"), "{error}");
}
