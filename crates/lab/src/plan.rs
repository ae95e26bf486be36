//! A run of any protocol with nothing left open, and its name: the hash of what it is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wug_score::{Run, RunResult};

use crate::LabError;
use crate::desk::Desk;
use crate::{index, recognition};

/// What plans mean. A plan in another format is refused, not guessed at.
pub const PLAN_FORMAT: u32 = 1;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "protocol", rename_all = "kebab-case")]
pub enum RunPlan {
    /// Recognition at unseen lengths.
    Recognition(recognition::Plan),
    /// The generalisation index.
    Index(index::Plan),
}

/// The data of the last run, which the next one often needs again.
#[derive(Debug, Default)]
pub struct Shelf {
    recognition: Kept<(String, recognition::DataPlan), recognition::Data>,
    index: Kept<String, index::Data>,
}

/// One set of data at a time, under what it is.
#[derive(Debug)]
struct Kept<K, D>(Option<(K, Arc<D>)>);

impl<K, D> Default for Kept<K, D> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, D> Kept<K, D> {
    fn get(&mut self, key: K, make: impl FnOnce() -> Result<D, LabError>) -> Result<Arc<D>, LabError> {
        if let Some((_, data)) = self.0.as_ref().filter(|(kept, _)| *kept == key) {
            return Ok(Arc::clone(data));
        }
        self.0 = None; // before the next is made
        let data = Arc::new(make()?);
        self.0 = Some((key, Arc::clone(&data)));
        Ok(data)
    }
}

impl RunPlan {
    /// The hash of the plan: the run's name. Data that are read count by their content, wherever they are.
    pub fn id(&self) -> String {
        let mut plan = self.clone();
        if let Self::Recognition(recognition::Plan { data, .. }) = &mut plan
            && let recognition::Source::Directory { path, .. } = &mut data.source
        {
            path.clear();
        }
        let mut hasher = blake3::Hasher::new_derive_key("wug 2026 run plan");
        hasher.update(&PLAN_FORMAT.to_le_bytes());
        // Fields are written in the order they are declared in; there is nothing in a plan that JSON cannot write.
        hasher.update(&serde_json::to_vec(&plan).unwrap_or_default());
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// What somebody who watches is told that this run is.
    pub fn label(&self) -> String {
        match self {
            Self::Recognition(plan) => plan.label(),
            Self::Index(plan) => plan.label(),
        }
    }

    /// About how long this takes beside other runs.
    pub fn cost(&self) -> f64 {
        match self {
            Self::Recognition(plan) => plan.cost(),
            Self::Index(plan) => plan.cost(),
        }
    }

    /// The plan as results keep it.
    pub fn value(&self) -> serde_json::Value {
        match self {
            Self::Recognition(plan) => plan.value(),
            Self::Index(plan) => plan.value(),
        }
    }

    /// What the run is, apart from its results.
    pub fn run(&self, data_hash: String) -> Run {
        let name = |name: &'static str| Some(name.to_owned());
        let (suite, language, learner, size, loss, validation, seed, reading) = match self {
            Self::Recognition(p) => (
                "flare",
                &p.language,
                p.learner.name(),
                Some(p.size as u64),
                name(p.loss.name()),
                name(p.validation.name()),
                p.seed,
                p.reading,
            ),
            Self::Index(p) => {
                let loss = p.learner.as_ref().and_then(|settings| name(settings.loss.name()));
                ("bliss", &p.language, p.kind.name(), None, loss, None, p.seed, p.reading)
            }
        };
        Run {
            plan: self.id(),
            suite: suite.to_owned(),
            language: language.clone(),
            learner: learner.to_owned(),
            size,
            loss,
            validation,
            seed,
            reading,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_hash,
        }
    }

    /// Does the run.
    pub fn execute(&self, shelf: &mut Shelf, desk: &mut dyn Desk) -> Result<RunResult, LabError> {
        match self {
            Self::Recognition(plan) => {
                let key = (format!("{} {}", plan.language, plan.reading), plan.data.clone());
                let data = shelf.recognition.get(key, || recognition::Data::of(plan))?;
                recognition::fit(plan, self.run(data.hash.clone()), &data, desk)
            }
            Self::Index(plan) => {
                let data = shelf.index.get(plan.data_key(), || index::Data::of(plan))?;
                index::fit(plan, self.run(data.hash.clone()), &data, desk)
            }
        }
    }
}
