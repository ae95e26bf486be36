//! Cycle Navigation: moves on a cycle of five places (`>` right, `<` left, `=` stay), then the place where
//! they end.
//!
//! ```
//! let language = wug_language::registry::build("cycle-navigation").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse(">><>2")));
//! assert!(!language.contains(&parse(">=>><4"))); // the moves end at 2
//! ```

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Regular};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "cycle-navigation",
    aliases: &[],
    suite: "flare",
    class: Class::Regular,
    summary: "moves on a five-place cycle, then the final place",
    definition: "{ m p | m in {<,=,>}*, p the place in 0…4 reached from 0 by the moves m }",
    citation: FLARE,
    parameters: &[],
    members: &["0", "> = > > < 2", "< = < = < 2"],
    nonmembers: &["3", "> = > > < 4", "< = < = <", "4 = 3 1 <"],
    build: |_| {
        let dfa = Dfa::explore(
            Alphabet::new(["0", "1", "2", "3", "4", "<", "=", ">"]),
            Some(0u8),
            Option::is_none,
            |place, token| {
                let place = (*place)?;
                match token {
                    "<" => Some(Some((place + 4) % 5)),
                    "=" => Some(Some(place)),
                    ">" => Some(Some((place + 1) % 5)),
                    digit => (digit == place.to_string()).then_some(None),
                }
            },
        );
        Ok(Box::new(Regular::new(dfa)))
    },
};
