//! Sinusoidal position encodings, in the two layouts that papers use.

use super::Real;

/// The order of sines and cosines in a row of `D` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sinusoid {
    /// sin, cos, sin, cos, …; wavelengths grow by `10000^(2/D)` from 2π.
    Interleaved,
    /// All sines, then all cosines; wavelengths grow from 2π to 10000·2π at both ends inclusive.
    Halves,
}

/// `out[T,D]`: the encodings of positions `first`, `first + 1`, …
///
/// ```
/// use wug_learner::kernel::{Sinusoid, sinusoids};
/// let mut out = [0.0f64; 4];
/// sinusoids(&mut out, 0, 4, Sinusoid::Interleaved);
/// assert_eq!(out, [0.0, 1.0, 0.0, 1.0]); // position 0: all sines 0, all cosines 1
/// ```
pub fn sinusoids<R: Real>(out: &mut [R], first: usize, d: usize, layout: Sinusoid) {
    for (t, row) in out.chunks_exact_mut(d).enumerate() {
        // In double precision whatever R is, by scalar functions: rows are computed once and cached by the
        // tape.
        let position = (first + t) as f64;
        for (i, x) in row.iter_mut().enumerate() {
            let (sine, exponent) = match layout {
                Sinusoid::Interleaved => (i % 2 == 0, (i / 2) as f64 * 2.0 / d as f64),
                Sinusoid::Halves => {
                    let half = d / 2;
                    let steps = (half.max(2) - 1) as f64;
                    (i < half, (i % half.max(1)) as f64 / steps)
                }
            };
            let angle = position * libm::exp(-libm::log(10_000.0) * exponent);
            *x = R::of(if sine { libm::sin(angle) } else { libm::cos(angle) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::close;
    use super::*;

    #[test]
    fn layouts_hold_the_same_kind_of_waves() {
        let mut rows = [0.0f64; 8];
        sinusoids(&mut rows, 1, 4, Sinusoid::Interleaved);
        let [a, b] = [1.0f64, 0.01];
        close(&rows[..4], &[a.sin(), a.cos(), b.sin(), b.cos()], 1e-15);
        close(&rows[4..], &[2f64.sin(), 2f64.cos(), 0.02f64.sin(), 0.02f64.cos()], 1e-15);
        sinusoids(&mut rows, 1, 4, Sinusoid::Halves);
        let b = 1e-4f64;
        close(&rows[..4], &[a.sin(), b.sin(), a.cos(), b.cos()], 1e-15);
    }
}
