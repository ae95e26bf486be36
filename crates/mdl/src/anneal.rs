//! Another search: simulated annealing, in cycles.
//!
//! A chain of networks, each changed by one operator or a few, or by a whole unit with memory. What is better is accepted; what is worse by Δ bits, with
//! probability 2^(−Δ/T). T falls through a cycle; then another begins, from a random network or, every other time, from the best
//! one. A network that gives a target no probability is infinitely bad, and between two good networks there are often
//! only such; so in a chain every symbol has at least a small probability, which falls together with T. What is reported
//! and compared is always the objective itself.

use wug_language::draw::{below, coin, unit};

use super::island::{Evolution, Individual, Island};
use super::lanes::LaneCorpus;
use super::network::MdlNetwork;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnealingSchedule {
    /// Generations of a cycle.
    pub cycle: usize,
    /// The first temperature, in bits.
    pub hot: f64,
    pub cold: f64,
    /// The least probability at first.
    pub floor_hot: f64,
    /// The least probability at last.
    pub floor_cold: f64,
}

impl AnnealingSchedule {
    /// What worked on small languages.
    pub const USUAL: Self = Self { cycle: 400, hot: 8.0, cold: 0.7, floor_hot: 0.05, floor_cold: 1e-4 };

    /// Temperature and least probability at a part of a cycle, from 0 to 1.
    fn at(&self, part: f64) -> (f64, f64) {
        // Geometric: every halving of the temperature gets the same number of generations.
        let between = |from: f64, to: f64| from * libm::pow(to / from, part);
        (between(self.hot, self.cold), between(self.floor_hot, self.floor_cold))
    }
}

/// Temperatures of a cycle: in between they stay the same, so that scores can be remembered.
const STAGES: usize = 50;

impl Island {
    /// As many changes as a generation has offspring. The first of the population is the chain; what follows is its energy.
    pub(super) fn annealing_generation(
        &mut self,
        annealing: &AnnealingSchedule,
        evolution: &Evolution,
        corpus: &LaneCorpus,
        generation: usize,
    ) {
        let within = generation % annealing.cycle;
        let stage = within * STAGES / annealing.cycle;
        let (temperature, floor) = annealing.at(stage as f64 / (STAGES - 1) as f64);
        if within == 0 {
            self.restart(evolution, corpus, generation / annealing.cycle);
        }
        let mut energy = self.energy_of_chain(evolution, corpus, floor);
        for _ in 0..evolution.population {
            self.offspring.clone_from(&self.population[0]);
            // A counter is four or five parts that are worthless apart: one by one, every change towards it is uphill.
            // Without this operator, chains on aⁿbⁿ ended 250 bits above the best network.
            if below(&mut self.rng, MEMORY_ONE_IN) == 0 {
                self.offspring.network.add_memory(&evolution.alphabet, &mut self.rng);
            } else {
                self.offspring.network.mutate(&evolution.alphabet, &mut self.rng);
            }
            // One more change with probability ¼ each: pairs of changes cross valleys that single ones do
            // not.
            while self.offspring.network.edges.len() < MAX_EDGES && coin(&mut self.rng) && coin(&mut self.rng)
            {
                self.offspring.network.mutate(&evolution.alphabet, &mut self.rng);
            }
            let other = self.scorer.energy(&mut self.offspring, corpus, &evolution.objective, floor);
            // Metropolis' rule, in bits: a network that costs T bits more is accepted half of the time.
            let accepted =
                other <= energy || unit(&mut self.rng) < libm::exp2((energy - other) / temperature);
            if !accepted {
                continue;
            }
            energy = other;
            std::mem::swap(&mut self.population[0], &mut self.offspring);
            // Small probabilities cost the energy little: only what is near the best can be better than it.
            if energy < self.best.total() + NEAR {
                self.scorer.score(&mut self.population[0], corpus, &evolution.objective);
                if self.population[0].total() < self.best.total() {
                    let Self { population, best, .. } = self;
                    best.clone_from(&population[0]);
                }
            }
        }
    }

    /// A new chain: from a random network, or from the best.
    fn restart(&mut self, evolution: &Evolution, corpus: &LaneCorpus, cycle: usize) {
        // Cycles from scratch find other basins, cycles from the best network polish it.
        if cycle % 2 == 1 {
            let Self { population, best, .. } = self;
            population[0].clone_from(best);
            return;
        }
        let v = corpus.vocabulary;
        let network = MdlNetwork::random(v, v, &evolution.alphabet, &mut self.rng);
        self.population[0] = Individual { network, grammar_bits: 0.0, data_bits: 0.0 };
    }

    fn energy_of_chain(&mut self, evolution: &Evolution, corpus: &LaneCorpus, floor: f64) -> f64 {
        self.scorer.energy(&mut self.population[0], corpus, &evolution.objective, floor)
    }
}

/// One change in so many adds a unit that remembers.
const MEMORY_ONE_IN: usize = 8;

/// How far the energy of a better network can be above the best total, in bits.
const NEAR: f64 = 40.0;

/// A network with more edges is changed by one operator at a time.
const MAX_EDGES: usize = 200;
