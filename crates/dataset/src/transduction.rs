//! Ambiguous transduction: a few training pairs, hold-out inputs, and what each candidate rule would answer.

use wug_language::{Alphabet, Word};

/// One input and its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Over the task's source alphabet.
    pub input: Word,
    /// Over the task's target alphabet.
    pub output: Word,
}

/// A rule that fits the training pairs, by its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its short name, such as `count` or `mem`.
    pub name: String,
    /// Its answer to each hold-out input, in order.
    pub outputs: Vec<Word>,
}

/// A task whose training pairs leave open which rule made them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleTask {
    /// Name and setting, such as `count-or-memorization:length=40`.
    pub name: String,
    /// The input alphabet.
    pub source: Alphabet,
    /// The output alphabet.
    pub target: Alphabet,
    /// The pairs to learn from.
    pub train: Vec<Pair>,
    /// The inputs on which the rules disagree (and, where the paper has it, the training input again).
    pub holdout: Vec<Word>,
    /// The candidate rules.
    pub rules: Vec<Rule>,
    /// How many examples one step of the description length transmits.
    pub block_size: usize,
}
