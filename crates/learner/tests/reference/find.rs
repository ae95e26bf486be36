//! The encoder–decoders of Kharitonov and Chaabouni against fairseq 0.9.0, which they used: logits, losses, greedy
//! outputs and the gradient of every tensor.

#![expect(clippy::unwrap_used, reason = "a broken golden file should fail the test")]

use serde_json::Value;
use wug_learner::interface::{Trained, Transducer};
use wug_learner::kernel::{Real, Sinusoid};
use wug_learner::model::{
    CnnTransducerSpec, Counted, Initialization, LstmTransducerSpec, NormPlace, Pair, Positions,
    TransducerBodySpec, TransducerModel, TransducerSpec, TransformerDropout, TransformerSpec,
};
use wug_learner::tape::{Mode, Tape};

const GOLDEN: &str = include_str!("../../../../testdata/learner/find_models.json");
const TORCH: &str = include_str!("../../../../testdata/learner/torch_joint.json");

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn strings(value: &Value) -> Vec<Vec<u32>> {
    value.as_array().unwrap().iter().map(|s| flat(s).iter().map(|&x| x as u32).collect()).collect()
}

fn size(case: &Value, key: &str) -> usize {
    usize::try_from(case[key].as_u64().unwrap()).unwrap()
}

fn lstm(
    layers: usize,
    (hidden, embedding): (usize, usize),
    output: usize,
    attention: bool,
) -> TransducerBodySpec {
    TransducerBodySpec::Lstm(LstmTransducerSpec {
        layers,
        hidden,
        embedding,
        output,
        attention,
        dropout: 0.5,
    })
}

fn model(body: TransducerBodySpec, (inputs, outputs): (usize, usize)) -> TransducerModel {
    let initialization = Initialization::FindLstm;
    let spec = TransducerSpec { body, inputs, outputs, end: 2, padding: Some(1), initialization };
    TransducerModel::new(spec).unwrap()
}

fn body(case: &Value, damped: bool) -> TransducerBodySpec {
    let layers = size(case, "layers");
    let name = case["name"].as_str().unwrap();
    if name.starts_with("fconv") {
        let (channels, embedding, output, positions) = (6, 4, size(case, "output"), 16);
        let spec = CnnTransducerSpec {
            layers,
            channels,
            embedding,
            output,
            positions,
            damped,
            ..CnnTransducerSpec::published()
        };
        return TransducerBodySpec::Cnn(spec);
    }
    if name.starts_with("lstm") {
        return lstm(layers, (6, 4), size(case, "output"), case["attention"].as_bool().unwrap());
    }
    if name.ends_with("cross_self") {
        return TransducerBodySpec::CrossSelfTransformer(transformer(layers));
    }
    TransducerBodySpec::Transformer(transformer(layers))
}

fn transformer(layers: usize) -> TransformerSpec {
    TransformerSpec {
        layers,
        width: 8,
        heads: 2,
        feedforward: 10,
        norm: NormPlace::Post,
        final_norm: false,
        positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 2 },
        scale_embedding: true,
        dropout: TransformerDropout::everywhere(0.5),
    }
}

fn check<R: Real>(case: &Value, gradients_of: &str, tolerance: f64) {
    let name = case["name"].as_str().unwrap();
    let close = |what: &str, got: f64, expected: f64| {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!((got - expected).abs() < allowed, "{name} {what}: {got} {expected}");
    };
    let model = model(body(case, gradients_of == "gradients"), (8, 9));
    let layout = model.layout();
    let mut params = vec![R::ZERO; layout.count()];
    assert_eq!(case["params"].as_object().unwrap().len(), layout.entries().len(), "{name}");
    for entry in layout.entries() {
        let values = flat(&case["params"][&entry.name]);
        assert_eq!(values.len(), entry.param.len(), "{name} {}", entry.name);
        for (to, from) in entry.param.of_mut(&mut params).iter_mut().zip(values) {
            *to = R::of(from);
        }
    }
    let mut trained = Trained::new(model.clone(), params.clone());
    for run in case["runs"].as_array().unwrap() {
        let (inputs, outputs) = (strings(&run["inputs"]), strings(&run["outputs"]));
        let pairs: Vec<Pair<'_>> =
            inputs.iter().zip(&outputs).map(|(input, output)| Pair { input, output }).collect();
        let (mut tape, mut gradients) = (Tape::default(), vec![R::ZERO; layout.count()]);
        let mut t = tape.record(&params, Mode::Grad);
        let logits = model.loss(&mut t, &pairs, 1.0 / pairs.len() as f64);
        let expected = flat(&run["logits"]);
        assert_eq!(t.value(logits).len(), expected.len());
        for (got, expected) in t.value(logits).iter().zip(expected) {
            close("logit", got.wide(), expected);
        }
        close("loss", t.loss(), run["loss"].as_f64().unwrap());
        t.backward(&mut gradients);
        for entry in layout.entries().iter().filter(|_| run.get(gradients_of).is_some()) {
            let gradient = entry.param.of(&gradients).iter().map(|g| g.wide());
            let sum: f64 = gradient.clone().sum();
            let weighted: f64 = gradient.enumerate().map(|(j, g)| g * libm::cos(j as f64)).sum();
            let expected = flat(&run[gradients_of][&entry.name]);
            close(&entry.name, sum, expected[0]);
            close(&entry.name, weighted, expected[1]);
        }
        for (log, expected) in trained.log_probs(&pairs).unwrap().iter().zip(flat(&run["losses"])) {
            close("log-probability", *log, -expected);
        }
        let greedy = strings(&run["greedy"]).into_iter().zip(flat(&run["greedy_log_probs"]));
        for (input, (expected, log)) in inputs.iter().zip(greedy) {
            // In fairseq the end cannot be the first symbol, so that no output is empty.
            let output = trained.greedy(input, 1..=size(run, "cap")).unwrap();
            assert_eq!(output, expected, "{name}");
            close("greedy log-probability", trained.log_prob(input, &output).unwrap(), log);
        }
    }
}

#[test]
fn encoder_decoders_agree_with_fairseq() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        check::<f64>(case, "gradients", 1e-9);
        check::<f32>(case, "gradients", 1e-4);
    }
    // Without fairseq's scaling of the gradient of the convolutional encoder.
    for case in &cases[6..8] {
        check::<f64>(case, "gradients_undamped", 1e-9);
    }
}

#[test]
fn sizes_are_the_published_ones() {
    let count = |body| model(body, (8, 8)).layout().count();
    let lstm = |attention| count(TransducerBodySpec::Lstm(LstmTransducerSpec::published(attention)));
    assert_eq!([lstm(false), lstm(true)], [3_223_816, 4_010_248]);
    // No count is published; this is the sum over the shapes in fairseq.
    let (d, c, o, v) = (16, 512, 256, 8);
    let normed = |i: usize, o: usize| o * i + 2 * o;
    let stack = |last: usize| (v + 1024) * d + normed(d, c) + normed(3 * c, 2 * c) + normed(c, last);
    let all = stack(d) + stack(o) + normed(c, d) + normed(d, c) + normed(o, v);
    assert_eq!(count(TransducerBodySpec::Cnn(CnnTransducerSpec::published())), all);
}

fn check_torch<R: Real>(case: &Value, pairs: &[(Vec<u32>, Vec<u32>)], cap: usize, tolerance: f64) {
    let kind = case["kind"].as_str().unwrap();
    let close = |what: &str, got: f64, expected: f64| {
        let allowed = tolerance * expected.abs().max(1.0);
        assert!((got - expected).abs() < allowed, "{kind} {what}: {got} {expected}");
    };
    let spec = transformer(size(case, "layers"));
    let joint = kind == "joint";
    let body = if joint { TransducerBodySpec::Joint(spec) } else { TransducerBodySpec::Prompt(spec) };
    let model = model(body, (8, 9));
    assert_eq!(model.layout().count(), model.spec().parameters().unwrap());
    let params: Vec<R> =
        (0..model.layout().count()).map(|i| R::of(0.4 * libm::sin(1.3 * i as f64 + 0.7))).collect();
    let pairs: Vec<Pair<'_>> = pairs.iter().map(|(input, output)| Pair { input, output }).collect();
    let (mut tape, mut gradients) = (Tape::default(), vec![R::ZERO; params.len()]);
    let mut t = tape.record(&params, Mode::Grad);
    let logits = model.loss(&mut t, &pairs, 1.0 / pairs.len() as f64);
    let expected = flat(&case["logits"]);
    assert_eq!(t.value(logits).len(), expected.len());
    for (got, expected) in t.value(logits).iter().zip(expected) {
        close("logit", got.wide(), expected);
    }
    close("loss", t.loss(), case["loss"].as_f64().unwrap());
    t.backward(&mut gradients);
    let tensors = case["tensors"].as_array().unwrap();
    assert_eq!(model.layout().entries().len(), tensors.len());
    for (entry, tensor) in model.layout().entries().iter().zip(tensors) {
        assert_eq!(entry.name, tensor["name"].as_str().unwrap());
        let gradient = entry.param.of(&gradients).iter().map(|g| g.wide());
        let weighted: f64 = gradient.clone().enumerate().map(|(j, g)| g * libm::cos(j as f64)).sum();
        let expected = flat(&tensor["gradient"]);
        close(&entry.name, gradient.sum(), expected[0]);
        close(&entry.name, weighted, expected[1]);
    }
    let mut trained = Trained::new(model, params);
    for (log, expected) in trained.log_probs(&pairs).unwrap().iter().zip(flat(&case["losses"])) {
        close("log-probability", *log, -expected);
    }
    for (pair, expected) in pairs.iter().zip(strings(&case["greedy"])) {
        assert_eq!(trained.greedy(pair.input, 1..=cap).unwrap(), expected, "{kind}");
    }
}

#[test]
fn joint_attention_and_the_decoder_alone_agree_with_pytorch() {
    let golden: Value = serde_json::from_str(TORCH).unwrap();
    let pair = |pair: &Value| {
        let [input, output] = &strings(pair)[..] else { panic!("not a pair: {pair}") };
        (input.clone(), output.clone())
    };
    let pairs: Vec<_> = golden["pairs"].as_array().unwrap().iter().map(pair).collect();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        check_torch::<f64>(case, &pairs, size(&golden, "cap"), 1e-11);
        check_torch::<f32>(case, &pairs, size(&golden, "cap"), 1e-4);
    }
}
