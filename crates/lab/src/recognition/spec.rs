//! The fields of `[[recognition]]` that are its own.

use serde::Deserialize;
use wug_dataset::Seed;
use wug_language::Reading;
use wug_language::registry::Named;
use wug_learner::model::LossWeights;
use wug_learner::registry::{Matching, Role, Settings, keys};

use super::Recognition;
use super::plan::{DataPlan, Loss, ModelError, Plan, SIZE, Validation};
use super::source::DataSpec;
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::{each, names, one_or_more};
use crate::spec::sizes::Sizes;
use crate::spec::{LearnerGrid, Problem, Section};

/// The fields as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grid {
    #[serde(deserialize_with = "one_or_more")]
    losses: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    validation: Vec<String>,
    data: DataSpec,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            losses: Loss::ALL.iter().map(|l| l.name().to_owned()).collect(),
            validation: names(&["short", "long"]),
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
    size: Option<usize>,
    grid: &'a LearnerGrid,
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
}

impl Protocol for Recognition {
    const NAME: &'static str = "recognition";
    const SUMMARY: &'static str = "train on short labelled strings, recognise long ones";
    const ROLE: Role = Role::Recognizer;
    const PATHS: &'static [&'static str] = &["data.directory"];
    const DEFAULTS: Defaults =
        Defaults { learners: &["transformer", "rnn", "lstm"], seeds: 10, first_seed: 0 };

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<usize, Problem> {
        section.own.data.check()?;
        let names = section.own.names()?;
        section.check_size([section.own.data.sets(), names.losses.len(), names.validations.len()])
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
        let (mut plans, mut sizes) = (Vec::new(), Sizes::default());
        let runs = section
            .seeds
            .clone()
            .flat_map(|seed| grid.data.seeds(seed).into_iter().map(move |data_seed| (seed, data_seed)));
        for (seed, data_seed) in runs {
            for language in &languages {
                for size in section.asked_sizes() {
                    for (grid, settings) in
                        section.learners.iter().flat_map(|l| l.settings.iter().map(move |s| (l, s)))
                    {
                        let sized = grid.given.contains("hidden") || grid.is_foreign();
                        let size = size.or((!sized).then_some(SIZE));
                        // A learner from elsewhere has a loss of its own.
                        let losses = if grid.is_foreign() { &[Loss::R][..] } else { &names.losses };
                        for &loss in losses {
                            for &validation in &names.validations {
                                let cell = Cell { size, grid, settings, loss, validation, seed, data_seed };
                                plans.push(cell.plan(section, language, &mut sizes)?);
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
        })
    }

    fn language(&self, named: &Named, reading: Reading) -> Result<LanguageData, Problem> {
        let language = named.build(reading).map_err(|error| Problem::of_language(named, &error))?;
        let data = self.data.plan(named, reading, language.as_ref())?;
        Ok(LanguageData { spelled: named.spelled(), alphabet: language.alphabet().len(), data })
    }
}

/// The settings of training that plans have in fields of their own.
const MOVED: [&str; 8] = [
    keys::LOSS_WEIGHT.name(),
    keys::LEARNING_RATE.name(),
    keys::CLIP.name(),
    keys::DECAY.name(),
    keys::BATCH_SYMBOLS.name(),
    keys::DECAY_PATIENCE.name(),
    keys::PATIENCE.name(),
    keys::MAX_EPOCHS.name(),
];

impl Cell<'_> {
    fn plan(
        self,
        section: &Section<Grid>,
        language: &LanguageData,
        sizes: &mut Sizes,
    ) -> Result<Plan, Problem> {
        let mut plan = Plan {
            language: language.spelled.clone(),
            reading: section.reading,
            data: language.data.clone().drawn_with(self.data_seed),
            learner: self.grid.learner.name.to_owned(),
            settings: self.settings.clone(),
            size: self.size,
            matching: section.matching,
            parameters: None,
            loss: self.loss,
            validation: self.validation,
            seed: self.seed,
            learning_rate: 0.0,
            batch_symbols: 0,
            weights: LossWeights::default(),
            clip: 0.0,
            decay: 0.0,
            decay_patience: 0,
            patience: 0,
            max_epochs: 0,
            precision: self.grid.precision(section.precision),
        };
        if self.grid.is_foreign() {
            // Nobody finds its dimensions.
            plan.matching = Matching::Nearest;
            return Ok(plan);
        }
        let seed = plan.root().derive("hyperparameters");
        self.train(&mut plan, seed);
        self.match_size(&mut plan, language.alphabet, sizes).map_err(|error| {
            let message = format!("{} on {}: {error}", plan.learner, plan.language);
            Problem::new("losses", self.loss.name(), message)
        })?;
        Ok(plan)
    }

    /// Moves the settings of training to their fields. Each that has a range is drawn from a stream of its own name.
    fn train(&self, plan: &mut Plan, seed: Seed) {
        let (lm, ns) = plan.loss.heads();
        let weight = |head: bool, stream: &str| {
            if head { self.grid.real(self.settings, &keys::LOSS_WEIGHT, seed.derive(stream)) } else { 0.0 }
        };
        plan.weights =
            LossWeights { language_modeling: weight(lm, "weight/lm"), next_symbols: weight(ns, "weight/ns") };
        let mut settings = self.grid.drawn(self.settings, seed);
        plan.learning_rate = settings.get(&keys::LEARNING_RATE);
        plan.clip = settings.get(&keys::CLIP);
        plan.decay = settings.get(&keys::DECAY);
        plan.batch_symbols = settings.get(&keys::BATCH_SYMBOLS);
        plan.decay_patience = settings.get(&keys::DECAY_PATIENCE);
        plan.patience = settings.get(&keys::PATIENCE);
        plan.max_epochs = settings.get(&keys::MAX_EPOCHS);
        for name in MOVED {
            settings.take(name);
        }
        plan.settings = settings;
    }

    /// Finds the dimensions. The size of a learner whose settings have them is the number of parameters that it has.
    fn match_size(&self, plan: &mut Plan, alphabet: usize, sizes: &mut Sizes) -> Result<(), ModelError> {
        let settings = std::mem::take(&mut plan.settings);
        let how = (self.size, plan.matching);
        let found = sizes.matched(plan.role()?, (self.grid, settings), plan.loss.task(alphabet), how)?;
        plan.settings = found.settings;
        plan.parameters = Some(found.parameters);
        plan.size = self.size.or(Some(found.parameters));
        Ok(())
    }
}
