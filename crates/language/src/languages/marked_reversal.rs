//! Marked Reversal, `{ u # uᴿ | u ∈ {0,1}* }`: the classic deterministic context-free language.
//!
//! ```
//! let language = wug_language::registry::build("marked-reversal").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("001#100")));
//! assert!(!language.contains(&parse("011#11")));
//! ```

use super::marked::Marked;
use crate::registry::{Class, FLARE, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "marked-reversal",
    aliases: &[],
    suite: "flare",
    class: Class::DeterministicContextFree,
    summary: "a binary string, #, and the string reversed",
    definition: "{ u # reverse(u) | u in {0,1}* }",
    citation: FLARE,
    parameters: &[],
    members: &["#", "0 # 0", "0 1 1 # 1 1 0"],
    nonmembers: &["", "0 1 1 # 1 0 1 1 0 1", "0 1 1 1 1 0"],
    build: |_| Ok(Box::new(Marked::new(&["0", "1"], |u| u.iter().rev().copied().collect()))),
};
