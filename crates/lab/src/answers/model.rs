//! A saved model, as `wug run --keep models` writes it, asked like any other learner.

use std::path::Path;

use serde_json::Value;
use wug_learner::interface::{
    AnyNextSymbol, LoadError, Model, NextSymbol as _, Recognizer, SavedModel, Trained,
};
use wug_learner::model::{LanguageModel, RecognizerModel};
use wug_learner::registry::Role;

use crate::LabError;
use crate::foreign::{Conversation, Event, Failure, Fitted, Question, Task};
use crate::regular::read_regular;
use crate::sweep::check_kept;

/// The files of a model.
const FILES: [&str; 2] = ["config.json", "model.safetensors"];
/// The largest of them.
const LARGEST: u64 = 4 << 30;

/// A saved model.
#[derive(Debug)]
pub struct LoadedModel {
    saved: SavedModel,
    /// The role that it plays.
    pub role: Role,
    /// The hash of its files.
    pub hash: String,
    /// What its config says.
    pub config: Value,
}

/// Reads a saved model from a directory and builds it once, so that what is wrong with it is known.
pub fn load_model(directory: &Path) -> Result<LoadedModel, LabError> {
    let mut hasher = blake3::Hasher::new_derive_key("wug 2026 model");
    let [config, weights] = FILES.map(|name| {
        let path = directory.join(name);
        let missing =
            || LabError::Usage(format!("{} is no saved model: it has no {name}", directory.display()));
        read_regular(&path, LARGEST).map_err(LabError::disk(&path))?.ok_or_else(missing)
    });
    let saved = SavedModel { config: config?, weights: weights? };
    check_kept(directory, &[(FILES[0], &saved.config), (FILES[1], &saved.weights)])?;
    hasher.update(&saved.config).update(&saved.weights);
    let path = directory.join(FILES[0]);
    let config: Value = serde_json::from_slice(&saved.config)
        .map_err(|error| LabError::corrupt(&path, format!("cannot be read: {error}")))?;
    let role = match config["kind"].as_str() {
        Some(RecognizerModel::KIND) => Role::Recognizer,
        Some(LanguageModel::KIND) => Role::NextSymbol,
        other => {
            let problem =
                format!("is that of a model of kind `{}`, which cannot be asked here", other.unwrap_or("?"));
            return Err(LabError::corrupt(&path, problem));
        }
    };
    let loaded = LoadedModel { saved, role, hash: hasher.finalize().to_hex()[..32].to_owned(), config };
    loaded.asked().map_err(|error| LabError::corrupt(&path, error.to_string()))?;
    Ok(loaded)
}

/// A model that can be asked.
enum Asked {
    Recognizer(Box<dyn Recognizer>),
    NextSymbol(AnyNextSymbol<'static>),
}

impl LoadedModel {
    fn is_f64(&self) -> bool {
        self.config["dtype"] == "f64"
    }

    fn asked(&self) -> Result<Asked, LoadError> {
        Ok(match (self.role, self.is_f64()) {
            (Role::Recognizer, false) => {
                Asked::Recognizer(Box::new(Trained::<RecognizerModel, f32>::load(&self.saved)?))
            }
            (Role::Recognizer, true) => {
                Asked::Recognizer(Box::new(Trained::<RecognizerModel, f64>::load(&self.saved)?))
            }
            (_, false) => {
                Asked::NextSymbol(AnyNextSymbol::new(Trained::<LanguageModel, f32>::load(&self.saved)?))
            }
            (_, true) => {
                Asked::NextSymbol(AnyNextSymbol::new(Trained::<LanguageModel, f64>::load(&self.saved)?))
            }
        })
    }

    /// The number of ids that it reads, 0 included.
    pub fn vocabulary(&self) -> usize {
        let count = |name: &str| self.config["spec"][name].as_u64().unwrap_or(0) as usize;
        if self.role == Role::Recognizer { count("alphabet") + 1 } else { count("vocabulary") }
    }

    /// A conversation with it: it needs no fitting.
    pub fn conversation(&self) -> Box<dyn Conversation> {
        Box::new(Asking { model: self.asked().ok(), vocabulary: self.vocabulary() })
    }
}

struct Asking {
    model: Option<Asked>,
    vocabulary: usize,
}

impl Conversation for Asking {
    fn fit(&mut self, task: &Task, _: &mut dyn FnMut(Event)) -> Result<Fitted, Failure> {
        if task.vocabulary != self.vocabulary {
            return Err(Failure::learner(format!(
                "the model reads {} symbols, and the data have {}",
                self.vocabulary - 1,
                task.vocabulary - 1
            )));
        }
        Ok(Fitted::default())
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        let broken = || Failure::learner("the model cannot be asked this");
        match (self.model.as_mut(), question) {
            (Some(Asked::Recognizer(model)), Question::LogOdds(strings)) => {
                let own: Vec<Vec<u32>> =
                    strings.iter().map(|ids| ids.iter().map(|id| id.saturating_sub(1)).collect()).collect();
                Ok(model.log_odds(&own.iter().map(Vec::as_slice).collect::<Vec<_>>()))
            }
            (Some(Asked::NextSymbol(model)), Question::NextSymbols(strings, _)) => {
                let rows = strings.iter().flat_map(|string| {
                    let mut states = [model.start()];
                    model.advance_batch(&mut states, &[string])
                });
                Ok(rows.collect())
            }
            _ => Err(broken()),
        }
    }
}
