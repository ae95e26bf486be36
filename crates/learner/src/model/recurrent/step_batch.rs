//! Reading on after many prefixes, as one batch.
//!
//! Kernels sum small batches in another order than large ones. A batch of fewer than [`min_stable_rows`] strings is
//! therefore padded with rows that are not used, so that a string has the same bits in a batch of any size.

use super::{Cell, Recurrent};
use crate::kernel::{Real, min_stable_rows};
use crate::model::states::{BatchShape, BatchStates, PrefixState};
use crate::tape::{Layer, Recording, Var};

/// The pieces of a batch: `steps` symbols each, padded to `rows` pieces.
#[derive(Clone, Copy)]
struct Pieces<'a> {
    inputs: &'a [&'a [u32]],
    steps: usize,
    rows: usize,
}

impl<'a> Pieces<'a> {
    fn symbols(self) -> impl Iterator<Item = u32> + 'a {
        let padding = std::iter::repeat_n(0, self.rows - self.inputs.len());
        (0..self.steps)
            .flat_map(move |t| self.inputs.iter().map(move |piece| piece[t]).chain(padding.clone()))
    }
}

impl Recurrent {
    /// Reads one piece per state.
    pub(super) fn step_states<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
    ) -> BatchStates {
        let (h, steps) = (self.spec.hidden, pieces.first().map_or(0, |piece| piece.len()));
        let rows = states.len().max(min_stable_rows(h));
        let pieces = Pieces { inputs: pieces, steps, rows };
        let mut x = None;
        for (l, &layer) in self.lower.iter().enumerate() {
            x = Some(self.step_layer(r, x, l, layer, states, pieces));
        }
        let tops = self.step_layer(r, x, self.lower.len(), self.top, states, pieces);
        for (state, top) in states.iter_mut().zip(r.value(tops)[(steps - 1) * rows * h..].chunks_exact(h)) {
            state.top.copy_from_slice(top);
        }
        BatchStates { tops, rows }
    }

    /// One layer: its states `[T,N,H]` after each symbol. The first layer has no `x` and reads the symbols.
    fn step_layer<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        x: Option<Var>,
        l: usize,
        layer: Layer,
        states: &mut [PrefixState<R>],
        pieces: Pieces<'_>,
    ) -> Var {
        let (h, Pieces { steps, rows, .. }) = (self.spec.hidden, pieces);
        let n = self.sizes(layer, BatchShape { steps, batch: rows });
        // Where `h` and `c` of this layer are in a state.
        let (own_h, own_c) = (l * h, (self.spec.layers + l) * h);
        let out = if self.spec.cell == Cell::Lstm {
            // One-hot input of an LSTM is never written out: the kernel reads columns of the weights.
            let x = x.or_else(|| self.embedding.map(|_| self.embed(r, pieces)));
            let h0 = gather(r, states, own_h, h, rows);
            let c0 = gather(r, states, own_c, h, rows);
            let (out, cells) = match x {
                Some(x) => r.lstm(x, Some((h0, c0)), layer, n),
                None => r.lstm_of_symbols(pieces.symbols(), Some((h0, c0)), layer, n),
            };
            scatter(r.value(cells), states, own_c, h);
            out
        } else {
            let x = x.unwrap_or_else(|| self.embed(r, pieces));
            let h0 = gather(r, states, own_h, h, rows);
            self.layer(r, x, Some(h0), layer, n)
        };
        // Row 0 of `out` is the initial state, so the last step is row `steps`.
        scatter(&r.value(out)[steps * rows * h..], states, own_h, h);
        r.part(out, rows * h, steps * rows * h)
    }

    fn embed<R: Real>(&self, r: &mut Recording<'_, R>, pieces: Pieces<'_>) -> Var {
        match (self.embedding, self.spec.embedding) {
            (Some(table), Some(d)) => r.embedding(table, pieces.symbols(), d, 1.0),
            _ => r.one_hot(pieces.symbols(), self.vocabulary),
        }
    }
}

/// Elements `start..start + width` of the hidden part of each state, as rows, and rows of zeros up to `rows`.
fn gather<R: Real>(
    r: &mut Recording<'_, R>,
    states: &[PrefixState<R>],
    start: usize,
    width: usize,
    rows: usize,
) -> Var {
    let mut values = Vec::with_capacity(rows * width);
    for state in states {
        values.extend_from_slice(&state.hidden[start..start + width]);
    }
    values.resize(rows * width, R::ZERO);
    // A constant ends the gradient: only evaluation reads on piece by piece.
    r.constant(&values)
}

/// The inverse of [`gather`].
fn scatter<R: Real>(values: &[R], states: &mut [PrefixState<R>], start: usize, width: usize) {
    for (state, row) in states.iter_mut().zip(values.chunks_exact(width)) {
        state.hidden[start..start + width].copy_from_slice(row);
    }
}
