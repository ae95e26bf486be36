//! A run of any protocol with nothing left open, and its name: the hash of what it is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wug_score::{Coordinates, Run, RunResult};

use crate::LabError;
use crate::context::RunContext;
use crate::{generalization, recognition};

/// What plans mean. A plan in another format is refused, not guessed at.
pub const PLAN_FORMAT: u32 = 1;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "protocol", rename_all = "kebab-case")]
pub enum RunPlan {
    /// Recognition at unseen lengths.
    Recognition(recognition::Plan),
    /// The generalisation index.
    Generalization(generalization::Plan),
}

/// The data of the last run, which the next one often needs again.
#[derive(Debug, Default)]
pub struct DataCache {
    recognition: CacheSlot<(String, recognition::DataPlan), recognition::Data>,
    generalization: CacheSlot<String, generalization::Data>,
}

/// One set of data at a time, under what it is.
#[derive(Debug)]
struct CacheSlot<K, D>(Option<(K, Arc<D>)>);

impl<K, D> Default for CacheSlot<K, D> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, D> CacheSlot<K, D> {
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
            Self::Generalization(plan) => plan.label(),
        }
    }

    /// About how long this takes beside other runs.
    pub fn cost(&self) -> f64 {
        match self {
            Self::Recognition(plan) => plan.cost(),
            Self::Generalization(plan) => plan.cost(),
        }
    }

    /// The plan as results keep it.
    pub fn value(&self) -> serde_json::Value {
        match self {
            Self::Recognition(plan) => plan.value(),
            Self::Generalization(plan) => plan.value(),
        }
    }

    /// What the run is, apart from its results.
    pub fn run(&self, data_hash: String) -> Run {
        let (protocol, coordinates, seed, reading) = match self {
            Self::Recognition(p) => {
                let coordinates = Coordinates::default()
                    .with("language", p.language.as_str())
                    .with("learner", p.learner.name())
                    .with("size", p.size)
                    .with("loss", p.loss.name())
                    .with("validation", p.validation.name());
                ("recognition", coordinates, p.seed, p.reading)
            }
            Self::Generalization(p) => {
                let coordinates = Coordinates::default()
                    .with("language", p.language.as_str())
                    .with("learner", p.kind.name())
                    .with("factor", p.factor)
                    .with_some("loss", p.learner.as_ref().map(|settings| settings.loss.name()));
                ("generalization", coordinates, p.seed, p.reading)
            }
        };
        Run {
            plan: self.id(),
            protocol: protocol.to_owned(),
            coordinates,
            seed,
            reading,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_hash,
        }
    }

    /// Does the run.
    pub fn execute(
        &self,
        cache: &mut DataCache,
        context: &mut dyn RunContext,
    ) -> Result<RunResult, LabError> {
        match self {
            Self::Recognition(plan) => {
                let key = (format!("{} {}", plan.language, plan.reading), plan.data.clone());
                let data = cache.recognition.get(key, || recognition::Data::of(plan))?;
                recognition::fit(plan, self.run(data.hash.clone()), &data, context)
            }
            Self::Generalization(plan) => {
                let data = cache.generalization.get(plan.data_key(), || generalization::Data::of(plan))?;
                generalization::fit(plan, self.run(data.hash.clone()), &data, context)
            }
        }
    }
}
