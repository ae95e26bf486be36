//! Gated linear units (Dauphin et al. 2017): one half of each row gates the other.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// `out[N,O] = a[N,O] · σ(b[N,O])` of `x[N,2O]`, which holds `a` and `b` side by side.
pub fn glu<R: Real>(out: &mut [R], x: &[R], o: usize) {
    dispatch!(glu_body(out, x, o));
}

#[inline(always)]
fn glu_body<R: Real, S: Simd>(s: S, out: &mut [R], x: &[R], o: usize) {
    for (out, x) in out.chunks_exact_mut(o).zip(x.chunks_exact(2 * o)) {
        let (a, b) = x.split_at(o);
        for at in (0..o).step_by(V::<R, S>::lanes()) {
            (V::at(s, a, at) * V::at(s, b, at).sigmoid()).put(out, at);
        }
    }
}

/// The backward pass: `dx[N,2O]` from `dout[N,O]`.
pub fn glu_backward<R: Real>(dx: &mut [R], dout: &[R], x: &[R], o: usize) {
    dispatch!(glu_backward_body(dx, dout, x, o));
}

#[inline(always)]
fn glu_backward_body<R: Real, S: Simd>(s: S, dx: &mut [R], dout: &[R], x: &[R], o: usize) {
    let one = V::constant(s, 1.0);
    let rows = dx.chunks_exact_mut(2 * o).zip(dout.chunks_exact(o)).zip(x.chunks_exact(2 * o));
    for ((dx, dout), x) in rows {
        let ((a, b), (da, db)) = (x.split_at(o), dx.split_at_mut(o));
        for at in (0..o).step_by(V::<R, S>::lanes()) {
            // σ(b) is computed again rather than saved: half a nanosecond an element against a tensor that is
            // written and read.
            let (passes, dout) = (V::at(s, b, at).sigmoid(), V::at(s, dout, at));
            (dout * passes).put(da, at);
            (dout * V::at(s, a, at) * passes * (one - passes)).put(db, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive::sigmoid;
    use super::super::testing::{check_finite_differences, dot, near, random, size, size_or_none, wide};
    use super::*;

    fn naive(x: &[f64], o: usize) -> Vec<f64> {
        x.chunks(2 * o).flat_map(|row| (0..o).map(move |i| row[i] * sigmoid(row[o + i]))).collect()
    }

    fn naive_backward(x: &[f64], dout: &[f64], o: usize) -> Vec<f64> {
        let mut dx = vec![0.0; x.len()];
        for (n, row) in x.chunks(2 * o).enumerate() {
            for i in 0..o {
                let (passes, d) = (sigmoid(row[o + i]), dout[n * o + i]);
                dx[n * 2 * o + i] = d * passes;
                dx[n * 2 * o + o + i] = d * row[i] * passes * (1.0 - passes);
            }
        }
        dx
    }

    fn check<R: Real>(n: usize, o: usize, seed: u64) {
        let (x, g): (Vec<R>, Vec<R>) = (random(seed, n * 2 * o), random(seed + 1, n * o));
        let (mut out, mut dx) = (vec![R::of(9.0); n * o], vec![R::of(9.0); x.len()]);
        glu(&mut out, &x, o);
        near(&out, &naive(&wide(&x), o), 1);
        glu_backward(&mut dx, &g, &x, o);
        near(&dx, &naive_backward(&wide(&x), &wide(&g), o), 1);
    }

    proptest! {
        #[test]
        fn any_shape_equals_the_naive_twin(n in size_or_none(), o in size(), seed in 0u64..1000) {
            check::<f32>(n, o, seed);
            check::<f64>(n, o, seed);
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        for o in [1, 5, 8, 19] {
            let (x, g): (Vec<f64>, Vec<f64>) = (random(1, 3 * 2 * o), random(2, 3 * o));
            let run = |x: &[f64]| {
                let mut out = vec![0.0; 3 * o];
                glu(&mut out, x, o);
                dot(&out, &g)
            };
            let mut dx = vec![9.0; x.len()];
            glu_backward(&mut dx, &g, &x, o);
            check_finite_differences(&x, &dx, run);
        }
    }
}
