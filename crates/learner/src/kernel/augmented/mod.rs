//! A recurrent network with an external memory, over a whole sequence: the Stack-RNN, the Stack-LSTM and the Baby-NTM of
//! Suzgun et al. 2019. With `m` the memory (zero at first) and `m₀` its first row, a step is
//!
//! ```text
//! h̄ = h + m₀·Wᵣᵀ + bᵣ                  the memory is read into the state (for an LSTM into h alone)
//! h' = RNN(x, h̄) or LSTM(x, h̄, c)
//! a = softmax((h'·Wₐᵀ + bₐ + noise)/T)  the share of each action
//! v = σ(h'·Wᵥᵀ + bᵥ)                    the new element
//! m' = the memory moved by a, v written to its first row
//! ```
//!
//! Only rows that can be other than zero are held ([`Augmented::held`]), so a step costs as much as the rows reached so far,
//! at most [`Augmented::rows`]. No weight depends on the number of rows.

mod backward;
mod gate;
mod memory;
mod stack_rnn;
#[cfg(test)]
mod tests;

pub use backward::augmented_backward;
pub use memory::MemoryKind;
pub use stack_rnn::{StackRnn, StackRnnGradients, StackRnnWeights, stack_rnn, stack_rnn_backward};

use gate::gate;
use memory::MemoryStep;

use super::{
    Accumulate, Activation, Inputs, Mat, Real, Recurrence, RecurrentGradients, RecurrentWeights, activate,
    linear, lstm, matmul, rnn,
};

/// The sizes and the kind of a network with a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Augmented {
    /// `T`, `B`, `I`, `H`.
    pub recurrence: Recurrence,
    /// Whether the network is an LSTM rather than a simple RNN.
    pub lstm: bool,
    /// Which actions the memory has.
    pub device: MemoryKind,
    /// Rows of the memory, at least one.
    pub rows: usize,
    /// `M`, elements per row.
    pub width: usize,
}

/// The parameters; `A` is the number of actions.
#[derive(Clone, Copy, Debug)]
pub struct AugmentedWeights<'a, R> {
    pub network: RecurrentWeights<'a, R>,
    pub read: (&'a [R], &'a [R]),
    pub action: (&'a [R], &'a [R]),
    pub element: (&'a [R], &'a [R]),
    /// The temperature of the softmax over actions.
    pub temperature: R,
}

/// Where their gradients go. The temperature has none.
#[derive(Debug)]
pub struct AugmentedGradients<'a, R> {
    pub network: RecurrentGradients<'a, R>,
    pub read: (&'a mut [R], &'a mut [R]),
    pub action: (&'a mut [R], &'a mut [R]),
    pub element: (&'a mut [R], &'a mut [R]),
}

/// The buffers of one step.
#[derive(Debug)]
pub struct AugmentedStep<'a, R> {
    /// `[2,B,H]`: the state before, to which the read-out of the memory is added, and the state after.
    pub states: &'a mut [R],
    /// `[2,B,H]`: the cells of an LSTM before and after; else empty.
    pub cells: &'a mut [R],
    /// `[B,4H]` for an LSTM, else empty.
    pub gates: &'a mut [R],
    pub actions: &'a mut [R],
    pub elements: &'a mut [R],
    pub workspace: &'a mut [R],
    /// The memories before, `[B,held,M]`.
    pub before: &'a [R],
    /// The memories after, `[B,held,M]`.
    pub after: &'a mut [R],
}

impl Augmented {
    /// Elements held of one memory after `steps` steps.
    pub fn held(&self, steps: usize) -> usize {
        self.device.extent(self.rows, steps).held() * self.width
    }

    /// The inverse of [`Augmented::held`]: after how many steps so many elements are held (any such count, if all rows are).
    pub fn steps(&self, held: usize) -> usize {
        self.device.steps(self.rows, held / self.width)
    }

    /// Elements of workspace that each step needs.
    pub fn workspace<R>(&self) -> usize {
        self.one_step().workspace::<R>(if self.lstm { 4 } else { 1 })
    }

    /// Elements that the forward pass saves for the backward pass (`keep`), or else the workspace it needs.
    pub fn trace<R>(&self, keep: bool) -> usize {
        self.lengths::<R>(keep).iter().sum()
    }

    /// Elements of workspace that the backward pass needs.
    pub fn scratch(&self) -> usize {
        self.back_lengths().iter().sum()
    }

    /// The lengths of states, cells, gates, actions, elements, workspace and memories in a trace.
    fn lengths<R>(&self, keep: bool) -> [usize; 7] {
        let Recurrence { steps, batch, hidden, .. } = self.recurrence;
        let (kept, row, lstm) = (if keep { steps } else { 1 }, batch * hidden, usize::from(self.lstm));
        // Each memory is saved with as many rows as could be reached by then.
        let memories = if keep { (0..=steps).map(|t| self.held(t)).sum() } else { 2 * self.held(steps) };
        [
            2 * kept * row,
            lstm * (kept + 1) * row,
            lstm * kept * 4 * row,
            kept * batch * self.device.actions(),
            kept * batch * self.width,
            self.workspace::<R>(),
            batch * memories,
        ]
    }

    /// The lengths of the gradients of a step's states, of cells, of actions and elements, and of the memories after and before.
    fn back_lengths(&self) -> [usize; 5] {
        let Recurrence { steps, batch, hidden, .. } = self.recurrence;
        let (row, memory) = (batch * hidden, batch * self.held(steps));
        [2 * row, row, self.device.actions() + batch.max(1) * self.width, memory, memory]
    }

    fn one_step(&self) -> Recurrence {
        Recurrence { steps: 1, ..self.recurrence }
    }

    fn step_of(&self, t: usize) -> MemoryStep {
        let extent = |t| self.device.extent(self.rows, t);
        MemoryStep { device: self.device, before: extent(t), after: extent(t + 1) }
    }
}

/// Cuts a buffer into parts of given lengths.
fn cut<R, const N: usize>(mut workspace: &mut [R], lengths: [usize; N]) -> [&mut [R]; N] {
    lengths.map(|len| {
        let (part, rest) = std::mem::take(&mut workspace).split_at_mut(len);
        workspace = rest;
        part
    })
}

/// Step `t` (from 0) of every string.
pub fn augmented_step<R: Real>(
    step: AugmentedStep<'_, R>,
    x: &[R],
    noise: &[R],
    w: AugmentedWeights<'_, R>,
    n: &Augmented,
    t: usize,
) {
    let Recurrence { batch, hidden, .. } = n.recurrence;
    let (d, held) = (n.width, n.held(t));
    let AugmentedStep { states, cells, gates, actions, elements, workspace, before, after } = step;
    let state = &mut states[..batch * hidden];
    if held > 0 {
        // The first rows of all strings, a memory apart, are read in place.
        let first_rows = Mat::strided(before, batch, d, held);
        matmul(state, Accumulate::Add, first_rows, Mat::new(w.read.0, hidden, d).t());
    }
    activate(state, w.read.1, Activation::Identity);
    // One step at a time: the state that enters depends on the memory, so no product spans steps.
    if n.lstm {
        lstm(states, cells, gates, workspace, Inputs::Values(x.into()), w.network, n.one_step());
    } else {
        rnn(states, workspace, x.into(), w.network, n.one_step(), Activation::Tanh);
    }
    let state = &states[batch * hidden..];
    linear(actions, state, w.action.0, w.action.1, hidden, Activation::Identity);
    gate(actions, noise, w.temperature, n.device.actions());
    linear(elements, state, w.element.0, w.element.1, hidden, Activation::Sigmoid);
    let chosen = actions.chunks_exact(n.device.actions()).zip(elements.chunks_exact(d));
    let new_held = n.held(t + 1);
    for (b, (actions, element)) in chosen.enumerate() {
        let (new, old) = (&mut after[b * new_held..][..new_held], &before[b * held..][..held]);
        n.step_of(t).forward(new, old, element, &n.device.shares(actions));
    }
}

/// All steps, from a memory of zeros and from the state in `h[0]` (an LSTM's cells are zero); `h` is `[T+1,B,H]`. `noise` is
/// `[T,B,A]`, or empty. With `keep`, `trace` is saved for the backward pass; [`Augmented::trace`] is its length.
pub fn augmented<R: Real>(
    h: &mut [R],
    trace: &mut [R],
    x: &[R],
    noise: &[R],
    w: AugmentedWeights<'_, R>,
    n: &Augmented,
    keep: bool,
) {
    let Recurrence { steps, batch, input, hidden } = n.recurrence;
    let row = batch * hidden;
    let [states, cells, gates, actions, elements, workspace, memories] = cut(trace, n.lengths::<R>(keep));
    cells[..row * usize::from(n.lstm)].fill(R::ZERO);
    let (per_actions, per_elements) = (batch * n.device.actions(), batch * n.width);
    let mut start = 0;
    for t in 0..steps {
        let (k, held, new_held) = (if keep { t } else { 0 }, batch * n.held(t), batch * n.held(t + 1));
        let (before, after) = if keep {
            memories[start..start + held + new_held].split_at_mut(held)
        } else {
            // Without a backward pass two memories take turns.
            let (one, two) = memories.split_at_mut(memories.len() / 2);
            if t % 2 == 0 { (one, two) } else { (two, one) }
        };
        let states = &mut states[2 * k * row..][..2 * row];
        states[..row].copy_from_slice(&h[t * row..][..row]);
        let step = AugmentedStep {
            states: &mut *states,
            cells: if n.lstm { &mut cells[k * row..][..2 * row] } else { &mut [] },
            gates: if n.lstm { &mut gates[4 * k * row..][..4 * row] } else { &mut [] },
            actions: &mut actions[k * per_actions..][..per_actions],
            elements: &mut elements[k * per_elements..][..per_elements],
            workspace: &mut *workspace,
            before: &before[..held],
            after: &mut after[..new_held],
        };
        let noise = if noise.is_empty() { noise } else { &noise[t * per_actions..][..per_actions] };
        augmented_step(step, &x[t * batch * input..][..batch * input], noise, w, n, t);
        h[(t + 1) * row..][..row].copy_from_slice(&states[row..]);
        if n.lstm && !keep {
            cells.copy_within(row..2 * row, 0);
        }
        start += held;
    }
}
