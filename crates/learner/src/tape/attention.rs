//! Self-attention and cross-attention. Attention weights are not stored: the backward pass recomputes them from `stats`, two
//! values per string, query and head (see [`Attention::stats`]).

use std::ops::Range;

use super::backward::in_out_grads;
use super::op::{Op, Operation};
use super::{Recording, Tape, Var, grow};
use crate::kernel::{self, Attention, DropoutMask, Real};

/// Self-attention over `x[B,T,3D]`; `out[B,T,D]`.
#[derive(Clone, Debug)]
pub(super) struct AttentionOp {
    x: Var,
    out: Var,
    stats: Range<usize>,
    mask: DropoutMask,
    n: Attention,
}

impl<R: Real> Recording<'_, R> {
    /// Self-attention over `qkv[B,T,3D]`, with dropout of attention weights in training.
    pub fn attention(&mut self, qkv: Var, n: Attention, dropout: f64) -> Var {
        let mask = self.next_mask(dropout);
        let out = self.new_tensor(n.batch * n.queries * n.width, true);
        self.reuse_saved();
        let stats = self.tape.saved.take(n.stats());
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, n.scratch());
        let (x_range, out_range) = (tape.tensor(qkv).range(), tape.tensor(out).range());
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let (values, saved) = (&mut after[..out_range.len()], &mut tape.saved.data[stats.clone()]);
        kernel::attention(values, saved, &mut tape.scratch, &before[x_range], mask, n);
        self.push(Op::Attention(AttentionOp { x: qkv, out, stats, mask, n }));
        out
    }
}

impl Operation for AttentionOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (x, out) = (tape.tensor(self.x), tape.output(self.out));
        grow(&mut tape.scratch, self.n.scratch());
        let (dx, dout) = in_out_grads(&mut tape.gradients, &mut tape.grad_tmp, x, out);
        kernel::attention_backward(
            dx,
            &mut tape.scratch,
            dout,
            &tape.values.data[out.range()],
            &tape.saved.data[self.stats.clone()],
            &tape.values.data[x.range()],
            self.mask,
            self.n,
        );
        tape.finish_grad(self.x);
    }
}

/// `D` and how many heads share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadSizes {
    /// Elements per position over all heads.
    pub width: usize,
    pub heads: usize,
}

/// Attention of `q[B,Tq,D]` to the first `lengths[b]` (symbols) rows of each string of `kv[B,Tk,2D]`; `out[B,Tq,D]`.
#[derive(Clone, Debug)]
pub(super) struct CrossAttentionOp {
    q: Var,
    kv: Var,
    out: Var,
    lengths: Range<usize>,
    /// Of each string, the keys that all its queries see; the others are then causal.
    prefixes: Option<Range<usize>>,
    stats: Range<usize>,
    mask: DropoutMask,
    n: Attention,
}

impl<R: Real> Recording<'_, R> {
    /// Attention of `q[B,Tq,D]` to `kv[B,Tk,2D]`, keys and values side by side, of which only the first `lengths[b]` rows of
    /// string `b` are attended to (the rest is padding). With dropout of attention weights in training.
    pub fn cross_attention(
        &mut self,
        q: Var,
        kv: Var,
        lengths: &[usize],
        sizes: HeadSizes,
        dropout: f64,
    ) -> Var {
        self.attend(q, kv, lengths, None, sizes, dropout)
    }

    /// The same where string `b` has `prefixes[b]` keys that all its queries see, and then a key for each query, which that query and
    /// later ones see: `lengths[b]` is at least `prefixes[b]` and the number of queries.
    pub fn prefix_attention(
        &mut self,
        q: Var,
        kv: Var,
        lengths: &[usize],
        prefixes: &[usize],
        sizes: HeadSizes,
        dropout: f64,
    ) -> Var {
        self.attend(q, kv, lengths, Some(prefixes), sizes, dropout)
    }

    fn attend(
        &mut self,
        q: Var,
        kv: Var,
        lengths: &[usize],
        prefixes: Option<&[usize]>,
        sizes: HeadSizes,
        dropout: f64,
    ) -> Var {
        let HeadSizes { width, heads } = sizes;
        let mask = self.next_mask(dropout);
        let batch = lengths.len();
        let (q_tensor, kv_tensor) = (self.tape.tensor(q), self.tape.tensor(kv));
        let (queries, keys) = (q_tensor.len / (batch * width), kv_tensor.len / (batch * 2 * width));
        let n = Attention { batch, queries, keys, width, heads, causal: false, prefix: 0 };
        let prefixes = prefixes.map(|all| self.push_symbols(all.iter().map(|&prefix| prefix as u32)));
        let lengths = self.push_symbols(lengths.iter().map(|&length| length as u32));
        let out = self.new_tensor(q_tensor.len, true);
        self.reuse_saved();
        let stats = self.tape.saved.take(n.stats());
        let tape = &mut *self.tape;
        grow(&mut tape.scratch, n.scratch());
        let out_range = tape.tensor(out).range();
        let (before, after) = tape.values.data.split_at_mut(out_range.start);
        let (queries, keys_values) = (&before[q_tensor.range()], &before[kv_tensor.range()]);
        // String by string, because each has its own number of keys: padding is never read, so it needs no
        // mask.
        for (b, &length) in tape.symbols[lengths.clone()].iter().enumerate() {
            let one = OnePart::new(n, b, length, prefix(&tape.symbols, prefixes.as_ref(), b));
            let saved = &mut tape.saved.data[shift(stats.start, &one.stats)];
            let (q, kv) = (&queries[one.q.clone()], &keys_values[one.kv]);
            kernel::cross_attention(&mut after[one.q], saved, &mut tape.scratch, q, kv, mask.nth(b), one.n);
        }
        self.push(Op::CrossAttention(CrossAttentionOp { q, kv, out, lengths, prefixes, stats, mask, n }));
        out
    }
}

impl Operation for CrossAttentionOp {
    fn backward<R: Real>(&self, tape: &mut Tape<R>, _: &[R], _: &mut [R]) {
        let (q, kv, out) = (tape.tensor(self.q), tape.tensor(self.kv), tape.output(self.out));
        grow(&mut tape.scratch, self.n.scratch());
        // The kernel overwrites, and either input may have a gradient already (a decoder attends to one
        // source at every step): both go through `grad_tmp`.
        grow(&mut tape.grad_tmp, q.len + kv.len);
        let (dq, dkv) = tape.grad_tmp.split_at_mut(q.len);
        let dkv = &mut dkv[..kv.len];
        dkv.fill(R::ZERO); // The kernel does not write the rows of padding.
        for (b, &length) in tape.symbols[self.lengths.clone()].iter().enumerate() {
            let prefix = prefix(&tape.symbols, self.prefixes.as_ref(), b);
            let (one, values) = (OnePart::new(self.n, b, length, prefix), &tape.values.data);
            kernel::cross_attention_backward(
                &mut dq[one.q.clone()],
                &mut dkv[one.kv.clone()],
                &mut tape.scratch,
                &tape.gradients[shift(out.start, &one.q)],
                &values[shift(out.start, &one.q)],
                &tape.saved.data[shift(self.stats.start, &one.stats)],
                &values[shift(q.start, &one.q)],
                &values[shift(kv.start, &one.kv)],
                self.mask.nth(b),
                one.n,
            );
        }
        tape.copy_grad_tmp(self.q, 0);
        tape.copy_grad_tmp(self.kv, q.len);
    }
}

/// Where one string lies in the tensors of a cross-attention, and its sizes.
struct OnePart {
    q: Range<usize>,
    kv: Range<usize>,
    stats: Range<usize>,
    n: Attention,
}

impl OnePart {
    fn new(n: Attention, b: usize, length: u32, prefix: Option<usize>) -> Self {
        let (q, kv, stats) = (n.queries * n.width, n.keys * 2 * n.width, n.stats() / n.batch);
        let keys = length as usize;
        Self {
            q: b * q..(b + 1) * q,
            kv: b * kv..b * kv + keys * 2 * n.width,
            stats: b * stats..(b + 1) * stats,
            n: Attention { batch: 1, keys, causal: prefix.is_some(), prefix: prefix.unwrap_or(0), ..n },
        }
    }
}

/// The prefix of a string, if the attention has prefixes.
fn prefix(symbols: &[u32], prefixes: Option<&Range<usize>>, b: usize) -> Option<usize> {
    prefixes.map(|range| symbols[range.start + b] as usize)
}

fn shift(start: usize, range: &Range<usize>) -> Range<usize> {
    start + range.start..start + range.end
}
