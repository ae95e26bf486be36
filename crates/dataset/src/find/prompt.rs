//! Any rule task as prompts for a language model (appendix E of the paper).

use std::collections::BTreeSet;

use wug_language::{Alphabet, Symbol, Word};

use crate::{CandidateRule, MaskedSequence, RuleTask, TransductionPair};

/// A rule task over one vocabulary: `<eos> input <sep>` is to be continued with `output <eos>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptForm {
    /// `<eos>`, `<sep>`, the source tokens, the target tokens. A target token that is also a source token
    /// stays a different symbol and is marked with `'`, because the paper keeps inputs and outputs apart.
    pub vocabulary: Alphabet,
    /// The training pairs; only the continuation is to be predicted.
    pub train: Vec<MaskedSequence>,
    /// The prompts of the hold-out inputs, in the task's order.
    pub holdout: Vec<Word>,
    sources: u16,
}

const EOS: Symbol = Symbol(0);
const SEP: Symbol = Symbol(1);
const SPECIAL: u16 = 2;

/// Puts a task into prompt form.
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("hierarchical-or-linear:depth=1", Seed::new(1)).unwrap();
/// let prompts = find::prompt_form(&task);
/// let vocabulary = &prompts.vocabulary;
/// assert_eq!(prompts.train[1].show(vocabulary), "<eos> b a b <sep> [a'] [<eos>]");
/// assert_eq!(vocabulary.format(&prompts.holdout[1]), "<eos> b a b <sep>");
/// ```
///
/// # Panics
/// If the two alphabets together have more than 65,534 symbols.
pub fn prompt_form(task: &RuleTask) -> PromptForm {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut tokens = Vec::new();
    let special = ["<eos>", "<sep>"].map(str::to_owned);
    for token in special.iter().chain(task.source.tokens()).chain(task.target.tokens()) {
        let mut name = token.clone();
        while !names.insert(name.clone()) {
            name.push('\'');
        }
        tokens.push(name);
    }
    let mut form = PromptForm {
        vocabulary: Alphabet::new(tokens),
        train: Vec::new(),
        holdout: Vec::new(),
        sources: task.source.len() as u16,
    };
    form.train = task.train.iter().map(|pair| form.example(pair)).collect();
    form.holdout = task.holdout.iter().map(|input| form.prompt(input)).collect();
    form
}

impl PromptForm {
    /// The symbol that opens and closes every example.
    pub fn eos(&self) -> Symbol {
        EOS
    }

    pub fn prompt(&self, input: &[Symbol]) -> Word {
        let source = input.iter().map(|s| Symbol(s.0 + SPECIAL));
        std::iter::once(EOS).chain(source).chain([SEP]).collect()
    }

    /// `<eos> input <sep> output <eos>`, of which everything after `<sep>` is to be predicted.
    pub fn example(&self, pair: &TransductionPair) -> MaskedSequence {
        let mut word = self.prompt(&pair.input);
        let start = word.len();
        word.extend(pair.output.iter().map(|s| Symbol(s.0 + SPECIAL + self.sources)));
        word.push(EOS);
        MaskedSequence { mask: (start..word.len()).collect(), word }
    }

    /// A candidate's answers to all hold-out inputs, to be scored.
    pub fn candidate(&self, task: &RuleTask, rule: &CandidateRule) -> Vec<MaskedSequence> {
        let pairs = task.holdout.iter().zip(&rule.outputs);
        pairs
            .map(|(input, output)| {
                self.example(&TransductionPair { input: input.clone(), output: output.clone() })
            })
            .collect()
    }

    /// The output, over the task's target alphabet, of what a model wrote after a prompt. `None` if
    /// it never closed with `<eos>` or wrote something before it that is no target symbol. What
    /// follows `<eos>` is ignored.
    ///
    /// ```
    /// use wug_dataset::{Seed, find};
    /// let task = find::build("count-or-memorization:length=2", Seed::new(1)).unwrap();
    /// let prompts = find::prompt_form(&task);
    /// let read = |text| prompts.output(&prompts.vocabulary.parse(text).unwrap());
    /// assert_eq!(read("b b <eos> a"), Some(task.target.parse("b b").unwrap()));
    /// assert_eq!(read("b a <eos>"), None); // a is a source symbol
    /// assert_eq!(read("b b"), None);
    /// ```
    pub fn output(&self, continuation: &[Symbol]) -> Option<Word> {
        let end = continuation.iter().position(|&s| s == EOS)?;
        let known = |s: &&Symbol| s.index() < self.vocabulary.len();
        // Source symbols are numbered below the target: a model that writes one has given no output.
        let target = |s: &Symbol| s.0.checked_sub(SPECIAL + self.sources).map(Symbol);
        continuation[..end].iter().map(|s| Some(s).filter(known).and_then(target)).collect()
    }
}
