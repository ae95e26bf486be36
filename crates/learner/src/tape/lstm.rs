//! LSTM layers.

use std::ops::Range;

use super::backward::in_out_grads;
use super::deferred::{ArenaRows, DeferredGrad};
use super::op::{MaskedVar, Op, Operation, Tensor};
use super::recurrent::Layer;
use super::{Mode, Recording, Tape, Var, grow};
use crate::kernel::{self, Inputs, Real, Recurrence};
use crate::params::Param;

/// An LSTM layer over `x[T,B,I]`; saves `cells[T+1,B,H]` and `gates[T,B,4H]`.
#[derive(Clone, Debug)]
pub(super) struct LstmOp {
    x: MaskedVar,
    start: Option<(Var, Var)>,
    out: Var,
    /// `[B,H]`, right behind `out`.
    last_cell: Var,
    cells: Range<usize>,
    gates: Range<usize>,
    layer: Layer,
    n: Recurrence,
}

/// What an LSTM reads.
enum LstmInputs {
    Tensor(MaskedVar),
    Symbols(Range<usize>),
}

/// What its forward pass leaves.
struct Forward {
    out: Var,
    last_cell: Var,
    cells: Range<usize>,
    gates: Range<usize>,
}

impl<R: Real> Recording<'_, R> {
    /// An LSTM layer, from `(h0, c0)` or from zeros; returns all states `[T+1,B,H]` and the last cells `[B,H]`.
    pub fn lstm(
        &mut self,
        x: impl Into<MaskedVar>,
        start: Option<(Var, Var)>,
        layer: Layer,
        n: Recurrence,
    ) -> (Var, Var) {
        let x = x.into();
        let Forward { out, last_cell, cells, gates } =
            self.lstm_forward(&LstmInputs::Tensor(x), start, layer, n);
        self.push(Op::Lstm(LstmOp { x, start, out, last_cell, cells, gates, layer, n }));
        (out, last_cell)
    }

    /// The same of symbols `[T,B]`, each of which stands for a one-hot row; for evaluation only.
    pub fn lstm_of_symbols(
        &mut self,
        symbols: impl IntoIterator<Item = u32>,
        start: Option<(Var, Var)>,
        layer: Layer,
        n: Recurrence,
    ) -> (Var, Var) {
        assert_eq!(self.mode, Mode::Eval, "an LSTM over symbols has no backward pass");
        let symbols = self.push_symbols(symbols);
        let Forward { out, last_cell, .. } =
            self.lstm_forward(&LstmInputs::Symbols(symbols), start, layer, n);
        (out, last_cell)
    }

    fn lstm_forward(
        &mut self,
        x: &LstmInputs,
        start: Option<(Var, Var)>,
        layer: Layer,
        n: Recurrence,
    ) -> Forward {
        let row = n.batch * n.hidden;
        let out = self.new_tensor((n.steps + 1) * row, true);
        // Right behind the states: the backward pass splits the gradients of both at once.
        let last_cell = self.new_tensor(row, true);
        self.set_state(out, start.map(|(h, _)| h), row);
        self.reuse_saved();
        // Without a backward pass, one block of steps is enough: the kernel reuses it.
        let kept = match self.mode {
            Mode::Eval => n.block::<R>(4).min(n.steps),
            Mode::Train { .. } | Mode::Grad => n.steps,
        };
        let cells = self.tape.saved.take((kept + 1) * row);
        let gates = self.tape.saved.take(kept * 4 * row);
        let (params, tape) = (self.params, &mut *self.tape);
        layer.sum_biases(&mut tape.grad_tmp, params);
        let first_cells = &mut tape.saved.data[cells.start..cells.start + row];
        match start {
            Some((_, c0)) => first_cells.copy_from_slice(&tape.values.data[tape.tensors[c0.index()].range()]),
            None => first_cells.fill(R::ZERO),
        }
        let out_range = tape.tensor(out).range();
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let inputs = match x {
            LstmInputs::Tensor(x) => Inputs::Values(x.over(&before[tape.tensors[x.var.index()].range()])),
            LstmInputs::Symbols(symbols) => Inputs::Symbols(&tape.symbols[symbols.clone()]),
        };
        let (c, g) = tape.saved.data[cells.start..gates.end].split_at_mut(cells.len());
        let weights = layer.weights(params, &tape.grad_tmp[..layer.bias_len()]);
        grow(&mut tape.workspace, n.workspace::<R>(4));
        let states = &mut after[..out_range.len()];
        kernel::lstm(states, c, g, &mut tape.workspace, inputs, weights, n);
        after[out_range.len()..][..row].copy_from_slice(&c[kept * row..]);
        Forward { out, last_cell, cells, gates }
    }
}

impl LstmOp {
    /// The gradients of both weights, to be computed later: the kernel turns `gates` into the gradients of the sums.
    fn deferred(&self, x: Tensor, out: Tensor) -> [DeferredGrad; 2] {
        let (n, count) = (self.n, self.n.steps * self.n.batch);
        let states = out.start..out.start + count * n.hidden;
        let both = [(self.layer.input, x.range(), n.input), (self.layer.hidden, states, n.hidden)];
        both.map(|(weight, inputs, width)| {
            let (grads, inputs) = (ArenaRows::Saved(self.gates.clone()), ArenaRows::Values(inputs));
            DeferredGrad { weight, grads, inputs, count, width }
        })
    }
}

impl Operation for LstmOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let &Self { layer, n, ref cells, ref gates, .. } = self;
        let (x, out) = (tape.tensor(self.x.var), tape.output(self.out));
        let last = tape.output(self.last_cell);
        tape.bias_sum(layer, params);
        let into = tape.accumulate(layer);
        // Through a mask the inputs are not in any arena, so their product cannot wait.
        let defer = tape.repeated(layer.hidden) && self.x.mask.keeps_all();
        // The gradient of the last cells lies right behind that of the states.
        let (before, dc) = tape.gradients.split_at_mut(last.start);
        let (dx, dout) = in_out_grads(before, &mut tape.grad_tmp, x, out);
        let (w, mut dw) = layer.weights_and_grads(params, dparams, &mut tape.scratch, into);
        if defer {
            (dw.input, dw.hidden) = (&mut [], &mut []);
            tape.deferred.extend(self.deferred(x, out));
        }
        let (c, g) = tape.saved.data[cells.start..gates.end].split_at_mut(cells.len());
        let (h, inputs) = (&tape.values.data[out.range()], self.x.over(&tape.values.data[x.range()]));
        grow(&mut tape.workspace, n.workspace::<R>(4));
        let (dc, workspace) = (&mut dc[..last.len], &mut tape.workspace);
        kernel::lstm_backward(dx, dout, dc, dw, g, workspace, h, c, inputs, w, n);
        tape.finish_grad(self.x.var);
        tape.add_bias_grads(layer, dparams);
        if let Some((h0, c0)) = self.start {
            tape.copy_grad(h0, out.start);
            tape.copy_grad(c0, last.start);
        }
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        self.layer.params(visit);
    }

    fn overwrites(&self) -> Option<Layer> {
        Some(self.layer)
    }

    fn defers(&self) -> Option<Param> {
        Some(self.layer.hidden)
    }
}
