//! Tasks of one letter, where only lengths matter: counting, adding and multiplying from a single example.

use wug_language::{Alphabet, Symbol, Word};
use wug_parameter::{Constant, Key};

use super::RuleFunction;
use super::registry::TaskEntry;
use super::setting::{Setting, TaskError};
use crate::{RuleTask, Seed};

/// A rule of one letter: how many `b` follow on `m` times `a`, given the training length.
type LengthRule = fn(l: usize, m: usize) -> usize;

/// Does a learner count, or repeat what it saw?
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("count-or-memorization:length=12", Seed::new(1)).unwrap();
/// assert_eq!(task.holdout.len(), 21); // a^2 … a^22, and a^12 among them
/// assert_eq!(task.rule("count").unwrap().outputs[0].len(), 2); // aa -> bb
/// assert_eq!(task.rule("mem").unwrap().outputs[0].len(), 12); // aa -> b^12
/// ```
///
/// At a length of 10 or less the hold-out has the empty string, to which `count` answers
/// with the empty string:
///
/// ```
/// # use wug_dataset::{Seed, find};
/// let task = find::build("count-or-mem:length=10", Seed::new(1)).unwrap();
/// assert!(task.holdout[0].is_empty() && task.rule("count").unwrap().outputs[0].is_empty());
/// ```
pub(super) const COUNT_OR_MEMORIZATION: TaskEntry = TaskEntry {
    name: "count-or-memorization",
    aliases: &["count-or-mem"],
    summary: "one pair a^l -> b^l: count, or repeat the output?",
    definition: "Train a^l -> b^l. Hold-out a^m for m in l-10..l+10 (not below 0), l included. \
                 count: a^m -> b^m. mem: a^m -> b^l.",
    cite: super::CITE,
    parameters: &[LENGTH.or(Constant::Count(40)).parameter()],
    published: &["length=10", "length=20", "length=30", "length=40"],
    make: |setting, _: Seed| unary(setting, 10, &[("count", |_, m| m), ("mem", |l, _| l)]),
};

/// Does a learner add, multiply, or repeat what it saw?
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("add-or-multiply:length=5", Seed::new(1)).unwrap();
/// assert_eq!(task.train[0].output.len(), 10); // a^5 -> b^10
/// let of_a8 = |rule| task.rule(rule).unwrap().outputs[6].len();
/// assert_eq!((of_a8("add"), of_a8("mul"), of_a8("mem")), (13, 16, 10));
/// let of_a2 = |rule| task.rule(rule).unwrap().outputs[0].len();
/// assert_eq!((of_a2("add"), of_a2("mul"), of_a2("mem")), (7, 4, 10));
/// ```
pub(super) const ADD_OR_MULTIPLY: TaskEntry = TaskEntry {
    name: "add-or-multiply",
    aliases: &["add-or-mul"],
    summary: "one pair a^l -> b^2l: add l, double, or repeat the output?",
    definition: "Train a^l -> b^2l. Hold-out a^m for m in l-3..l+3 (not below 0), l included. \
                 add: a^m -> b^(m+l). mul: a^m -> b^2m. mem: a^m -> b^2l.",
    cite: super::CITE,
    parameters: &[LENGTH.parameter()],
    published: &["length=5", "length=10", "length=15", "length=20"],
    make: |setting, _: Seed| {
        unary(setting, 3, &[("add", |l, m| m + l), ("mul", |_, m| 2 * m), ("mem", |l, _| 2 * l)])
    },
};

/// Which of the four ways to reach three times the input?
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("multiply-by-3:length=5", Seed::new(1)).unwrap();
/// assert_eq!(task.train[0].output.len(), 15); // a^5 -> b^15
/// let of = |i: usize| task.rules.iter().map(move |rule| rule.outputs[i].len()).collect::<Vec<_>>();
/// assert_eq!(of(0), [12, 9, 6, 15]); // a^2 by mul1, mul2, mul3, mem
/// assert_eq!(of(6), [18, 21, 24, 15]); // a^8
/// ```
pub(super) const MULTIPLY_BY_3: TaskEntry = TaskEntry {
    name: "multiply-by-3",
    aliases: &["mult-by-3"],
    summary: "one pair a^l -> b^3l: which sum of multiples makes three times the input?",
    definition: "Train a^l -> b^3l. Hold-out a^m for m in l-3..l+3 (not below 0), l included. \
                 mul1: a^m -> b^(2l+m). mul2: a^m -> b^(l+2m). mul3: a^m -> b^3m. mem: a^m -> b^3l.",
    cite: "Kharitonov & Chaabouni (2021), What they do when in doubt, ICLR, appendix A (no released code)",
    parameters: &[LENGTH.parameter()],
    published: &["length=5", "length=10", "length=15", "length=20"],
    make: |setting, _: Seed| {
        let rules: [(&str, LengthRule); 4] = [
            ("mul1", |l, m| 2 * l + m),
            ("mul2", |l, m| l + 2 * m),
            ("mul3", |_, m| 3 * m),
            ("mem", |l, _| 3 * l),
        ];
        unary(setting, 3, &rules)
    },
};

const LENGTH: Key<usize> = Key::count("length", "l, the length of the only training input", 1..=10_000, 20);

/// A task that trains on length `l` alone and holds out the lengths up to `reach` away from it.
fn unary(setting: &Setting, reach: usize, rules: &[(&str, LengthRule)]) -> Result<RuleTask, TaskError> {
    let l = setting.get(&LENGTH);
    let word = |n: usize| -> Word { vec![Symbol(0); n] };
    // The training length is among them, as in the released files; the description length leaves it out.
    let holdout = (l.saturating_sub(reach)..=l + reach).map(word).collect();
    let functions: Vec<_> = rules
        .iter()
        .map(|&(name, rule)| (name, move |input: &[Symbol]| word(rule(l, input.len()))))
        .collect();
    let rules: Vec<_> = functions.iter().map(|(name, f)| (*name, f as RuleFunction<'_>)).collect();
    let alphabets = (Alphabet::new(["a"]), Alphabet::new(["b"]));
    Ok(RuleTask::from_rules(setting.full_name(), alphabets, vec![word(l)], holdout, &rules, 1)?)
}
