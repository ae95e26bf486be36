//! Recognition at unseen lengths: train on short strings with their labels, evaluate on long ones (Butoi et al. 2025).
//!
//! Works for any language with a sampler by length, and for any recognizer.

mod data;
mod fit;
mod measure;
mod memory;
mod plan;
mod source;
mod spec;

pub use data::Data;
pub use plan::{DataPlan, Loss, ModelError, Plan, Source, Validation};
pub use source::DataSpec;
pub use spec::Grid;

use wug_language::Reading;
use wug_learner::registry::Role;
use wug_score::Coordinates;

use crate::LabError;
use crate::context::RunContext;
use crate::protocol::{Defaults, Outcome, Protocol};
use crate::spec::{Problem, Section};

/// The protocol `recognition`.
#[derive(Debug)]
pub struct Recognition;

impl Protocol for Recognition {
    const NAME: &'static str = "recognition";
    const SUMMARY: &'static str = "train on short labelled strings, recognise long ones";
    const ROLE: Role = Role::Recognizer;
    const DEFAULTS: Defaults =
        Defaults { learners: &["transformer", "rnn", "lstm"], seeds: 10, first_seed: 0 };

    type Grid = Grid;
    type Plan = Plan;
    type Data = Data;

    fn check(section: &Section<Grid>) -> Result<(), Problem> {
        spec::check(section)
    }

    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        spec::plans(section)
    }

    fn label(plan: &Plan) -> String {
        plan.label()
    }

    fn cost(plan: &Plan) -> f64 {
        plan.cost()
    }

    fn memory(plan: &Plan) -> f64 {
        memory::memory(plan)
    }

    fn coordinates(plan: &Plan) -> Coordinates {
        plan.coordinates()
    }

    fn seed(plan: &Plan) -> u64 {
        plan.seed
    }

    fn reading(plan: &Plan) -> Reading {
        plan.reading
    }

    /// Data that are read are identified by their content, not by their path.
    fn identity(plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        if let Source::Directory { path, .. } = &mut plan.data.source {
            path.clear();
        }
        plan
    }

    fn data_key(plan: &Plan) -> String {
        format!("{} {} {:?}", plan.language, plan.reading, plan.data)
    }

    fn data(plan: &Plan) -> Result<Data, LabError> {
        Data::of(plan)
    }

    fn data_hash(data: &Data) -> &str {
        &data.hash
    }

    fn execute(plan: &Plan, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        fit::fit(plan, data, context)
    }
}
