//! The fields of `[[generalization]]` that are its own. What is left out is as in Lan, Chemla and Katzir 2023.

use serde::Deserialize;
use wug_dataset::corpus::{PRIOR, SEED, TEST_SIZE};
use wug_language::Reading;
use wug_learner::registry::{Matching, NextSymbolLoss, Role, Settings};
use wug_score::index_sizes;
use wug_score::strata::Margin;

use super::Generalization;
use super::distinct::distinct;
use super::language::LanguageWithPrior;
use super::plan::{Measure, Plan, TestPlan, TestSlice, TestStart};
use crate::fit::planned::built;
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::{ensure, named, nonempty, one_or_more};
use crate::spec::sizes::Sizes;
use crate::spec::{DataSeeds, LearnerGrid, Problem, Section};

/// The fields as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grid {
    order: u32,
    #[serde(deserialize_with = "one_or_more")]
    factors: Vec<usize>,
    #[serde(deserialize_with = "one_or_more")]
    priors: Vec<f64>,
    data_seed: DataSeeds,
    #[serde(deserialize_with = "one_or_more")]
    margins: Vec<f64>,
    measure: Option<String>,
    test: TestSpec,
}

/// `test` as written in the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TestSpec {
    from: Option<String>,
    after: Option<String>,
    strings: Option<usize>,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            order: 3,
            factors: vec![1, 2, 4, 10],
            priors: vec![PRIOR],
            data_seed: DataSeeds::Fixed(vec![u64::from(SEED)]),
            margins: vec![0.005, 0.0],
            measure: None,
            test: TestSpec::default(),
        }
    }
}

/// The most strings of a test.
const MAX_TESTED: usize = 1_000_000;

/// The values that names in the grid stand for.
struct Names {
    measure: Option<Measure>,
    from: TestStart,
    after: TestSlice,
}

impl Protocol for Generalization {
    const NAME: &'static str = "generalization";
    const SUMMARY: &'static str = "train on 10ᴺ/b strings, predict every step of the next 10ᴺ·b";
    const ROLE: Role = Role::NextSymbol;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "stack-lstm", "baby-ntm"], seeds: 3, first_seed: 100 };

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<usize, Problem> {
        section.own.names(section.reading)?;
        section.own.check_numbers(section.reading)?;
        let Grid { priors, factors, data_seed, .. } = &section.own;
        section.check_size([priors.len(), factors.len(), data_seed.len()])
    }

    /// Seeds outermost, so that a sweep that is cut short has some runs of every kind; runs on the same strings follow each other.
    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        let grid = &section.own;
        let names = grid.names(section.reading)?;
        let mut languages = Vec::new();
        for named in &section.languages {
            languages.extend(LanguageWithPrior::each(named, &grid.priors, section.reading, names.measure)?);
        }
        let (mut plans, mut sizes) = (Vec::new(), Sizes::default());
        let runs = section
            .seeds
            .clone()
            .flat_map(|seed| grid.data_seed.of(seed).into_iter().map(move |data_seed| (seed, data_seed)));
        for (seed, data_seed) in runs {
            check_data_seed(section.reading, data_seed)?;
            for language in &languages {
                for &factor in &grid.factors {
                    for (learner, size) in learners(section, seed) {
                        for settings in &learner.settings {
                            let cell = Cell { seed, data_seed, factor, learner, settings, size };
                            let mut plan = grid.plan(section, &names, language, cell);
                            plan.settings = learner.drawn(settings, plan.root().derive("hyperparameters"));
                            cell.build(&mut plan, section.matching, language, &mut sizes)?;
                            plans.push(plan);
                        }
                    }
                }
            }
        }
        distinct(plans)
    }

    fn compared(section: &Section<Grid>) -> Vec<&'static str> {
        if section.own.priors.len() > 1 { vec!["prior"] } else { Vec::new() }
    }
}

/// The published generator takes a seed of 32 bits.
fn check_data_seed(reading: Reading, seed: u64) -> Result<(), Problem> {
    let short = u32::try_from(seed).is_ok();
    let allowed = "up to 4294967295 for the published generator";
    ensure(reading == Reading::Corrected || short, "data_seed", &seed, allowed)
}

/// One cell of the grid, beside its language.
#[derive(Clone, Copy)]
struct Cell<'a> {
    seed: u64,
    data_seed: u64,
    factor: usize,
    learner: &'a LearnerGrid,
    settings: &'a Settings,
    size: Option<usize>,
}

/// The learners of a seed, in each size. Baselines have no size and are deterministic: one seed is
/// enough for each set of strings.
fn learners(section: &Section<Grid>, seed: u64) -> Vec<(&LearnerGrid, Option<usize>)> {
    let first = seed == section.seeds.start || section.own.data_seed == DataSeeds::OfRun;
    let sizes = |grid: &LearnerGrid| match (grid.learner.is_deterministic(), first) {
        (false, _) => section.asked_sizes(),
        (true, true) => vec![None],
        (true, false) => vec![],
    };
    section.learners.iter().flat_map(|grid| sizes(grid).into_iter().map(move |size| (grid, size))).collect()
}

impl Cell<'_> {
    /// Finds the dimensions and counts the parameters; refuses a learner that cannot be built for the language.
    fn build(
        &self,
        plan: &mut Plan,
        matching: Matching,
        language: &LanguageWithPrior,
        sizes: &mut Sizes,
    ) -> Result<(), Problem> {
        let v = language.vocabulary;
        let settings = std::mem::take(&mut plan.settings);
        let (on, how) = ((language.spelled.as_str(), v), (self.size, matching));
        (plan.settings, plan.parameters) = built(self.learner, settings, on, how, sizes)?;
        if NextSymbolLoss::of(&plan.settings) == NextSymbolLoss::SigmoidMse && v > 64 {
            let name = self.learner.learner.name;
            let message = format!(
                "{name} on {}: sets of {v} symbols; `sigmoid-mse` takes at most 64",
                language.spelled
            );
            return Err(Problem::new("learners", name, message));
        }
        Ok(())
    }
}

impl Grid {
    fn names(&self, reading: Reading) -> Result<Names, Problem> {
        let from = self.test.from.as_deref().unwrap_or(TestStart::Longest.name());
        let default = match reading {
            Reading::Published => TestSlice::Square,
            Reading::Corrected => TestSlice::Longer,
        };
        let after = self.test.after.as_deref().unwrap_or(default.name());
        let measure = self.measure.as_deref();
        Ok(Names {
            measure: measure.map(|name| named("measure", name, Measure::ALL, Measure::name)).transpose()?,
            from: named("test.from", from, TestStart::ALL, TestStart::name)?,
            after: named("test.after", after, TestSlice::ALL, TestSlice::name)?,
        })
    }

    fn check_numbers(&self, reading: Reading) -> Result<(), Problem> {
        nonempty("factors", &self.factors)?;
        nonempty("priors", &self.priors)?;
        nonempty("margins", &self.margins)?;
        ensure((1..=6).contains(&self.order), "order", &self.order, "from 1 to 6")?;
        for &factor in &self.factors {
            let base = 10_usize.pow(self.order);
            let allowed = format!("a number that divides {base}, 10 to the `order`");
            ensure(index_sizes(self.order, factor).is_some(), "factors", &factor, &allowed)?;
        }
        for &margin in &self.margins {
            ensure(Margin::new(margin).is_ok(), "margins", &margin, "from 0 to 1")?;
        }
        self.data_seed.check("data_seed")?;
        let longer = self.test.after.as_deref().is_none_or(|after| after == TestSlice::Longer.name());
        if reading == Reading::Corrected && !longer {
            let given = self.test.after.as_deref().unwrap_or_default();
            let message = format!(
                "`{given}` is a slice of the released tests and needs `reading = \"published\"`; corrected tests are `longer`"
            );
            return Err(Problem::new("test.after", given, message));
        }
        let (most, which) = match reading {
            Reading::Published => (TEST_SIZE, "released "),
            Reading::Corrected => (MAX_TESTED, ""),
        };
        for &factor in &self.factors {
            let tested = self.tested(factor);
            let fits = (1..=most).contains(&tested);
            let allowed = format!("such that {tested} test strings are not more than the {most} {which}ones");
            if self.test.strings.is_some() {
                let allowed = format!("from 1 to {most} {which}test strings");
                ensure(fits, "test.strings", &tested, &allowed)?;
            } else if self.tested(1) > most {
                ensure(fits, "order", &self.order, &allowed)?;
            } else {
                ensure(fits, "factors", &factor, &allowed)?;
            }
        }
        Ok(())
    }

    /// How many strings to test on: `test.strings`, or 10ᴺ·b after the longest, or 10ᴺ from the first.
    fn tested(&self, factor: usize) -> usize {
        let first = self.test.from.as_deref() == Some(TestStart::First.name());
        let (_, next) = index_sizes(self.order, factor).unwrap_or((0, 0));
        self.test.strings.unwrap_or(if first { 10_usize.pow(self.order) } else { next })
    }

    fn plan(
        &self,
        section: &Section<Self>,
        names: &Names,
        language: &LanguageWithPrior,
        cell: Cell<'_>,
    ) -> Plan {
        let (training, _) = index_sizes(self.order, cell.factor).unwrap_or_default();
        Plan {
            language: language.spelled.clone(),
            reading: section.reading,
            order: self.order,
            factor: cell.factor,
            training,
            prior: language.prior,
            data_seed: cell.data_seed,
            test: TestPlan { from: names.from, after: names.after, strings: self.tested(cell.factor) },
            measure: language.measure,
            margins: self.margins.clone(),
            seed: cell.seed,
            precision: cell.learner.precision(section.precision),
            learner: cell.learner.learner.name.to_owned(),
            settings: cell.settings.clone(),
            size: cell.size,
            parameters: None,
        }
    }
}
