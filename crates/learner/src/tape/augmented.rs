//! Networks with an external memory (Stack-RNN, Stack-LSTM, Baby-NTM) over a whole sequence.

use std::ops::Range;

use super::backward::in_out_grads;
use super::op::{Op, Operation};
use super::recurrent::Layer;
use super::{Mode, Recording, Tape, Var, grow};
use crate::kernel::{
    self, Accumulate, Augmented, AugmentedGradients, AugmentedStep, AugmentedWeights, Real,
    RecurrentGradients,
};
use crate::params::Param;
use wug_dataset::Seed;
use wug_language::draw;

/// The parameters of a network with a memory; pairs are a weight and its bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AugmentedLayer {
    /// Of the recurrent network itself.
    pub network: Layer,
    /// Reads the first row into the state: `[H,M]`, `[H]`.
    pub read: (Param, Param),
    /// Chooses actions: `[A,H]`, `[A]`.
    pub action: (Param, Param),
    /// Makes the new element: `[M,H]`, `[M]`.
    pub element: (Param, Param),
    /// The temperature of the softmax over actions, a scalar that gets no gradient; 1 if there is none.
    pub temperature: Option<Param>,
}

impl AugmentedLayer {
    /// Weights and biases beside those of the network.
    fn memory_params(&self) -> [Param; 6] {
        let [read, action, element] = [self.read, self.action, self.element];
        [read.0, read.1, action.0, action.1, element.0, element.1]
    }

    fn weights<'a, R: Real>(&self, params: &'a [R], bias: &'a [R]) -> AugmentedWeights<'a, R> {
        let pair = |(weight, bias): (Param, Param)| (weight.of(params), bias.of(params));
        AugmentedWeights {
            network: self.network.weights(params, bias),
            read: pair(self.read),
            action: pair(self.action),
            element: pair(self.element),
            temperature: self.temperature.map_or(R::ONE, |t| t.of(params)[0]),
        }
    }

    fn gradients<'a, R: Real>(&self, dparams: &'a mut [R], bias: &'a mut [R]) -> AugmentedGradients<'a, R> {
        let [r, rb, a, ab, e, eb] = self.memory_params().map(Param::range);
        let all = [self.network.input.range(), self.network.hidden.range(), r, rb, a, ab, e, eb];
        let [input, hidden, r, rb, a, ab, e, eb] =
            dparams.get_disjoint_mut(all).expect("parameters do not overlap");
        let network = RecurrentGradients { into: Accumulate::Add, input, hidden, bias };
        AugmentedGradients { network, read: (r, rb), action: (a, ab), element: (e, eb) }
    }
}

/// A network with a memory over `x[T,B,I]`; `out[T+1,B,H]`. For `trace`, see [`Augmented::trace`].
#[derive(Clone, Debug)]
pub(super) struct AugmentedOp {
    x: Var,
    out: Var,
    trace: Range<usize>,
    layer: AugmentedLayer,
    n: Augmented,
}

impl<R: Real> Recording<'_, R> {
    /// A network with a memory, from a state and a memory of zeros; returns the states `[T+1,B,H]`. `noise[T,B,A]` is added to
    /// the logits of the actions.
    pub fn augmented(&mut self, x: Var, noise: Option<Var>, layer: AugmentedLayer, n: Augmented) -> Var {
        let row = n.recurrence.batch * n.recurrence.hidden;
        let out = self.new_tensor((n.recurrence.steps + 1) * row, true);
        self.reuse_saved();
        let keep = self.mode != Mode::Eval;
        let trace = self.tape.saved.take(n.trace::<R>(keep));
        let (params, tape) = (self.params, &mut *self.tape);
        layer.network.sum_biases(&mut tape.grad_tmp, params);
        let w = layer.weights(params, &tape.grad_tmp[..layer.network.bias_len()]);
        let [x_range, out_range] = [x, out].map(|var| tape.tensors[var.index()].range());
        let noise = noise.map_or(0..0, |var| tape.tensors[var.index()].range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let h = &mut after[..out_range.len()];
        h[..row].fill(R::ZERO);
        let saved = &mut tape.saved.data[trace.clone()];
        kernel::augmented(h, saved, &before[x_range], &before[noise], w, &n, keep);
        self.push(Op::Augmented(AugmentedOp { x, out, trace, layer, n }));
        out
    }

    /// One step of one string, without a backward pass. `state` is `h`, for an LSTM followed by `c`; both it and `memory`, which
    /// holds the rows in use, are replaced by those after the step.
    pub fn augmented_step(
        &mut self,
        x: Var,
        state: &mut [R],
        memory: &mut Vec<R>,
        layer: AugmentedLayer,
        n: Augmented,
    ) {
        let t = n.steps(memory.len());
        let (h, a, held) = (n.recurrence.hidden, n.device.actions(), n.held(t + 1));
        let (params, tape) = (self.params, &mut *self.tape);
        layer.network.sum_biases(&mut tape.grad_tmp, params);
        let w = layer.weights(params, &tape.grad_tmp[..layer.network.bias_len()]);
        grow(&mut tape.workspace, n.workspace::<R>());
        // In scratch rather than in the arenas: nothing is recorded, however many steps are taken.
        grow(&mut tape.scratch, 8 * h + a + n.width + held);
        let (states, rest) = tape.scratch.split_at_mut(2 * h);
        let (cells, rest) = rest.split_at_mut(2 * h);
        let (gates, rest) = rest.split_at_mut(4 * h);
        let (actions, rest) = rest.split_at_mut(a);
        let (elements, after) = rest.split_at_mut(n.width);
        let after = &mut after[..held];
        let (own, own_cells) = state.split_at_mut(h);
        states[..h].copy_from_slice(own);
        cells[..own_cells.len()].copy_from_slice(own_cells);
        let lstm = usize::from(n.lstm);
        let step = AugmentedStep {
            states: &mut *states,
            cells: &mut cells[..2 * h * lstm],
            gates: &mut gates[..4 * h * lstm],
            actions,
            elements,
            workspace: &mut tape.workspace,
            before: memory,
            after: &mut *after,
        };
        let x = &tape.values.data[tape.tensors[x.index()].range()];
        kernel::augmented_step(step, x, &[], w, &n, t);
        own.copy_from_slice(&states[h..]);
        own_cells.copy_from_slice(&cells[h..][..own_cells.len()]);
        memory.clear();
        memory.extend_from_slice(after);
    }

    /// Gumbel noise in training: `−ln(−ln u)`, drawn from the seed of this step.
    pub fn gumbel(&mut self, len: usize) -> Option<Var> {
        let Mode::Train { seed } = self.mode else { return None };
        let mut rng = Seed::new(seed).derive("gumbel").rng();
        let mut noise = || R::of(-libm::log(-libm::log(1.0 - draw::unit(&mut rng))));
        let out = self.new_tensor(len, false);
        self.values_mut(out).fill_with(&mut noise);
        Some(out)
    }
}

impl Operation for AugmentedOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, params: &[R], dparams: &mut [R]) {
        let &Self { layer, n, .. } = self;
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        tape.bias_sum(layer.network, params);
        let bias = layer.network.bias_len();
        grow(&mut tape.scratch, 2 * bias + n.scratch());
        // The sum of the biases and its gradient are where `bias_sum` has put them; the kernel works behind
        // them.
        let (sums, scratch) = tape.scratch.split_at_mut(2 * bias);
        let (sum, dsum) = sums.split_at_mut(bias);
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        let (w, dw) = (layer.weights(params, sum), layer.gradients(dparams, dsum));
        let [h, inputs] = [out, x].map(|tensor| &tape.values.data[tensor.range()]);
        let trace = &mut tape.saved.data[self.trace.clone()];
        kernel::augmented_backward(dx, dout, dw, trace, scratch, h, inputs, w, &n);
        tape.finish_grad(self.x);
        tape.add_bias_grads(layer.network, dparams);
    }

    fn params(&self, visit: &mut dyn FnMut(Param)) {
        self.layer.network.params(visit);
        self.layer.memory_params().into_iter().for_each(visit);
    }
}
