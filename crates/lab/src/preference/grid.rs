//! The fields of `[[preference]]` that are its own, and the cells of its grid.

use std::cell::RefCell;
use std::collections::BTreeMap;

use wug_dataset::Seed;
use wug_dataset::transduction::holdout_order;
use wug_learner::registry::{Role, find};
use wug_parameter::{Constant, Key, Parameter, parameters};
use wug_score::plan::{
    OptimizerState, Plan, Preference, PreferenceData, PreferenceMeasure, Reading, RuleMeasure, RuleTaskSource,
};

use super::cost::{self, Work};
use super::data::{Data, Encoding};
use super::describe::Blocks;
use super::run::execute;
use super::tasks::{self, SourcedTask, TASKS};
use crate::LabError;
use crate::context::RunContext;
use crate::expand::{GridCell, LearnerCandidate};
use crate::plan::RunEstimate;
use crate::protocol::{Defaults, Outcome, Protocol, Subjects};
use crate::spec::sizes::RoleTask;
use crate::spec::{DataSeeds, Problem, Section};

const FILES: Key<Vec<String>> = Key::paths("files", "files with tasks of your own");
const DATA_SEED: Key<u64> = Key::whole("data_seed", "seed of tasks that are drawn", 0..=u64::MAX, 0);
const MEASURES: Key<Vec<RuleMeasure>> = Key::choice(
    "measures",
    "whether outputs agree with the rules, and how many nats the rules' outputs take to send",
    RuleMeasure::Agreement.name(),
)
.list(Constant::Names(&["agreement", "description-length"]));
const BLOCK_SIZE: Key<Option<usize>> = Key::count_or(
    "block_size",
    "examples per block of the description length; `all` is one block",
    &["all"],
    Constant::Derived("the task's own"),
);
const OPTIMIZER_STATE: Key<OptimizerState> = Key::choice(
    "optimizer_state",
    "state of the optimiser when the learner is trained anew on one more block",
    OptimizerState::Reset.name(),
)
// In the released code, the moments of Adam survive when parameters are set to their initial values.
.published(Constant::Name(OptimizerState::Carried.name()));
/// How long outputs may become in fairseq, and here unless a rule has longer ones.
const MAX_OUTPUT: usize = 200;
const LONGEST_OUTPUT: Key<Option<usize>> =
    Key::count("max_output", "most symbols of an output", 1..=100_000, MAX_OUTPUT as u64)
        .derived("200, or twice the longest output of a rule");

/// A task, and how many trainings its description length takes.
pub struct PreferenceSubject {
    task: SourcedTask,
    /// By the seed of the run, which decides the order of the hold-out: found once for all learners.
    trainings: RefCell<BTreeMap<u64, [usize; 2]>>,
}

impl AsRef<str> for PreferenceSubject {
    fn as_ref(&self) -> &str {
        &self.task.task.name
    }
}

impl Protocol for Preference {
    type Subject = PreferenceSubject;
    type Loaded = Data;

    const SUMMARY: &'static str = "train on ambiguous pairs, see which of the named rules is followed";
    const ROLE: Role = Role::Transducer;
    const DEFAULTS: Defaults =
        Defaults { learners: &["lstm", "lstm-attention", "cnn", "transformer"], seeds: 10, first_seed: 1 };
    const SUBJECTS: Subjects = Subjects::Own(TASKS);
    const FIELDS: &'static [Parameter] =
        parameters![FILES, DATA_SEED, MEASURES, BLOCK_SIZE, OPTIMIZER_STATE, LONGEST_OUTPUT];

    fn cells(section: &Section<Self>) -> Result<usize, Problem> {
        Ok(section.subjects.len().saturating_add(section.get(&FILES).len()))
    }

    fn subjects(section: &Section<Self>) -> Result<Vec<PreferenceSubject>, Problem> {
        let tasks = tasks::all(&section.subjects, &section.get(&FILES), section.get(&DATA_SEED))?;
        tasks.iter().try_for_each(|task| check_output(section, task))?;
        let subject = |task| PreferenceSubject { task, trainings: RefCell::default() };
        Ok(tasks.into_iter().map(subject).collect())
    }

    fn data_seeds(section: &Section<Self>) -> DataSeeds {
        DataSeeds::fixed(section.get(&DATA_SEED))
    }

    fn draws(data: &PreferenceData) -> bool {
        data.source == RuleTaskSource::Named
    }

    fn variants(
        section: &Section<Self>,
        subject: &PreferenceSubject,
        candidate: &LearnerCandidate<'_>,
    ) -> Result<Vec<GridCell<Self>>, Problem> {
        let task = &subject.task;
        // The optimiser of an external learner is its own affair.
        let optimizer_state = if candidate.is_external() {
            OptimizerState::usual(section.reading)
        } else {
            section.get(&OPTIMIZER_STATE)
        };
        let block_size = match (section.gives(&BLOCK_SIZE), section.get(&BLOCK_SIZE)) {
            (false, _) => task.task.block_size,
            (true, Some(size)) => size,
            (true, None) => task.task.unseen().len().max(1),
        };
        let measure = PreferenceMeasure {
            measures: measures(section),
            block_size,
            optimizer_state,
            output: output(section, task),
        };
        Ok(vec![(PreferenceData { source: task.source.clone() }, measure)])
    }

    /// The same for every block, so that each training starts from the same parameters.
    fn root(plan: &Plan<Self>) -> Seed {
        let what = [plan.subject.as_str(), &plan.learner.name];
        Seed::new(plan.seed).derive("preference").derive(&what.join("/"))
    }

    fn task(plan: &Plan<Self>, subject: &PreferenceSubject) -> RoleTask {
        RoleTask::Transducer(Encoding::of(&subject.task.task, plan.reading).vocabularies)
    }

    /// Outputs are no longer than a learner has positions for.
    fn settle(
        section: &Section<Self>,
        subject: &PreferenceSubject,
        plan: &mut Plan<Self>,
    ) -> Result<(), Problem> {
        let name = &plan.learner.name;
        let ours = find(name, Role::Transducer).ok().and_then(|learner| learner.transducer.as_ref());
        let Some(role) = ours.filter(|_| plan.learner.external.is_none()) else { return Ok(()) };
        let vocabularies = Encoding::of(&subject.task.task, plan.reading).vocabularies;
        let Some(max) = (role.build)(&plan.learner.settings, vocabularies).max_len() else { return Ok(()) };
        subject.task.longest.check(max).map_err(|error| {
            Problem::new("learners", name, format!("{name} on {}: {error}", plan.subject))
        })?;
        if section.get(&LONGEST_OUTPUT).is_some_and(|most| most > max) {
            let (given, allowed) = (plan.measure.output[1].to_string(), format!("at most {max} for {name}"));
            return Err(Problem::value(LONGEST_OUTPUT.name(), &given, &allowed));
        }
        plan.measure.output[1] = plan.measure.output[1].min(max);
        Ok(())
    }

    fn estimate(plan: &Plan<Self>, subject: &PreferenceSubject) -> RunEstimate {
        let work = work(plan, subject);
        let seconds = cost::seconds(plan, work);
        RunEstimate { cost: 1e6 * seconds, seconds: Some(seconds), memory: cost::memory(plan, work) }
    }

    fn load(plan: &Plan<Self>) -> Result<Data, LabError> {
        Data::of(plan)
    }

    fn execute(plan: &Plan<Self>, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
        execute(plan, data, context)
    }
}

fn measures(section: &Section<Preference>) -> Vec<RuleMeasure> {
    let mut measures = section.get(&MEASURES);
    // In one order: `[a, b]` and `[b, a]` are the same run.
    measures.sort_unstable();
    measures.dedup();
    measures
}

/// The least and the most symbols of an output. In the released code, the end cannot come first.
fn output(section: &Section<Preference>, task: &SourcedTask) -> [usize; 2] {
    let given = section.get(&LONGEST_OUTPUT);
    match section.reading {
        Reading::Published => [1, given.unwrap_or(MAX_OUTPUT)],
        Reading::Corrected => [0, given.unwrap_or(MAX_OUTPUT.max(2 * task.longest.output))],
    }
}

/// Refuses a rule that no output can agree with, unless the limit was chosen.
fn check_output(section: &Section<Preference>, task: &SourcedTask) -> Result<(), Problem> {
    let ([_, most], longest) = (output(section, task), task.longest.output);
    let measured = measures(section).contains(&RuleMeasure::Agreement);
    if longest <= most || section.gives(&LONGEST_OUTPUT) || !measured {
        return Ok(());
    }
    let message = format!(
        "a rule of {} has an output of {longest} symbols, but outputs have at most {most} in the {} reading; `max_output = {longest}` allows them",
        task.task.name, section.reading
    );
    Err(Problem::new(task.field(), &task.task.name, message))
}

/// How much there is to train on.
fn work(plan: &Plan<Preference>, subject: &PreferenceSubject) -> Work {
    let rules = &subject.task.task;
    let mean = |symbols: usize, of: usize| symbols as f64 / of.max(1) as f64;
    let of_pair = |input: usize, output: usize| input + output + 2;
    let trained = rules.train.iter().map(|pair| of_pair(pair.input.len(), pair.output.len())).sum();
    let answers = rules.rules.iter().flat_map(|rule| rules.holdout.iter().zip(&rule.outputs));
    let held_out = answers.map(|(input, output)| of_pair(input.len(), output.len())).sum();
    // Compares all rules on all blocks: once for each seed, and not for each learner.
    let trainings = || {
        let order = holdout_order(rules.unseen().len(), plan.reading, Seed::new(plan.seed));
        let blocks = Blocks::of(rules, &order, plan.measure.block_size);
        [blocks.trainings(), blocks.trainings_without_sharing()]
    };
    let trainings = if plan.measure.has(RuleMeasure::DescriptionLength) {
        *subject.trainings.borrow_mut().entry(plan.seed).or_insert_with(trainings)
    } else {
        [1, 1]
    };
    Work {
        pairs: rules.train.len(),
        holdout: rules.holdout.len(),
        rules: rules.rules.len(),
        symbols: mean(trained, rules.train.len()),
        holdout_symbols: mean(held_out, rules.holdout.len() * rules.rules.len()),
        trainings,
    }
}
