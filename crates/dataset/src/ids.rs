//! The ids that models read and predict: 0 is the boundary, which is also the end and padding; the symbols of an alphabet are
//! numbered from 1.
//!
//! ```
//! use wug_dataset::ids::{between_boundaries, bits, encode};
//! use wug_dataset::language::{Alphabet, NextSet, Symbol};
//! let word = Alphabet::new(["a", "b"]).parse("a a b").unwrap();
//! assert_eq!(encode(&word), [1, 1, 2]);
//! assert_eq!(between_boundaries(&word), [0, 1, 1, 2, 0]);
//! assert_eq!(bits(&NextSet::of([Symbol(1)]).with_end(true)), 0b101);
//! ```

use wug_language::{NextSet, Symbol, Word};

/// The start and the end of a string, and padding.
pub const BOUNDARY: u32 = 0;

/// The id of a symbol.
pub fn id(symbol: Symbol) -> u32 {
    u32::from(symbol.0) + 1
}

/// The symbol of an id; none for the boundary.
pub fn symbol(id: u32) -> Option<Symbol> {
    id.checked_sub(1).and_then(|index| u16::try_from(index).ok()).map(Symbol)
}

/// A string without boundaries.
pub fn encode(word: &[Symbol]) -> Vec<u32> {
    word.iter().map(|&symbol| id(symbol)).collect()
}

/// The symbols of ids, without boundaries.
pub fn decode(ids: &[u32]) -> Word {
    ids.iter().filter_map(|&id| symbol(id)).collect()
}

/// A string between boundaries: the first is given, the last is predicted.
pub fn between_boundaries(word: &[Symbol]) -> Vec<u32> {
    let mut ids = Vec::with_capacity(word.len() + 2);
    ids.push(BOUNDARY);
    ids.extend(word.iter().map(|&symbol| id(symbol)));
    ids.push(BOUNDARY);
    ids
}

/// A set of next symbols of an alphabet of at most 63 symbols: bit 0 is the end, the bit of an id its symbol.
pub fn bits(set: &NextSet) -> u64 {
    set.symbols().fold(u64::from(set.end()), |bits, symbol| bits | 1 << id(symbol))
}
