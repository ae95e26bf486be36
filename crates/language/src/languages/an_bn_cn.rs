//! aⁿbⁿcⁿ: three equal blocks, beyond any context-free grammar.
//!
//! ```
//! let language = wug_language::registry::build("an-bn-cn").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("aabbcc")));
//! assert!(!language.contains(&parse("aabbc")));
//! ```

use super::counting::{Counting, PRIOR};
use crate::registry::{BLISS, Class, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "an-bn-cn",
    aliases: &[],
    suite: "bliss",
    class: Class::ContextSensitive,
    summary: "n times a, then b, then c",
    definition: "{ a^n b^n c^n | n >= 1 }, n geometric with parameter p",
    citation: BLISS,
    parameters: &[PRIOR.parameter()],
    members: &["a b c", "a a b b c c"],
    nonmembers: &["", "a b", "a a b b c", "a c b"],
    build: |settings| Ok(Counting::boxed(&["a", "b", "c"], settings)),
};
