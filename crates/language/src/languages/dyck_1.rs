//! Dyck-1: balanced brackets of one kind.
//!
//! ```
//! let language = wug_language::registry::build("dyck-1").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("(()())")));
//! assert!(!language.contains(&parse("())(")));
//! ```

use super::dyck::{Dyck, PRIOR};
use crate::registry::{BLISS, Class, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "dyck-1",
    aliases: &[],
    suite: "bliss",
    class: Class::DeterministicContextFree,
    summary: "balanced brackets of one kind",
    definition: "S -> ( S ) S with probability p, S -> ε with 1-p",
    citation: BLISS,
    parameters: &[PRIOR.parameter()],
    members: &["", "( )", "( ( ) ( ) )"],
    nonmembers: &["(", ") (", "( ) )"],
    build: |settings| Ok(Dyck::boxed(&["(", ")"], settings)),
};
