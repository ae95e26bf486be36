//! Nested dependency: noun phrases, then verb phrases that agree with them in reverse order.
//!
//! ```
//! let language = wug_language::registry::build("nested:terminals=2,classes=2").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("0 3 6 5"))); // NP₀ NP₁ VP₁ VP₀
//! assert!(!language.contains(&parse("0 3 4 7")));
//! ```

use super::phrase::{AnswerOrder, CLASSES, LAW, Phrase, Skeleton, TERMINALS};
use crate::registry::{Class, LanguageEntry, TSE};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "nested",
    aliases: &[],
    suite: "tse",
    class: Class::DeterministicContextFree,
    summary: "noun phrases, then verb phrases that agree with them in reverse order",
    definition: "{ NP_i1 … NP_in VP_in … VP_i1 | n >= 0, classes 0…K-1 }, each class spelled by one of its T terminals",
    citation: TSE,
    parameters: &[TERMINALS.parameter(), CLASSES.parameter(), LAW.parameter()],
    members: &["", "0 30", "0 10 40 30"],
    nonmembers: &["0", "30 0", "0 40", "0 10 30 40"],
    build: |settings| {
        let classes = settings.get(&CLASSES);
        Phrase::boxed(Skeleton::Agreement { classes, order: AnswerOrder::Nested, empty: true }, settings)
    },
};
