//! Layers with weight normalisation, and the stack of them that encoder and decoder share.

use super::CnnTransducerSpec;
use crate::kernel::Real;
use crate::model::init::{Initialization, ParamRole};
use crate::params::{Init, Layout, Param};
use crate::tape::{Recording, Var};

/// A linear layer with weight normalisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normed {
    v: Param,
    gain: Param,
    bias: Param,
}

/// The sizes of a layer, and what its initialisation depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormedSpec {
    pub(super) i: usize,
    pub(super) o: usize,
    /// The share of its inputs that dropout keeps.
    pub(super) kept: f64,
    /// Whether half of its outputs are gates.
    pub(super) gated: bool,
}

impl Normed {
    pub(super) fn new(
        name: &str,
        NormedSpec { i, o, kept, gated }: NormedSpec,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let directions = init.of(ParamRole::Directions { i, kept, gated });
        let v = layout.add(format!("{name}.direction"), &[o, i], directions);
        // Lengths start as those of the drawn directions, so that the weights start as drawn (Salimans and Kingma
        // 2016).
        let gain = layout.add(format!("{name}.length"), &[o], Init::Lengths(v));
        Self { v, gain, bias: layout.add(format!("{name}.bias"), &[o], init.of(ParamRole::DirectionsBias)) }
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
        vocabulary: usize,
        last: usize,
        spec: &CnnTransducerSpec,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (c, d, kept) = (spec.channels, spec.embedding, 1.0 - spec.dropout);
        let mut table = |part: &str, rows: usize, role: ParamRole| {
            layout.add(format!("{name}.{part}"), &[rows, d], init.of(role))
        };
        let symbols = table("embedding", vocabulary, ParamRole::Embedding { d });
        let positions = table("positions", spec.positions, ParamRole::Positions);
        let mut normed =
            |part: &str, spec: NormedSpec| Normed::new(&format!("{name}.{part}"), spec, init, layout);
        let first = normed("first", NormedSpec { i: d, o: c, kept, gated: false });
        let convolutions = (0..spec.layers)
            .map(|l| {
                normed(&format!("layers.{l}"), NormedSpec { i: spec.kernel * c, o: 2 * c, kept, gated: true })
            })
            .collect();
        // No dropout comes right before this layer, so its variance has no factor for it.
        let last = normed("last", NormedSpec { i: c, o: last, kept: 1.0, gated: false });
        Self { symbols, positions, first, convolutions, last }
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
