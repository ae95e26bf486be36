//! Modular Arithmetic: an expression over 0…4 with `+`, `-` and `*`, then `=` and its value modulo 5.
//!
//! Operators bind from left to right with equal strength, so the running value is all there is to remember.
//!
//! ```
//! let language = wug_language::registry::build("modular-arithmetic").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("1-3*2=1"))); // (1 − 3)·2 = −4 ≡ 1
//! assert!(!language.contains(&parse("1-3*2=0"))); // not 1 − (3·2) ≡ 0
//! ```

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Regular};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "modular-arithmetic",
    aliases: &["modular-arithmetic-simple"],
    suite: "flare",
    class: Class::Regular,
    summary: "an expression over 0 to 4, =, and its value modulo 5 (no precedence)",
    definition: "{ e = v | e in D ((+|-|*) D)*, D = 0…4, v the value of e from left to right, modulo 5 }",
    citation: FLARE,
    parameters: &[],
    members: &["3 = 3", "2 + 4 + 0 - 3 = 3", "1 - 3 * 2 = 1"],
    nonmembers: &["", "1 = 4", "2 + 4 + 0 - 3 = 2", "1 - 3 * 2 = 0", "- 1 = 4"],
    build: |_| {
        let dfa = Dfa::explore(
            Alphabet::new(["*", "+", "-", "0", "1", "2", "3", "4", "="]),
            ExpressionState::Start,
            |state| *state == ExpressionState::End,
            |state, token| state.read(token),
        );
        Ok(Box::new(Regular::new(dfa)))
    },
};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ExpressionState {
    Start,
    Value(u8),
    Operator(u8, u8),
    Equals(u8),
    End,
}

impl ExpressionState {
    fn read(self, token: &str) -> Option<Self> {
        let digit = token.parse::<u8>().ok();
        match (self, digit) {
            (Self::Start, Some(d)) => Some(Self::Value(d)),
            (Self::Value(v), None) if token == "=" => Some(Self::Equals(v)),
            (Self::Value(v), None) => Some(Self::Operator(v, token.as_bytes()[0])),
            (Self::Operator(v, b'+'), Some(d)) => Some(Self::Value((v + d) % 5)),
            // Plus 5, as an unsigned value cannot fall below zero.
            (Self::Operator(v, b'-'), Some(d)) => Some(Self::Value((v + 5 - d) % 5)),
            (Self::Operator(v, _), Some(d)) => Some(Self::Value(v * d % 5)),
            (Self::Equals(v), Some(d)) if v == d => Some(Self::End),
            _ => None,
        }
    }
}
