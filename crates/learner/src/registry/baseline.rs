//! Learners without gradients: what scores are compared with.

use super::{Knowledge, Learner, NO_ROLES, NextSymbolRole, TRUE_GRAMMAR as TRUE_GRAMMAR_NAME};
use crate::baseline::{NGram, RepeatLast, Uniform};
use crate::interface::AnyNextSymbol;

const fn entry(
    name: &'static str,
    summary: &'static str,
    cite: &'static str,
    build: for<'a> fn(&Knowledge<'a>) -> AnyNextSymbol<'a>,
) -> Learner {
    let next_symbol = Some(NextSymbolRole::Baseline(build));
    Learner { name, summary, cite, next_symbol, ..NO_ROLES }
}

fn ngram<'a>(order: usize, known: &Knowledge<'a>) -> AnyNextSymbol<'a> {
    let strings = known.strings.iter().map(Vec::as_slice);
    AnyNextSymbol::new(NGram::fit(order, known.vocabulary, strings))
}

const SHANNON: &str = "Shannon 1951, Prediction and Entropy of Printed English";

pub(super) static REPEAT_LAST: Learner =
    entry("repeat-last", "no training: expects the last symbol again", "baseline", |known| {
        AnyNextSymbol::new(RepeatLast::new(known.vocabulary))
    });

pub(super) static UNIFORM: Learner =
    entry("uniform", "no training: gives every symbol the same probability", "baseline", |known| {
        AnyNextSymbol::new(Uniform::new(known.vocabulary))
    });

pub(super) static UNIGRAM: Learner =
    entry("unigram", "frequencies of symbols in the training strings", SHANNON, |known| ngram(1, known));

pub(super) static BIGRAM: Learner =
    entry("bigram", "frequencies of symbols after the last one", SHANNON, |known| ngram(2, known));

pub(super) static TRIGRAM: Learner =
    entry("trigram", "frequencies of symbols after the last two", SHANNON, |known| ngram(3, known));

pub(super) static TRUE_GRAMMAR: Learner = entry(
    TRUE_GRAMMAR_NAME,
    "no training: knows the language and the probabilities of its strings; where they are not known, all that may come next is equally likely",
    "baseline",
    |known| AnyNextSymbol::from(known.grammar),
);

pub(super) static ORACLE: Learner = entry(
    "oracle",
    "no training: knows the language, and prefers some of its strings to others at random (by seed); what ceilings are of",
    "baseline",
    |known| AnyNextSymbol::from(known.grammar.preferring(known.seed)),
);
