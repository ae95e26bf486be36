//! A small tape: a model is written as its forward pass, and the way back follows from what was recorded.
//!
//! Operations are coarse (a whole layer over time, all heads of attention), so recording costs nothing. Numbers live in
//! three arenas that are emptied but never given back, so that after the first step nothing is allocated: values, their
//! gradients (at the same places), and whatever a kernel keeps for its way back.
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
mod forward;
mod gated;
mod loss;
mod op;
mod recurrent;

use std::ops::Range;

use crate::kernel::{Real, Sinusoid};
pub use augmented::AugmentedLayer;
use deferred::DeferredGrad;
pub use op::{Layer, LayerNorm, Masked};
use op::{Op, Tensor};

/// A tensor on the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(u32);

/// What a recording is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Training: dropout acts, drawn from this seed, and the way back is recorded.
    Train {
        /// Of this very step: every step needs its own.
        seed: u64,
    },
    /// Evaluation: no dropout, no way back.
    Eval,
    /// Gradients without dropout, for checks.
    Grad,
}

/// Arenas and records, kept from step to step.
#[derive(Debug, Default)]
pub struct Tape<R> {
    values: Arena<R>,
    saved: Arena<R>,
    gradients: Vec<R>,
    scratch: Vec<R>,
    /// Where recurrent layers lay out their weights, and what a mask leaves of a block of inputs.
    workspace: Vec<R>,
    /// Where a second gradient of a tensor waits to be added to the first.
    grad_tmp: Vec<R>,
    /// The codes of positions so far asked for, which never change, and what they are the codes of.
    codes: Vec<R>,
    codes_of: Option<(Sinusoid, usize, usize)>,
    symbols: Vec<u32>,
    tensors: Vec<Tensor>,
    ops: Vec<Op>,
    /// Weights whose gradient is replaced, not added to, on this way back.
    owned: Vec<Range<usize>>,
    /// Where the weights begin that operations multiply by, sorted, each as often as it is used.
    multiplied: Vec<usize>,
    /// What weights used more than once still lack of their gradients.
    deferred: Vec<DeferredGrad>,
}

/// Numbers handed out from the front and all taken back at once.
#[derive(Debug, Default)]
struct Arena<R> {
    data: Vec<R>,
    top: usize,
}

impl<R: Real> Arena<R> {
    /// Room for `len` more numbers, holding anything.
    fn take(&mut self, len: usize) -> Range<usize> {
        let range = self.top..self.top + len;
        self.top = range.end;
        grow(&mut self.data, self.top);
        range
    }
}

/// Makes a vector at least `len` long; by half again, so that growing batches do not grow it each time.
fn grow<R: Real>(data: &mut Vec<R>, len: usize) {
    if data.len() < len {
        data.resize(len + len / 2, R::ZERO);
    }
}

impl<R: Real> Tape<R> {
    /// Starts a new recording with these parameters; the last one is forgotten.
    pub fn record<'a>(&'a mut self, params: &'a [R], mode: Mode) -> Recording<'a, R> {
        self.values.top = 0;
        self.saved.top = 0;
        self.symbols.clear();
        self.tensors.clear();
        self.ops.clear();
        Recording { tape: self, params, mode, dropouts: 0, loss: 0.0 }
    }

    /// Numbers held in all arenas, to see that they stop growing.
    pub fn capacity(&self) -> usize {
        self.values.data.capacity()
            + self.saved.data.capacity()
            + self.gradients.capacity()
            + self.scratch.capacity()
            + self.workspace.capacity()
            + self.grad_tmp.capacity()
    }

    fn tensor(&self, var: Var) -> Tensor {
        self.tensors[var.0 as usize]
    }

    fn value(&self, var: Var) -> &[R] {
        &self.values.data[self.tensor(var).range()]
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
    /// The numbers of a tensor.
    pub fn value(&self, var: Var) -> &[R] {
        self.tape.value(var)
    }

    /// The gradient of a tensor, after [`Recording::backward`]. Operations use gradients up as they pass, so this is of
    /// use for inputs only.
    pub fn gradient(&self, var: Var) -> &[R] {
        &self.tape.gradients[self.tape.tensor(var).range()]
    }

    /// The weighted sum of all losses recorded so far.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    fn new_tensor(&mut self, len: usize, needs: bool) -> Var {
        let range = self.tape.values.take(len);
        self.push_tensor(Tensor { start: range.start, len, needs, touched: false })
    }

    fn push_tensor(&mut self, tensor: Tensor) -> Var {
        self.tape.tensors.push(tensor);
        Var(u32::try_from(self.tape.tensors.len() - 1).expect("fewer than four billion tensors"))
    }

    fn push(&mut self, op: Op) {
        if self.mode != Mode::Eval {
            self.tape.ops.push(op);
        }
    }

    fn push_symbols(&mut self, symbols: impl IntoIterator<Item = u32>) -> Range<usize> {
        let start = self.tape.symbols.len();
        self.tape.symbols.extend(symbols);
        start..self.tape.symbols.len()
    }
}

#[cfg(test)]
mod tests;
