//! The five suites, by name.

use wug_dataset::{bliss, find, wade};
use wug_language::registry::LANGUAGES;

/// A published benchmark.
#[derive(Debug)]
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// The question it puts to a model.
    pub question: &'static str,
    /// What it measures.
    pub measure: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// The formats its data are written in; the first is the default.
    pub formats: &'static [Format],
}

/// A layout of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// FLaRe directories as published.
    Flare,
    /// BLISS archives with a password, and masks.
    Bliss,
    /// BLISS strings as plain text.
    Text,
    /// TSE rows as released.
    Tse,
    /// FIND text files, source and target.
    Find,
    /// SCAN text files.
    Scan,
    /// Our own rows.
    Jsonl,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Flare, Self::Bliss, Self::Text, Self::Tse, Self::Find, Self::Scan, Self::Jsonl];

    /// The name as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flare => "flare",
            Self::Bliss => "bliss",
            Self::Text => "text",
            Self::Tse => "tse",
            Self::Find => "find",
            Self::Scan => "scan",
            Self::Jsonl => "jsonl",
        }
    }

    /// The format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// Every suite, in the order of the design.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "bliss",
        question: "how much can be learned from how little?",
        measure: "B-index",
        citation: "Lan, Chemla and Katzir 2023, Benchmarking Neural Network Generalization for Grammar Induction",
        formats: &[Format::Bliss, Format::Text, Format::Jsonl],
    },
    Suite {
        name: "wade",
        question: "how fast does it learn?",
        measure: "WADE",
        citation: "Cisneros, Sivic and Mikolov 2022, Benchmarking Learning Efficiency in Deep Reservoir Computing",
        formats: &[Format::Jsonl],
    },
    Suite {
        name: "flare",
        question: "can it recognise the language at unseen lengths?",
        measure: "recognition accuracy and cross-entropy, by length and edit distance",
        citation: "Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages",
        formats: &[Format::Flare, Format::Jsonl],
    },
    Suite {
        name: "tse",
        question: "does it prefer the grammatical string?",
        measure: "minimal-pair accuracy",
        citation: "Someya, Yoshida and Oseki 2024, Targeted Syntactic Evaluation on the Chomsky Hierarchy",
        formats: &[Format::Tse, Format::Jsonl],
    },
    Suite {
        name: "find",
        question: "which rule does it prefer when in doubt?",
        measure: "FPA and description length",
        citation: "Kharitonov and Chaabouni 2021, What They Do When in Doubt: a Study of Inductive Biases in Seq2seq Learners",
        formats: &[Format::Find, Format::Scan, Format::Jsonl],
    },
];

impl Suite {
    /// The suite of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// The languages and tasks with the settings that the paper has, as `wug data SUITE` writes them.
    pub fn published(&self) -> Vec<String> {
        match self.name {
            "find" => find::TASKS
                .iter()
                .flat_map(find::Entry::published)
                .filter(|t| !t.starts_with("scan"))
                .chain(["scan".to_owned()])
                .collect(),
            "tse" => {
                let terminals = [5, 10, 50, 100, 500];
                let with = |name: &str| terminals.map(|t| format!("{name}:terminals={t}"));
                self.members().into_iter().flat_map(with).collect()
            }
            _ => self.members().into_iter().map(str::to_owned).collect(),
        }
    }

    /// The languages or tasks that the paper has.
    pub fn members(&self) -> Vec<&'static str> {
        match self.name {
            "wade" => wade::TASKS.iter().map(|task| task.name).collect(),
            "find" => find::TASKS.iter().map(|task| task.name).collect(),
            "bliss" => bliss::Published::ALL.iter().map(|language| language.name()).collect(),
            suite => LANGUAGES.iter().filter(|e| e.suite == suite).map(|e| e.name).collect(),
        }
    }
}
