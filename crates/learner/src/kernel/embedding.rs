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
    use super::super::testing::{check_finite_differences, dot, values};
    use super::*;

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
