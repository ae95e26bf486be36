//! The share of each action: a softmax with a temperature and, in training, Gumbel noise.

use super::super::{Real, softmax};

/// Turns rows of `A` sums into shares of actions: `softmax((sums + noise) / temperature)`; empty noise is zero.
pub(super) fn gate<R: Real>(sums: &mut [R], noise: &[R], temperature: R, actions: usize) {
    for (x, &g) in sums.iter_mut().zip(noise) {
        *x += g;
    }
    for row in sums.chunks_exact_mut(actions) {
        for x in row.iter_mut() {
            *x = *x / temperature;
        }
        softmax(row);
    }
}

/// The backward pass of one row: `actions` come in as the shares and go out as the gradient of the sums.
pub(super) fn gate_backward<R: Real>(actions: &mut [R], dactions: &[R], temperature: R) {
    // The Jacobian of the softmax, a·(d − Σ a·d). Noise and temperature are constants.
    let mean: R = actions.iter().zip(dactions).map(|(&a, &d)| a * d).sum();
    for (a, &d) in actions.iter_mut().zip(dactions) {
        *a = *a * (d - mean) / temperature;
    }
}
