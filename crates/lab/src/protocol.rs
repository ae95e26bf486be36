//! Protocols: ways of measuring learners, one trait and one list.
//!
//! A protocol turns a grid (a section of an experiment) into plans in which nothing is left open, and a plan into a result. It
//! works with every learner that has its role and every language that has what it needs. It names no paper: suites do, in
//! experiments and reports.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Table;
use wug_language::Reading;
use wug_learner::registry::Role;
use wug_parameter::Constant;
use wug_score::{Coordinates, Ending, Measurement, Point, ScoredString};

use crate::LabError;
use crate::context::RunContext;
use crate::generalization::Generalization;
use crate::pairs::Pairs;
use crate::plan::RunPlan;
use crate::preference::Preference;
use crate::recognition::Recognition;
use crate::spec::{Problem, Section};
use crate::speed::Speed;

/// A way of measuring learners.
pub trait Protocol: Sized + 'static {
    /// Its name, which sections of experiments and results use.
    const NAME: &'static str;
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// The role that learners must have.
    const ROLE: Role;
    /// The values of shared fields that a section leaves out.
    const DEFAULTS: Defaults;
    /// Whether its sections have `languages`. Others have fields of their own for what is learned.
    const LANGUAGES: bool = true;
    /// Whether `languages` may name something else than languages of the registry. The protocol then finds
    /// [them](Section::subjects) itself.
    const OWN_SUBJECTS: bool = false;
    /// Its fields that are paths, or lists of them. In a file, relative ones are relative to its directory.
    const PATHS: &'static [&'static str] = &[];

    /// What the published reading sets of learners in this protocol, beside what their declarations say.
    const PUBLISHED: &'static [(&'static str, Constant)] = &[];

    /// The fields of a section beside those that all sections share ([`Section`]).
    type Grid: DeserializeOwned;
    /// One run with nothing left open.
    type Plan: Plan;

    /// Checks names and numbers: all that [`plans`](Self::plans) checks without data. Returns the most runs that there can be.
    fn check(section: &Section<Self::Grid>) -> Result<usize, Problem>;

    /// Every cell of the grid.
    fn plans(section: &Section<Self::Grid>) -> Result<Vec<Self::Plan>, Problem>;

    /// The names of the plan's fields that are no settings of learners and of which the section lists several values.
    fn compared(_section: &Section<Self::Grid>) -> Vec<&'static str> {
        Vec::new()
    }
}

/// What is known of a run before it is executed.
pub trait Planned: Send + Sync {
    /// What progress lines call the run.
    fn label(&self) -> String;

    /// About how long the run takes, compared with other runs of the protocol.
    fn cost(&self) -> f64;

    /// About how many seconds of one core the run takes, where that is known in advance.
    fn seconds(&self) -> Option<f64> {
        None
    }

    /// About how many bytes of memory the run needs at its peak.
    fn memory(&self) -> f64;

    /// What tells the run apart from others of its grid. Settings of which the section lists several values are added to it.
    fn coordinates(&self) -> Coordinates;

    /// The value of a setting that the plan has in another form than under its name.
    fn setting(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The seed of the run.
    fn seed(&self) -> u64;

    /// As published, or corrected.
    fn reading(&self) -> Reading;

    /// Names the data: plans with the same key have the same data.
    fn data_key(&self) -> String;
}

/// One run with nothing left open: data and learner in, an [`Outcome`] out.
pub trait Plan: Planned + Clone + Debug + PartialEq + Serialize + DeserializeOwned + 'static {
    /// The data of a run; runs with the same [key](Planned::data_key) share them.
    type Data: RunData;

    /// The part of the plan that determines the result; its hash is the run's id.
    #[must_use]
    fn identity(&self) -> Self {
        self.clone()
    }

    /// Draws or reads the data.
    fn data(&self) -> Result<Self::Data, LabError>;

    /// Fits the learner and measures it.
    fn execute(&self, data: &Self::Data, context: &mut dyn RunContext) -> Result<Outcome, LabError>;
}

/// The data of a run.
pub trait RunData: Send + Sync + 'static {
    /// The hash of all that the run reads.
    fn hash(&self) -> &str;
}

/// The values of shared fields that a section leaves out.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    pub learners: &'static [&'static str],
    pub seeds: u64,
    /// The first of them.
    pub first_seed: u64,
}

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub ending: Ending,
    /// The number of trainable parameters.
    pub parameters: Option<usize>,
    /// Facts about the data.
    pub data: Value,
    pub curve: Vec<Point>,
    pub scores: Vec<Measurement>,
    /// The strings with the worst scores.
    pub hardest: Vec<ScoredString>,
    /// Every string of a split that figures show one by one.
    pub strings: Vec<ScoredString>,
}

/// A protocol in the list, with its types erased.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    pub summary: &'static str,
    /// The role that learners must have.
    pub role: Role,
    /// Names that its sections had in earlier versions.
    pub former_names: &'static [&'static str],
    /// Its fields that are paths.
    pub(crate) paths: &'static [&'static str],
    /// The settings of a section that none of its learners has.
    pub(crate) unused: fn(Table) -> Result<Vec<String>, Problem>,
    pub(crate) check: fn(Table) -> Result<usize, Problem>,
    pub(crate) plans: fn(Table) -> Result<Vec<RunPlan>, Problem>,
    pub(crate) read: fn(Value) -> serde_json::Result<RunPlan>,
}

impl Entry {
    const fn of<P: Protocol>(former_names: &'static [&'static str]) -> Self {
        Self {
            name: P::NAME,
            summary: P::SUMMARY,
            role: P::ROLE,
            former_names,
            paths: P::PATHS,
            unused: |table| Ok(Section::read::<P>(table)?.unused),
            check: |table| P::check(&Section::read::<P>(table)?),
            plans: |table| {
                let section = Section::read::<P>(table)?;
                P::check(&section)?;
                let (varied, compared, fields) =
                    (section.varied(), section.compared(), P::compared(&section));
                let run = |plan| {
                    RunPlan::new::<P>(plan).with_varied(&varied, &compared).with_compared_fields(&fields)
                };
                Ok(P::plans(&section)?.into_iter().map(run).collect())
            },
            read: |value| serde_json::from_value(value).map(RunPlan::new::<P>),
        }
    }
}

/// Every protocol, in the order in which the sections of an experiment are planned.
pub static PROTOCOLS: &[Entry] = &[
    Entry::of::<Recognition>(&[]),
    Entry::of::<Generalization>(&["index"]),
    Entry::of::<Speed>(&[]),
    Entry::of::<Preference>(&[]),
    Entry::of::<Pairs>(&[]),
];

/// The protocol with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    PROTOCOLS.iter().find(|entry| entry.name == name)
}
