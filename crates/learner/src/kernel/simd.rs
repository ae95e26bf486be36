//! Vectors of numbers, written as formulas: [`V`] is one register of `f32` or `f64` lanes of whatever instruction set
//! the machine has, with the usual operators, loads that know how to end in the middle of a register, and the three
//! functions recurrent networks live on (`exp`, `tanh`, `sigmoid`).
//!
//! A kernel is written once as `fn body<R: Real, S: Simd>(s: S, …)`, marked `#[inline(always)]`, and entered through
//! [`dispatch!`], which picks the instruction set at run time. The portable fallback is one lane wide.
//! Unsafe code stays inside `pulp`.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;

/// Runs `body(s, arguments…)` with the widest instruction set of this machine.
///
/// The closure gives away a [`Once`], so that it can be called once only: then `call_once` *is* the closure, and the body
/// is compiled inside the function that enables the instructions, not in a shim beside it (ten times slower).
macro_rules! dispatch {
    ($body:ident $(::<$R:ty, _, $E:literal>)? ($($arg:expr),* $(,)?)) => {{
        let once = $crate::kernel::simd::Once;
        match pulp::Arch::new() {
            #[cfg(target_arch = "x86_64")]
            pulp::Arch::V3(s) => pulp::Simd::vectorize(
                s,
                #[inline(always)]
                || {
                    once.spend();
                    $body$(::<$R, _, $E>)?(s, $($arg),*)
                },
            ),
            #[cfg(target_arch = "aarch64")]
            pulp::Arch::Neon(s) => pulp::Simd::vectorize(
                s,
                #[inline(always)]
                || {
                    once.spend();
                    $body$(::<$R, _, $E>)?(s, $($arg),*)
                },
            ),
            _ => $body$(::<$R, _, $E>)?(pulp::Scalar, $($arg),*),
        }
    }};
}
pub(crate) use dispatch;

/// Something that can be given away only once; see [`dispatch!`].
pub(crate) struct Once;

impl Once {
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "taking it is the point")]
    pub(crate) fn spend(self) {}
}

/// The instruction set that kernels run on here, for the record of a run.
pub fn instruction_set() -> &'static str {
    match pulp::Arch::new() {
        #[cfg(target_arch = "x86_64")]
        pulp::Arch::V3(_) => "x86-64-v3 (AVX2, FMA)",
        #[cfg(target_arch = "aarch64")]
        pulp::Arch::Neon(_) => "aarch64 (NEON)",
        _ => "portable",
    }
}

/// A number type that fills registers: what kernels need from `f32` and `f64`.
pub trait Lane: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// A register of this type.
    type Reg<S: Simd>: Copy + Debug;
    /// A register of yes and no.
    type Mask<S: Simd>: Copy + Debug;
    /// Numbers per register.
    fn lanes<S: Simd>() -> usize;
    #[doc(hidden)]
    fn splat<S: Simd>(s: S, x: Self) -> Self::Reg<S>;
    #[doc(hidden)]
    fn load<S: Simd>(s: S, x: &[Self]) -> Self::Reg<S>;
    #[doc(hidden)]
    fn store<S: Simd>(s: S, to: &mut [Self], x: Self::Reg<S>);
    #[doc(hidden)]
    fn regs<S: Simd>(x: &[Self]) -> &[Self::Reg<S>];
    #[doc(hidden)]
    fn regs_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::Reg<S>];
    #[doc(hidden)]
    fn add<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn sub<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn mul<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn div<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn mul_add<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>, c: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn max<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn min<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn sqrt<S: Simd>(s: S, a: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn less<S: Simd>(s: S, a: Self::Reg<S>, b: Self::Reg<S>) -> Self::Mask<S>;
    #[doc(hidden)]
    fn select<S: Simd>(s: S, m: Self::Mask<S>, yes: Self::Reg<S>, no: Self::Reg<S>) -> Self::Reg<S>;
    #[doc(hidden)]
    fn sum<S: Simd>(s: S, a: Self::Reg<S>) -> Self;
    #[doc(hidden)]
    fn maximum<S: Simd>(s: S, a: Self::Reg<S>) -> Self;
    #[doc(hidden)]
    fn rotate_right<S: Simd>(s: S, a: Self::Reg<S>, by: usize) -> Self::Reg<S>;
    /// `p · 2ⁿ`, where `shifted` = n + [`Lane::SHIFTER`], rounded.
    #[doc(hidden)]
    fn scale<S: Simd>(s: S, p: Self::Reg<S>, shifted: Self::Reg<S>) -> Self::Reg<S>;
    /// Adding it rounds a small number to an integer that stands in the lowest bits.
    #[doc(hidden)]
    const SHIFTER: Self;
    /// Where `exp` is clamped so that results stay normal numbers.
    #[doc(hidden)]
    const EXP_RANGE: (Self, Self);
    /// log₂ e, and ln 2 as a short head and a tail.
    #[doc(hidden)]
    const EXP_STEP: (Self, Self, Self);
    /// (exp r − 1 − r) / r² for |r| ≤ ½ ln 2, highest power first.
    #[doc(hidden)]
    const EXP_POLY: &'static [Self];
    /// Beyond these, `tanh` is ±1 to the last place.
    #[doc(hidden)]
    const TANH_RANGE: (Self, Self);
    #[doc(hidden)]
    fn small(x: f64) -> Self;
}

/// Kernels are written for these two types and no others.
mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! lane {
    ($r:ident, $reg:ident, $mask:ident, $lanes:ident, $bits:ident, $mantissa:literal,
     $splat:ident, $split:ident, $split_mut:ident, $part:ident, $part_store:ident, $add:ident, $sub:ident, $mul:ident,
     $div:ident, $mul_add:ident, $max:ident, $min:ident, $sqrt:ident, $less:ident, $select:ident, $sum:ident,
     $maximum:ident, $rotate:ident, { $($consts:tt)* }) => {
        impl Lane for $r {
            type Reg<S: Simd> = S::$reg;
            type Mask<S: Simd> = S::$mask;
            $($consts)*
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            fn splat<S: Simd>(s: S, x: Self) -> S::$reg {
                s.$splat(x)
            }
            #[inline(always)]
            fn load<S: Simd>(s: S, x: &[Self]) -> S::$reg {
                match x.get(..S::$lanes) {
                    Some(full) => S::$split(full).0[0],
                    None => s.$part(x),
                }
            }
            #[inline(always)]
            fn store<S: Simd>(s: S, to: &mut [Self], x: S::$reg) {
                match to.get_mut(..S::$lanes) {
                    Some(full) => S::$split_mut(full).0[0] = x,
                    None => s.$part_store(to, x),
                }
            }
            #[inline(always)]
            fn regs<S: Simd>(x: &[Self]) -> &[S::$reg] {
                S::$split(x).0
            }
            #[inline(always)]
            fn regs_mut<S: Simd>(x: &mut [Self]) -> &mut [S::$reg] {
                S::$split_mut(x).0
            }
            #[inline(always)]
            fn add<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$reg {
                s.$add(a, b)
            }
            #[inline(always)]
            fn sub<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$reg {
                s.$sub(a, b)
            }
            #[inline(always)]
            fn mul<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$reg {
                s.$mul(a, b)
            }
            #[inline(always)]
            fn div<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$reg {
                s.$div(a, b)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(s: S, a: S::$reg, b: S::$reg, c: S::$reg) -> S::$reg {
                s.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn max<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$reg {
                s.$max(a, b)
            }
            #[inline(always)]
            fn min<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$reg {
                s.$min(a, b)
            }
            #[inline(always)]
            fn sqrt<S: Simd>(s: S, a: S::$reg) -> S::$reg {
                s.$sqrt(a)
            }
            #[inline(always)]
            fn less<S: Simd>(s: S, a: S::$reg, b: S::$reg) -> S::$mask {
                s.$less(a, b)
            }
            #[inline(always)]
            fn select<S: Simd>(s: S, m: S::$mask, yes: S::$reg, no: S::$reg) -> S::$reg {
                s.$select(m, yes, no)
            }
            #[inline(always)]
            fn sum<S: Simd>(s: S, a: S::$reg) -> Self {
                s.$sum(a)
            }
            #[inline(always)]
            fn maximum<S: Simd>(s: S, a: S::$reg) -> Self {
                s.$maximum(a)
            }
            #[inline(always)]
            fn rotate_right<S: Simd>(s: S, a: S::$reg, by: usize) -> S::$reg {
                s.$rotate(a, by)
            }
            #[inline(always)]
            fn scale<S: Simd>(_: S, mut p: S::$reg, mut shifted: S::$reg) -> S::$reg {
                let p_bits: &mut [$bits] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut p));
                let n_bits: &mut [$bits] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut shifted));
                for (p, n) in p_bits.iter_mut().zip(n_bits) {
                    *p = p.wrapping_add(*n << $mantissa);
                }
                p
            }
            #[inline(always)]
            fn small(x: f64) -> Self {
                x as $r
            }
        }
    };
}

lane!(
    f32,
    f32s,
    m32s,
    F32_LANES,
    u32,
    23,
    splat_f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    partial_load_f32s,
    partial_store_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    mul_add_e_f32s,
    max_f32s,
    min_f32s,
    sqrt_f32s,
    less_than_f32s,
    select_f32s,
    reduce_sum_f32s,
    reduce_max_f32s,
    rotate_right_f32s,
    {
        const SHIFTER: f32 = 12_582_912.0;
        const EXP_RANGE: (f32, f32) = (-87.3, 88.3);
        const EXP_STEP: (f32, f32, f32) = (std::f32::consts::LOG2_E, 0.693_359_4, -2.121_944_4e-4);
        const EXP_POLY: &'static [f32] =
            &[1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
        const TANH_RANGE: (f32, f32) = (-9.5, 9.5);
    }
);

lane!(
    f64,
    f64s,
    m64s,
    F64_LANES,
    u64,
    52,
    splat_f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    partial_load_f64s,
    partial_store_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    mul_add_e_f64s,
    max_f64s,
    min_f64s,
    sqrt_f64s,
    less_than_f64s,
    select_f64s,
    reduce_sum_f64s,
    reduce_max_f64s,
    rotate_right_f64s,
    {
        const SHIFTER: f64 = 6_755_399_441_055_744.0;
        const EXP_RANGE: (f64, f64) = (-708.39, 709.4);
        const EXP_STEP: (f64, f64, f64) =
            (std::f64::consts::LOG2_E, 0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
        // 1/13!, 1/12!, …, 1/2!
        const EXP_POLY: &'static [f64] = &[
            1.0 / 6_227_020_800.0,
            1.0 / 479_001_600.0,
            1.0 / 39_916_800.0,
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
        ];
        const TANH_RANGE: (f64, f64) = (-20.0, 20.0);
    }
);

/// No register holds more numbers.
pub(crate) const MOST_LANES: usize = 16;

/// One register of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct V<R: Lane, S: Simd> {
    s: S,
    v: R::Reg<S>,
}

impl<R: Lane, S: Simd> V<R, S> {
    /// Numbers per register.
    #[inline(always)]
    pub(crate) fn lanes() -> usize {
        R::lanes::<S>()
    }

    /// The same number in every lane.
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

    /// The larger; `b` if either is not a number (on x86).
    #[inline(always)]
    pub(crate) fn max(self, b: Self) -> Self {
        Self { s: self.s, v: R::max(self.s, self.v, b.v) }
    }

    /// The smaller; `b` if either is not a number (on x86).
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
        let mut index = [R::small(0.0); MOST_LANES];
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

    /// Lane `i` moves to lane `i + by`, the last ones to the front.
    #[inline(always)]
    pub(crate) fn rotate_right(self, by: usize) -> Self {
        Self { s: self.s, v: R::rotate_right(self.s, self.v, by) }
    }

    /// The registers that `x` holds whole.
    #[inline(always)]
    pub(crate) fn regs(x: &[R]) -> &[R::Reg<S>] {
        R::regs::<S>(x)
    }

    /// The registers that `x` holds whole, to write.
    #[inline(always)]
    pub(crate) fn regs_mut(x: &mut [R]) -> &mut [R::Reg<S>] {
        R::regs_mut::<S>(x)
    }

    /// A register as a formula sees it.
    #[inline(always)]
    pub(crate) fn of(s: S, v: R::Reg<S>) -> Self {
        Self { s, v }
    }

    /// The register itself.
    #[inline(always)]
    pub(crate) fn reg(self) -> R::Reg<S> {
        self.v
    }

    /// The largest lane.
    #[inline(always)]
    pub(crate) fn maximum(self) -> R {
        R::maximum(self.s, self.v)
    }

    #[inline(always)]
    fn horner(self, coefficients: &[R]) -> Self {
        let mut p = Self::splat(self.s, coefficients[0]);
        for &c in &coefficients[1..] {
            p = p.mul_add(self, Self::splat(self.s, c));
        }
        p
    }

    /// x = n·ln 2 + r with |r| ≤ ½ ln 2: gives (n + shifter, eʳ − 1).
    #[inline(always)]
    fn reduce(self) -> (Self, Self) {
        let s = self.s;
        let (log2_e, head, tail) = R::EXP_STEP;
        let shifter = Self::splat(s, R::SHIFTER);
        let shifted = self.mul_add(Self::splat(s, log2_e), shifter);
        let n = shifted - shifter;
        let r = (-n).mul_add(Self::splat(s, tail), (-n).mul_add(Self::splat(s, head), self));
        (shifted, (r * r).mul_add(r.horner(R::EXP_POLY), r))
    }

    /// Keeps a number within bounds; one that is none stays none.
    #[inline(always)]
    fn clamp(self, lo: R, hi: R) -> Self {
        Self::splat(self.s, hi).min(Self::splat(self.s, lo).max(self))
    }

    /// eˣ to about one unit in the last place; x is clamped so that the result is a normal number.
    #[inline(always)]
    pub(crate) fn exp(self) -> Self {
        let (shifted, p) = self.clamp(R::EXP_RANGE.0, R::EXP_RANGE.1).reduce();
        let p = p + Self::constant(self.s, 1.0);
        Self { s: self.s, v: R::scale(self.s, p.v, shifted.v) }
    }

    /// 1 / (1 + e⁻ˣ).
    #[inline(always)]
    pub(crate) fn sigmoid(self) -> Self {
        let one = Self::constant(self.s, 1.0);
        one / (one + (-self).exp())
    }

    /// The hyperbolic tangent, (e²ˣ − 1) / (e²ˣ + 1), from e²ˣ − 1 = 2ⁿ·(eʳ − 1) + (2ⁿ − 1), which keeps the digits of
    /// tiny numbers.
    #[inline(always)]
    pub(crate) fn tanh(self) -> Self {
        let (s, one) = (self.s, Self::constant(self.s, 1.0));
        let (lo, hi) = R::TANH_RANGE;
        let x = self.clamp(lo, hi);
        let (shifted, p) = (x + x).reduce();
        let power = Self { s, v: R::scale(s, one.v, shifted.v) };
        let e = power.mul_add(p, power - one);
        e / (e + one + one)
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
        Self::constant(self.s, -0.0) - self
    }
}

/// The instruction set of last resort, so that tests can compare with it.
#[cfg(test)]
pub(crate) const PORTABLE: pulp::Scalar = pulp::Scalar;
