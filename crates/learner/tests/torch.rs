//! Models against the modules of PyTorch: logits, loss and the gradient of every tensor. The golden file and the script that
//! made it are in `testdata/learner`.

#![expect(clippy::unwrap_used, clippy::cast_sign_loss, reason = "a broken golden file should fail the test")]

#[path = "torch/tse.rs"]
mod tse;

use serde_json::Value;
use wug_learner::kernel::{Real, Sinusoid};
use wug_learner::model::{
    BodySpec, Cell, Initialization, LanguageModel, LanguageModelSpec, NormPlace, Output, Positions,
    RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
use wug_learner::tape::{Mode, Tape};

const GOLDEN: &str = include_str!("../../../testdata/learner/torch_models.json");

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn body(name: &str) -> BodySpec {
    let recurrent = |cell| {
        let spec = RecurrentSpec {
            cell,
            layers: 2,
            hidden: 5,
            embedding: Some(3),
            biases: 2,
            start: Start::Zero,
            dropout: 0.0,
        };
        BodySpec::Recurrent(spec)
    };
    let transformer = |norm, layout| {
        BodySpec::Transformer(TransformerSpec {
            layers: 2,
            width: 8,
            heads: 2,
            feedforward: 12,
            norm,
            final_norm: false,
            positions: Positions::Sinusoidal { layout, first: 0 },
            scale_embedding: true,
            dropout: TransformerDropout::default(),
        })
    };
    match name {
        "rnn" => recurrent(Cell::Rnn),
        "lstm" => recurrent(Cell::Lstm),
        "gru" => recurrent(Cell::Gru),
        "transformer-pre" => transformer(NormPlace::Pre, Sinusoid::Interleaved),
        _ => transformer(NormPlace::Post, Sinusoid::Halves),
    }
}

fn check<R: Real>(case: &Value, strings: &[Vec<u32>], tolerance: f64) {
    let name = case["name"].as_str().unwrap();
    let model = LanguageModel::new(LanguageModelSpec {
        body: body(name),
        vocabulary: 4,
        output: Output::Linear,
        initialization: Initialization::Torch,
    })
    .unwrap();
    let layout = model.layout();
    let params: Vec<R> = (0..layout.count()).map(|i| R::of(0.4 * libm::sin(1.3 * i as f64 + 0.7))).collect();
    let targets: Vec<(usize, usize, f64)> = strings
        .iter()
        .enumerate()
        .flat_map(|(b, s)| (1..s.len()).map(move |position| (b, position, 1.0 / 8.0)))
        .collect();
    let strings: Vec<&[u32]> = strings.iter().map(Vec::as_slice).collect();
    let mut tape = Tape::default();
    let mut gradients = vec![R::ZERO; layout.count()];
    let mut t = tape.record(&params, Mode::Grad);
    let logits = model.loss(&mut t, &strings, &targets);
    let close = |what: &str, got: f64, expected: f64| {
        assert!(
            (got - expected).abs() < tolerance * expected.abs().max(1.0),
            "{name} {what}: {got} {expected}"
        );
    };
    for (got, expected) in t.value(logits).iter().zip(flat(&case["logits"])) {
        close("logit", got.wide(), expected);
    }
    close("loss", t.loss(), case["loss"].as_f64().unwrap());
    t.backward(&mut gradients);
    let tensors = case["tensors"].as_array().unwrap();
    assert_eq!(layout.entries().len(), tensors.len());
    for (entry, tensor) in layout.entries().iter().zip(tensors) {
        assert_eq!(entry.name, tensor["name"].as_str().unwrap());
        let shape: Vec<usize> = flat(&tensor["shape"]).iter().map(|&n| n as usize).collect();
        assert_eq!(entry.shape, shape, "{}", entry.name);
        let gradient = entry.param.of(&gradients);
        let sum: f64 = gradient.iter().map(|g| g.wide()).sum();
        let weighted = gradient.iter().enumerate().map(|(j, g)| g.wide() * libm::cos(j as f64)).sum::<f64>();
        let expected = flat(&tensor["gradient"]);
        close(&entry.name, sum, expected[0]);
        close(&entry.name, weighted, expected[1]);
    }
}

#[test]
fn models_agree_with_pytorch() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let symbols = |s: &Value| flat(s).iter().map(|&x| x as u32).collect::<Vec<u32>>();
    let strings: Vec<Vec<u32>> = golden["strings"].as_array().unwrap().iter().map(symbols).collect();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        check::<f64>(case, &strings, 1e-11);
        check::<f32>(case, &strings, 1e-4);
    }
}
