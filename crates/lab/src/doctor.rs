//! Finds the mistakes that people make when they put a model behind the contract of a role.
//!
//! The model is fitted to a task that every model can learn, and then asked the same things in several ways. What must be the
//! same and is not is a finding, with its usual cause.

mod checks;
mod sequences;

use serde::Serialize;
use wug_dataset::Seed;
use wug_learner::registry::{Role, Settings};

use crate::LabError;
use crate::foreign::{Budget, Conversation, Examples, Failure, Question, Task, go_on};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is checked, in a few words.
    pub name: &'static str,
    /// The role in which it was checked.
    pub role: &'static str,
    /// What came of it.
    pub finding: Finding,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Finding {
    /// As it should be.
    Fine,
    Mistake {
        seen: String,
        /// What it usually comes from.
        cause: &'static str,
    },
    /// It could not be checked.
    Unknown { why: String },
}

impl Check {
    /// Whether a mistake was found.
    pub fn is_mistake(&self) -> bool {
        matches!(self.finding, Finding::Mistake { .. })
    }
}

/// The symbols of the task: `a b c a b c … d`. After `a`, `b`, `d` and at the start only one symbol can come.
const ALPHABET: [&str; 4] = ["a", "b", "c", "d"];
/// The number of ids.
pub(crate) const VOCABULARY: usize = ALPHABET.len() + 1;
const TRAINING: usize = 300;

/// Examines a learner in a role: begins a conversation, fits it to a simple task, and asks.
pub fn examine(
    role: Role,
    seconds: f64,
    begin: &dyn Fn() -> Result<Box<dyn Conversation>, Failure>,
) -> Result<Vec<Check>, LabError> {
    let mut model = begin()?;
    let mut task = task(role);
    task.budget = Budget { seconds, parameters: None };
    model.fit(&task, &mut go_on)?;
    match role {
        Role::Recognizer => checks::recognizer(&mut *model),
        Role::NextSymbol => checks::next_symbol(&mut *model),
        Role::Transducer => sequences::transducer(&mut *model),
        Role::Incremental => sequences::incremental(&mut *model),
    }
}

/// A string of the task with so many rounds.
pub(crate) fn rounds(n: usize) -> Vec<u32> {
    [1, 2, 3].into_iter().cycle().take(3 * n).chain([4]).collect()
}

fn task(role: Role) -> Task {
    let alphabet = ALPHABET.map(str::to_owned);
    // A fixed seed: a finding must be the same when the doctor is asked again.
    let draws = Seed::new(7);
    let length = |i: usize| 1 + (draws.nth(i).value() % 5) as usize;
    let training = match role {
        Role::NextSymbol => Examples {
            strings: (0..TRAINING).map(|i| [vec![0], rounds(length(i)), vec![0]].concat()).collect(),
            ..Examples::default()
        },
        // Members begin with `a`, others with `b`.
        Role::Recognizer => Examples {
            strings: (0..TRAINING).map(|i| [vec![1 + i as u32 % 2], rounds(length(i))].concat()).collect(),
            labels: Some((0..TRAINING).map(|i| i % 2 == 0).collect()),
            outputs: None,
        },
        // An output is its input.
        Role::Transducer => {
            let strings: Vec<Vec<u32>> = (0..TRAINING).map(|i| rounds(length(i))).collect();
            Examples { outputs: Some(strings.clone()), strings, labels: None }
        }
        // It learns later, from what it observes.
        Role::Incremental => Examples::default(),
    };
    let mut task = Task::new(role, Seed::new(1), &Settings::default(), &alphabet, training);
    // As in runs, in which only recognizers always get a validation set.
    task.validation = (role == Role::Recognizer).then(|| task.training.clone());
    task.output_alphabet = (role == Role::Transducer).then(|| task.alphabet.clone());
    task
}

/// The rows `[T,V]` for each string.
pub(crate) fn rows(model: &mut dyn Conversation, strings: &[&[u32]]) -> Result<Vec<Vec<Vec<f64>>>, Failure> {
    let numbers = model.ask(Question::NextSymbols(strings, VOCABULARY))?;
    let needed: usize = strings.iter().map(|string| string.len() * VOCABULARY).sum();
    if numbers.len() != needed {
        return Err(Failure::learner(format!(
            "its answer has {} numbers; there must be {needed}",
            numbers.len()
        )));
    }
    let mut rows = numbers.chunks_exact(VOCABULARY).map(<[f64]>::to_vec);
    Ok(strings.iter().map(|string| rows.by_ref().take(string.len()).collect()).collect())
}

/// Answers, whatever their role, as one list of numbers per string.
type Ask<'m> = &'m mut dyn FnMut(&[&[u32]]) -> Result<Vec<Vec<f64>>, Failure>;

#[cfg(test)]
mod tests;
