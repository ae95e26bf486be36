//! The memory-augmented networks of Suzgun et al. 2019 against the authors' code: every step, every gradient, one step of Adam;
//! and as BLISS uses them, with softmax and cross-entropy. The values are in `testdata/learner`.

#![expect(clippy::unwrap_used, reason = "a broken golden file should fail the test")]

use serde_json::Value;
use wug_learner::kernel::{
    Activation, Augmented, AugmentedStep, AugmentedWeights, MemoryKind, Recurrence, RecurrentWeights,
    augmented_step, linear,
};
use wug_learner::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModel, LanguageModelSpec, Output,
};
use wug_learner::optim::{Optimizer, OptimizerSpec};
use wug_learner::params::{Layout, Param};
use wug_learner::tape::{AugmentedLayer, Layer, Mode, Recording, Tape, Var};

const GOLDEN: &str = include_str!("../../../../testdata/learner/marnn.json");

fn cases(with: &str) -> Vec<(String, Value)> {
    let all: Value = serde_json::from_str(GOLDEN).unwrap();
    let all = all.as_object().unwrap().clone();
    all.into_iter().filter(|(_, case)| case.get(with).is_some()).collect()
}

/// The elements of a nested array, in order.
fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Null => vec![],
        other => vec![other.as_f64().unwrap()],
    }
}

fn symbols(text: &Value, vocabulary: &str) -> Vec<u32> {
    let symbol = |c| vocabulary.find(c).unwrap() as u32;
    text.as_str().unwrap().chars().map(symbol).collect()
}

#[track_caller]
fn close(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() < 1e-9, "{what} at {i}: got {g}, expected {e}");
    }
}

/// A golden model as one of ours.
struct Case {
    name: String,
    golden: Value,
    spec: AugmentedSpec,
    model: LanguageModel,
    params: Vec<f64>,
    vocabulary: String,
}

impl Case {
    fn new((name, golden): (String, Value), vocabulary: &str) -> Self {
        let size = |key: &str| usize::try_from(golden[key].as_u64().unwrap()).unwrap();
        let temperature = golden["temperature"].as_f64().unwrap_or(1.0);
        let annealing = Annealing { start: temperature, rate: 1e-4, least: 0.5 };
        let kind = golden["model"].as_str().unwrap();
        let spec = AugmentedSpec {
            cell: if kind.starts_with("SLSTM") { Cell::Lstm } else { Cell::Rnn },
            hidden: size("hidden"),
            device: if kind.starts_with("BNTM") { MemoryKind::BabyNtm } else { MemoryKind::Stack },
            rows: size("memory_size"),
            width: size("memory_dim"),
            gate: match kind {
                _ if kind.contains("Gumbel") => Gate::Gumbel(annealing),
                _ if kind.contains("Temperature") => Gate::Temperature(annealing),
                _ => Gate::Softmax,
            },
        };
        let model = LanguageModel::new(LanguageModelSpec {
            body: BodySpec::Augmented(spec.clone()),
            vocabulary: vocabulary.len(),
            output: Output::Linear,
            initialization: Initialization::Torch,
        })
        .unwrap();
        let mut params = vec![temperature; model.layout().count()];
        for entry in model.layout().entries() {
            let Some(theirs) = spec.torch_name(&entry.name) else { continue };
            let tensor = &golden["state_dict"][&theirs];
            let shape: Vec<usize> = tensor["shape"].as_array().unwrap().iter().map(dimension).collect();
            assert_eq!(entry.shape, shape, "{name} {theirs}");
            entry.param.of_mut(&mut params).copy_from_slice(&flat(&tensor["data"]));
        }
        Self { name, golden, spec, model, params, vocabulary: vocabulary.to_owned() }
    }

    fn layout(&self) -> &Layout {
        self.model.layout()
    }

    fn param(&self, name: &str) -> Param {
        self.layout().find(name).unwrap().param
    }

    fn pair(&self, name: &str) -> (Param, Param) {
        (self.param(&format!("{name}.weight")), self.param(&format!("{name}.bias")))
    }

    fn sizes(&self, steps: usize) -> Augmented {
        Augmented {
            recurrence: Recurrence {
                steps,
                batch: 1,
                input: self.vocabulary.len(),
                hidden: self.spec.hidden,
            },
            lstm: self.spec.cell == Cell::Lstm,
            device: self.spec.device,
            rows: self.spec.rows,
            width: self.spec.width,
        }
    }

    /// Compares tensors with those of the authors, which have other names.
    fn compare(&self, what: &str, got: &[f64], expected: &Value) {
        assert_eq!(expected.as_object().unwrap().len(), self.golden["state_dict"].as_object().unwrap().len());
        for entry in self.layout().entries() {
            if let Some(theirs) = self.spec.torch_name(&entry.name) {
                let what = format!("{} {what} {theirs}", self.name);
                close(&what, entry.param.of(got), &flat(&expected[&theirs]));
            }
        }
    }

    /// The logits after every symbol of a string, with the authors' noise.
    fn logits(&self, r: &mut Recording<'_, f64>, string: &[u32], noise: &[f64]) -> Var {
        let layer = AugmentedLayer {
            network: Layer {
                input: self.param("layers.0.weight_ih"),
                hidden: self.param("layers.0.weight_hh"),
                bias: Some(self.param("layers.0.bias_ih")),
                second_bias: Some(self.param("layers.0.bias_hh")),
            },
            read: self.pair("memory.read"),
            action: self.pair("memory.action"),
            element: self.pair("memory.element"),
            temperature: self.layout().find("temperature").map(|entry| entry.param),
        };
        let (steps, h) = (string.len(), self.spec.hidden);
        let x = r.one_hot(string.iter().copied(), self.vocabulary.len());
        let noise = (!noise.is_empty()).then(|| r.constant(noise));
        let states = r.augmented(x, noise, layer, self.sizes(steps));
        let states = r.part(states, h, steps * h);
        let (weight, bias) = self.pair("output");
        r.linear(states, weight, Some(bias), h, Activation::Identity)
    }
}

fn dimension(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// All rows of a memory, from those in use: the first ones, then the last ones.
fn every_row(held: &[f64], n: &Augmented) -> Vec<f64> {
    let (rows, all) = (held.len() / n.width, n.rows * n.width);
    let top = if n.device == MemoryKind::Stack || rows == n.rows { rows } else { rows.div_ceil(2) } * n.width;
    let mut memory = vec![0.0; all];
    memory[..top].copy_from_slice(&held[..top]);
    memory[all - (held.len() - top)..].copy_from_slice(&held[top..]);
    memory
}

#[test]
fn every_step_agrees_with_the_authors() {
    let cases = cases("runs");
    assert_eq!(cases.len(), 7);
    for case in cases {
        let case = Case::new(case, "()[]");
        for run in case.golden["runs"].as_array().unwrap() {
            check_run(&case, run);
        }
    }
}

fn check_run(case: &Case, run: &Value) {
    let (h, n, params) = (case.spec.hidden, case.sizes(1), &case.params[..]);
    let values = |name: &str| case.param(name).of(params);
    let pair = |name: &str| {
        let (weight, bias) = case.pair(name);
        (weight.of(params), bias.of(params))
    };
    let bias: Vec<f64> =
        values("layers.0.bias_ih").iter().zip(values("layers.0.bias_hh")).map(|(a, b)| a + b).collect();
    let (input, hidden) = (values("layers.0.weight_ih"), values("layers.0.weight_hh"));
    let w = AugmentedWeights {
        network: RecurrentWeights { input, hidden, bias: &bias },
        read: pair("memory.read"),
        action: pair("memory.action"),
        element: pair("memory.element"),
        temperature: run["temperature"].as_f64().unwrap(),
    };
    let string = symbols(&run["input"], &case.vocabulary);
    let noise = flat(&run["gumbel_noise_per_step"]);
    let (mut states, mut cells) = (vec![0.0; 2 * h], vec![0.0; 2 * h * usize::from(n.lstm)]);
    let (mut gates, mut memory) = (vec![0.0; 4 * h * usize::from(n.lstm)], vec![]);
    let (mut actions, mut elements) = (vec![0.0; n.device.actions()], vec![0.0; n.width]);
    for (t, (&symbol, expected)) in string.iter().zip(run["steps"].as_array().unwrap()).enumerate() {
        let mut x = vec![0.0; 4];
        x[symbol as usize] = 1.0;
        let mut after = vec![0.0; n.held(t + 1)];
        let step = AugmentedStep {
            states: &mut states,
            cells: &mut cells,
            gates: &mut gates,
            actions: &mut actions,
            elements: &mut elements,
            workspace: &mut vec![0.0; n.workspace::<f64>()],
            before: &memory,
            after: &mut after,
        };
        let noise = noise.chunks(n.device.actions()).nth(t).unwrap_or_default();
        augmented_step(step, &x, noise, w, &n, t);
        memory = after;
        let mut output = vec![0.0; 4];
        let (weight, bias) = pair("output");
        linear(&mut output, &states[h..], weight, bias, h, Activation::Sigmoid);
        for (key, got) in [
            ("output", &output[..]),
            ("hidden", &states[h..]),
            ("actions", &actions),
            ("new_elt", &elements),
            ("memory_top", &every_row(&memory, &n)),
        ] {
            close(&format!("{} {key} {t}", case.name), got, &flat(&expected[key]));
        }
        if n.lstm {
            close("cell", &cells[h..], &flat(&expected["cell"]));
            cells.copy_within(h.., 0);
        }
        states.copy_within(h.., 0);
    }
}

#[test]
fn squared_losses_gradients_and_adam_agree_with_the_authors() {
    for case in cases("gradient") {
        let case = Case::new(case, "()[]");
        let golden = &case.golden["gradient"];
        let (string, truth) = (symbols(&golden["input"], &case.vocabulary), flat(&golden["target"]));
        let (mut tape, mut gradients) = (Tape::default(), vec![0.0; case.params.len()]);
        let mut r = tape.record(&case.params, Mode::Grad);
        let logits = case.logits(&mut r, &string, &flat(&golden["gumbel_noise_per_step"]));
        r.squared_loss(logits, truth.iter().map(|&y| (y, 1.0 / truth.len() as f64)));
        close(&case.name, &[r.loss()], &flat(&golden["mse_loss"]));
        r.backward(&mut gradients);
        case.compare("gradient", &gradients, &golden["gradients"]);
        let mut params = case.params.clone();
        Optimizer::new(OptimizerSpec::adam(), params.len()).step(&mut params, &gradients, 0.01, 1.0).unwrap();
        case.compare("after Adam", &params, &golden["params_after_one_adam_step"]);
    }
}

#[test]
fn language_models_agree_with_bliss() {
    let cases = cases("ce");
    assert_eq!(cases.len(), 3);
    for case in cases {
        let case = Case::new(case, "#ab");
        for golden in case.golden["ce"].as_array().unwrap() {
            let string = symbols(&golden["string"], "#ab");
            let share = 1.0 / (string.len() - 1) as f64;
            let targets: Vec<_> = (1..string.len()).map(|position| (0, position, share)).collect();
            let (mut tape, mut gradients) = (Tape::default(), vec![0.0; case.params.len()]);
            let mut r = tape.record(&case.params, Mode::Grad);
            let logits = case.model.loss(&mut r, &[&string], &targets);
            close(&case.name, r.value(logits), &flat(&golden["logits"]));
            close(&case.name, &[r.loss()], &flat(&golden["ce_mean_nats"]));
            r.backward(&mut gradients);
            case.compare("gradient", &gradients, &golden["gradients"]);
        }
    }
}
