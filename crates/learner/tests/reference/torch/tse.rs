//! The three language models of Someya, Yoshida and Oseki 2024 against the authors' code: logits, loss, the gradient of every
//! tensor, and the probabilities that pairs are scored by.

use std::collections::BTreeMap;

use serde::Deserialize;
use wug_learner::interface::{NextSymbol, Trained};
use wug_learner::kernel::Sinusoid;
use wug_learner::model::{
    BodySpec, Cell, Initialization, LanguageModel, LanguageModelSpec, NormPlace, Output, Positions,
    RecurrentSpec, StackRnnSpec, Start, TransformerDropout, TransformerSpec,
};
use wug_learner::tape::{Mode, Tape};

const GOLDEN: &str = include_str!("../../../../../testdata/learner/tse_models.json");
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Golden {
    vocabulary: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    model: String,
    sizes: BTreeMap<String, usize>,
    tensors: BTreeMap<String, Tensor>,
    strings: Vec<Vec<u32>>,
    logits: Vec<f64>,
    loss: f64,
    scored: Vec<Scored>,
    long: Option<Long>,
}

#[derive(Deserialize)]
struct Tensor {
    values: Vec<f64>,
    gradient: Vec<f64>,
}

#[derive(Deserialize)]
struct Scored {
    string: Vec<u32>,
    probabilities: Vec<f64>,
}

/// Strings that are longer than the stack is deep.
#[derive(Deserialize)]
struct Long {
    strings: Vec<Vec<u32>>,
    logits: Vec<f64>,
}

impl Case {
    fn body(&self) -> BodySpec {
        let size = |name: &str| self.sizes[name];
        match self.model.as_str() {
            "lstm" => BodySpec::Recurrent(RecurrentSpec {
                cell: Cell::Lstm,
                layers: size("layers"),
                hidden: size("hidden"),
                embedding: Some(size("embedding")),
                biases: 2,
                start: Start::Zero,
                dropout: 0.0,
            }),
            "transformer" => BodySpec::Transformer(TransformerSpec {
                layers: size("layers"),
                width: size("width"),
                heads: size("heads"),
                feedforward: size("feedforward"),
                norm: NormPlace::Post,
                final_norm: false,
                positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 0 },
                scale_embedding: false,
                dropout: TransformerDropout::default(),
            }),
            _ => BodySpec::StackRnn(StackRnnSpec {
                hidden: size("hidden"),
                embedding: Some(size("embedding")),
                rows: size("rows"),
                width: size("width"),
            }),
        }
    }

    fn close(&self, what: &str, got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len(), "{} {what}", self.name);
        for (x, y) in got.iter().zip(expected) {
            assert!((x - y).abs() < TOLERANCE, "{} {what}: {x} {y}", self.name);
        }
    }
}

#[test]
fn the_models_of_tse_are_those_of_the_released_code() {
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(golden.cases.len(), 5);
    for case in &golden.cases {
        let model = LanguageModel::new(LanguageModelSpec {
            body: case.body(),
            vocabulary: golden.vocabulary,
            output: Output::Linear,
            initialization: Initialization::Torch,
        })
        .unwrap();
        let layout = model.layout();
        assert_eq!(layout.entries().len(), case.tensors.len(), "{}", case.name);
        let params: Vec<f64> =
            layout.entries().iter().flat_map(|entry| case.tensors[&entry.name].values.clone()).collect();
        let count: usize = case.strings.iter().map(|s| s.len() - 1).sum();
        let targets: Vec<(usize, usize, f64)> = (case.strings.iter().enumerate())
            .flat_map(|(b, s)| (1..s.len()).map(move |p| (b, p, 1.0 / count as f64)))
            .collect();
        let strings: Vec<&[u32]> = case.strings.iter().map(Vec::as_slice).collect();
        let mut tape = Tape::default();
        let mut gradients = vec![0.0; layout.count()];
        let mut record = tape.record(&params, Mode::Grad);
        let logits = model.loss(&mut record, &strings, &targets);
        case.close("logits", record.value(logits), &case.logits);
        case.close("loss", &[record.loss()], &[case.loss]);
        record.backward(&mut gradients);
        for entry in layout.entries() {
            case.close(&entry.name, entry.param.of(&gradients), &case.tensors[&entry.name].gradient);
        }
        if let Some(long) = &case.long {
            let strings: Vec<&[u32]> = long.strings.iter().map(Vec::as_slice).collect();
            let mut record = tape.record(&params, Mode::Eval);
            let states = model.states(&mut record, &strings);
            let rows = strings.iter().enumerate();
            let rows = rows.flat_map(|(b, s)| (1..=s.len()).map(move |p| states.row(b, p)));
            let logits = model.logits(&mut record, states, rows);
            case.close("long logits", record.value(logits), &long.logits);
        }
        let mut trained = Trained::new(model, params);
        let strings: Vec<&[u32]> = case.scored.iter().map(|scored| &scored.string[..]).collect();
        let batch = trained.log_probs_batch(&strings).unwrap();
        for (scored, logs) in case.scored.iter().zip(batch) {
            let probabilities = |logs: &[f64]| logs.iter().map(|&l| libm::exp(l)).collect::<Vec<_>>();
            case.close("probability", &probabilities(&logs[1..]), &scored.probabilities);
            let alone = trained.log_probs(&scored.string).unwrap();
            case.close("probability", &probabilities(&alone[1..]), &scored.probabilities);
        }
    }
}
