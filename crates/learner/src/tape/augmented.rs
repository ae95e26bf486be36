//! Networks with a memory over a whole sequence, there and back.

use super::backward::{Pair, pair};
use super::op::{Layer, Op};
use super::recurrent::{bias_len, sum_biases};
use super::{Mode, Recording, Tape, Var, grow};
use crate::kernel::{
    self, Accumulate, Augmented, AugmentedGradients, AugmentedStep, AugmentedWeights, Real,
    RecurrentGradients, RecurrentWeights,
};
use crate::params::Param;
use wug_dataset::Seed;
use wug_language::draw;

/// The parameters of a network with a memory: weights with their biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AugmentedLayer {
    /// Of the network itself.
    pub network: Layer,
    /// How the first row is read: `[H,M]`, `[H]`.
    pub read: (Param, Param),
    /// How actions are chosen: `[A,H]`, `[A]`.
    pub action: (Param, Param),
    /// How the new element is made: `[M,H]`, `[M]`.
    pub element: (Param, Param),
    /// The temperature of the choice, one number that gets no gradient; 1 if there is none.
    pub temperature: Option<Param>,
}

impl AugmentedLayer {
    /// Weights and biases beside those of the network.
    pub(super) fn around(&self) -> [Param; 6] {
        let [read, action, element] = [self.read, self.action, self.element];
        [read.0, read.1, action.0, action.1, element.0, element.1]
    }

    fn weights<'a, R: Real>(&self, params: &'a [R], bias: &'a [R]) -> AugmentedWeights<'a, R> {
        let pair = |(weight, bias): (Param, Param)| (weight.of(params), bias.of(params));
        AugmentedWeights {
            network: RecurrentWeights {
                input: self.network.input.of(params),
                hidden: self.network.hidden.of(params),
                bias,
            },
            read: pair(self.read),
            action: pair(self.action),
            element: pair(self.element),
            temperature: self.temperature.map_or(R::ONE, |t| t.of(params)[0]),
        }
    }

    fn gradients<'a, R: Real>(&self, dparams: &'a mut [R], bias: &'a mut [R]) -> AugmentedGradients<'a, R> {
        let [r, rb, a, ab, e, eb] = self.around().map(Param::range);
        let all = [self.network.input.range(), self.network.hidden.range(), r, rb, a, ab, e, eb];
        let [input, hidden, r, rb, a, ab, e, eb] =
            dparams.get_disjoint_mut(all).expect("parameters do not overlap");
        let network = RecurrentGradients { into: Accumulate::Add, input, hidden, bias };
        AugmentedGradients { network, read: (r, rb), action: (a, ab), element: (e, eb) }
    }
}

impl<R: Real> Recording<'_, R> {
    /// A network with a memory, both zero at first; gives the states `[T+1,B,H]`. Noise is added to what actions are chosen
    /// by, `[T,B,A]`.
    pub fn augmented(&mut self, x: Var, noise: Option<Var>, layer: AugmentedLayer, n: Augmented) -> Var {
        let row = n.recurrence.batch * n.recurrence.hidden;
        let out = self.new_tensor((n.recurrence.steps + 1) * row, true);
        self.forget();
        let keep = self.mode != Mode::Eval;
        let trace = self.tape.saved.take(n.trace::<R>(keep));
        let (params, tape) = (self.params, &mut *self.tape);
        sum_biases(&mut tape.grad_tmp, layer.network, params);
        let w = layer.weights(params, &tape.grad_tmp[..bias_len(layer.network)]);
        let [x_range, out_range] = [x, out].map(|var| tape.tensors[var.0 as usize].range());
        let noise = noise.map_or(0..0, |var| tape.tensors[var.0 as usize].range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let h = &mut after[..out_range.len()];
        h[..row].fill(R::ZERO);
        let saved = &mut tape.saved.data[trace.clone()];
        kernel::augmented(h, saved, (&before[x_range], &before[noise]), w, &n, keep);
        self.push(Op::Augmented { x, out, trace, layer, n });
        out
    }

    /// One step of one string, without a way back. `state` is `h`, of an LSTM also `c`; `memory` holds the rows in use, and
    /// then those after one more step.
    pub fn augmented_step(
        &mut self,
        x: Var,
        (state, memory): (&mut [R], &mut Vec<R>),
        layer: AugmentedLayer,
        n: Augmented,
    ) {
        let t = n.steps(memory.len());
        let (h, a, held) = (n.recurrence.hidden, n.device.actions(), n.held(t + 1));
        let (params, tape) = (self.params, &mut *self.tape);
        sum_biases(&mut tape.grad_tmp, layer.network, params);
        let w = layer.weights(params, &tape.grad_tmp[..bias_len(layer.network)]);
        grow(&mut tape.workspace, n.workspace::<R>());
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
        let x = &tape.values.data[tape.tensors[x.0 as usize].range()];
        kernel::augmented_step(step, x, &[], w, &n, t);
        own.copy_from_slice(&states[h..]);
        own_cells.copy_from_slice(&cells[h..][..own_cells.len()]);
        memory.clear();
        memory.extend_from_slice(after);
    }

    /// Gumbel noise, when learning: `−ln(−ln u)`, drawn from the seed of this step.
    pub fn gumbel(&mut self, len: usize) -> Option<Var> {
        let Mode::Train { seed } = self.mode else { return None };
        let mut rng = Seed::new(seed).derive("gumbel").rng();
        let mut noise = || R::of(-libm::log(-libm::log(1.0 - draw::unit(&mut rng))));
        let out = self.new_tensor(len, false);
        let range = self.tape.tensor(out).range();
        self.tape.values.data[range].fill_with(&mut noise);
        Some(out)
    }
}

impl<R: Real> Tape<R> {
    pub(super) fn augmented_back(&mut self, op: &Op, params: &[R], dparams: &mut [R]) {
        let Op::Augmented { x, out, ref trace, layer, n } = *op else {
            unreachable!("not a network with a memory")
        };
        let (tensor, out) = (self.tensor(x), self.ready(out));
        let bias = self.biases(layer.network, params);
        grow(&mut self.scratch, 2 * bias + n.scratch());
        let (sums, scratch) = self.scratch.split_at_mut(2 * bias);
        let (sum, dsum) = sums.split_at_mut(bias);
        let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
        let (w, dw) = (layer.weights(params, sum), layer.gradients(dparams, dsum));
        let saved = (&self.values.data[out.range()], &self.values.data[tensor.range()]);
        kernel::augmented_backward(dx, dout, dw, &mut self.saved.data[trace.clone()], scratch, saved, w, &n);
        self.settle(x);
        self.spread_biases(layer.network, dparams);
    }
}
