//! A register with the operators and functions that formulas are written in.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;

use super::Lane;

/// At least as many lanes as any register has.
pub(crate) const MAX_LANES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct V<R: Lane, S: Simd> {
    pub(super) s: S,
    pub(super) v: R::Reg<S>,
}

impl<R: Lane, S: Simd> V<R, S> {
    #[inline(always)]
    pub(crate) fn lanes() -> usize {
        R::lanes::<S>()
    }

    /// The same value in every lane.
    #[inline(always)]
    pub(crate) fn splat(s: S, x: R) -> Self {
        Self { s, v: R::splat(s, x) }
    }

    /// A constant in every lane.
    #[inline(always)]
    pub(crate) fn constant(s: S, x: f64) -> Self {
        Self::splat(s, R::small(x))
    }

    /// `x[i..]`, as many as fit; lanes past the end are zero.
    #[inline(always)]
    pub(crate) fn at(s: S, x: &[R], i: usize) -> Self {
        Self { s, v: R::load(s, &x[i..]) }
    }

    /// The first `E` registers of `x`, which must hold as many.
    #[inline(always)]
    pub(crate) fn array<const E: usize>(s: S, x: &[R]) -> [Self; E] {
        let regs = &R::regs::<S>(x)[..E];
        let mut all = [Self { s, v: regs[0] }; E];
        for (to, &v) in all.iter_mut().zip(regs) {
            to.v = v;
        }
        all
    }

    /// Writes registers side by side.
    #[inline(always)]
    pub(crate) fn write<const E: usize>(values: [Self; E], to: &mut [R]) {
        let regs = &mut R::regs_mut::<S>(to)[..E];
        for (reg, value) in regs.iter_mut().zip(values) {
            *reg = value.v;
        }
    }

    /// Replaces the first `E` registers of `x`, each by a function of its index and itself.
    #[inline(always)]
    pub(crate) fn update<const E: usize>(s: S, x: &mut [R], f: impl Fn(usize, Self) -> Self) {
        let regs = &mut R::regs_mut::<S>(x)[..E];
        for (e, reg) in regs.iter_mut().enumerate() {
            *reg = f(e, Self { s, v: *reg }).v;
        }
    }

    /// Writes to `to[i..]`, as many as fit.
    #[inline(always)]
    pub(crate) fn put(self, to: &mut [R], i: usize) {
        R::store(self.s, &mut to[i..], self.v);
    }

    /// `self · b + c`.
    #[inline(always)]
    pub(crate) fn mul_add(self, b: Self, c: Self) -> Self {
        Self { s: self.s, v: R::mul_add(self.s, self.v, b.v, c.v) }
    }

    /// The larger; `b` if either is NaN (on x86).
    #[inline(always)]
    pub(crate) fn max(self, b: Self) -> Self {
        Self { s: self.s, v: R::max(self.s, self.v, b.v) }
    }

    /// The smaller; `b` if either is NaN (on x86).
    #[inline(always)]
    pub(crate) fn min(self, b: Self) -> Self {
        Self { s: self.s, v: R::min(self.s, self.v, b.v) }
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Self { s: self.s, v: R::sqrt(self.s, self.v) }
    }

    /// Lane by lane: `yes` where `self < bound`, else `no`.
    #[inline(always)]
    pub(crate) fn if_less(self, bound: Self, yes: Self, no: Self) -> Self {
        let mask = R::less(self.s, self.v, bound.v);
        Self { s: self.s, v: R::select(self.s, mask, yes.v, no.v) }
    }

    /// `yes` in the first `n` lanes, `no` in the others.
    #[inline(always)]
    pub(crate) fn below(s: S, n: usize, yes: Self, no: Self) -> Self {
        let mut index = [R::small(0.0); MAX_LANES];
        for (i, x) in index.iter_mut().enumerate() {
            *x = R::small(i as f64);
        }
        Self::at(s, &index, 0).if_less(Self::constant(s, n as f64), yes, no)
    }

    /// The sum of all lanes, in a fixed order.
    #[inline(always)]
    pub(crate) fn sum(self) -> R {
        R::sum(self.s, self.v)
    }

    /// The whole registers of `x`.
    #[inline(always)]
    pub(crate) fn regs(x: &[R]) -> &[R::Reg<S>] {
        R::regs::<S>(x)
    }

    /// The whole registers of `x`, mutably.
    #[inline(always)]
    pub(crate) fn regs_mut(x: &mut [R]) -> &mut [R::Reg<S>] {
        R::regs_mut::<S>(x)
    }

    /// Wraps a register, so that formulas can use it.
    #[inline(always)]
    pub(crate) fn of(s: S, v: R::Reg<S>) -> Self {
        Self { s, v }
    }

    #[inline(always)]
    pub(crate) fn reg(self) -> R::Reg<S> {
        self.v
    }

    #[inline(always)]
    pub(crate) fn maximum(self) -> R {
        R::maximum(self.s, self.v)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<R: Lane, S: Simd> $trait for V<R, S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                Self { s: self.s, v: R::$method(self.s, self.v, b.v) }
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<R: Lane, S: Simd> Neg for V<R, S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // From −0, because 0 − 0 would be 0 where −0 is right.
        Self::constant(self.s, -0.0) - self
    }
}
