//! A grid of runs as somebody wrote it. What is left out is as in the paper.

use serde::Deserialize;
use wug_dataset::corpus::{PRIOR, SEED, TEST_SIZE};
use wug_language::Reading;
use wug_language::registry::Named;
use wug_score::index_sizes;
use wug_score::strata::Margin;

use super::learner::{Learner, Loss, Settings};
use super::plan::{Measure, Place, Plan, TestPlan, TestStart};
use super::settings::{Batch, NetworkGrid, TemperatureSpec};
use super::subject::Subject;
use crate::names::Precision;
use crate::plan::RunPlan;
use crate::spec::grid::{self, each, named, names, nonempty, number, one_or_more, some};
use crate::spec::{Problem, Section};

/// `[[generalization]]` in an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    reading: String,
    #[serde(deserialize_with = "one_or_more")]
    languages: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    learners: Vec<String>,
    order: u32,
    #[serde(deserialize_with = "one_or_more")]
    factors: Vec<usize>,
    #[serde(deserialize_with = "one_or_more")]
    priors: Vec<f64>,
    data_seed: u64,
    seeds: u64,
    first_seed: u64,
    #[serde(deserialize_with = "one_or_more")]
    margins: Vec<f64>,
    precision: String,
    measure: Option<String>,
    #[serde(deserialize_with = "one_or_more")]
    losses: Vec<String>,
    #[serde(deserialize_with = "some")]
    hidden: Option<Vec<usize>>,
    layers: usize,
    #[serde(deserialize_with = "some")]
    regularization: Option<Vec<String>>,
    #[serde(deserialize_with = "one_or_more")]
    lambda: Vec<f64>,
    #[serde(deserialize_with = "some")]
    epochs: Option<Vec<usize>>,
    learning_rate: Option<f64>,
    batch: Option<Batch>,
    shuffle: bool,
    #[serde(deserialize_with = "some")]
    memory: Option<Vec<usize>>,
    test_memory: usize,
    memory_width: usize,
    #[serde(deserialize_with = "one_or_more")]
    gates: Vec<String>,
    temperature: TemperatureSpec,
    test: TestSpec,
}

/// The test strings, as somebody wrote them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TestSpec {
    from: Option<String>,
    after: Option<String>,
    strings: Option<usize>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            reading: Reading::default().name().to_owned(),
            languages: names(&["all"]),
            learners: names(&["lstm", "stack-lstm", "baby-ntm"]),
            order: 3,
            factors: vec![1, 2, 4, 10],
            priors: vec![PRIOR],
            data_seed: u64::from(SEED),
            seeds: 3,
            first_seed: 100,
            margins: vec![0.005, 0.0],
            precision: "f32".to_owned(),
            measure: None,
            losses: names(&[Loss::CrossEntropy.name()]),
            hidden: None,
            layers: 1,
            regularization: None,
            lambda: vec![1.0, 0.1, 0.01],
            epochs: None,
            learning_rate: None,
            batch: None,
            shuffle: false,
            memory: None,
            test_memory: 2050,
            memory_width: 5,
            gates: names(&["softmax"]),
            temperature: TemperatureSpec::default(),
            test: TestSpec::default(),
        }
    }
}

/// The most strings of a test.
const MOST_TESTED: usize = 1_000_000;

/// The names in a spec, understood.
struct Names {
    reading: Reading,
    languages: Vec<Named>,
    learners: Vec<Learner>,
    precision: Precision,
    measure: Option<Measure>,
    from: TestStart,
    after: Place,
}

impl Section for Spec {
    fn check(&self) -> Result<(), Problem> {
        let names = self.names()?;
        self.check_numbers(names.reading)?;
        let ways = names.learners.iter().map(|&learner| self.wanted().of(learner).map(|ways| ways.len()));
        let ways = ways.sum::<Result<usize, Problem>>()?;
        let cells = [names.languages.len(), self.priors.len(), self.factors.len(), ways];
        grid::seeds(self.first_seed, self.seeds, cells)
    }

    /// Seeds outermost, so that a sweep that is cut short has a little of everything; runs on the same strings together.
    fn plans(&self) -> Result<Vec<RunPlan>, Problem> {
        let names = self.names()?;
        let mut subjects = Vec::new();
        for named in &names.languages {
            subjects.extend(Subject::each(named, &self.priors, names.reading, names.measure)?);
        }
        let mut plans = Vec::new();
        for seed in (0..self.seeds).map(|i| self.first_seed + i) {
            for subject in &subjects {
                for &factor in &self.factors {
                    for &learner in &names.learners {
                        // What has nothing to learn from chance needs no second chance.
                        if learner.body().is_none() && seed > self.first_seed {
                            continue;
                        }
                        for way in self.wanted().of(learner)? {
                            let plan = self.plan(&names, subject, (seed, factor), learner, way)?;
                            plans.push(RunPlan::Generalization(plan));
                        }
                    }
                }
            }
        }
        Ok(plans)
    }
}

impl Spec {
    fn names(&self) -> Result<Names, Problem> {
        let reading = named("reading", &self.reading, &Reading::ALL, Reading::name)?;
        let from = self.test.from.as_deref().unwrap_or(TestStart::Longest.name());
        let usual = match reading {
            Reading::Published => Place::Square,
            Reading::Corrected => Place::Longer,
        };
        let after = self.test.after.as_deref().unwrap_or(usual.name());
        let measure = self.measure.as_deref();
        Ok(Names {
            reading,
            languages: grid::languages(&self.languages, "bliss")?,
            learners: each("learners", &self.learners, Learner::ALL, Learner::name)?,
            precision: named("precision", &self.precision, Precision::ALL, Precision::name)?,
            measure: measure.map(|name| named("measure", name, Measure::ALL, Measure::name)).transpose()?,
            from: named("test.from", from, TestStart::ALL, TestStart::name)?,
            after: named("test.after", after, Place::ALL, Place::name)?,
        })
    }

    fn wanted(&self) -> NetworkGrid<'_> {
        NetworkGrid {
            losses: &self.losses,
            hidden: self.hidden.as_deref(),
            layers: self.layers,
            regularization: self.regularization.as_deref(),
            lambda: &self.lambda,
            epochs: self.epochs.as_deref(),
            learning_rate: self.learning_rate,
            batch: self.batch,
            shuffle: self.shuffle,
            memory: self.memory.as_deref(),
            test_memory: self.test_memory,
            memory_width: self.memory_width,
            gates: &self.gates,
            temperature: self.temperature,
        }
    }

    fn check_numbers(&self, reading: Reading) -> Result<(), Problem> {
        self.wanted().check()?;
        nonempty("factors", &self.factors)?;
        nonempty("priors", &self.priors)?;
        nonempty("margins", &self.margins)?;
        number((1..=6).contains(&self.order), "order", &self.order, "from 1 to 6")?;
        for &factor in &self.factors {
            let base = 10_usize.pow(self.order);
            let allowed = format!("a number that divides {base}, 10 to the `order`");
            number(index_sizes(self.order, factor).is_some(), "factors", &factor, &allowed)?;
        }
        for &margin in &self.margins {
            number(Margin::new(margin).is_ok(), "margins", &margin, "from 0 to 1")?;
        }
        let short = u32::try_from(self.data_seed).is_ok();
        let allowed = "up to 4294967295 for the published generator";
        number(reading == Reading::Corrected || short, "data_seed", &self.data_seed, allowed)?;
        let longer = self.test.after.as_deref().is_none_or(|after| after == Place::Longer.name());
        if reading == Reading::Corrected && !longer {
            let given = self.test.after.as_deref().unwrap_or_default();
            let message = format!(
                "`{given}` is a slice of the released tests and needs `reading = \"published\"`; corrected tests are `longer`"
            );
            return Err(Problem::new("test.after", given, message));
        }
        let (most, which) = match reading {
            Reading::Published => (TEST_SIZE, "released "),
            Reading::Corrected => (MOST_TESTED, ""),
        };
        for &factor in &self.factors {
            let tested = self.tested(factor);
            let fits = (1..=most).contains(&tested);
            let allowed = format!("such that {tested} test strings are not more than the {most} {which}ones");
            if self.test.strings.is_some() {
                let allowed = format!("from 1 to {most} {which}test strings");
                number(fits, "test.strings", &tested, &allowed)?;
            } else if self.tested(1) > most {
                number(fits, "order", &self.order, &allowed)?;
            } else {
                number(fits, "factors", &factor, &allowed)?;
            }
        }
        Ok(())
    }

    /// How many strings to test on: 10ᴺ·b of the next ones, 10ᴺ of the first ones, or what is said.
    fn tested(&self, factor: usize) -> usize {
        let first = self.test.from.as_deref() == Some(TestStart::First.name());
        let (_, next) = index_sizes(self.order, factor).unwrap_or((0, 0));
        self.test.strings.unwrap_or(if first { 10_usize.pow(self.order) } else { next })
    }

    fn plan(
        &self,
        names: &Names,
        subject: &Subject,
        (seed, factor): (u64, usize),
        kind: Learner,
        learner: Option<Settings>,
    ) -> Result<Plan, Problem> {
        if let Some((body, settings)) = kind.body().zip(learner.as_ref()) {
            let message = |error: String| {
                Problem::new(
                    "learners",
                    kind.name(),
                    format!("{} on {}: {error}", kind.name(), subject.spelled),
                )
            };
            settings.model(body, subject.vocabulary).map_err(|error| message(error.to_string()))?;
            if settings.loss == Loss::SigmoidMse && subject.vocabulary > 64 {
                let given = subject.vocabulary;
                return Err(message(format!("sets of {given} symbols; `sigmoid-mse` has room for 64")));
            }
        }
        let (training, _) = index_sizes(self.order, factor).unwrap_or_default();
        Ok(Plan {
            language: subject.spelled.clone(),
            reading: names.reading,
            order: self.order,
            factor,
            training,
            prior: subject.prior,
            data_seed: self.data_seed,
            test: TestPlan { from: names.from, after: names.after, strings: self.tested(factor) },
            measure: subject.measure,
            margins: self.margins.clone(),
            seed,
            precision: names.precision,
            kind,
            learner,
        })
    }
}
