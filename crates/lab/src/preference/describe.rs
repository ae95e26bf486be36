//! The blocks in which a rule's outputs are sent, and which trainings rules share.
//!
//! The training pairs are the first block. Then the outputs for unseen inputs are sent in blocks, each coded by the learner trained on all
//! blocks before it. A training depends on nothing but those blocks: as long as two rules agree on them, one training serves both.
//! After the last block there is nothing left to code, and so nothing to train for.

use std::ops::Range;

use wug_dataset::RuleTask;

/// The blocks of all rules of a task, after the training pairs.
pub(super) struct Blocks<'t> {
    task: &'t RuleTask,
    /// The indices of unseen inputs in the hold-out, in the order in which their outputs are sent.
    order: Vec<usize>,
    size: usize,
}

impl<'t> Blocks<'t> {
    /// Of a task whose unseen inputs are sent in an order, so many in a block.
    pub(super) fn of(task: &'t RuleTask, order: &[usize], size: usize) -> Self {
        let unseen = task.unseen();
        Self { task, order: order.iter().map(|&i| unseen[i]).collect(), size: size.max(1) }
    }

    /// How many blocks are sent after the training pairs.
    pub(super) fn count(&self) -> usize {
        self.order.len().div_ceil(self.size)
    }

    fn end(&self, blocks: usize) -> usize {
        (blocks * self.size).min(self.order.len())
    }

    /// The inputs that were sent in the first blocks, by their indices in the hold-out.
    pub(super) fn sent(&self, blocks: usize) -> &[usize] {
        &self.order[..self.end(blocks)]
    }

    /// The inputs of one block, counted from 0.
    pub(super) fn block(&self, block: usize) -> &[usize] {
        let range: Range<usize> = self.end(block)..self.end(block + 1);
        &self.order[range]
    }

    /// The first rule that agrees with a rule on the first blocks: the training after those is the same for both.
    pub(super) fn leader(&self, rule: usize, blocks: usize) -> usize {
        let outputs = |rule: usize| &self.task.rules[rule].outputs;
        let agrees =
            |other: &usize| self.sent(blocks).iter().all(|&i| outputs(rule)[i] == outputs(*other)[i]);
        // The first one: all rules that agree find the same.
        (0..rule).find(agrees).unwrap_or(rule)
    }

    /// The trainings after the first blocks: the rule that each is of, and all rules that share it.
    pub(super) fn groups(&self, blocks: usize) -> Vec<(usize, Vec<usize>)> {
        let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
        for rule in 0..self.task.rules.len() {
            let leader = self.leader(rule, blocks);
            match groups.iter_mut().find(|(other, _)| *other == leader) {
                Some((_, rules)) => rules.push(rule),
                None => groups.push((leader, vec![rule])),
            }
        }
        groups
    }

    /// How many trainings there are.
    pub(super) fn trainings(&self) -> usize {
        (0..self.count()).map(|blocks| self.groups(blocks).len()).sum::<usize>().max(1)
    }

    /// How many there would be if every rule had its own, and one after the last block, as in the released code.
    pub(super) fn trainings_without_sharing(&self) -> usize {
        self.task.rules.len() * (self.count() + 1)
    }
}
