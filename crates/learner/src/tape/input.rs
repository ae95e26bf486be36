//! Inputs of a model: tensors that are data. They are not recorded, because no gradient flows into them.

use super::{Recording, Var};
use crate::kernel::Real;

impl<R: Real> Recording<'_, R> {
    /// A copy of `data`.
    pub fn constant(&mut self, data: &[R]) -> Var {
        let out = self.new_tensor(data.len(), false);
        self.values_mut(out).copy_from_slice(data);
        out
    }

    pub fn zeros(&mut self, len: usize) -> Var {
        let out = self.new_tensor(len, false);
        self.values_mut(out).fill(R::ZERO);
        out
    }

    /// `[N,v]`: one one-hot row per symbol.
    pub fn one_hot(&mut self, symbols: impl IntoIterator<Item = u32>, v: usize) -> Var {
        let symbols = self.push_symbols(symbols);
        let out = self.new_tensor(symbols.len() * v, false);
        let range = self.tape.tensor(out).range();
        let rows = &mut self.tape.values.data[range];
        rows.fill(R::ZERO);
        for (row, &symbol) in rows.chunks_exact_mut(v).zip(&self.tape.symbols[symbols]) {
            row[symbol as usize] = R::ONE;
        }
        out
    }
}
