use super::super::testing::{
    check_finite_differences, close, close_single, dot, near, random, singles, size, values, wide,
};
use super::*;
use proptest::prelude::*;

/// Sizes of all parameters, side by side.
fn lengths(n: &Augmented) -> [usize; 9] {
    let (h, i, d, a) = (n.recurrence.hidden, n.recurrence.input, n.width, n.device.actions());
    let g = if n.lstm { 4 * h } else { h };
    [g * i, g * h, g, h * d, h, a * h, a, d * h, d]
}

fn weights<'a, R: Real>(p: &'a [R], n: &Augmented, temperature: f64) -> AugmentedWeights<'a, R> {
    let mut rest = p;
    let [input, hidden, bias, r, rb, a, ab, e, eb] = lengths(n).map(|len| {
        let (part, after) = rest.split_at(len);
        rest = after;
        part
    });
    AugmentedWeights {
        network: RecurrentWeights { input, hidden, bias },
        read: (r, rb),
        action: (a, ab),
        element: (e, eb),
        temperature: R::of(temperature),
    }
}

fn gradients<'a>(p: &'a mut [f64], n: &Augmented) -> AugmentedGradients<'a, f64> {
    let [input, hidden, bias, r, rb, a, ab, e, eb] = cut(p, lengths(n));
    let network = RecurrentGradients { into: Accumulate::Add, input, hidden, bias };
    AugmentedGradients { network, read: (r, rb), action: (a, ab), element: (e, eb) }
}

/// A network, its parameters, inputs and noise.
struct Case {
    n: Augmented,
    p: Vec<f64>,
    x: Vec<f64>,
    noise: Vec<f64>,
    temperature: f64,
}

impl Case {
    fn new(n: Augmented, seed: u64) -> Self {
        let Recurrence { steps, batch, input, .. } = n.recurrence;
        let noise = if seed.is_multiple_of(2) {
            vec![]
        } else {
            values(seed + 2, steps * batch * n.device.actions())
        };
        let p = values(seed, lengths(&n).iter().sum()).iter().map(|p| 0.8 * p).collect();
        let x = values(seed + 1, steps * batch * input);
        Self { n, p, x, noise, temperature: 0.5 + (seed % 5) as f64 / 4.0 }
    }

    fn run(&self, x: &[f64], p: &[f64], keep: bool) -> (Vec<f64>, Vec<f64>) {
        let (n, w) = (&self.n, weights(p, &self.n, self.temperature));
        let mut h = vec![0.0; (n.recurrence.steps + 1) * n.recurrence.batch * n.recurrence.hidden];
        // Whatever was there before must not matter.
        let mut trace = vec![f64::NAN; n.trace::<f64>(keep)];
        augmented(&mut h, &mut trace, x, &self.noise, w, n, keep);
        (h, trace)
    }
}

type Matrix = Vec<Vec<f64>>;

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, other)| x * other[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

/// The square matrices by which a memory of `size` rows is multiplied, one per action, as the authors have them.
fn action_matrices(device: MemoryKind, size: usize) -> Vec<Matrix> {
    let matrix = |one: &dyn Fn(usize, usize) -> bool| -> Matrix {
        (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(one(i, j)))).collect()).collect()
    };
    let (down, up) = (matrix(&|i, j| i == j + 1), matrix(&|i, j| i + 1 == j));
    match device {
        MemoryKind::Stack => vec![down, up],
        MemoryKind::RestingStack => vec![down, up, matrix(&|i, j| i == j)],
        MemoryKind::BabyNtm => {
            let rotations: [Matrix; 2] =
                [matrix(&|i, j| (i + 1) % size == j), matrix(&|i, j| i == (j + 1) % size)];
            let [rotate_up, rotate_down] = rotations;
            vec![rotate_up, rotate_down, matrix(&|i, j| i == j), down, up]
        }
    }
}

fn affine((weight, bias): (&[f64], &[f64]), x: &[f64]) -> Vec<f64> {
    weight.chunks(x.len()).zip(bias).map(|(row, b)| dot(row, x) + b).collect()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// One string by dense matrices: its states and its last memory.
fn naive(case: &Case, b: usize) -> (Matrix, Matrix) {
    let (n, w) = (&case.n, weights(&case.p, &case.n, case.temperature));
    let Recurrence { steps, batch, input, hidden } = n.recurrence;
    let matrices = action_matrices(n.device, n.rows);
    let mut memory = vec![vec![0.0; n.width]; n.rows];
    let (mut states, mut cell) = (vec![vec![0.0; hidden]], vec![0.0; hidden]);
    for t in 0..steps {
        let read = affine(w.read, &memory[0]);
        let bar: Vec<f64> = states[t].iter().zip(read).map(|(h, r)| h + r).collect();
        let x = &case.x[(t * batch + b) * input..][..input];
        let from_state = affine((w.network.hidden, w.network.bias), &bar);
        let zeros = vec![0.0; from_state.len()];
        let sums: Vec<f64> =
            affine((w.network.input, &zeros), x).iter().zip(from_state).map(|(a, b)| a + b).collect();
        let state: Vec<f64> = if n.lstm {
            let gate = |g: usize, u: usize| sums[g * hidden + u];
            for (u, c) in cell.iter_mut().enumerate() {
                *c = sigmoid(gate(1, u)) * *c + sigmoid(gate(0, u)) * libm::tanh(gate(2, u));
            }
            (0..hidden).map(|u| sigmoid(gate(3, u)) * libm::tanh(cell[u])).collect()
        } else {
            sums.iter().map(|&s| libm::tanh(s)).collect()
        };
        let mut scores = affine(w.action, &state);
        for (a, score) in scores.iter_mut().enumerate() {
            let noise = case.noise.get((t * batch + b) * n.device.actions() + a);
            *score = libm::exp((*score + noise.unwrap_or(&0.0)) / case.temperature);
        }
        let total: f64 = scores.iter().sum();
        let element = affine(w.element, &state).into_iter().map(sigmoid);
        let written = if n.device == MemoryKind::BabyNtm { 1.0 } else { scores[0] / total };
        let mut next = vec![vec![0.0; n.width]; n.rows];
        for (score, matrix) in scores.iter().zip(&matrices) {
            for (row, moved) in next.iter_mut().zip(product(matrix, &memory)) {
                row.iter_mut().zip(moved).for_each(|(x, y)| *x += score / total * y);
            }
        }
        next[0].iter_mut().zip(element).for_each(|(x, v)| *x += written * v);
        memory = next;
        states.push(state);
    }
    (states, memory)
}

/// The memory of string `b` after all steps, every row of it.
fn last_memory(n: &Augmented, trace: &[f64], b: usize) -> Matrix {
    let held = n.held(n.recurrence.steps);
    let memories = &trace[trace.len() - n.recurrence.batch * held..];
    let rows: Matrix = memories[b * held..][..held].chunks(n.width).map(<[f64]>::to_vec).collect();
    let extent = n.device.extent(n.rows, n.recurrence.steps);
    let zero = vec![0.0; n.width];
    (0..n.rows).map(|row| extent.find(row).map_or(&zero, |place| &rows[place]).clone()).collect()
}

fn shape(steps: usize, batch: usize, rows: usize, lstm: bool, device: MemoryKind) -> Augmented {
    let recurrence = Recurrence { steps, batch, input: 3, hidden: 4 };
    Augmented { recurrence, lstm, device, rows, width: 2 }
}

const KINDS: [MemoryKind; 3] = [MemoryKind::Stack, MemoryKind::RestingStack, MemoryKind::BabyNtm];

fn kinds() -> impl Iterator<Item = (bool, MemoryKind)> {
    KINDS.into_iter().flat_map(|device| [(false, device), (true, device)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn equals_dense_matrices(
        (steps, batch, rows) in (0usize..14, 1usize..4, 1usize..20),
        (input, hidden) in (1usize..5, prop_oneof![1usize..7, size()]),
        width in prop_oneof![1usize..6, proptest::sample::select(vec![7, 8, 9, 17])],
        (lstm, kind, seed) in (any::<bool>(), 0usize..3, 0u64..1000),
    ) {
        let device = KINDS[kind];
        let recurrence = Recurrence { steps, batch, input, hidden };
        let case = Case::new(Augmented { recurrence, lstm, device, rows, width }, seed);
        let (h, trace) = case.run(&case.x, &case.p, true);
        prop_assert_eq!(&case.run(&case.x, &case.p, false).0, &h, "with and without a backward pass");
        for b in 0..batch {
            let (states, memory) = naive(&case, b);
            let own: Vec<f64> =
                (0..=steps).flat_map(|t| h[(t * batch + b) * hidden..][..hidden].to_vec()).collect();
            close(&own, &states.concat(), 1e-12);
            close(&last_memory(&case.n, &trace, b).concat(), &memory.concat(), 1e-12);
        }
    }
}

/// One step of a memory and its gradients, against the matrices of all actions. `old` and `dnew` have every row.
fn check_move<R: Real>(device: MemoryKind, rows: usize, steps: usize, d: usize, seed: u64) {
    let step = memory::MemoryStep {
        device,
        before: device.extent(rows, steps),
        after: device.extent(rows, steps + 1),
    };
    let (held, new_held) = (step.before.held() * d, step.after.held() * d);
    let (a, b): (Vec<R>, Vec<R>) = (random(seed, held), random(seed + 1, new_held));
    let (actions, element): (Vec<R>, Vec<R>) = (random(seed + 2, device.actions()), random(seed + 3, d));
    let dense = |extent: memory::Extent, held: &[f64]| -> Matrix {
        let row = |row| extent.find(row).map_or(vec![0.0; d], |place| held[place * d..][..d].to_vec());
        (0..rows).map(row).collect()
    };
    let (old, dnew) = (dense(step.before, &wide(&a)), dense(step.after, &wide(&b)));
    let is_ntm = device == MemoryKind::BabyNtm;
    let written = if is_ntm { 1.0 } else { actions[0].wide() };
    let (mut new, mut dold) = (vec![vec![0.0; d]; rows], vec![vec![0.0; d]; rows]);
    let mut dactions = vec![0.0; actions.len()];
    for (action, matrix) in action_matrices(device, rows).iter().enumerate() {
        let (share, moved) = (actions[action].wide(), product(matrix, &old));
        for (i, j, e) in (0..rows * rows * d).map(|k| (k / d / rows, k / d % rows, k % d)) {
            dold[j][e] += share * matrix[i][j] * dnew[i][e];
        }
        for (i, e) in (0..rows * d).map(|k| (k / d, k % d)) {
            new[i][e] += share * moved[i][e];
            dactions[action] += dnew[i][e] * moved[i][e];
        }
    }
    for (e, x) in wide(&element).into_iter().enumerate() {
        new[0][e] += written * x;
        dactions[0] += if is_ntm { 0.0 } else { dnew[0][e] * x };
    }
    let shares = device.shares(&actions);
    let mut kernel_new = vec![R::of(9.0); new_held];
    step.forward(&mut kernel_new, &a, &element, &shares);
    let terms = actions.len() + rows * d;
    near(
        &dense(step.after, &wide(&kernel_new)).concat().into_iter().map(R::of).collect::<Vec<R>>(),
        &new.concat(),
        terms,
    );
    let (mut kernel_dold, mut delement) = (vec![R::of(9.0); held], vec![R::of(9.0); d]);
    let memory = memory::MemoryBackward { old: &a, dnew: &b, dold: &mut kernel_dold };
    let dshares = step.backward(memory, &mut delement, &element, &shares);
    let mut kernel_dactions = vec![R::of(9.0); actions.len()];
    device.actions_backward(&mut kernel_dactions, &dshares);
    near(&kernel_dactions, &dactions, terms);
    near(&delement, &dnew[0].iter().map(|d| written * d).collect::<Vec<_>>(), terms);
    // Rows that are not held before the step are constants.
    for (row, (expected, got)) in dold.iter().zip(dense(step.before, &wide(&kernel_dold))).enumerate() {
        if step.before.find(row).is_some() {
            near(&got.into_iter().map(R::of).collect::<Vec<R>>(), expected, terms);
        }
    }
}

proptest! {
    #[test]
    fn any_move_equals_dense_matrices(
        (kind, rows, steps) in (0usize..3, 1usize..20, 0usize..24),
        (d, seed) in (prop_oneof![1usize..6, proptest::sample::select(vec![7, 8, 9, 17])], 0u64..1000),
    ) {
        check_move::<f32>(KINDS[kind], rows, steps, d, seed);
        check_move::<f64>(KINDS[kind], rows, steps, d, seed);
    }
}

/// Memories whose two ends stay apart, that fill up during the run, and that are too small from the start.
#[test]
fn gradients_match_finite_differences() {
    for (lstm, device) in kinds() {
        for (seed, rows) in [(1, 40), (2, 5), (3, 6), (4, 2), (6, 1)] {
            let case = Case::new(shape(7, 2, rows, lstm, device), seed);
            let n = &case.n;
            let (h, mut trace) = case.run(&case.x, &case.p, true);
            let g = values(seed + 7, h.len());
            let (mut dx, mut dh) = (vec![9.0; case.x.len()], g.clone());
            let (mut dp, mut scratch) = (vec![0.0; case.p.len()], vec![f64::NAN; n.scratch()]);
            let w = weights(&case.p, n, case.temperature);
            let dw = gradients(&mut dp, n);
            augmented_backward(&mut dx, &mut dh, dw, &mut trace, &mut scratch, &h, &case.x, w, n);
            check_finite_differences(&case.x, &dx, |x| dot(&case.run(x, &case.p, false).0, &g));
            check_finite_differences(&case.p, &dp, |p| dot(&case.run(&case.x, p, false).0, &g));
        }
    }
}

#[test]
fn single_precision_is_close() {
    for (lstm, device) in kinds() {
        let case = Case::new(shape(12, 3, 9, lstm, device), 5);
        let (n, p) = (&case.n, singles(&case.p));
        let (expected, _) = case.run(&case.x, &case.p, false);
        let (mut h, mut trace) = (vec![0.0f32; expected.len()], vec![0.0f32; n.trace::<f32>(true)]);
        let w = weights(&p, n, case.temperature);
        augmented(&mut h, &mut trace, &singles(&case.x), &singles(&case.noise), w, n, true);
        close_single(&h, &expected, 1e-5);
    }
}

#[test]
fn no_more_rows_are_held_than_can_be_reached() {
    let held = |device, rows, steps| shape(0, 1, rows, false, device).held(steps) / 2;
    assert_eq!([0, 1, 3, 7, 8].map(|steps| held(MemoryKind::Stack, 7, steps)), [0, 1, 3, 7, 7]);
    assert_eq!([0, 1, 3, 4, 8].map(|steps| held(MemoryKind::BabyNtm, 7, steps)), [0, 1, 5, 7, 7]);
    for device in [MemoryKind::Stack, MemoryKind::BabyNtm] {
        for (rows, steps) in (1..9).flat_map(|rows| (0..12).map(move |steps| (rows, steps))) {
            let extent = |steps| device.extent(rows, steps);
            let found = device.steps(rows, extent(steps).held());
            assert_eq!(
                (extent(found), extent(found + 1)),
                (extent(steps), extent(steps + 1)),
                "{rows} {steps}"
            );
        }
    }
}
