//! One run with nothing left open.

use serde::{Deserialize, Serialize};
use wug_dataset::Seed;
use wug_dataset::language::LengthRange;
use wug_language::Reading;
use wug_learner::registry::keys::{DECODER, HIDDEN, ITERATIONS, PROJECTION, REDUNDANCY, RULE, UNITS};
use wug_learner::registry::{IncrementalTask, Matching, Role, SettingValue, Settings, find};
use wug_parameter::Key;
use wug_score::wade::{StepUnit, WadeMeasure as Wade};
use wug_score::{Coordinate, Coordinates};

use super::corpus::{Corpus, LABELS};
use super::data::Data;
use super::run::run;
use crate::LabError;
use crate::context::RunContext;
use crate::names::{Precision, named};
use crate::protocol::{self, Outcome, Planned};
use crate::spec::sizes;

/// All that determines a run's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The task or language, in its canonical spelling.
    pub language: String,
    /// As published, or corrected.
    pub reading: Reading,
    /// Distinct sequences that are drawn; four fifths are for training.
    pub sequences: usize,
    /// Shortest and longest strings of a language; a task has lengths of its own.
    pub lengths: (usize, usize),
    /// The reviews to read instead of drawing sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<Corpus>,
    /// The seed of the sequences.
    pub data_seed: u64,
    /// How often each training sequence is seen.
    pub passes: usize,
    /// How many of them are observed at a time.
    pub batch: usize,
    /// What is observed: whole sequences, or their answers one by one.
    pub unit: TrainingUnit,
    /// When it is evaluated.
    pub evaluations: Evaluations,
    /// How the learning curve is scored.
    pub wade: Wade,
    /// Whether the run serves to choose settings, and its score is not to be compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub selection: bool,
    /// The seed of this run: every stream of randomness but the sequences derives from it.
    pub seed: u64,
    pub precision: Precision,
    pub learner: String,
    pub settings: Settings,
    /// The number of parameters that was asked for, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How dimensions were found from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<Matching>,
    /// The settings that nobody gave: those that the size decided or that the run drew. They tell no runs apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// The number of parameters that it trains.
    pub parameters: usize,
}

/// When a learner is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluations {
    /// Whether once before any training.
    pub before: bool,
    /// After every observation until so many sequences were seen.
    pub first: usize,
    /// From then on every so many sequences; where answers are observed one by one, every so many answers.
    pub every: usize,
}

named! {
    TrainingUnit {
        /// Sequences, in random order, with all their answers.
        Sequences = "sequences",
        /// Single answers, those of all sequences shuffled together. The first is observed once more, after the first evaluation: as
        /// the released code does it.
        Answers = "answers",
    }
}

impl Plan {
    /// The seed of everything but the sequences. The order of sequences does not depend on the learner. The names of streams are part
    /// of every result: they stay as they are.
    pub(super) fn root(&self) -> Seed {
        Seed::new(self.seed).derive("speed").derive(&self.language)
    }

    pub(super) fn lengths(&self) -> LengthRange {
        self.lengths.0..=self.lengths.1
    }

    /// What the learner is built for. Reviews are answered with one of two labels, and as many pieces are counted as may be learned.
    pub(super) fn task(&self, vocabulary: usize) -> IncrementalTask {
        let double = self.precision == Precision::F64;
        match &self.corpus {
            Some(corpus) => {
                IncrementalTask { vocabulary: corpus.pieces + LABELS.len(), answers: LABELS.len(), double }
            }
            None => IncrementalTask { vocabulary, answers: vocabulary, double },
        }
    }

    /// Features or units, whatever the learner calls them.
    fn width(&self) -> f64 {
        let count = |key: &Key<usize>| self.settings.find(key).map(|n| n as f64);
        let ring = || Some(count(&REDUNDANCY)? * count(&PROJECTION)? * count(&ITERATIONS)?);
        // A bag of words has no width of its own.
        count(&UNITS).or_else(ring).or_else(|| count(&HIDDEN)).unwrap_or(100.0)
    }

    fn is_reservoir(&self) -> bool {
        self.settings.has(DECODER.name())
    }

    /// The settings in which it is another than the usual run of its learner and reading, and that were given.
    fn unusual(&self) -> Vec<(&str, &SettingValue)> {
        let usual = find(&self.learner, Role::Incremental).ok().and_then(|l| l.settings(Role::Incremental));
        let Some(usual) = usual.map(|all| Settings::defaults(all, self.reading)) else { return Vec::new() };
        let given = |name: &str| name != RULE.name() && !self.found.iter().any(|found| found == name);
        self.settings
            .iter()
            .filter(|(name, value)| given(name) && usual.get_value(name) != Some(value))
            .collect()
    }
}

/// The unit of a learner unless one is given: the released code shows reservoirs single answers.
pub(super) fn usual_unit(settings: &Settings, reading: Reading) -> TrainingUnit {
    match (reading, settings.has(DECODER.name())) {
        (Reading::Published, true) => TrainingUnit::Answers,
        _ => TrainingUnit::Sequences,
    }
}

/// The learner whose curve on reviews the released code smooths.
const LINEAR: &str = "bag-of-words";

/// The definition of the score of a learner unless another is given: that of the released code, or Equations 1 and 2.
pub(super) fn usual_wade(
    (reading, learner): (Reading, &str),
    unit: TrainingUnit,
    of_reviews: bool,
) -> (&'static str, StepUnit) {
    match (reading, unit) {
        (Reading::Corrected, _) => ("equation", StepUnit::Sequences),
        (Reading::Published, _) if of_reviews => {
            (if learner == LINEAR { "imdb-smoothed" } else { "imdb" }, StepUnit::Evaluations)
        }
        (Reading::Published, TrainingUnit::Answers) => ("benchmark", StepUnit::MeanSequences),
        (Reading::Published, TrainingUnit::Sequences) => ("benchmark", StepUnit::Updates),
    }
}

/// A setting as a coordinate.
fn coordinate(value: &SettingValue) -> Coordinate {
    match value {
        SettingValue::Count(n) => (*n).into(),
        SettingValue::Real(x) => (*x).into(),
        SettingValue::Switch(on) => (*on).into(),
        SettingValue::Name(name) => name.as_str().into(),
        SettingValue::List(_) => value.to_string().as_str().into(),
    }
}

/// The sequences that are drawn unless another number is given.
pub(super) const SEQUENCES: usize = 1200;

/// Symbols of a sequence, about.
const LENGTH: f64 = 40.0;

impl Planned for Plan {
    fn label(&self) -> String {
        let rule = self.settings.find(&RULE).map_or(String::new(), |rule| format!(" rule {rule}"));
        let count = sizes::count(self.size, self.parameters);
        format!("{} {}{rule} {count} seed {}", self.language, self.learner, self.seed)
    }

    /// About microseconds, from runs on an ordinary machine.
    fn cost(&self) -> f64 {
        let (sequences, width) = (self.sequences as f64, self.width());
        let evaluations = (self.passes as f64 * sequences / self.evaluations.every as f64).max(1.0);
        if self.is_reservoir() {
            let answers = self.parameters as f64 / width;
            return sequences * LENGTH * width / 500.0
                + evaluations * sequences * 0.2 * width * answers / 4000.0;
        }
        let per_symbol = 0.1 + width * width / 4000.0;
        (3.0 * self.passes as f64 + 0.2 * evaluations) * sequences * LENGTH * per_symbol
    }

    fn memory(&self) -> f64 {
        let bytes = if self.precision == Precision::F64 { 8.0 } else { 4.0 };
        // The features of all answers; about as many as symbols where a sequence has many answers.
        let features = if self.is_reservoir() { self.sequences as f64 * 100.0 * self.width() } else { 0.0 };
        (features + 6.0 * self.parameters as f64 + 1e6) * bytes + 64e6
    }

    /// What is usual is left out, but for what every run has.
    fn coordinates(&self) -> Coordinates {
        let (variant, step) = usual_wade((self.reading, &self.learner), self.unit, self.corpus.is_some());
        let usual = Wade::named(variant, step) == Some(self.wade);
        let wade = || {
            let named = |name: &&&str| Wade::named(name, self.wade.unit) == Some(self.wade);
            let name = Wade::NAMES.iter().find(named).map_or("other", |name| *name);
            format!("{name}, {}", self.wade.unit.name())
        };
        let published = self.matching.filter(|matching| *matching == Matching::Published);
        let unit = Some(self.unit).filter(|unit| *unit != usual_unit(&self.settings, self.reading));
        let mut all = Coordinates::default()
            .with("language", self.language.as_str())
            .with("learner", self.learner.as_str())
            .with_some("size", self.size)
            .with_some("matching", published.map(Matching::name))
            .with_some(RULE.name(), self.settings.find(&RULE));
        for (name, value) in self.unusual() {
            all.set(name, coordinate(value));
        }
        let all = all
            .with("batch", self.batch)
            .with_some("sequences", Some(self.sequences).filter(|n| *n != SEQUENCES))
            .with_some("passes", Some(self.passes).filter(|n| *n > 1))
            .with_some("unit", unit.map(TrainingUnit::name))
            .with_some("wade", (!usual).then(wade));
        if self.selection { all.with("selection", true) } else { all }
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn reading(&self) -> Reading {
        self.reading
    }

    fn data_key(&self) -> String {
        let Self { language, sequences, lengths, data_seed, corpus, .. } = self;
        format!("{language} {} {sequences} {lengths:?} {data_seed} {corpus:?}", self.reading)
    }
}

impl protocol::Plan for Plan {
    type Data = Data;

    /// Reviews are identified by their content, not by their path.
    fn identity(&self) -> Self {
        let corpus = self.corpus.clone().map(|corpus| Corpus { path: String::new(), ..corpus });
        Self { corpus, ..self.clone() }
    }

    fn data(&self) -> Result<Data, LabError> {
        Data::of(self)
    }

    fn execute(&self, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        run(self, data, context)
    }
}
