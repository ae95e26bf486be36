//! Weight normalisation: weights as a direction and a length per row (Salimans and Kingma 2016).

use pulp::Simd;

use super::rows::{add_times, dot, set_times};
use super::simd::dispatch;
use super::{Real, sum_of_squares};

/// `w[O,I] = gain[O] · v[O,I] / |v[O]|`.
///
/// ```
/// let mut w = [0.0; 2];
/// wug_learner::kernel::weight_norm(&mut w, &[3.0, 4.0], &[10.0]);
/// assert_eq!(w, [6.0, 8.0]);
/// ```
pub fn weight_norm<R: Real>(w: &mut [R], v: &[R], gain: &[R]) {
    dispatch!(weight_norm_body(w, v, gain));
}

#[inline(always)]
fn weight_norm_body<R: Real, S: Simd>(s: S, w: &mut [R], v: &[R], gain: &[R]) {
    let i = v.len() / gain.len().max(1);
    for ((w, v), &gain) in w.chunks_exact_mut(i).zip(v.chunks_exact(i)).zip(gain) {
        set_times(s, w, gain / norm(v), v);
    }
}

/// The backward pass; adds to both gradients.
pub fn weight_norm_backward<R: Real>(dv: &mut [R], dgain: &mut [R], dw: &[R], v: &[R], gain: &[R]) {
    dispatch!(weight_norm_backward_body(dv, dgain, dw, v, gain));
}

#[inline(always)]
fn weight_norm_backward_body<R: Real, S: Simd>(
    s: S,
    dv: &mut [R],
    dgain: &mut [R],
    dw: &[R],
    v: &[R],
    gain: &[R],
) {
    let i = v.len() / gain.len().max(1);
    let rows = dv.chunks_exact_mut(i).zip(v.chunks_exact(i)).zip(dw.chunks_exact(i));
    for (((dv, v), dw), (dgain, &gain)) in rows.zip(dgain.iter_mut().zip(gain)) {
        let norm = norm(v);
        let along = dot(s, dw, v) / norm;
        *dgain += along;
        // Only the part of the gradient that is orthogonal to `v` remains.
        add_times(s, dv, gain / norm, dw);
        add_times(s, dv, -gain * along / (norm * norm), v);
    }
}

/// The length of a row.
pub(crate) fn norm<R: Real>(v: &[R]) -> R {
    R::of(libm::sqrt(sum_of_squares(v)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_finite_differences, dot, values};
    use super::{weight_norm, weight_norm_backward};

    #[test]
    fn gradients_match_finite_differences() {
        for i in [1, 4, 21] {
            let (v, gain, g) = (values(1, 3 * i), values(2, 3), values(3, 3 * i));
            let run = |v: &[f64], gain: &[f64]| {
                let mut w = vec![9.0; 3 * i];
                weight_norm(&mut w, v, gain);
                dot(&w, &g)
            };
            let (mut dv, mut dgain) = (vec![0.0; 3 * i], vec![0.0; 3]);
            weight_norm_backward(&mut dv, &mut dgain, &g, &v, &gain);
            check_finite_differences(&v, &dv, |v| run(v, &gain));
            check_finite_differences(&gain, &dgain, |gain| run(&v, gain));
        }
    }
}
