//! Learners from elsewhere: another process (`child`), or the program that runs the sweep ([`Host`]).
//!
//! A [`Conversation`] is one run's talk with such a learner: it is fitted, and then asked. Ids are the same in all roles: 0 is
//! the boundary (and padding), symbols are numbered from 1. `docs/models.md` is the contract in full.
//!
//! A learner that fails while it is asked fails its run, and the run's result says why.

mod adapters;
#[cfg(unix)]
mod child;
#[cfg(unix)]
mod guard;
mod message;
#[cfg(unix)]
mod pipes;
mod plan;
mod timed;
mod train;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use serde_json::Value;
use wug_dataset::Seed;
pub use wug_learner::interface::Failure;
use wug_learner::registry::{Role, Settings};
use wug_score::plan::{External, LearnerPlace};

pub(crate) use adapters::{ForeignIncremental, ForeignNextSymbol, ForeignRecognizer, ForeignTransducer};
pub use plan::Limits;
pub(crate) use plan::UNHEARD;
use timed::Timed;
pub(crate) use train::{begin, fit};

/// What a learner says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The roles it can play.
    pub roles: Vec<Role>,
    /// Its version: another version is another learner.
    pub version: String,
    /// Whether it can be saved and loaded.
    pub saves: bool,
}

impl Hello {
    /// The part of a message that lists its roles.
    pub fn can_be(&self) -> String {
        let all = Role::ALL.map(Role::name).join(", ");
        let roles: Vec<&str> = self.roles.iter().map(|role| role.name()).collect();
        match roles.as_slice() {
            [] => format!("its hello names no role; there are: {all}"),
            roles => format!("it can be: {}", roles.join(", ")),
        }
    }
}

/// What a learner is fitted to.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    /// The role that it plays, by name.
    pub role: &'static str,
    /// The seed of all that is drawn.
    pub seed: u32,
    pub settings: Value,
    /// What it may use.
    pub budget: Budget,
    /// The tokens of the symbols 1, 2, …
    pub alphabet: Vec<String>,
    /// For transducers: the tokens of the symbols of outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_alphabet: Option<Vec<String>>,
    /// The number of ids, 0 included.
    pub vocabulary: usize,
    /// What to learn from.
    pub training: Examples,
    /// What to choose a model by, where there is something.
    pub validation: Option<Examples>,
    /// What it said in a checkpoint before the run was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
}

impl Task {
    pub(crate) fn new(
        role: Role,
        seed: Seed,
        settings: &Settings,
        tokens: &[String],
        training: Examples,
    ) -> Self {
        Self {
            role: role.name(),
            // Every generator takes a seed of 32 bits.
            seed: seed.derive("foreign").value() as u32,
            settings: plan::told(settings),
            budget: Budget { seconds: 0.0, parameters: None },
            alphabet: tokens.to_vec(),
            output_alphabet: None,
            vocabulary: tokens.len() + 1,
            training,
            validation: None,
            checkpoint: None,
        }
    }
}

/// What a learner may use.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Budget {
    /// Seconds that it may take to be fitted; the run fails after them.
    pub seconds: f64,
    /// The number of parameters that the run is about, if it is about one.
    pub parameters: Option<usize>,
}

/// Examples of a task.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Examples {
    /// The strings, as ids.
    pub strings: Vec<Vec<u32>>,
    /// For recognizers: whether each is a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<bool>>,
    /// For transducers: what each becomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<Vec<u32>>>,
}

/// What is asked of a fitted learner. The answer is numbers, for all strings one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Question<'q> {
    /// The log-odds that each string is a member: one number per string.
    LogOdds(&'q [&'q [u32]]),
    /// The probabilities of every next symbol after each symbol: `T·V` numbers per string.
    NextSymbols(&'q [&'q [u32]], usize),
    /// The symbols at some positions of each string, each from those before it: one id per position.
    Answers(&'q [&'q [u32]], &'q [&'q [usize]]),
    /// The log-probability of each output, its end included, given its input: one number per pair.
    LogProbs(&'q [&'q [u32]], &'q [&'q [u32]]),
}

impl<'q> Question<'q> {
    /// The strings, or the inputs of pairs.
    pub fn strings(&self) -> &'q [&'q [u32]] {
        match self {
            Self::LogOdds(strings)
            | Self::NextSymbols(strings, _)
            | Self::Answers(strings, _)
            | Self::LogProbs(strings, _) => strings,
        }
    }

    /// How many numbers answer for the string at an index.
    pub fn numbers(&self, index: usize) -> usize {
        match self {
            Self::LogOdds(_) | Self::LogProbs(..) => 1,
            Self::NextSymbols(strings, vocabulary) => strings[index].len() * vocabulary,
            Self::Answers(_, positions) => positions[index].len(),
        }
    }

    /// How many numbers answer for all.
    pub fn all_numbers(&self) -> usize {
        (0..self.strings().len()).map(|index| self.numbers(index)).sum()
    }
}

/// What a learner says while it is fitted.
#[derive(Clone, Debug)]
pub enum Event {
    /// Nothing, for a while.
    Waiting,
    /// An epoch is over.
    Progress {
        epoch: usize,
        /// The loss on the training data.
        training: Option<f64>,
        /// The loss on the validation data.
        validation: Option<f64>,
    },
    /// From here it can go on after an interruption.
    Checkpoint(String),
}

/// What a learner says when it is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fitted {
    /// How many parameters it has.
    pub parameters: Option<usize>,
}

/// Hears what a learner says while it is fitted, and answers whether fitting is to go on.
pub type Hear<'h> = &'h mut dyn FnMut(Event) -> ControlFlow<()>;

/// What hears everything and stops nothing.
pub(crate) fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// One run's talk with a learner.
pub trait Conversation {
    /// Fits the learner; it says how far it is from time to time. If it is not to go on, this is [`Failure::Stopped`].
    fn fit(&mut self, task: &Task, hear: Hear<'_>) -> Result<Fitted, Failure>;

    /// Asks. Answers are checked by the caller.
    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure>;

    /// For incremental learners: learns from the symbols at some positions of sequences.
    fn observe(&mut self, _strings: &[&[u32]], _positions: &[&[usize]]) -> Result<(), Failure> {
        Err(Failure::learner("it is no incremental learner"))
    }

    /// For transducers: the most likely output of an input, of a length in a range.
    fn output(&mut self, _input: &[u32], _lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        Err(Failure::learner("it is no transducer"))
    }

    /// The fitted learner as text; `None` if it cannot be saved.
    fn save(&mut self) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// The opposite of [`save`](Self::save), instead of [`fit`](Self::fit).
    fn load(&mut self, _task: &Task, _state: &str) -> Result<(), Failure> {
        Err(Failure::learner("it cannot be loaded"))
    }
}

/// Begins a conversation with a learner of this program.
pub type Begin = dyn Fn() -> Result<Box<dyn Conversation>, Failure> + Send + Sync;

/// The learners of this program, by name.
pub type Learners = Arc<BTreeMap<String, Box<Begin>>>;

/// What a run needs of its worker to talk to foreign learners.
#[derive(Clone, Default)]
pub struct Host {
    /// Once this is set, the run is to stop.
    pub stop: Arc<AtomicBool>,
    /// The file that the stderr of children is written to.
    pub log: Option<PathBuf>,
    /// The learners of this program, by name.
    pub learners: Learners,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("learners", &self.learners.keys()).finish_non_exhaustive()
    }
}

impl Host {
    /// Begins a conversation with a learner.
    pub fn begin(&self, name: &str, plan: &External) -> Result<Box<dyn Conversation>, Failure> {
        match &plan.place {
            #[cfg(unix)]
            LearnerPlace::Command(command) => {
                let begun = child::ChildProcess::begin(command, Limits::of(plan), self)?;
                let said = &begun.hello().version;
                // The version is part of the run's id: the result of another one would have the wrong id.
                if plan.version != UNHEARD && *said != plan.version {
                    return Err(Failure::learner(format!(
                        "`{name}` says that it is version `{said}`, but the run was planned with version `{}`: plan it again in another directory",
                        plan.version
                    )));
                }
                Ok(Box::new(begun))
            }
            #[cfg(not(unix))]
            LearnerPlace::Command(_) => {
                Err(Failure::learner("learners that are processes need a Unix system"))
            }
            LearnerPlace::Host(host) => match self.learners.get(name) {
                Some(begin) => Ok(Box::new(Timed { inner: begin()?, limits: Limits::of(plan) })),
                None => Err(Failure::learner(format!(
                    "`{name}` is a learner of the program that began the sweep ({host}): go on with that program"
                ))),
            },
        }
    }
}

/// Reads a line of a child as a run does; whether it is a reply. For tests of the reader.
#[doc(hidden)]
pub fn read_reply(line: &[u8]) -> bool {
    match serde_json::from_slice(line) {
        Ok(message::Reply::Hello(reply)) => Hello::try_from(reply).is_ok(),
        Ok(reply) => !reply.name().is_empty(),
        Err(_) => false,
    }
}

/// What a command says of itself.
#[cfg(unix)]
pub fn hello(command: &[String], limits: Limits, host: &Host) -> Result<Hello, Failure> {
    Ok(child::ChildProcess::begin(command, limits, host)?.hello().clone())
}

/// What a command says of itself, apart from whether it can be started.
#[cfg(unix)]
pub(crate) fn started_hello(
    command: &[String],
    limits: Limits,
    host: &Host,
) -> Result<Result<Hello, Failure>, Failure> {
    let child = child::ChildProcess::start(command, limits, host)?;
    Ok(child.greeted().map(|child| child.hello().clone()))
}

/// What a command says of itself.
#[cfg(not(unix))]
pub fn hello(_: &[String], _: Limits, _: &Host) -> Result<Hello, Failure> {
    Err(Failure::learner("learners that are processes need a Unix system"))
}

#[cfg(not(unix))]
pub(crate) fn started_hello(
    command: &[String],
    limits: Limits,
    host: &Host,
) -> Result<Result<Hello, Failure>, Failure> {
    hello(command, limits, host).map(Ok)
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
