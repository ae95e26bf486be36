//! First: binary strings that begin with 1. Nothing after the first symbol matters.
//!
//! ```
//! let language = wug_language::registry::build("first").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("100010")));
//! assert!(!language.contains(&parse("0111010")));
//! ```

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Regular};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "first",
    aliases: &[],
    suite: "flare",
    class: Class::Regular,
    summary: "the first symbol is 1",
    definition: "{ 1w | w in {0,1}* }",
    citation: FLARE,
    parameters: &[],
    members: &["1", "1 0 1 1 1 0"],
    nonmembers: &["", "0", "0 1 1 1 0 1 0"],
    build: |_| {
        let bits = Alphabet::new(["0", "1"]);
        let arcs = [(0, "1", 1), (1, "0", 1), (1, "1", 1)];
        Ok(Box::new(Regular::new(Dfa::new(bits, 2, 0, &[1], &arcs))))
    },
};
