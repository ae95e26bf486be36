//! Multi-head attention: scores, causal mask, softmax and weighted sum in one pass, without storing the weights.
//!
//! Heads are *interleaved*: element `e` of head `h` is at `e · heads + h` of a row, so that one register can hold one element
//! of every head. (PyTorch has one head after the other; [`head_order`] translates.) There are three ways to fill registers,
//! and the sizes decide:
//!
//! - [`by_head`], if there are as many heads as lanes and `E` is 2, 4 or 8: no lane is wasted and rows are read in place;
//! - [`by_element`], for a single head of two registers or more;
//! - [`by_position`], otherwise.
//!
//! The backward pass recomputes the weights from two values per string, query and head, which the forward pass leaves in
//! `stats`: the largest score and one over the sum of the exponentials.

mod by_element;
mod by_head;
mod by_position;

use super::Real;
use super::dropout::DropoutMask;
use super::simd::{MAX_LANES, dispatch};

/// The sizes of an attention layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    pub batch: usize,
    /// `Tq`, positions of queries.
    pub queries: usize,
    /// `Tk`, positions of keys and values.
    pub keys: usize,
    /// `D`, elements per position over all heads.
    pub width: usize,
    /// Heads; must divide `D`.
    pub heads: usize,
    /// Whether a position attends only to itself and those before it.
    pub causal: bool,
    /// Keys before the first query's own, to which every query attends.
    pub prefix: usize,
}

impl Attention {
    /// `E`, elements per head.
    fn size(&self) -> usize {
        self.width / self.heads
    }

    /// What scores are multiplied by: `1 / √E`.
    fn factor<R: Real>(&self) -> R {
        R::ONE / R::of(self.size() as f64).root()
    }

    /// How many keys query `i` attends to.
    fn visible(&self, i: usize) -> usize {
        if self.causal { (self.prefix + i + 1).min(self.keys) } else { self.keys }
    }

    /// Elements of working memory that either pass needs.
    pub fn scratch(&self) -> usize {
        // By head, a register per key; by element, three elements per key.
        by_position::scratch(self).max(MAX_LANES * (self.keys + 1))
    }

    /// Elements saved for the backward pass: per string, query and head the largest score and one over the sum.
    pub fn stats(&self) -> usize {
        2 * self.batch * self.heads * self.queries
    }
}

/// The features of PyTorch's layout in our order: entry `f` is the index in PyTorch of feature `f` here.
///
/// ```
/// assert_eq!(wug_learner::kernel::head_order(6, 2).collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
/// ```
pub fn head_order(width: usize, heads: usize) -> impl Iterator<Item = usize> {
    (0..width).map(move |f| (f % heads) * (width / heads) + f / heads)
}

/// Where the queries, keys or values of one string are: at `offset` in rows of `stride` elements.
#[derive(Clone, Copy, Debug)]
struct Strided {
    offset: usize,
    stride: usize,
}

impl Strided {
    /// `width` elements of row `t`.
    #[inline(always)]
    fn row<R>(self, rows: &[R], t: usize, width: usize) -> &[R] {
        &rows[t * self.stride + self.offset..][..width]
    }

    #[inline(always)]
    fn row_mut<R>(self, rows: &mut [R], t: usize, width: usize) -> &mut [R] {
        &mut rows[t * self.stride + self.offset..][..width]
    }
}

/// What a pass over one string reads.
#[derive(Clone, Copy)]
struct OneString<'a, R> {
    /// Queries, and keys with values; the same rows for self-attention.
    q: &'a [R],
    kv: &'a [R],
    at: [Strided; 3],
    mask: DropoutMask,
    n: Attention,
}

fn packed(n: Attention) -> [Strided; 3] {
    [0, n.width, 2 * n.width].map(|offset| Strided { offset, stride: 3 * n.width })
}

fn apart(n: Attention) -> [Strided; 3] {
    let kv = 2 * n.width;
    [
        Strided { offset: 0, stride: n.width },
        Strided { offset: 0, stride: kv },
        Strided { offset: n.width, stride: kv },
    ]
}

/// Part `b` of `batch` equal parts.
fn share<R>(all: &[R], b: usize, batch: usize) -> &[R] {
    let len = all.len() / batch;
    &all[b * len..(b + 1) * len]
}

fn share_mut<R>(all: &mut [R], b: usize, batch: usize) -> &mut [R] {
    let len = all.len() / batch;
    &mut all[b * len..(b + 1) * len]
}

/// Self-attention. `qkv[B,T,3D]` holds queries, keys and values side by side; `out[B,T,D]`.
///
/// `stats` are saved for the backward pass; `mask` drops attention weights.
pub fn attention<R: Real>(
    out: &mut [R],
    stats: &mut [R],
    scratch: &mut [R],
    qkv: &[R],
    mask: DropoutMask,
    n: Attention,
) {
    for b in 0..n.batch {
        // String by string: its keys and values stay in cache while its queries pass by, and its mask is its
        // own, so that no result depends on the batch.
        let rows = share(qkv, b, n.batch);
        let seq = OneString { q: rows, kv: rows, at: packed(n), mask: mask.nth(b), n };
        string(share_mut(out, b, n.batch), share_mut(stats, b, n.batch), scratch, seq);
    }
}

/// Attention of `q[B,Tq,D]` to `kv[B,Tk,2D]`, keys and values side by side.
pub fn cross_attention<R: Real>(
    out: &mut [R],
    stats: &mut [R],
    scratch: &mut [R],
    q: &[R],
    kv: &[R],
    mask: DropoutMask,
    n: Attention,
) {
    for b in 0..n.batch {
        let (q, kv) = (share(q, b, n.batch), share(kv, b, n.batch));
        let seq = OneString { q, kv, at: apart(n), mask: mask.nth(b), n };
        string(share_mut(out, b, n.batch), share_mut(stats, b, n.batch), scratch, seq);
    }
}

fn string<R: Real>(out: &mut [R], stats: &mut [R], scratch: &mut [R], seq: OneString<'_, R>) {
    // First, because a single wide head would otherwise be gathered into columns for nothing.
    if by_element::pays(&seq.n) {
        return dispatch!(elements(out, stats, scratch, seq));
    }
    // E is a constant of the code where heads fill lanes: the elements of a query then stay in registers.
    match seq.n.size() {
        2 => dispatch!(either::<R, _, 2>(out, stats, scratch, seq)),
        4 => dispatch!(either::<R, _, 4>(out, stats, scratch, seq)),
        8 => dispatch!(either::<R, _, 8>(out, stats, scratch, seq)),
        _ => dispatch!(positions(out, stats, scratch, seq)),
    }
}

use by_element::elements;
use by_head::either;
use by_position::positions;

/// The backward pass of [`attention`]: `dqkv[B,T,3D]` from `dout[B,T,D]`, the output and the statistics.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn attention_backward<R: Real>(
    dqkv: &mut [R],
    scratch: &mut [R],
    dout: &[R],
    out: &[R],
    stats: &[R],
    qkv: &[R],
    mask: DropoutMask,
    n: Attention,
) {
    for b in 0..n.batch {
        let rows = share(qkv, b, n.batch);
        let seq = OneString { q: rows, kv: rows, at: packed(n), mask: mask.nth(b), n };
        let saved = [dout, out, stats].map(|all| share(all, b, n.batch));
        string_backward(DRows::Shared(share_mut(dqkv, b, n.batch)), scratch, saved, seq);
    }
}

/// The backward pass of [`cross_attention`].
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn cross_attention_backward<R: Real>(
    dq: &mut [R],
    dkv: &mut [R],
    scratch: &mut [R],
    dout: &[R],
    out: &[R],
    stats: &[R],
    q: &[R],
    kv: &[R],
    mask: DropoutMask,
    n: Attention,
) {
    for b in 0..n.batch {
        let (q, kv) = (share(q, b, n.batch), share(kv, b, n.batch));
        let seq = OneString { q, kv, at: apart(n), mask: mask.nth(b), n };
        let saved = [dout, out, stats].map(|all| share(all, b, n.batch));
        let drows = DRows::Apart(share_mut(dq, b, n.batch), share_mut(dkv, b, n.batch));
        string_backward(drows, scratch, saved, seq);
    }
}

/// Gradients of queries and of keys and values: one matrix or two.
enum DRows<'a, R> {
    Shared(&'a mut [R]),
    Apart(&'a mut [R], &'a mut [R]),
}

impl<R> DRows<'_, R> {
    #[inline(always)]
    fn queries(&mut self) -> &mut [R] {
        match self {
            Self::Shared(rows) | Self::Apart(rows, _) => rows,
        }
    }

    #[inline(always)]
    fn keys(&mut self) -> &mut [R] {
        match self {
            Self::Shared(rows) | Self::Apart(_, rows) => rows,
        }
    }
}

/// `saved` are the gradient of the output, the output, and the statistics.
fn string_backward<R: Real>(drows: DRows<'_, R>, scratch: &mut [R], saved: [&[R]; 3], seq: OneString<'_, R>) {
    if by_element::pays(&seq.n) {
        return dispatch!(elements_backward(drows, scratch, saved, seq));
    }
    match seq.n.size() {
        2 => dispatch!(either_backward::<R, _, 2>(drows, scratch, saved, seq)),
        4 => dispatch!(either_backward::<R, _, 4>(drows, scratch, saved, seq)),
        8 => dispatch!(either_backward::<R, _, 8>(drows, scratch, saved, seq)),
        _ => dispatch!(positions_backward(drows, scratch, saved, seq)),
    }
}

use by_element::elements_backward;
use by_head::either_backward;
use by_position::positions_backward;

#[cfg(test)]
mod tests;
