//! The fields of `[[speed]]` that are its own. What is left out is as in Cisneros, Sivic and Mikolov 2022.

use serde::Deserialize;
use wug_dataset::masked;
use wug_language::{LengthRange, Reading};
use wug_learner::registry::{Matched, Role, Settings};
use wug_score::wade::{StepUnit, Thresholds, Wade};

use super::Speed;
use super::corpus::Corpus;
use super::plan::{Evaluations, Plan, TrainingUnit};
use crate::data::parse_lengths;
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::{ensure, named, nonempty, one_or_more};
use crate::spec::{DataSeeds, LearnerGrid, Problem, Section};

/// The fields as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grid {
    sequences: usize,
    lengths: String,
    data_seed: DataSeeds,
    passes: usize,
    #[serde(deserialize_with = "one_or_more")]
    batch: Vec<usize>,
    unit: String,
    evaluate: EvaluateSpec,
    wade: WadeSpec,
    decoder_features: Option<usize>,
    selection: bool,
    corpus: Option<CorpusSpec>,
}

/// `evaluate` as written in the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EvaluateSpec {
    before: Option<bool>,
    first: Option<usize>,
    every: Option<usize>,
}

/// `corpus` as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CorpusSpec {
    path: String,
    #[serde(default = "pieces")]
    pieces: usize,
    #[serde(default = "longest")]
    longest: usize,
}

/// The vocabulary of the published tokeniser.
fn pieces() -> usize {
    30_000
}

fn longest() -> usize {
    5_000
}

/// `wade` as written in the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WadeSpec {
    variant: Option<String>,
    thresholds: Option<usize>,
    step: Option<String>,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            sequences: 1200,
            lengths: "1..20".to_owned(),
            data_seed: DataSeeds::OfRun,
            passes: 1,
            batch: vec![1],
            unit: TrainingUnit::Sequences.name().to_owned(),
            evaluate: EvaluateSpec::default(),
            wade: WadeSpec::default(),
            decoder_features: None,
            selection: false,
            corpus: None,
        }
    }
}

const MAX_SEQUENCES: usize = 1_000_000;
const MAX_PASSES: usize = 10_000;

/// The values that names in the grid stand for.
struct Resolved {
    lengths: LengthRange,
    unit: TrainingUnit,
    evaluations: Evaluations,
    wade: Wade,
}

impl Protocol for Speed {
    const NAME: &'static str = "speed";
    const SUMMARY: &'static str =
        "see sequences one after the other, answer others on the way: how fast accuracy rises";
    const ROLE: Role = Role::Incremental;
    const DEFAULTS: Defaults = Defaults { learners: &["reca", "esn"], seeds: 100, first_seed: 1 };
    const OWN_SUBJECTS: bool = true;

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<(), Problem> {
        let resolved = section.own.resolved(section.reading)?;
        let subjects = subjects(section, &resolved.lengths)?;
        section.check_size([subjects.len(), section.own.batch.len(), section.own.data_seed.len()])
    }

    /// Seeds outermost, so that a sweep that is cut short has some runs of every kind; runs on the same sequences follow each other.
    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        let grid = &section.own;
        let resolved = grid.resolved(section.reading)?;
        let subjects = subjects(section, &resolved.lengths)?;
        let seeds = section.seeds.clone();
        let seeds = seeds.flat_map(|seed| grid.data_seed.of(seed).into_iter().map(move |data| (seed, data)));
        let mut plans = Vec::new();
        for (seed, data_seed) in seeds {
            for subject in &subjects {
                for learner in &section.learners {
                    for settings in &learner.settings {
                        for size in grid.sizes(section, subject) {
                            for &batch in &grid.batch {
                                let cell = Cell { seed, data_seed, batch, size, learner, settings };
                                plans.push(grid.plan(section, &resolved, subject, &cell)?);
                            }
                        }
                    }
                }
            }
        }
        Ok(plans)
    }
}

/// One cell of the grid, beside its task.
struct Cell<'a> {
    seed: u64,
    data_seed: u64,
    batch: usize,
    size: Option<usize>,
    learner: &'a LearnerGrid,
    settings: &'a Settings,
}

/// What sequences are of.
struct Subject {
    name: String,
    vocabulary: usize,
    corpus: Option<Corpus>,
}

/// The name of reviews among languages.
const REVIEWS: &str = "reviews";

/// The tasks and languages of a section, or its reviews.
fn subjects(section: &Section<Grid>, lengths: &LengthRange) -> Result<Vec<Subject>, Problem> {
    if let Some(CorpusSpec { path, pieces, longest }) = section.own.corpus.clone() {
        if let Some(name) = section.subjects.first() {
            let message = "cannot be given with `corpus`: the reviews are what is learned".to_owned();
            return Err(Problem::new("languages", name, message));
        }
        let corpus = Corpus { path, pieces, longest };
        return Ok(vec![Subject { name: REVIEWS.to_owned(), vocabulary: pieces, corpus: Some(corpus) }]);
    }
    if section.subjects.is_empty() {
        let message = "at least one is needed: names of tasks or languages, or `SUITE/*` for all of a suite";
        return Err(Problem::new("languages", "[]", message.to_owned()));
    }
    let mut all = Vec::new();
    for name in &section.subjects {
        let found = masked::find(name, section.reading, lengths)
            .map_err(|error| Problem::new("languages", name, error.to_string()))?;
        all.extend(found.iter().map(|source| Subject {
            name: source.spelled(),
            vocabulary: source.vocabulary(),
            corpus: None,
        }));
    }
    Ok(all)
}

impl Grid {
    fn resolved(&self, reading: Reading) -> Result<Resolved, Problem> {
        self.check_numbers()?;
        let unit = named("unit", &self.unit, TrainingUnit::ALL, TrainingUnit::name)?;
        let published = reading == Reading::Published;
        let evaluations = Evaluations {
            before: self.evaluate.before.unwrap_or(!published),
            first: self.evaluate.first.unwrap_or(if published { 0 } else { 32 }),
            every: self.evaluate.every.unwrap_or(8),
        };
        let lengths = parse_lengths(&self.lengths)
            .ok_or_else(|| Problem::value("lengths", &self.lengths, "two numbers `A..B`, both included"))?;
        Ok(Resolved { lengths, unit, evaluations, wade: self.wade(published, unit)? })
    }

    fn wade(&self, published: bool, unit: TrainingUnit) -> Result<Wade, Problem> {
        let usual = match (published, unit) {
            (false, _) => StepUnit::Sequences,
            (true, TrainingUnit::Answers) => StepUnit::MeanSequences,
            (true, TrainingUnit::Sequences) => StepUnit::Updates,
        };
        let units = [StepUnit::Sequences, StepUnit::Updates, StepUnit::Evaluations, StepUnit::MeanSequences];
        let step = match &self.wade.step {
            Some(name) => named("wade.step", name, &units, StepUnit::name)?,
            None => usual,
        };
        let usual = if published { "benchmark" } else { "equation" };
        let variant = self.wade.variant.as_deref().unwrap_or(usual);
        let wade = Wade::named(variant, step)
            .ok_or_else(|| Problem::unknown("wade.variant", variant, &Wade::NAMES))?;
        Ok(match self.wade.thresholds {
            Some(n) => Wade { thresholds: Thresholds::up_to_one(n), ..wade },
            None => wade,
        })
    }

    fn check_numbers(&self) -> Result<(), Problem> {
        let count = |field: &str, given: usize, least: usize, most: usize| {
            ensure((least..=most).contains(&given), field, &given, &format!("from {least} to {most}"))
        };
        count("sequences", self.sequences, 5, MAX_SEQUENCES)?;
        count("passes", self.passes, 1, MAX_PASSES)?;
        nonempty("batch", &self.batch)?;
        self.batch.iter().try_for_each(|&batch| count("batch", batch, 1, MAX_SEQUENCES))?;
        count("evaluate.every", self.evaluate.every.unwrap_or(8), 1, MAX_SEQUENCES)?;
        count("evaluate.first", self.evaluate.first.unwrap_or(0), 0, MAX_SEQUENCES)?;
        count("wade.thresholds", self.wade.thresholds.unwrap_or(100), 1, 1_000_000)?;
        count("decoder_features", self.decoder_features.unwrap_or(1800), 1, 1_000_000)?;
        if let Some(corpus) = &self.corpus {
            count("corpus.pieces", corpus.pieces, 2, 1_000_000)?;
            count("corpus.longest", corpus.longest, 1, 100_000)?;
        }
        self.data_seed.check("data_seed")
    }

    /// The numbers of parameters that learners with dimensions are to have: that of a decoder with so many features, or those that
    /// are given, or none.
    fn sizes(&self, section: &Section<Self>, subject: &Subject) -> Vec<Option<usize>> {
        match self.decoder_features {
            Some(features) => vec![Some(features * subject.vocabulary)],
            None => section.asked_sizes(),
        }
    }

    fn plan(
        &self,
        section: &Section<Self>,
        resolved: &Resolved,
        subject: &Subject,
        cell: &Cell<'_>,
    ) -> Result<Plan, Problem> {
        let name = cell.learner.learner.name;
        let mut plan = Plan {
            language: subject.name.clone(),
            corpus: subject.corpus.clone(),
            reading: section.reading,
            sequences: self.sequences,
            lengths: (*resolved.lengths.start(), *resolved.lengths.end()),
            data_seed: cell.data_seed,
            passes: self.passes,
            batch: cell.batch,
            unit: resolved.unit,
            evaluations: resolved.evaluations,
            wade: resolved.wade,
            selection: self.selection,
            seed: cell.seed,
            precision: section.precision,
            learner: name.to_owned(),
            settings: Settings::default(),
            size: None,
            parameters: 0,
        };
        let task = plan.task(subject.vocabulary);
        plan.settings = cell.learner.drawn(cell.settings, plan.root().derive("hyperparameters"));
        let problem = |error: &dyn std::fmt::Display| {
            Problem::new("learners", name, format!("{name} on {}: {error}", plan.language))
        };
        if cell.learner.is_foreign() {
            return Ok(plan);
        }
        let role = cell.learner.learner.incremental.as_ref();
        let role = role.ok_or_else(|| problem(&"is no incremental learner"))?;
        if let Some(check) = role.check {
            check(&plan.settings)
                .map_err(|error| Problem::value(error.name, &error.given, &error.allowed))?;
        }
        let size = cell.size.filter(|_| role.sizing.is_some());
        let found = match size {
            Some(size) => role.matched(&plan.settings, &cell.learner.given, size, task, section.matching),
            None => (role.parameters)(&plan.settings, task)
                .map(|parameters| Matched { settings: plan.settings.clone(), parameters }),
        };
        let Matched { settings, parameters } = found.map_err(|error| problem(&error))?;
        Ok(Plan { settings, size, parameters, ..plan })
    }
}
