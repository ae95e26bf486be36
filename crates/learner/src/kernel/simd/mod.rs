//! Vectors of numbers, written as formulas: [`V`] is one register of `f32` or `f64` lanes of whatever instruction set
//! the machine has, with the usual operators, loads that know how to end in the middle of a register, and the three
//! functions recurrent networks live on (`exp`, `tanh`, `sigmoid`).
//!
//! A kernel is written once as `fn body<R: Real, S: Simd>(s: S, …)`, marked `#[inline(always)]`, and entered through
//! [`dispatch!`], which picks the instruction set at run time. The portable fallback is one lane wide.
//! Unsafe code stays inside `pulp`, but for [`fetch`].

mod lane;
mod squash;
mod vector;

pub use lane::Lane;
pub(crate) use squash::{Sigmoid, Tanh, squash, squash_registers};
pub(crate) use vector::{MOST_LANES, V};

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

/// Asks for what will be read soon, so that it is in the first-level cache by then.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction takes an address"))]
pub(crate) fn fetch<T>(x: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which changes nothing but what the cache holds; every such processor has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(x).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
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

/// The instruction set of last resort, so that tests can compare with it.
#[cfg(test)]
pub(crate) const PORTABLE: pulp::Scalar = pulp::Scalar;
