//! Attention, there and back.

use std::ops::Range;

use super::backward::{Pair, pair};
use super::op::Op;
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, Attention, Real};

impl<R: Real> Recording<'_, R> {
    /// Self-attention over `qkv[B,T,3D]`, dropping weights with a probability when learning.
    pub fn attention(&mut self, qkv: Var, n: Attention, dropout: f64) -> Var {
        let mask = self.next_mask(dropout);
        let out = self.new_tensor(n.batch * n.queries * n.width, true);
        self.forget();
        let kept = self.tape.saved.take(n.kept());
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, n.scratch());
        let (x_range, out_range) = (tape.tensor(qkv).range(), tape.tensor(out).range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let sums = &mut tape.saved.data[kept.clone()];
        kernel::attention(&mut after[..out_range.len()], sums, &mut tape.scratch, &before[x_range], mask, n);
        self.push(Op::Attention { x: qkv, out, kept, mask, n });
        out
    }

    /// Attention of `q[B,Tq,D]` to `kv[B,Tk,2D]`, keys and values side by side, of which the first `lengths[b]` rows of
    /// string `b` count. Weights are dropped with a probability when learning.
    pub fn cross_attention(
        &mut self,
        q: Var,
        kv: Var,
        lengths: &[usize],
        (width, heads): (usize, usize),
        dropout: f64,
    ) -> Var {
        let mask = self.next_mask(dropout);
        let batch = lengths.len();
        let (q_tensor, kv_tensor) = (self.tape.tensor(q), self.tape.tensor(kv));
        let (queries, keys) = (q_tensor.len / (batch * width), kv_tensor.len / (batch * 2 * width));
        let n = Attention { batch, queries, keys, width, heads, causal: false };
        let lengths = self.push_symbols(lengths.iter().map(|&length| length as u32));
        let out = self.new_tensor(q_tensor.len, true);
        self.forget();
        let kept = self.tape.saved.take(n.kept());
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, n.scratch());
        let out_range = tape.tensor(out).range();
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let (queries, keys_values) = (&before[q_tensor.range()], &before[kv_tensor.range()]);
        for (b, &length) in tape.symbols[lengths.clone()].iter().enumerate() {
            let (rows, seen, sums, one) = string(n, b, length);
            let saved = &mut tape.saved.data[kept.start + sums.start..kept.start + sums.end];
            let both = (&queries[rows.clone()], &keys_values[seen]);
            kernel::cross_attention(&mut after[rows], saved, &mut tape.scratch, both, mask.nth(b), one);
        }
        self.push(Op::CrossAttention { q, kv, out, lengths, kept, mask, n });
        out
    }
}

/// Where string `b` has its queries, its keys and values, and what is kept of it; and its sizes.
fn string(n: Attention, b: usize, length: u32) -> (Range<usize>, Range<usize>, Range<usize>, Attention) {
    let (row, seen, kept) = (n.queries * n.width, n.keys * 2 * n.width, n.kept() / n.batch);
    let keys = length as usize;
    (
        b * row..(b + 1) * row,
        b * seen..b * seen + keys * 2 * n.width,
        b * kept..(b + 1) * kept,
        Attention { batch: 1, keys, ..n },
    )
}

impl<R: Real> Tape<R> {
    pub(super) fn attention_back(&mut self, op: &Op) {
        match *op {
            Op::Attention { x, out, ref kept, mask, n } => {
                let (tensor, out) = (self.tensor(x), self.ready(out));
                grow(&mut self.scratch, n.scratch());
                let Pair { dx, dout } = pair(&mut self.gradients, &mut self.grad_tmp, tensor, out);
                kernel::attention_backward(
                    dx,
                    &mut self.scratch,
                    dout,
                    &self.values.data[out.range()],
                    &self.saved.data[kept.clone()],
                    &self.values.data[tensor.range()],
                    mask,
                    n,
                );
                self.settle(x);
            }
            Op::CrossAttention { q, kv, out, ref lengths, ref kept, mask, n } => {
                let (q_tensor, kv_tensor, out) = (self.tensor(q), self.tensor(kv), self.ready(out));
                grow(&mut self.scratch, n.scratch());
                grow(&mut self.grad_tmp, q_tensor.len + kv_tensor.len);
                let (dq, dkv) = self.grad_tmp.split_at_mut(q_tensor.len);
                let dkv = &mut dkv[..kv_tensor.len];
                dkv.fill(R::ZERO); // rows that do not count are not written
                for (b, &length) in self.symbols[lengths.clone()].iter().enumerate() {
                    let (rows, seen, sums, one) = string(n, b, length);
                    let values = &self.values.data;
                    let at = |start: usize, range: &Range<usize>| start + range.start..start + range.end;
                    kernel::cross_attention_backward(
                        (&mut dq[rows.clone()], &mut dkv[seen.clone()]),
                        &mut self.scratch,
                        &self.gradients[at(out.start, &rows)],
                        &values[at(out.start, &rows)],
                        &self.saved.data[at(kept.start, &sums)],
                        (&values[at(q_tensor.start, &rows)], &values[at(kv_tensor.start, &seen)]),
                        mask.nth(b),
                        one,
                    );
                }
                self.receive(q, 0);
                self.receive(kv, q_tensor.len);
            }
            _ => unreachable!("not attention"),
        }
    }
}
