//! Marked Copy, `{ u # u | u ∈ {0,1}* }`: the classic mildly context-sensitive language.
//!
//! ```
//! let language = wug_language::registry::build("marked-copy").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("001#001")));
//! assert!(!language.contains(&parse("011#01")));
//! ```

use super::marked::Marked;
use crate::registry::{Class, FLARE, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "marked-copy",
    aliases: &[],
    suite: "flare",
    class: Class::ContextSensitive,
    summary: "a binary string, #, and the string again",
    definition: "{ u # u | u in {0,1}* }",
    citation: FLARE,
    parameters: &[],
    members: &["#", "0 # 0", "0 1 1 # 0 1 1"],
    nonmembers: &["", "0 1 1 # 0 1", "0 1 1 0 1 1"],
    build: |_| Ok(Box::new(Marked::new(&["0", "1"], <[_]>::to_vec))),
};
