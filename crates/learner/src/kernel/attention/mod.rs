//! Multi-head attention: scores, mask, softmax and weighted sum in one go, never storing the weights.
//!
//! Heads are *interleaved*: number `e` of head `h` stands at `e · heads + h` of a row, so that one register holds one
//! number of every head. (PyTorch has them one after the other; [`head_order`] translates.) There are three ways to fill
//! registers, and the sizes decide: [`by_head`] when there are as many heads as lanes, whatever the heads' size, which
//! wastes nothing; [`by_number`] for a single large head; [`by_position`] otherwise. On the way back weights are computed
//! again from two numbers per row.

mod by_head;
mod by_number;
mod by_position;

use super::Real;
use super::dropout::Mask;
use super::simd::dispatch;

/// The sizes of an attention layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// `B`, strings.
    pub batch: usize,
    /// Positions that ask.
    pub queries: usize,
    /// Positions that answer.
    pub keys: usize,
    /// `D`, numbers per position over all heads.
    pub width: usize,
    /// Heads; must divide `D`.
    pub heads: usize,
    /// Whether a position sees only itself and those before it.
    pub causal: bool,
}

/// More lanes than any register has.
const MAX_LANES: usize = 16;

impl Attention {
    /// `E`, numbers per head.
    fn size(&self) -> usize {
        self.width / self.heads
    }

    /// Scores are divided by the square root of the heads' size.
    fn factor<R: Real>(&self) -> R {
        R::ONE / R::of(self.size() as f64).root()
    }

    /// How many keys query `i` sees.
    fn seen(&self, i: usize) -> usize {
        if self.causal { (i + 1).min(self.keys) } else { self.keys }
    }

    /// Numbers of working memory that either direction needs.
    pub fn scratch(&self) -> usize {
        // By head, a register per key; by number, three numbers per key.
        by_position::scratch(self).max(MAX_LANES * (self.keys + 1))
    }

    /// Numbers kept for the way back: per string, query and head the largest score and one over the sum.
    pub fn kept(&self) -> usize {
        2 * self.batch * self.heads * self.queries
    }
}

/// The features of PyTorch's layout in the order of ours: entry `f` is where feature `f` of a row here stands there.
///
/// ```
/// assert_eq!(wug_learner::kernel::head_order(6, 2).collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
/// ```
pub fn head_order(width: usize, heads: usize) -> impl Iterator<Item = usize> {
    (0..width).map(move |f| (f % heads) * (width / heads) + f / heads)
}

/// Where queries, keys and values of one string lie: at `offset` in rows of `stride` numbers.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: usize,
    stride: usize,
}

impl Place {
    /// Row `t`, from this place on.
    #[inline(always)]
    fn row<R>(self, rows: &[R], t: usize, width: usize) -> &[R] {
        &rows[t * self.stride + self.offset..][..width]
    }

    #[inline(always)]
    fn row_mut<R>(self, rows: &mut [R], t: usize, width: usize) -> &mut [R] {
        &mut rows[t * self.stride + self.offset..][..width]
    }
}

/// What all ways of filling registers are given about one string.
#[derive(Clone, Copy)]
struct One<'a, R> {
    /// Queries, and keys with values; the same rows for self-attention.
    q: &'a [R],
    kv: &'a [R],
    at: [Place; 3],
    mask: Mask,
    n: Attention,
}

fn packed(n: Attention) -> [Place; 3] {
    [0, n.width, 2 * n.width].map(|offset| Place { offset, stride: 3 * n.width })
}

fn apart(n: Attention) -> [Place; 3] {
    let kv = 2 * n.width;
    [
        Place { offset: 0, stride: n.width },
        Place { offset: 0, stride: kv },
        Place { offset: n.width, stride: kv },
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
/// `kept` is for the way back; `mask` drops attention weights.
pub fn attention<R: Real>(
    out: &mut [R],
    kept: &mut [R],
    scratch: &mut [R],
    qkv: &[R],
    mask: Mask,
    n: Attention,
) {
    for b in 0..n.batch {
        let rows = share(qkv, b, n.batch);
        let one = One { q: rows, kv: rows, at: packed(n), mask: mask.nth(b), n };
        string(share_mut(out, b, n.batch), share_mut(kept, b, n.batch), scratch, one);
    }
}

/// Attention of `q[B,Tq,D]` to `kv[B,Tk,2D]`, keys and values side by side.
pub fn cross_attention<R: Real>(
    out: &mut [R],
    kept: &mut [R],
    scratch: &mut [R],
    (q, kv): (&[R], &[R]),
    mask: Mask,
    n: Attention,
) {
    for b in 0..n.batch {
        let (q, kv) = (share(q, b, n.batch), share(kv, b, n.batch));
        let one = One { q, kv, at: apart(n), mask: mask.nth(b), n };
        string(share_mut(out, b, n.batch), share_mut(kept, b, n.batch), scratch, one);
    }
}

fn string<R: Real>(out: &mut [R], kept: &mut [R], scratch: &mut [R], one: One<'_, R>) {
    if by_number::pays(&one.n) {
        return dispatch!(numbers(out, kept, scratch, one));
    }
    match one.n.size() {
        2 => dispatch!(either::<R, _, 2>(out, kept, scratch, one)),
        4 => dispatch!(either::<R, _, 4>(out, kept, scratch, one)),
        8 => dispatch!(either::<R, _, 8>(out, kept, scratch, one)),
        _ => dispatch!(positions(out, kept, scratch, one)),
    }
}

use by_head::either;
use by_number::numbers;
use by_position::positions;

/// The way back of [`attention`]: `dqkv[B,T,3D]` from `dout[B,T,D]` and what was kept.
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn attention_backward<R: Real>(
    dqkv: &mut [R],
    scratch: &mut [R],
    dout: &[R],
    out: &[R],
    kept: &[R],
    qkv: &[R],
    mask: Mask,
    n: Attention,
) {
    for b in 0..n.batch {
        let rows = share(qkv, b, n.batch);
        let one = One { q: rows, kv: rows, at: packed(n), mask: mask.nth(b), n };
        let saved = [dout, out, kept].map(|all| share(all, b, n.batch));
        string_backward(DRows::Shared(share_mut(dqkv, b, n.batch)), scratch, saved, one);
    }
}

/// The way back of [`cross_attention`].
#[expect(clippy::too_many_arguments, reason = "outputs, inputs, sizes: a kernel is its formula")]
pub fn cross_attention_backward<R: Real>(
    (dq, dkv): (&mut [R], &mut [R]),
    scratch: &mut [R],
    dout: &[R],
    out: &[R],
    kept: &[R],
    (q, kv): (&[R], &[R]),
    mask: Mask,
    n: Attention,
) {
    for b in 0..n.batch {
        let (q, kv) = (share(q, b, n.batch), share(kv, b, n.batch));
        let one = One { q, kv, at: apart(n), mask: mask.nth(b), n };
        let saved = [dout, out, kept].map(|all| share(all, b, n.batch));
        let drows = DRows::Apart(share_mut(dq, b, n.batch), share_mut(dkv, b, n.batch));
        string_backward(drows, scratch, saved, one);
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

/// `saved` are the gradient of the output, the output, and what was kept.
fn string_backward<R: Real>(drows: DRows<'_, R>, scratch: &mut [R], saved: [&[R]; 3], one: One<'_, R>) {
    if by_number::pays(&one.n) {
        return dispatch!(numbers_backward(drows, scratch, saved, one));
    }
    match one.n.size() {
        2 => dispatch!(either_backward::<R, _, 2>(drows, scratch, saved, one)),
        4 => dispatch!(either_backward::<R, _, 4>(drows, scratch, saved, one)),
        8 => dispatch!(either_backward::<R, _, 8>(drows, scratch, saved, one)),
        _ => dispatch!(positions_backward(drows, scratch, saved, one)),
    }
}

use by_head::either_backward;
use by_number::numbers_backward;
use by_position::positions_backward;

#[cfg(test)]
mod tests;
