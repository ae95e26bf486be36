//! Ambiguous transduction: a few training pairs, hold-out inputs, and what each candidate rule would answer.
//!
//! A [`RuleTask`] holds answers, not functions, so that a task read from files and a task made here are the
//! same thing.

mod task_file;

use std::collections::BTreeSet;

use thiserror::Error;
use wug_language::{Alphabet, Symbol, Word};

pub use task_file::{TaskFile, TaskFileError};

// The tasks that have a name, whatever suite they are from.
pub use crate::find::{TASKS, TaskEntry, TaskError, build, holdout_order};

/// One input and its output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransductionPair {
    /// Over the task's source alphabet.
    pub input: Word,
    /// Over the task's target alphabet.
    pub output: Word,
}

/// A rule that fits the training pairs, by its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateRule {
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
    pub source: Alphabet,
    pub target: Alphabet,
    pub train: Vec<TransductionPair>,
    /// The inputs on which the rules disagree (and, where the paper has it, the training input again).
    pub holdout: Vec<Word>,
    pub rules: Vec<CandidateRule>,
    /// How many examples one step of the description length transmits.
    pub block_size: usize,
}

/// A candidate rule as a function of the input, from which a task is made.
pub type RuleFunction<'a> = &'a dyn Fn(&[Symbol]) -> Word;

/// A candidate that does not explain the training pairs, and so is no candidate.
#[derive(Debug, Error, PartialEq, Eq)]
#[error(
    "rule `{rule}` answers `{given}` to the training input `{input}`, but rule `{other}` answers `{allowed}`"
)]
pub struct RuleDisagrees {
    /// The rule that does not fit.
    pub rule: String,
    pub input: String,
    /// What the rule answers.
    pub given: String,
    /// The rule that made the training pairs.
    pub other: String,
    pub allowed: String,
}

impl RuleTask {
    /// A task from its rules as functions. The first makes the training pairs; all must agree on them.
    ///
    /// ```
    /// use wug_dataset::{RuleTask, language::{Alphabet, Symbol}};
    /// let letters = Alphabet::new(["a", "b"]);
    /// let (train, holdout) = (vec![letters.parse("aba").unwrap()], vec![letters.parse("ab").unwrap()]);
    /// let first = |w: &[Symbol]| vec![w[0]];
    /// let last = |w: &[Symbol]| vec![w[w.len() - 1]];
    /// let task = RuleTask::from_rules(
    ///     "first-or-last",
    ///     (letters.clone(), letters),
    ///     train,
    ///     holdout,
    ///     &[("first", &first), ("last", &last)],
    ///     1, // one example to a block
    /// )
    /// .unwrap();
    /// assert_ne!(task.rules[0].outputs, task.rules[1].outputs); // a, b
    /// ```
    ///
    /// # Panics
    /// If there is no rule.
    pub fn from_rules(
        name: impl Into<String>,
        (source, target): (Alphabet, Alphabet),
        train: Vec<Word>,
        holdout: Vec<Word>,
        rules: &[(&str, RuleFunction<'_>)],
        block_size: usize,
    ) -> Result<Self, RuleDisagrees> {
        assert!(!rules.is_empty(), "a task needs a rule");
        let (other, gold) = rules[0];
        let train: Vec<TransductionPair> =
            train.into_iter().map(|input| TransductionPair { output: gold(&input), input }).collect();
        for (&(rule, function), pair) in rules.iter().flat_map(|r| train.iter().map(move |pair| (r, pair))) {
            let answer = function(&pair.input);
            if answer != pair.output {
                return Err(RuleDisagrees {
                    rule: rule.to_owned(),
                    input: source.format(&pair.input),
                    given: target.format(&answer),
                    other: other.to_owned(),
                    allowed: target.format(&pair.output),
                });
            }
        }
        let answers = |function: RuleFunction<'_>| holdout.iter().map(|input| function(input)).collect();
        let rules = rules
            .iter()
            .map(|&(name, f)| CandidateRule { name: name.to_owned(), outputs: answers(f) })
            .collect();
        Ok(Self { name: name.into(), source, target, train, holdout, rules, block_size })
    }

    /// The candidate of a name.
    pub fn rule(&self, name: &str) -> Option<&CandidateRule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// The indices in [`holdout`](Self::holdout) of the inputs that were not trained on, in order.
    pub fn unseen(&self) -> Vec<usize> {
        let seen: BTreeSet<&Word> = self.train.iter().map(|pair| &pair.input).collect();
        (0..self.holdout.len()).filter(|&i| !seen.contains(&self.holdout[i])).collect()
    }

    /// The unseen inputs with a rule's answers: what the description length transmits, in file order.
    pub fn unseen_pairs(&self, rule: &CandidateRule) -> Vec<TransductionPair> {
        let pair =
            |i: usize| TransductionPair { input: self.holdout[i].clone(), output: rule.outputs[i].clone() };
        self.unseen().into_iter().map(pair).collect()
    }

    /// A candidate's published file: the training pairs, then the [unseen](Self::unseen_pairs) ones.
    pub fn candidate_lines(&self, rule: &CandidateRule) -> Vec<TransductionPair> {
        let mut lines = self.train.clone();
        lines.extend(self.unseen_pairs(rule));
        lines
    }

    /// The blocks of the description length: all training pairs, then the unseen pairs in the given order,
    /// cut into blocks of [`block_size`](Self::block_size).
    ///
    /// # Panics
    /// If `order` names a pair that is not there.
    pub fn blocks(&self, rule: &CandidateRule, order: &[usize]) -> Vec<Vec<TransductionPair>> {
        self.blocks_of(rule, order, self.block_size)
    }

    /// The same, in blocks of another size.
    ///
    /// # Panics
    /// If `order` names a pair that is not there.
    pub fn blocks_of(
        &self,
        rule: &CandidateRule,
        order: &[usize],
        size: usize,
    ) -> Vec<Vec<TransductionPair>> {
        let unseen = self.unseen_pairs(rule);
        let ordered: Vec<TransductionPair> = order.iter().map(|&i| unseen[i].clone()).collect();
        let rest = ordered.chunks(size.max(1)).map(<[TransductionPair]>::to_vec);
        std::iter::once(self.train.clone()).chain(rest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unary(train: &[usize], rules: &[(&str, RuleFunction<'_>)]) -> Result<RuleTask, RuleDisagrees> {
        let words = |lengths: &[usize]| lengths.iter().map(|&n| vec![Symbol(0); n]).collect::<Vec<_>>();
        let alphabets = (Alphabet::new(["a"]), Alphabet::new(["b"]));
        RuleTask::from_rules("t", alphabets, words(train), words(&[1, 2, 3, 4]), rules, 2)
    }

    #[test]
    fn blocks_are_the_training_pairs_and_then_the_unseen_in_order() {
        let copy = |w: &[Symbol]| w.to_vec();
        let task = unary(&[2], &[("copy", &copy)]).unwrap();
        assert_eq!(task.unseen(), [0, 2, 3]);
        let blocks = task.blocks(&task.rules[0], &[2, 0, 1]);
        let lengths: Vec<Vec<usize>> =
            blocks.iter().map(|b| b.iter().map(|p| p.input.len()).collect()).collect();
        assert_eq!(lengths, [vec![2], vec![4, 1], vec![3]]);
        let file: Vec<usize> = task.candidate_lines(&task.rules[0]).iter().map(|p| p.output.len()).collect();
        assert_eq!(file, [2, 1, 3, 4]);
        assert_eq!(task.rule("copy"), Some(&task.rules[0]));
        assert_eq!(task.rule("mem"), None);
    }

    #[test]
    fn a_rule_that_does_not_fit_is_named() {
        let copy = |w: &[Symbol]| w.to_vec();
        let one = |_: &[Symbol]| vec![Symbol(0)];
        let error = unary(&[2], &[("copy", &copy), ("one", &one)]).unwrap_err();
        let text = "rule `one` answers `b` to the training input `a a`, but rule `copy` answers `b b`";
        assert_eq!(error.to_string(), text);
    }
}
