//! What a kernel needs from a floating-point type: its registers, their instructions, and the constants of its functions.

use std::fmt::Debug;

use pulp::Simd;

/// An element type of registers: `f32` or `f64`.
pub trait Lane: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// A register of this type.
    type Reg<S: Simd>: Copy + Debug;
    /// The result of a comparison of registers.
    type Mask<S: Simd>: Copy + Debug;
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
    /// `p · 2ⁿ`, where `shifted` = n + [`Lane::SHIFTER`], rounded.
    #[doc(hidden)]
    fn scale<S: Simd>(s: S, p: Self::Reg<S>, shifted: Self::Reg<S>) -> Self::Reg<S>;
    /// Adding it rounds a small value to an integer in the lowest bits of the mantissa.
    #[doc(hidden)]
    const SHIFTER: Self;
    /// The range to which the argument of `exp` is clamped, so that results stay normal numbers.
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
     $maximum:ident, { $($consts:tt)* }) => {
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
                // A plain load wherever a whole register is left; only the end of a row takes the masked one,
                // which is slower.
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
            fn scale<S: Simd>(_: S, mut p: S::$reg, mut shifted: S::$reg) -> S::$reg {
                let p_bits: &mut [$bits] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut p));
                let n_bits: &mut [$bits] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut shifted));
                // n is added to the exponent as an integer; the rest of the shifter is shifted out. The
                // result must be a normal number, which the ranges of the arguments ensure.
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
    {
        // 1.5 · 2²³: a unit in the last place is one, and the half keeps negative integers from borrowing
        // from the exponent.
        const SHIFTER: f32 = 12_582_912.0;
        const EXP_RANGE: (f32, f32) = (-87.3, 88.3);
        // ln 2 and the polynomial as in `expf` of Cephes. The head has nine binary digits, so that its product with
        // n is exact.
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
    {
        const SHIFTER: f64 = 6_755_399_441_055_744.0;
        const EXP_RANGE: (f64, f64) = (-708.39, 709.4);
        // ln 2 as in fdlibm: the head ends in zeros, so that its product with n is exact.
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
