//! Embeddings: rows of a table `[V,D]` by symbol.

use super::{Real, add};

/// `out[N,D] = scale · table[V,D][symbols[N]]`.
pub fn embedding<R: Real>(out: &mut [R], table: &[R], symbols: &[u32], d: usize, scale: R) {
    for (out, &symbol) in out.chunks_exact_mut(d).zip(symbols) {
        let row = &table[symbol as usize * d..][..d];
        for (out, &x) in out.iter_mut().zip(row) {
            *out = scale * x;
        }
    }
}

/// `dtable[symbols[N]] += scale · dout[N,D]`. Scales `dout` in place.
pub fn embedding_backward<R: Real>(dtable: &mut [R], dout: &mut [R], symbols: &[u32], d: usize, scale: R) {
    for (dout, &symbol) in dout.chunks_exact_mut(d).zip(symbols) {
        // In place, so that the sum is the kernel for rows; most models have a scale of one and skip this
        // pass.
        if scale != R::ONE {
            for x in dout.iter_mut() {
                *x *= scale;
            }
        }
        add(&mut dtable[symbol as usize * d..][..d], dout);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{
        check_finite_differences, dot, near, random, size, size_or_none, values, wide,
    };
    use super::*;

    /// The outputs and the gradient of the table, one element at a time.
    fn naive(table: &[f64], dout: &[f64], symbols: &[u32], d: usize, scale: f64) -> [Vec<f64>; 2] {
        let (mut out, mut dtable) = (Vec::new(), vec![0.0; table.len()]);
        for (n, &symbol) in symbols.iter().enumerate() {
            for i in 0..d {
                out.push(scale * table[symbol as usize * d + i]);
                dtable[symbol as usize * d + i] += scale * dout[n * d + i];
            }
        }
        [out, dtable]
    }

    fn check<R: Real>(n: usize, v: usize, d: usize, seed: u64) {
        let (table, g): (Vec<R>, Vec<R>) = (random(seed, v * d), random(seed + 1, n * d));
        let symbols: Vec<u32> = (0..n).map(|i| (i * i % v) as u32).collect();
        for scale in [R::ONE, R::of(2.5)] {
            let [expected, gradient] = naive(&wide(&table), &wide(&g), &symbols, d, scale.wide());
            let (mut out, mut dtable) = (vec![R::of(9.0); n * d], vec![R::ZERO; v * d]);
            embedding(&mut out, &table, &symbols, d, scale);
            near(&out, &expected, 1);
            embedding_backward(&mut dtable, &mut g.clone(), &symbols, d, scale);
            near(&dtable, &gradient, n);
        }
    }

    proptest! {
        #[test]
        fn any_shape_equals_the_naive_twin(n in size_or_none(), v in size(), d in size(), seed in 0u64..1000) {
            check::<f32>(n, v, d, seed);
            check::<f64>(n, v, d, seed);
        }
    }

    #[test]
    fn gradients_match_finite_differences() {
        let (table, g, symbols) = (values(1, 4 * 3), values(2, 5 * 3), [3, 0, 3, 1, 3]);
        let forward = |table: &[f64]| {
            let mut out = vec![0.0; 15];
            embedding(&mut out, table, &symbols, 3, 2.5);
            out
        };
        let mut dtable = vec![0.0; 12];
        embedding_backward(&mut dtable, &mut g.clone(), &symbols, 3, 2.5);
        check_finite_differences(&table, &dtable, |t| dot(&forward(t), &g));
    }
}
