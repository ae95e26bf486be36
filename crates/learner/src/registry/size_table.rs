//! What every learner has for some sizes.

use std::collections::BTreeSet;

use wug_language::Reading;

use super::size::{Matched, Sizing};
use super::{
    IncrementalRole, IncrementalTask, LEARNERS, Network, NextSymbolRole, RecognizerTask, Settings,
    TransducerTask,
};
use crate::model::Counted;
use wug_parameter::Matching;

/// The sizes of the table.
const SIZES: [usize; 7] = [4_000, 8_000, 16_000, 64_000, 256_000, 1_000_000, 10_000_000];

/// The alphabet of the table.
const ALPHABET: usize = 4;

/// One learner in one role at one size.
#[derive(Clone, Debug)]
pub struct SizeRow {
    pub learner: &'static str,
    /// What it is built for.
    pub task: String,
    /// The size that was asked for.
    pub size: usize,
    /// The number of parameters that it has.
    pub parameters: usize,
    /// The settings that the size decided.
    pub dimensions: Vec<(&'static str, usize)>,
}

/// What every learner has for some sizes, over four symbols, in every role and with every loss.
pub fn size_table() -> Vec<SizeRow> {
    let mut rows = Vec::new();
    for learner in LEARNERS {
        let mut add = |task: &str, found: Option<Vec<SizeRow>>| {
            let named = |row| SizeRow { learner: learner.name, task: task.to_owned(), ..row };
            rows.extend(found.into_iter().flatten().map(named));
        };
        if let Some(role) = &learner.recognizer {
            for (name, language_modeling, next_symbols) in
                [("R", false, false), ("R+LM", true, false), ("R+NS", false, true), ("R+LM+NS", true, true)]
            {
                let task = RecognizerTask { alphabet: ALPHABET, language_modeling, next_symbols };
                add(&format!("recognizer {name}"), each_size(role, task));
            }
        }
        if let Some(network) = learner.next_symbol.as_ref().and_then(NextSymbolRole::network) {
            add("next-symbol", each_size(network, ALPHABET + 1));
        }
        if let Some(role) = &learner.transducer {
            // The two more are the end and the padding.
            let task = TransducerTask { inputs: ALPHABET + 2, outputs: ALPHABET + 2, end: 0, padding: None };
            add("transducer", each_size(role, task));
        }
        if let Some(role) = &learner.incremental {
            // No boundary: the tasks predict marked answers only.
            let task = IncrementalTask { vocabulary: ALPHABET, answers: ALPHABET, double: false };
            add("incremental", each_incremental_size(role, task));
        }
    }
    rows
}

/// None for a task that the network cannot be built for.
fn each_size<T: Copy, S: Counted>(network: &Network<T, S>, task: T) -> Option<Vec<SizeRow>> {
    let settings = Settings::defaults(network.settings, Reading::Corrected);
    let matched = |size| network.matched(&settings, &BTreeSet::new(), size, task, Matching::Nearest).ok();
    rows(network.sizing, matched)
}

/// The same of an incremental learner; none if it has no dimensions to decide.
fn each_incremental_size(role: &IncrementalRole, task: IncrementalTask) -> Option<Vec<SizeRow>> {
    let settings = Settings::defaults(role.settings, Reading::Corrected);
    let matched = |size| role.matched(&settings, &BTreeSet::new(), size, task, Matching::Nearest).ok();
    rows(role.sizing?, matched)
}

fn rows(sizing: &Sizing, matched: impl Fn(usize) -> Option<Matched>) -> Option<Vec<SizeRow>> {
    let names: Vec<&str> =
        std::iter::once(sizing.width).chain(sizing.others.iter().map(|other| other.setting)).collect();
    let row = |size: usize| {
        let Matched { settings, parameters } = matched(size)?;
        let dimensions = names.iter().filter_map(|&name| Some((name, settings.count(name)?))).collect();
        Some(SizeRow { learner: "", task: String::new(), size, parameters, dimensions })
    };
    SIZES.into_iter().map(row).collect()
}
