//! Repeat 01, `(01)*`: star-free, yet one wrong symbol anywhere leaves the language.
//!
//! ```
//! let language = wug_language::registry::build("repeat-01").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("010101")));
//! assert!(!language.contains(&parse("10101")));
//! ```

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Regular};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "repeat-01",
    aliases: &[],
    suite: "flare",
    class: Class::Regular,
    summary: "01 repeated any number of times",
    definition: "{ (01)^n | n >= 0 }",
    citation: FLARE,
    parameters: &[],
    members: &["", "0 1", "0 1 0 1"],
    nonmembers: &["0", "1 0 1 0 1", "0 1 1 0 0 1"],
    build: |_| {
        let bits = Alphabet::new(["0", "1"]);
        Ok(Box::new(Regular::new(Dfa::new(bits, 2, 0, &[0], &[(0, "0", 1), (1, "1", 0)]))))
    },
};
