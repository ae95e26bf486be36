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
            let (passes, dout) = (V::at(s, b, at).sigmoid(), V::at(s, dout, at));
            (dout * passes).put(da, at);
            (dout * V::at(s, a, at) * passes * (one - passes)).put(db, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_finite_differences, close, close_single, dot, singles, values};
    use super::*;

    #[test]
    fn values_match_the_formula_and_gradients_match_finite_differences() {
        for o in [1, 5, 8, 19] {
            let (x, g) = (values(1, 3 * 2 * o), values(2, 3 * o));
            let run = |x: &[f64]| {
                let mut out = vec![0.0; 3 * o];
                glu(&mut out, x, o);
                out
            };
            let naive = (0..3 * o).map(|i| {
                let (row, at) = (i / o * 2 * o, i % o);
                x[row + at] / (1.0 + libm::exp(-x[row + o + at]))
            });
            close(&run(&x), &naive.collect::<Vec<f64>>(), 1e-13);
            let mut single = vec![0.0; 3 * o];
            glu(&mut single, &singles(&x), o);
            close_single(&single, &run(&x), 1e-6);
            let mut dx = vec![9.0; x.len()];
            glu_backward(&mut dx, &g, &x, o);
            check_finite_differences(&x, &dx, |x| dot(&run(x), &g));
        }
    }
}
