//! Dyck-2: balanced brackets of two kinds.
//!
//! ```
//! let language = wug_language::registry::build("dyck-2").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("([])")));
//! assert!(!language.contains(&parse("([)]")));
//! ```

use super::dyck::{Dyck, PRIOR};
use crate::registry::{BLISS, Class, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "dyck-2",
    aliases: &[],
    suite: "bliss",
    class: Class::DeterministicContextFree,
    summary: "balanced brackets of two kinds",
    definition: "S -> ( S ) S with probability p/2, S -> [ S ] S with p/2, S -> ε with 1-p",
    citation: BLISS,
    parameters: &[PRIOR.parameter()],
    members: &["", "( [ ] )", "[ ] ( )"],
    nonmembers: &["( ]", "( [ ) ]", "["],
    build: |settings| Ok(Dyck::boxed(&["(", ")", "[", "]"], settings)),
};
