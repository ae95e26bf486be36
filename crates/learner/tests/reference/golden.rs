//! The recognizers of Butoi et al. against the authors' code: logits, losses and gradients of three architectures and four
//! losses, sizes from budgets, and parameter counts. `testdata/learner` has a few of the cases; the files with all of them are
//! not part of the project. If `WUG_SHARED` is set, it is the directory that must have them. If not, they are looked for
//! beside the project, and without them the tests are skipped.

#![expect(clippy::unwrap_used, clippy::cast_sign_loss, reason = "a broken golden file should fail the test")]

use std::collections::BTreeSet;

use std::path::PathBuf;

use serde_json::Value;
use wug_language::Reading;
use wug_learner::kernel::{Real, Sinusoid, head_order};
use wug_learner::model::{
    BodySpec, Cell, Initialization, LabelledString, LossWeights, NormPlace, Positions, RecognizerModel,
    RecognizerSpec, RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
use wug_learner::registry::{Matched, Matching, RecognizerTask, Role, Settings, find, recognizer};
use wug_learner::tape::{Mode, Tape};
use wug_learner::train::batches;

/// A file of the shared directory. None if there is no such file, unless `WUG_SHARED` is set.
fn shared(name: &str) -> Option<String> {
    let required = std::env::var_os("WUG_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = required.clone().unwrap_or_else(beside).join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if required.is_some() => panic!("WUG_SHARED is set, but {}: {error}", path.display()),
        Err(_) => {
            #[expect(clippy::print_stderr, reason = "a skipped test says so")]
            {
                eprintln!("skipped: there is no {}", path.display());
            }
            None
        }
    }
}

fn golden(name: &str) -> Option<Value> {
    Some(serde_json::from_str(&shared(&format!("golden/{name}"))?).unwrap())
}

/// The elements of a nested array, in order.
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

/// Our name for one of the authors' tensors.
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

/// The elements of one of the authors' tensors in our order: in PyTorch the features of a head are contiguous, here heads are
/// interleaved.
fn ours(name: &str, theirs: &[f64], case: &Value) -> Vec<f64> {
    let d = size(case, "d");
    let order: Vec<usize> =
        head_order(d, if name.contains("attention") { size(case, "heads") } else { 1 }).collect();
    if name.contains("attention.in") {
        // Rows of queries, then keys, then values; a bias has rows of one element.
        let width = theirs.len() / (3 * d);
        let rows = (0..3 * d).map(|row| row / d * d + order[row % d]);
        return rows.flat_map(|row| theirs[row * width..(row + 1) * width].to_vec()).collect();
    }
    if name.contains("attention.out.weight") {
        return (0..theirs.len()).map(|i| theirs[i / d * d + order[i % d]]).collect();
    }
    theirs.to_vec()
}

/// The largest difference, relative to the largest expected element (or to 1, if `absolute` and that is larger).
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
    // Theirs number symbols from 0, and the end after the last; ours are 0 for the end and symbols from 1.
    let ids = |v: &Value| symbols(v).iter().map(|s| s + 1).collect::<Vec<u32>>();
    let strings: Vec<Vec<u32>> = case["strings"].as_array().unwrap().iter().map(ids).collect();
    let choices = model.spec().alphabet as u32 + 1;
    let set = |v: &Value| symbols(v).iter().fold(0u64, |set, s| set | 1 << ((s + 1) % choices));
    let next: Vec<Vec<u64>> = case["next_symbols"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sets| sets.as_array().map_or(vec![], |sets| sets.iter().map(set).collect()))
        .collect();
    let labels = case["labels"].as_array().unwrap();
    let batch: Vec<LabelledString<'_>> = (0..strings.len())
        .map(|i| LabelledString { string: &strings[i], label: labels[i].as_bool().unwrap(), next: &next[i] })
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

/// Logits of the prefixes of members, without the padding of the authors' tensors.
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
        #[expect(clippy::print_stderr, reason = "the errors are of interest even if they are small")]
        {
            eprintln!("{} {}: f64 {double:.1e}, f32 {single:.1e}", case["architecture"], case["variant"]);
        }
        assert!(double < 1e-9, "double: {double}");
        assert!(single < 1e-5, "single: {single}");
    }
}

/// A few of the authors' cases, which are part of the project.
fn subset() -> Value {
    serde_json::from_str(include_str!("../../../../testdata/learner/flare_recognizers.json")).unwrap()
}

#[test]
fn the_cases_of_the_project_agree_with_the_authors() {
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

/// The dimensions and the count that a size gives.
fn matched(name: &str, size: usize, alphabet: usize, heads: (bool, bool), matching: Matching) -> Matched {
    let role = find(name, Role::Recognizer).unwrap().recognizer.as_ref().unwrap();
    let task = RecognizerTask { alphabet, language_modeling: heads.0, next_symbols: heads.1 };
    role.matched(
        &Settings::defaults(role.settings, Reading::Corrected),
        &BTreeSet::new(),
        size,
        task,
        matching,
    )
    .unwrap()
}

#[test]
fn sizes_and_counts_are_the_published_ones() {
    let Some(file) = golden("flare_params.json") else { return };
    let mut checked = 0;
    for (budget, families) in file["budgets"].as_object().unwrap() {
        for (name, languages) in families.as_object().unwrap() {
            let family = name.as_str();
            for (language, case) in languages.as_object().unwrap() {
                let (v, d) = (size(case, "vocab_tokens"), size(case, "d"));
                let budget: usize = budget.parse().unwrap();
                let published = matched(family, budget, v, (false, false), Matching::Published);
                assert_eq!(published.settings.count("hidden"), Some(d), "{name} {language} {budget}");
                for (variant, count) in case["parameters"].as_object().unwrap() {
                    let task = RecognizerTask {
                        alphabet: v,
                        language_modeling: variant.contains("lm"),
                        next_symbols: variant.contains("ns"),
                    };
                    let model = RecognizerModel::new(recognizer(family, d, task, 0.1).unwrap()).unwrap();
                    assert_eq!(model.layout().count() as u64, count.as_u64().unwrap(), "{name} {variant}");
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 3 * 3 * 18 * 4);
}
