//! The recognizers of Butoi et al., checked against the authors' own code: logits, losses and gradients of three
//! architectures and four losses, sizes from budgets, and parameter counts. The files are not part of the project; where
//! they are missing the tests say so and pass (`testdata/learner` has a small set that is always there).

#![expect(clippy::unwrap_used, clippy::cast_sign_loss, reason = "a broken golden file should fail the test")]

use std::path::PathBuf;

use serde_json::Value;
use wug_learner::kernel::{Real, Sinusoid, head_order};
use wug_learner::model::{
    BodySpec, Cell, Family, Initialization, Labelled, LossWeights, Matching, NormPlace, Positions,
    RecognizerModel, RecognizerSpec, RecurrentSpec, Start, TransformerDropout, TransformerSpec, matched,
};
use wug_learner::tape::{Mode, Tape};
use wug_learner::train::batches;

/// A file of the shared data. With `WUG_SHARED` set to their directory it must exist; otherwise they are looked for beside
/// the project, and `None` tells the test to skip.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn shared(path: &str) -> Option<PathBuf> {
    let given = std::env::var_os("WUG_SHARED");
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let full = given.as_ref().map_or_else(beside, PathBuf::from).join(path);
    if full.exists() {
        return Some(full);
    }
    assert!(given.is_none(), "WUG_SHARED is set, but {} does not exist", full.display());
    eprintln!("skipped: there is no {path} in the shared data");
    None
}

fn golden(name: &str) -> Option<Value> {
    let text = std::fs::read_to_string(shared(&format!("golden/{name}"))?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

/// All numbers of a nested array, in order.
fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Number(x) => vec![x.as_f64().unwrap()],
        Value::Null => vec![],
        other => panic!("not a number: {other}"),
    }
}

fn size(case: &Value, key: &str) -> usize {
    usize::try_from(case[key].as_u64().unwrap()).unwrap()
}

fn spec(case: &Value) -> RecognizerSpec {
    let (d, layers) = (size(case, "d"), size(case, "layers"));
    let recurrent = |cell| {
        BodySpec::Recurrent(RecurrentSpec {
            cell,
            layers,
            hidden: d,
            embedding: Some(d),
            biases: 1,
            start: Start::Learned,
            dropout: 0.1,
        })
    };
    let body = match case["architecture"].as_str().unwrap() {
        "rnn" => recurrent(Cell::Rnn),
        "lstm" => recurrent(Cell::Lstm),
        _ => BodySpec::Transformer(TransformerSpec {
            layers,
            width: d,
            heads: size(case, "heads"),
            feedforward: size(case, "feedforward"),
            norm: NormPlace::Pre,
            final_norm: true,
            positions: Positions::Sinusoidal { layout: Sinusoid::Interleaved, first: 0 },
            scale_embedding: true,
            dropout: TransformerDropout::everywhere(0.1),
        }),
    };
    let variant = case["variant"].as_str().unwrap();
    RecognizerSpec {
        body,
        alphabet: 2,
        language_modeling: variant.contains("lm"),
        next_symbols: variant.contains("ns"),
        initialization: Initialization::Flare,
    }
}

/// Our name of one of the authors' tensors.
fn our_name(theirs: &str) -> String {
    let last: Vec<&str> = theirs.split('.').collect();
    let part = last[last.len() - 1];
    if theirs.contains("recognition_head") {
        return format!("recognition.{part}");
    }
    if theirs.contains("next_symbols_head") {
        return format!("next_symbols.{part}");
    }
    if theirs.ends_with("embeddings") {
        return "embedding".to_owned();
    }
    if theirs.ends_with("initial_hidden_state_inputs") {
        return "initial".to_owned();
    }
    if theirs.contains(".rnn.") {
        let (name, layer) = part.rsplit_once("_l").unwrap();
        return format!("layers.{layer}.{name}");
    }
    if let Some((_, rest)) = theirs.split_once("layers.layers.") {
        return format!("layers.{rest}")
            .replace("self_attn.in_proj_", "attention.in.")
            .replace("self_attn.out_proj", "attention.out")
            .replace("linear1", "up")
            .replace("linear2", "down");
    }
    theirs.split_once("second.layers.").unwrap().1.to_owned()
}

/// Numbers of one of the authors' tensors in our order: PyTorch keeps the features of a head together, we interleave heads.
fn ours(name: &str, theirs: &[f64], case: &Value) -> Vec<f64> {
    let d = size(case, "d");
    let order: Vec<usize> =
        head_order(d, if name.contains("attention") { size(case, "heads") } else { 1 }).collect();
    if name.contains("attention.in") {
        // Rows of queries, then keys, then values; a bias has rows of one number.
        let width = theirs.len() / (3 * d);
        let rows = (0..3 * d).map(|row| row / d * d + order[row % d]);
        return rows.flat_map(|row| theirs[row * width..(row + 1) * width].to_vec()).collect();
    }
    if name.contains("attention.out.weight") {
        return (0..theirs.len()).map(|i| theirs[i / d * d + order[i % d]]).collect();
    }
    theirs.to_vec()
}

/// The largest difference, relative to the largest number expected (or 1, for double precision).
fn error<R: Real>(got: &[R], expected: &[f64], absolute: bool) -> f64 {
    assert_eq!(got.len(), expected.len());
    let largest = expected.iter().fold(if absolute { 1.0f64 } else { 1e-30 }, |a, b| a.max(b.abs()));
    got.iter().zip(expected).map(|(g, e)| (g.wide() - e).abs() / largest).fold(0.0, f64::max)
}

/// The largest error of one case, over logits, loss and every gradient.
fn check<R: Real>(case: &Value, absolute: bool) -> f64 {
    let model = RecognizerModel::new(spec(case)).unwrap();
    let layout = model.layout();
    let mut params = vec![R::ZERO; layout.count()];
    for (theirs, values) in case["params"].as_object().unwrap() {
        let entry = layout.find(&our_name(theirs)).unwrap_or_else(|| panic!("no {theirs}"));
        let values = ours(&entry.name, &flat(values), case);
        for (to, from) in entry.param.of_mut(&mut params).iter_mut().zip(values) {
            *to = R::of(from);
        }
    }
    let symbols = |v: &Value| flat(v).iter().map(|&s| s as u32).collect::<Vec<u32>>();
    let strings: Vec<Vec<u32>> = case["strings"].as_array().unwrap().iter().map(symbols).collect();
    let set = |v: &Value| symbols(v).iter().fold(0u64, |set, s| set | 1 << s);
    let next: Vec<Vec<u64>> = case["next_symbols"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sets| sets.as_array().map_or(vec![], |sets| sets.iter().map(set).collect()))
        .collect();
    let labels = case["labels"].as_array().unwrap();
    let batch: Vec<Labelled<'_>> = (0..strings.len())
        .map(|i| Labelled { string: &strings[i], label: labels[i].as_bool().unwrap(), next: &next[i] })
        .collect();
    let weights = LossWeights {
        language_modeling: case["lambda_lm"].as_f64().unwrap(),
        next_symbols: case["lambda_ns"].as_f64().unwrap(),
    };

    let mut tape = Tape::default();
    let mut gradients = vec![R::ZERO; layout.count()];
    let mut t = tape.record(&params, Mode::Grad);
    let logits = model.loss(&mut t, &batch, weights, batch.len());
    let mut worst = error(t.value(logits.recognition), &flat(&case["recognition_logits"]), absolute);
    worst = worst.max(error(&[t.loss()], &flat(&case["loss"]), absolute));
    for (ours, theirs) in [(logits.language_modeling, "lm_logits"), (logits.next_symbols, "ns_logits")] {
        if let Some(ours) = ours {
            worst = worst.max(error(t.value(ours), &valid_rows(case, theirs), absolute));
        }
    }
    t.backward(&mut gradients);
    let mut seen = 0;
    for (theirs, values) in case["grads"].as_object().unwrap() {
        let entry = layout.find(&our_name(theirs)).unwrap();
        let values = ours(&entry.name, &flat(values), case);
        worst = worst.max(error(entry.param.of(&gradients), &values, absolute));
        seen += entry.param.len();
    }
    assert_eq!(seen, layout.count(), "every parameter has a golden gradient");
    worst
}

/// Logits of the prefixes of positive strings, without the padding the authors' tensors have.
fn valid_rows(case: &Value, key: &str) -> Vec<f64> {
    let strings = case["strings"].as_array().unwrap();
    let labels = case["labels"].as_array().unwrap();
    let positive = (0..strings.len()).filter(|&i| labels[i].as_bool().unwrap());
    let rows = case[key].as_array().unwrap();
    positive
        .zip(rows)
        .flat_map(|(i, rows)| {
            let valid = strings[i].as_array().unwrap().len() + 1;
            rows.as_array().unwrap()[..valid].iter().flat_map(flat).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn three_architectures_and_four_losses_agree_with_the_authors() {
    let Some(file) = golden("flare_golden.json") else { return };
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let (double, single) = (check::<f64>(case, true), check::<f32>(case, false));
        #[expect(clippy::print_stderr, reason = "the figures are worth seeing")]
        {
            eprintln!("{} {}: f64 {double:.1e}, f32 {single:.1e}", case["architecture"], case["variant"]);
        }
        assert!(double < 1e-9, "double: {double}");
        assert!(single < 1e-5, "single: {single}");
    }
}

/// A few of the authors' cases that are always here.
fn subset() -> Value {
    serde_json::from_str(include_str!("../../../testdata/learner/flare_recognizers.json")).unwrap()
}

#[test]
fn the_cases_that_are_always_here_agree() {
    let file = subset();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert!(check::<f64>(case, true) < 1e-9);
        assert!(check::<f32>(case, false) < 1e-5);
    }
}

#[test]
fn strings_are_batched_as_published() {
    let file = subset();
    let whole = |v: &Value| flat(v).iter().map(|&x| x as usize).collect::<Vec<_>>();
    let lengths = whole(&file["batching"]["lengths"]);
    for (budget, expected) in file["batching"]["batches_by_max_tokens"].as_object().unwrap() {
        let expected: Vec<Vec<usize>> = expected.as_array().unwrap().iter().map(whole).collect();
        assert_eq!(batches(&lengths, budget.parse().unwrap()), expected);
    }
}

#[test]
fn sizes_and_counts_are_the_published_ones() {
    let Some(file) = golden("flare_params.json") else { return };
    let mut checked = 0;
    for (budget, families) in file["budgets"].as_object().unwrap() {
        for (name, languages) in families.as_object().unwrap() {
            let family = match name.as_str() {
                "rnn" => Family::Rnn,
                "lstm" => Family::Lstm,
                _ => Family::Transformer,
            };
            for (language, case) in languages.as_object().unwrap() {
                let (v, d) = (size(case, "vocab_tokens"), size(case, "d"));
                let budget: usize = budget.parse().unwrap();
                assert_eq!(
                    matched(family, budget, v, (false, false), Matching::Published).unwrap(),
                    d,
                    "{name} {language} {budget}"
                );
                for (variant, count) in case["parameters"].as_object().unwrap() {
                    let heads = (variant.contains("lm"), variant.contains("ns"));
                    let model = RecognizerModel::new(family.recognizer(d, v, heads, 0.1)).unwrap();
                    assert_eq!(model.layout().count() as u64, count.as_u64().unwrap(), "{name} {variant}");
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 3 * 3 * 18 * 4);
}

#[test]
fn the_nearest_size_is_never_farther_than_the_published_one() {
    for family in [Family::Rnn, Family::Lstm, Family::Gru, Family::Transformer] {
        for budget in [8_000, 32_000, 64_000] {
            let count = |matching| {
                let d = matched(family, budget, 3, (true, true), matching).unwrap();
                RecognizerModel::new(family.recognizer(d, 3, (true, true), 0.0)).unwrap().layout().count()
            };
            let (published, nearest) = (count(Matching::Published), count(Matching::Nearest));
            assert!(nearest.abs_diff(budget) <= published.abs_diff(budget), "{family:?} {budget}");
        }
    }
}
