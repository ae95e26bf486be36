//! The fields of `[[speed]]` that are its own. What is left out is as in Cisneros, Sivic and Mikolov 2022.

use serde::Deserialize;
use wug_dataset::masked;
use wug_language::{LengthRange, Reading};
use wug_learner::registry::keys::{DECODER, ITERATIONS, PROJECTION, REDUNDANCY, UNITS};
use wug_learner::registry::{IncrementalRole, Matched, Role, Settings};
use wug_parameter::Key;
use wug_score::wade::{StepUnit, ThresholdRule as Comparison, Thresholds, WadeMeasure as Wade, Weighting};

use super::Speed;
use super::corpus::Corpus;
use super::plan::{Evaluations, Plan, SEQUENCES, TrainingUnit, usual_unit, usual_wade};
use crate::data::parse_lengths;
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::{ensure, named, one_or_more};
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
    unit: Option<String>,
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
    path: Option<String>,
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
    thresholds: Option<ThresholdsSpec>,
    comparison: Option<String>,
    weighting: Option<String>,
    step: Option<String>,
}

/// How many thresholds, or from where to where.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum ThresholdsSpec {
    Count(usize),
    Range(RangeSpec),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeSpec {
    from: f64,
    to: f64,
    step: f64,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            sequences: SEQUENCES,
            lengths: "1..20".to_owned(),
            data_seed: DataSeeds::OfRun,
            passes: 1,
            batch: Vec::new(),
            unit: None,
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

/// A learner with some settings, and how it is shown sequences and scored.
struct Way<'a> {
    learner: &'a LearnerGrid,
    settings: Settings,
    unit: TrainingUnit,
    /// What is observed at a time: single answers need no number.
    batches: Vec<usize>,
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
    const PATHS: &'static [&'static str] = &["corpus.path"];

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<usize, Problem> {
        section.own.check_numbers()?;
        let batches = section.own.batch.len().max(1);
        let size = |subjects: usize| section.check_size([subjects, batches, section.own.data_seed.len()]);
        // Before subjects are looked up and each way has its list of batches; a name may stand for several subjects.
        size(section.subjects.len().max(1))?;
        section.own.ways(section)?;
        size(subjects(section)?.len())
    }

    /// Seeds outermost, so that a sweep that is cut short has some runs of every kind; runs on the same sequences follow each other.
    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        let grid = &section.own;
        let ways = grid.ways(section)?;
        let mut subjects = subjects(section)?;
        for corpus in subjects.iter_mut().filter_map(|subject| subject.corpus.as_mut()) {
            *corpus = corpus.identified().map_err(|message| Problem::new(CORPUS, &corpus.path, message))?;
        }
        let seeds = section.seeds.clone();
        let seeds = seeds.flat_map(|seed| grid.data_seed.of(seed).into_iter().map(move |data| (seed, data)));
        let mut plans = Vec::new();
        for (seed, data_seed) in seeds {
            for subject in &subjects {
                for way in &ways {
                    for size in grid.sizes(section, subject, way)? {
                        for &batch in &way.batches {
                            let cell = Cell { seed, data_seed, batch, size, way };
                            plans.push(grid.plan(section, subject, &cell)?);
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
    way: &'a Way<'a>,
}

/// What sequences are of.
struct Subject {
    name: String,
    vocabulary: usize,
    corpus: Option<Corpus>,
}

/// The name of reviews among languages.
const REVIEWS: &str = "reviews";
/// The field of their place.
const CORPUS: &str = "corpus.path";

/// The tasks and languages of a section, or its reviews.
fn subjects(section: &Section<Grid>) -> Result<Vec<Subject>, Problem> {
    let lengths = section.own.lengths()?;
    if let Some(CorpusSpec { path, pieces, longest }) = section.own.corpus.clone() {
        if let Some(name) = section.subjects.first() {
            let message = "cannot be given with `corpus`: the reviews are what is learned".to_owned();
            return Err(Problem::new("languages", name, message));
        }
        // A file of an experiment may leave the path to the command line; a plan may not.
        let corpus = Corpus { path: path.unwrap_or_default(), pieces, longest, hash: String::new() };
        return Ok(vec![Subject { name: REVIEWS.to_owned(), vocabulary: pieces, corpus: Some(corpus) }]);
    }
    if section.subjects.is_empty() {
        let message = "at least one is needed: names of tasks or languages, or `SUITE/*` for all of a suite";
        return Err(Problem::new("languages", "[]", message.to_owned()));
    }
    let mut all = Vec::new();
    for name in &section.subjects {
        let found = masked::find(name, section.reading, &lengths)
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
    fn lengths(&self) -> Result<LengthRange, Problem> {
        parse_lengths(&self.lengths)
            .ok_or_else(|| Problem::value("lengths", &self.lengths, "two numbers `A..B`, both included"))
    }

    /// Every learner with every combination of its settings.
    fn ways<'s>(&self, section: &'s Section<Self>) -> Result<Vec<Way<'s>>, Problem> {
        let mut ways = Vec::new();
        for learner in &section.learners {
            for settings in &learner.settings {
                ways.push(self.way(section.reading, learner, settings)?);
            }
        }
        if ways.iter().all(|way| way.unit == TrainingUnit::Answers) {
            let message = "has no effect where answers are observed one by one (`unit = \"answers\"`)";
            let refused = |field: &str, given: String| Err(Problem::new(field, &given, message.to_owned()));
            if !self.batch.is_empty() {
                return refused("batch", format!("{:?}", self.batch));
            }
            if let Some(first) = self.evaluate.first {
                return refused("evaluate.first", first.to_string());
            }
        }
        Ok(ways)
    }

    fn way<'s>(
        &self,
        reading: Reading,
        learner: &'s LearnerGrid,
        settings: &Settings,
    ) -> Result<Way<'s>, Problem> {
        let settings = settings.clone();
        let unit = match &self.unit {
            Some(name) => named("unit", name, TrainingUnit::ALL, TrainingUnit::name)?,
            None => usual_unit(&settings, reading),
        };
        let (published, answers) = (reading == Reading::Published, unit == TrainingUnit::Answers);
        let first = self.evaluate.first.unwrap_or(if published { 0 } else { 32 });
        let evaluations = Evaluations {
            before: self.evaluate.before.unwrap_or(!published),
            first: if answers { 0 } else { first },
            every: self.evaluate.every.unwrap_or(8),
        };
        let batches = if answers || self.batch.is_empty() { vec![1] } else { self.batch.clone() };
        let seen = self.sequences * 4 / 5 * self.passes;
        if let Some(batch) = batches.iter().find(|batch| published && self.corpus.is_none() && **batch > seen)
        {
            let allowed = format!("at most {seen}: an incomplete batch is not used, as published");
            return Err(Problem::value("batch", &batch.to_string(), &allowed));
        }
        let wade = self.wade((reading, learner.learner.name), unit)?;
        Ok(Way { learner, settings, unit, batches, evaluations, wade })
    }

    fn wade(&self, of: (Reading, &str), unit: TrainingUnit) -> Result<Wade, Problem> {
        let (usual, usual_step) = usual_wade(of, unit, self.corpus.is_some());
        let units = [StepUnit::Sequences, StepUnit::Updates, StepUnit::Evaluations, StepUnit::MeanSequences];
        let step = match &self.wade.step {
            Some(name) => named("wade.step", name, &units, StepUnit::name)?,
            None => usual_step,
        };
        if step == StepUnit::MeanSequences && unit == TrainingUnit::Sequences {
            let message = "counts answers between evaluations: it goes with `unit = \"answers\"`".to_owned();
            return Err(Problem::new("wade.step", step.name(), message));
        }
        let variant = self.wade.variant.as_deref().unwrap_or(usual);
        let mut wade = Wade::named(variant, step)
            .ok_or_else(|| Problem::unknown("wade.variant", variant, &Wade::NAMES))?;
        if let Some(name) = &self.wade.comparison {
            wade.comparison = named("wade.comparison", name, &Comparison::ALL, Comparison::name)?;
        }
        if let Some(name) = &self.wade.weighting {
            wade.weighting = named("wade.weighting", name, &Weighting::ALL, Weighting::name)?;
        }
        wade = match self.wade.thresholds {
            Some(ThresholdsSpec::Count(n)) => wade.with_count(n),
            Some(ThresholdsSpec::Range(RangeSpec { from, to, step })) => {
                let thresholds = Thresholds::range(from, to, step).ok_or_else(|| {
                    let given = format!("from {from} to {to} by {step}");
                    Problem::value(
                        "wade.thresholds",
                        &given,
                        "from 0 or more up to 1 or less, by 0.000001 to 1",
                    )
                })?;
                Wade { thresholds, ..wade }
            }
            None => wade,
        };
        match wade.problem() {
            Some(problem) => Err(Problem::new("wade", variant, problem.to_owned())),
            None => Ok(wade),
        }
    }

    fn check_numbers(&self) -> Result<(), Problem> {
        let count = |field: &str, given: usize, least: usize, most: usize| {
            ensure((least..=most).contains(&given), field, &given, &format!("from {least} to {most}"))
        };
        count("sequences", self.sequences, 5, MAX_SEQUENCES)?;
        count("passes", self.passes, 1, MAX_PASSES)?;
        self.batch.iter().try_for_each(|&batch| count("batch", batch, 1, MAX_SEQUENCES))?;
        count("evaluate.every", self.evaluate.every.unwrap_or(8), 1, MAX_SEQUENCES)?;
        count("evaluate.first", self.evaluate.first.unwrap_or(0), 0, MAX_SEQUENCES)?;
        if let Some(ThresholdsSpec::Count(n)) = self.wade.thresholds {
            count("wade.thresholds", n, 1, 1_000_000)?;
        }
        count("decoder_features", self.decoder_features.unwrap_or(1800), 1, 1_000_000)?;
        if let Some(corpus) = &self.corpus {
            count("corpus.pieces", corpus.pieces, 2, 1_000_000)?;
            count("corpus.longest", corpus.longest, 1, 100_000)?;
        }
        self.data_seed.check("data_seed")
    }

    /// The numbers of parameters that a learner is to have: that of a decoder with so many features, or those that are given, or none.
    /// A reservoir has a decoder of its own.
    fn sizes(
        &self,
        section: &Section<Self>,
        subject: &Subject,
        way: &Way<'_>,
    ) -> Result<Vec<Option<usize>>, Problem> {
        let Some(features) = self.decoder_features else { return Ok(section.asked_sizes()) };
        if !way.settings.has(DECODER.name()) {
            return Ok(vec![Some(features * subject.vocabulary)]);
        }
        let count = |key: &Key<usize>| way.settings.find(key);
        let ring = || Some(count(&REDUNDANCY)? * count(&PROJECTION)? * count(&ITERATIONS)?);
        let own = count(&UNITS).or_else(ring).unwrap_or(features);
        let allowed = format!("{own}, which {} has here", way.learner.learner.name);
        ensure(own == features, "decoder_features", &features, &allowed)?;
        Ok(vec![None])
    }

    fn plan(&self, section: &Section<Self>, subject: &Subject, cell: &Cell<'_>) -> Result<Plan, Problem> {
        let Cell { way, .. } = cell;
        let (grid, name) = (way.learner, way.learner.learner.name);
        let lengths = self.lengths()?;
        let mut plan = Plan {
            language: subject.name.clone(),
            corpus: subject.corpus.clone(),
            reading: section.reading,
            sequences: self.sequences,
            lengths: (*lengths.start(), *lengths.end()),
            data_seed: cell.data_seed,
            passes: self.passes,
            batch: cell.batch,
            unit: way.unit,
            evaluations: way.evaluations,
            wade: way.wade,
            selection: self.selection,
            seed: cell.seed,
            precision: grid.precision(section.precision),
            learner: name.to_owned(),
            settings: Settings::default(),
            size: None,
            matching: None,
            found: grid.drawn_names(),
            parameters: 0,
        };
        let task = plan.task(subject.vocabulary);
        plan.settings = grid.drawn(&way.settings, plan.root().derive("hyperparameters"));
        let problem = |error: &dyn std::fmt::Display| {
            Problem::new("learners", name, format!("{name} on {}: {error}", plan.language))
        };
        if grid.is_foreign() {
            return Ok(plan);
        }
        let role = grid.learner.incremental.as_ref();
        let role = role.ok_or_else(|| problem(&"is no incremental learner"))?;
        if let Some(check) = role.check {
            check(&plan.settings).map_err(Problem::from)?;
        }
        let Some(size) = cell.size else {
            let parameters = (role.parameters)(&plan.settings, task).map_err(|error| problem(&error))?;
            return Ok(Plan { parameters, ..plan });
        };
        let found = role.matched(&plan.settings, &grid.given, size, task, section.matching);
        let Matched { settings, parameters } = found.map_err(|error| problem(&error))?;
        let mut by_size = dimensions(role, grid);
        by_size.append(&mut plan.found);
        let (size, matching) = (Some(size), Some(section.matching));
        Ok(Plan { settings, size, matching, found: by_size, parameters, ..plan })
    }
}

/// The settings that a size decides: the dimensions that are not given.
fn dimensions(role: &IncrementalRole, grid: &LearnerGrid) -> Vec<String> {
    let all = role.sizing.into_iter().flat_map(|sizing| {
        std::iter::once(sizing.width).chain(sizing.others.iter().map(|other| other.setting))
    });
    all.filter(|name| !grid.given.contains(*name)).map(str::to_owned).collect()
}
