//! The fields of `[[pairs]]` that are its own, and the cells of its grid.

use std::fmt::Display;

use wug_dataset::{Seed, pairs};
use wug_learner::registry::{NextSymbolLoss, Role, keys};
use wug_parameter::{Constant, Key, Parameter, Span, ValueLimits, parameters};
use wug_score::Coordinates;
use wug_score::plan::{PairMeasure, PairStrings, Pairs, Plan, Precision, Reading};

use super::PairsPlan;
use super::data::Data;
use super::fit::fit;
use super::memory::memory;
use crate::LabError;
use crate::context::RunContext;
use crate::expand::{GridCell, LearnerCandidate};
use crate::plan::RunEstimate;
use crate::protocol::{Defaults, Outcome, Protocol};
use crate::spec::sizes::RoleTask;
use crate::spec::{DataSeeds, LearnerGrid, Problem, Section};

/// A data set may lack a part; a run needs all of them.
const STRINGS: ValueLimits = ValueLimits::Count(1, 10_000_000);

const SEED: Key<DataSeeds> = DataSeeds::key("data.seed");
const TRAINING: Key<usize> = pairs::TRAINING.named("data.training").within(STRINGS);
const VALIDATION: Key<usize> = pairs::VALIDATION.named("data.validation").within(STRINGS);
const TEST: Key<usize> = pairs::TEST.named("data.test").within(STRINGS);
const OUT_OF_DISTRIBUTION: Key<usize> =
    pairs::OUT_OF_DISTRIBUTION.named("data.out_of_distribution").within(STRINGS);
const LENGTHS: Key<Span> = pairs::LENGTHS.named("data.lengths");
const GREATER_LENGTHS: Key<Span> = pairs::GREATER_LENGTHS.named("data.greater_lengths");
const DISTINCT: Key<bool> = Key::switch("data.distinct", "whether no string is drawn twice", true);
const VALIDATIONS: Key<usize> = Key::count("validations", "validations in an epoch", 1..=1000, 1);

/// A language and the number of symbols of its vocabulary, the boundary included.
pub struct PairsSubject {
    spelled: String,
    vocabulary: usize,
}

impl AsRef<str> for PairsSubject {
    fn as_ref(&self) -> &str {
        &self.spelled
    }
}

impl Protocol for Pairs {
    type Subject = PairsSubject;
    type Loaded = Data;

    const SUMMARY: &'static str =
        "train on strings, then prefer the grammatical one of two, at seen and at greater lengths";
    const ROLE: Role = Role::NextSymbol;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "joulin-stack-rnn", "transformer"], seeds: 10, first_seed: 0 };
    const FIELDS: &'static [Parameter] = parameters![
        VALIDATIONS,
        SEED,
        TRAINING,
        VALIDATION,
        TEST,
        OUT_OF_DISTRIBUTION,
        LENGTHS,
        GREATER_LENGTHS,
        DISTINCT
    ];
    /// The faults of the released code: the output layer is not trained, and dropout stays on where pairs are scored.
    const PUBLISHED: &'static [(&'static str, Constant)] = &[
        (keys::TRAIN_OUTPUT.name(), Constant::Switch(false)),
        (keys::SCORING_DROPOUT.name(), Constant::Switch(true)),
    ];

    fn cells(section: &Section<Self>) -> Result<usize, Problem> {
        let (lengths, greater) = (section.get(&LENGTHS), section.get(&GREATER_LENGTHS));
        if greater.first <= lengths.last {
            let allowed = format!("a range above `{}`, which is {lengths}", LENGTHS.name());
            let problem = Problem::value(GREATER_LENGTHS.name(), &greater.to_string(), &allowed);
            return Err(problem.because(LENGTHS.name()));
        }
        // Outputs of the other loss are sets of symbols, and strings have no probability.
        let by_sets = |learner: &LearnerGrid| {
            learner.settings.iter().any(|s| NextSymbolLoss::of(s) != NextSymbolLoss::CrossEntropy)
        };
        if section.learners.iter().any(by_sets) {
            let allowed = "`cross-entropy`: pairs are compared by the probabilities of strings";
            return Err(Problem::value(keys::LOSS.name(), NextSymbolLoss::SigmoidMse.name(), allowed));
        }
        Ok(1)
    }

    /// Checks all that can be checked without drawing strings.
    fn subjects(section: &Section<Self>) -> Result<Vec<PairsSubject>, Problem> {
        let sizes = strings(section).sizes();
        let subject = |named: &wug_language::registry::Named| {
            let problem = |message: &dyn Display| Problem::of_language(named, message);
            let language = named.build(section.reading).map_err(|error| problem(&error))?;
            sizes.check(language.as_ref()).map_err(|error| problem(&error))?;
            for lengths in [&sizes.lengths, &sizes.greater_lengths] {
                language.by_length(lengths.clone()).map_err(|error| problem(&error))?;
            }
            let hint = "with `data.distinct = false` strings may be drawn again";
            let distinct = sizes.check_distinct(language.as_ref());
            distinct.map_err(|error| problem(&format_args!("{error}; {hint}")))?;
            Ok(PairsSubject { spelled: named.spelled(), vocabulary: language.alphabet().len() + 1 })
        };
        section.languages.iter().map(subject).collect()
    }

    fn data_seeds(section: &Section<Self>) -> DataSeeds {
        section.get(&SEED)
    }

    /// In the published reading pairs are compared in the precision of the section, whoever the learner is.
    fn precision(section: &Section<Self>, grid: &LearnerGrid) -> Precision {
        match section.reading {
            Reading::Published => section.precision,
            Reading::Corrected => grid.precision(section.precision),
        }
    }

    fn variants(
        section: &Section<Self>,
        _: &PairsSubject,
        candidate: &LearnerCandidate<'_>,
    ) -> Result<Vec<GridCell<Self>>, Problem> {
        // An external learner validates as it likes.
        let validations = if candidate.is_external() { 1 } else { section.get(&VALIDATIONS) };
        Ok(vec![(strings(section), PairMeasure { validations })])
    }

    fn root(plan: &Plan<Self>) -> Seed {
        // Without settings: runs that differ in a learning rate alone start from the same weights.
        let what = [plan.subject.as_str(), &plan.learner.name];
        Seed::new(plan.seed).derive("pairs").derive(&what.join("/"))
    }

    fn task(_: &Plan<Self>, subject: &PairsSubject) -> RoleTask {
        RoleTask::NextSymbol(subject.vocabulary)
    }

    fn estimate(plan: &Plan<Self>, _: &PairsSubject) -> RunEstimate {
        RunEstimate { cost: cost(plan), seconds: None, memory: memory(plan) }
    }

    /// Whether the output layer is trained decides what is learned: a run in which that is not as its reading has it is another one.
    fn coordinates(plan: &Plan<Self>) -> Coordinates {
        let trained = plan.learner.settings.find(&keys::TRAIN_OUTPUT);
        let usual = plan.reading == Reading::Corrected;
        Coordinates::default()
            .with_some(keys::TRAIN_OUTPUT.name(), trained.filter(|trained| *trained != usual))
    }

    fn load(plan: &Plan<Self>) -> Result<Data, LabError> {
        Data::of(plan)
    }

    fn execute(plan: &Plan<Self>, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        fit(plan, data, context)
    }
}

fn strings(section: &Section<Pairs>) -> PairStrings {
    PairStrings {
        training: section.get(&TRAINING),
        validation: section.get(&VALIDATION),
        test: section.get(&TEST),
        out_of_distribution: section.get(&OUT_OF_DISTRIBUTION),
        lengths: section.get(&LENGTHS),
        greater_lengths: section.get(&GREATER_LENGTHS),
        distinct: section.get(&DISTINCT),
    }
}

/// About microseconds, from runs on an ordinary machine.
fn cost(plan: &PairsPlan) -> f64 {
    let PairStrings { training, test, out_of_distribution, lengths, greater_lengths, .. } = plan.data;
    let symbols = |span: Span| f64::midpoint(span.first as f64, span.last as f64);
    let evaluated =
        2.0 * (test as f64 * symbols(lengths) + out_of_distribution as f64 * symbols(greater_lengths));
    let Some(parameters) = plan.learner.parameters else { return evaluated };
    let epochs = plan.learner.settings.get(&keys::EPOCHS) as f64;
    let trained = 3.0 * epochs * training as f64 * symbols(lengths);
    (trained + evaluated) * (1.0 + parameters as f64 / 20_000.0)
}
