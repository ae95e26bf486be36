use super::*;
use crate::kernel::testing::{check_finite_differences, close, close_single, dot, singles, values};

fn forward<R: Real>(qkv: &[R], mask: DropoutMask, n: Attention) -> (Vec<R>, Vec<R>) {
    let mut out = vec![R::ZERO; n.batch * n.queries * n.width];
    let mut stats = vec![R::ZERO; n.stats()];
    attention(&mut out, &mut stats, &mut vec![R::of(7.0); n.scratch()], qkv, mask, n);
    (out, stats)
}

/// One weight at a time.
fn naive(q: &[f64], kv: &[f64], mask: DropoutMask, n: Attention, packed: bool) -> Vec<f64> {
    let (d, e) = (n.width, n.size());
    let (q_row, kv_row, k_at) = if packed { (3 * d, 3 * d, d) } else { (d, 2 * d, 0) };
    let mut out = vec![0.0; n.batch * n.queries * d];
    for b in 0..n.batch {
        for h in 0..n.heads {
            let head = |row: &[f64]| (0..e).map(|c| row[c * n.heads + h]).collect::<Vec<f64>>();
            for i in 0..n.queries {
                let q = head(&q[(b * n.queries + i) * q_row..][..d]);
                let row = |j: usize, at: usize| head(&kv[(b * n.keys + j) * kv_row + at..][..d]);
                let score = |j| libm::exp(dot(&q, &row(j, k_at)) / (e as f64).sqrt());
                let weights: Vec<f64> = (0..n.visible(i)).map(score).collect();
                let sum: f64 = weights.iter().sum();
                for (j, weight) in weights.iter().enumerate() {
                    let index = (i * n.keys + j) * n.heads + h;
                    let factor: f64 = mask.nth(b).factor(index as u32, mask.scale());
                    for (c, v) in row(j, k_at + d).iter().enumerate() {
                        out[(b * n.queries + i) * d + c * n.heads + h] += factor * weight / sum * v;
                    }
                }
            }
        }
    }
    out
}

fn shapes() -> Vec<Attention> {
    let shape = |batch, t, heads, e, causal| Attention {
        batch,
        queries: t,
        keys: t,
        width: heads * e,
        heads,
        causal,
        prefix: 0,
    };
    vec![
        shape(2, 5, 2, 3, true),
        shape(1, 11, 2, 4, true),
        shape(2, 9, 1, 4, false),
        shape(1, 20, 3, 6, true),
        shape(1, 1, 1, 1, true),
        shape(1, 17, 1, 2, false),
        // As many heads as lanes of f64, then of f32.
        shape(2, 5, 4, 4, true),
        shape(1, 3, 4, 8, false),
        shape(1, 6, 8, 2, true),
        shape(1, 6, 8, 4, true),
        shape(1, 5, 4, 2, true),
        // One head that fills registers, evenly and not.
        shape(2, 4, 1, 32, false),
        shape(1, 9, 1, 45, true),
    ]
}

#[test]
fn fused_equals_one_weight_at_a_time() {
    for n in shapes() {
        for mask in [DropoutMask::new(1, 0.0), DropoutMask::new(1, 0.4)] {
            let qkv = values(1, n.batch * n.queries * 3 * n.width);
            let (out, _) = forward(&qkv, mask, n);
            close(&out, &naive(&qkv, &qkv, mask, n, true), 1e-13);
            close_single(&forward(&singles(&qkv), mask, n).0, &out, 1e-5);
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    for n in shapes() {
        for mask in [DropoutMask::new(1, 0.0), DropoutMask::new(2, 0.4)] {
            let qkv = values(1, n.batch * n.queries * 3 * n.width);
            let g = values(2, n.batch * n.queries * n.width);
            let (out, stats) = forward(&qkv, mask, n);
            let mut dqkv = vec![9.0; qkv.len()];
            let mut scratch = vec![7.0; n.scratch()];
            attention_backward(&mut dqkv, &mut scratch, &g, &out, &stats, &qkv, mask, n);
            check_finite_differences(&qkv, &dqkv, |x| dot(&forward(x, mask, n).0, &g));
            // In single precision other shapes have as many heads as lanes.
            let (qkv, g, mut single) = (singles(&qkv), singles(&g), vec![9.0f32; dqkv.len()]);
            let (out, stats) = forward(&qkv, mask, n);
            let mut scratch = vec![7.0; n.scratch()];
            attention_backward(&mut single, &mut scratch, &g, &out, &stats, &qkv, mask, n);
            close_single(&single, &dqkv, 1e-4);
        }
    }
}

#[test]
fn cross_attention_equals_one_weight_at_a_time() {
    let few = Attention { batch: 2, queries: 3, keys: 10, width: 8, heads: 2, causal: false, prefix: 0 };
    let shapes = [
        few,
        Attention { queries: 1, width: 39, heads: 1, ..few },
        Attention { width: 16, heads: 4, causal: true, ..few },
        Attention { queries: 12, width: 33, heads: 1, causal: true, ..few },
        Attention { queries: 12, causal: true, ..few },
        // A prefix that all queries see: by position, by head and by element.
        Attention { queries: 6, causal: true, prefix: 4, ..few },
        Attention { queries: 7, width: 16, heads: 4, causal: true, prefix: 3, ..few },
        Attention { queries: 7, width: 33, heads: 1, causal: true, prefix: 3, ..few },
    ];
    for n in shapes {
        let mask = DropoutMask::new(3, 0.3);
        let (q, kv) = (values(1, 2 * n.queries * n.width), values(2, 2 * 10 * 2 * n.width));
        let g = values(3, q.len());
        let run = |q: &[f64], kv: &[f64]| {
            let (mut out, mut stats) = (vec![0.0; q.len()], vec![0.0; n.stats()]);
            cross_attention(&mut out, &mut stats, &mut vec![0.0; n.scratch()], q, kv, mask, n);
            (out, stats)
        };
        let (out, stats) = run(&q, &kv);
        close(&out, &naive(&q, &kv, mask, n, false), 1e-13);
        let (mut dq, mut dkv) = (vec![0.0; q.len()], vec![0.0; kv.len()]);
        let mut scratch = vec![0.0; n.scratch()];
        cross_attention_backward(&mut dq, &mut dkv, &mut scratch, &g, &out, &stats, &q, &kv, mask, n);
        check_finite_differences(&q, &dq, |q| dot(&run(q, &kv).0, &g));
        check_finite_differences(&kv, &dkv, |kv| dot(&run(&q, kv).0, &g));
    }
}

#[test]
fn a_causal_position_does_not_attend_to_the_future() {
    let n = Attention { batch: 1, queries: 12, keys: 12, width: 8, heads: 2, causal: true, prefix: 0 };
    let mut qkv = values(1, 12 * 24);
    let (before, _) = forward(&qkv, DropoutMask::new(0, 0.0), n);
    qkv[7 * 24..].fill(1e3);
    let (after, _) = forward(&qkv, DropoutMask::new(0, 0.0), n);
    close(&after[..7 * 8], &before[..7 * 8], 1e-13);
}
