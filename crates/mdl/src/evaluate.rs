//! |D:G| for a search: groups of strings in lanes, no memory taken per network, and an end as soon as a target has no
//! probability.

use super::lanes::{GroupStep, LANES, LaneCorpus, Lanes};
use super::network::{MdlNetwork, UnitKind};
use super::program::{Instruction, LIMIT, NetworkProgram, Term};
use super::score::MdlObjective;
use super::step::{NOTHING, Outputs};

/// Evaluates networks on one corpus.
#[derive(Clone, Debug)]
pub(super) struct Evaluator {
    pub(super) program: NetworkProgram,
    workspace: Workspace,
}

#[derive(Clone, Debug, Default)]
struct Workspace {
    /// The values of units, of this step and the one before.
    current: Vec<Lanes>,
    previous: Vec<Lanes>,
    /// The memory at forks, by slot and unit of the program's memory.
    forks: Vec<f64>,
    /// The last probability of each symbol and its logarithm: many steps have the same.
    known: Vec<(f64, f64)>,
}

impl Evaluator {
    pub(super) fn new() -> Self {
        Self { program: NetworkProgram::default(), workspace: Workspace::default() }
    }

    /// Prepares the evaluation of a network.
    pub(super) fn compile(&mut self, network: &MdlNetwork) {
        self.program.compile(network);
    }

    /// |D:G| of the network that was compiled; infinite if a target has no probability. With a floor, every symbol has
    /// at least this probability.
    pub(super) fn data_bits(&mut self, corpus: &LaneCorpus, objective: &MdlObjective, floor: f64) -> f64 {
        let Self { program, workspace } = self;
        let mut body = || workspace.data_bits(program, corpus, objective, floor);
        // No operation is fused or reordered, so registers of any width give the same bits.
        match pulp::Arch::new() {
            #[cfg(target_arch = "x86_64")]
            pulp::Arch::V3(s) => pulp::Simd::vectorize(s, body),
            _ => body(),
        }
    }
}

impl Workspace {
    #[inline(always)]
    fn data_bits(
        &mut self,
        program: &NetworkProgram,
        corpus: &LaneCorpus,
        objective: &MdlObjective,
        floor: f64,
    ) -> f64 {
        self.current.clear();
        self.current.resize(program.units, [0.0; LANES]);
        self.previous.clear();
        self.previous.resize(program.units, [0.0; LANES]);
        self.forks.resize(corpus.forks.len() * program.memory.len(), 0.0);
        self.known.clear();
        self.known.resize(program.outputs, (1.0, 0.0));
        let mut bits = 0.0;
        for group in &corpus.groups {
            if let Some(slot) = group.slot {
                let from = slot as usize * program.memory.len();
                // All lanes go on from the prefix that they share, which one lane has computed.
                for (&unit, &value) in program.memory.iter().zip(&self.forks[from..]) {
                    self.current[usize::from(unit)] = [value; LANES];
                }
            }
            for (i, step) in group.steps.iter().enumerate() {
                let depth = group.first + i;
                std::mem::swap(&mut self.current, &mut self.previous);
                self.step(program, &corpus.inputs[step.inputs..step.inputs + program.inputs], depth > 0);
                let early = objective.early_rejection && depth < corpus.early && floor == 0.0;
                let Some(more) = self.targets(program, corpus, step, objective, early, floor) else {
                    // Most mutants give some target no probability, and are done here. The released code
                    // looks for that in the first ⌈log₂ T⌉ steps only.
                    return f64::INFINITY;
                };
                bits += more;
                for fork in &corpus.forks[step.forks.clone()] {
                    let to = fork.slot as usize * program.memory.len();
                    for (&unit, value) in program.memory.iter().zip(&mut self.forks[to..]) {
                        *value = self.current[usize::from(unit)][usize::from(fork.lane)];
                    }
                }
            }
        }
        bits
    }

    /// One step of all units.
    #[inline(always)]
    fn step(&mut self, program: &NetworkProgram, inputs: &[Lanes], started: bool) {
        self.current[..inputs.len()].copy_from_slice(inputs);
        for instruction in &program.instructions {
            let Instruction { start, middle, end, .. } = *instruction;
            let forward = &program.terms[start as usize..middle as usize];
            let recurrent = &program.terms[middle as usize..end as usize];
            let unit = usize::from(instruction.unit);
            let mut value = match (forward.is_empty(), instruction.is_input) {
                (true, true) => inputs[unit],
                (true, false) => [0.0; LANES],
                (false, false) => combined(instruction.kind, forward, &self.current),
                (false, true) => {
                    join(instruction.kind, inputs[unit], combined(instruction.kind, forward, &self.current))
                }
            };
            if started && !recurrent.is_empty() {
                value = join(instruction.kind, value, combined(instruction.kind, recurrent, &self.previous));
            }
            if let Some(bias) = instruction.bias {
                each(&mut value, |x| x + bias);
            }
            // One-hot inputs are within the limit, whether they are clipped or not.
            each(&mut value, |x| if x > LIMIT { LIMIT } else { x });
            each(&mut value, |x| if x < -LIMIT { -LIMIT } else { x });
            instruction.activation.apply_lanes(&mut value);
            self.current[unit] = value;
        }
    }

    /// The bits of the targets of a step; none if one has no probability.
    #[inline(always)]
    fn targets(
        &mut self,
        program: &NetworkProgram,
        corpus: &LaneCorpus,
        step: &GroupStep,
        objective: &MdlObjective,
        early: bool,
        floor: f64,
    ) -> Option<f64> {
        if step.targets.is_empty() {
            return Some(0.0);
        }
        let outputs = &self.current[program.inputs..program.inputs + program.outputs];
        if objective.outputs == Outputs::Softmax {
            return softmax_targets(outputs, corpus, step, early, floor);
        }
        let mut sums = [0.0; LANES];
        for output in outputs {
            for (sum, &x) in sums.iter_mut().zip(output) {
                *sum += if x < 0.0 { 0.0 } else { x };
            }
        }
        let mut bits = 0.0;
        for target in &corpus.targets[step.targets.clone()] {
            let (lane, symbol) = (usize::from(target.lane), usize::from(target.symbol));
            let (value, sum) = (outputs[symbol][lane], sums[lane]);
            let is_nothing = sum <= NOTHING;
            if early && value <= 0.0 && sum > 0.0 {
                return None;
            }
            let probability = if is_nothing { 1.0 / outputs.len() as f64 } else { value / sum };
            let probability = raised(probability, floor, outputs.len());
            // Zero, negative or not a number.
            if probability.is_nan() || probability <= 0.0 {
                return None;
            }
            let known = &mut self.known[symbol];
            if known.0.to_bits() != probability.to_bits() {
                *known = (probability, libm::log2(probability));
            }
            bits -= target.count * known.1;
        }
        Some(bits)
    }
}

/// The same with softmax outputs.
#[inline(never)]
fn softmax_targets(
    outputs: &[Lanes],
    corpus: &LaneCorpus,
    step: &GroupStep,
    early: bool,
    floor: f64,
) -> Option<f64> {
    let mut bits = 0.0;
    for target in &corpus.targets[step.targets.clone()] {
        let (lane, symbol) = (usize::from(target.lane), usize::from(target.symbol));
        let value = outputs[symbol][lane];
        if early && value <= 0.0 && outputs.iter().any(|output| output[lane] > 0.0) {
            return None;
        }
        let greatest = outputs.iter().map(|output| output[lane]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = outputs.iter().map(|output| libm::exp(output[lane] - greatest)).sum();
        let probability = raised(libm::exp(value - greatest) / sum, floor, outputs.len());
        if probability.is_nan() || probability <= 0.0 {
            return None;
        }
        bits -= target.count * libm::log2(probability);
    }
    Some(bits)
}

/// A probability that is at least the floor; what all outputs gain is taken from all in proportion.
#[inline(always)]
fn raised(probability: f64, floor: f64, outputs: usize) -> f64 {
    if floor > 0.0 {
        let positive = if probability < 0.0 { 0.0 } else { probability };
        positive * (1.0 - floor * outputs as f64) + floor
    } else {
        probability
    }
}

#[inline(always)]
fn each(lanes: &mut Lanes, f: impl Fn(f64) -> f64) {
    for x in lanes {
        *x = f(*x);
    }
}

#[inline(always)]
fn join(kind: UnitKind, mut a: Lanes, b: Lanes) -> Lanes {
    match kind {
        UnitKind::Sum => a.iter_mut().zip(b).for_each(|(a, b)| *a += b),
        UnitKind::Product => a.iter_mut().zip(b).for_each(|(a, b)| *a *= b),
    }
    a
}

/// The sum or product of weighted values; there is at least one.
#[inline(always)]
fn combined(kind: UnitKind, terms: &[Term], values: &[Lanes]) -> Lanes {
    let weighted = |term: &Term| {
        let mut lanes = values[usize::from(term.source)];
        each(&mut lanes, |x| x * term.weight);
        lanes
    };
    // In the order of the terms, as the released code adds them up: another order would round differently.
    let mut all = weighted(&terms[0]);
    for term in &terms[1..] {
        all = join(kind, all, weighted(term));
    }
    all
}
