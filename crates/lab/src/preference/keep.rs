//! The predictions of a run: outputs beside the right ones, and how likely each rule's outputs are in their blocks.

use std::collections::BTreeMap;

use wug_dataset::CandidateRule as Rule;

use super::checkpoint::{Coded, Done, First};
use super::data::Data;
use super::describe::Blocks;
use super::measure::{HOLDOUT, TRAINING, split};
use crate::LabError;
use crate::context::RunContext;
use crate::keep::{Predicted, Predictions};

/// Keeps a row per training pair, per hold-out input, and per hold-out input and rule, if predictions are to be kept. Outputs are
/// absent if agreement is not measured, and probabilities if description lengths are not.
pub(super) fn keep_predictions(
    data: &Data,
    blocks: &Blocks<'_>,
    first: &First,
    done: &Done,
    context: &mut dyn RunContext,
) -> Result<(), LabError> {
    let mut predictions = Predictions::begin(context.keeps())?;
    if !predictions.wanted() {
        return Ok(());
    }
    let rows = PairRows { data, blocks, first };
    rows.trained(&mut predictions)?;
    for (rule, coded) in data.task.rules.iter().zip(&done.coded) {
        rows.of_rule(rule, coded, &mut predictions)?;
    }
    predictions.finish(context)
}

struct PairRows<'a> {
    data: &'a Data,
    blocks: &'a Blocks<'a>,
    first: &'a First,
}

impl PairRows<'_> {
    /// The training pairs, and the hold-out inputs, whose outputs no rule is the truth of.
    fn trained(&self, predictions: &mut Predictions) -> Result<(), LabError> {
        let task = &self.data.task;
        for (pair, output) in task.train.iter().zip(&self.first.training) {
            predictions.add(&Predicted {
                split: TRAINING,
                string: task.source.format(&pair.input),
                length: pair.input.len(),
                output: Some(self.data.encoding.show(task, output)),
                target: Some(task.target.format(&pair.output)),
                ..Predicted::default()
            })?;
        }
        for (input, output) in task.holdout.iter().zip(&self.first.holdout) {
            predictions.add(&Predicted {
                split: HOLDOUT,
                string: task.source.format(input),
                length: input.len(),
                output: Some(self.data.encoding.show(task, output)),
                ..Predicted::default()
            })?;
        }
        Ok(())
    }

    /// The hold-out inputs with the outputs of a rule. Those that were trained on are in no block.
    fn of_rule(&self, rule: &Rule, coded: &[Coded], predictions: &mut Predictions) -> Result<(), LabError> {
        let task = &self.data.task;
        let sent = (0..self.blocks.count())
            .flat_map(|block| self.blocks.block(block).iter().map(move |&input| (input, block + 1)));
        let sent: BTreeMap<usize, (usize, &Coded)> =
            sent.zip(coded).map(|((input, block), coded)| (input, (block, coded))).collect();
        for (i, (input, target)) in task.holdout.iter().zip(&rule.outputs).enumerate() {
            let (block, coded) = sent.get(&i).copied().unzip();
            let output = self.first.holdout.get(i);
            predictions.add(&Predicted {
                split: &split(&rule.name),
                string: task.source.format(input),
                length: input.len(),
                block,
                output: output.map(|output| self.data.encoding.show(task, output)),
                target: Some(task.target.format(target)),
                log_probs: coded.and_then(|coded| coded.symbols.as_deref()),
                log_prob: coded.and_then(|coded| coded.log_prob),
                ..Predicted::default()
            })?;
        }
        Ok(())
    }
}
