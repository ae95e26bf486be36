//! The fields of `[[recognition]]` that are its own. What is left out is as in Butoi et al. 2025.

use serde::Deserialize;
use wug_language::Reading;
use wug_language::registry::Named;
use wug_learner::model::LossWeights;
use wug_learner::registry::{Learner, Role, Settings};

use super::Recognition;
use super::number_or_range::NumberOrRange;
use super::plan::{DataPlan, Loss, Match, Plan, Validation};
use super::source::DataSpec;
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::{each, ensure, named, names, one_or_more};
use crate::spec::{Problem, Section};

/// The fields as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grid {
    #[serde(deserialize_with = "one_or_more")]
    losses: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    validation: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    sizes: Vec<usize>,
    matching: String,
    learning_rate: NumberOrRange,
    batch_symbols: NumberOrRange,
    loss_weight: NumberOrRange,
    clip: f64,
    decay: f64,
    decay_patience: usize,
    patience: usize,
    max_epochs: usize,
    data: DataSpec,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            losses: Loss::ALL.iter().map(|l| l.name().to_owned()).collect(),
            validation: names(&["short", "long"]),
            sizes: vec![64_000],
            matching: "published".to_owned(),
            learning_rate: NumberOrRange::Between([1e-4, 1e-2]),
            batch_symbols: NumberOrRange::Between([128.0, 4096.0]),
            loss_weight: NumberOrRange::Between([0.01, 10.0]),
            clip: 5.0,
            decay: 0.5,
            decay_patience: 4,
            patience: 10,
            max_epochs: 1000,
            data: DataSpec::default(),
        }
    }
}

/// A language and where its strings come from.
struct LanguageData {
    spelled: String,
    alphabet: usize,
    data: DataPlan,
}

/// One cell of the grid, beside its language.
#[derive(Clone, Copy)]
struct Cell<'a> {
    size: usize,
    learner: &'static Learner,
    settings: &'a Settings,
    loss: Loss,
    validation: Validation,
    seed: u64,
    data_seed: u64,
}

/// The values that names in the grid stand for.
struct Names {
    losses: Vec<Loss>,
    validations: Vec<Validation>,
    matching: Match,
}

impl Protocol for Recognition {
    const NAME: &'static str = "recognition";
    const SUMMARY: &'static str = "train on short labelled strings, recognise long ones";
    const ROLE: Role = Role::Recognizer;
    const DEFAULTS: Defaults =
        Defaults { learners: &["transformer", "rnn", "lstm"], seeds: 10, first_seed: 0 };

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<(), Problem> {
        section.own.check_numbers()?;
        let names = section.own.names()?;
        let grid = &section.own;
        section.check_size([grid.data.sets(), grid.sizes.len(), names.losses.len(), names.validations.len()])
    }

    /// Seeds outermost, so that a sweep that is cut short has some runs of every kind.
    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        let grid = &section.own;
        let names = grid.names()?;
        let languages: Vec<LanguageData> = section
            .languages
            .iter()
            .map(|named| grid.language(named, section.reading))
            .collect::<Result<_, _>>()?;
        let mut plans = Vec::new();
        let runs = section
            .seeds
            .clone()
            .flat_map(|seed| grid.data.seeds(seed).into_iter().map(move |data_seed| (seed, data_seed)));
        for (seed, data_seed) in runs {
            for language in &languages {
                for &size in &grid.sizes {
                    for (learner, settings) in
                        section.learners.iter().flat_map(|l| l.settings.iter().map(|s| (l.learner, s)))
                    {
                        for &loss in &names.losses {
                            for &validation in &names.validations {
                                let cell =
                                    Cell { size, learner, settings, loss, validation, seed, data_seed };
                                plans.push(grid.plan(section, &names, language, cell)?);
                            }
                        }
                    }
                }
            }
        }
        Ok(plans)
    }
}

impl Grid {
    fn names(&self) -> Result<Names, Problem> {
        Ok(Names {
            losses: each("losses", &self.losses, Loss::ALL, Loss::name)?,
            validations: each("validation", &self.validation, Validation::ALL, Validation::name)?,
            matching: named("matching", &self.matching, Match::ALL, Match::name)?,
        })
    }

    fn plan(
        &self,
        section: &Section<Self>,
        names: &Names,
        language: &LanguageData,
        cell: Cell<'_>,
    ) -> Result<Plan, Problem> {
        let mut plan = Plan {
            language: language.spelled.clone(),
            reading: section.reading,
            data: language.data.clone().drawn_with(cell.data_seed),
            learner: cell.learner.name.to_owned(),
            settings: cell.settings.clone(),
            size: cell.size,
            matching: names.matching,
            loss: cell.loss,
            validation: cell.validation,
            seed: cell.seed,
            learning_rate: 0.0,
            batch_symbols: 0,
            weights: LossWeights::default(),
            clip: self.clip,
            decay: self.decay,
            decay_patience: self.decay_patience,
            patience: self.patience,
            max_epochs: self.max_epochs,
            precision: section.precision,
        };
        self.draw(&mut plan);
        match plan.model(language.alphabet) {
            Ok(_) => Ok(plan),
            Err(error) => {
                let message = format!("{} on {}: {error}", plan.learner, plan.language);
                Err(Problem::new("losses", cell.loss.name(), message))
            }
        }
    }

    /// Each hyperparameter from a stream of its own name.
    fn draw(&self, plan: &mut Plan) {
        let seed = plan.root().derive("hyperparameters");
        plan.learning_rate = self.learning_rate.log_uniform(seed.derive("learning-rate"));
        plan.batch_symbols = self.batch_symbols.integer(seed.derive("batch-symbols"));
        let (lm, ns) = plan.loss.heads();
        let weight = |head: bool, name: &str| {
            if head { self.loss_weight.log_uniform(seed.derive(name)) } else { 0.0 }
        };
        plan.weights =
            LossWeights { language_modeling: weight(lm, "weight/lm"), next_symbols: weight(ns, "weight/ns") };
    }

    fn check_numbers(&self) -> Result<(), Problem> {
        self.learning_rate.check("learning_rate")?;
        self.batch_symbols.check_whole("batch_symbols")?;
        self.loss_weight.check("loss_weight")?;
        ensure(self.clip > 0.0 && self.clip.is_finite(), "clip", &self.clip, "a number above 0")?;
        ensure(self.decay > 0.0 && self.decay <= 1.0, "decay", &self.decay, "above 0, up to 1")?;
        ensure(self.patience > 0, "patience", &self.patience, "at least 1")?;
        ensure(self.max_epochs > 0, "max_epochs", &self.max_epochs, "at least 1")?;
        ensure(!self.sizes.is_empty(), "sizes", &"[]", "at least one number of parameters")?;
        for size in &self.sizes {
            let allowed = "from 1000 to 100000000 parameters";
            ensure((1_000..=100_000_000).contains(size), "sizes", size, allowed)?;
        }
        self.data.check()
    }

    fn language(&self, named: &Named, reading: Reading) -> Result<LanguageData, Problem> {
        let problem = |message: String| Problem::new("languages", named.entry.name, message);
        let language = named.build(reading).map_err(|error| problem(error.to_string()))?;
        let data = self.data.plan(named, reading, language.as_ref())?;
        Ok(LanguageData { spelled: named.spelled(), alphabet: language.alphabet().len(), data })
    }
}
