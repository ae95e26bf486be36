//! The role of learners that are evaluated while they learn.

use std::collections::BTreeSet;

use wug_dataset::Seed;

use wug_parameter::{Matching, parameters};

use super::gradient::{LEARNING_RATE, TELLING_OPTIMIZER, optimizer_spec};
use super::size::{Matched, Sizing, Target};
use super::{Learner, NO_ROLES, Parameter, Settings, SettingsCheck};
use crate::interface::{ByRow, Incremental};
use crate::model::{AnswerBodySpec, AnswerModel, AnswerModelSpec, Counted as _, SpecError};
use crate::train::IncrementalNetwork;

/// What an incremental learner is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncrementalTask {
    pub vocabulary: usize,
    /// Answers are among the first so many symbols.
    pub answers: usize,
    /// Whether it calculates in double precision.
    pub double: bool,
}

/// What builds an incremental learner.
type Build = fn(&Settings, IncrementalTask, Seed) -> Result<Box<dyn Incremental>, SpecError>;

/// How a learner is built as an incremental one.
#[derive(Debug)]
pub struct IncrementalRole {
    /// What can be set.
    pub settings: &'static [Parameter],
    /// What settings have to do with each other, if anything.
    pub check: Option<SettingsCheck>,
    /// The number of parameters that are trained.
    pub parameters: fn(&Settings, IncrementalTask) -> Result<usize, SpecError>,
    /// The learner before it has seen anything. All its randomness is derived from the seed.
    pub build: Build,
    /// The dimensions that a size decides, if there are any.
    pub sizing: Option<&'static Sizing>,
    /// The published formula for the width, from the size and the task.
    pub published: Option<fn(usize, IncrementalTask) -> usize>,
}

impl IncrementalRole {
    /// The settings with the dimensions of a size. Those in `given` stay as they are.
    pub fn matched(
        &self,
        settings: &Settings,
        given: &BTreeSet<String>,
        size: usize,
        task: IncrementalTask,
        matching: Matching,
    ) -> Result<Matched, SpecError> {
        let count = |settings: &Settings| (self.parameters)(settings, task);
        let Some(sizing) = self.sizing else {
            let message = "it has no dimensions that a number of parameters could decide";
            return Err(SpecError(message.to_owned()));
        };
        match (matching, self.published) {
            (Matching::Published, Some(width)) if !given.contains(sizing.width) => {
                let settings = settings.clone().with_count(sizing.width, width(size, task));
                Ok(Matched { parameters: count(&settings)?, settings })
            }
            (Matching::Published, Some(_)) => {
                Ok(Matched { settings: settings.clone(), parameters: count(settings)? })
            }
            _ => Target { sizing, given, size, count }.nearest(settings),
        }
    }
}

/// A network with a body as an incremental learner.
pub(super) fn network(
    body: AnswerBodySpec,
    settings: &Settings,
    task: IncrementalTask,
    seed: Seed,
) -> Result<Box<dyn Incremental>, SpecError> {
    let rate = settings.get(&LEARNING_RATE);
    let optimizer = optimizer_spec(settings);
    let model = AnswerModel::new(spec(body, task))?;
    Ok(if task.double {
        Box::new(ByRow(IncrementalNetwork::<f64>::new(model, optimizer, rate, seed)))
    } else {
        Box::new(ByRow(IncrementalNetwork::<f32>::new(model, optimizer, rate, seed)))
    })
}

/// The model with a body for a task.
pub(super) fn spec(body: AnswerBodySpec, task: IncrementalTask) -> AnswerModelSpec {
    AnswerModelSpec { body, vocabulary: task.vocabulary, answers: task.answers }
}

/// The width that the released code gives recurrent networks for a size: the root of `h² + 2·h·L = size` for `L` symbols, but with
/// the sign of `2·L` wrong, rounded down.
pub(super) fn published_width(size: usize, task: IncrementalTask) -> usize {
    let l = task.vocabulary as f64;
    // The code counts neither biases nor gates, so that an LSTM gets the width of a simple network.
    let root = l + libm::sqrt(l * l + size as f64);
    // The root is positive and far below the largest integer.
    #[expect(clippy::cast_sign_loss, reason = "see above")]
    let width = libm::floor(root) as usize;
    width.max(1)
}

pub(super) static BAG_OF_WORDS: Learner = Learner {
    name: "bag-of-words",
    summary: "logistic regression on which symbols there are, whatever their order",
    cite: "Cisneros et al. 2022, Benchmarking Learning Efficiency in Deep Reservoir Computing",
    incremental: Some(IncrementalRole {
        settings: parameters![TELLING_OPTIMIZER, LEARNING_RATE],
        check: None,
        parameters: |_, task| spec(AnswerBodySpec::BagOfWords, task).parameters(),
        build: |settings, task, seed| network(AnswerBodySpec::BagOfWords, settings, task, seed),
        sizing: None,
        published: None,
    }),
    ..NO_ROLES
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The hidden sizes of the released code, by the number of symbols.
    #[test]
    fn published_widths_are_those_of_the_released_code() {
        for (symbols, width) in
            [(2, 62), (15, 180), (18, 198), (16, 186), (25, 238), (29, 259), (45, 333), (38, 302), (51, 358)]
        {
            let task = IncrementalTask { vocabulary: symbols, answers: symbols, double: false };
            assert_eq!(published_width(1800 * symbols, task), width, "{symbols}");
        }
    }
}
