//! Protocols: ways of measuring learners, one trait and one list.
//!
//! A protocol says what its sections may set, which data and which measure each cell of the grid has, and how a run is executed.
//! Everything else (reading sections, expanding grids, plans, ids, labels, coordinates) is written once for all. It works with every
//! learner that has its role and every language that has what it needs. It names no paper: suites do, in experiments and reports.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wug_dataset::Seed;
use wug_learner::registry::{Role, Settings};
use wug_parameter::{Constant, Parameter};
use wug_score::plan::{Plan, PlanKind, Precision, Untyped};
use wug_score::{Coordinate, Coordinates, Ending, Measurement, Point, ScoredString};

use crate::LabError;
use crate::context::RunContext;
use crate::expand::{GridCell, LearnerCandidate, PlannedCell};
use crate::generalization::Generalization;
use crate::pairs::Pairs;
use crate::plan::{RunEstimate, RunPlan};
use crate::preference::Preference;
use crate::recognition::Recognition;
use crate::spec::draft::Fields;
use crate::spec::section::AnySection;
use crate::spec::sizes::RoleTask;
use crate::spec::{DataSeeds, LearnerGrid, Planning, Problem, Reading, Section};
use crate::speed::Speed;

/// A way of measuring learners.
pub trait Protocol: PlanKind {
    /// What a run is about, with all that its data depend on but their seed. As text, its name.
    type Subject: AsRef<str>;
    /// The data of a run, drawn or read; runs on the same data share them.
    type Loaded: RunData;

    /// Names that its sections had in earlier versions.
    const FORMER_NAMES: &'static [&'static str] = &[];
    /// What it does, in one line.
    const SUMMARY: &'static str;
    /// The role that learners must have.
    const ROLE: Role;
    /// The values of shared fields that a section leaves out.
    const DEFAULTS: Defaults;
    /// What its sections are about.
    const SUBJECTS: Subjects = Subjects::Languages;
    /// Its own fields, declared.
    const FIELDS: &'static [Parameter];
    /// Those of which several values are compared with each other, in the singular.
    const COMPARED: &'static [&'static str] = &[];
    /// What the published reading sets of learners in this protocol, beside what their declarations say.
    const PUBLISHED: &'static [(&'static str, Constant)] = &[];

    #[doc(hidden)]
    const ENTRY: ProtocolEntry = ProtocolEntry::of::<Self>();

    /// How many cells there are beside languages, learners, sizes and seeds. Checks names and numbers: all that can be checked
    /// without data.
    fn cells(section: &Section<Self>) -> Result<usize, Problem>;

    fn subjects(section: &Section<Self>) -> Result<Vec<Self::Subject>, Problem>;

    /// The seeds of the data of a run.
    fn data_seeds(section: &Section<Self>) -> DataSeeds;

    /// Whether data are drawn, and not read.
    fn draws(_data: &Self::Data) -> bool {
        true
    }

    /// The numbers of parameters that a learner is to have.
    fn sizes(
        section: &Section<Self>,
        _subject: &Self::Subject,
        _grid: &LearnerGrid,
        _settings: &Settings,
    ) -> Result<Vec<Option<usize>>, Problem> {
        Ok(section.asked_sizes())
    }

    /// The precision of runs.
    fn precision(section: &Section<Self>, grid: &LearnerGrid) -> Precision {
        grid.precision(section.precision)
    }

    /// The data and the measure of each cell of a learner on a subject.
    fn variants(
        section: &Section<Self>,
        subject: &Self::Subject,
        candidate: &LearnerCandidate<'_>,
    ) -> Result<Vec<GridCell<Self>>, Problem>;

    /// The root of the streams of randomness of a run, but for its data. The names of streams are part of every result: they
    /// stay as they are.
    fn root(plan: &Plan<Self>) -> Seed;

    /// Draws what a run draws beside the settings of its learner.
    fn draw(_plan: &mut Plan<Self>, _candidate: &LearnerCandidate<'_>, _stream: Seed) {}

    /// What the learner of a run is built for.
    fn task(plan: &Plan<Self>, subject: &Self::Subject) -> RoleTask;

    /// Decides what follows from the dimensions, and refuses what cannot be run.
    fn settle(
        _section: &Section<Self>,
        _subject: &Self::Subject,
        _plan: &mut Plan<Self>,
    ) -> Result<(), Problem> {
        Ok(())
    }

    /// About how long the run takes, and how much memory.
    fn estimate(plan: &Plan<Self>, subject: &Self::Subject) -> RunEstimate;

    /// The plans without those that would be one run twice.
    fn distinct(plans: Vec<PlannedCell<Self>>) -> Result<Vec<PlannedCell<Self>>, Problem> {
        Ok(plans)
    }

    /// What tells a run apart beside its subject, its learner and its size.
    fn coordinates(_plan: &Plan<Self>) -> Coordinates {
        Coordinates::default()
    }

    /// What a label says after the learner.
    fn label(_plan: &Plan<Self>) -> Vec<String> {
        Vec::new()
    }

    /// The value of a field that is compared and that is no setting of the learner.
    fn compared(_plan: &Plan<Self>, _name: &str) -> Option<Coordinate> {
        None
    }

    /// Names the data: runs with the same key have the same.
    fn data_key(plan: &Plan<Self>) -> String {
        let Plan { subject, reading, data, data_seed, .. } = plan;
        // No learner, seed or precision: runs that differ in these alone read the same strings.
        format!("{subject} {reading} {data:?} {data_seed:?}")
    }

    /// Draws or reads the data.
    fn load(plan: &Plan<Self>) -> Result<Self::Loaded, LabError>;

    /// Fits the learner and measures it.
    fn execute(
        plan: &Plan<Self>,
        data: &Self::Loaded,
        context: &mut dyn RunContext,
    ) -> Result<Outcome, LabError>;
}

/// What the sections of a protocol are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// `languages`, which are in the registry.
    Languages,
    /// Things in this field, which the protocol finds itself.
    Own(&'static str),
}

impl Subjects {
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::Languages => crate::spec::LANGUAGES,
            Self::Own(field) => field,
        }
    }
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
    pub first_seed: u64,
}

/// What a run gives.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

/// Reads a section in a reading.
type SectionReader = fn(Fields, Reading, &Planning) -> Result<Box<dyn AnySection>, Problem>;

/// A protocol in the list, with its types erased.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolEntry {
    pub name: &'static str,
    pub summary: &'static str,
    /// The role that learners must have.
    pub role: Role,
    pub former_names: &'static [&'static str],
    /// Its own fields, declared.
    pub fields: &'static [Parameter],
    /// The fields that sections of all protocols share, with the defaults of this one.
    pub shared: fn() -> Vec<Parameter>,
    /// The field of what its sections are about.
    pub subjects: &'static str,
    /// The learners of a section that names none.
    pub learners: &'static [&'static str],
    pub(crate) read: SectionReader,
    /// Checks names in a section that is not read.
    pub(crate) check: fn(&Fields) -> Result<(), Problem>,
    pub(crate) plan: fn(Plan<Untyped>, RunEstimate) -> serde_json::Result<RunPlan>,
}

impl ProtocolEntry {
    const fn of<P: Protocol>() -> Self {
        Self {
            name: P::PROTOCOL,
            summary: P::SUMMARY,
            role: P::ROLE,
            former_names: P::FORMER_NAMES,
            fields: P::FIELDS,
            shared: || crate::spec::shared_fields::<P>(),
            subjects: P::SUBJECTS.field(),
            learners: P::DEFAULTS.learners,
            read: |fields, reading, planning| Ok(Box::new(Section::<P>::read(fields, reading, planning)?)),
            check: crate::spec::check_unread::<P>,
            plan: |plan, estimate| Ok(RunPlan::new::<P>(plan.of()?, estimate)),
        }
    }
}

/// Every protocol, in the order in which the sections of an experiment are planned.
pub static PROTOCOLS: &[ProtocolEntry] =
    &[Recognition::ENTRY, Generalization::ENTRY, Speed::ENTRY, Preference::ENTRY, Pairs::ENTRY];

/// The protocol with this name.
pub fn find(name: &str) -> Option<&'static ProtocolEntry> {
    PROTOCOLS.iter().find(|entry| entry.name == name)
}
