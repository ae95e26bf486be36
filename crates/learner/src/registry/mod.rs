//! Every learner by name: what it is, which roles it can play, and what can be set of it.
//!
//! A protocol takes every learner that can play the role it needs. Commands, messages and tests derive from [`LEARNERS`];
//! a new learner is a file here and a line in that list.

mod baseline;
mod gradient;
mod incremental;
mod mdlrnn;
mod memory;
mod range;
mod recurrent;
mod reservoir;
mod search;
mod seq2seq;
mod size;
mod size_table;
mod transformer;

#[cfg(test)]
mod combinations_tests;
#[cfg(test)]
mod optimizer_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use wug_dataset::Seed;
use wug_language::{Reading, nearest_names};

use crate::baseline::Grammar;
use crate::interface::AnyNextSymbol;
use crate::model::{
    BodySpec, Counted, Initialization, LanguageModelSpec, Output, RecognizerSpec, SpecError, TransducerSpec,
};

use size::Target;

pub use gradient::Regularization;
pub use gradient::{
    NextSymbolLoss, UpdateRule, optimizer_spec, recognition_spec, train_spec, trains_output,
    transduction_spec,
};
pub use incremental::{IncrementalRole, IncrementalTask};
pub use mdlrnn::search_spec;
pub use range::drawn;
pub use search::{Found, NextSymbolSearch, SearchProgress, SearchRole, SearchTask};
pub use size::{Dimension, Matched, Sizing, Steps, TOLERANCE, is_met};
pub use size_table::{SizeRow, size_table};
pub use wug_parameter::{Given, Matching, Parameter, ParameterError, Range, SettingValue, Settings};

/// Settings that protocols read.
pub mod keys {
    pub use super::gradient::{
        BATCH, BATCH_SYMBOLS, CLIP, DECAY, DECAY_PATIENCE, EPOCHS, LEARNING_RATE, LOSS, LOSS_WEIGHT,
        MAX_EPOCHS, OPTIMIZER, PATIENCE, TRAIN_OUTPUT, UPDATES,
    };
    pub use super::memory::{ROWS, START as TEMPERATURE_START, TEST_ROWS, WIDTH as MEMORY_WIDTH};
    pub use super::recurrent::{HIDDEN, LAYERS, SCORING_DROPOUT};
    pub use super::reservoir::{DECODER, ITERATIONS, PROJECTION, REDUNDANCY, RULE, UNITS};
}

/// What a trained learner can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Whether a string is in the language.
    Recognizer,
    NextSymbol,
    /// What a string becomes.
    Transducer,
    /// The answers in a sequence, at any time while it learns.
    Incremental,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Recognizer, Self::NextSymbol, Self::Transducer, Self::Incremental];

    /// What its settings are called in print.
    pub fn title(self) -> &'static str {
        match self {
            Self::Recognizer => "settings as a recognizer",
            Self::NextSymbol => "settings as a next-symbol model",
            Self::Transducer => "settings as a transducer",
            Self::Incremental => "settings as an incremental learner",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Recognizer => "recognizer",
            Self::NextSymbol => "next-symbol",
            Self::Transducer => "transducer",
            Self::Incremental => "incremental",
        }
    }
}

/// An entry of the registry.
#[derive(Debug)]
pub struct Learner {
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is from.
    pub cite: &'static str,
    /// How it is built as a recognizer.
    pub recognizer: Option<RecognizerRole>,
    /// How it is built as a next-symbol model.
    pub next_symbol: Option<NextSymbolRole>,
    /// How it is built as a transducer.
    pub transducer: Option<TransducerRole>,
    /// How it is built as an incremental learner.
    pub incremental: Option<IncrementalRole>,
}

/// An entry without roles: one lists those that it has, and takes the rest from here.
const NO_ROLES: Learner = Learner {
    name: "",
    summary: "",
    cite: "",
    recognizer: None,
    next_symbol: None,
    transducer: None,
    incremental: None,
};

/// What a recognizer is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecognizerTask {
    /// Symbols of the alphabet.
    pub alphabet: usize,
    /// Whether it also predicts the next symbol.
    pub language_modeling: bool,
    /// Whether it also predicts the set of symbols that may come next.
    pub next_symbols: bool,
}

impl RecognizerTask {
    /// The task of a recognizer that learns from labels alone.
    pub fn labels(alphabet: usize) -> Self {
        Self { alphabet, language_modeling: false, next_symbols: false }
    }

    /// The recognizer with a body.
    fn recognizer(self, body: BodySpec, initialization: Initialization) -> RecognizerSpec {
        let Self { alphabet, language_modeling, next_symbols } = self;
        RecognizerSpec { body, alphabet, language_modeling, next_symbols, initialization }
    }
}

/// The next-symbol model with a body over a vocabulary.
fn language_model(body: BodySpec, vocabulary: usize) -> LanguageModelSpec {
    LanguageModelSpec { body, vocabulary, output: Output::Linear, initialization: Initialization::Torch }
}

/// Checks what settings have to do with each other.
pub type SettingsCheck = fn(&Settings) -> Result<(), ParameterError>;

/// How a network is built for a task, from its settings or from a size.
#[derive(Debug)]
pub struct Network<T, S> {
    /// What can be set.
    pub settings: &'static [Parameter],
    /// What settings have to do with each other, if anything.
    pub check: Option<SettingsCheck>,
    pub build: fn(&Settings, T) -> S,
    /// The dimensions that a size decides.
    pub sizing: &'static Sizing,
    /// The published formula for the number of parameters, `a·d² + b·d + 1` with the width `d`: its coefficients.
    pub published: Option<fn(T) -> (f64, f64)>,
}

impl<T: Copy, S: Counted> Network<T, S> {
    /// The number of parameters with these settings.
    pub fn parameters(&self, settings: &Settings, task: T) -> Result<usize, SpecError> {
        (self.build)(settings, task).parameters()
    }

    /// The settings with the dimensions of a size. Those in `given` stay as they are.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use wug_language::Reading;
    /// use wug_learner::registry::{Matching, RecognizerTask, Role, Settings, find};
    /// let task = RecognizerTask { alphabet: 2, language_modeling: false, next_symbols: false };
    /// let matched = |name, size, matching| {
    ///     let role = find(name, Role::Recognizer).unwrap().recognizer.as_ref().unwrap();
    ///     role.matched(&Settings::defaults(role.settings, Reading::Corrected), &BTreeSet::new(), size, task, matching).unwrap()
    /// };
    /// // The widths of Butoi et al. 2025: 64,000 parameters, two symbols.
    /// let published = |name| matched(name, 64_000, Matching::Published).settings.count("hidden").unwrap();
    /// assert_eq!(["rnn", "lstm", "transformer"].map(published), [79, 40, 32]);
    /// // Small transformers need other heads or feed-forward sublayers.
    /// let counts = [Matching::Published, Matching::Nearest].map(|m| matched("transformer", 8_000, m).parameters);
    /// assert_eq!(counts, [4_409, 7_993]);
    /// ```
    pub fn matched(
        &self,
        settings: &Settings,
        given: &BTreeSet<String>,
        size: usize,
        task: T,
        matching: Matching,
    ) -> Result<Matched, SpecError> {
        let count = |settings: &Settings| self.parameters(settings, task);
        let target = Target { sizing: self.sizing, given, size, count };
        match (matching, self.published) {
            (Matching::Published, Some(formula)) => target.published(settings, formula(task)),
            _ => target.nearest(settings),
        }
    }
}

/// How a learner is built as a recognizer.
pub type RecognizerRole = Network<RecognizerTask, RecognizerSpec>;

/// How a learner is built as a transducer.
pub type TransducerRole = Network<TransducerTask, TransducerSpec>;

/// How a next-symbol model comes to be.
#[derive(Debug)]
pub enum NextSymbolRole {
    /// A network over a vocabulary, trained by gradient descent.
    Network(Network<usize, LanguageModelSpec>),
    /// Made of the training strings, or of the language itself, without gradients or chance.
    Baseline(for<'a> fn(&Knowledge<'a>) -> AnyNextSymbol<'a>),
    /// Found by a search, which has a seed but no gradients.
    Search(SearchRole),
}

impl NextSymbolRole {
    /// What can be set.
    pub fn settings(&self) -> &'static [Parameter] {
        match self {
            Self::Network(network) => network.settings,
            Self::Baseline(_) => &[],
            Self::Search(search) => search.settings,
        }
    }

    /// What settings have to do with each other, if anything.
    pub fn check(&self) -> Option<SettingsCheck> {
        match self {
            Self::Network(network) => network.check,
            Self::Baseline(_) => None,
            Self::Search(search) => search.check,
        }
    }

    /// The network, if it is one that is trained by gradient descent.
    pub fn network(&self) -> Option<&Network<usize, LanguageModelSpec>> {
        match self {
            Self::Network(network) => Some(network),
            Self::Baseline(_) | Self::Search(_) => None,
        }
    }
}

/// What a baseline is made of.
#[derive(Debug)]
pub struct Knowledge<'a> {
    /// Symbols, the boundary included.
    pub vocabulary: usize,
    /// The training strings, between boundaries (symbol 0).
    pub strings: Vec<Vec<u32>>,
    /// The language they are from, with its probabilities.
    pub grammar: Grammar<'a>,
    /// The seed of what is drawn.
    pub seed: Seed,
}

/// The name of the learner that knows the language and the probabilities of its strings. What these are depends on how strings are
/// drawn, which only a protocol knows.
pub const TRUE_GRAMMAR: &str = "true-grammar";

/// What a transducer is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransducerTask {
    /// Symbols of inputs, the end included.
    pub inputs: usize,
    /// Symbols of outputs, the end included.
    pub outputs: usize,
    /// The symbol that ends inputs and outputs.
    pub end: u32,
    /// A symbol that is never part of an output.
    pub padding: Option<u32>,
}

/// Every learner, in the order in which lists show them.
pub static LEARNERS: &[&Learner] = &[
    &recurrent::RNN,
    &recurrent::LSTM,
    &recurrent::GRU,
    &transformer::TRANSFORMER,
    &memory::STACK_RNN,
    &memory::STACK_LSTM,
    &memory::BABY_NTM,
    &memory::JOULIN_STACK_RNN,
    &mdlrnn::MDLRNN,
    &seq2seq::LSTM_ATTENTION,
    &seq2seq::CNN,
    &seq2seq::JOINT_ATTENTION,
    &seq2seq::DECODER_ONLY,
    &reservoir::ESN,
    &reservoir::RECA,
    &incremental::BAG_OF_WORDS,
    &baseline::REPEAT_LAST,
    &baseline::UNIFORM,
    &baseline::UNIGRAM,
    &baseline::BIGRAM,
    &baseline::TRIGRAM,
    &baseline::TRUE_GRAMMAR,
    &baseline::ORACLE,
];

impl Learner {
    /// The roles it can play.
    pub fn roles(&self) -> impl Iterator<Item = Role> + '_ {
        Role::ALL.into_iter().filter(|role| self.settings(*role).is_some())
    }

    /// What can be set of it in a role; `None` if it cannot play it.
    pub fn settings(&self, role: Role) -> Option<&'static [Parameter]> {
        match role {
            Role::Recognizer => self.recognizer.as_ref().map(|role| role.settings),
            Role::NextSymbol => self.next_symbol.as_ref().map(NextSymbolRole::settings),
            Role::Transducer => self.transducer.as_ref().map(|role| role.settings),
            Role::Incremental => self.incremental.as_ref().map(|role| role.settings),
        }
    }

    /// Whether it comes out the same whatever the seed.
    pub fn is_deterministic(&self) -> bool {
        matches!(self.next_symbol, Some(NextSymbolRole::Baseline(_)))
    }
}

/// The learners that can play a role.
pub fn with_role(role: Role) -> impl Iterator<Item = &'static Learner> {
    LEARNERS.iter().copied().filter(move |learner| learner.settings(role).is_some())
}

/// The learner of a name.
///
/// ```
/// use wug_learner::registry::{Role, find};
/// assert!(find("stack-rnn", Role::Recognizer).is_ok());
/// let error = find("stack-run", Role::Recognizer).unwrap_err().to_string();
/// assert!(error.starts_with("unknown learner `stack-run`; did you mean `stack-rnn`?"), "{error}");
/// let error = find("bigram", Role::Recognizer).unwrap_err().to_string();
/// assert!(error.starts_with("`bigram` is no recognizer; it can be: next-symbol."), "{error}");
/// ```
pub fn find(name: &str, role: Role) -> Result<&'static Learner, UnknownLearner> {
    let known = LEARNERS.iter().copied().find(|learner| learner.name == name);
    match known {
        Some(learner) if learner.settings(role).is_some() => Ok(learner),
        _ => Err(UnknownLearner::unable(name, role)),
    }
}

/// The recognizer of a learner at a hidden size, with its default settings but for dropout.
pub fn recognizer(
    name: &str,
    hidden: usize,
    task: RecognizerTask,
    dropout: f64,
) -> Result<RecognizerSpec, UnknownLearner> {
    let learner = find(name, Role::Recognizer)?;
    let unable = || UnknownLearner::unable(name, Role::Recognizer);
    let role = learner.recognizer.as_ref().ok_or_else(unable)?;
    let settings =
        Settings::defaults(role.settings, Reading::Corrected).with("dropout", SettingValue::Real(dropout));
    Ok((role.build)(&settings.with_count("hidden", hidden), task))
}

/// A name that no learner has, or none that can play the role.
#[derive(Clone, Debug)]
pub struct UnknownLearner {
    given: String,
    role: Role,
    known: Option<&'static Learner>,
}

impl UnknownLearner {
    pub(crate) fn unable(name: &str, role: Role) -> Self {
        let known = LEARNERS.iter().copied().find(|learner| learner.name == name);
        Self { given: name.to_owned(), role, known }
    }
}

impl std::error::Error for UnknownLearner {}

impl std::fmt::Display for UnknownLearner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { given, role, known } = self;
        let able: Vec<&str> = with_role(*role).map(|learner| learner.name).collect();
        if let Some(learner) = known {
            let roles: Vec<&str> = learner.roles().map(Role::name).collect();
            write!(f, "`{given}` is no {}; it can be: {}. ", role.name(), roles.join(", "))?;
        } else {
            write!(f, "unknown learner `{given}`; ")?;
            let near: Vec<String> =
                nearest_names(given, able.iter().copied()).iter().map(|n| format!("`{n}`")).collect();
            if !near.is_empty() {
                write!(f, "did you mean {}? ", near.join(" or "))?;
            }
        }
        write!(f, "There are: {}", able.join(", "))
    }
}
