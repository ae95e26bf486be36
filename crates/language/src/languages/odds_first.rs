//! Odds First: a binary string, `#`, then its symbols at odd positions followed by those at even positions.
//!
//! ```
//! let language = wug_language::registry::build("odds-first").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("01010#00011"))); // positions 1 3 5, then 2 4
//! assert!(!language.contains(&parse("010101#000110")));
//! ```

use super::marked::Marked;
use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Symbol, Word};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "odds-first",
    aliases: &[],
    suite: "flare",
    class: Class::ContextSensitive,
    summary: "a binary string, #, its odd-numbered symbols, its even-numbered symbols",
    definition: "{ u # odd(u) even(u) | u in {0,1}* }, positions counted from 1",
    citation: FLARE,
    parameters: &[],
    members: &["#", "1 # 1", "0 1 0 1 0 1 # 0 0 0 1 1 1"],
    nonmembers: &["", "0 1 0 1 0 1 # 0 0 0 1 1 0", "0 # 1 # #"],
    build: |_| Ok(Box::new(Marked::new(&["0", "1"], odds_first))),
};

fn odds_first(u: &[Symbol]) -> Word {
    u.iter().step_by(2).chain(u.iter().skip(1).step_by(2)).copied().collect()
}
