//! Bounded Dyck-(k, m): balanced brackets of k kinds, nested at most m deep. Dyck-(2,3) is the one of FLaRe.
//!
//! Kinds are numbered: `(0 )0 (1 )1`. Any `dyck-K-M` is a name of this language with that many kinds and that
//! depth.
//!
//! ```
//! let language = wug_language::registry::build("dyck-2-3").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("(1 (0 )0 )1")));
//! assert!(!language.contains(&parse("(0 (0 (0 (0 )0 )0 )0 )0"))); // four deep
//! let deeper = wug_language::registry::build("dyck-1-4").unwrap();
//! assert!(deeper.contains(&deeper.alphabet().parse("(0 (0 (0 (0 )0 )0 )0 )0").unwrap()));
//! ```

use wug_parameter::{Key, Settings};

use crate::registry::{BuildError, Class, FLARE, LanguageEntry};
use crate::{Alphabet, Dfa, Language, Regular};

pub(crate) const KINDS: Key<usize> = Key::count("kinds", "number of bracket kinds, k", 1..=64, 2);
/// A state is a stack of open brackets, so depth costs its square.
pub(crate) const DEPTH: Key<usize> = Key::count("depth", "greatest nesting depth, m", 1..=2_000, 3);

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "dyck-2-3",
    aliases: &[],
    suite: "flare",
    class: Class::Regular,
    summary: "balanced brackets of 2 kinds, at most 3 deep (any dyck-K-M)",
    definition: "S -> (i S )i S | ε for each kind i, with at most m brackets open at once",
    citation: FLARE,
    parameters: &[KINDS.parameter(), DEPTH.parameter()],
    members: &["", "(0 )0", "(0 (1 )1 )0 (1 )1"],
    nonmembers: &["(0", ")0 (0", "(0 )1", "(0 (0 (0 (0 )0 )0 )0 )0"],
    build,
};

/// What the language of so many kinds and that depth is, in one line.
pub(crate) fn summary(kinds: usize, depth: usize) -> String {
    let kinds = if kinds == 1 { "1 kind".to_owned() } else { format!("{kinds} kinds") };
    format!("balanced brackets of {kinds}, at most {depth} deep")
}

/// More states than this would only be a mistake: Dyck-(2,3) has 15.
const MOST_STATES: usize = 200_000;

fn build(settings: &Settings) -> Result<Box<dyn Language>, BuildError> {
    let (kinds, depth) = (settings.get(&KINDS), settings.get(&DEPTH));
    let states = (0..=depth)
        .try_fold((0usize, 1usize), |(sum, power), _| {
            let sum = sum.checked_add(power)?;
            (sum <= MOST_STATES).then_some((sum, power.saturating_mul(kinds)))
        })
        .map(|(sum, _)| sum);
    if states.is_none() {
        return Err(BuildError::too_large(format!(
            "dyck-{kinds}-{depth} has more than {MOST_STATES} states; take fewer kinds or less depth"
        )));
    }
    let opens = (0..kinds).map(|i| format!("({i}"));
    let closes = (0..kinds).map(|i| format!("){i}"));
    let dfa =
        Dfa::explore(Alphabet::new(opens.chain(closes)), Vec::<u8>::new(), Vec::is_empty, |open, token| {
            // A stack of bytes: there are at most 64 kinds, and up to 200,000 stacks.
            let kind: u8 = token[1..].parse().ok()?;
            let mut open = open.clone();
            if token.starts_with('(') {
                (open.len() < depth).then(|| open.push(kind))?;
            } else {
                (open.pop()? == kind).then_some(())?;
            }
            Some(open)
        });
    Ok(Box::new(Regular::new(dfa)))
}
