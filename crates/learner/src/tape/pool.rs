//! Means over rows.

use std::ops::Range;

use super::op::{Op, Operation};
use super::{Recording, Tape, Var};
use crate::kernel::{self, Real};

/// `out[N,d]`: the mean of rows `first..first + count` of `x`, where `parts` are symbols: first, count, first, …
#[derive(Clone, Debug)]
pub(super) struct MeanRowsOp {
    x: Var,
    out: Var,
    parts: Range<usize>,
    d: usize,
}

impl<R: Real> Recording<'_, R> {
    /// The mean of each of several ranges of rows of `d` elements, none of them empty.
    pub fn mean_rows(&mut self, x: Var, parts: impl IntoIterator<Item = (u32, u32)>, d: usize) -> Var {
        let parts = self.push_symbols(parts.into_iter().flat_map(|(first, count)| [first, count]));
        let out = self.new_tensor(parts.len() / 2 * d, true);
        let (x_range, out_start) = (self.tape.tensor(x).range(), self.tape.tensor(out).start);
        let (before, after) = self.tape.values.data.split_at_mut(out_start);
        let x_values = &before[x_range];
        for (to, part) in after.chunks_exact_mut(d).zip(self.tape.symbols[parts.clone()].as_chunks::<2>().0) {
            let [first, count] = part.map(|n| n as usize);
            to.fill(R::ZERO);
            for row in x_values[first * d..][..count * d].chunks_exact(d) {
                kernel::add(to, row);
            }
            let share = R::of(1.0 / count as f64);
            to.iter_mut().for_each(|x| *x *= share);
        }
        self.push(Op::MeanRows(MeanRowsOp { x, out, parts, d }));
        out
    }
}

impl Operation for MeanRowsOp {
    /// Rows that are in no range get no gradient, so that of `x` is cleared first.
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (out, x) = (tape.output(self.out), tape.output(self.x));
        let (before, after) = tape.gradients.split_at_mut(out.start);
        let dx = &mut before[x.range()];
        let parts = tape.symbols[self.parts.clone()].as_chunks::<2>().0;
        for (row, part) in after.chunks_exact_mut(self.d).zip(parts) {
            let [first, count] = part.map(|n| n as usize);
            let share = R::of(1.0 / count as f64);
            // The gradient of the output is used up: scaled in place once, it is added to every row of its
            // range.
            row.iter_mut().for_each(|x| *x *= share);
            for to in dx[first * self.d..][..count * self.d].chunks_exact_mut(self.d) {
                kernel::add(to, row);
            }
        }
    }
}
