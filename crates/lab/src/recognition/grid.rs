//! The fields of `[[recognition]]` that are its own, and the cells of its grid.

use wug_dataset::Seed;
use wug_learner::registry::{Role, Settings, keys};
use wug_parameter::{Constant, Key, Parameter, parameters};
use wug_score::plan::{
    AuxiliaryWeights, Loss, Plan, Recognition, RecognitionData, RecognitionMeasure, StringSource, Validation,
};
use wug_score::{Coordinate, Coordinates};

use super::data::Data;
use super::fit::fit;
use super::memory::memory;
use super::training::{SIZE, recognizer_task, root, size_or_usual};
use crate::LabError;
use crate::context::RunContext;
use crate::expand::{GridCell, LearnerCandidate};
use crate::plan::{RunEstimate, three_digits};
use crate::protocol::{Defaults, Outcome, Protocol};
use crate::spec::sizes::RoleTask;
use crate::spec::{DataSeeds, LearnerGrid, Problem, Section};

const LOSSES: Key<Vec<Loss>> = Key::choice(
    "losses",
    "training losses, each with runs of its own: recognition, with language modelling, with next-symbol sets, with both",
    Loss::R.name(),
)
.list(Constant::Names(&["R", "R+LM", "R+NS", "R+LM+NS"]));

const VALIDATION: Key<Vec<Validation>> = Key::choice(
    "validation",
    "which validation set stops training and chooses the model, each with runs of its own",
    Validation::Short.name(),
)
.list(Constant::Names(&["short", "long"]));

pub(super) const DIRECTORY: Key<Option<String>> =
    Key::path("data.directory", "data sets in the published layout, to read instead of drawing strings");
pub(super) const SEED: Key<DataSeeds> = DataSeeds::key("data.seed");

/// The most strings of a split.
const MOST: u64 = 10_000_000;
/// The longest string.
const LONGEST: u64 = crate::data::LONGEST as u64;

pub(super) const TRAINING: Key<usize> = Key::count("data.training", "training strings", 1..=MOST, 10_000);
pub(super) const VALIDATION_STRINGS: Key<usize> =
    Key::count("data.validation", "strings of each validation set", 1..=MOST, 1_000);
pub(super) const TEST: Key<usize> = Key::count("data.test", "strings of the long test", 1..=MOST, 5_010);
pub(super) const HELD_OUT: Key<usize> = Key::count(
    "data.held_out",
    "strings of the short test, none of which is a training string",
    0..=MOST,
    1_000,
);
pub(super) const DISTANCES: Key<usize> =
    Key::count("data.distances", "negatives with their distance from the language", 0..=MOST, 50);
pub(super) const SHORT: Key<usize> = Key::count("data.short", "longest training string", 0..=LONGEST, 40);
pub(super) const LONG: Key<usize> =
    Key::count("data.long", "longest string of the long validation set", 0..=LONGEST, 80);
pub(super) const LONGEST_TEST: Key<usize> =
    Key::count("data.longest", "longest string of the long test", 0..=LONGEST, 500);

/// The fields that drawn data alone have.
pub(super) const DRAWN: &[Parameter] =
    parameters![SEED, TRAINING, VALIDATION_STRINGS, TEST, HELD_OUT, DISTANCES, SHORT, LONG, LONGEST_TEST];

/// A language and where its strings come from.
pub struct RecognitionSubject {
    pub(super) spelled: String,
    pub(super) alphabet: usize,
    pub(super) data: RecognitionData,
}

impl AsRef<str> for RecognitionSubject {
    fn as_ref(&self) -> &str {
        &self.spelled
    }
}

impl Protocol for Recognition {
    type Subject = RecognitionSubject;
    type Loaded = Data;

    const SUMMARY: &'static str = "train on short labelled strings, recognise long ones";
    const ROLE: Role = Role::Recognizer;
    const DEFAULTS: Defaults =
        Defaults { learners: &["transformer", "rnn", "lstm"], seeds: 10, first_seed: 0 };
    const FIELDS: &'static [Parameter] = parameters![
        LOSSES,
        VALIDATION,
        DIRECTORY,
        SEED,
        TRAINING,
        VALIDATION_STRINGS,
        TEST,
        HELD_OUT,
        DISTANCES,
        SHORT,
        LONG,
        LONGEST_TEST
    ];

    fn cells(section: &Section<Self>) -> Result<usize, Problem> {
        super::source::check(section)?;
        Ok(section.get(&LOSSES).len() * section.get(&VALIDATION).len())
    }

    fn subjects(section: &Section<Self>) -> Result<Vec<RecognitionSubject>, Problem> {
        section.languages.iter().map(|named| super::source::subject(section, named)).collect()
    }

    fn data_seeds(section: &Section<Self>) -> DataSeeds {
        section.get(&SEED)
    }

    fn draws(data: &RecognitionData) -> bool {
        data.source == StringSource::Drawn
    }

    /// Learners whose settings have no width have the size of the paper.
    fn sizes(
        section: &Section<Self>,
        _: &RecognitionSubject,
        grid: &LearnerGrid,
        _: &Settings,
    ) -> Result<Vec<Option<usize>>, Problem> {
        let sized = grid.given.contains(keys::HIDDEN.name()) || grid.external().is_some();
        Ok(section.asked_sizes().into_iter().map(|size| size.or((!sized).then_some(SIZE))).collect())
    }

    fn variants(
        section: &Section<Self>,
        subject: &RecognitionSubject,
        candidate: &LearnerCandidate<'_>,
    ) -> Result<Vec<GridCell<Self>>, Problem> {
        // An external learner has a loss of its own.
        let losses = if candidate.is_external() { vec![Loss::R] } else { section.get(&LOSSES) };
        let validations = section.get(&VALIDATION);
        let cells = losses.into_iter().flat_map(|loss| validations.iter().map(move |v| (loss, *v)));
        let cell = |(loss, validation)| {
            let weights = AuxiliaryWeights::default();
            (subject.data.clone(), RecognitionMeasure { loss, validation, weights })
        };
        Ok(cells.map(cell).collect())
    }

    fn root(plan: &Plan<Self>) -> Seed {
        root(plan)
    }

    /// The weight of each auxiliary loss is drawn from a stream of its own.
    fn draw(plan: &mut Plan<Self>, candidate: &LearnerCandidate<'_>, stream: Seed) {
        if candidate.is_external() {
            return;
        }
        let (lm, ns) = plan.measure.loss.heads();
        // Without its head a loss has no weight: a drawn one would stand in labels and tables and mean nothing.
        let weight = |head: bool, name: &str| {
            let drawn = || candidate.grid.real(candidate.settings, &keys::LOSS_WEIGHT, stream.derive(name));
            if head { drawn() } else { 0.0 }
        };
        plan.measure.weights = AuxiliaryWeights {
            language_modeling: weight(lm, "weight/lm"),
            next_symbols: weight(ns, "weight/ns"),
        };
        // The weights say it, each for its loss.
        plan.learner.settings.take(keys::LOSS_WEIGHT.name());
    }

    fn task(plan: &Plan<Self>, subject: &RecognitionSubject) -> RoleTask {
        RoleTask::Recognizer(recognizer_task(plan.measure.loss, subject.alphabet))
    }

    /// The size of a learner whose settings have its dimensions is the number of parameters that it has.
    fn settle(_: &Section<Self>, _: &RecognitionSubject, plan: &mut Plan<Self>) -> Result<(), Problem> {
        plan.learner.size = plan.learner.size.or(plan.learner.parameters);
        Ok(())
    }

    fn estimate(plan: &Plan<Self>, _: &RecognitionSubject) -> RunEstimate {
        RunEstimate { cost: cost(plan), seconds: None, memory: memory(plan) }
    }

    fn coordinates(plan: &Plan<Self>) -> Coordinates {
        Coordinates::default()
            .with("loss", plan.measure.loss.name())
            .with("validation", plan.measure.validation.name())
    }

    fn label(plan: &Plan<Self>) -> Vec<String> {
        let RecognitionMeasure { loss, validation, weights } = plan.measure;
        let weights = [weights.language_modeling, weights.next_symbols];
        let unusual =
            weights.into_iter().filter(|weight| *weight > 0.0 && (weight - 1.0).abs() > f64::EPSILON);
        let mut parts = vec![loss.name().to_owned()];
        parts.extend(unusual.map(|weight| format!("×{}", three_digits(weight))));
        parts.push(validation.name().to_owned());
        parts
    }

    /// The weight of the auxiliary losses, if there are any and all have the same.
    fn compared(plan: &Plan<Self>, name: &str) -> Option<Coordinate> {
        let weight = plan.measure.common_weight();
        weight.filter(|_| name == keys::LOSS_WEIGHT.name()).map(Coordinate::from)
    }

    fn load(plan: &Plan<Self>) -> Result<Data, LabError> {
        Data::of(plan)
    }

    fn execute(plan: &Plan<Self>, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        fit(plan, data, context)
    }
}

fn cost(plan: &Plan<Recognition>) -> f64 {
    let settings = &plan.learner.settings;
    let learner = if plan.learner.name == "transformer" { 3.0 } else { 1.0 };
    // Few runs take more epochs before early stopping.
    let epochs = settings.get(&keys::MAX_EPOCHS).min(60) as f64;
    let RecognitionData { training, short, test, longest, .. } = plan.data;
    // Small batches have an overhead per step; evaluation is a forward pass, a third of a step.
    let batch = settings.get(&keys::BATCH_SYMBOLS) as f64;
    let training_cost = epochs * (training as f64 * short as f64) * (1.0 + 500.0 / batch);
    let evaluation_cost = test as f64 * longest as f64 / 3.0;
    learner * size_or_usual(plan) as f64 * (training_cost + evaluation_cost)
}
