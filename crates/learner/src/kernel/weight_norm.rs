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
    use proptest::prelude::*;

    use super::super::testing::{check_finite_differences, dot, near, random, size, values, wide};
    use super::*;

    fn naive(v: &[f64], gain: &[f64], i: usize) -> Vec<f64> {
        let row = |(v, gain): (&[f64], &f64)| -> Vec<f64> {
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter().map(|x| gain * x / length).collect()
        };
        v.chunks(i).zip(gain).flat_map(row).collect()
    }

    /// By the Jacobian of a row: dwⱼ/dvᵢ = gain · (δᵢⱼ / |v| − vᵢ·vⱼ / |v|³).
    fn naive_backward(dw: &[f64], v: &[f64], gain: &[f64], i: usize) -> [Vec<f64>; 2] {
        let (mut dv, mut dgain) = (vec![0.0; v.len()], vec![0.0; gain.len()]);
        for (o, row) in v.chunks(i).enumerate() {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            for a in 0..i {
                dgain[o] += dw[o * i + a] * row[a] / length;
                for b in 0..i {
                    let same = f64::from(u8::from(a == b));
                    let slope = same / length - row[a] * row[b] / (length * length * length);
                    dv[o * i + b] += dw[o * i + a] * gain[o] * slope;
                }
            }
        }
        [dv, dgain]
    }

    fn check<R: Real>(o: usize, i: usize, seed: u64) {
        let [v, gain, g] = [o * i, o, o * i + 1].map(|len| random::<R>(seed + len as u64, len));
        // Away from zero: the gradient of a direction grows as its length shrinks.
        let v: Vec<R> = v.into_iter().map(|x| if x < R::ZERO { x - R::ONE } else { x + R::ONE }).collect();
        let g = &g[..o * i];
        let (mut w, mut dv, mut dgain) = (vec![R::of(9.0); o * i], vec![R::ZERO; o * i], vec![R::ZERO; o]);
        weight_norm(&mut w, &v, &gain);
        near(&w, &naive(&wide(&v), &wide(&gain), i), i);
        weight_norm_backward(&mut dv, &mut dgain, g, &v, &gain);
        let expected = naive_backward(&wide(g), &wide(&v), &wide(&gain), i);
        near(&dv, &expected[0], 2 * i);
        near(&dgain, &expected[1], 2 * i);
    }

    proptest! {
        #[test]
        fn any_shape_equals_the_naive_twin(o in size(), i in size(), seed in 0u64..1000) {
            check::<f32>(o, i, seed);
            check::<f64>(o, i, seed);
        }
    }

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
