//! A simple recurrent network whose input is a symbol and the top of a stack: the Stack-RNN of Joulin and Mikolov (2015) with one
//! stack, in the form of Delétang et al. (2023) and Someya et al. (2024).
//!
//! # Weights of the published model
//!
//! The published `weight_ih` `[H,E+M]` is two tensors here, its first `E` columns and its last `M`:
//!
//! | here | published | shape |
//! |---|---|---|
//! | `embedding` | the embedding | `[V,E]`; none with one-hot input, where `E = V` |
//! | `layers.0.weight_ih`, `memory.read.weight` | `weight_ih_l0` | `[H,E]`, `[H,M]` |
//! | `layers.0.weight_hh`, `bias_ih`, `bias_hh` | `weight_hh_l0`, … | `[H,H]`, `[H]`, `[H]` |
//! | `memory.action.weight`, `.bias` | `action_layer` | `[3,H]`, `[3]`; push, pop, no-op |
//! | `memory.element.weight`, `.bias` | `push_update_layer` | `[M,H]`, `[M]` |

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::body::{Body, BodyConfig};
use super::init::{Initialization, ParamRole};
use super::limits::bounded;
use super::states::{BatchShape, PrefixState, States};
use crate::kernel::{Activation, MemoryKind, Real, StackRnn};
use crate::params::{Layout, Param};
use crate::tape::{Recording, StackRnnLayer, Var};

/// A network with a stack in its input, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackRnnSpec {
    /// Units of the network.
    pub hidden: usize,
    /// Elements per embedded symbol; none for one-hot input.
    pub embedding: Option<usize>,
    /// Rows of the stack. No weight depends on it, so that it can be changed after training.
    pub rows: usize,
    /// `M`, elements per row of the stack.
    pub width: usize,
}

impl StackRnnSpec {
    fn sizes(&self, BatchShape { steps, batch }: BatchShape, taken: usize) -> StackRnn {
        let Self { hidden, rows, width, .. } = *self;
        StackRnn { steps, batch, hidden, rows, width, taken }
    }
}

impl BodyConfig for StackRnnSpec {
    type Built = StackRnnBody;

    fn check(&self) -> Result<(), SpecError> {
        let Self { hidden, rows, width, embedding } = *self;
        if [hidden, rows, width, embedding.unwrap_or(1)].contains(&0) {
            let message = format!("{hidden} units and a stack of {rows} x {width}; all must be at least 1");
            return Err(SpecError(message));
        }
        bounded([
            ("a hidden size", hidden),
            ("a number of rows", rows),
            ("a width", width),
            ("an embedding", embedding.unwrap_or(0)),
        ])
    }

    fn state_width(&self) -> usize {
        self.hidden
    }

    fn embedding_width(&self) -> Option<usize> {
        self.embedding
    }

    fn parameters(&self, vocabulary: usize) -> usize {
        let (h, m, actions) = (self.hidden, self.width, MemoryKind::RestingStack.actions());
        let input = self.embedding.unwrap_or(vocabulary);
        self.embedding.map_or(0, |d| vocabulary * d) + h * (input + m + h + 2) + (actions + m) * (h + 1)
    }

    fn build(&self, vocabulary: usize, init: Initialization, layout: &mut Layout) -> StackRnnBody {
        let (h, m) = (self.hidden, self.width);
        let recurrent = init.of(ParamRole::Recurrent { hidden: h });
        let embedding = self
            .embedding
            .map(|d| layout.add("embedding", &[vocabulary, d], init.of(ParamRole::Embedding { d })));
        let mut add = |part: &str, shape: &[usize]| layout.add(part, shape, recurrent);
        let input = add("layers.0.weight_ih", &[h, self.embedding.unwrap_or(vocabulary)]);
        let hidden = add("layers.0.weight_hh", &[h, h]);
        let (bias, second) = (add("layers.0.bias_ih", &[h]), add("layers.0.bias_hh", &[h]));
        let read = add("memory.read.weight", &[h, m]);
        let mut linear = |name: &str, o: usize| {
            let (weight, bias) =
                (init.of(ParamRole::Linear { i: h, o }), init.of(ParamRole::LinearBias { i: h }));
            let weight = layout.add(format!("memory.{name}.weight"), &[o, h], weight);
            (weight, layout.add(format!("memory.{name}.bias"), &[o], bias))
        };
        let action = linear("action", MemoryKind::RestingStack.actions());
        let layer = StackRnnLayer { hidden: (hidden, second), read, action, element: linear("element", m) };
        StackRnnBody { spec: self.clone(), embedding, input: (input, bias), layer, vocabulary }
    }

    /// Limited by the stack after every step, which is kept for the backward pass.
    fn max_batch_strings(&self, max_len: usize) -> usize {
        // Beside the stacks, the sums `[T,H]` of the input stay on the tape.
        let per_string = self.sizes(BatchShape { steps: max_len + 1, batch: 1 }, 0).trace(true)
            + (max_len + 1) * self.hidden;
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

/// A network with a stack in its input, with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct StackRnnBody {
    spec: StackRnnSpec,
    embedding: Option<Param>,
    /// Weight and bias of a symbol.
    input: (Param, Param),
    layer: StackRnnLayer,
    vocabulary: usize,
}

impl StackRnnBody {
    /// What symbols add to the sums, `[N,H]`.
    fn sums<R: Real>(&self, r: &mut Recording<'_, R>, symbols: impl ExactSizeIterator<Item = u32>) -> Var {
        let (embedded, i) = match (self.embedding, self.spec.embedding) {
            (Some(table), Some(d)) => (r.embedding(table, symbols, d, 1.0), d),
            _ => (r.one_hot(symbols, self.vocabulary), self.vocabulary),
        };
        r.linear(embedded, self.input.0, Some(self.input.1), i, Activation::Identity)
    }
}

impl Body for StackRnnBody {
    fn embedding(&self) -> Option<Param> {
        self.embedding
    }

    /// What a symbol adds is the same wherever it is: with few symbols it is computed once for each.
    fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        BatchShape { steps, batch }: BatchShape,
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States {
        let (width, n) = (self.spec.hidden, steps * batch);
        let symbols = (0..n).map(|i| symbol(i / batch, i % batch));
        // The table saves products where symbols repeat; with fewer positions than symbols it would cost more.
        let x = if n > self.vocabulary {
            let table = self.sums(r, 0..self.vocabulary as u32);
            r.select(table, symbols, width)
        } else {
            self.sums(r, symbols)
        };
        let var = r.stack_rnn(x, self.layer, self.spec.sizes(BatchShape { steps, batch }, 0));
        States { rows: var.into(), width, per_position: batch, per_string: 1, start: 0, first: 0 }
    }

    /// Zeros, and a stack of which no row is in use.
    fn initial_state<R: Real>(&self, _params: &[R]) -> PrefixState<R> {
        let zeros = vec![R::ZERO; self.spec.hidden];
        PrefixState { hidden: zeros.clone(), caches: vec![vec![]], top: zeros }
    }

    fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32) {
        let PrefixState { hidden, caches, top } = state;
        let x = self.sums(r, std::iter::once(symbol));
        let sizes = self.spec.sizes(BatchShape::ONE, caches[0].len() / self.spec.width);
        r.stack_rnn_step(x, hidden, &mut caches[0], self.layer, sizes);
        top.copy_from_slice(hidden);
    }
}
