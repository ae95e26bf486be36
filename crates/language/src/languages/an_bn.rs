//! aⁿbⁿ: as many b as a, the simplest counting language.
//!
//! ```
//! let language = wug_language::registry::build("an-bn").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("aaabbb")));
//! assert!(!language.contains(&parse("aab")));
//! ```

use super::counting::{Counting, PRIOR};
use crate::registry::{BLISS, Class, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "an-bn",
    aliases: &[],
    suite: "bliss",
    class: Class::DeterministicContextFree,
    summary: "n times a, then n times b",
    definition: "{ a^n b^n | n >= 1 }, n geometric with parameter p",
    citation: BLISS,
    parameters: &[PRIOR.parameter()],
    members: &["a b", "a a a b b b"],
    nonmembers: &["", "a", "a a b", "b a", "a b a b"],
    build: |settings| Ok(Counting::boxed(&["a", "b"], settings)),
};
