//! The two floating-point types that every kernel is written for. Papers train in `f32`; `f64` is for gradient checks and for
//! runs whose outcome depends on rounding.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::simd::Lane;

pub trait Real:
    Lane
    + Default
    + PartialOrd
    + Display
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    const ZERO: Self;
    const ONE: Self;
    /// As checkpoints name the type.
    const NAME: &'static str;
    /// Rounds to this type.
    fn of(x: f64) -> Self;
    /// The same value in double precision.
    fn wide(self) -> f64;
    #[must_use]
    fn root(self) -> Self;
    /// Neither infinite nor NaN.
    fn finite(self) -> bool;
    /// Appends its bytes, least significant first.
    fn put_bytes(self, to: &mut Vec<u8>);
    /// `c = α·c + a·b` by the GEMM crate; see [`super::matmul`].
    #[doc(hidden)]
    fn gemm(c: &mut [Self], add: bool, a: super::Mat<'_, Self>, b: super::Mat<'_, Self>);
}

macro_rules! real {
    ($r:ident, $name:literal) => {
        impl Real for $r {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAME: &'static str = $name;
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $r
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
            fn put_bytes(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn gemm(c: &mut [Self], add: bool, a: super::Mat<'_, Self>, b: super::Mat<'_, Self>) {
                super::matmul::gemm_crate(c, add, a, b);
            }
        }
    };
}
real!(f32, "F32");
real!(f64, "F64");
