//! Even Pairs: binary strings in which 01 and 10 together occur an even number of times.
//!
//! The first and last symbol are then the same, so the automaton remembers both.
//!
//! ```
//! let language = wug_language::registry::build("even-pairs").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("010110"))); // 01 10 01 10
//! assert!(!language.contains(&parse("100"))); // 10 alone
//! ```

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Regular};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "even-pairs",
    aliases: &[],
    suite: "flare",
    class: Class::Regular,
    summary: "the first and the last symbol are the same",
    definition: "{ w in {0,1}* | the occurrences of 01 and of 10 in w are even in total }",
    citation: FLARE,
    parameters: &[],
    members: &["", "0", "1 1", "0 1 0 1 0 0"],
    nonmembers: &["0 1", "1 0 1 0 0", "1 0 0 1 1 0"],
    build: |_| {
        let dfa = Dfa::explore(
            Alphabet::new(["0", "1"]),
            None,
            |ends: &Option<(String, String)>| ends.as_ref().is_none_or(|(first, last)| first == last),
            |ends, token| {
                let first = ends.as_ref().map_or(token, |(first, _)| first).to_owned();
                Some(Some((first, token.to_owned())))
            },
        );
        Ok(Box::new(Regular::new(dfa)))
    },
};
