//! `exp`, `sigmoid` and `tanh` of registers. Each is a chain of a dozen operations of which every one waits for the result of
//! the one before. With [`SIDE`] registers side by side, operation by operation, the processor has independent work while one
//! waits, and constants are loaded once for all.

use pulp::Simd;

use super::{Lane, V};

/// Registers side by side: the fastest of the counts tried.
const SIDE: usize = 6;

/// A function element by element, of `M` registers side by side.
pub(crate) trait Squash {
    fn of<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M];
}

/// 1 / (1 + e⁻ˣ).
pub(crate) struct Sigmoid;

pub(crate) struct Tanh;

impl Squash for Sigmoid {
    #[inline(always)]
    fn of<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M] {
        sigmoid(x)
    }
}

impl Squash for Tanh {
    #[inline(always)]
    fn of<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M] {
        tanh(x)
    }
}

/// Applies a function to every element, in place.
#[inline(always)]
pub(crate) fn squash<F: Squash, R: Lane, S: Simd>(s: S, x: &mut [R]) {
    let whole = x.len() - x.len() % V::<R, S>::lanes();
    let (whole, rest) = x.split_at_mut(whole);
    squash_registers::<F, R, S>(s, V::<R, S>::regs_mut(whole));
    if !rest.is_empty() {
        F::of([V::at(s, rest, 0)])[0].put(rest, 0);
    }
}

/// The same of registers.
#[inline(always)]
pub(crate) fn squash_registers<F: Squash, R: Lane, S: Simd>(s: S, registers: &mut [R::Reg<S>]) {
    let (many, rest) = registers.as_chunks_mut::<SIDE>();
    for registers in many {
        let mut x = [V::<R, S>::constant(s, 0.0); SIDE];
        for m in 0..SIDE {
            x[m] = V::of(s, registers[m]);
        }
        let y = F::of(x);
        for m in 0..SIDE {
            registers[m] = y[m].reg();
        }
    }
    for register in rest {
        *register = F::of([V::<R, S>::of(s, *register)])[0].reg();
    }
}

impl<R: Lane, S: Simd> V<R, S> {
    /// eˣ to about one unit in the last place; x is clamped so that the result is a normal number.
    #[inline(always)]
    pub(crate) fn exp(self) -> Self {
        exp([self])[0]
    }

    /// 1 / (1 + e⁻ˣ).
    #[inline(always)]
    pub(crate) fn sigmoid(self) -> Self {
        sigmoid([self])[0]
    }

    #[inline(always)]
    pub(crate) fn tanh(self) -> Self {
        tanh([self])[0]
    }

    /// Clamps to `lo..=hi`; NaN stays NaN.
    #[inline(always)]
    fn clamp(self, lo: R, hi: R) -> Self {
        Self::splat(self.s, hi).min(Self::splat(self.s, lo).max(self))
    }
}

/// x = n·ln 2 + r with |r| ≤ ½ ln 2: returns n + shifter and eʳ − 1.
#[inline(always)]
fn reduce<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [[V<R, S>; M]; 2] {
    let s = x[0].s;
    let (log2_e, head, tail) = R::EXP_STEP;
    let (log2_e, shifter) = (V::splat(s, log2_e), V::splat(s, R::SHIFTER));
    let (head, tail) = (V::splat(s, head), V::splat(s, tail));
    let (mut shifted, mut r, mut p) = (x, x, [V::splat(s, R::EXP_POLY[0]); M]);
    for m in 0..M {
        shifted[m] = x[m].mul_add(log2_e, shifter);
    }
    for m in 0..M {
        // Head and tail of ln 2 one after the other (Cody and Waite), so that r keeps its digits.
        let n = shifter - shifted[m];
        r[m] = n.mul_add(tail, n.mul_add(head, x[m]));
    }
    // Horner's rule: one fused operation per coefficient, side by side for all registers.
    for &c in &R::EXP_POLY[1..] {
        let c = V::splat(s, c);
        for m in 0..M {
            p[m] = p[m].mul_add(r[m], c);
        }
    }
    for m in 0..M {
        p[m] = (r[m] * r[m]).mul_add(p[m], r[m]);
    }
    [shifted, p]
}

#[inline(always)]
fn exp<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M] {
    let mut x = x;
    for x in &mut x {
        *x = x.clamp(R::EXP_RANGE.0, R::EXP_RANGE.1);
    }
    exp_in_range(x)
}

#[inline(always)]
fn exp_in_range<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M] {
    let (one, [shifted, mut p]) = (V::constant(x[0].s, 1.0), reduce(x));
    for m in 0..M {
        p[m] = p[m] + one;
        p[m].v = R::scale(one.s, p[m].v, shifted[m].v);
    }
    p
}

/// 1 / (1 + e⁻ˣ) of each.
#[inline(always)]
fn sigmoid<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M] {
    let (s, mut x) = (x[0].s, x);
    let (one, lo, hi) = (V::constant(s, 1.0), V::splat(s, R::EXP_RANGE.0), V::splat(s, R::EXP_RANGE.1));
    for x in &mut x {
        // Negated last, where the compiler can merge it into the next multiplication.
        *x = -(-lo).min((-hi).max(*x));
    }
    let mut e = exp_in_range(x);
    for e in &mut e {
        *e = one / (one + *e);
    }
    e
}

/// The hyperbolic tangent of each, (e²ˣ − 1) / (e²ˣ + 1), from e²ˣ − 1 = 2ⁿ·(eʳ − 1) + (2ⁿ − 1), which keeps the
/// digits of tiny values.
#[inline(always)]
fn tanh<R: Lane, S: Simd, const M: usize>(x: [V<R, S>; M]) -> [V<R, S>; M] {
    let (s, mut x) = (x[0].s, x);
    let (one, (lo, hi)) = (V::constant(s, 1.0), R::TANH_RANGE);
    for x in &mut x {
        *x = x.clamp(lo, hi);
        *x = *x + *x;
    }
    let [shifted, mut p] = reduce(x);
    for m in 0..M {
        let power = V { s, v: R::scale(s, one.v, shifted[m].v) };
        let e = power.mul_add(p[m], power - one);
        p[m] = e / (e + one + one);
    }
    p
}
