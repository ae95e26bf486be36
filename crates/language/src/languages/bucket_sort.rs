//! Bucket Sort: digits 1 to 5, `#`, and the digits in ascending order.
//!
//! ```
//! let language = wug_language::registry::build("bucket-sort").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("45134#13445")));
//! assert!(!language.contains(&parse("45134#1345"))); // a 4 is missing
//! ```

use super::marked::Marked;
use crate::registry::{Class, FLARE, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "bucket-sort",
    aliases: &[],
    suite: "flare",
    class: Class::ContextSensitive,
    summary: "digits 1 to 5, #, and the digits sorted",
    definition: "{ u # sort(u) | u in {1,…,5}* }",
    citation: FLARE,
    parameters: &[],
    members: &["#", "3 # 3", "4 5 1 3 4 # 1 3 4 4 5"],
    nonmembers: &["", "2 1 # 2 1", "1 2 1 2"],
    build: |_| {
        Ok(Box::new(Marked::new(&["1", "2", "3", "4", "5"], |u| {
            let mut sorted = u.to_vec();
            sorted.sort_unstable();
            sorted
        })))
    },
};
