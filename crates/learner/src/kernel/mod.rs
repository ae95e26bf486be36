//! Pure functions on slices: the arithmetic of every learner, the forward pass next to the backward pass.
//!
//! A kernel allocates nothing, returns no `Result` and knows no model. Sizes are not validated; slices are bounds-checked, so
//! wrong sizes panic. Tensors are row-major, and their dimensions have the same letters everywhere:
//!
//! | letter | meaning |
//! |---|---|
//! | `T` | time steps, or positions of a string |
//! | `B` | strings in a batch |
//! | `N` | rows of any kind, often `T·B` |
//! | `I`, `O` | elements of the input and the output of a layer |
//! | `H` | hidden units of a recurrent layer |
//! | `G` | sums per unit: 1, 3 (GRU) or 4 (LSTM) |
//! | `M` | elements per row of a memory |
//! | `D` | width of a transformer, `D = heads · E` |
//! | `V` | symbols of a vocabulary |
//!
//! Arguments come outputs first, then inputs, then sizes. A backward kernel *overwrites* the gradients of activations
//! and *adds to* the gradients of parameters (a parameter may be used twice). Everything is generic over `f32` and `f64`
//! ([`Real`]), single-threaded, and adds in an order that depends on sizes and instruction set alone.
//!
//! `pays` functions decide by size between a specialised kernel and the general one; the README of this crate lists them with
//! what each gains.

#![expect(
    clippy::inline_always,
    reason = "a kernel body must be compiled inside the function that enables its instructions"
)]

mod activation;
mod attention;
mod augmented;
mod dropout;
mod embedding;
mod glu;
mod gru;
mod linear;
mod loss;
mod lstm;
mod matmul;
mod matvec;
#[cfg(test)]
mod naive;
mod norm;
mod packed;
mod position;
mod real;
mod rnn;
mod rows;
mod simd;
mod sparse;
#[cfg(test)]
pub(crate) mod testing;
mod transposed;
mod update;
mod weight_norm;

pub use activation::{Activation, activate, activate_backward};
pub use attention::{
    Attention, attention, attention_backward, cross_attention, cross_attention_backward, head_order,
};
pub use augmented::{
    Augmented, AugmentedGradients, AugmentedStep, AugmentedWeights, MemoryKind, StackRnn, StackRnnGradients,
    StackRnnWeights, augmented, augmented_backward, augmented_step, stack_rnn, stack_rnn_backward,
};
pub use dropout::{DropoutMask, MaskedSlice, drop_in_place, dropout};
pub use embedding::{embedding, embedding_backward};
pub use glu::{glu, glu_backward};
pub use gru::{GRU_SUMS, Gru, GruGradients, gru, gru_backward};
pub use linear::{column_sums, linear, linear_backward};
pub use loss::{
    logistic_cross_entropy, logistic_cross_entropy_backward, softmax, softmax_cross_entropy,
    softmax_cross_entropy_backward, softmax_rows, squared_error, squared_error_backward,
};
pub use lstm::{Inputs, lstm, lstm_backward};
pub use matmul::{Accumulate, Mat, matmul, min_stable_rows};
pub use norm::{layer_norm, layer_norm_backward};
pub use position::{Sinusoid, sinusoids};
pub use real::Real;
pub use rnn::{Recurrence, RecurrentGradients, RecurrentWeights, rnn, rnn_backward};
pub use rows::scale_rows;
pub use simd::{Lane, instruction_set};
pub use sparse::{LOCKSTEP, SparseRows, sparse_tanh_step};
pub use update::{AdamStep, SgdStep, adam, sgd, sum_of_squares};
pub(crate) use weight_norm::norm;
pub use weight_norm::{weight_norm, weight_norm_backward};

pub fn add<R: Real>(out: &mut [R], x: &[R]) {
    dispatch!(add_body(out, x));
}

#[inline(always)]
fn add_body<R: Real, S: pulp::Simd>(s: S, out: &mut [R], x: &[R]) {
    for i in (0..out.len()).step_by(V::<R, S>::lanes()) {
        (V::at(s, out, i) + V::at(s, x, i)).put(out, i);
    }
}

use simd::{V, dispatch};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::{near, random, size_or_none, wide};
    use super::{Real, add};

    fn check<R: Real>(n: usize, seed: u64) {
        let (x, y): (Vec<R>, Vec<R>) = (random(seed, n), random(seed + 1, n));
        let mut out = x.clone();
        add(&mut out, &y);
        near(&out, &wide(&x).iter().zip(wide(&y)).map(|(x, y)| x + y).collect::<Vec<_>>(), 1);
    }

    proptest! {
        #[test]
        fn any_length_is_added(n in size_or_none(), seed in 0u64..1000) {
            check::<f32>(n, seed);
            check::<f64>(n, seed);
        }
    }
}
