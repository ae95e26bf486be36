//! Layers with weight normalisation, and the stack of them that encoder and decoder share.

use super::CnnTransducerSpec;
use crate::kernel::Real;
use crate::model::init::{Initialization, Role};
use crate::params::{Init, Layout, Param};
use crate::tape::{Recording, Var};

/// A linear layer with weight normalisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normed {
    v: Param,
    gain: Param,
    bias: Param,
}

impl Normed {
    pub(super) fn new(
        name: &str,
        (i, o): (usize, usize),
        (kept, gated): (f64, bool),
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let directions = init.of(Role::Directions { i, kept, gated });
        let v = layout.add(format!("{name}.direction"), &[o, i], directions);
        let gain = layout.add(format!("{name}.length"), &[o], Init::Lengths(v));
        Self { v, gain, bias: layout.add(format!("{name}.bias"), &[o], init.of(Role::DirectionsBias)) }
    }

    /// Computes the weights on the tape, to be used any number of times.
    pub(super) fn ready<R: Real>(self, r: &mut Recording<'_, R>) -> Ready {
        let weight = r.weight_norm(self.v, self.gain);
        Ready { weight, bias: self.bias, i: self.v.len() / self.gain.len() }
    }

    pub(super) fn of<R: Real>(self, r: &mut Recording<'_, R>, x: Var) -> Var {
        self.ready(r).of(r, x)
    }
}

/// A linear layer whose weights are on the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ready {
    weight: Var,
    bias: Param,
    i: usize,
}

impl Ready {
    pub(super) fn of<R: Real>(self, r: &mut Recording<'_, R>, x: Var) -> Var {
        r.product(x, self.weight, self.bias, self.i)
    }
}

/// The layers that encoder and decoder share; `T` is a linear layer.
#[derive(Clone, Debug)]
pub(super) struct Stack<T> {
    pub(super) symbols: Param,
    pub(super) positions: Param,
    pub(super) first: T,
    pub(super) convolutions: Vec<T>,
    /// To the width of embeddings (encoder) or of the output layer's input (decoder).
    pub(super) last: T,
}

impl Stack<Normed> {
    /// `last` is the width of the last layer's output.
    pub(super) fn new(
        name: &str,
        (vocabulary, last): (usize, usize),
        spec: &CnnTransducerSpec,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (c, d, kept) = (spec.channels, spec.embedding, 1.0 - spec.dropout);
        let mut table = |part: &str, rows: usize, role: Role| {
            layout.add(format!("{name}.{part}"), &[rows, d], init.of(role))
        };
        let symbols = table("embedding", vocabulary, Role::Embedding { d });
        let positions = table("positions", spec.positions, Role::Positions);
        let mut normed = |part: &str, sizes: (usize, usize), drawn: (f64, bool)| {
            Normed::new(&format!("{name}.{part}"), sizes, drawn, init, layout)
        };
        let first = normed("first", (d, c), (kept, false));
        let convolutions = (0..spec.layers)
            .map(|l| normed(&format!("layers.{l}"), (spec.kernel * c, 2 * c), (kept, true)))
            .collect();
        Self { symbols, positions, first, convolutions, last: normed("last", (c, last), (1.0, false)) }
    }

    pub(super) fn ready<R: Real>(&self, r: &mut Recording<'_, R>) -> Stack<Ready> {
        Stack {
            symbols: self.symbols,
            positions: self.positions,
            first: self.first.ready(r),
            convolutions: self.convolutions.iter().map(|layer| layer.ready(r)).collect(),
            last: self.last.ready(r),
        }
    }
}
