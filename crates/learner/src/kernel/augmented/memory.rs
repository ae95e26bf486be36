//! The external memory: rows that move by one position per step. Every action of a stack or of a Baby-NTM is a move up, a
//! move down or no move, so a step is a weighted sum of three shifted copies of the memory (and of the rows that rotate from
//! one end to the other), plus the new element in the first row. Only rows that can be other than zero are held and touched:
//! the first ones and, for a Baby-NTM, the last ones.

use pulp::Simd;
use serde::{Deserialize, Serialize};

use super::super::Real;
use super::super::simd::{V, dispatch};

/// The kinds of memory (Suzgun et al. 2019, unless another is named).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// Push the new element, or pop. What is pushed beyond the last row is lost.
    Stack,
    /// The same, or do nothing (Joulin and Mikolov 2015).
    RestingStack,
    /// Rotate up, rotate down, rest, move down (the first row becomes zero), move up (the last becomes zero); then, whatever
    /// was chosen, the new element is added to the first row.
    BabyNtm,
}

/// How a row moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowMove {
    Up,
    Down,
    Rest,
    FirstToLast,
    LastToFirst,
}

/// The share of the memory that moves each [`RowMove`], and of the new element that is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveShares<R> {
    ways: [R; 5],
    write: R,
}

impl MemoryKind {
    /// The number of actions.
    pub fn actions(self) -> usize {
        match self {
            Self::Stack => 2,
            Self::RestingStack => 3,
            Self::BabyNtm => 5,
        }
    }

    /// The rows that can be other than zero after `steps` steps.
    pub(super) fn extent(self, rows: usize, steps: usize) -> Extent {
        // Rows move by one per step, from a memory of zeros. The top is reached by the first element. The
        // bottom is reached by a rotation, which has nothing to bring before the second step.
        let bottom = steps.saturating_sub(1);
        match self {
            Self::Stack | Self::RestingStack => Extent { top: steps.min(rows), bottom: 0, rows },
            // Until both ends meet, what is between them is zero.
            Self::BabyNtm if steps + bottom < rows => Extent { top: steps, bottom, rows },
            Self::BabyNtm => Extent { top: rows, bottom: 0, rows },
        }
    }

    /// The inverse: after how many steps `held` rows can be other than zero (any such count, if all rows can).
    pub(super) fn steps(self, rows: usize, held: usize) -> usize {
        match self {
            Self::BabyNtm if held < rows => held.div_ceil(2),
            Self::Stack | Self::RestingStack | Self::BabyNtm => held,
        }
    }

    pub(super) fn shares<R: Real>(self, actions: &[R]) -> MoveShares<R> {
        let a = |action: usize| actions[action];
        match self {
            Self::Stack => {
                // What is pushed moves all rows down by the same share by which the new element is written.
                let (push, pop) = (a(0), a(1));
                MoveShares { ways: [pop, push, R::ZERO, R::ZERO, R::ZERO], write: push }
            }
            Self::RestingStack => {
                let (push, pop, rest) = (a(0), a(1), a(2));
                MoveShares { ways: [pop, push, rest, R::ZERO, R::ZERO], write: push }
            }
            Self::BabyNtm => {
                // A rotation is a move and a row that wraps round. The element is added whatever was chosen,
                // as the authors do.
                let (rotate_up, rotate_down, rest, down, up) = (a(0), a(1), a(2), a(3), a(4));
                let ways = [rotate_up + up, rotate_down + down, rest, rotate_up, rotate_down];
                MoveShares { ways, write: R::ONE }
            }
        }
    }

    /// The gradient of actions, from that of their shares.
    pub(super) fn actions_backward<R: Real>(self, dactions: &mut [R], d: &MoveShares<R>) {
        let [up, down, rest, first_to_last, last_to_first] = d.ways;
        match self {
            Self::Stack => dactions.copy_from_slice(&[down + d.write, up]),
            Self::RestingStack => dactions.copy_from_slice(&[down + d.write, up, rest]),
            Self::BabyNtm => {
                dactions.copy_from_slice(&[up + first_to_last, down + last_to_first, rest, down, up]);
            }
        }
    }
}

/// The first `top` and the last `bottom` of a memory's rows, held side by side in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    top: usize,
    bottom: usize,
    rows: usize,
}

/// `len` rows that move the same way, and where they begin before and after.
struct Flow {
    way: RowMove,
    from: usize,
    to: usize,
    len: usize,
}

impl Extent {
    /// The number of rows held.
    pub(super) fn held(self) -> usize {
        self.top + self.bottom
    }

    /// The index at which a row is held.
    fn place(self, row: usize) -> usize {
        if row < self.top { row } else { self.top + row + self.bottom - self.rows }
    }

    /// The same, or `None` if the row is not held.
    #[cfg(test)]
    pub(super) fn find(self, row: usize) -> Option<usize> {
        (row < self.top || row >= self.rows - self.bottom).then(|| self.place(row))
    }

    /// Visits all moves of rows from here to `after`.
    fn flows(self, device: MemoryKind, after: Self, mut each: impl FnMut(Flow)) {
        let (rows, rests) = (self.rows, device != MemoryKind::Stack);
        let turns = device == MemoryKind::BabyNtm;
        for (start, end) in [(0, self.top), (rows - self.bottom, rows)] {
            let mut flow = |way, from: usize, to: usize, len: usize| {
                if len > 0 {
                    each(Flow { way, from: self.place(from), to: after.place(to), len });
                }
            };
            if start == end {
                continue;
            }
            let (second, last) = (start.max(1), end.min(rows - 1));
            flow(RowMove::Up, second, second - 1, end - second);
            flow(RowMove::Down, start, start + 1, last - start);
            if rests {
                flow(RowMove::Rest, start, start, end - start);
            }
            if turns {
                flow(RowMove::FirstToLast, 0, rows - 1, usize::from(start == 0));
                flow(RowMove::LastToFirst, rows - 1, 0, usize::from(end == rows));
            }
        }
    }
}

/// One step of a memory: its kind, and the rows held before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryStep {
    pub(super) device: MemoryKind,
    pub(super) before: Extent,
    pub(super) after: Extent,
}

impl MemoryStep {
    /// `new` becomes the memory after a step, of rows as wide as `element`.
    pub(super) fn forward<R: Real>(self, new: &mut [R], old: &[R], element: &[R], shares: &MoveShares<R>) {
        let d = element.len();
        // Shifted copies instead of the authors' products with N × N matrices: O(N·M) a step, not O(N²·M).
        // Copies are added one after the other, because each is one contiguous run of rows.
        new.fill(R::ZERO);
        self.before.flows(self.device, self.after, |flow| {
            let (to, from) = (&mut new[flow.to * d..][..flow.len * d], &old[flow.from * d..][..flow.len * d]);
            dispatch!(add_scaled(to, from, shares.ways[flow.way as usize]));
        });
        dispatch!(add_scaled(&mut new[..d], element, shares.write));
    }

    /// The backward pass: overwrites the gradients of the old memory and of the element; returns that of the shares.
    pub(super) fn backward<R: Real>(
        self,
        memory: MemoryBackward<'_, R>,
        delement: &mut [R],
        element: &[R],
        shares: &MoveShares<R>,
    ) -> MoveShares<R> {
        let (MemoryBackward { old, dnew, dold }, d) = (memory, element.len());
        let mut ways = [R::ZERO; 5];
        dold.fill(R::ZERO);
        self.before.flows(self.device, self.after, |flow| {
            let (from, to) =
                (flow.from * d..(flow.from + flow.len) * d, &dnew[flow.to * d..][..flow.len * d]);
            let (dold, way) = (&mut dold[from.clone()], flow.way as usize);
            // Added up: rows at the top and at the bottom may move the same way.
            ways[way] += dispatch!(add_scaled_backward(dold, to, &old[from], shares.ways[way]));
        });
        delement.fill(R::ZERO);
        let write = dispatch!(add_scaled_backward(delement, &dnew[..d], element, shares.write));
        MoveShares { ways, write }
    }
}

/// The memories of a step in its backward pass: `old` before it, and the gradients of those after and before.
pub(super) struct MemoryBackward<'a, R> {
    pub(super) old: &'a [R],
    pub(super) dnew: &'a [R],
    pub(super) dold: &'a mut [R],
}

/// The shares `[B,A]` of a step's actions and its new elements `[B,M]`, which the backward pass turns into the gradients of the
/// sums they were computed from.
pub(super) struct Chosen<'a, R> {
    pub(super) actions: &'a mut [R],
    pub(super) elements: &'a mut [R],
}

/// `out += share · x`.
#[inline(always)]
fn add_scaled<R: Real, S: Simd>(s: S, out: &mut [R], x: &[R], share: R) {
    let share = V::splat(s, share);
    for i in (0..out.len()).step_by(V::<R, S>::lanes()) {
        share.mul_add(V::at(s, x, i), V::at(s, out, i)).put(out, i);
    }
}

/// `dx += share · dout`; returns the gradient of the share, `dout · x`.
#[inline(always)]
fn add_scaled_backward<R: Real, S: Simd>(s: S, dx: &mut [R], dout: &[R], x: &[R], share: R) -> R {
    let (share, mut sum) = (V::splat(s, share), V::constant(s, 0.0));
    for i in (0..dx.len()).step_by(V::<R, S>::lanes()) {
        let d = V::at(s, dout, i);
        share.mul_add(d, V::at(s, dx, i)).put(dx, i);
        sum = d.mul_add(V::at(s, x, i), sum);
    }
    sum.sum()
}
