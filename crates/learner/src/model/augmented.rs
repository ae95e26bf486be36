//! Memory-augmented recurrent networks: the Stack-RNN, Stack-LSTM and Baby-NTM of Suzgun et al. 2019, with one layer and
//! one-hot input. Each is a network ([`Cell::Rnn`] or [`Cell::Lstm`]), a [`MemoryKind`] and a [`Gate`].
//!
//! # Weights of the published models
//!
//! Tensors have the shapes and the element order of the published PyTorch modules; only their names differ
//! ([`AugmentedSpec::torch_name`]):
//!
//! | here | published | shape |
//! |---|---|---|
//! | `layers.0.weight_ih`, `…_hh`, `bias_ih`, `bias_hh` | `rnn.weight_ih_l0`, … or `lstm.weight_ih_l0`, … | gates i, f, g, o as in PyTorch |
//! | `memory.read.weight`, `.bias` | `W_sh` of a stack, `W_m` of a Baby-NTM | `[H,M]`, `[H]` |
//! | `memory.action.weight`, `.bias` | `W_a` | `[A,H]`, `[A]`; push, pop, or the five actions of [`MemoryKind::BabyNtm`] |
//! | `memory.element.weight`, `.bias` | `W_n` | `[M,H]`, `[M]` |
//! | `output.weight`, `.bias` | `W_y` | `[V,H]`, `[V]` |
//! | `temperature` | none: an attribute of the module | `[1]`; only with [`Gate::Temperature`] and [`Gate::Gumbel`] |

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::body::{Body, BodyConfig};
use super::init::{Initialization, ParamRole};
use super::limits::bounded;
use super::recurrent::Cell;
use super::states::{BatchShape, PrefixState, States};
use crate::kernel::{Augmented, MemoryKind, Real, Recurrence};
use crate::params::{Init, Layout};
use crate::tape::{AugmentedLayer, Layer, Recording};

/// How the distribution over actions is computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Gate {
    Softmax,
    /// A softmax with a temperature.
    Temperature(Annealing),
    /// A softmax with a temperature and, in training, Gumbel noise. The published code adds noise in evaluation too.
    Gumbel(Annealing),
}

/// A temperature that decays with the number of training examples seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annealing {
    /// The temperature before the first example.
    pub start: f64,
    /// Each example multiplies it by `e^−rate`.
    pub rate: f64,
    pub least: f64,
}

impl Annealing {
    /// The temperature after this number of examples.
    ///
    /// ```
    /// use wug_learner::model::Annealing;
    /// let published = Annealing { start: 1.0, rate: 1e-4, least: 0.5 };
    /// assert_eq!([0, 15_000].map(|examples| published.after(examples)), [1.0, 0.5]);
    /// ```
    pub fn after(&self, examples: u64) -> f64 {
        (self.start * libm::exp(-self.rate * examples as f64)).max(self.least)
    }

    fn check(self) -> Result<(), SpecError> {
        let Self { start, rate, least } = self;
        if start.is_finite() && rate.is_finite() && rate >= 0.0 && least > 0.0 && least <= start {
            return Ok(());
        }
        Err(SpecError(format!(
            "a temperature from {start} down to {least} at a rate of {rate}; it must fall from a finite number to one more \
             than 0, at a rate of at least 0"
        )))
    }
}

/// A memory-augmented network, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AugmentedSpec {
    /// The network: `rnn` or `lstm`.
    pub cell: Cell,
    /// Units of the network.
    pub hidden: usize,
    /// The kind of memory.
    pub device: MemoryKind,
    /// Rows of the memory. No weight depends on it, so that it can be changed after training.
    pub rows: usize,
    /// `M`, elements per row of the memory.
    pub width: usize,
    /// How the distribution over actions is computed.
    pub gate: Gate,
}

impl AugmentedSpec {
    fn annealing(&self) -> Option<Annealing> {
        match self.gate {
            Gate::Softmax => None,
            Gate::Temperature(annealing) | Gate::Gumbel(annealing) => Some(annealing),
        }
    }

    /// The name of one of our tensors in the published modules; none for a tensor they do not have.
    pub fn torch_name(&self, name: &str) -> Option<String> {
        let network = if self.cell == Cell::Lstm { "lstm" } else { "rnn" };
        let read = if self.device == MemoryKind::BabyNtm { "W_m" } else { "W_sh" };
        if let Some(part) = name.strip_prefix("layers.0.") {
            return Some(format!("{network}.{part}_l0"));
        }
        let (layer, part) = name.rsplit_once('.')?;
        let layer = match layer {
            "memory.read" => read,
            "memory.action" => "W_a",
            "memory.element" => "W_n",
            "output" => "W_y",
            _ => return None,
        };
        Some(format!("{layer}.{part}"))
    }

    fn sizes(&self, BatchShape { steps, batch }: BatchShape, vocabulary: usize) -> Augmented {
        Augmented {
            recurrence: Recurrence { steps, batch, input: vocabulary, hidden: self.hidden },
            lstm: self.cell == Cell::Lstm,
            device: self.device,
            rows: self.rows,
            width: self.width,
        }
    }
}

impl BodyConfig for AugmentedSpec {
    type Built = AugmentedBody;

    fn check(&self) -> Result<(), SpecError> {
        if !matches!(self.cell, Cell::Rnn | Cell::Lstm) {
            let name = self.cell.name();
            return Err(SpecError(format!("a memory beside {name} units; only rnn and lstm units have one")));
        }
        let Self { hidden, rows, width, .. } = *self;
        if [hidden, rows, width].contains(&0) {
            let message = format!("{hidden} units and a memory of {rows} x {width}; all must be at least 1");
            return Err(SpecError(message));
        }
        bounded([("a hidden size", hidden), ("a number of rows", rows), ("a width", width)])?;
        self.annealing().map_or(Ok(()), Annealing::check)
    }

    fn state_width(&self) -> usize {
        self.hidden
    }

    fn embedding_width(&self) -> Option<usize> {
        None
    }

    fn parameters(&self, vocabulary: usize) -> usize {
        let (h, m, actions) = (self.hidden, self.width, self.device.actions());
        let network = self.cell.gates() * h * (vocabulary + h + 2);
        let memory = h * (m + 1) + actions * (h + 1) + m * (h + 1);
        network + memory + usize::from(self.annealing().is_some())
    }

    fn build(&self, vocabulary: usize, init: Initialization, layout: &mut Layout) -> AugmentedBody {
        let (h, m, g) = (self.hidden, self.width, self.cell.gates() * self.hidden);
        // PyTorch bounds all weights and biases of a recurrent module by 1/√H, those of the input too.
        let recurrent = init.of(ParamRole::Recurrent { hidden: h });
        let mut add = |part: &str, shape: &[usize]| layout.add(format!("layers.0.{part}"), shape, recurrent);
        let network = Layer {
            input: add("weight_ih", &[g, vocabulary]),
            hidden: add("weight_hh", &[g, h]),
            bias: Some(add("bias_ih", &[g])),
            second_bias: Some(add("bias_hh", &[g])),
        };
        let mut linear = |name: &str, o: usize, i: usize| {
            let (weight, bias) = (init.of(ParamRole::Linear { i, o }), init.of(ParamRole::LinearBias { i }));
            let weight = layout.add(format!("memory.{name}.weight"), &[o, i], weight);
            (weight, layout.add(format!("memory.{name}.bias"), &[o], bias))
        };
        let (read, action) = (linear("read", h, m), linear("action", self.device.actions(), h));
        let element = linear("element", m, h);
        // A parameter although it has no gradient: so checkpoints and saved models include it.
        let temperature = self.annealing().map(|t| layout.add("temperature", &[1], Init::Constant(t.start)));
        let layer = AugmentedLayer { network, read, action, element, temperature };
        AugmentedBody { spec: self.clone(), layer, vocabulary }
    }

    /// Limited by the memory after every step, which is kept for the backward pass.
    fn max_batch_strings(&self, max_len: usize) -> usize {
        let per_string = self.sizes(BatchShape { steps: max_len + 1, batch: 1 }, 1).trace::<f64>(true);
        // 2²⁴ elements are 64 MiB in single precision. A string that needs more is read alone.
        ((1 << 24) / per_string).clamp(1, 512)
    }

    fn cache_elements(&self, max_len: usize) -> usize {
        self.width * self.rows.min(max_len)
    }

    fn set_memory_rows(&mut self, rows: usize) -> bool {
        self.rows = rows;
        true
    }
}

/// A memory-augmented network with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct AugmentedBody {
    spec: AugmentedSpec,
    layer: AugmentedLayer,
    vocabulary: usize,
}

impl Body for AugmentedBody {
    fn anneal<R: Real>(&self, params: &mut [R], examples: u64) {
        if let (Some(param), Some(annealing)) = (self.layer.temperature, self.spec.annealing()) {
            param.of_mut(params)[0] = R::of(annealing.after(examples));
        }
    }

    fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        BatchShape { steps, batch }: BatchShape,
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States {
        let x = r.one_hot((0..steps * batch).map(|i| symbol(i / batch, i % batch)), self.vocabulary);
        let noise = match self.spec.gate {
            // `gumbel` gives none in evaluation, where the released code draws noise too.
            Gate::Gumbel(_) => r.gumbel(steps * batch * self.spec.device.actions()),
            Gate::Softmax | Gate::Temperature(_) => None,
        };
        let var =
            r.augmented(x, noise, self.layer, self.spec.sizes(BatchShape { steps, batch }, self.vocabulary));
        let width = self.spec.hidden;
        States { rows: var.into(), width, per_position: batch, per_string: 1, start: 0, first: 0 }
    }

    /// Zeros, and a memory of which no row is in use.
    fn initial_state<R: Real>(&self, _params: &[R]) -> PrefixState<R> {
        let h = self.spec.hidden;
        let cells = usize::from(self.spec.cell == Cell::Lstm);
        PrefixState { hidden: vec![R::ZERO; (1 + cells) * h], caches: vec![vec![]], top: vec![R::ZERO; h] }
    }

    fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32) {
        let PrefixState { hidden, caches, top } = state;
        let x = r.one_hot([symbol], self.vocabulary);
        let sizes = self.spec.sizes(BatchShape::ONE, self.vocabulary);
        r.augmented_step(x, hidden, &mut caches[0], self.layer, sizes);
        // `hidden` is `h`, then `c` of an LSTM. The output layer reads `h` alone.
        top.copy_from_slice(&hidden[..self.spec.hidden]);
    }
}
