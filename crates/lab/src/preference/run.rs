//! From a plan to an outcome: train on the training pairs and compare outputs with the rules; then train anew with each further block and
//! add up what the next one takes.

use wug_dataset::Seed;
use wug_dataset::transduction::holdout_order;
use wug_learner::fit::OptimizerStart;
use wug_learner::interface::Transducer;
use wug_learner::model::Pair;
use wug_learner::registry::keys;
use wug_score::Ending;

use super::checkpoint::{
    Carried, Coded, Done, First, SavedTrainings, TrainingContext, TrainingStep, pack, unpack,
};
use super::data::{Data, EncodedPair};
use super::describe::Blocks;
use super::measure::outcome;
use super::{OptimizerState, Preference, PreferencePlan, RuleMeasure};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::transducer::{FittedTransducer, TransducerOptions, fit};
use crate::protocol::{Outcome, Protocol as _};

pub(super) fn execute(
    plan: &PreferencePlan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Outcome, LabError> {
    let order = holdout_order(data.task.unseen().len(), plan.reading, Seed::new(plan.seed));
    let blocks = Blocks::of(&data.task, &order, plan.measure.block_size);
    // A checkpoint that cannot be read is as good as none.
    let saved = context.load_checkpoint().and_then(|bytes| unpack(&bytes)).unwrap_or_default();
    let mut run = Run { plan, data, blocks, saved };
    run.saved.done.nats.resize(data.task.rules.len(), Vec::new());
    run.saved.done.coded.resize(data.task.rules.len(), Vec::new());
    let steps = if plan.measure.has(RuleMeasure::DescriptionLength) { run.blocks.count().max(1) } else { 1 };
    let mut training = 0;
    for sent in 0..steps {
        for (leader, rules) in run.blocks.groups(sent) {
            if training >= run.saved.done.trainings {
                run.train(TrainingStep { sent, leader }, &rules, context)?;
            }
            training += 1;
        }
        // The next step begins with states of this one: older ones would only make checkpoints longer.
        run.saved.carried.retain(|step, _| step.sent >= sent);
    }
    outcome(plan, data, &run.blocks, &run.saved.done, context)
}

/// A run under way.
struct Run<'a> {
    plan: &'a PreferencePlan,
    data: &'a Data,
    blocks: Blocks<'a>,
    saved: SavedTrainings,
}

impl Run<'_> {
    /// Trains on the training pairs and on the first blocks of a rule, and adds the nats of the next block to those of each rule
    /// that shares this training.
    fn train(
        &mut self,
        step: TrainingStep,
        rules: &[usize],
        context: &mut dyn RunContext,
    ) -> Result<(), LabError> {
        let TrainingStep { sent, leader } = step;
        let mut pairs = self.data.train();
        pairs.extend(self.pairs(leader, self.blocks.sent(sent)));
        let mut fitted = self.fit(&pairs, step, context)?;
        if let (false, None) = (fitted.summary.ending == Ending::Finished, &self.saved.done.bad) {
            self.saved.done.bad = Some((self.saved.done.trainings, fitted.summary.ending.clone()));
        }
        if self.saved.done.trainings == 0 {
            self.saved.done.first = Some(self.first(&mut fitted, context)?);
        }
        if self.plan.measure.has(RuleMeasure::DescriptionLength) && sent < self.blocks.count() {
            context.evaluating("next block")?;
            for &rule in rules {
                let next = self.pairs(rule, self.blocks.block(sent));
                let next: Vec<Pair<'_>> = next.iter().map(EncodedPair::pair).collect();
                let (nats, coded) = coded(fitted.model.as_mut(), &next)?;
                self.saved.done.nats[rule].push(nats.is_finite().then_some(nats));
                self.saved.done.coded[rule].extend(coded);
            }
        }
        if let Some(optimizer) = fitted.optimizer {
            self.saved.carried.insert(step, optimizer);
        }
        // Counted before it is saved: a run that resumes here must not send the block again.
        self.saved.done.trainings += 1;
        let SavedTrainings { done, carried, .. } = &self.saved;
        context.checkpoint(&mut || pack(done, carried))
    }

    /// Some hold-out inputs with the outputs of a rule.
    fn pairs(&self, rule: usize, inputs: &[usize]) -> Vec<EncodedPair> {
        let (task, encoding) = (&self.data.task, self.data.encoding);
        let pair = |&i: &usize| EncodedPair {
            input: encoding.word(&task.holdout[i]),
            output: encoding.word(&task.rules[rule].outputs[i]),
        };
        inputs.iter().map(pair).collect()
    }

    fn fit(
        &mut self,
        pairs: &[EncodedPair],
        step: TrainingStep,
        context: &mut dyn RunContext,
    ) -> Result<FittedTransducer, LabError> {
        let pairs: Vec<Pair<'_>> = pairs.iter().map(EncodedPair::pair).collect();
        // For the first training after a resume: those after it begin anew.
        let resumed = self.saved.training.take();
        let Self { plan, data, saved: SavedTrainings { done, carried, .. }, .. } = self;
        let mut context = TrainingContext {
            before: pack(done, carried),
            resumed,
            updates: done.trainings * plan.learner.settings.get(&keys::UPDATES),
            keep: done.trainings == 0,
            inner: context,
        };
        let optimizer = match plan.measure.optimizer_state {
            OptimizerState::Carried if plan.measure.has(RuleMeasure::DescriptionLength) => {
                OptimizerStart::Carried(before(carried, &self.blocks, step))
            }
            _ => OptimizerStart::Fresh,
        };
        let data = data.pairs(&pairs);
        let options = TransducerOptions {
            precision: plan.precision,
            // The same for every training: the released code reloads the initial weights each time.
            seed: Preference::root(plan),
            size: plan.learner.size,
            optimizer,
        };
        fit(&plan.learner, data, options, &mut context)
    }

    /// What is found after training on the training pairs alone.
    fn first(&self, fitted: &mut FittedTransducer, context: &mut dyn RunContext) -> Result<First, LabError> {
        let (task, encoding) = (&self.data.task, self.data.encoding);
        let [least, most] = self.plan.measure.output;
        let mut outputs = |name: &str, inputs: &mut dyn Iterator<Item = Vec<u32>>| {
            if !self.plan.measure.has(RuleMeasure::Agreement) {
                return Ok(Vec::new());
            }
            context.evaluating(name)?;
            let model: &mut dyn Transducer = fitted.model.as_mut();
            inputs.map(|input| Ok(model.greedy(&input, least..=most)?)).collect::<Result<_, LabError>>()
        };
        Ok(First {
            training: outputs("training", &mut task.train.iter().map(|pair| encoding.word(&pair.input)))?,
            holdout: outputs("holdout", &mut task.holdout.iter().map(|input| encoding.word(input)))?,
            ending: fitted.summary.ending.clone(),
            parameters: fitted.summary.parameters,
            curve: std::mem::take(&mut fitted.summary.curve),
        })
    }
}

/// What a block of outputs takes in nats, and how likely each output is.
fn coded(model: &mut dyn Transducer, block: &[Pair<'_>]) -> Result<(f64, Vec<Coded>), LabError> {
    let symbols = model.symbol_log_probs(block)?;
    let logs: Vec<f64> = match &symbols {
        Some(symbols) => symbols.iter().map(|logs| logs.iter().sum()).collect(),
        None => model.log_probs(block)?,
    };
    let nats = logs.iter().map(|log| -log).sum();
    let mut symbols = symbols.unwrap_or_default().into_iter();
    let coded = logs.iter().map(|log| Coded {
        log_prob: log.is_finite().then_some(*log),
        symbols: symbols.next().filter(|_| log.is_finite()),
    });
    Ok((nats, coded.collect()))
}

/// The state of the optimiser after the training before: on one block less of the same rule.
fn before<'c>(carried: &'c Carried, blocks: &Blocks<'_>, step: TrainingStep) -> Option<&'c [u8]> {
    let sent = step.sent.checked_sub(1)?;
    let leader = blocks.leader(step.leader, sent);
    carried.get(&TrainingStep { sent, leader }).map(Vec::as_slice)
}

impl Done {
    /// How the run ended: as its first training that did not finish.
    pub(super) fn ending(&self) -> Ending {
        self.bad.as_ref().map_or(Ending::Finished, |(_, ending)| ending.clone())
    }
}
