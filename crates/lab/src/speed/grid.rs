//! The fields of `[[speed]]` that are its own, and the cells of its grid. What is left out is as in Cisneros, Sivic and Mikolov 2022.

use wug_dataset::{Seed, masked};
use wug_learner::registry::keys::{DECODER, HIDDEN, ITERATIONS, PROJECTION, REDUNDANCY, RULE, UNITS};
use wug_learner::registry::{IncrementalTask, Role, SettingValue, Settings, find};
use wug_parameter::{Constant, Key, Matching, Parameter, Span, parameters};
use wug_score::Coordinates;
use wug_score::plan::{
    CorpusFile, Evaluations, Plan, Precision, Reading, Speed, SpeedData, SpeedMeasure, TrainingUnit,
};
use wug_score::wade::WadeMeasure;

use super::SpeedPlan;
use super::corpus::{LABELS, identified};
use super::data::Data;
use super::run::run;
use super::scoring;
use crate::LabError;
use crate::context::RunContext;
use crate::expand::{GridCell, LearnerCandidate};
use crate::plan::{RunEstimate, coordinate};
use crate::protocol::{Defaults, Outcome, Protocol, Subjects};
use crate::spec::grid::ensure;
use crate::spec::sizes::RoleTask;
use crate::spec::{DataSeeds, LANGUAGES, LearnerGrid, Problem, Section};

const MOST: u64 = 1_000_000;
/// The sequences that are drawn unless another number is given.
const USUAL_SEQUENCES: u64 = 1200;

const SEQUENCES: Key<usize> = Key::count(
    "sequences",
    "distinct sequences that are drawn; four fifths are for training",
    5..=MOST,
    USUAL_SEQUENCES,
);
const LENGTHS: Key<Span> = Key::span(
    "lengths",
    "lengths of a language's strings, both ends included; a task has lengths of its own",
    0..=crate::data::LONGEST,
    1..=20,
);
const DATA_SEED: Key<DataSeeds> = DataSeeds::key("data_seed").formerly(&["data.seed"]);
const PASSES: Key<usize> = Key::count("passes", "how often each training sequence is seen", 1..=10_000, 1);
const BATCH: Key<Vec<usize>> = Key::count(
    "batch",
    "sequences that are observed at a time, each number with runs of its own",
    1..=MOST,
    1,
)
.list(Constant::Counts(&[1]));
const UNIT: Key<Option<TrainingUnit>> = Key::choice(
    "unit",
    "what is observed: whole sequences, or their answers one by one",
    TrainingUnit::Sequences.name(),
)
.derived("sequences; in the published reading, answers for reservoirs");
const BEFORE: Key<bool> =
    Key::switch("evaluate.before", "whether to evaluate once before any training", true)
        .published(Constant::Switch(false));
const FIRST: Key<usize> = Key::count(
    "evaluate.first",
    "evaluate after every observation until so many sequences were seen",
    0..=MOST,
    32,
)
.published(Constant::Count(0));
const EVERY: Key<usize> = Key::count(
    "evaluate.every",
    "from then on, evaluate every so many sequences; or answers, where these are observed one by one",
    1..=MOST,
    8,
);
const DECODER_FEATURES: Key<Option<usize>> = Key::count(
    "decoder_features",
    "give each learner the parameters of a linear decoder of so many features",
    1..=MOST,
    1800,
)
.derived("settings or `sizes` decide");
const SELECTION: Key<bool> = Key::switch(
    "selection",
    "whether runs serve to choose settings, and their scores are not to be compared",
    false,
);
const CORPUS: Key<Option<String>> = Key::path(
    "corpus.path",
    "reviews to learn from: a directory with train/pos, train/neg, test/pos and test/neg, or a file of comma-separated values",
);
/// The vocabulary of the published tokeniser.
const PIECES: Key<usize> =
    Key::count("corpus.pieces", "pieces to learn from the training part, at most", 2..=MOST, 30_000);
const LONGEST: Key<usize> = Key::count("corpus.longest", "pieces of a review, at most", 1..=100_000, 5_000);

/// The name of reviews among languages.
const REVIEWS: &str = "reviews";

/// What sequences are of.
pub struct SpeedSubject {
    name: String,
    vocabulary: usize,
    corpus: Option<CorpusFile>,
}

impl AsRef<str> for SpeedSubject {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

impl Protocol for Speed {
    type Subject = SpeedSubject;
    type Loaded = Data;

    const SUMMARY: &'static str =
        "see sequences one after the other, answer others on the way: how fast accuracy rises";
    const ROLE: Role = Role::Incremental;
    const DEFAULTS: Defaults = Defaults { learners: &["reca", "esn"], seeds: 100, first_seed: 1 };
    const SUBJECTS: Subjects = Subjects::Own(LANGUAGES);
    const FIELDS: &'static [Parameter] = parameters![
        SEQUENCES,
        LENGTHS,
        DATA_SEED,
        PASSES,
        BATCH,
        UNIT,
        BEFORE,
        FIRST,
        EVERY,
        scoring::VARIANT,
        scoring::THRESHOLDS,
        scoring::FROM,
        scoring::TO,
        scoring::STEP,
        scoring::COMPARISON,
        scoring::WEIGHTING,
        scoring::UNIT,
        DECODER_FEATURES,
        SELECTION,
        CORPUS,
        PIECES,
        LONGEST
    ];

    fn cells(section: &Section<Self>) -> Result<usize, Problem> {
        let ways = section.learners.iter().flat_map(|grid| &grid.settings);
        let answers = |settings: &Settings| unit(section, settings) == TrainingUnit::Answers;
        // An error only if no learner can use it: in a mixed section the others do.
        if ways.clone().all(answers) {
            let message = "has no effect where answers are observed one by one (`unit = \"answers\"`)";
            for (given, field) in
                [(section.gives(&BATCH), BATCH.name()), (section.gives(&FIRST), FIRST.name())]
            {
                if given {
                    return Err(Problem::new(field, "", message.to_owned()));
                }
            }
        }
        for grid in &section.learners {
            for settings in &grid.settings {
                measures(section, &grid.name, settings)?;
            }
        }
        let subjects = if reviews(section) { 1 } else { section.subjects.len().max(1) };
        Ok(subjects.saturating_mul(section.get(&BATCH).len()))
    }

    fn subjects(section: &Section<Self>) -> Result<Vec<SpeedSubject>, Problem> {
        if reviews(section) {
            return Ok(vec![reviews_subject(section)?]);
        }
        if section.subjects.is_empty() {
            let message =
                "at least one is needed: names of tasks or languages, or `SUITE/*` for all of a suite";
            return Err(Problem::new(LANGUAGES, "[]", message.to_owned()));
        }
        let lengths = section.get(&LENGTHS).range();
        let mut all = Vec::new();
        for name in &section.subjects {
            let found = masked::find(name, section.reading, &lengths)
                .map_err(|error| Problem::new(LANGUAGES, name, error.to_string()))?;
            all.extend(found.iter().map(|source| SpeedSubject {
                name: source.spelled(),
                vocabulary: source.vocabulary(),
                corpus: None,
            }));
        }
        Ok(all)
    }

    fn data_seeds(section: &Section<Self>) -> DataSeeds {
        section.get(&DATA_SEED)
    }

    /// That of a decoder with so many features, or those that are given, or none. A reservoir has a decoder of its own.
    fn sizes(
        section: &Section<Self>,
        subject: &SpeedSubject,
        grid: &LearnerGrid,
        settings: &Settings,
    ) -> Result<Vec<Option<usize>>, Problem> {
        let Some(features) = section.get(&DECODER_FEATURES) else { return Ok(section.asked_sizes()) };
        if !settings.has(DECODER.name()) {
            return Ok(vec![Some(features * subject.vocabulary)]);
        }
        let own = features_of(settings).unwrap_or(features);
        let allowed = format!("{own}, which {} has here", grid.name);
        ensure(own == features, DECODER_FEATURES.name(), &features, &allowed)?;
        Ok(vec![None])
    }

    fn variants(
        section: &Section<Self>,
        subject: &SpeedSubject,
        candidate: &LearnerCandidate<'_>,
    ) -> Result<Vec<GridCell<Self>>, Problem> {
        let data = SpeedData {
            sequences: section.get(&SEQUENCES),
            lengths: section.get(&LENGTHS),
            corpus: subject.corpus.clone(),
        };
        let measures = measures(section, &candidate.grid.name, candidate.settings)?;
        Ok(measures.into_iter().map(|measure| (data.clone(), measure)).collect())
    }

    /// The order of sequences does not depend on the learner.
    fn root(plan: &Plan<Self>) -> Seed {
        Seed::new(plan.seed).derive("speed").derive(&plan.subject)
    }

    fn task(plan: &Plan<Self>, subject: &SpeedSubject) -> RoleTask {
        RoleTask::Incremental(incremental_task(plan, subject.vocabulary))
    }

    fn estimate(plan: &Plan<Self>, _: &SpeedSubject) -> RunEstimate {
        RunEstimate { cost: cost(plan), seconds: None, memory: memory(plan) }
    }

    /// What is usual is left out, but for what every run has.
    fn coordinates(plan: &Plan<Self>) -> Coordinates {
        let SpeedMeasure { passes, batch, unit, wade, selection, .. } = plan.measure;
        let learner = plan.learner.name.as_str();
        let usual = scoring::usual((plan.reading, learner), unit, plan.data.corpus.is_some());
        let published = plan.learner.matching.filter(|matching| *matching == Matching::Published);
        let settings = &plan.learner.settings;
        let other_unit = Some(unit).filter(|unit| *unit != usual_unit(settings, plan.reading));
        let mut all = Coordinates::default()
            .with_some("matching", published.map(Matching::name))
            .with_some(RULE.name(), settings.find(&RULE));
        for (name, value) in unusual(plan) {
            let shown = || value.to_string().as_str().into();
            all.set(name, coordinate(value).unwrap_or_else(shown));
        }
        let sequences = Some(plan.data.sequences).filter(|n| *n as u64 != USUAL_SEQUENCES);
        let all = all
            .with("batch", batch)
            .with_some("sequences", sequences)
            .with_some("passes", Some(passes).filter(|n| *n > 1))
            .with_some("unit", other_unit.map(TrainingUnit::name))
            .with_some(
                "wade",
                (WadeMeasure::named(usual.0, usual.1) != Some(wade)).then(|| scoring::name(wade)),
            );
        if selection { all.with("selection", true) } else { all }
    }

    fn label(plan: &Plan<Self>) -> Vec<String> {
        plan.learner.settings.find(&RULE).map(|rule| format!("rule {rule}")).into_iter().collect()
    }

    fn load(plan: &Plan<Self>) -> Result<Data, LabError> {
        Data::of(plan)
    }

    fn execute(plan: &Plan<Self>, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        run(plan, data, context)
    }
}

/// Whether a section is about reviews.
fn reviews(section: &Section<Speed>) -> bool {
    section.gives(&CORPUS) || section.gives(&PIECES) || section.gives(&LONGEST)
}

fn reviews_subject(section: &Section<Speed>) -> Result<SpeedSubject, Problem> {
    if let Some(name) = section.subjects.first() {
        let message = "cannot be given with `corpus`: the reviews are what is learned".to_owned();
        return Err(Problem::new(LANGUAGES, name, message));
    }
    let (pieces, longest) = (section.get(&PIECES), section.get(&LONGEST));
    // A file of an experiment may leave the path to the command line; a plan may not.
    let corpus =
        CorpusFile { path: section.get(&CORPUS).unwrap_or_default(), pieces, longest, hash: String::new() };
    let corpus = if section.may_lack_files {
        corpus
    } else {
        identified(&corpus).map_err(|message| Problem::new(CORPUS.name(), &corpus.path, message))?
    };
    Ok(SpeedSubject { name: REVIEWS.to_owned(), vocabulary: pieces, corpus: Some(corpus) })
}

fn unit(section: &Section<Speed>, settings: &Settings) -> TrainingUnit {
    section.get(&UNIT).unwrap_or_else(|| usual_unit(settings, section.reading))
}

/// How a learner is shown sequences and scored: once for each batch.
fn measures(
    section: &Section<Speed>,
    learner: &str,
    settings: &Settings,
) -> Result<Vec<SpeedMeasure>, Problem> {
    let unit = unit(section, settings);
    let answers = unit == TrainingUnit::Answers;
    let first = if answers { 0 } else { section.get(&FIRST) };
    let evaluations = Evaluations { before: section.get(&BEFORE), first, every: section.get(&EVERY) };
    let batches = if answers { vec![1] } else { section.get(&BATCH) };
    let passes = section.get(&PASSES);
    let seen = section.get(&SEQUENCES) * 4 / 5 * passes;
    let published = section.reading == Reading::Published;
    if let Some(batch) = batches.iter().find(|batch| published && !reviews(section) && **batch > seen) {
        let allowed = format!("at most {seen}: an incomplete batch is not used, as published");
        return Err(Problem::value(BATCH.name(), &batch.to_string(), &allowed));
    }
    let wade = scoring::wade(section, (section.reading, learner), unit, reviews(section))?;
    let selection = section.get(&SELECTION);
    let measure = |batch| SpeedMeasure { passes, batch, unit, evaluations, wade, selection };
    Ok(batches.into_iter().map(measure).collect())
}

/// The unit of a learner unless one is given: the released code shows reservoirs single answers.
fn usual_unit(settings: &Settings, reading: Reading) -> TrainingUnit {
    match (reading, settings.has(DECODER.name())) {
        (Reading::Published, true) => TrainingUnit::Answers,
        _ => TrainingUnit::Sequences,
    }
}

/// What the learner is built for. Reviews are answered with one of two labels, and as many pieces are counted as may be learned.
pub(super) fn incremental_task(plan: &SpeedPlan, vocabulary: usize) -> IncrementalTask {
    let double = plan.precision == Precision::F64;
    match &plan.data.corpus {
        Some(corpus) => {
            IncrementalTask { vocabulary: corpus.pieces + LABELS.len(), answers: LABELS.len(), double }
        }
        None => IncrementalTask { vocabulary, answers: vocabulary, double },
    }
}

/// The features of a reservoir.
fn features_of(settings: &Settings) -> Option<usize> {
    let count = |key: &Key<usize>| settings.find(key);
    let ring = || Some(count(&REDUNDANCY)? * count(&PROJECTION)? * count(&ITERATIONS)?);
    count(&UNITS).or_else(ring)
}

/// The settings in which a run is another than the usual one of its learner and reading, and that were given.
fn unusual(plan: &SpeedPlan) -> Vec<(&str, &SettingValue)> {
    let learner = find(&plan.learner.name, Role::Incremental).ok();
    let Some(all) = learner.and_then(|learner| learner.settings(Role::Incremental)) else {
        return Vec::new();
    };
    let usual = Settings::defaults(all, plan.reading);
    let given = |name: &str| name != RULE.name() && !plan.learner.found.iter().any(|found| found == name);
    let settings = plan.learner.settings.iter();
    settings.filter(|(name, value)| given(name) && usual.get_value(name) != Some(value)).collect()
}

/// Features or units, whatever the learner calls them. A bag of words has no width of its own.
fn width(settings: &Settings) -> f64 {
    features_of(settings).or_else(|| settings.find(&HIDDEN)).map_or(100.0, |n| n as f64)
}

/// Symbols of a sequence, about.
const LENGTH: f64 = 40.0;

/// About microseconds, from runs on an ordinary machine.
fn cost(plan: &SpeedPlan) -> f64 {
    let (sequences, width) = (plan.data.sequences as f64, width(&plan.learner.settings));
    let SpeedMeasure { passes, evaluations, .. } = plan.measure;
    let evaluated = (passes as f64 * sequences / evaluations.every as f64).max(1.0);
    if plan.learner.settings.has(DECODER.name()) {
        let answers = plan.learner.parameters.unwrap_or(0) as f64 / width;
        return sequences * LENGTH * width / 500.0 + evaluated * sequences * 0.2 * width * answers / 4000.0;
    }
    let per_symbol = 0.1 + width * width / 4000.0;
    (3.0 * passes as f64 + 0.2 * evaluated) * sequences * LENGTH * per_symbol
}

fn memory(plan: &SpeedPlan) -> f64 {
    let bytes = if plan.precision == Precision::F64 { 8.0 } else { 4.0 };
    let settings = &plan.learner.settings;
    // The features of all answers; about as many as symbols where a sequence has many answers.
    let reservoir = settings.has(DECODER.name());
    let features = if reservoir { plan.data.sequences as f64 * 100.0 * width(settings) } else { 0.0 };
    (features + 6.0 * plan.learner.parameters.unwrap_or(0) as f64 + 1e6) * bytes + 64e6
}
