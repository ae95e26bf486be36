//! Adjⁿ NP: one or more adjectives, then a noun phrase.
//!
//! ```
//! let language = wug_language::registry::build("adj-np:terminals=2").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("0 1 3"))); // Adj Adj NP
//! assert!(!language.contains(&parse("0 1")));
//! ```

use super::phrase::{LAW, Phrase, Skeleton, TERMINALS};
use crate::registry::{Class, LanguageEntry, TSE};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "adj-np",
    aliases: &["an-b"],
    suite: "tse",
    class: Class::Regular,
    summary: "one or more adjectives, then a noun phrase",
    definition: "{ Adj^n NP | n >= 1 }, each class spelled by one of its T terminals",
    citation: TSE,
    parameters: &[TERMINALS.parameter(), LAW.parameter()],
    members: &["0 10", "3 4 19"],
    nonmembers: &["", "0", "10", "10 0", "0 10 10"],
    build: |settings| Phrase::boxed(Skeleton::HeadFinal, settings),
};
