//! A simple recurrent network that reads the top of a stack as part of its input (Joulin and Mikolov 2015, in the form of
//! Delétang et al. 2023 and Someya et al. 2024). With `m` the stack (zero at first) and `m₀` its top, a step is
//!
//! ```text
//! h' = tanh(x + m₀·Wᵣᵀ + h·Wₕᵀ + b)   x is what the symbol adds to the sums
//! a = softmax(h'·Wₐᵀ + bₐ)             the shares of push, pop and no-op
//! v = h'·Wᵥᵀ + bᵥ                      the new element, without a non-linearity
//! m' = the stack moved by a, with a₀·v on top
//! ```
//!
//! As in [the other networks with a memory](super), only rows that can be other than zero are held.

use super::super::packed::{self, PackedWeight};
use super::super::{
    Accumulate, Activation, Mat, Real, activate, activate_backward, add, column_sums, linear, matmul,
};
use super::cut;
use super::gate::{gate, gate_backward};
use super::memory::{Chosen, MemoryBackward, MemoryKind, MemoryStep};

const STACK: MemoryKind = MemoryKind::RestingStack;

/// The number of actions.
const ACTIONS: usize = 3;

/// Rows between product and activation: few enough to be still in the first-level cache.
const AT_ONCE: usize = 4 * packed::ROWS;

/// The sizes of a network with a stack in its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackRnn {
    pub steps: usize,
    pub batch: usize,
    pub hidden: usize,
    /// Rows of the stack, at least one.
    pub rows: usize,
    /// `M`, elements per row.
    pub width: usize,
    /// Steps that were taken before, which fill the stack.
    pub taken: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct StackRnnWeights<'a, R> {
    pub hidden: &'a [R],
    pub bias: &'a [R],
    pub read: &'a [R],
    pub action: (&'a [R], &'a [R]),
    pub element: (&'a [R], &'a [R]),
}

/// Where their gradients are added.
#[derive(Debug)]
pub struct StackRnnGradients<'a, R> {
    pub hidden: &'a mut [R],
    pub bias: &'a mut [R],
    pub read: &'a mut [R],
    pub action: (&'a mut [R], &'a mut [R]),
    pub element: (&'a mut [R], &'a mut [R]),
}

impl StackRnn {
    /// Elements held of one stack after `steps` steps of this sequence.
    pub fn held(&self, steps: usize) -> usize {
        STACK.extent(self.rows, self.taken + steps).held() * self.width
    }

    /// Elements that the forward pass saves for the backward pass (`keep`), or else the workspace it needs.
    pub fn trace(&self, keep: bool) -> usize {
        self.lengths(keep).iter().sum()
    }

    /// Elements of workspace that the backward pass needs.
    pub fn scratch(&self) -> usize {
        self.back_lengths().iter().sum()
    }

    /// Where the stacks `[B,held,M]` are in a trace: those before the first step, which the caller sets unless they are
    /// empty, or after the last.
    pub fn memory(&self, keep: bool, last: bool) -> std::ops::Range<usize> {
        let [.., memories] = self.lengths(keep);
        let end = self.trace(keep);
        let held = self.batch * self.held(if last { self.steps } else { 0 });
        let start = match (last, keep) {
            (true, true) => end - held,
            (true, false) if self.steps % 2 == 1 => end - memories / 2,
            _ => end - memories,
        };
        start..start + held
    }

    /// The lengths of actions, elements, tops, workspace and stacks in a trace.
    fn lengths(&self, keep: bool) -> [usize; 5] {
        let kept = if keep { self.steps } else { 1 };
        let memories =
            if keep { (0..=self.steps).map(|t| self.held(t)).sum() } else { 2 * self.held(self.steps) };
        let (actions, elements) = (kept * self.batch * ACTIONS, kept * self.batch * self.width);
        [actions, elements, elements, self.workspace(), self.batch * memories]
    }

    /// Elements of packed weights.
    fn workspace(&self) -> usize {
        packed::workspace(self.batch, self.hidden, self.hidden)
    }

    /// The lengths of packed weights, of the gradients of a string's actions and element, of those of tops, and of those of the
    /// stacks after and before.
    fn back_lengths(&self) -> [usize; 5] {
        let memory = self.batch * self.held(self.steps);
        [self.workspace(), ACTIONS + self.width, self.batch * self.width, memory, memory]
    }

    fn step_of(&self, t: usize) -> MemoryStep {
        let extent = |t| STACK.extent(self.rows, self.taken + t);
        MemoryStep { device: STACK, before: extent(t), after: extent(t + 1) }
    }
}

/// All steps from the state in `h[0]`; `h` is `[T+1,B,H]`, `x` is `[T,B,H]`. With `keep`, `trace` is saved for the backward pass;
/// [`StackRnn::trace`] is its length, [`StackRnn::memory`] where the stacks are in it.
pub fn stack_rnn<R: Real>(
    h: &mut [R],
    trace: &mut [R],
    x: &[R],
    w: StackRnnWeights<'_, R>,
    n: &StackRnn,
    keep: bool,
) {
    let (batch, hidden, d) = (n.batch, n.hidden, n.width);
    let row = batch * hidden;
    let [actions, elements, tops, workspace, memories] = cut(trace, n.lengths(keep));
    // Packed once for all steps. The other weights are too narrow to gain from it.
    let (w_hidden, _) = PackedWeight::new(Mat::new(w.hidden, hidden, hidden).t(), batch, workspace);
    let mut start = 0;
    for t in 0..n.steps {
        let (k, held, new_held) = (if keep { t } else { 0 }, n.held(t), n.held(t + 1));
        let (old, new) = if keep {
            memories[start..start + batch * (held + new_held)].split_at_mut(batch * held)
        } else {
            let (one, two) = memories.split_at_mut(memories.len() / 2);
            if t % 2 == 0 { (one, two) } else { (two, one) }
        };
        start += batch * held;
        // Sums are added up where the state goes, beginning with what the symbol adds to them.
        let (before, state) = h[t * row..(t + 2) * row].split_at_mut(row);
        state.copy_from_slice(&x[t * row..][..row]);
        let tops = &mut tops[k * batch * d..][..batch * d];
        if held > 0 {
            // Copied, although they could be read in place: the backward pass then takes one product for all
            // steps.
            for (top, old) in tops.chunks_exact_mut(d).zip(old.chunks_exact(held)) {
                top.copy_from_slice(&old[..d]);
            }
            matmul(state, Accumulate::Add, Mat::new(tops, batch, d), Mat::new(w.read, hidden, d).t());
        } else {
            tops.fill(R::ZERO);
        }
        let rows = state.chunks_mut(AT_ONCE * hidden).zip(before.chunks(AT_ONCE * hidden));
        for (state, before) in rows {
            w_hidden.product(state, Accumulate::Add, before);
            activate(state, w.bias, Activation::Tanh);
        }
        let actions = &mut actions[k * batch * ACTIONS..][..batch * ACTIONS];
        let elements = &mut elements[k * batch * d..][..batch * d];
        linear(actions, state, w.action.0, w.action.1, hidden, Activation::Identity);
        gate(actions, &[], R::ONE, ACTIONS);
        linear(elements, state, w.element.0, w.element.1, hidden, Activation::Identity);
        let step = n.step_of(t);
        for (b, (actions, element)) in actions.chunks_exact(ACTIONS).zip(elements.chunks_exact(d)).enumerate()
        {
            let (new, old) = (&mut new[b * new_held..][..new_held], &old[b * held..][..held]);
            step.forward(new, old, element, &STACK.shares(actions));
        }
    }
}

/// The backward pass. `dh[T+1,B,H]` comes in as the gradient of every state and is overwritten, as is what the forward pass
/// saved in `trace`; `dx[T,B,H]` is overwritten; `scratch` has [`StackRnn::scratch`] elements.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn stack_rnn_backward<R: Real>(
    dx: &mut [R],
    dh: &mut [R],
    dw: StackRnnGradients<'_, R>,
    trace: &mut [R],
    scratch: &mut [R],
    h: &[R],
    w: StackRnnWeights<'_, R>,
    n: &StackRnn,
) {
    let (steps, batch, hidden, d) = (n.steps, n.batch, n.hidden, n.width);
    let row = batch * hidden;
    let [actions, elements, tops, _, memories] = cut(trace, n.lengths(true));
    let [workspace, parts, dtops, mut dnew, mut dold] = cut(scratch, n.back_lengths());
    let (w_hidden, _) = PackedWeight::new(Mat::new(w.hidden, hidden, hidden), batch, workspace);
    dnew.fill(R::ZERO);
    let mut end = memories.len() - batch * n.held(steps);
    for t in (0..steps).rev() {
        let held = n.held(t);
        let old = &memories[end - batch * held..end];
        end -= old.len();
        let actions = &mut actions[t * batch * ACTIONS..][..batch * ACTIONS];
        let elements = &mut elements[t * batch * d..][..batch * d];
        let chosen = Chosen { actions: &mut *actions, elements: &mut *elements };
        stacks_back(MemoryBackward { old, dnew, dold }, chosen, parts, n, t);
        let (before, after) = dh[t * row..(t + 2) * row].split_at_mut(row);
        matmul(
            after,
            Accumulate::Add,
            Mat::new(actions, batch, ACTIONS),
            Mat::new(w.action.0, ACTIONS, hidden),
        );
        matmul(after, Accumulate::Add, Mat::new(elements, batch, d), Mat::new(w.element.0, d, hidden));
        let states = h[(t + 1) * row..(t + 2) * row].chunks(AT_ONCE * hidden);
        let rows = before.chunks_mut(AT_ONCE * hidden).zip(after.chunks_mut(AT_ONCE * hidden));
        for ((before, after), states) in rows.zip(states) {
            activate_backward(after, states, Activation::Tanh);
            w_hidden.product(before, Accumulate::Add, after);
        }
        if held > 0 {
            matmul(dtops, Accumulate::Set, Mat::new(after, batch, hidden), Mat::new(w.read, hidden, d));
            for (dold, dtop) in dold.chunks_exact_mut(held).zip(dtops.chunks_exact(d)) {
                add(&mut dold[..d], dtop);
            }
        }
        std::mem::swap(&mut dnew, &mut dold);
    }
    // The steps have turned states, actions and elements into the gradients of their sums.
    let dsums = &dh[row..];
    dx.copy_from_slice(dsums);
    column_sums(dw.bias, dsums);
    let dsums = Mat::new(dsums, steps * batch, hidden).t();
    matmul(dw.hidden, Accumulate::Add, dsums, Mat::new(&h[..steps * row], steps * batch, hidden));
    matmul(dw.read, Accumulate::Add, dsums, Mat::new(tops, steps * batch, d));
    let states = Mat::new(&h[row..], steps * batch, hidden);
    for ((dweight, dbias), dsums) in [(dw.action, &*actions), (dw.element, &*elements)] {
        matmul(dweight, Accumulate::Add, Mat::new(dsums, steps * batch, dbias.len()).t(), states);
        column_sums(dbias, dsums);
    }
}

/// Backward through the moves of step `t`: actions and elements become the gradients of the sums they were computed from.
fn stacks_back<R: Real>(
    stacks: MemoryBackward<'_, R>,
    chosen: Chosen<'_, R>,
    workspace: &mut [R],
    n: &StackRnn,
    t: usize,
) {
    let MemoryBackward { old, dnew, dold } = stacks;
    let (held, new_held, step) = (n.held(t), n.held(t + 1), n.step_of(t));
    let (dactions, delement) = workspace.split_at_mut(ACTIONS);
    let Chosen { actions, elements } = chosen;
    let actions = actions.chunks_exact_mut(ACTIONS);
    for (b, (actions, element)) in actions.zip(elements.chunks_exact_mut(n.width)).enumerate() {
        let (dold, old) = (&mut dold[b * held..][..held], &old[b * held..][..held]);
        let (dnew, shares) = (&dnew[b * new_held..][..new_held], STACK.shares(actions));
        let dshares = step.backward(MemoryBackward { old, dnew, dold }, delement, element, &shares);
        STACK.actions_backward(dactions, &dshares);
        gate_backward(actions, dactions, R::ONE);
        element.copy_from_slice(delement);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{check_finite_differences, close, close_single, dot, singles, values};
    use super::*;

    fn lengths(n: &StackRnn) -> [usize; 7] {
        let (h, d) = (n.hidden, n.width);
        [h * h, h, h * d, ACTIONS * h, ACTIONS, d * h, d]
    }

    fn weights<'a, R>(p: &'a [R], n: &StackRnn) -> StackRnnWeights<'a, R> {
        let mut rest = p;
        let [hidden, bias, read, a, ab, e, eb] = lengths(n).map(|len| {
            let (part, after) = rest.split_at(len);
            rest = after;
            part
        });
        StackRnnWeights { hidden, bias, read, action: (a, ab), element: (e, eb) }
    }

    /// From stacks that `taken` steps filled with something.
    fn run(n: &StackRnn, x: &[f64], p: &[f64], keep: bool) -> (Vec<f64>, Vec<f64>) {
        let mut h = values(3, (n.steps + 1) * n.batch * n.hidden);
        let mut trace = vec![f64::NAN; n.trace(keep)];
        let first = n.memory(keep, false);
        let start = values(4, first.len());
        trace[first].copy_from_slice(&start);
        stack_rnn(&mut h, &mut trace, x, weights(p, n), n, keep);
        (h, trace)
    }

    fn shapes() -> impl Iterator<Item = StackRnn> {
        // Stacks that stay apart from their end, that fill up on the way, and that are full from the start.
        [(0, 40), (0, 3), (2, 4), (5, 3), (0, 1)].into_iter().map(|(taken, rows)| StackRnn {
            steps: 6,
            batch: 2,
            hidden: 4,
            rows,
            width: 3,
            taken,
        })
    }

    fn affine((weight, bias): (&[f64], &[f64]), x: &[f64]) -> Vec<f64> {
        weight.chunks(x.len()).zip(bias).map(|(row, b)| dot(row, x) + b).collect()
    }

    /// One string, with every row of the stack.
    fn naive(n: &StackRnn, x: &[f64], p: &[f64], b: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (w, held) = (weights(p, n), n.held(0));
        let mut stack = vec![vec![0.0; n.width]; n.rows];
        let start = values(4, n.batch * held);
        for (row, known) in stack.iter_mut().zip(start[b * held..][..held].chunks(n.width)) {
            row.copy_from_slice(known);
        }
        let first = values(3, (n.steps + 1) * n.batch * n.hidden);
        let mut h = first[b * n.hidden..][..n.hidden].to_vec();
        for t in 0..n.steps {
            let x = &x[(t * n.batch + b) * n.hidden..][..n.hidden];
            let (from_state, from_top) =
                (affine((w.hidden, w.bias), &h), affine((w.read, &vec![0.0; n.hidden]), &stack[0]));
            h = (0..n.hidden).map(|u| libm::tanh(x[u] + from_state[u] + from_top[u])).collect();
            let scores: Vec<f64> = affine(w.action, &h).into_iter().map(libm::exp).collect();
            let share = |a: usize| scores[a] / scores.iter().sum::<f64>();
            let element = affine(w.element, &h);
            let zero = vec![0.0; n.width];
            stack = (0..n.rows)
                .map(|i| {
                    let pushed = if i == 0 { &element } else { &stack[i - 1] };
                    let popped = stack.get(i + 1).unwrap_or(&zero);
                    let at = |j: usize| share(0) * pushed[j] + share(1) * popped[j] + share(2) * stack[i][j];
                    (0..n.width).map(at).collect()
                })
                .collect();
        }
        (h, stack)
    }

    #[test]
    fn equals_the_definition_with_and_without_a_backward_pass() {
        for (seed, n) in shapes().enumerate() {
            let x = values(seed as u64, n.steps * n.batch * n.hidden);
            let p = values(seed as u64 + 9, lengths(&n).iter().sum());
            for keep in [true, false] {
                let (h, trace) = run(&n, &x, &p, keep);
                let stacks = &trace[n.memory(keep, true)];
                let held = n.held(n.steps);
                for b in 0..n.batch {
                    let (state, stack) = naive(&n, &x, &p, b);
                    close(&h[(n.steps * n.batch + b) * n.hidden..][..n.hidden], &state, 1e-12);
                    close(&stacks[b * held..][..held], &stack.concat()[..held], 1e-12);
                }
            }
        }
    }

    #[test]
    fn single_precision_is_close_whatever_the_width() {
        let sizes = [(4, 3), (7, 8), (9, 1), (33, 9)];
        for (n, (hidden, width)) in shapes().flat_map(|n| sizes.map(|size| (n, size))) {
            let n = StackRnn { batch: 7, hidden, width, ..n };
            let x = values(1, n.steps * n.batch * hidden);
            // As large as weights are at the start of training.
            let scale = 1.0 / (hidden as f64).sqrt();
            let p: Vec<f64> = values(2, lengths(&n).iter().sum()).iter().map(|p| scale * p).collect();
            let (h, trace) = run(&n, &x, &p, true);
            let (mut h32, mut trace32) = (singles(&h), vec![f32::NAN; trace.len()]);
            h32[n.batch * hidden..].fill(f32::NAN);
            let first = n.memory(true, false);
            trace32[first.clone()].copy_from_slice(&singles(&trace[first]));
            stack_rnn(&mut h32, &mut trace32, &singles(&x), weights(&singles(&p), &n), &n, true);
            close_single(&h32, &h, 1e-5);
            let last = n.memory(true, true);
            close_single(&trace32[last.clone()], &trace[last], 1e-5);
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        for (seed, n) in shapes().enumerate() {
            let x = values(seed as u64, n.steps * n.batch * n.hidden);
            let p = values(seed as u64 + 9, lengths(&n).iter().sum());
            let (h, mut trace) = run(&n, &x, &p, true);
            let g = values(7, h.len());
            let (mut dx, mut dh, mut dp) = (vec![9.0; x.len()], g.clone(), vec![0.0; p.len()]);
            let mut scratch = vec![f64::NAN; n.scratch()];
            let [hidden, bias, read, a, ab, e, eb] = cut(&mut dp, lengths(&n));
            let dw = StackRnnGradients { hidden, bias, read, action: (a, ab), element: (e, eb) };
            stack_rnn_backward(&mut dx, &mut dh, dw, &mut trace, &mut scratch, &h, weights(&p, &n), &n);
            check_finite_differences(&x, &dx, |x| dot(&run(&n, x, &p, false).0, &g));
            check_finite_differences(&p, &dp, |p| dot(&run(&n, &x, p, false).0, &g));
        }
    }
}
