//! `NPⁿ` `VPⁿ`: as many verb phrases as noun phrases.
//!
//! ```
//! let language = wug_language::registry::build("np-vp:terminals=2").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("0 1 3 2"))); // NP NP VP VP
//! assert!(!language.contains(&parse("0 1 3")));
//! ```

use super::phrase::{AnswerOrder, LAW, Phrase, Skeleton, TERMINALS};
use crate::registry::{Class, LanguageEntry, TSE};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "np-vp",
    aliases: &[],
    suite: "tse",
    class: Class::DeterministicContextFree,
    summary: "n noun phrases, then n verb phrases",
    definition: "{ NP^n VP^n | n >= 1 }, each class spelled by one of its T terminals",
    citation: TSE,
    parameters: &[TERMINALS.parameter(), LAW.parameter()],
    members: &["0 10", "3 4 19 12"],
    nonmembers: &["", "0", "10 0", "0 10 0 10", "0 1 10"],
    build: |settings| {
        Phrase::boxed(Skeleton::Agreement { classes: 1, order: AnswerOrder::Nested, empty: false }, settings)
    },
};
