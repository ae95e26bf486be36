//! A network as a list of instructions: units in the order of evaluation, each with its sources.

use super::activation::UnitActivation;
use super::network::{MdlNetwork, UnitKind};
use super::order::EvaluationOrder;
use super::set_order::order_of_unions;

/// Values are clipped to this size before the activation.
pub(super) const LIMIT: f64 = 1e6;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) source: u16,
    pub(super) weight: f64,
}

/// The evaluation of one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Instruction {
    pub(super) unit: u16,
    pub(super) kind: UnitKind,
    pub(super) activation: UnitActivation,
    /// Whether the unit starts from an input value.
    pub(super) is_input: bool,
    /// The terms `start..middle` are forward, `middle..end` recurrent.
    pub(super) start: u32,
    pub(super) middle: u32,
    pub(super) end: u32,
    pub(super) bias: Option<f64>,
}

/// A network, ready to be evaluated. Units without influence on an output are left out.
#[derive(Clone, Debug, Default)]
pub struct NetworkProgram {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) units: usize,
    pub(super) instructions: Vec<Instruction>,
    pub(super) terms: Vec<Term>,
    /// The units whose values are needed in the next step, in ascending order.
    pub(super) memory: Vec<u16>,
    order: EvaluationOrder,
    live: Vec<bool>,
    queue: Vec<u16>,
    sources: Vec<u16>,
}

impl NetworkProgram {
    /// The program of a network.
    pub fn of(network: &MdlNetwork) -> Self {
        let mut program = Self::default();
        program.compile(network);
        program
    }

    /// The order in which all units are evaluated.
    pub fn order(&self) -> &EvaluationOrder {
        &self.order
    }

    /// The number of units whose values are carried from step to step.
    pub fn memory_len(&self) -> usize {
        self.memory.len()
    }

    /// Replaces the program by that of another network, in memory that is there already.
    pub(super) fn compile(&mut self, network: &MdlNetwork) {
        self.order.find(network);
        self.find_live(network);
        (self.inputs, self.outputs, self.units) = (network.inputs(), network.outputs(), network.units.len());
        self.instructions.clear();
        self.terms.clear();
        self.memory.clear();
        let (forward, recurrent) = (network.forward(), network.recurrent());
        for &id in &self.order.units {
            // A unit without influence costs bits of |G| but no time.
            if !self.live[usize::from(id)] {
                continue;
            }
            let start = self.terms.len();
            let ignored = &self.order.ignored;
            let kept = forward.iter().zip(ignored).filter(|(edge, ignored)| edge.target == id && !**ignored);
            gather(
                kept.map(|(edge, _)| (edge.source, edge.weight.value())),
                &mut self.sources,
                &mut self.terms,
            );
            let middle = self.terms.len();
            let into = recurrent.iter().filter(|edge| edge.target == id);
            gather(into.map(|edge| (edge.source, edge.weight.value())), &mut self.sources, &mut self.terms);
            self.memory.extend(self.terms[middle..].iter().map(|term| term.source));
            let unit = &network.units[usize::from(id)];
            self.instructions.push(Instruction {
                unit: id,
                kind: unit.kind,
                activation: unit.activation,
                is_input: usize::from(id) < self.inputs,
                start: start as u32,
                middle: middle as u32,
                end: self.terms.len() as u32,
                bias: unit.bias.map(super::weight::RationalWeight::value),
            });
        }
        self.memory.sort_unstable();
        self.memory.dedup();
    }

    /// The units that an output depends on.
    fn find_live(&mut self, network: &MdlNetwork) {
        self.live.clear();
        self.live.resize(network.units.len(), false);
        self.queue.clear();
        for output in network.inputs..network.inputs + network.outputs {
            self.live[usize::from(output)] = true;
            self.queue.push(output);
        }
        while let Some(unit) = self.queue.pop() {
            for (i, edge) in network.edges.iter().enumerate() {
                let used = edge.target == unit && !self.order.ignored.get(i).copied().unwrap_or(false);
                if used && !self.live[usize::from(edge.source)] {
                    self.live[usize::from(edge.source)] = true;
                    self.queue.push(edge.source);
                }
            }
        }
    }
}

/// Adds terms in the order in which the released code adds them up.
fn gather(incoming: impl Iterator<Item = (u16, f64)>, sources: &mut Vec<u16>, terms: &mut Vec<Term>) {
    let start = terms.len();
    terms.extend(incoming.map(|(source, weight)| Term { source, weight }));
    if terms.len() - start < 2 {
        return;
    }
    sources.clear();
    sources.extend(terms[start..].iter().map(|term| term.source));
    order_of_unions(sources);
    for (i, &source) in sources.iter().enumerate() {
        if let Some(at) = terms[start + i..].iter().position(|term| term.source == source) {
            terms[start + i..=start + i + at].rotate_right(1);
        }
    }
}
