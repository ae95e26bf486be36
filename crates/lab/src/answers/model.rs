//! A saved model, as `wug run --keep models` writes it, asked like any other learner.

use std::path::Path;

use serde_json::Value;
use wug_learner::interface::{
    AnyNextSymbol, LoadError, Model, NextSymbol as _, Recognizer, SavedModel, Trained,
};
use wug_learner::kernel::Real;
use wug_learner::model::{LanguageModel, RecognizerModel};
use wug_learner::registry::Role;

use crate::LabError;
use crate::foreign::{Conversation, Failure, Fitted, Hear, Question, Task};
use crate::regular::read_regular;
use crate::sweep::check_kept;

/// The files of a model.
const FILES: [&str; 2] = ["config.json", "model.safetensors"];
/// The largest of them.
const LARGEST: u64 = 4 << 30;

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
        self.config["dtype"] == <f64 as Real>::NAME
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
        // A model for each conversation: several workers may ask at the same time.
        Box::new(Asking { model: self.asked().ok(), vocabulary: self.vocabulary() })
    }
}

struct Asking {
    model: Option<Asked>,
    vocabulary: usize,
}

impl Conversation for Asking {
    fn fit(&mut self, task: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
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
                if strings.iter().any(|ids| ids.contains(&0)) {
                    return Err(Failure::learner(format!(
                        "a string has the id 0; strings of recognizers have no boundaries, and symbols are from 1 to {}",
                        self.vocabulary - 1
                    )));
                }
                model.log_odds(strings)
            }
            (Some(Asked::NextSymbol(model)), Question::NextSymbols(strings, _)) => {
                let mut rows = Vec::new();
                for string in strings {
                    let mut states = [model.start()];
                    rows.extend(model.advance_batch(&mut states, &[string])?);
                }
                Ok(rows)
            }
            _ => Err(broken()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keep;
    use crate::score::RunResult;
    use crate::spec::{Experiment, Scale};
    use crate::sweep::PlannedRun;
    use crate::sweep::Sweep;
    use crate::work::{Observer, Progress, WorkerOptions, work};

    struct Silent;

    impl Observer for Silent {
        fn begins(&self, _: usize, _: &PlannedRun) {}
        fn epoch(&self, _: usize, _: usize, _: f64) {}
        fn evaluating(&self, _: usize, _: &str) {}
        fn ends(&self, _: usize, _: &RunResult, _: std::time::Duration, _: Progress) {}
    }

    /// A recognizer and a next-symbol model, trained with a precision.
    fn experiment(precision: &str) -> String {
        format!(
            r#"
            title = "small"
            [[recognition]]
            languages = ["parity"]
            learners = ["lstm"]
            validation = ["short"]
            losses = ["R"]
            sizes = [1000]
            seeds = 1
            max_epochs = 1
            precision = "{precision}"
            data = {{ training = 20, validation = 10, test = 10, held_out = 10, distances = 5, longest = 60 }}
            [[generalization]]
            languages = ["an-bn"]
            learners = ["lstm"]
            order = 2
            factors = [1]
            seeds = 1
            hidden = 3
            epochs = 1
            precision = "{precision}"
            "#
        )
    }

    #[test]
    fn kept_models_of_either_precision_are_read_back_and_refuse_what_is_no_symbol() {
        for precision in ["f32", "f64"] {
            let folder = tempfile::tempdir().unwrap();
            let text = experiment(precision);
            let experiment = Experiment::read("x", "x.toml", &text, Scale::Paper, &[]).unwrap();
            let sweep = Sweep::begin(&folder.path().join("runs"), &experiment).unwrap();
            let keep = Keep { models: true, ..Keep::default() };
            work(&sweep, WorkerOptions { keep, ..WorkerOptions::new(1) }, &Silent).unwrap();
            let mut roles = Vec::new();
            for run in &sweep.runs {
                let model = load_model(&folder.path().join("runs/kept").join(&run.id)).unwrap();
                assert_eq!(model.config["dtype"], precision.to_uppercase());
                let mut asked = model.conversation();
                if model.role == Role::Recognizer {
                    let odds = asked.ask(Question::LogOdds(&[&[1, 2], &[]])).unwrap();
                    assert!(odds.len() == 2 && odds.iter().all(|z| z.is_finite()));
                    let error = asked.ask(Question::LogOdds(&[&[0, 2]])).unwrap_err();
                    assert!(format!("{error:?}").contains("symbols are from 1 to 2"), "{error:?}");
                } else {
                    let rows = asked.ask(Question::NextSymbols(&[&[0, 1]], 3)).unwrap();
                    assert!(rows.len() == 6 && (rows[..3].iter().sum::<f64>() - 1.0).abs() < 1e-6);
                }
                roles.push(model.role);
            }
            assert_eq!(roles, [Role::Recognizer, Role::NextSymbol]);
        }
    }
}
