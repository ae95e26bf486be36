//! The memory beside a network: rows of numbers that move by one place at a time. Every action of a stack or of a Baby-NTM is a
//! move up, a move down or rest, so a step mixes three shifted copies of the memory and writes into its first row. Only rows
//! that can be other than zero are held and touched.

use pulp::Simd;
use serde::{Deserialize, Serialize};

use super::super::Real;
use super::super::simd::{V, dispatch};

/// What a memory can do (Suzgun et al. 2019).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// Push the new element, or pop. What is pushed beyond the last row is lost.
    Stack,
    /// Rotate up, rotate down, rest, move down (the first row becomes zero), move up (the last becomes zero); then, whatever
    /// was chosen, the new element is added to the first row.
    BabyNtm,
}

/// How a row gets where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    Rest,
    FirstToLast,
    LastToFirst,
}

/// How much of the memory goes each [`Way`], and how much of the new element is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares<R> {
    ways: [R; 5],
    write: R,
}

impl MemoryKind {
    /// The number of actions it chooses from.
    pub fn actions(self) -> usize {
        match self {
            Self::Stack => 2,
            Self::BabyNtm => 5,
        }
    }

    /// The rows that can be other than zero after so many steps.
    pub(super) fn extent(self, rows: usize, steps: usize) -> Extent {
        let bottom = steps.saturating_sub(1);
        match self {
            Self::Stack => Extent { top: steps.min(rows), bottom: 0, rows },
            Self::BabyNtm if steps + bottom < rows => Extent { top: steps, bottom, rows },
            Self::BabyNtm => Extent { top: rows, bottom: 0, rows },
        }
    }

    /// After how many steps that is so; any such number, if all rows can be.
    pub(super) fn steps(self, rows: usize, held: usize) -> usize {
        match self {
            Self::BabyNtm if held < rows => held.div_ceil(2),
            Self::Stack | Self::BabyNtm => held,
        }
    }

    pub(super) fn shares<R: Real>(self, actions: &[R]) -> Shares<R> {
        let a = |action: usize| actions[action];
        match self {
            Self::Stack => {
                let (push, pop) = (a(0), a(1));
                Shares { ways: [pop, push, R::ZERO, R::ZERO, R::ZERO], write: push }
            }
            Self::BabyNtm => {
                let (rotate_up, rotate_down, rest, down, up) = (a(0), a(1), a(2), a(3), a(4));
                let ways = [rotate_up + up, rotate_down + down, rest, rotate_up, rotate_down];
                Shares { ways, write: R::ONE }
            }
        }
    }

    /// The gradient of actions, from that of their shares.
    pub(super) fn actions_backward<R: Real>(self, dactions: &mut [R], d: &Shares<R>) {
        let [up, down, rest, first_to_last, last_to_first] = d.ways;
        match self {
            Self::Stack => dactions.copy_from_slice(&[down + d.write, up]),
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

/// Rows that go the same way: `len` of them, and where they begin before and after.
struct Flow {
    way: Way,
    from: usize,
    to: usize,
    len: usize,
}

impl Extent {
    /// How many rows are held.
    pub(super) fn held(self) -> usize {
        self.top + self.bottom
    }

    /// Where a row is held.
    fn place(self, row: usize) -> usize {
        if row < self.top { row } else { self.top + row + self.bottom - self.rows }
    }

    /// Where a row is held, if it is.
    #[cfg(test)]
    pub(super) fn find(self, row: usize) -> Option<usize> {
        (row < self.top || row >= self.rows - self.bottom).then(|| self.place(row))
    }

    /// How rows get from here to `after`.
    fn flows(self, device: MemoryKind, after: Self, mut each: impl FnMut(Flow)) {
        let (rows, turns) = (self.rows, device == MemoryKind::BabyNtm);
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
            flow(Way::Up, second, second - 1, end - second);
            flow(Way::Down, start, start + 1, last - start);
            if turns {
                flow(Way::Rest, start, start, end - start);
                flow(Way::FirstToLast, 0, rows - 1, usize::from(start == 0));
                flow(Way::LastToFirst, rows - 1, 0, usize::from(end == rows));
            }
        }
    }
}

/// One step of a device: which, and the rows held before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) device: MemoryKind,
    pub(super) before: Extent,
    pub(super) after: Extent,
}

impl Move {
    /// `new` becomes the memory after a step, of rows as wide as `element`.
    pub(super) fn forward<R: Real>(self, new: &mut [R], old: &[R], element: &[R], shares: &Shares<R>) {
        let d = element.len();
        new.fill(R::ZERO);
        self.before.flows(self.device, self.after, |flow| {
            let (to, from) = (&mut new[flow.to * d..][..flow.len * d], &old[flow.from * d..][..flow.len * d]);
            dispatch!(add_scaled(to, from, shares.ways[flow.way as usize]));
        });
        dispatch!(add_scaled(&mut new[..d], element, shares.write));
    }

    /// The way back: gradients of the old memory and of the element are overwritten; gives that of the shares.
    pub(super) fn backward<R: Real>(
        self,
        (dold, delement): (&mut [R], &mut [R]),
        dnew: &[R],
        (old, element): (&[R], &[R]),
        shares: &Shares<R>,
    ) -> Shares<R> {
        let d = element.len();
        let mut ways = [R::ZERO; 5];
        dold.fill(R::ZERO);
        self.before.flows(self.device, self.after, |flow| {
            let (from, to) =
                (flow.from * d..(flow.from + flow.len) * d, &dnew[flow.to * d..][..flow.len * d]);
            let (dold, way) = (&mut dold[from.clone()], flow.way as usize);
            ways[way] += dispatch!(add_scaled_backward(dold, to, &old[from], shares.ways[way]));
        });
        delement.fill(R::ZERO);
        let write = dispatch!(add_scaled_backward(delement, &dnew[..d], element, shares.write));
        Shares { ways, write }
    }
}

/// `out += share · x`.
#[inline(always)]
fn add_scaled<R: Real, S: Simd>(s: S, out: &mut [R], x: &[R], share: R) {
    let share = V::splat(s, share);
    for i in (0..out.len()).step_by(V::<R, S>::lanes()) {
        share.mul_add(V::at(s, x, i), V::at(s, out, i)).put(out, i);
    }
}

/// `dx += share · dout`; gives the gradient of the share, `dout · x`.
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
