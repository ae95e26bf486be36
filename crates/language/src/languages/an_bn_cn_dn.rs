//! aⁿbⁿcⁿdⁿ: four equal blocks.
//!
//! ```
//! let language = wug_language::registry::build("an-bn-cn-dn").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("aabbccdd")));
//! assert!(!language.contains(&parse("abcddd")));
//! ```

use super::counting::{Counting, PRIOR};
use crate::registry::{BLISS, Class, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "an-bn-cn-dn",
    aliases: &[],
    suite: "bliss",
    class: Class::ContextSensitive,
    summary: "n times a, then b, then c, then d",
    definition: "{ a^n b^n c^n d^n | n >= 1 }, n geometric with parameter p",
    citation: BLISS,
    parameters: &[PRIOR.parameter()],
    members: &["a b c d", "a a b b c c d d"],
    nonmembers: &["", "a b c", "a b c d d", "a b d c"],
    build: |settings| Ok(Counting::boxed(&["a", "b", "c", "d"], settings)),
};
