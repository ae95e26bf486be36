//! The backward pass of a network with a memory.

use super::super::rnn::first_into;
use super::super::{
    Accumulate, Activation, Mat, Real, Recurrence, RecurrentGradients, activate_backward, add, column_sums,
    lstm_backward, matmul, rnn_backward,
};
use super::gate::gate_backward;
use super::memory::{Chosen, MemoryBackward};
use super::{Augmented, AugmentedGradients, AugmentedWeights, cut};

/// The backward pass. `dh[T+1,B,H]` comes in as the gradient of every state and is overwritten, as is what the forward pass
/// saved in `trace`; `scratch` has [`Augmented::scratch`] elements. `dx` may be empty if it is not required.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn augmented_backward<R: Real>(
    dx: &mut [R],
    dh: &mut [R],
    mut dw: AugmentedGradients<'_, R>,
    trace: &mut [R],
    scratch: &mut [R],
    h: &[R],
    x: &[R],
    w: AugmentedWeights<'_, R>,
    n: &Augmented,
) {
    let Recurrence { steps, batch, input, hidden } = n.recurrence;
    let (row, a, d) = (batch * hidden, n.device.actions(), n.width);
    let [states, cells, gates, actions, elements, weights, memories] = cut(trace, n.lengths::<R>(true));
    let [dstates, dcells, workspace, mut dnew, mut dold] = cut(scratch, n.back_lengths());
    dcells.fill(R::ZERO);
    dnew.fill(R::ZERO);
    let network = &mut dw.network;
    network.into = first_into(network.into, n.recurrence, network.input, network.hidden);
    let mut end = memories.len() - batch * n.held(steps);
    for t in (0..steps).rev() {
        // Memories grow from step to step and lie one after the other, so their places are found from the
        // end.
        let old = &memories[end - batch * n.held(t)..end];
        end -= old.len();
        let actions = &mut actions[t * batch * a..][..batch * a];
        let elements = &mut elements[t * batch * d..][..batch * d];
        // Through the memory first: its action and element were computed from the state after the step, and
        // add to the gradient of that state before the network passes it on.
        let chosen = Chosen { actions: &mut *actions, elements: &mut *elements };
        memories_back(MemoryBackward { old, dnew, dold }, chosen, workspace, w.temperature, n, t);

        let (dh_before, dh_after) = dh[t * row..(t + 2) * row].split_at_mut(row);
        matmul(dh_after, Accumulate::Add, Mat::new(actions, batch, a), Mat::new(w.action.0, a, hidden));
        matmul(dh_after, Accumulate::Add, Mat::new(elements, batch, d), Mat::new(w.element.0, d, hidden));
        dstates[..row].fill(R::ZERO);
        dstates[row..].copy_from_slice(dh_after);
        let inputs = t * batch * input..(t + 1) * batch * input;
        let dx = if dx.is_empty() { &mut [] } else { &mut dx[inputs.clone()] };
        let (states, x) = (&states[2 * t * row..][..2 * row], &x[inputs]);
        if n.lstm {
            let (gates, cells) = (&mut gates[4 * t * row..][..4 * row], &cells[t * row..][..2 * row]);
            let into = reborrow(&mut dw.network);
            lstm_backward(
                dx,
                dstates,
                dcells,
                into,
                gates,
                weights,
                states,
                cells,
                x.into(),
                w.network,
                n.one_step(),
            );
        } else {
            let into = reborrow(&mut dw.network);
            rnn_backward(
                dx,
                dstates,
                weights,
                into,
                states,
                x.into(),
                w.network,
                n.one_step(),
                Activation::Tanh,
            );
        }
        add(dh_before, &dstates[..row]);
        read_back(dold, workspace, &mut dw, &dstates[..row], old, w.read.0, n);
        // The gradients of two memories are enough: those before this step are those after the one before.
        std::mem::swap(&mut dnew, &mut dold);
    }
    // The steps have turned actions and elements into the gradients of their sums.
    let states = Mat::new(&h[row..], steps * batch, hidden);
    for ((dweight, dbias), dsums) in [(dw.action, &*actions), (dw.element, &*elements)] {
        matmul(dweight, Accumulate::Add, Mat::new(dsums, steps * batch, dbias.len()).t(), states);
        column_sums(dbias, dsums);
    }
}

/// The gradients for one more step; all later steps add.
fn reborrow<'a, R>(dw: &'a mut RecurrentGradients<'_, R>) -> RecurrentGradients<'a, R> {
    let into = std::mem::replace(&mut dw.into, Accumulate::Add);
    RecurrentGradients { into, input: dw.input, hidden: dw.hidden, bias: dw.bias }
}

/// Backward through the moves of step `t`: actions and elements become the gradients of the sums they were computed from.
fn memories_back<R: Real>(
    memories: MemoryBackward<'_, R>,
    chosen: Chosen<'_, R>,
    workspace: &mut [R],
    temperature: R,
    n: &Augmented,
    t: usize,
) {
    let MemoryBackward { old, dnew, dold } = memories;
    let (held, new_held) = (n.held(t), n.held(t + 1));
    let (dactions, delement) = workspace.split_at_mut(n.device.actions());
    let delement = &mut delement[..n.width];
    let Chosen { actions, elements } = chosen;
    let actions = actions.chunks_exact_mut(n.device.actions());
    for (b, (actions, element)) in actions.zip(elements.chunks_exact_mut(n.width)).enumerate() {
        let (dold, old) = (&mut dold[b * held..][..held], &old[b * held..][..held]);
        let (dnew, shares) = (&dnew[b * new_held..][..new_held], n.device.shares(actions));
        let dshares = n.step_of(t).backward(MemoryBackward { old, dnew, dold }, delement, element, &shares);
        n.device.actions_backward(dactions, &dshares);
        gate_backward(actions, dactions, temperature);
        activate_backward(delement, element, Activation::Sigmoid);
        element.copy_from_slice(delement);
    }
}

/// Backward through the read-out of the first rows: adds to the gradient of the memories.
fn read_back<R: Real>(
    dold: &mut [R],
    workspace: &mut [R],
    dw: &mut AugmentedGradients<'_, R>,
    dstate: &[R],
    old: &[R],
    weight: &[R],
    n: &Augmented,
) {
    let (Recurrence { batch, hidden, .. }, d) = (n.recurrence, n.width);
    column_sums(dw.read.1, dstate);
    let held = old.len() / batch.max(1);
    if held == 0 {
        return;
    }
    let dstate = Mat::new(dstate, batch, hidden);
    matmul(dw.read.0, Accumulate::Add, dstate.t(), Mat::strided(old, batch, d, held));
    let drows = &mut workspace[..batch * d];
    matmul(drows, Accumulate::Set, dstate, Mat::new(weight, hidden, d));
    for (dold, drow) in dold.chunks_exact_mut(held).zip(drows.chunks_exact(d)) {
        add(&mut dold[..d], drow);
    }
}
