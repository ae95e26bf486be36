use proptest::prelude::*;

use super::*;
use crate::kernel::naive;
use crate::kernel::testing::{
    check_finite_differences, close, close_single, dot, near, random, singles, size, values, wide,
};

fn forward<R: Real>(qkv: &[R], mask: DropoutMask, n: Attention) -> (Vec<R>, Vec<R>) {
    let mut out = vec![R::ZERO; n.batch * n.queries * n.width];
    let mut stats = vec![R::ZERO; n.stats()];
    attention(&mut out, &mut stats, &mut vec![R::of(f64::NAN); n.scratch()], qkv, mask, n);
    (out, stats)
}

/// Where a string's queries, keys and values begin in a row, and how long rows are.
#[derive(Clone, Copy)]
struct Rows {
    q: usize,
    kv: usize,
    keys: usize,
}

impl Rows {
    /// Rows `[T,3D]` of one matrix, or `[T,D]` and `[T,2D]` of two.
    fn new(n: Attention, packed: bool) -> Self {
        let d = n.width;
        if packed { Self { q: 3 * d, kv: 3 * d, keys: d } } else { Self { q: d, kv: 2 * d, keys: 0 } }
    }
}

/// One query of one head of one string.
#[derive(Clone, Copy)]
struct Query {
    b: usize,
    h: usize,
    i: usize,
}

fn queries(n: Attention) -> impl Iterator<Item = Query> {
    let of_head = move |b, h| (0..n.queries).map(move |i| Query { b, h, i });
    (0..n.batch).flat_map(move |b| (0..n.heads).flat_map(move |h| of_head(b, h)))
}

impl Query {
    /// The index of element `e` of the query, of key or value `j`, and of the output.
    fn q(self, n: Attention, rows: Rows, e: usize) -> usize {
        (self.b * n.queries + self.i) * rows.q + e * n.heads + self.h
    }

    fn key(self, n: Attention, rows: Rows, j: usize, e: usize) -> usize {
        (self.b * n.keys + j) * rows.kv + rows.keys + e * n.heads + self.h
    }

    fn value(self, n: Attention, rows: Rows, j: usize, e: usize) -> usize {
        self.key(n, rows, j, e) + n.width
    }

    fn out(self, n: Attention, e: usize) -> usize {
        (self.b * n.queries + self.i) * n.width + e * n.heads + self.h
    }

    /// Weights before dropout, and the factors of dropout.
    fn weights(self, q: &[f64], kv: &[f64], mask: DropoutMask, n: Attention, rows: Rows) -> [Vec<f64>; 2] {
        let (e, keys) = (n.size(), n.visible(self.i));
        let term = |j: usize, e: usize| q[self.q(n, rows, e)] * kv[self.key(n, rows, j, e)];
        let scores: Vec<f64> =
            (0..keys).map(|j| (0..e).map(|e| term(j, e)).sum::<f64>() / (e as f64).sqrt()).collect();
        let index = |j: usize| ((self.i * n.keys + j) * n.heads + self.h) as u32;
        let factor = |j: usize| mask.nth(self.b).factor(index(j), mask.scale());
        [naive::softmax(&scores), (0..keys).map(factor).collect()]
    }
}

/// One weight at a time.
fn naive(q: &[f64], kv: &[f64], mask: DropoutMask, n: Attention, packed: bool) -> Vec<f64> {
    let (rows, mut out) = (Rows::new(n, packed), vec![0.0; n.batch * n.queries * n.width]);
    for at in queries(n) {
        let [weights, factors] = at.weights(q, kv, mask, n, rows);
        for (j, (weight, factor)) in weights.iter().zip(factors).enumerate() {
            for e in 0..n.size() {
                out[at.out(n, e)] += factor * weight * kv[at.value(n, rows, j, e)];
            }
        }
    }
    out
}

/// The gradients of queries and of keys and values, which are parts of the same rows if these are packed.
fn naive_backward(
    q: &[f64],
    kv: &[f64],
    dout: &[f64],
    mask: DropoutMask,
    n: Attention,
    packed: bool,
) -> [Vec<f64>; 2] {
    let (rows, mut dq, mut dkv) = (Rows::new(n, packed), vec![0.0; q.len()], vec![0.0; kv.len()]);
    for at in queries(n) {
        let [weights, factors] = at.weights(q, kv, mask, n, rows);
        let mut dweights = vec![0.0; weights.len()];
        for j in 0..weights.len() {
            for e in 0..n.size() {
                let (value, d) = (at.value(n, rows, j, e), dout[at.out(n, e)]);
                dweights[j] += factors[j] * d * kv[value];
                dkv[value] += factors[j] * weights[j] * d;
            }
        }
        for j in 0..weights.len() {
            // By the Jacobian of the softmax: dweightₖ/dscoreⱼ = weightₖ · (δⱼₖ − weightⱼ).
            let slope = |k: usize| weights[k] * (f64::from(u8::from(j == k)) - weights[j]);
            let dscore: f64 = (0..weights.len()).map(|k| dweights[k] * slope(k)).sum();
            for e in 0..n.size() {
                let (query, key) = (at.q(n, rows, e), at.key(n, rows, j, e));
                dq[query] += dscore * kv[key] / (n.size() as f64).sqrt();
                dkv[key] += dscore * q[query] / (n.size() as f64).sqrt();
            }
        }
    }
    [dq, dkv]
}

/// Self-attention, forward and backward.
fn check<R: Real>(n: Attention, mask: DropoutMask, seed: u64) {
    let len = n.batch * n.queries * n.width;
    let (qkv, g): (Vec<R>, Vec<R>) = (random(seed, 3 * len), random(seed + 1, len));
    let (out, stats) = forward(&qkv, mask, n);
    let x = wide(&qkv);
    // A weight is rounded by about as many ε as its score has terms, and a sum has as many weights as there are keys.
    let terms = n.keys + 4 * n.size();
    near(&out, &naive(&x, &x, mask, n, true), terms);
    let (mut dqkv, mut scratch) = (vec![R::of(9.0); qkv.len()], vec![R::of(f64::NAN); n.scratch()]);
    attention_backward(&mut dqkv, &mut scratch, &g, &out, &stats, &qkv, mask, n);
    let [dq, dkv] = naive_backward(&x, &x, &wide(&g), mask, n, true);
    near(&dqkv, &dq.iter().zip(dkv).map(|(dq, dkv)| dq + dkv).collect::<Vec<_>>(), 2 * terms);
}

/// Attention to other rows, forward and backward.
fn check_cross<R: Real>(n: Attention, mask: DropoutMask, seed: u64) {
    let (len, keys) = (n.batch * n.queries * n.width, n.batch * n.keys * 2 * n.width);
    let [q, kv, g] = [len, keys, len + 1].map(|len| random::<R>(seed + len as u64, len));
    let g = &g[..len];
    let (mut out, mut stats) = (vec![R::of(9.0); len], vec![R::of(9.0); n.stats()]);
    let mut scratch = vec![R::of(f64::NAN); n.scratch()];
    cross_attention(&mut out, &mut stats, &mut scratch, &q, &kv, mask, n);
    let terms = n.keys + 4 * n.size();
    near(&out, &naive(&wide(&q), &wide(&kv), mask, n, false), terms);
    let (mut dq, mut dkv) = (vec![R::of(9.0); len], vec![R::of(9.0); keys]);
    cross_attention_backward(&mut dq, &mut dkv, &mut scratch, g, &out, &stats, &q, &kv, mask, n);
    let expected = naive_backward(&wide(&q), &wide(&kv), &wide(g), mask, n, false);
    near(&dq, &expected[0], 2 * terms);
    near(&dkv, &expected[1], 2 * terms);
}

/// Numbers of heads and elements that take each of the three ways, in one precision or in both.
fn heads() -> impl Strategy<Value = (usize, usize)> {
    let by_head = (prop_oneof![Just(4usize), Just(8)], prop_oneof![Just(2usize), Just(4), Just(8)]);
    prop_oneof![by_head, (Just(1usize), 32usize..50), (1usize..6, 1usize..12)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_shape_equals_the_naive_twin(
        (batch, t, (heads, e)) in (0usize..3, size(), heads()),
        (causal, seed, p) in (any::<bool>(), 0u64..1000, prop_oneof![Just(0.0), Just(0.4)]),
    ) {
        let n = Attention { batch, queries: t, keys: t, width: heads * e, heads, causal, prefix: 0 };
        check::<f32>(n, DropoutMask::new(seed, p), seed);
        check::<f64>(n, DropoutMask::new(seed, p), seed);
    }

    #[test]
    fn any_shape_of_cross_attention_equals_the_naive_twin(
        (batch, queries, (heads, e)) in (0usize..3, size(), heads()),
        (more, causal) in (0usize..20, any::<bool>()),
        (seed, p) in (0u64..1000, prop_oneof![Just(0.0), Just(0.4)]),
    ) {
        // With a prefix, every query sees it, and then as many keys as there are queries up to its own.
        let (keys, prefix) = if causal { (queries + more, more) } else { (1 + more, 0) };
        let n = Attention { batch, queries, keys, width: heads * e, heads, causal, prefix };
        check_cross::<f32>(n, DropoutMask::new(seed, p), seed);
        check_cross::<f64>(n, DropoutMask::new(seed, p), seed);
    }
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
fn chosen_shapes_equal_the_naive_twin() {
    for n in shapes() {
        for mask in [DropoutMask::new(1, 0.0), DropoutMask::new(1, 0.4)] {
            check::<f32>(n, mask, 1);
            check::<f64>(n, mask, 1);
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
