//! Stack Manipulation: a stack from bottom to top, push and pop operations, `#`, and the resulting stack from
//! top to bottom.
//!
//! Two readings differ in the next-symbol sets alone. The released data list `POP` before anything is on the
//! stack, and leave out `PUSH` once the sampler's own number of pushes is reached, which no reader of the
//! prefix can know; Eq. 7 does neither.
//!
//! ```
//! let language = wug_language::registry::build("stack-manipulation").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("1 1 POP PUSH 0 # 0 1")));
//! assert!(!language.contains(&parse("1 POP POP #"))); // nothing left to pop
//! ```

use num_bigint::BigUint;
use rand_core::Rng;

use super::answered::{AnsweredReader, HeadStep, QuestionHead, Tail};
use wug_parameter::{Constant, Key, choices};

use crate::registry::{Class, FLARE, LanguageEntry};
use crate::{
    Alphabet, Distribution, Language, LengthError, LengthRange, NextSet, Scanner, Symbol, Word, draw,
};

const NEXT: Key<NextSets> = Key::choice(
    "next",
    "next-symbol sets: `exact` (Eq. 7) or `released` (POP at the start; no PUSH after the word's last one)",
    "exact",
)
.published(Constant::Name("released"));

choices! {
    pub enum NextSets {
        Exact = "exact",
        Released = "released",
    }
}

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "stack-manipulation",
    aliases: &[],
    suite: "flare",
    class: Class::DeterministicContextFree,
    summary: "a stack, pushes and pops, #, and the resulting stack from top to bottom",
    definition: "{ s o # r | s in {0,1}* (bottom to top), o in (POP | PUSH 0 | PUSH 1)*, r = the stack after o, \
                 top to bottom; popping the empty stack is not allowed }",
    citation: FLARE,
    parameters: &[NEXT.parameter()],
    members: &["#", "1 1 POP PUSH 0 # 0 1", "0 1 POP POP PUSH 0 PUSH 1 # 1 0"],
    nonmembers: &["", "1 1 # POP PUSH # 0 1", "0 1 POP POP POP PUSH 0 PUSH 1 # 1 0", "0 1 # 0 1"],
    build: |settings| {
        let released = settings.get(&NEXT) == NextSets::Released;
        Ok(Box::new(StackManipulation { alphabet: Alphabet::new(["#", "0", "1", "POP", "PUSH"]), released }))
    },
};

const MARKER: Symbol = Symbol(0);
const BITS: [Symbol; 2] = [Symbol(1), Symbol(2)];
const POP: Symbol = Symbol(3);
const PUSH: Symbol = Symbol(4);

#[derive(Debug)]
struct StackManipulation {
    alphabet: Alphabet,
    released: bool,
}

impl Language for StackManipulation {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    fn contains(&self, word: &[Symbol]) -> bool {
        let Some(marker) = word.iter().position(|&a| a == MARKER) else { return false };
        run(&word[..marker]).is_some_and(|stack| stack.iter().rev().eq(&word[marker + 1..]))
    }

    fn scanner(&self) -> Box<dyn Scanner + '_> {
        Box::new(AnsweredReader::new(StackProgram { stack: Word::new(), part: ProgramPart::Initial }))
    }

    fn count_up_to(&self, length: usize, most: usize) -> BigUint {
        BigUint::from(self.members(length).take(most).count())
    }

    fn by_length(&self, lengths: LengthRange) -> Result<Box<dyn Distribution + '_>, LengthError> {
        let shapes = Shapes::new(&lengths);
        if shapes.stacks.is_empty() {
            return Err(self.no_such_length(&lengths));
        }
        Ok(Box::new(shapes))
    }

    fn next_sets(&self, word: &[Symbol]) -> Vec<NextSet> {
        let mut scanner = self.scanner();
        let mut sets = vec![scanner.next()];
        for &symbol in word {
            scanner.push(symbol);
            sets.push(scanner.next());
        }
        if self.released && self.contains(word) {
            as_released(word, &mut sets);
        }
        sets
    }
}

/// The sets of a member as the released data have them.
fn as_released(word: &[Symbol], sets: &mut [NextSet]) {
    let end = word.iter().position(|a| *a == MARKER).unwrap_or(word.len());
    let start = word.iter().take_while(|a| BITS.contains(a)).count();
    let last_push = word.iter().rposition(|&a| a == PUSH).unwrap_or(0);
    sets[0].insert(POP);
    // After an operation, from the one that completes the last push on.
    for i in (start + 1..=end).filter(|&i| i > last_push && word[i - 1] != PUSH) {
        let without = sets[i].symbols().filter(|&a| a != PUSH);
        sets[i] = NextSet::of(without);
    }
}

/// The stack after a program, bottom first; `None` if the program is malformed.
fn run(program: &[Symbol]) -> Option<Word> {
    let initial = program.iter().take_while(|a| BITS.contains(a)).count();
    let mut stack = program[..initial].to_vec();
    let mut rest = program[initial..].iter();
    while let Some(&operation) = rest.next() {
        match operation {
            POP => {
                stack.pop()?;
            }
            PUSH => stack.push(*rest.next().filter(|a| BITS.contains(a))?),
            _ => return None,
        }
    }
    Some(stack)
}

#[derive(Clone)]
struct StackProgram {
    stack: Word,
    part: ProgramPart,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramPart {
    Initial,
    Operations,
    Operand,
}

impl QuestionHead for StackProgram {
    fn read(&mut self, symbol: Symbol) -> HeadStep {
        let bit = BITS.contains(&symbol);
        match (self.part, symbol) {
            (ProgramPart::Initial, _) if bit => self.stack.push(symbol),
            (ProgramPart::Operand, _) if bit => {
                self.stack.push(symbol);
                self.part = ProgramPart::Operations;
            }
            (ProgramPart::Operand, _) => return HeadStep::Dead,
            (_, PUSH) => self.part = ProgramPart::Operand,
            (_, POP) if self.stack.pop().is_some() => self.part = ProgramPart::Operations,
            (_, MARKER) => {
                return HeadStep::Answer(Tail {
                    word: self.stack.iter().rev().copied().collect(),
                    padding: None,
                });
            }
            _ => return HeadStep::Dead,
        }
        HeadStep::More
    }

    fn next(&self) -> NextSet {
        let mut set = match self.part {
            ProgramPart::Operand => return NextSet::of(BITS),
            ProgramPart::Initial => NextSet::of(BITS),
            ProgramPart::Operations => NextSet::empty(),
        };
        set.insert(PUSH);
        set.insert(MARKER);
        if !self.stack.is_empty() {
            set.insert(POP);
        }
        set
    }

    /// A pop costs what it saves in the answer, a push costs three symbols in all, an initial symbol two.
    fn completes(&self, rest: usize) -> bool {
        let least = self.stack.len() + 1 + if self.part == ProgramPart::Operand { 2 } else { 0 };
        let Some(surplus) = rest.checked_sub(least) else { return false };
        match self.part {
            // Initial symbols add two and pushes three: every number but 1 is a sum of these.
            ProgramPart::Initial => surplus != 1,
            ProgramPart::Operations | ProgramPart::Operand => surplus % 3 == 0,
        }
    }
}

/// The possible sizes: for each initial stack, the least and greatest number of pushes that
/// keeps to the range.
struct Shapes {
    stacks: Vec<(usize, usize, usize)>,
}

impl Shapes {
    /// A string has 2·stack + 3·pushes + 1 symbols, whatever is popped.
    fn new(lengths: &LengthRange) -> Self {
        let (lo, hi) = (*lengths.start(), *lengths.end());
        let stacks = (0..=hi.saturating_sub(1) / 2)
            .filter_map(|stack| {
                let base = 2 * stack + 1;
                let most = hi.checked_sub(base)? / 3;
                let least = lo.saturating_sub(base).div_ceil(3);
                (least <= most).then_some((stack, least, most))
            })
            .collect();
        Self { stacks }
    }
}

impl Distribution for Shapes {
    fn sample(&self, rng: &mut dyn Rng) -> Word {
        let &(stack, least, most) = draw::choose(rng, &self.stacks);
        let mut pushes = draw::between(rng, least, most);
        let bit = |rng: &mut dyn Rng| BITS[usize::from(draw::coin(rng))];
        let mut word: Word = (0..stack).map(|_| bit(rng)).collect();
        let mut stack = word.clone();
        loop {
            // An empty stack leaves no choice, so that no coin is tossed; `log_prob` counts the same coins.
            if stack.is_empty() || draw::coin(rng) {
                if pushes == 0 {
                    break;
                }
                pushes -= 1;
                let value = bit(rng);
                word.extend([PUSH, value]);
                stack.push(value);
            } else {
                word.push(POP);
                stack.pop();
            }
        }
        word.push(MARKER);
        word.extend(stack.iter().rev());
        word
    }

    fn log_prob(&self, word: &[Symbol]) -> f64 {
        let Some(marker) = word.iter().position(|&a| a == MARKER) else { return f64::NEG_INFINITY };
        let stack = run(&word[..marker]);
        if !stack.is_some_and(|stack| stack.iter().rev().eq(&word[marker + 1..])) {
            return f64::NEG_INFINITY;
        }
        let initial = word.iter().take_while(|a| BITS.contains(a)).count();
        let pushes = word.iter().filter(|&&a| a == PUSH).count();
        let Some((_, least, most)) = self.stacks.iter().find(|(stack, ..)| *stack == initial) else {
            return f64::NEG_INFINITY;
        };
        if !(least..=most).contains(&&pushes) {
            return f64::NEG_INFINITY;
        }
        // One coin per initial and pushed symbol, and one per operation and for the end unless the stack is
        // empty.
        let mut coins = initial + pushes;
        let mut size = initial;
        for &symbol in word[initial..marker].iter().filter(|a| [POP, PUSH].contains(a)) {
            coins += usize::from(size > 0);
            size = if symbol == POP { size - 1 } else { size + 1 };
        }
        coins += usize::from(size > 0);
        let shapes = (self.stacks.len() * (most - least + 1)) as f64;
        -libm::log(shapes) - coins as f64 * std::f64::consts::LN_2
    }
}
