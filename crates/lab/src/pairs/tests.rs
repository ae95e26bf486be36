use wug_learner::interface::NextSymbol;
use wug_score::strata::Window;
use wug_score::{RunResult, Stratum};

use super::measure::{Scorer, measured};
use super::*;
use crate::context::RunContext;
use crate::keep::{Keep, Predictions};
use crate::plan::{DataCache, RunPlan};
use crate::spec::{Experiment, Scale};

/// A context that saves nothing.
struct Alone;

impl RunContext for Alone {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn checkpoint(&mut self, _: &mut dyn FnMut() -> Vec<u8>) {}

    fn epoch(&mut self, _: usize, _: f64) {}

    fn evaluating(&mut self, _: &str) {}
}

fn read(text: &str) -> Result<Vec<RunPlan>, String> {
    let text = format!("title = \"x\"\n[[pairs]]\n{text}");
    let experiment = Experiment::read("x", "x.toml", &text, Scale::Paper, &[]);
    experiment.map(|experiment| experiment.runs).map_err(|error| error.to_string())
}

fn run(plan: &RunPlan) -> RunResult {
    plan.execute(&mut DataCache::default(), &mut Alone).unwrap()
}

const SMALL: &str =
    "seeds = 1\ndata = { training = 300, validation = 50, test = 80, out_of_distribution = 60 }";

/// Knows the language, and finds no two members equally likely: each has a log-probability of its own, drawn from the string. With
/// noise, it finds one string more and less likely from time to time.
struct Oracle<'a> {
    data: &'a Data,
    noise: Option<u64>,
}

impl NextSymbol for Oracle<'_> {
    type State = ();

    fn start(&mut self) {}

    fn push(&mut self, (): &mut (), _: u32) {}

    fn next(&mut self, (): &()) -> Vec<f64> {
        Vec::new()
    }

    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Vec<Vec<f64>> {
        let one = |string: &&[u32]| {
            let inner = &string[1..string.len() - 1];
            let word: Vec<_> = inner.iter().map(|&s| wug_language::Symbol(s as u16 - 1)).collect();
            if let Some(noise) = &mut self.noise {
                *noise += 1;
            }
            let hash = blake3::hash(format!("{string:?} {:?}", self.noise).as_bytes());
            let drawn = f64::from(u32::from_le_bytes(*hash.as_bytes().first_chunk().unwrap()));
            let log = if self.data.language.contains(&word) { -drawn } else { f64::NEG_INFINITY };
            vec![log / inner.len() as f64; string.len()]
        };
        strings.iter().map(one).collect()
    }
}

fn oracle_scores(language: &str, reading: &str, noise: Option<u64>) -> impl Fn(&str, &str) -> f64 {
    let plans = read(&format!(
        "languages = \"{language}\"\nreading = \"{reading}\"\nlearners = \"true-grammar\"\nseeds = 1\n\
         data = {{ training = 10, validation = 10, test = 10000, out_of_distribution = 10000 }}"
    ));
    let plans = plans.unwrap();
    let data = Data::of(plans[0].of::<Pairs>().unwrap()).unwrap();
    let mut scorer = Scorer { model: &mut Oracle { data: &data, noise }, underflows: false };
    let mut predictions = Predictions::begin(Keep::default()).unwrap();
    let scores = measured(&mut scorer, &data, &mut Alone, &mut predictions).unwrap();
    move |split: &str, metric: &str| {
        let all = |m: &&wug_score::Measurement| m.stratum == Stratum::All;
        scores.iter().filter(all).find(|m| m.split == split && m.metric == metric).unwrap().value.unwrap()
    }
}

/// With T = 5 and K = 3 the published pairs allow 80.0 %, or 83.3 % where noise decides ties, and the corrected ones 100 %.
#[test]
fn a_perfect_model_attains_the_ceilings() {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 0.015, "{a} {b}");
    for language in ["nested:terminals=5", "cross-serial:terminals=5"] {
        for split in [TEST, OUT_OF_DISTRIBUTION] {
            let scores = oracle_scores(language, "published", None);
            near(scores(split, "pair_ceiling"), 0.8);
            near(scores(split, "pair_accuracy_sum"), 0.8);
            near(scores(split, "pair_accuracy_sum"), scores(split, "pair_ceiling"));
            let scores = oracle_scores(language, "published", Some(0));
            near(scores(split, "pair_ceiling_half_ties"), 5.0 / 6.0);
            near(scores(split, "pair_accuracy_sum"), scores(split, "pair_ceiling_half_ties"));
            let scores = oracle_scores(language, "corrected", None);
            for metric in
                ["pair_ceiling", "pair_accuracy_sum", "pair_accuracy_mean", "pair_ceiling_half_ties"]
            {
                assert_eq!(scores(split, metric).to_bits(), 1.0_f64.to_bits(), "{language} {metric}");
            }
        }
    }
}

#[test]
fn the_grammar_solves_corrected_pairs_and_baselines_do_not() {
    for language in
        ["adj-np:terminals=5", "np-vp:terminals=5", "nested:terminals=5", "cross-serial:terminals=5"]
    {
        let plans =
            read(&format!("languages = \"{language}\"\nlearners = [\"true-grammar\", \"uniform\"]\n{SMALL}"));
        let [grammar, uniform] = &plans.unwrap()[..] else { panic!("two runs") };
        let (grammar, uniform) = (run(grammar), run(uniform));
        for split in [TEST, OUT_OF_DISTRIBUTION] {
            assert_eq!(grammar.value(split, "pair_accuracy_sum"), Some(1.0), "{language} {split}");
            assert!(uniform.value(split, "pair_accuracy_sum").unwrap() < 0.6, "{language} {split}");
            let floor = grammar.value(split, "perplexity_floor").unwrap();
            assert!(floor <= grammar.value(split, "perplexity").unwrap() + 1e-9, "{language} {split}");
        }
        let chance = |result: &RunResult| {
            result.scores.iter().find(|m| m.metric == "pair_accuracy_sum").and_then(|m| m.chance)
        };
        assert_eq!(chance(&grammar), Some(0.5));
    }
}

/// n uniform in 2..=15, five terminals at each of 2n places, and the end of a string costs nothing once its length is known.
#[test]
fn the_floor_is_that_of_the_grammar() {
    let plans = read(
        "languages = \"np-vp:terminals=50\"\nlearners = \"uniform\"\nseeds = 1\n\
         data = { training = 10, validation = 20000, test = 10, out_of_distribution = 10 }",
    );
    let floor = run(&plans.unwrap()[0]).value(VALIDATION, "perplexity_floor").unwrap();
    let mean = 17.0; // of 2n
    let expected = libm::exp((14.0_f64.ln() + mean * 50.0_f64.ln()) / (mean + 1.0));
    assert!((floor / expected - 1.0).abs() < 0.01, "{floor} {expected}");
}

#[test]
fn any_language_has_pairs_of_the_same_length_that_its_oracle_tells_apart() {
    for language in ["parity", "dyck-2-3", "majority", "even-pairs", "an-bn", "an-bn-cn"] {
        let plans = read(&format!(
            "languages = \"{language}\"\nlearners = \"true-grammar\"\nseeds = 1\n[pairs.data]\ntraining = 50\n\
             validation = 10\ntest = 40\nout_of_distribution = 40\nlengths = \"4..16\"\ngreater_lengths = \"17..40\"\ndistinct = false"
        ));
        let plans = plans.unwrap();
        let data = Data::of(plans[0].of::<Pairs>().unwrap()).unwrap();
        for set in &data.tests {
            assert_eq!(set.pairs.len(), 40);
            for pair in &set.pairs {
                assert!(
                    data.language.contains(&pair.good) && !data.language.contains(&pair.bad),
                    "{language}"
                );
                assert_eq!(pair.good.len(), pair.bad.len());
                let changed = pair.good.iter().zip(&pair.bad).filter(|(a, b)| a != b).count();
                assert!((1..=2).contains(&changed), "{language}");
            }
        }
        assert_eq!(run(&plans[0]).value(TEST, "pair_accuracy_sum"), Some(1.0), "{language}");
    }
}

/// Every network that predicts next symbols, with dropout on and an output layer that is not trained where they can have these.
#[test]
fn every_learner_can_be_asked() {
    let names: Vec<&str> = wug_learner::registry::with_role(wug_learner::registry::Role::NextSymbol)
        .map(|learner| learner.name)
        .collect();
    let plans = read(&format!(
        "languages = \"cross-serial:terminals=2\"\nlearners = {names:?}\nhidden = 8\nepochs = 1\nbatch = 32\nshuffle = true\n\
         reading = \"published\"\ntrain_output = false\ndropout = 0.1\npopulation = 8\ngenerations = 2\nscoring_dropout = true\nvalidations = 3\n{SMALL}"
    ));
    let plans = plans.unwrap();
    assert_eq!(plans.len(), names.len());
    for plan in &plans {
        let (one, two) = (run(plan), run(plan));
        assert_eq!(one.scores, two.scores, "{}", plan.label());
        let has = |stratum: Stratum| one.scores.iter().any(|m| m.stratum == stratum && m.value.is_some());
        assert!(has(Stratum::Length(Window { lo: 35, hi: 39 })), "{}", plan.label());
        assert!(has(Stratum::Dependency(Window { lo: 20, hi: 24 })), "{}", plan.label());
        let perplexity = one.value(VALIDATION, "perplexity");
        assert!(perplexity.is_none_or(|p| p > 1.0), "{} {perplexity:?}", plan.label());
    }
}

#[test]
fn errors_name_the_field_and_what_is_allowed() {
    for (line, message) in [
        ("validations = 0", "`validations`: cannot be 0; it must be from 1 to 1000"),
        ("data.test = 0", "`data.test`: cannot be 0; it must be from 1 to 10000000"),
        ("data.lengths = \"9..3\"", "`data.lengths`: cannot be 9..3; it must be a range such as `4..30`"),
        ("loss = \"sigmoid-mse\"", "`loss`: cannot be sigmoid-mse; it must be `cross-entropy`"),
        ("optimizer = \"adagrad\"", "`optimizer`: cannot be adagrad; it must be one of adam, sgd"),
        ("data.lengths = \"5..5\"", "`languages`"),
    ] {
        let error = read(&format!("languages = \"np-vp\"\n{line}")).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let few = read("languages = \"an-bn\"\nlearners = \"uniform\"\nseeds = 1").unwrap();
    let error = few[0].execute(&mut DataCache::default(), &mut Alone);
    assert!(format!("{error:?}").contains("distinct strings"), "{error:?}");
}
