//! Reading on from where many strings stand.

use super::{Cell, Recurrent};
use crate::kernel::{Real, Recurrence, min_stable_rows};
use crate::tape::{Recording, Var};

impl Recurrent {
    /// Reads pieces of the same length, one per memory, and moves the memories on. Gives the last layer's states `[T,N,H]`
    /// with `N`, which is `B` or more: strings are read in [`min_stable_rows`], so that nobody's numbers depend on who is there.
    pub(crate) fn step_batch<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        memories: &mut [&mut [R]],
        pieces: &[&[u32]],
    ) -> (Var, usize) {
        let (h, gates) = (self.spec.hidden, self.spec.cell.gates());
        let rows = memories.len().max(min_stable_rows(h));
        let steps = pieces.first().map_or(0, |piece| piece.len());
        // An LSTM reads symbols that are not embedded as they are.
        let plain = self.spec.cell == Cell::Lstm && self.embedding.is_none();
        let mut x = (!plain).then(|| self.read(r, symbols(pieces, steps, rows)));
        for (l, &layer) in self.layers.iter().enumerate() {
            let n = Recurrence { steps, batch: rows, input: layer.input.len() / (gates * h), hidden: h };
            let (own_h, own_c) = (l * h, (self.layers.len() + l) * h);
            let h0 = gather(r, memories, own_h, h, rows);
            let states = if self.spec.cell == Cell::Lstm {
                let c0 = gather(r, memories, own_c, h, rows);
                let (states, cells) = match x {
                    Some(x) => r.lstm(x, Some((h0, c0)), layer, n),
                    None => r.lstm_of_symbols(symbols(pieces, steps, rows), Some((h0, c0)), layer, n),
                };
                scatter(r.value(cells), memories, own_c, h);
                states
            } else {
                self.layer(r, x.expect("only an LSTM reads symbols"), Some(h0), layer, n)
            };
            scatter(&r.value(states)[steps * rows * h..], memories, own_h, h);
            x = Some(r.part(states, rows * h, steps * rows * h));
        }
        (x.expect("a spec has at least one layer"), rows)
    }

    fn read<R: Real>(&self, r: &mut Recording<'_, R>, symbols: impl Iterator<Item = u32>) -> Var {
        match (self.embedding, self.spec.embedding) {
            (Some(table), Some(d)) => r.embedding(table, symbols, d, 1.0),
            _ => r.one_hot(symbols, self.vocabulary),
        }
    }
}

/// The symbols of pieces step by step, with padding beside them.
fn symbols(pieces: &[&[u32]], steps: usize, rows: usize) -> impl Iterator<Item = u32> {
    let padding = std::iter::repeat_n(0, rows - pieces.len());
    (0..steps).flat_map(move |t| pieces.iter().map(move |piece| piece[t]).chain(padding.clone()))
}

/// `width` numbers from `start` on of each memory, and zeros for the rows that have none.
fn gather<R: Real>(
    r: &mut Recording<'_, R>,
    memories: &[&mut [R]],
    start: usize,
    width: usize,
    rows: usize,
) -> Var {
    let mut numbers = Vec::with_capacity(rows * width);
    for memory in memories {
        numbers.extend_from_slice(&memory[start..start + width]);
    }
    numbers.resize(rows * width, R::ZERO);
    r.constant(&numbers)
}

fn scatter<R: Real>(numbers: &[R], memories: &mut [&mut [R]], start: usize, width: usize) {
    for (memory, row) in memories.iter_mut().zip(numbers.chunks_exact(width)) {
        memory[start..start + width].copy_from_slice(row);
    }
}
