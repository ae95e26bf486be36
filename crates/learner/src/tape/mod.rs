//! Reverse-mode differentiation: a model is written as its forward pass, and the backward pass follows from what was recorded.
//!
//! Operations are coarse (a whole layer over time, all heads of attention), so recording costs nothing beside the kernels.
//! Tensors are plain ranges of three arenas, which are emptied but not freed between steps, so that after the first step
//! nothing is allocated:
//!
//! - *values*: what operations return; a tensor lies behind everything it was computed from;
//! - *gradients*: that of each tensor, at the same offset;
//! - *saved*: what a kernel keeps for its backward pass (gates, statistics, weights of losses).
//!
//! The tape knows no model and no optimiser.
//!
//! ```
//! use wug_learner::kernel::Activation;
//! use wug_learner::params::{Init, Layout};
//! use wug_learner::tape::{Mode, Tape};
//!
//! let mut layout = Layout::default();
//! let weight = layout.add("weight", &[1, 2], Init::Constant(0.5));
//! let params: Vec<f64> = layout.initialise(wug_dataset::Seed::new(0));
//! let mut gradients = vec![0.0; layout.count()];
//!
//! let mut tape = Tape::default();
//! let mut t = tape.record(&params, Mode::Train { seed: 0 });
//! let x = t.constant(&[1.0, -1.0]);
//! let logit = t.linear(x, weight, None, 2, Activation::Identity);
//! t.logistic_loss(logit, [(1.0, 1.0)]);          // target 1, weight 1
//! assert!((t.loss() - 2f64.ln()).abs() < 1e-12); // logit 0: one bit
//! t.backward(&mut gradients);
//! assert_eq!(gradients, [-0.5, 0.5]);
//! ```

mod attention;
mod augmented;
mod backward;
mod deferred;
mod elementwise;
mod gru;
mod input;
mod linear;
mod loss;
mod lstm;
mod op;
mod pool;
mod recurrent;
mod rows;
mod stack_rnn;
mod weight_norm;

use std::ops::Range;

use crate::kernel::{Real, Sinusoid};
pub use attention::HeadSizes;
pub use augmented::AugmentedLayer;
use deferred::DeferredGrad;
pub use linear::LayerNorm;
pub use op::MaskedVar;
use op::{Op, Tensor};
pub use recurrent::Layer;
pub use stack_rnn::StackRnnLayer;

/// A tensor on the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(u32);

impl Var {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a recording is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Training: with dropout and a backward pass.
    Train {
        /// The seed of dropout and noise; every step needs its own.
        seed: u64,
    },
    /// Evaluation: no dropout, no backward pass.
    Eval,
    /// Gradients without dropout, for checks.
    Grad,
}

/// Arenas and records, reused from step to step.
#[derive(Debug, Default)]
pub struct Tape<R> {
    values: Arena<R>,
    saved: Arena<R>,
    gradients: Vec<R>,
    /// Working memory of kernels, within one operation.
    scratch: Vec<R>,
    /// Packed weights of recurrent layers, and a block of inputs after dropout.
    workspace: Vec<R>,
    /// A second gradient of a tensor, before it is added to the first. Between operations: any small buffer.
    grad_tmp: Vec<R>,
    /// Sinusoids of all positions used so far, and what they are the sinusoids of: layout, first position, width.
    sinusoids: Vec<R>,
    sinusoids_of: Option<(Sinusoid, usize, usize)>,
    /// Symbols, row indices and lengths that operations refer to.
    symbols: Vec<u32>,
    tensors: Vec<Tensor>,
    ops: Vec<Op>,
    /// Weights whose gradient the current backward pass writes instead of adding to, sorted.
    overwritten: Vec<Range<usize>>,
    /// Offsets of the weights whose gradients can be deferred, sorted, each as often as it is used.
    multiplied: Vec<usize>,
    deferred: Vec<DeferredGrad>,
}

/// A stack of elements that is emptied all at once.
#[derive(Debug, Default)]
struct Arena<R> {
    data: Vec<R>,
    top: usize,
}

impl<R: Real> Arena<R> {
    /// Takes `len` more elements, whose contents are unspecified.
    fn take(&mut self, len: usize) -> Range<usize> {
        let range = self.top..self.top + len;
        self.top = range.end;
        grow(&mut self.data, self.top);
        range
    }
}

/// Makes a vector at least `len` long; by half as much again, so that growing batches do not reallocate it each time.
fn grow<R: Real>(data: &mut Vec<R>, len: usize) {
    if data.len() < len {
        data.resize(len + len / 2, R::ZERO);
    }
}

impl<R: Real> Tape<R> {
    /// Starts a new recording with these parameters; the previous one is discarded.
    pub fn record<'a>(&'a mut self, params: &'a [R], mode: Mode) -> Recording<'a, R> {
        // Emptied by moving the top: what is in the arenas is overwritten, not freed.
        self.values.top = 0;
        self.saved.top = 0;
        self.symbols.clear();
        self.tensors.clear();
        self.ops.clear();
        Recording { tape: self, params, mode, dropouts: 0, loss: 0.0 }
    }

    /// Elements allocated in all buffers, for tests that they stop growing.
    pub fn capacity(&self) -> usize {
        self.values.data.capacity()
            + self.saved.data.capacity()
            + self.gradients.capacity()
            + self.scratch.capacity()
            + self.workspace.capacity()
            + self.grad_tmp.capacity()
    }

    fn tensor(&self, var: Var) -> Tensor {
        self.tensors[var.index()]
    }
}

/// One recording: forward operations as methods, then [`Recording::backward`].
#[derive(Debug)]
pub struct Recording<'a, R> {
    tape: &'a mut Tape<R>,
    params: &'a [R],
    mode: Mode,
    dropouts: usize,
    loss: f64,
}

impl<R: Real> Recording<'_, R> {
    /// The values of a tensor.
    pub fn value(&self, var: Var) -> &[R] {
        &self.tape.values.data[self.tape.tensor(var).range()]
    }

    /// The gradient of a tensor, after [`Recording::backward`]. Operations overwrite the gradients of their outputs, so this is
    /// of use for inputs only.
    pub fn gradient(&self, var: Var) -> &[R] {
        &self.tape.gradients[self.tape.tensor(var).range()]
    }

    /// The weighted sum of all losses recorded so far.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    fn new_tensor(&mut self, len: usize, requires_grad: bool) -> Var {
        // At the end of the arena, behind everything it is computed from: both can then be borrowed by one
        // split.
        let range = self.tape.values.take(len);
        self.push_tensor(Tensor { start: range.start, len, requires_grad, has_grad: false })
    }

    fn push_tensor(&mut self, tensor: Tensor) -> Var {
        self.tape.tensors.push(tensor);
        Var(u32::try_from(self.tape.tensors.len() - 1).expect("fewer than four billion tensors"))
    }

    fn push(&mut self, op: Op) {
        // Evaluation records nothing; a long string costs values only.
        if self.mode != Mode::Eval {
            self.tape.ops.push(op);
        }
    }

    fn push_symbols(&mut self, symbols: impl IntoIterator<Item = u32>) -> Range<usize> {
        let start = self.tape.symbols.len();
        self.tape.symbols.extend(symbols);
        start..self.tape.symbols.len()
    }

    /// In evaluation, what earlier operations saved is of no use: its memory is used again.
    fn reuse_saved(&mut self) {
        if self.mode == Mode::Eval {
            self.tape.saved.top = 0;
        }
    }

    fn values_mut(&mut self, var: Var) -> &mut [R] {
        let range = self.tape.tensor(var).range();
        &mut self.tape.values.data[range]
    }

    /// The values of an input and of the output being written.
    fn in_out(&mut self, x: Var, out: Var) -> (&[R], &mut [R]) {
        let (x, out) = (self.tape.tensor(x), self.tape.tensor(out));
        let (before, after) = self.tape.values.data.split_at_mut(out.start);
        (&before[x.range()], &mut after[..out.len])
    }
}

#[cfg(test)]
mod tests;
