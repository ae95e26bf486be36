//! A run of any protocol with nothing left open, and its name: the hash of what it is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wug_score::{Run, RunResult};

use crate::LabError;
use crate::desk::Desk;
use crate::recognition;

/// What plans mean. A plan in another format is refused, not guessed at.
pub const PLAN_FORMAT: u32 = 1;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "protocol", rename_all = "kebab-case")]
pub enum RunPlan {
    /// Recognition at unseen lengths.
    Recognition(recognition::Plan),
}

/// The data of the last run, which the next one often needs again.
#[derive(Debug, Default)]
pub struct Shelf {
    recognition: Option<((String, recognition::DataPlan), Arc<recognition::Data>)>,
}

impl RunPlan {
    /// The hash of the plan: the run's name. Data that are read count by their content, wherever they are.
    pub fn id(&self) -> String {
        let mut plan = self.clone();
        let Self::Recognition(recognition::Plan { data, .. }) = &mut plan;
        if let recognition::Source::Directory { path, .. } = &mut data.source {
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
        }
    }

    /// About how long this takes beside other runs.
    pub fn cost(&self) -> f64 {
        match self {
            Self::Recognition(plan) => plan.cost(),
        }
    }

    /// The plan as results keep it.
    pub fn value(&self) -> serde_json::Value {
        match self {
            Self::Recognition(plan) => plan.value(),
        }
    }

    /// What the run is, apart from its results.
    pub fn run(&self, data_hash: String) -> Run {
        match self {
            Self::Recognition(plan) => Run {
                plan: self.id(),
                suite: "flare".to_owned(),
                language: plan.language.clone(),
                learner: plan.learner.name().to_owned(),
                size: Some(plan.size as u64),
                loss: Some(plan.loss.name().to_owned()),
                validation: Some(plan.validation.name().to_owned()),
                seed: plan.seed,
                reading: plan.reading,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                data_hash,
            },
        }
    }

    /// Does the run.
    pub fn execute(&self, shelf: &mut Shelf, desk: &mut dyn Desk) -> Result<RunResult, LabError> {
        match self {
            Self::Recognition(plan) => {
                let data = shelf.recognition(plan)?;
                recognition::fit(plan, self.run(data.hash.clone()), &data, desk)
            }
        }
    }
}

impl Shelf {
    fn recognition(&mut self, plan: &recognition::Plan) -> Result<Arc<recognition::Data>, LabError> {
        let key = (format!("{} {}", plan.language, plan.reading), plan.data.clone());
        if let Some((_, data)) = self.recognition.as_ref().filter(|(kept, _)| *kept == key) {
            return Ok(Arc::clone(data));
        }
        self.recognition = None; // before the next is made: one set at a time
        let data = Arc::new(recognition::Data::of(plan)?);
        self.recognition = Some((key, Arc::clone(&data)));
        Ok(data)
    }
}
