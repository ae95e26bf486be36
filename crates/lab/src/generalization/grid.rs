//! The fields of `[[generalization]]` that are its own, and the cells of its grid. What is left out is as in Lan, Chemla and Katzir
//! 2023.

use wug_dataset::Seed;
use wug_dataset::corpus::{PRIOR, SEED, TEST_SIZE};
use wug_language::Reading;
use wug_language::registry::keys as keys_of_languages;
use wug_learner::registry::{NextSymbolLoss, NextSymbolRole, Role, find, keys};
use wug_parameter::{Constant, Key, Parameter, ValueLimits, parameters};
use wug_score::plan::{
    Criterion, Generalization, GeneralizationData, Plan, StepMeasure, TestPlan, TestSlice, TestStart,
};
use wug_score::{Coordinate, Coordinates, index_sizes};

use super::GeneralizationPlan;
use super::data::Data;
use super::distinct::distinct;
use super::fit::fit;
use super::language::LanguageWithPrior;
use super::memory::memory;
use crate::LabError;
use crate::context::RunContext;
use crate::expand::{GridCell, LearnerCandidate, PlannedCell};
use crate::plan::RunEstimate;
use crate::protocol::{Defaults, Outcome, Protocol};
use crate::spec::grid::{ensure, nonempty};
use crate::spec::sizes::RoleTask;
use crate::spec::{DataSeeds, Problem, Section};

const ORDER: Key<usize> = Key::count("order", "N: train on 10ᴺ/b strings, test on the next 10ᴺ·b", 1..=6, 3);
const FACTORS: Key<Vec<usize>> =
    Key::count("factors", "the values of b, each with runs of its own", 1..=1_000_000, 1)
        .list(Constant::Counts(&[1, 2, 4, 10]));
pub(super) const PRIORS: Key<Vec<f64>> = keys_of_languages::PRIOR
    .named("priors")
    .meaning("prior probabilities in a language's distribution, each with runs of its own")
    .list(Constant::Reals(&[PRIOR]));
const DATA_SEED: Key<DataSeeds> =
    DataSeeds::key("data_seed").or(Constant::Count(SEED as u64)).formerly(&["data.seed"]);
const MARGINS: Key<Vec<f64>> =
    Key::real("margins", "the values of ε, each evaluated apart", ValueLimits::Between(0.0, 1.0), 0.0)
        .list(Constant::Reals(&[0.005, 0.0]));
pub(super) const MEASURE: Key<Option<Criterion>> =
    Key::choice("measure", "what a correct step is", "deterministic")
        .derived("deterministic where a language has steps with one possible symbol, else categorical");
const FROM: Key<TestStart> = Key::choice("test.from", "where test strings begin", TestStart::Longest.name());
const AFTER: Key<TestSlice> = Key::choice(
    "test.after",
    "how \"right after the longest training string\" is read",
    TestSlice::Longer.name(),
)
.published(Constant::Name(TestSlice::Square.name()));
const STRINGS: Key<Option<usize>> = Key::count("test.strings", "strings to test on", 1..=1_000_000, 1)
    .derived("10ᴺ·b after the longest training string, 10ᴺ from the first string");

/// The most strings of a test.
const MAX_TESTED: usize = 1_000_000;

/// A language with its prior, at a factor: all that its data depend on but their seed.
pub struct GeneralizationSubject {
    language: LanguageWithPrior,
    factor: usize,
}

impl AsRef<str> for GeneralizationSubject {
    fn as_ref(&self) -> &str {
        &self.language.spelled
    }
}

impl Protocol for Generalization {
    type Subject = GeneralizationSubject;
    type Loaded = Data;

    const FORMER_NAMES: &'static [&'static str] = &["index"];
    const SUMMARY: &'static str = "train on 10ᴺ/b strings, predict every step of the next 10ᴺ·b";
    const ROLE: Role = Role::NextSymbol;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "stack-lstm", "baby-ntm"], seeds: 3, first_seed: 100 };
    const FIELDS: &'static [Parameter] =
        parameters![ORDER, FACTORS, PRIORS, DATA_SEED, MARGINS, MEASURE, FROM, AFTER, STRINGS];
    const COMPARED: &'static [&'static str] = &["prior"];

    fn cells(section: &Section<Self>) -> Result<usize, Problem> {
        check(section)?;
        Ok(section.get(&PRIORS).len() * section.get(&FACTORS).len())
    }

    fn subjects(section: &Section<Self>) -> Result<Vec<GeneralizationSubject>, Problem> {
        let (priors, factors) = (section.get(&PRIORS), section.get(&FACTORS));
        let mut subjects = Vec::new();
        for named in &section.languages {
            let each = LanguageWithPrior::each(named, &priors, section.reading, section.get(&MEASURE))?;
            for language in each {
                subjects.extend(
                    factors
                        .iter()
                        .map(|&factor| GeneralizationSubject { language: language.clone(), factor }),
                );
            }
        }
        Ok(subjects)
    }

    fn data_seeds(section: &Section<Self>) -> DataSeeds {
        section.get(&DATA_SEED)
    }

    fn variants(
        section: &Section<Self>,
        subject: &GeneralizationSubject,
        _: &LearnerCandidate<'_>,
    ) -> Result<Vec<GridCell<Self>>, Problem> {
        let order = section.get(&ORDER) as u32;
        // `check` has refused factors that do not divide.
        let (training, _) = index_sizes(order, subject.factor).unwrap_or_default();
        let test = TestPlan {
            from: section.get(&FROM),
            after: section.get(&AFTER),
            strings: tested(section, subject.factor),
        };
        let (factor, prior) = (subject.factor, subject.language.prior);
        let data = GeneralizationData { order, factor, training, prior, test };
        let measure = StepMeasure { criterion: subject.language.criterion, margins: section.get(&MARGINS) };
        Ok(vec![(data, measure)])
    }

    /// Runs that differ in regularization alone start from the same weights.
    fn root(plan: &Plan<Self>) -> Seed {
        let what = [plan.subject.as_str(), &plan.learner.name, &plan.data.training.to_string()];
        Seed::new(plan.seed).derive("index").derive(&what.join("/"))
    }

    fn task(_: &Plan<Self>, subject: &GeneralizationSubject) -> RoleTask {
        RoleTask::NextSymbol(subject.language.vocabulary)
    }

    fn settle(
        section: &Section<Self>,
        subject: &GeneralizationSubject,
        plan: &mut Plan<Self>,
    ) -> Result<(), Problem> {
        check_data_seed(section.reading, plan.data_seed.unwrap_or_default())?;
        let v = subject.language.vocabulary;
        // Sets of next symbols are the bits of one word.
        if NextSymbolLoss::of(&plan.learner.settings) == NextSymbolLoss::SigmoidMse && v > 64 {
            let (name, on) = (&plan.learner.name, &plan.subject);
            let message = format!("{name} on {on}: sets of {v} symbols; `sigmoid-mse` takes at most 64");
            return Err(Problem::new("learners", name, message));
        }
        Ok(())
    }

    fn estimate(plan: &Plan<Self>, _: &GeneralizationSubject) -> RunEstimate {
        RunEstimate { cost: cost(plan), seconds: None, memory: memory(plan) }
    }

    fn distinct(plans: Vec<PlannedCell<Self>>) -> Result<Vec<PlannedCell<Self>>, Problem> {
        distinct(plans)
    }

    fn coordinates(plan: &Plan<Self>) -> Coordinates {
        let loss = plan.learner.settings.find(&keys::LOSS).map(NextSymbolLoss::name);
        Coordinates::default().with("factor", plan.data.factor).with_some("loss", loss)
    }

    fn label(plan: &Plan<Self>) -> Vec<String> {
        vec![format!("b={}", plan.data.factor)]
    }

    fn compared(plan: &Plan<Self>, name: &str) -> Option<Coordinate> {
        (name == "prior").then(|| plan.data.prior.into())
    }

    /// The same for runs with the same training and test strings, criterion and margins.
    fn data_key(plan: &Plan<Self>) -> String {
        let Plan { subject, reading, data, data_seed, measure, .. } = plan;
        format!("{subject} {reading} {data_seed:?} {data:?} {measure:?}")
    }

    fn load(plan: &Plan<Self>) -> Result<Data, LabError> {
        Data::of(plan)
    }

    fn execute(plan: &Plan<Self>, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        fit(plan, data, context)
    }
}

/// The published generator takes a seed of 32 bits.
fn check_data_seed(reading: Reading, seed: u64) -> Result<(), Problem> {
    let short = u32::try_from(seed).is_ok();
    let allowed = "up to 4294967295 for the published generator";
    ensure(reading == Reading::Corrected || short, DATA_SEED.name(), &seed, allowed)
}

fn check(section: &Section<Generalization>) -> Result<(), Problem> {
    let (order, factors, after) = (section.get(&ORDER), section.get(&FACTORS), section.get(&AFTER));
    nonempty(PRIORS.name(), &section.get(&PRIORS))?;
    for factor in &factors {
        let base = 10_usize.pow(order as u32);
        let allowed = format!("a number that divides {base}, 10 to the `order`");
        let divides = index_sizes(order as u32, *factor).is_some();
        ensure(divides, FACTORS.name(), factor, &allowed)?;
    }
    if section.reading == Reading::Corrected && after != TestSlice::Longer {
        let given = after.name();
        let message = format!(
            "`{given}` is a slice of the released tests and needs `reading = \"published\"`; corrected tests are `longer`"
        );
        return Err(Problem::new(AFTER.name(), given, message));
    }
    let (most, which) = match section.reading {
        Reading::Published => (TEST_SIZE, "released "),
        Reading::Corrected => (MAX_TESTED, ""),
    };
    for &factor in &factors {
        let strings = tested(section, factor);
        let fits = (1..=most).contains(&strings);
        let allowed = format!("such that {strings} test strings are not more than the {most} {which}ones");
        // The error names the field to change: `test.strings` if it is given, the order if no factor fits, else the factor.
        if section.gives(&STRINGS) {
            let allowed = format!("from 1 to {most} {which}test strings");
            ensure(fits, STRINGS.name(), &strings, &allowed)?;
        } else if tested(section, 1) > most {
            ensure(fits, ORDER.name(), &order, &allowed)?;
        } else {
            ensure(fits, FACTORS.name(), &factor, &allowed)?;
        }
    }
    Ok(())
}

/// How many strings to test on: `test.strings`, or 10ᴺ·b after the longest, or 10ᴺ from the first.
fn tested(section: &Section<Generalization>, factor: usize) -> usize {
    let order = section.get(&ORDER) as u32;
    let first = section.get(&FROM) == TestStart::First;
    let (_, next) = index_sizes(order, factor).unwrap_or((0, 0));
    section.get(&STRINGS).unwrap_or(if first { 10_usize.pow(order) } else { next })
}

/// About microseconds, from runs on an ordinary machine.
fn cost(plan: &GeneralizationPlan) -> f64 {
    let strings = plan.data.test.strings;
    let evaluated = strings as f64 * strings.min(2000) as f64;
    let settings = &plan.learner.settings;
    let role =
        find(&plan.learner.name, Role::NextSymbol).ok().and_then(|learner| learner.next_symbol.as_ref());
    if let Some(NextSymbolRole::Search(search)) = role {
        return 4.0 * (search.evaluations)(settings) + 0.05 * evaluated;
    }
    let Some(epochs) = settings.find(&keys::EPOCHS) else { return 0.05 * evaluated };
    let [layers, hidden] = [keys::LAYERS, keys::HIDDEN].map(|key| settings.find(&key).unwrap_or(1) as f64);
    let unit = 1.0 + layers * hidden * hidden / 1000.0;
    // One batch of all strings has few distinct ones; in smaller batches every string costs time.
    let trained = match settings.find(&keys::BATCH).flatten() {
        None => 600.0 * unit,
        Some(_) => plan.data.training as f64 * 100.0 * unit,
    };
    // Networks with a memory are evaluated string by string.
    let per_step = if settings.has(keys::ROWS.name()) { 3.0 } else { 0.3 } * unit;
    epochs as f64 * trained + per_step * evaluated
}

/// A language's name with its prior, as the registry reads it.
pub(super) fn with_prior(language: &str, prior: f64) -> String {
    let sign = if language.contains(':') { ',' } else { ':' };
    format!("{language}{sign}prior={prior}")
}
