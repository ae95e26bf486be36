//! Every SCAN command with its actions, bottom-up from the grammar.

use std::iter::once;

use wug_language::{Symbol, Word};

use crate::TransductionPair;

// Indices in the two alphabets of the parent module; a test compares them with the interpreter, which reads
// text.
const AND: Symbol = Symbol(0);
const AFTER: Symbol = Symbol(1);
const TWICE: Symbol = Symbol(2);
const THRICE: Symbol = Symbol(3);
const OPPOSITE: Symbol = Symbol(4);
const AROUND: Symbol = Symbol(5);
/// Each side and the action that turns to it.
const SIDES: [(Symbol, Symbol); 2] = [(Symbol(6), Symbol(0)), (Symbol(7), Symbol(1))];
/// Each verb and its action; `turn` has none of its own.
const VERBS: [(Symbol, Option<Symbol>); 5] = [
    (Symbol(8), None),
    (Symbol(9), Some(Symbol(2))),
    (Symbol(10), Some(Symbol(3))),
    (Symbol(11), Some(Symbol(4))),
    (Symbol(12), Some(Symbol(5))),
];

/// All 20,910 commands: single ones first, then those joined by `and`, then those joined by `after`.
///
/// ```
/// use wug_dataset::find::scan;
/// let commands = scan::commands();
/// assert_eq!(commands.len(), 20_910);
/// assert_eq!(scan::source().format(&commands[0].input), "turn left");
/// assert_eq!(scan::target().format(&commands[0].output), "I_TURN_LEFT");
/// ```
pub fn commands() -> Vec<TransductionPair> {
    let singles: Vec<TransductionPair> = verb_phrases().iter().flat_map(repeated).collect();
    let mut all = singles.clone();
    for (conjunction, reversed) in [(AND, false), (AFTER, true)] {
        for x in &singles {
            all.extend(singles.iter().map(|y| joined(x, conjunction, y, reversed)));
        }
    }
    all
}

fn verb_phrases() -> Vec<TransductionPair> {
    let mut phrases = Vec::new();
    for (verb, act) in VERBS {
        // `turn` alone is no command.
        phrases.extend(act.map(|act| TransductionPair { input: vec![verb], output: vec![act] }));
        for (side, turn) in SIDES {
            let once_around: Word = once(turn).chain(act).collect();
            phrases.push(TransductionPair { input: vec![verb, side], output: once_around.clone() });
            let opposite = [turn, turn].into_iter().chain(act).collect();
            phrases.push(TransductionPair { input: vec![verb, OPPOSITE, side], output: opposite });
            phrases.push(TransductionPair { input: vec![verb, AROUND, side], output: once_around.repeat(4) });
        }
    }
    phrases
}

/// A phrase once, twice and thrice.
fn repeated(phrase: &TransductionPair) -> [TransductionPair; 3] {
    [(None, 1), (Some(TWICE), 2), (Some(THRICE), 3)].map(|(word, times)| TransductionPair {
        input: phrase.input.iter().copied().chain(word).collect(),
        output: phrase.output.repeat(times),
    })
}

fn joined(
    x: &TransductionPair,
    conjunction: Symbol,
    y: &TransductionPair,
    reversed: bool,
) -> TransductionPair {
    let input = [&x.input[..], &[conjunction], &y.input].concat();
    // `x after y` is y, then x.
    let (first, second) = if reversed { (y, x) } else { (x, y) };
    TransductionPair { input, output: [&first.output[..], &second.output].concat() }
}
