//! The fields of `[[preference]]` that are its own.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Value;
use wug_dataset::Seed;
use wug_dataset::transduction::holdout_order;
use wug_language::Reading;
use wug_learner::registry::{Role, Settings};

use super::Preference;
use super::data::Encoding;
use super::describe::Blocks;
use super::plan::{Measure, OptimizerState, Plan, Work};
use super::tasks::{self, SourcedTask};
use crate::protocol::{Defaults, Protocol};
use crate::spec::grid::{each, ensure, named, names, one_or_more};
use crate::spec::sizes::Sizes;
use crate::spec::{LearnerGrid, Problem, Section};

/// The fields as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grid {
    #[serde(deserialize_with = "one_or_more")]
    tasks: Vec<Value>,
    #[serde(deserialize_with = "one_or_more")]
    files: Vec<PathBuf>,
    data_seed: u64,
    #[serde(deserialize_with = "one_or_more")]
    measures: Vec<String>,
    block_size: Option<Value>,
    optimizer_state: Option<String>,
    max_output: Option<usize>,
}

/// Examples per block, if the task does not decide.
#[derive(Clone, Copy)]
enum BlockSize {
    Count(usize),
    All,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            tasks: Vec::new(),
            files: Vec::new(),
            data_seed: 0,
            measures: names(&[Measure::Agreement.name(), Measure::DescriptionLength.name()]),
            block_size: None,
            optimizer_state: None,
            max_output: None,
        }
    }
}

/// How long outputs may become in fairseq, and here unless a rule has longer ones.
const MAX_OUTPUT: usize = 200;
/// The longest that can be asked for.
const LONGEST_OUTPUT: usize = 100_000;

impl Protocol for Preference {
    const NAME: &'static str = "preference";
    const SUMMARY: &'static str = "train on ambiguous pairs, see which of the named rules is followed";
    const ROLE: Role = Role::Transducer;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "lstm-attention", "cnn", "transformer"], seeds: 10, first_seed: 1 };
    const LANGUAGES: bool = false;
    const PATHS: &'static [&'static str] = &["files"];

    type Grid = Grid;
    type Plan = Plan;

    fn check(section: &Section<Grid>) -> Result<usize, Problem> {
        section.own.check()?;
        let size = section.check_size([tasks::count(&section.own.tasks, &section.own.files)])?;
        let tasks = tasks::all(&section.own.tasks, &section.own.files, section.own.data_seed)?;
        tasks.iter().try_for_each(|task| section.own.check_output(task, section.reading))?;
        Ok(size)
    }

    /// Seeds outermost, so that a sweep that is cut short has some runs of every kind.
    fn plans(section: &Section<Grid>) -> Result<Vec<Plan>, Problem> {
        let grid = &section.own;
        let tasks = tasks::all(&grid.tasks, &grid.files, grid.data_seed)?;
        let (mut plans, mut sizes) = (Vec::new(), Sizes::default());
        for seed in section.seeds.clone() {
            for task in &tasks {
                let work = grid.work(task, section.reading, seed)?;
                for size in section.asked_sizes() {
                    for (learner, settings) in
                        section.learners.iter().flat_map(|l| l.settings.iter().map(move |s| (l, s)))
                    {
                        let cell = Cell { seed, task, learner, settings, size, work };
                        plans.push(cell.plan(section, &mut sizes)?);
                    }
                }
            }
        }
        Ok(plans)
    }
}

/// One cell of the grid.
#[derive(Clone, Copy)]
struct Cell<'a> {
    seed: u64,
    task: &'a SourcedTask,
    learner: &'a LearnerGrid,
    settings: &'a Settings,
    size: Option<usize>,
    work: Work,
}

impl Grid {
    fn check(&self) -> Result<(), Problem> {
        self.measures()?;
        self.optimizer_state(Reading::Corrected)?;
        if let Some(longest) = self.max_output {
            let allowed = format!("from 1 to {LONGEST_OUTPUT}");
            ensure((1..=LONGEST_OUTPUT).contains(&longest), "max_output", &longest, &allowed)?;
        }
        self.given_block_size().map(drop)
    }

    fn given_block_size(&self) -> Result<Option<BlockSize>, Problem> {
        let allowed = "a number of examples from 1 on, or \"all\"";
        let refused = |given: &Value| Problem::value("block_size", &tasks::shown(given), allowed);
        let size = |given: &Value| match given {
            Value::String(name) if name == "all" => Ok(BlockSize::All),
            Value::Integer(n) => match usize::try_from(*n) {
                Ok(n) if n > 0 => Ok(BlockSize::Count(n)),
                _ => Err(refused(given)),
            },
            _ => Err(refused(given)),
        };
        self.block_size.as_ref().map(size).transpose()
    }

    fn measures(&self) -> Result<Vec<Measure>, Problem> {
        let mut measures = each("measures", &self.measures, Measure::ALL, Measure::name)?;
        measures.sort_unstable();
        measures.dedup();
        Ok(measures)
    }

    /// In the released code, the moments of Adam survive when parameters are set to their initial values.
    fn optimizer_state(&self, reading: Reading) -> Result<OptimizerState, Problem> {
        match &self.optimizer_state {
            Some(name) => named("optimizer_state", name, OptimizerState::ALL, OptimizerState::name),
            None => Ok(OptimizerState::usual(reading)),
        }
    }

    fn block_size(&self, task: &SourcedTask) -> Result<usize, Problem> {
        Ok(match self.given_block_size()? {
            None => task.task.block_size,
            Some(BlockSize::Count(size)) => size,
            Some(BlockSize::All) => task.task.unseen().len().max(1),
        })
    }

    /// The least and the most symbols of an output. In the released code, the end cannot come first.
    fn output(&self, task: &SourcedTask, reading: Reading) -> [usize; 2] {
        match reading {
            Reading::Published => [1, self.max_output.unwrap_or(MAX_OUTPUT)],
            Reading::Corrected => [0, self.max_output.unwrap_or(MAX_OUTPUT.max(2 * task.longest.output))],
        }
    }

    /// Refuses a rule that no output can agree with, unless the limit was chosen.
    fn check_output(&self, task: &SourcedTask, reading: Reading) -> Result<(), Problem> {
        let ([_, most], longest) = (self.output(task, reading), task.longest.output);
        let measured = self.measures()?.contains(&Measure::Agreement);
        if longest <= most || self.max_output.is_some() || !measured {
            return Ok(());
        }
        let message = format!(
            "a rule of {} has an output of {longest} symbols, but outputs have at most {most} in the {reading} reading; `max_output = {longest}` allows them",
            task.task.name
        );
        Err(Problem::new(task.field(), &task.task.name, message))
    }

    /// How much there is to train on.
    fn work(&self, task: &SourcedTask, reading: Reading, seed: u64) -> Result<Work, Problem> {
        let rules = &task.task;
        let mean = |symbols: usize, of: usize| symbols as f64 / of.max(1) as f64;
        let of_pair = |input: usize, output: usize| input + output + 2;
        let trained = rules.train.iter().map(|pair| of_pair(pair.input.len(), pair.output.len())).sum();
        let answers = rules.rules.iter().flat_map(|rule| rules.holdout.iter().zip(&rule.outputs));
        let held_out = answers.map(|(input, output)| of_pair(input.len(), output.len())).sum();
        let trainings = if self.measures()?.contains(&Measure::DescriptionLength) {
            let order = holdout_order(rules.unseen().len(), reading, Seed::new(seed));
            let blocks = Blocks::of(rules, &order, self.block_size(task)?);
            [blocks.trainings(), blocks.trainings_without_sharing()]
        } else {
            [1, 1]
        };
        Ok(Work {
            pairs: rules.train.len(),
            holdout: rules.holdout.len(),
            rules: rules.rules.len(),
            symbols: mean(trained, rules.train.len()),
            holdout_symbols: mean(held_out, rules.holdout.len() * rules.rules.len()),
            trainings,
        })
    }
}

impl Cell<'_> {
    fn plan(self, section: &Section<Grid>, sizes: &mut Sizes) -> Result<Plan, Problem> {
        let (grid, task) = (&section.own, &self.task.task);
        let mut plan = Plan {
            task: task.name.clone(),
            source: self.task.source.clone(),
            reading: section.reading,
            data_seed: grid.data_seed,
            measures: grid.measures()?,
            block_size: grid.block_size(self.task)?,
            optimizer_state: grid.optimizer_state(section.reading)?,
            output: grid.output(self.task, section.reading),
            learner: self.learner.learner.name.to_owned(),
            settings: Settings::default(),
            size: self.size,
            parameters: None,
            seed: self.seed,
            precision: self.learner.precision(section.precision),
            work: self.work,
        };
        let settings = self.learner.drawn(self.settings, plan.root().derive("hyperparameters"));
        // What a learner from elsewhere is made of, and its optimiser, is its own affair.
        if self.learner.is_foreign() {
            plan.settings = settings;
            plan.optimizer_state = OptimizerState::usual(section.reading);
            return Ok(plan);
        }
        let name = self.learner.learner.name;
        let problem =
            |error: String| Problem::new("learners", name, format!("{name} on {}: {error}", task.name));
        let role = self.learner.learner.transducer.as_ref();
        let role = role.ok_or_else(|| problem("it is no transducer".to_owned()))?;
        let related = role.check.map_or(Ok(()), |check| check(&settings));
        related.map_err(Problem::from)?;
        let vocabularies = Encoding::of(task, section.reading).vocabularies;
        let how = (self.size, section.matching);
        let found = sizes.matched(role, (self.learner, settings), vocabularies, how);
        let found = found.map_err(|error| problem(error.to_string()))?;
        (plan.settings, plan.parameters) = (found.settings, Some(found.parameters));
        if let Some(max) = (role.build)(&plan.settings, vocabularies).max_len() {
            self.task.longest.check(max).map_err(problem)?;
            if grid.max_output.is_some_and(|most| most > max) {
                let allowed = format!("at most {max} for {name}");
                return Err(Problem::value("max_output", &plan.output[1].to_string(), &allowed));
            }
            plan.output[1] = plan.output[1].min(max);
        }
        Ok(plan)
    }
}
