//! A task of one's own, as written in a file: training pairs, hold-out inputs, and what each rule answers to them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;
use wug_language::{Alphabet, Symbol, Word};

use super::{CandidateRule, RuleTask, TransductionPair};

/// The most pairs and hold-out inputs, symbols of a string, tokens of an alphabet, and rules.
// Files come from anywhere: what they ask for is bounded before it is built.
const MAX_PAIRS: usize = 100_000;
const MAX_LENGTH: usize = 10_000;
const MAX_TOKENS: usize = 10_000;
const MAX_RULES: usize = 100;
/// The most symbols of all strings together.
const MAX_SYMBOLS: usize = 10_000_000;
/// The most characters of a name.
const MAX_NAME: usize = 64;

/// A file with a task. Strings are tokens separated by spaces.
///
/// ```
/// use wug_dataset::transduction::TaskFile;
/// let file: TaskFile = serde_json::from_str(r#"{
///     "name": "first-or-last",
///     "train": [{ "input": "a b a", "output": "A" }],
///     "holdout": [{ "input": "a b", "rules": { "first": "A", "last": "B" } }]
/// }"#).unwrap();
/// let task = file.task().unwrap();
/// assert_eq!((task.rules.len(), task.target.tokens()), (2, &["A".to_owned(), "B".to_owned()][..]));
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    name: String,
    #[serde(default = "one")]
    block_size: usize,
    train: Vec<PairText>,
    holdout: Vec<HoldoutText>,
}

fn one() -> usize {
    1
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairText {
    input: String,
    output: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldoutText {
    input: String,
    rules: Answers,
}

/// The answers of the rules to an input, in the order of the file.
#[derive(Clone, Debug, Default)]
// No map, which would forget the order of the rules.
struct Answers(Vec<(String, String)>);

impl Answers {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, answer)| answer.as_str())
    }
}

impl<'de> Deserialize<'de> for Answers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(AnswersVisitor)
    }
}

struct AnswersVisitor;

impl<'de> Visitor<'de> for AnswersVisitor {
    type Value = Answers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with the answer of every rule")
    }

    /// JSON may have a key twice, of which parsers silently keep the last.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answers, A::Error> {
        let mut answers = Answers::default();
        while let Some((name, answer)) = map.next_entry::<String, String>()? {
            if answers.get(&name).is_some() {
                return Err(A::Error::custom(format_args!("rule `{}` is there twice", name.escape_debug())));
            }
            if answers.0.len() == MAX_RULES {
                return Err(A::Error::custom(format_args!("more than {MAX_RULES} rules")));
            }
            answers.0.push((name, answer));
        }
        Ok(answers)
    }
}

/// What is wrong with a task.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TaskFileError {
    #[error("the {what} `{given}` is not allowed: one has 1 to {MAX_NAME} letters, digits, `-` and `_`")]
    Name { what: &'static str, given: String },
    #[error("there are {given} {what}; allowed: {allowed}")]
    Count { what: &'static str, given: usize, allowed: String },
    #[error("hold-out input {index} has the rules {given}, but the first has {allowed}")]
    Rules { index: usize, given: String, allowed: String },
    #[error("training pair {index} has the input of pair {other}, but another output")]
    Contradiction { index: usize, other: usize },
    #[error(
        "rule `{rule}` answers `{given}` to hold-out input {index}, which is a training input with the output `{allowed}`"
    )]
    Disagrees { rule: String, index: usize, given: String, allowed: String },
    #[error(
        "rule `{rule}` answers `{given}` to hold-out input {index}, but `{other}` to the same input before"
    )]
    Ambiguous { rule: String, index: usize, given: String, other: String },
    #[error("every hold-out input is a training input; at least one must not be")]
    NothingUnseen,
    #[error("the rules {one} and {other} answer the same to every hold-out input: nothing tells them apart")]
    Same { one: String, other: String },
}

/// An alphabet that grows with what is read, and how much was read.
#[derive(Default)]
struct TokenReader {
    tokens: Vec<String>,
    known: BTreeMap<String, Symbol>,
    symbols: usize,
}

impl TokenReader {
    fn word(&mut self, text: &str) -> Result<Word, TaskFileError> {
        let mut word = Word::new();
        for token in text.split_whitespace() {
            let symbol = if let Some(&symbol) = self.known.get(token) {
                symbol
            } else {
                at_most("different tokens", self.tokens.len() + 1, MAX_TOKENS)?;
                let symbol = Symbol(self.tokens.len() as u16);
                self.tokens.push(token.to_owned());
                self.known.insert(token.to_owned(), symbol);
                symbol
            };
            word.push(symbol);
        }
        self.symbols += word.len();
        at_most("symbols in one string", word.len(), MAX_LENGTH)?;
        at_most("symbols in all strings", self.symbols, MAX_SYMBOLS)?;
        Ok(word)
    }
}

fn counted(what: &'static str, given: usize, least: usize, most: usize) -> Result<(), TaskFileError> {
    if (least..=most).contains(&given) {
        return Ok(());
    }
    Err(TaskFileError::Count { what, given, allowed: format!("{least} to {most}") })
}

fn at_most(what: &'static str, given: usize, most: usize) -> Result<(), TaskFileError> {
    counted(what, given, 0, most)
}

fn checked_name(what: &'static str, given: &str) -> Result<(), TaskFileError> {
    let plain = given.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if plain && (1..=MAX_NAME).contains(&given.len()) {
        return Ok(());
    }
    let given: String = given.chars().take(MAX_NAME).flat_map(char::escape_debug).collect();
    Err(TaskFileError::Name { what, given })
}

impl TaskFile {
    /// The same with the rules in this order; for formats whose parsers do not keep the order of a file.
    #[must_use]
    pub fn with_rules_in_order(mut self, names: impl IntoIterator<Item = String>) -> Self {
        if let Some(row) = self.holdout.first_mut() {
            let names: Vec<String> = names.into_iter().collect();
            row.rules.0.sort_by_key(|(name, _)| names.iter().position(|other| other == name));
        }
        self
    }

    /// The task. Its rules are in the order of the first hold-out input. Its alphabets are the tokens of inputs and of outputs, in the order in which they first occur.
    pub fn task(self) -> Result<RuleTask, TaskFileError> {
        checked_name("name", &self.name)?;
        counted("training pairs", self.train.len(), 1, MAX_PAIRS)?;
        counted("hold-out inputs", self.holdout.len(), 1, MAX_PAIRS)?;
        counted("examples in a block", self.block_size, 1, MAX_PAIRS)?;
        let names: Vec<String> =
            self.holdout.iter().take(1).flat_map(|row| row.rules.names().map(str::to_owned)).collect();
        counted("rules", names.len(), 1, MAX_RULES)?;
        names.iter().try_for_each(|name| checked_name("rule", name))?;
        let (mut source, mut target) = (TokenReader::default(), TokenReader::default());
        let mut train = Vec::with_capacity(self.train.len());
        let mut answers: BTreeMap<Word, usize> = BTreeMap::new();
        for (i, pair) in self.train.iter().enumerate() {
            let pair =
                TransductionPair { input: source.word(&pair.input)?, output: target.word(&pair.output)? };
            let other = *answers.entry(pair.input.clone()).or_insert(i);
            train.push(pair);
            if train[other].output != train[i].output {
                return Err(TaskFileError::Contradiction { index: i + 1, other: other + 1 });
            }
        }
        let mut rules: Vec<CandidateRule> =
            names.iter().map(|name| CandidateRule { name: name.clone(), outputs: Vec::new() }).collect();
        let mut holdout = Vec::with_capacity(self.holdout.len());
        let mut first: BTreeMap<Word, usize> = BTreeMap::new();
        for (i, row) in self.holdout.iter().enumerate() {
            let input = source.word(&row.input)?;
            let trained = answers.get(&input).map(|&i| &train[i].output);
            let earlier = *first.entry(input.clone()).or_insert(i);
            for rule in &mut rules {
                // Names are there once in a row: as many as in the first row, and each of them found, are
                // the same ones.
                let Some(text) = row.rules.get(&rule.name).filter(|_| row.rules.0.len() == names.len())
                else {
                    let given: Vec<String> =
                        row.rules.names().map(|name| name.escape_debug().to_string()).collect();
                    let (given, allowed) = (given.join(", "), names.join(", "));
                    return Err(TaskFileError::Rules { index: i + 1, given, allowed });
                };
                let output = target.word(text)?;
                rule.outputs.push(output);
                let (output, other) = (&rule.outputs[i], &rule.outputs[earlier]);
                let (name, index, given) = (rule.name.clone(), i + 1, text.to_owned());
                if let Some(trained) = trained.filter(|trained| *trained != output) {
                    let allowed = target.format(trained);
                    return Err(TaskFileError::Disagrees { rule: name, index, given, allowed });
                }
                if other != output {
                    let other = target.format(other);
                    return Err(TaskFileError::Ambiguous { rule: name, index, given, other });
                }
            }
            holdout.push(input);
        }
        if holdout.iter().all(|input| answers.contains_key(input)) {
            return Err(TaskFileError::NothingUnseen);
        }
        for (i, one) in rules.iter().enumerate() {
            if let Some(other) = rules[..i].iter().find(|other| other.outputs == one.outputs) {
                let (one, other) = (other.name.clone(), one.name.clone());
                return Err(TaskFileError::Same { one, other });
            }
        }
        Ok(RuleTask {
            name: self.name,
            source: Alphabet::new(source.tokens),
            target: Alphabet::new(target.tokens),
            train,
            holdout,
            rules,
            block_size: self.block_size,
        })
    }
}

impl TokenReader {
    fn format(&self, word: &[Symbol]) -> String {
        word.iter().map(|symbol| self.tokens[symbol.index()].as_str()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RuleTask, TaskFileError> {
        serde_json::from_str::<TaskFile>(text).unwrap().task()
    }

    const GOOD: &str = r#"{ "name": "t", "block_size": 2,
        "train": [{ "input": "a b", "output": "x" }],
        "holdout": [{ "input": "a b", "rules": { "r": "x", "s": "x" } },
                    { "input": "b", "rules": { "r": "x", "s": "y y" } }] }"#;

    #[test]
    fn a_task_is_read_with_its_alphabets() {
        let task = read(GOOD).unwrap();
        assert_eq!(
            (task.source.tokens().join(" "), task.target.tokens().join(" ")),
            ("a b".into(), "x y".into())
        );
        assert_eq!((task.block_size, task.unseen()), (2, vec![1]));
        assert_eq!(task.rule("s").unwrap().outputs, [vec![Symbol(0)], vec![Symbol(1), Symbol(1)]]);
    }

    #[test]
    fn rules_keep_the_order_of_the_first_input() {
        let swapped = GOOD.replace(r#""r": "x", "s": "x""#, r#""s": "x", "r": "x""#);
        let names = |task: RuleTask| task.rules.into_iter().map(|rule| rule.name).collect::<Vec<_>>();
        let task = read(&swapped).unwrap();
        assert_eq!(task.rule("s").unwrap().outputs[1].len(), 2);
        assert_eq!(
            (names(task), names(read(GOOD).unwrap())),
            (vec!["s".into(), "r".into()], vec!["r".into(), "s".into()])
        );
        let file: TaskFile = serde_json::from_str(GOOD).unwrap();
        let ordered = file.with_rules_in_order(["s", "r"].map(str::to_owned));
        assert_eq!(names(ordered.task().unwrap()), ["s", "r"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |from: &str, to: &str| {
            assert!(GOOD.contains(from), "{from}");
            read(&GOOD.replace(from, to)).unwrap_err().to_string()
        };
        assert!(error("\"t\"", "\"t t\"").starts_with("the name `t t` is not allowed"));
        assert_eq!(
            error(r#""r": "x", "s": "x" }"#, r#""r": "x", "s": "y" }"#),
            "rule `s` answers `y` to hold-out input 1, which is a training input with the output `x`"
        );
        assert!(
            error("\"s\": \"y y\"", "\"q\": \"y\"").contains("has the rules r, q, but the first has r, s")
        );
        assert!(error("y y", "x").contains("nothing tells them apart"));
        assert_eq!(
            error(r"}] }", r#"}, { "input": "b", "rules": { "r": "x", "s": "y" } }] }"#),
            "rule `s` answers `y` to hold-out input 3, but `y y` to the same input before"
        );
        let seen = read(
            r#"{ "name": "t", "train": [{ "input": "a", "output": "x" }],
            "holdout": [{ "input": "a", "rules": { "r": "x" } }] }"#,
        );
        assert_eq!(seen.unwrap_err(), TaskFileError::NothingUnseen);
        let repeated = GOOD.replace(r#""r": "x", "s": "y y""#, r#""r": "x", "s": "y y", "r": "y""#);
        let repeated = serde_json::from_str::<TaskFile>(&repeated).unwrap_err().to_string();
        assert!(repeated.starts_with("rule `r` is there twice at line 4"), "{repeated}");
        assert!(error("\"block_size\": 2", "\"block_size\": 0").contains("0 examples in a block"));
        let twice = r#"{ "input": "a b", "output": "x" }, { "input": "a  b", "output": "y" }"#;
        assert_eq!(
            error(r#"{ "input": "a b", "output": "x" }"#, twice),
            "training pair 2 has the input of pair 1, but another output"
        );
    }
}
