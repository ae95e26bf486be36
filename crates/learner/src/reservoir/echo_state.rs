//! Echo-state networks (Jaeger 2001): a recurrent network whose weights stay as they were drawn.

use wug_dataset::Seed;
use wug_language::draw;

use super::Reservoir;
use super::features::DenseRows;
use crate::interface::Sequence;
use crate::kernel::{LOCKSTEP, Real, SparseRows, sparse_tanh_step};

/// An echo-state network, as settings say it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EchoStateSpec {
    pub units: usize,
    /// Connections to each unit, on average.
    pub connections: f64,
    /// The spectral radius to which the recurrent matrix is scaled; as drawn if not given.
    pub spectral_radius: Option<f64>,
    /// How much of a state is replaced in a step.
    pub leak: f64,
    /// Input weights are uniform in ± this.
    pub input_scale: f64,
    /// Biases are uniform in ± this.
    pub bias: f64,
    /// How many biases are added up: 2 in PyTorch's recurrent cells.
    pub biases: usize,
    /// Whether the last symbol, one-hot, is a feature too.
    pub skip: bool,
}

impl EchoStateSpec {
    /// As published: no leak, no scaling of the recurrent matrix, and the two biases of PyTorch's recurrent cell.
    pub fn published(units: usize) -> Self {
        Self {
            units,
            connections: 10.0,
            spectral_radius: None,
            leak: 1.0,
            input_scale: 1.0,
            bias: 1.0 / libm::sqrt(units as f64),
            biases: 2,
            skip: false,
        }
    }

    pub fn width(&self, vocabulary: usize) -> usize {
        self.units + if self.skip { vocabulary } else { 0 }
    }
}

/// An echo-state network with its weights.
#[derive(Clone, Debug)]
pub struct EchoState<R> {
    recurrent: SparseRows<R>,
    /// Of each symbol, what goes to each unit, bias included.
    inputs: Vec<Vec<R>>,
    leak: R,
    skip: bool,
}

impl<R: Real> EchoState<R> {
    /// With weights that are drawn: each recurrent weight is there with probability `connections / units`, uniform in ±1.
    pub fn new(spec: &EchoStateSpec, vocabulary: usize, seed: Seed) -> Self {
        let mut rng = seed.derive("reservoir/recurrent").rng();
        let density = (spec.connections / spec.units as f64).min(1.0);
        let mut uniform = |scale: f64| scale * (2.0 * draw::unit(&mut rng) - 1.0);
        let rows: Vec<Vec<(usize, f64)>> = (0..spec.units)
            .map(|_| {
                let mut row = Vec::new();
                for column in 0..spec.units {
                    if uniform(1.0) < 2.0 * density - 1.0 {
                        row.push((column, uniform(1.0)));
                    }
                }
                row
            })
            .collect();
        let scale = spec.spectral_radius.map_or(1.0, |radius| {
            let drawn = spectral_radius(&SparseRows::new(rows.iter().cloned()));
            if drawn > 0.0 { radius / drawn } else { 1.0 }
        });
        let scaled = |row: Vec<(usize, f64)>| row.into_iter().map(|(j, w)| (j, R::of(scale * w))).collect();
        let mut rng = seed.derive("reservoir/input").rng();
        let mut uniform = |scale: f64| scale * (2.0 * draw::unit(&mut rng) - 1.0);
        let bias: Vec<f64> =
            (0..spec.units).map(|_| (0..spec.biases).map(|_| uniform(spec.bias)).sum()).collect();
        let inputs = (0..vocabulary)
            .map(|_| bias.iter().map(|bias| R::of(bias + uniform(spec.input_scale))).collect())
            .collect();
        Self {
            recurrent: SparseRows::new(rows.into_iter().map(scaled)),
            inputs,
            leak: R::of(spec.leak),
            skip: spec.skip,
        }
    }

    /// With given weights: `inputs` has what goes to each unit for each symbol, bias included.
    pub fn with_weights(recurrent: SparseRows<R>, inputs: Vec<Vec<R>>, leak: R) -> Self {
        Self { recurrent, inputs, leak, skip: false }
    }

    /// Reads sequences in lockstep. `rows[b]` is the number of the first row of sequence `b`.
    fn group(&self, sequences: &[(usize, Sequence<'_>)], rows: &mut DenseRows<R>) {
        let units = self.recurrent.rows();
        let (mut state, mut next) = (vec![R::ZERO; units * LOCKSTEP], vec![R::ZERO; units * LOCKSTEP]);
        let mut input = vec![R::ZERO; units * LOCKSTEP];
        // Of each sequence, how many answers have their row.
        let mut done = [0; LOCKSTEP];
        for t in 0.. {
            let open = |b: usize| done[b] < sequences[b].1.answers.len();
            let going: Vec<usize> = (0..sequences.len()).filter(|&b| open(b)).collect();
            if going.is_empty() {
                break;
            }
            for &b in &going {
                let Some(&symbol) = sequences[b].1.symbols.get(t) else { continue };
                for (to, from) in input[b..].iter_mut().step_by(LOCKSTEP).zip(&self.inputs[symbol as usize]) {
                    *to = *from;
                }
            }
            // Sequences that are done go on with their last input: to regroup the others would cost more, and
            // these states are not read again.
            sparse_tanh_step(&mut next, &state, &input, &self.recurrent, self.leak);
            std::mem::swap(&mut state, &mut next);
            for &b in &going {
                let (first, sequence) = sequences[b];
                // An answer past the end has no row: it is never asked for.
                if sequence.answers[done[b]] == t + 1 {
                    let row = rows.row_mut(first + done[b]);
                    for (to, from) in row.iter_mut().zip(state[b..].iter().step_by(LOCKSTEP)) {
                        *to = *from;
                    }
                    if self.skip {
                        row[units + sequence.symbols[t] as usize] = R::ONE;
                    }
                    done[b] += 1;
                } else if sequence.answers[done[b]] <= t {
                    done[b] += 1;
                }
            }
        }
    }
}

impl<R: Real> Reservoir<R> for EchoState<R> {
    type Rows = DenseRows<R>;

    fn width(&self) -> usize {
        self.recurrent.rows() + if self.skip { self.inputs.len() } else { 0 }
    }

    fn run(&mut self, sequences: &[Sequence<'_>]) -> DenseRows<R> {
        let mut first = 0;
        let mut all: Vec<(usize, Sequence<'_>)> = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            all.push((first, *sequence));
            first += sequence.answers.len();
        }
        let mut rows = DenseRows::zeros(first, self.width());
        // Sequences of about the same length go together.
        all.sort_by_key(|(first, sequence)| (sequence.answers.last().copied(), *first));
        for group in all.chunks(LOCKSTEP) {
            self.group(group, &mut rows);
        }
        rows
    }
}

/// Steps before the growth of a vector is measured, and steps over which it is.
const STEPS: (usize, usize) = (200, 800);

/// The spectral radius of a matrix: the mean growth of a vector that is multiplied by it again and again.
pub fn spectral_radius(matrix: &SparseRows<f64>) -> f64 {
    let n = matrix.rows();
    // By growth rather than by eigenvalues: the matrix is sparse, and where its largest eigenvalues are a
    // complex pair single steps do not converge, but their mean does.
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + libm::sin(i as f64)).collect();
    let mut growth = 0.0;
    for step in 0..STEPS.0 + STEPS.1 {
        let y: Vec<f64> = (0..n).map(|i| matrix.row(i).map(|(j, w)| w * x[j]).sum()).collect();
        let norm = libm::sqrt(y.iter().map(|y| y * y).sum());
        if norm == 0.0 {
            return 0.0;
        }
        if step >= STEPS.0 {
            growth += libm::log(norm);
        }
        x = y.into_iter().map(|y| y / norm).collect();
    }
    libm::exp(growth / STEPS.1 as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::FeatureRows;
    use super::*;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    }

    fn matrix(value: &Value) -> Vec<Vec<f64>> {
        value.as_array().unwrap().iter().map(numbers).collect()
    }

    #[test]
    fn states_are_those_of_the_released_code() {
        let golden: Value =
            serde_json::from_str(include_str!("../../../../testdata/learner/reservoirs.json")).unwrap();
        let golden = &golden["esn"];
        let (w, w_in) = (matrix(&golden["W"]), matrix(&golden["W_in"]));
        let (ih, hh) = (numbers(&golden["bias_ih"]), numbers(&golden["bias_hh"]));
        let recurrent = SparseRows::new(
            w.iter().map(|row| row.iter().copied().enumerate().filter(|(_, w)| *w != 0.0).collect()),
        );
        let inputs = (0..5).map(|v| (0..30).map(|i| w_in[i][v] + ih[i] + hh[i]).collect()).collect();
        let mut network = EchoState::with_weights(recurrent, inputs, 1.0);
        let strings: Vec<Vec<u32>> = golden["sequences"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| numbers(s).iter().map(|&x| x as u32).chain([0]).collect())
            .collect();
        let answers: Vec<Vec<usize>> = strings.iter().map(|s| (1..s.len()).collect()).collect();
        let sequences: Vec<Sequence<'_>> =
            strings.iter().zip(&answers).map(|(symbols, answers)| Sequence { symbols, answers }).collect();
        let rows = network.run(&sequences);
        let mut expected = golden["states_after_each_token"].as_array().unwrap().iter().flat_map(matrix);
        let mut row = vec![0.0; 30];
        for i in 0..rows.len() {
            rows.read(i, &mut row);
            let expected = expected.next().unwrap();
            assert!(row.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "row {i}");
        }
        assert!(expected.next().is_none() && rows.len() == 21);
    }

    #[test]
    fn the_published_matrix_is_outside_the_echo_state_regime_and_can_be_scaled_into_it() {
        let published = EchoStateSpec { units: 400, ..EchoStateSpec::published(400) };
        let radius = |spec: &EchoStateSpec| {
            let network = EchoState::<f64>::new(spec, 3, Seed::new(1));
            spectral_radius(&network.recurrent)
        };
        let drawn = radius(&published);
        assert!((1.6..2.1).contains(&drawn), "{drawn}: in theory about the root of 10/3, 1.83");
        let scaled = radius(&EchoStateSpec { spectral_radius: Some(0.9), ..published });
        assert!((scaled - 0.9).abs() < 0.02, "{scaled}");
    }

    #[test]
    fn results_do_not_depend_on_which_sequences_go_together() {
        let spec = EchoStateSpec { skip: true, leak: 0.5, ..EchoStateSpec::published(40) };
        let mut network = EchoState::<f32>::new(&spec, 4, Seed::new(2));
        let strings: Vec<Vec<u32>> =
            (0..70).map(|i| (0..=(i % 9) + 2).map(|t| ((i * t + t) % 4) as u32).collect()).collect();
        let answers: Vec<Vec<usize>> = strings.iter().map(|s| vec![1, s.len() - 1]).collect();
        let all: Vec<Sequence<'_>> =
            strings.iter().zip(&answers).map(|(symbols, answers)| Sequence { symbols, answers }).collect();
        let together = network.run(&all);
        let (mut a, mut b) = (vec![0.0; 44], vec![0.0; 44]);
        for (i, sequence) in all.iter().enumerate() {
            let alone = network.run(&[*sequence]);
            for k in 0..2 {
                together.read(2 * i + k, &mut a);
                alone.read(k, &mut b);
                assert_eq!(a, b, "sequence {i}");
                assert!((a[40..].iter().sum::<f32>() - 1.0).abs() < 1e-6);
            }
        }
    }
}
