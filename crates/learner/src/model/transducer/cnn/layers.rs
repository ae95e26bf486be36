//! Layers with normalised weights, and the stack of them that encoder and decoder have alike.

use super::CnnTransducerSpec;
use crate::kernel::Real;
use crate::model::init::{Initialization, Role};
use crate::params::{Init, Layout, Param};
use crate::tape::{Recording, Var};

/// A layer with normalised weights.
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

    /// Its weights, on the tape.
    pub(super) fn ready<R: Real>(self, r: &mut Recording<'_, R>) -> Ready {
        let weight = r.weight_norm(self.v, self.gain);
        Ready { weight, bias: self.bias, i: self.v.len() / self.gain.len() }
    }

    pub(super) fn of<R: Real>(self, r: &mut Recording<'_, R>, x: Var) -> Var {
        self.ready(r).of(r, x)
    }
}

/// The same, to be used as often as one likes.
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

/// What encoder and decoder have alike; `T` is a layer.
#[derive(Clone, Debug)]
pub(super) struct Stack<T> {
    pub(super) symbols: Param,
    pub(super) positions: Param,
    pub(super) first: T,
    pub(super) convolutions: Vec<T>,
    /// To the width of embeddings, or of what the output layer reads.
    pub(super) last: T,
}

impl Stack<Normed> {
    /// For a vocabulary, and ending in so many numbers.
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
