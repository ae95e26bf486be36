//! How long the kernels take that have a path of their own, at the shapes they were written for. Each is called through the
//! public function that selects it by shape; the README of this crate says when.
//!
//! ```text
//! cargo bench -p wug-learner [FILTER]
//! ```

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use wug_learner::kernel::{
    Accumulate, Activation, AdamStep, Attention, DropoutMask, Inputs, MaskedSlice, Mat, Recurrence,
    RecurrentGradients, RecurrentWeights, activate, adam, attention, attention_backward, dropout, lstm,
    lstm_backward, matmul, rnn, softmax_rows,
};

fn main() {
    divan::main();
}

/// Values in (−0.1, 0.1) from a formula.
fn values(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919 % 2003) as f32 / 1001.5 - 1.0) * 0.1).collect()
}

/// The recurrent layers of the 64k-parameter recognizers: 100 strings of 40 symbols.
const BATCH: Recurrence = Recurrence { steps: 40, batch: 100, input: 40, hidden: 40 };

/// Recurrent layers: `packed` with many strings, `lstm/fused` with many, `matvec` with one.
mod recurrent {
    use super::{
        Accumulate, Activation, BATCH, Bencher, DropoutMask, Inputs, ItemsCount, MaskedSlice, Recurrence,
        RecurrentGradients, RecurrentWeights, lstm, lstm_backward, rnn, values,
    };

    struct Layer {
        n: Recurrence,
        sums: usize,
        x: Vec<f32>,
        params: Vec<f32>,
        h: Vec<f32>,
        workspace: Vec<f32>,
    }

    impl Layer {
        fn new(n: Recurrence, sums: usize) -> Self {
            Self {
                n,
                sums,
                x: values(n.steps * n.batch * n.input),
                params: values(sums * n.hidden * (n.input + n.hidden + 1)),
                h: vec![0.0; (n.steps + 1) * n.batch * n.hidden],
                workspace: vec![0.0; n.workspace::<f32>(sums)],
            }
        }

        fn weights(&self) -> RecurrentWeights<'_, f32> {
            weights(&self.params, self.n, self.sums)
        }
    }

    fn weights(params: &[f32], n: Recurrence, sums: usize) -> RecurrentWeights<'_, f32> {
        let (input, rest) = params.split_at(sums * n.hidden * n.input);
        let (hidden, bias) = rest.split_at(sums * n.hidden * n.hidden);
        RecurrentWeights { input, hidden, bias }
    }

    fn masked(values: &[f32]) -> MaskedSlice<'_, f32> {
        MaskedSlice { values, mask: DropoutMask::NONE }
    }

    /// Recurrent weights packed once per sequence.
    #[divan::bench]
    fn packed_rnn(bencher: Bencher<'_, '_>) {
        let n = Recurrence { input: 79, hidden: 79, ..BATCH };
        let mut layer = Layer::new(n, 1);
        bencher.bench_local(|| {
            let w = weights(&layer.params, n, 1);
            rnn(&mut layer.h, &mut layer.workspace, masked(&layer.x), w, n, Activation::Tanh);
        });
    }

    /// 100 strings take the fused step; 5 the products and the activations apart.
    #[divan::bench(args = [100, 5])]
    fn lstm_forward(bencher: Bencher<'_, '_>, batch: usize) {
        let n = Recurrence { batch, ..BATCH };
        let mut layer = Layer::new(n, 4);
        let row = n.batch * n.hidden;
        let (mut c, mut gates) = (vec![0.0; (n.steps + 1) * row], vec![0.0; n.steps * 4 * row]);
        bencher.counter(ItemsCount::new(n.steps * n.batch)).bench_local(|| {
            let (x, w) = (Inputs::Values(masked(&layer.x)), weights(&layer.params, n, 4));
            lstm(&mut layer.h, &mut c, &mut gates, &mut layer.workspace, x, w, n);
        });
    }

    #[divan::bench(args = [100, 5])]
    fn lstm_backward_pass(bencher: Bencher<'_, '_>, batch: usize) {
        let n = Recurrence { batch, ..BATCH };
        let layer = Layer::new(n, 4);
        let row = n.batch * n.hidden;
        let (c, gates) = (values((n.steps + 1) * row), vec![0.5; n.steps * 4 * row]);
        let mut dparams = vec![0.0; layer.params.len()];
        let (mut dx, mut workspace) = (vec![0.0; layer.x.len()], layer.workspace.clone());
        bencher
            .counter(ItemsCount::new(n.steps * n.batch))
            .with_inputs(|| (layer.h.clone(), vec![0.01; row], gates.clone()))
            .bench_local_values(|(mut dh, mut dc, mut gates)| {
                let (input, rest) = dparams.split_at_mut(4 * n.hidden * n.input);
                let (hidden, bias) = rest.split_at_mut(4 * n.hidden * n.hidden);
                let dw = RecurrentGradients { into: Accumulate::Set, input, hidden, bias };
                let (h, x, w) = (&layer.h, masked(&layer.x), layer.weights());
                lstm_backward(&mut dx, &mut dh, &mut dc, dw, &mut gates, &mut workspace, h, &c, x, w, n);
                (dh, dc, gates)
            });
    }
}

/// Single matrix products. Where rows of `a` are padded, the product goes to the GEMM crate: the comparison for the kernel.
mod product {
    use super::{Accumulate, Bencher, ItemsCount, Mat, black_box, matmul, values};

    /// `c[m,n] = a[m,k] · b[k,n]`, each operand stored as it is or as its transpose; the rows of `a` are `padding` further apart.
    fn bench(
        bencher: Bencher<'_, '_>,
        (m, k, n): (usize, usize, usize),
        stored_t: [bool; 2],
        padding: usize,
    ) {
        let (rows, cols) = if stored_t[0] { (k, m) } else { (m, k) };
        let (a, b, mut c) = (values(rows * (cols + padding)), values(k * n), vec![0.0; m * n]);
        bencher.counter(ItemsCount::new(2 * m * k * n)).bench_local(|| {
            let a = Mat::strided(&a, rows, cols, cols + padding);
            let a = if stored_t[0] { a.t() } else { a };
            let b = if stored_t[1] { Mat::new(&b, n, k).t() } else { Mat::new(&b, k, n) };
            matmul(black_box(&mut c), Accumulate::Set, a, b);
        });
    }

    /// The recurrent matrix of an LSTM of 512 units (4 MB) times one state.
    #[divan::bench]
    fn matvec(bencher: Bencher<'_, '_>) {
        bench(bencher, (1, 512, 2048), [false, true], 0);
    }

    /// The same matrix in the backward pass.
    #[divan::bench]
    fn vecmat(bencher: Bencher<'_, '_>) {
        bench(bencher, (1, 2048, 512), [false, false], 0);
    }

    /// Output layers of (columns, padding): small vocabularies; with padding, by the GEMM crate.
    #[divan::bench(args = [(3, 0), (3, 8), (8, 0), (8, 8), (32, 0), (32, 8)])]
    fn packed_narrow(bencher: Bencher<'_, '_>, (columns, padding): (usize, usize)) {
        bench(bencher, (1000, 32, columns), [false, true], padding);
    }

    /// The gradient of a recurrent weight, `[4H, T·B] · [T·B, H]`; with padding, by the GEMM crate.
    #[divan::bench(args = [0, 8])]
    fn transposed(bencher: Bencher<'_, '_>, padding: usize) {
        bench(bencher, (156, 4000, 39), [true, false], padding);
    }
}

/// One training batch of attention: by head (8 heads of 4), by position (3 heads), by element (a single head).
mod attend {
    use super::{Attention, Bencher, DropoutMask, attention, attention_backward, values};

    const SHAPES: &[(&str, usize, usize)] = &[("head", 32, 8), ("position", 33, 3), ("element", 32, 1)];

    fn shape(by: &str) -> Attention {
        let &(_, width, heads) = SHAPES.iter().find(|(name, ..)| *name == by).expect("a shape of that name");
        Attention { batch: 20, queries: 40, keys: 40, width, heads, causal: true, prefix: 0 }
    }

    fn forward(n: Attention, qkv: &[f32], mask: DropoutMask) -> (Vec<f32>, Vec<f32>) {
        let (mut out, mut stats) = (vec![0.0; n.batch * n.queries * n.width], vec![0.0; n.stats()]);
        attention(&mut out, &mut stats, &mut vec![0.0; n.scratch()], qkv, mask, n);
        (out, stats)
    }

    #[divan::bench(args = ["head", "position", "element"])]
    fn forward_pass(bencher: Bencher<'_, '_>, by: &str) {
        let n = shape(by);
        let qkv = values(n.batch * n.queries * 3 * n.width);
        let (mut out, mut stats) = forward(n, &qkv, DropoutMask::NONE);
        let mut scratch = vec![0.0; n.scratch()];
        bencher.bench_local(|| attention(&mut out, &mut stats, &mut scratch, &qkv, DropoutMask::NONE, n));
    }

    #[divan::bench(args = ["head", "position", "element"])]
    fn backward_pass(bencher: Bencher<'_, '_>, by: &str) {
        let n = shape(by);
        let qkv = values(n.batch * n.queries * 3 * n.width);
        let (out, stats) = forward(n, &qkv, DropoutMask::NONE);
        let (dout, mut dqkv, mut scratch) = (values(out.len()), vec![0.0; qkv.len()], vec![0.0; n.scratch()]);
        bencher.bench_local(|| {
            attention_backward(&mut dqkv, &mut scratch, &dout, &out, &stats, &qkv, DropoutMask::NONE, n);
        });
    }
}

/// Functions of 4,096 elements.
mod elementwise {
    use super::{
        Activation, AdamStep, Bencher, DropoutMask, ItemsCount, activate, adam, black_box, dropout,
        softmax_rows, values,
    };

    const N: usize = 4096;

    #[divan::bench(args = [Activation::Tanh, Activation::Sigmoid])]
    fn squash(bencher: Bencher<'_, '_>, f: Activation) {
        let (x, mut out) = (values(N), vec![0.0; N]);
        bencher.counter(ItemsCount::new(N)).bench_local(|| {
            out.copy_from_slice(&x);
            activate(black_box(&mut out), &[], f);
        });
    }

    /// `exp`, with the sums and the division of a softmax over rows of 64.
    #[divan::bench]
    fn exp_in_softmax(bencher: Bencher<'_, '_>) {
        let (x, mut out) = (values(N), vec![0.0; N]);
        bencher.counter(ItemsCount::new(N)).bench_local(|| {
            out.copy_from_slice(&x);
            softmax_rows(black_box(&mut out), 64);
        });
    }

    /// Parameters and moments in the second-level cache.
    #[divan::bench]
    fn adam_update(bencher: Bencher<'_, '_>) {
        let (mut w, mut m, mut v, g) = (values(N), vec![0.0; N], vec![0.0; N], values(N));
        let step = AdamStep {
            gradient_scale: 1.0,
            l1: 0.0,
            l2: 0.0,
            decay: 0.0,
            beta1: 0.9,
            beta2: 0.999,
            rate: 1e-3,
            root_scale: 1.0,
            epsilon: 1e-8,
        };
        bencher.counter(ItemsCount::new(N)).bench_local(|| adam(&mut w, &mut m, &mut v, &g, &step));
    }

    #[divan::bench]
    fn dropout_mask(bencher: Bencher<'_, '_>) {
        let (x, mut out, mask) = (values(N), vec![0.0; N], DropoutMask::new(1, 0.1));
        bencher.counter(ItemsCount::new(N)).bench_local(|| dropout(black_box(&mut out), &x, mask, 0));
    }
}
