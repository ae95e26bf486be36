//! The set of symbols that may come next, and whether the string may end here (Eq. 7 of Butoi et al. 2025).

use crate::{Alphabet, Symbol};

/// `{ a | some continuation of the prefix and a is a member } ∪ { EOS | the prefix is a member }`.
///
/// ```
/// use wug_language::{NextSet, Symbol};
/// let set = NextSet::of([Symbol(1), Symbol(70)]).with_end(true);
/// assert!(set.contains(Symbol(70)) && !set.contains(Symbol(0)) && set.end());
/// assert_eq!(set.size(), 3); // two symbols and the end
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NextSet {
    // Alphabets of up to 64 symbols live in `low` alone, so that the common case never allocates.
    low: u64,
    high: Vec<u64>,
    end: bool,
}

impl NextSet {
    /// The empty set: nothing may follow and the string may not end. It follows a prefix of no member.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A set of symbols, without the end.
    #[inline]
    pub fn of(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut set = Self::empty();
        for symbol in symbols {
            set.insert(symbol);
        }
        set
    }

    /// The whole alphabet, without the end.
    pub fn all(alphabet: &Alphabet) -> Self {
        Self::of(alphabet.symbols())
    }

    /// The set that holds only the end.
    pub fn only_end() -> Self {
        Self::empty().with_end(true)
    }

    /// The same symbols, with or without the end.
    #[must_use]
    pub fn with_end(mut self, end: bool) -> Self {
        self.end = end;
        self
    }

    #[inline]
    pub fn insert(&mut self, symbol: Symbol) {
        let i = symbol.index();
        if i < 64 {
            self.low |= 1 << i;
        } else {
            let block = i / 64 - 1;
            if self.high.len() <= block {
                self.high.resize(block + 1, 0);
            }
            self.high[block] |= 1 << (i % 64);
        }
    }

    /// Whether a symbol may come next.
    #[inline]
    pub fn contains(&self, symbol: Symbol) -> bool {
        let i = symbol.index();
        let block = if i < 64 { self.low } else { self.high.get(i / 64 - 1).copied().unwrap_or(0) };
        block >> (i % 64) & 1 == 1
    }

    /// Whether the string may end here.
    pub fn end(&self) -> bool {
        self.end
    }

    /// The number of symbols, the end counted as one.
    #[inline]
    pub fn size(&self) -> usize {
        let ones = self.low.count_ones() + self.high.iter().map(|b| b.count_ones()).sum::<u32>();
        ones as usize + usize::from(self.end)
    }

    /// Whether nothing may follow, not even the end.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// The symbols in order, without the end.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        let blocks = std::iter::once(self.low).chain(self.high.iter().copied());
        blocks.enumerate().flat_map(|(b, bits)| {
            // b & (b − 1) clears the lowest bit, so that only the bits that are set are visited.
            let rest = std::iter::successors(Some(bits), |&bits| Some(bits & bits.wrapping_sub(1)));
            rest.take_while(|&bits| bits != 0)
                .map(move |bits| Symbol(b as u16 * 64 + bits.trailing_zeros() as u16))
        })
    }
}
