//! SIMD arithmetic written as formulas: [`V`] is one register of `f32` or `f64` lanes of whatever instruction set the machine
//! has, with the usual operators, loads and stores that may end in the middle of a register, and the functions that
//! activations are made of (`exp`, `tanh`, `sigmoid`).
//!
//! A kernel is written once as `fn body<R: Real, S: Simd>(s: S, …)`, marked `#[inline(always)]`, and entered through
//! [`dispatch!`], which picks the instruction set at run time. The portable fallback is one lane wide.
//! There is no unsafe code here; it stays inside `pulp`.

mod lane;
mod squash;
mod vector;

pub use lane::Lane;
pub(crate) use squash::{Sigmoid, Tanh, squash, squash_registers};
pub(crate) use vector::{MAX_LANES, V};

/// Runs `body(s, arguments…)` with the widest instruction set of this machine.
///
/// The closure moves a [`Once`] out of itself, so it is `FnOnce` and nothing more: then `call_once` *is* the closure, and the
/// body is compiled inside the function that enables the instructions. A closure that is also `Fn` is called through a shim,
/// which is compiled without them and is ten times slower.
macro_rules! dispatch {
    ($body:ident $(::<$R:ty, _, $E:literal>)? ($($arg:expr),* $(,)?)) => {{
        let once = $crate::kernel::simd::Once;
        // Found out once per process; afterwards this is one load and one branch per kernel, not per loop.
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

/// A value that can be moved only once; see [`dispatch!`].
pub(crate) struct Once;

impl Once {
    #[inline(always)]
    #[expect(clippy::unused_self, reason = "it is moved, not used")]
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

/// The portable instruction set, for tests that compare with it.
#[cfg(test)]
pub(crate) const PORTABLE: pulp::Scalar = pulp::Scalar;
