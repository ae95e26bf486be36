//! The fields of `[[pairs]]` that are its own.

use std::fmt::Display;

use serde::Deserialize;
use wug_dataset::pairs::PairSizes as Sizes;
use wug_dataset::suite::parse_lengths;
use wug_language::registry::Named;
use wug_language::{LengthRange, Reading};
use wug_learner::registry::{NextSymbolLoss, Role};
use wug_parameter::Constant;

use super::Pairs;
use super::plan::{DataPlan, Plan};
use crate::fit::planned::built;
use crate::names::Precision;
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::ensure;
use crate::spec::sizes::Sizes as Dimensions;
use crate::spec::{DataSeeds, LearnerGrid, Problem, Section};

/// The fields as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grid {
    data: DataSpec,
    validations: usize,
}

/// `data` as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DataSpec {
    seed: DataSeeds,
    training: usize,
    validation: usize,
    test: usize,
    out_of_distribution: usize,
    lengths: String,
    greater_lengths: String,
    distinct: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Self { data: DataSpec::default(), validations: 1 }
    }
}

impl Default for DataSpec {
    fn default() -> Self {
        let Sizes { training, validation, test, out_of_distribution, lengths, greater_lengths, distinct } =
            Sizes::default();
        let text = |range: &LengthRange| format!("{}..{}", range.start(), range.end());
        Self {
            seed: DataSeeds::OfRun,
            training,
            validation,
            test,
            out_of_distribution,
            lengths: text(&lengths),
            greater_lengths: text(&greater_lengths),
            distinct,
        }
    }
}

/// The most strings of a part.
const MAX_STRINGS: usize = 10_000_000;

/// The most validations in an epoch.
const MAX_VALIDATIONS: usize = 1000;

/// A language and the number of symbols of its vocabulary, the boundary included.
struct Subject {
    spelled: String,
    vocabulary: usize,
}

impl Protocol for Pairs {
    const NAME: &'static str = "pairs";
    const SUMMARY: &'static str =
        "train on strings, then prefer the grammatical one of two, at seen and at greater lengths";
    const ROLE: Role = Role::NextSymbol;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "joulin-stack-rnn", "transformer"], seeds: 10, first_seed: 0 };

    /// The faults of the released code: the output layer is not trained, and dropout stays on where pairs are scored.
    const PUBLISHED: &'static [(&'static str, Constant)] =
        &[("train_output", Constant::Switch(false)), ("scoring_dropout", Constant::Switch(true))];

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<usize, Problem> {
        let grid = &section.own;
        let within = (1..=MAX_VALIDATIONS).contains(&grid.validations);
        ensure(within, "validations", &grid.validations, &format!("from 1 to {MAX_VALIDATIONS}"))?;
        grid.data.check()?;
        // Outputs of the other loss are sets of symbols, and strings have no probability.
        let by_sets = |learner: &&LearnerGrid| {
            learner.settings.iter().any(|s| NextSymbolLoss::of(s) != NextSymbolLoss::CrossEntropy)
        };
        if section.learners.iter().any(|learner| by_sets(&learner)) {
            let allowed = "`cross-entropy`: pairs are compared by the probabilities of strings";
            return Err(Problem::value("loss", NextSymbolLoss::SigmoidMse.name(), allowed));
        }
        section.check_size([grid.data.seed.len()])
    }

    /// Seeds outermost, so that a sweep that is cut short has some runs of every kind; runs on the same strings follow each other.
    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        let grid = &section.own;
        let subjects: Vec<Subject> = section
            .languages
            .iter()
            .map(|named| grid.data.subject(named, section.reading))
            .collect::<Result<_, _>>()?;
        let (mut plans, mut dimensions) = (Vec::new(), Dimensions::default());
        let seeds = section.seeds.clone();
        let runs = seeds.flat_map(|seed| grid.data.seed.of(seed).into_iter().map(move |data| (seed, data)));
        for (seed, data_seed) in runs {
            for subject in &subjects {
                for (learner, size) in learners(section, seed) {
                    for settings in &learner.settings {
                        let mut plan = Plan {
                            language: subject.spelled.clone(),
                            reading: section.reading,
                            data: grid.data.plan(data_seed)?,
                            // A learner from elsewhere validates as it likes.
                            validations: if learner.is_foreign() { 1 } else { grid.validations },
                            seed,
                            precision: precision(section, learner),
                            learner: learner.learner.name.to_owned(),
                            settings: settings.clone(),
                            size,
                            parameters: None,
                        };
                        let drawn = learner.drawn(settings, plan.root().derive("hyperparameters"));
                        let on = (subject.spelled.as_str(), subject.vocabulary);
                        (plan.settings, plan.parameters) =
                            built(learner, drawn, on, (size, section.matching), &mut dimensions)?;
                        plans.push(plan);
                    }
                }
            }
        }
        Ok(plans)
    }
}

/// The precision of runs. In the published reading pairs are compared in it, whoever the learner is.
fn precision(section: &Section<Grid>, learner: &LearnerGrid) -> Precision {
    match section.reading {
        Reading::Published => section.precision,
        Reading::Corrected => learner.precision(section.precision),
    }
}

/// The learners of a seed, in each size. Baselines have no size and are deterministic: one seed is enough for each set of strings.
fn learners(section: &Section<Grid>, seed: u64) -> Vec<(&LearnerGrid, Option<usize>)> {
    let first = seed == section.seeds.start || section.own.data.seed == DataSeeds::OfRun;
    let sizes = |grid: &LearnerGrid| match (grid.learner.is_deterministic(), first) {
        (false, _) => section.asked_sizes(),
        (true, true) => vec![None],
        (true, false) => vec![],
    };
    section.learners.iter().flat_map(|grid| sizes(grid).into_iter().map(move |size| (grid, size))).collect()
}

impl DataSpec {
    fn check(&self) -> Result<(), Problem> {
        self.seed.check("data.seed")?;
        for (field, size) in [
            ("data.training", self.training),
            ("data.validation", self.validation),
            ("data.test", self.test),
            ("data.out_of_distribution", self.out_of_distribution),
        ] {
            let allowed = format!("from 1 to {MAX_STRINGS}");
            ensure((1..=MAX_STRINGS).contains(&size), field, &size, &allowed)?;
        }
        self.plan(0).map(|_| ())
    }

    fn plan(&self, seed: u64) -> Result<DataPlan, Problem> {
        let range = |field: &str, text: &str| {
            let allowed = "a range such as `4..30`, both ends included";
            let range = parse_lengths(text).ok_or_else(|| Problem::value(field, text, allowed))?;
            Ok::<_, Problem>([*range.start(), *range.end()])
        };
        let (lengths, greater_lengths) =
            (range("data.lengths", &self.lengths)?, range("data.greater_lengths", &self.greater_lengths)?);
        if greater_lengths[0] <= lengths[1] {
            let allowed = format!("a range above `data.lengths`, which is {}", self.lengths);
            return Err(Problem::value("data.greater_lengths", &self.greater_lengths, &allowed));
        }
        Ok(DataPlan {
            seed,
            training: self.training,
            validation: self.validation,
            test: self.test,
            out_of_distribution: self.out_of_distribution,
            lengths,
            greater_lengths,
            distinct: self.distinct,
        })
    }

    /// Checks all that can be checked without drawing strings.
    fn subject(&self, named: &Named, reading: Reading) -> Result<Subject, Problem> {
        let problem = |message: &dyn Display| Problem::of_language(named, message);
        let language = named.build(reading).map_err(|error| problem(&error))?;
        let sizes = self.plan(0)?.sizes();
        sizes.check(language.as_ref()).map_err(|error| problem(&error))?;
        for lengths in [&sizes.lengths, &sizes.greater_lengths] {
            language.by_length(lengths.clone()).map_err(|error| problem(&error))?;
        }
        let hint = "with `data.distinct = false` strings may be drawn again";
        sizes.check_distinct(language.as_ref()).map_err(|error| problem(&format_args!("{error}; {hint}")))?;
        Ok(Subject { spelled: named.spelled(), vocabulary: language.alphabet().len() + 1 })
    }
}
