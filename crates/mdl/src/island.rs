//! A population that evolves by itself: tournaments, mutation, an elite.

use rand_chacha::ChaCha8Rng;
use wug_dataset::Seed;
use wug_language::draw::below;

use super::anneal::AnnealingSchedule;
use super::cache::Cache;
use super::evaluate::Evaluator;
use super::lanes::LaneCorpus;
use super::mutate::SearchSpace;
use super::network::MdlNetwork;
use super::score::MdlObjective;

/// A network with its score.
#[derive(Debug, PartialEq)]
pub struct Individual {
    pub network: MdlNetwork,
    pub grammar_bits: f64,
    pub data_bits: f64,
}

impl Clone for Individual {
    fn clone(&self) -> Self {
        let Self { network, grammar_bits, data_bits } = self;
        Self { network: network.clone(), grammar_bits: *grammar_bits, data_bits: *data_bits }
    }

    /// Keeps the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        self.network.clone_from(&other.network);
        (self.grammar_bits, self.data_bits) = (other.grammar_bits, other.data_bits);
    }
}

impl Individual {
    pub fn total(&self) -> f64 {
        self.grammar_bits + self.data_bits
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Evolution {
    pub population: usize,
    pub tournament: usize,
    /// The share of a population that is replaced by something better only.
    pub elite: f64,
    /// Whether a tournament of networks that are all infinite takes places in the tournament for places in the population, as
    /// the released code does.
    pub tie_error: bool,
    /// Annealing instead of evolution: a generation has as many changes as the population would have offspring.
    pub annealing: Option<AnnealingSchedule>,
    /// What networks are made of.
    pub alphabet: SearchSpace,
    pub objective: MdlObjective,
}

impl Evolution {
    /// The networks of an island: one if it is annealed.
    pub(super) fn size(&self) -> usize {
        if self.annealing.is_some() { 1 } else { self.population }
    }
}

/// Scores networks: |G| and |D:G|, the latter from a cache if the same program was evaluated before.
#[derive(Clone, Debug)]
pub(super) struct NetworkScorer {
    evaluator: Evaluator,
    cache: Cache,
    /// How many networks were scored.
    pub(super) scored: u64,
}

/// 2ⁿ entries, two mebibytes.
const CACHE: u32 = 17;

impl NetworkScorer {
    pub(super) fn new() -> Self {
        Self { evaluator: Evaluator::new(), cache: Cache::new(CACHE), scored: 0 }
    }

    pub(super) fn score(
        &mut self,
        individual: &mut Individual,
        corpus: &LaneCorpus,
        objective: &MdlObjective,
    ) {
        let MdlObjective { allowed, grammar_multiplier, data_multiplier, .. } = *objective;
        self.scored += 1;
        individual.grammar_bits = f64::from(individual.network.grammar_bits(allowed)) * grammar_multiplier;
        self.evaluator.compile(&individual.network);
        let key = self.evaluator.program.key();
        individual.data_bits = self.bits(key, corpus, objective, 0.0) * data_multiplier;
    }

    /// |D:G| of the program that was compiled.
    fn bits(&mut self, key: u64, corpus: &LaneCorpus, objective: &MdlObjective, floor: f64) -> f64 {
        // The floor changes the bits of the data, so it is part of what they are known by.
        let key = key ^ floor.to_bits();
        if let Some(known) = self.cache.get(key) {
            return known;
        }
        let bits = self.evaluator.data_bits(corpus, objective, floor);
        self.cache.put(key, bits);
        bits
    }

    /// |G| + |D:G| if every symbol has at least the probability of the floor. The score of the individual is not set.
    pub(super) fn energy(
        &mut self,
        individual: &mut Individual,
        corpus: &LaneCorpus,
        objective: &MdlObjective,
        floor: f64,
    ) -> f64 {
        self.scored += 1;
        individual.grammar_bits =
            f64::from(individual.network.grammar_bits(objective.allowed)) * objective.grammar_multiplier;
        self.evaluator.compile(&individual.network);
        let key = self.evaluator.program.key();
        individual.grammar_bits + self.bits(key, corpus, objective, floor) * objective.data_multiplier
    }

    /// How many scores came from the cache.
    pub(super) fn hits(&self) -> u64 {
        self.cache.hits
    }
}

/// A population and its randomness.
#[derive(Clone, Debug)]
pub(super) struct Island {
    pub(super) population: Vec<Individual>,
    pub(super) rng: ChaCha8Rng,
    pub(super) scorer: NetworkScorer,
    /// The best network that was ever part of the population.
    pub(super) best: Individual,
    pub(super) offspring: Individual,
    elite: Vec<usize>,
    drawn: Vec<usize>,
}

impl Island {
    pub(super) fn new(evolution: &Evolution, corpus: &LaneCorpus, seed: Seed) -> Self {
        let (mut rng, mut scorer) = (seed.rng(), NetworkScorer::new());
        let individual = |_| {
            let v = corpus.vocabulary;
            let network = MdlNetwork::random(v, v, &evolution.alphabet, &mut rng);
            let mut individual = Individual { network, grammar_bits: 0.0, data_bits: 0.0 };
            scorer.score(&mut individual, corpus, &evolution.objective);
            individual
        };
        let population: Vec<Individual> = (0..evolution.size()).map(individual).collect();
        Self::of(population, rng, scorer)
    }

    /// An island with this population, which is not empty.
    pub(super) fn of(population: Vec<Individual>, rng: ChaCha8Rng, scorer: NetworkScorer) -> Self {
        let best = least(&population).clone();
        let offspring = best.clone();
        Self { population, rng, scorer, best, offspring, elite: Vec::new(), drawn: Vec::new() }
    }

    /// As many reproductions as there are networks.
    pub(super) fn generation(&mut self, evolution: &Evolution, corpus: &LaneCorpus, number: usize) {
        if let Some(annealing) = &evolution.annealing {
            self.annealing_generation(annealing, evolution, corpus, number);
            return;
        }
        self.find_elite(evolution.elite);
        for _ in 0..self.population.len() {
            // Steady state, as Lan et al. have it: the offspring of the winner takes the place of the loser
            // at once, even if it is worse, and may be drawn next. The elite alone is safe.
            let (winner, loser) = self.tournament(evolution);
            self.offspring.clone_from(&self.population[winner]);
            self.offspring.network.mutate(&evolution.alphabet, &mut self.rng);
            self.scorer.score(&mut self.offspring, corpus, &evolution.objective);
            let total = self.offspring.total();
            if self.elite.contains(&loser) && total >= self.population[loser].total() {
                continue;
            }
            if total < self.best.total() {
                self.best.clone_from(&self.offspring);
            }
            std::mem::swap(&mut self.population[loser], &mut self.offspring);
        }
    }

    /// The best networks, of those with the same finite score one.
    fn find_elite(&mut self, share: f64) {
        // Of networks with the same total one is enough: an elite of copies would protect a single network
        // many times.
        let size = (share * self.population.len() as f64).ceil() as usize;
        self.elite.clear();
        while self.elite.len() < size {
            let above = self.elite.last().map_or(f64::NEG_INFINITY, |&i| self.population[i].total());
            let candidates = self.population.iter().enumerate();
            let next = candidates
                .filter(|(_, one)| one.total() > above && one.total() < f64::INFINITY)
                .min_by(|(_, a), (_, b)| a.total().total_cmp(&b.total()));
            match next {
                Some((i, _)) => self.elite.push(i),
                None => break,
            }
        }
    }

    /// The winner and the loser among some networks.
    pub(super) fn tournament(&mut self, evolution: &Evolution) -> (usize, usize) {
        let (n, size) = (self.population.len(), evolution.tournament);
        self.drawn.clear();
        while self.drawn.len() < size {
            let i = below(&mut self.rng, n);
            if !self.drawn.contains(&i) {
                self.drawn.push(i);
            }
        }
        let total = |i: usize| self.population[i].total();
        // Compared as bits, because two infinities are a tie and no order.
        let first = total(self.drawn[0]);
        if self.drawn.iter().any(|&i| total(i).to_bits() != first.to_bits()) {
            let by_total = |a: &&usize, b: &&usize| total(**a).total_cmp(&total(**b));
            let winner = self.drawn.iter().min_by(by_total).copied().unwrap_or(0);
            let loser = self.drawn.iter().max_by(by_total).copied().unwrap_or(0);
            return (winner, loser);
        }
        if first.is_finite() {
            // A tie is drawn: changes that cost nothing drift through the population.
            let winner = below(&mut self.rng, size);
            let other = below(&mut self.rng, size - 1);
            let loser = other + usize::from(other >= winner);
            return (self.drawn[winner], self.drawn[loser]);
        }
        // All are infinite: the smaller network wins.
        let grammar = |at: &usize| self.population[self.drawn[*at]].grammar_bits;
        let by_grammar = |a: &usize, b: &usize| grammar(a).total_cmp(&grammar(b));
        let winner = (0..size).min_by(by_grammar).unwrap_or(0);
        let loser = (0..size).max_by(by_grammar).unwrap_or(0);
        if evolution.tie_error { (winner, loser) } else { (self.drawn[winner], self.drawn[loser]) }
    }

    /// Winners of some tournaments, none twice.
    pub(super) fn emigrants(&mut self, evolution: &Evolution, share: f64) -> Vec<Individual> {
        if evolution.annealing.is_some() {
            return vec![self.best.clone()];
        }
        // Winners of tournaments rather than the best ones, as released: migrants keep some variety.
        let count = (share * self.population.len() as f64).floor() as usize;
        let mut emigrants: Vec<Individual> = Vec::new();
        for _ in 0..count {
            let (winner, _) = self.tournament(evolution);
            let chosen = &self.population[winner];
            if !emigrants.iter().any(|other| other.network == chosen.network) {
                emigrants.push(chosen.clone());
            }
        }
        emigrants
    }

    /// Replaces losers of tournaments. All are drawn before the first is replaced.
    pub(super) fn receive(&mut self, immigrants: Vec<Individual>, evolution: &Evolution) {
        if evolution.annealing.is_some() {
            let better = |one: &Individual| one.total() < self.best.total();
            if let Some(immigrant) = immigrants.into_iter().find(better) {
                self.best = immigrant;
            }
            return;
        }
        // As released, an immigrant may replace a member of the elite; the best network of an island is kept
        // beside its population.
        let losers: Vec<usize> = immigrants.iter().map(|_| self.tournament(evolution).1).collect();
        for (loser, immigrant) in losers.into_iter().zip(immigrants) {
            if immigrant.total() < self.best.total() {
                self.best.clone_from(&immigrant);
            }
            self.population[loser] = immigrant;
        }
    }
}

/// The one with the least total, the first of equals.
pub(super) fn least(population: &[Individual]) -> &Individual {
    population.iter().fold(&population[0], |best, one| if one.total() < best.total() { one } else { best })
}
