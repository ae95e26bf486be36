//! Cross-serial dependency: noun phrases, then verb phrases that agree with them in the same order.
//!
//! ```
//! let language = wug_language::registry::build("cross-serial:terminals=2,classes=2").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("0 3 5 6"))); // NP₀ NP₁ VP₀ VP₁
//! assert!(!language.contains(&parse("0 3 6 5")));
//! ```

use super::phrase::{AnswerOrder, CLASSES, LAW, Phrase, Skeleton, TERMINALS};
use crate::registry::{Class, LanguageEntry, TSE};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "cross-serial",
    aliases: &[],
    suite: "tse",
    class: Class::ContextSensitive,
    summary: "noun phrases, then verb phrases that agree with them in the same order",
    definition: "{ NP_i1 … NP_in VP_i1 … VP_in | n >= 0, classes 0…K-1 }, each class spelled by one of its T terminals",
    citation: TSE,
    parameters: &[TERMINALS.parameter(), CLASSES.parameter(), LAW.parameter()],
    members: &["", "0 30", "0 10 30 40"],
    nonmembers: &["0", "30 0", "0 40", "0 10 40 30"],
    build: |settings| {
        let classes = settings.get(&CLASSES);
        Phrase::boxed(Skeleton::Agreement { classes, order: AnswerOrder::Crossed, empty: true }, settings)
    },
};
