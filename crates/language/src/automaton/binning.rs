//! The sampler as the paper describes it, the test oracle of the one in use: weights in the binning
//! semiring over the log semiring (Def. 6), summed over all paths with Lehmann's algorithm (Algorithms 1 to
//! 4).

use super::sampler::log_sum;
use super::{Dfa, LengthSampler, random};
use proptest::prelude::*;

/// A vector of log-probabilities, one bin per number of symbols.
#[derive(Clone)]
struct Bins(Vec<f64>);

impl Bins {
    fn zero(order: usize) -> Self {
        Self(vec![f64::NEG_INFINITY; order + 1])
    }

    fn one(order: usize) -> Self {
        Self::single(order, 0, 0.0)
    }

    fn single(order: usize, bin: usize, value: f64) -> Self {
        let mut bins = Self::zero(order);
        bins.0[bin] = value;
        bins
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(&a, &b)| log_sum([a, b].into_iter())).collect())
    }

    fn times(&self, other: &Self) -> Self {
        Self((0..self.0.len()).map(|i| log_sum((0..=i).map(|j| self.0[j] + other.0[i - j]))).collect())
    }

    /// Eq. 11: the sum of all powers.
    fn star(&self) -> Self {
        let base = -libm::log(1.0 - libm::exp(self.0[0]));
        let mut star: Vec<f64> = Vec::new();
        for i in 0..self.0.len() {
            let one = if i == 0 { 0.0 } else { f64::NEG_INFINITY };
            let rest = log_sum((1..=i).map(|j| self.0[j] + star[i - j]));
            star.push(base + log_sum([one, rest].into_iter()));
        }
        Self(star)
    }
}

/// β: for each state, the weight of all ways to accept, binned by length.
fn backward(dfa: &Dfa, order: usize) -> Vec<Bins> {
    let n = dfa.states();
    let share: Vec<f64> = dfa
        .state_ids()
        .map(|q| -libm::log((dfa.arcs(q).count() + usize::from(dfa.is_accepting(q))).max(1) as f64))
        .collect();
    let mut paths = vec![vec![Bins::zero(order); n]; n];
    for q in dfa.state_ids() {
        for (_, r) in dfa.arcs(q) {
            let weight = Bins::single(
                order,
                1.min(order),
                if order > 0 { share[q.index()] } else { f64::NEG_INFINITY },
            );
            paths[q.index()][r.index()] = paths[q.index()][r.index()].plus(&weight);
        }
    }
    // Lehmann: allow state k as an inner state of paths, one k after the other.
    for k in 0..n {
        let loops = paths[k][k].star();
        let old = paths.clone();
        for i in 0..n {
            for j in 0..n {
                paths[i][j] = old[i][j].plus(&old[i][k].times(&loops).times(&old[k][j]));
            }
        }
    }
    (0..n)
        .map(|q| {
            let mut beta = Bins::zero(order);
            for r in dfa.state_ids().filter(|&r| dfa.is_accepting(r)) {
                let accept = Bins::single(order, 0, share[r.index()]);
                let mut reach = paths[q][r.index()].clone();
                if q == r.index() {
                    reach = reach.plus(&Bins::one(order));
                }
                beta = beta.plus(&reach.times(&accept));
            }
            beta
        })
        .collect()
}

proptest! {
    #[test]
    fn backward_pass_equals_the_binning_semiring(seed in any::<u64>()) {
        let order = 12;
        let dfa = random::dfa(seed);
        let beta = backward(&dfa, order);
        let sampler = LengthSampler::new(&dfa, order);
        for (length, &expected) in beta[dfa.start().index()].0.iter().enumerate() {
            let got = sampler.log_weight(length);
            let both_impossible = got.max(expected) == f64::NEG_INFINITY;
            prop_assert!(both_impossible || (got - expected).abs() < 1e-9, "length {}: {} and {}", length, got, expected);
        }
        // The step distributions are what weight pushing gives: share · β(next, i − 1) / β(here, i).
        for q in dfa.state_ids() {
            for left in 1..=order {
                if beta[q.index()].0[left] == f64::NEG_INFINITY {
                    continue;
                }
                let steps: Vec<_> = sampler.step_probs(q, left).collect();
                let total: f64 = steps.iter().map(|(_, _, p)| p).sum();
                prop_assert!((total - 1.0).abs() < 1e-9);
                for (_, r, p) in steps {
                    let degree = dfa.arcs(q).count() + usize::from(dfa.is_accepting(q));
                    let pushed = libm::exp(beta[r.index()].0[left - 1] - beta[q.index()].0[left]) / degree as f64;
                    prop_assert!((p - pushed).abs() < 1e-9);
                }
            }
        }
    }
}
