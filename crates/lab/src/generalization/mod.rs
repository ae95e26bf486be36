//! How much does a learner learn from how little? Train on 10ᴺ/b strings, evaluate on the 10ᴺ·b that come right after the longest of
//! them (Lan, Chemla and Katzir 2023).
//!
//! Works for any language with a distribution of its own, and for any next-symbol model. The index itself, the largest b
//! that is solved, is computed over results, by a report.

mod data;
mod evaluate;
mod fit;
mod language;
mod measure;
mod memory;
mod plan;
mod spec;
mod trie;

pub use data::Data;
pub use evaluate::{Evaluation, StepScores, TooLong, Until, evaluate_steps};
pub use plan::{Measure, Plan, TestPlan, TestSlice, TestStart};
pub use spec::Grid;

use wug_language::Reading;
use wug_learner::registry::Role;
use wug_score::Coordinates;

use crate::LabError;
use crate::context::RunContext;
use crate::protocol::{Defaults, Outcome, Protocol};
use crate::spec::{Problem, Section};

/// The protocol `generalization`.
#[derive(Debug)]
pub struct Generalization;

impl Protocol for Generalization {
    const NAME: &'static str = "generalization";
    const SUMMARY: &'static str = "train on 10ᴺ/b strings, predict every step of the next 10ᴺ·b";
    const ROLE: Role = Role::NextSymbol;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "stack-lstm", "baby-ntm"], seeds: 3, first_seed: 100 };

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

    fn data_key(plan: &Plan) -> String {
        plan.data_key()
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

#[cfg(test)]
mod tests;
