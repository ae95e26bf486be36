//! Sizes in a section: `sizes` are numbers of parameters that every learner is to have, `matching` says how its dimensions
//! are found.

use std::collections::BTreeMap;

use wug_learner::model::{Counted, SpecError};
use wug_learner::registry::{
    IncrementalTask, Learner, Matching, Network, NextSymbolRole, ParameterError, RecognizerTask, Settings,
    Sizing, TransducerTask, is_met,
};

use super::{LearnerGrid, Problem};
use crate::plan::RunPlan;

/// What a learner is built for, in one of its roles.
#[derive(Clone, Copy, Debug)]
pub enum RoleTask {
    Recognizer(RecognizerTask),
    /// The number of symbols, the boundary included.
    NextSymbol(usize),
    Transducer(TransducerTask),
    Incremental(IncrementalTask),
}

/// The settings of a run with all dimensions.
#[derive(Clone, Debug)]
pub(crate) struct MatchedSettings {
    pub(crate) settings: Settings,
    /// The number of parameters; none for baselines, and where a search decides.
    pub(crate) parameters: Option<usize>,
    /// The names of the dimensions that the size decided.
    pub(crate) found: Vec<String>,
}

/// Why a learner cannot be built.
pub(crate) enum NotBuilt {
    Settings(ParameterError),
    Model(SpecError),
}

impl NotBuilt {
    /// The problem of a learner on a subject.
    pub(crate) fn of(self, learner: &str, subject: &str) -> Problem {
        match self {
            Self::Settings(error) => error.into(),
            Self::Model(error) => {
                Problem::new("learners", learner, format!("{learner} on {subject}: {error}"))
            }
        }
    }
}

/// The dimensions that were found. Runs with the same settings share a search; settings that each run draws are not the same.
#[derive(Debug, Default)]
pub(crate) struct Sizes(BTreeMap<String, MatchedSettings>);

impl Sizes {
    /// The settings of a learner with the dimensions of a size and with the true number of parameters. Without a size, the
    /// settings as they are.
    pub(crate) fn matched(
        &mut self,
        learner: &Learner,
        grid: &LearnerGrid,
        settings: Settings,
        task: RoleTask,
        how: (Option<usize>, Matching),
    ) -> Result<MatchedSettings, NotBuilt> {
        // The seed is not in the key, but drawn settings are: a dimension may depend on any setting.
        let key = format!("{} {task:?} {how:?} {:?} {settings:?}", learner.name, grid.given);
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let found = matched(learner, grid, settings, task, how)?;
        self.0.insert(key, found.clone());
        Ok(found)
    }
}

fn matched(
    learner: &Learner,
    grid: &LearnerGrid,
    settings: Settings,
    task: RoleTask,
    how: (Option<usize>, Matching),
) -> Result<MatchedSettings, NotBuilt> {
    let missing = || NotBuilt::Model(SpecError::new(format!("{} cannot be built for this", learner.name)));
    match task {
        RoleTask::Recognizer(task) => {
            network(learner.recognizer.as_ref().ok_or_else(missing)?, grid, settings, task, how)
        }
        RoleTask::Transducer(task) => {
            network(learner.transducer.as_ref().ok_or_else(missing)?, grid, settings, task, how)
        }
        RoleTask::NextSymbol(vocabulary) => match learner.next_symbol.as_ref().ok_or_else(missing)? {
            NextSymbolRole::Network(role) => network(role, grid, settings, vocabulary, how),
            // Searches and baselines have no width to find: their settings are only checked.
            role => {
                role.check().map_or(Ok(()), |check| check(&settings)).map_err(NotBuilt::Settings)?;
                Ok(MatchedSettings { settings, parameters: None, found: Vec::new() })
            }
        },
        RoleTask::Incremental(task) => {
            let role = learner.incremental.as_ref().ok_or_else(missing)?;
            role.check.map_or(Ok(()), |check| check(&settings)).map_err(NotBuilt::Settings)?;
            let (Some(size), matching) = how else {
                let parameters = Some((role.parameters)(&settings, task).map_err(NotBuilt::Model)?);
                return Ok(MatchedSettings { settings, parameters, found: Vec::new() });
            };
            let found =
                role.matched(&settings, &grid.given, size, task, matching).map_err(NotBuilt::Model)?;
            let dimensions = role.sizing.map_or_else(Vec::new, |sizing| dimensions(sizing, grid));
            Ok(MatchedSettings {
                settings: found.settings,
                parameters: Some(found.parameters),
                found: dimensions,
            })
        }
    }
}

fn network<T: Copy, S: Counted>(
    role: &Network<T, S>,
    grid: &LearnerGrid,
    settings: Settings,
    task: T,
    how: (Option<usize>, Matching),
) -> Result<MatchedSettings, NotBuilt> {
    // Before the search for a width: it builds many models, and all of them would fail for the same reason.
    role.check.map_or(Ok(()), |check| check(&settings)).map_err(NotBuilt::Settings)?;
    let (Some(size), matching) = how else {
        let parameters = Some(role.parameters(&settings, task).map_err(NotBuilt::Model)?);
        return Ok(MatchedSettings { settings, parameters, found: Vec::new() });
    };
    let found = role.matched(&settings, &grid.given, size, task, matching).map_err(NotBuilt::Model)?;
    Ok(MatchedSettings {
        settings: found.settings,
        parameters: Some(found.parameters),
        found: dimensions(role.sizing, grid),
    })
}

/// The settings that a size decides: the dimensions that are not given.
fn dimensions(sizing: &Sizing, grid: &LearnerGrid) -> Vec<String> {
    let all = std::iter::once(sizing.width).chain(sizing.others.iter().map(|other| other.setting));
    all.filter(|name| !grid.given.contains(*name)).map(str::to_owned).collect()
}

/// The sizes that some runs miss by more than the tolerance, in words: a line per learner and size.
pub(super) fn missed(runs: &[RunPlan]) -> Vec<String> {
    let mut missed: BTreeMap<(String, usize, bool), (usize, usize)> = BTreeMap::new();
    for learner in runs.iter().map(RunPlan::learner) {
        // Without a count there is nothing to miss: baselines, searches and external learners.
        let (Some(size), Some(parameters)) = (learner.size, learner.parameters) else { continue };
        if !is_met(size, parameters) {
            let by_formula = learner.matching == Some(Matching::Published);
            let counts = missed.entry((learner.name.clone(), size, by_formula));
            let (least, most) = counts.or_insert((parameters, parameters));
            (*least, *most) = (parameters.min(*least), parameters.max(*most));
        }
    }
    let line = |((learner, size, by_formula), (least, most)): (_, (usize, usize))| {
        let range = if least < most { format!("{} to ", grouped(least)) } else { String::new() };
        let why = if by_formula {
            "so `matching = \"published\"` has it; `\"nearest\"` may come nearer"
        } else {
            "the settings that are given allow nothing nearer"
        };
        format!("{learner} has {range}{} parameters, not {}: {why}", grouped(most), grouped(size))
    };
    missed.into_iter().map(line).collect()
}

/// A number with commas.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What a label says of the number of parameters, with the size that was asked for if it was missed.
pub(crate) fn count(size: Option<usize>, parameters: usize) -> String {
    match size {
        Some(size) if !is_met(size, parameters) => {
            format!("({} parameters for {})", grouped(parameters), grouped(size))
        }
        _ => format!("({} parameters)", grouped(parameters)),
    }
}
