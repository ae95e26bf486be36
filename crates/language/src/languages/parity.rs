//! Parity: binary strings with an odd number of 1s. Every bit matters.
//!
//! ```
//! let language = wug_language::registry::build("parity").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("11011001"))); // five 1s
//! assert!(!language.contains(&parse("101110"))); // four
//! ```

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Regular};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "parity",
    aliases: &[],
    suite: "flare",
    class: Class::Regular,
    summary: "an odd number of 1s",
    definition: "{ w in {0,1}* | the number of 1s in w is odd }",
    citation: FLARE,
    parameters: &[],
    members: &["1", "0 1 0 1 1"],
    nonmembers: &["", "1 0 1 1 1 0"],
    build: |_| {
        let bits = Alphabet::new(["0", "1"]);
        let arcs = [(0, "0", 0), (0, "1", 1), (1, "0", 1), (1, "1", 0)];
        Ok(Box::new(Regular::new(Dfa::new(bits, 2, 0, &[1], &arcs))))
    },
};
