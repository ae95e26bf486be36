//! The search for the network of minimum description length: islands that evolve by themselves and exchange networks at fixed
//! generations, so that the result is the same on any number of cores.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wug_dataset::Seed;

use super::island::{Evolution, Individual, Island, NetworkScorer};
use super::lanes::LaneCorpus;
use super::network::MdlNetwork;

/// How a search goes.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchSpec {
    /// How each population evolves.
    pub evolution: Evolution,
    /// The number of populations.
    pub islands: usize,
    pub generations: usize,
    /// Islands exchange networks every so many generations.
    pub migration_interval: usize,
    /// The share of a population that emigrates.
    pub migration_share: f64,
    /// The search stops after so many generations in which the best network stays the same; 0 for never.
    pub patience: usize,
}

/// An improvement of the best network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    pub generation: usize,
    /// After so many networks were scored, on all islands.
    pub evaluations: u64,
    /// The island that found it.
    pub island: usize,
    pub grammar_bits: f64,
    pub data_bits: f64,
    pub network: Value,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchState {
    pub generation: usize,
    pub evaluations: u64,
    /// Scores that came from a cache, since the search began or was resumed: caches are not saved.
    pub cached: u64,
    /// |G| + |D:G| of the best network; infinite if none is finite.
    pub best: f64,
    /// Whether the search is over, and if so whether it stopped early.
    pub over: Option<StopReason>,
}

/// Why a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All generations are done.
    Finished,
    /// There was no improvement for long.
    Patience,
}

/// Generations between two looks at the best network. It is fixed, because the generation of an improvement is
/// part of the result.
const STRIDE: usize = 20;

#[derive(Clone, Debug)]
pub struct Search {
    spec: SearchSpec,
    corpus: LaneCorpus,
    islands: Vec<Island>,
    generation: usize,
    improvements: Vec<Improvement>,
    best: Option<Individual>,
}

/// A search that was saved.
#[derive(Serialize, Deserialize)]
struct SavedSearch {
    generation: usize,
    improvements: Vec<Improvement>,
    best: Option<Value>,
    islands: Vec<SavedIsland>,
}

/// No island scores so many networks; counts of a damaged file must not overflow.
const MOST_SCORED: u64 = 1 << 48;

#[derive(Serialize, Deserialize)]
struct SavedIsland {
    /// The place in the stream of random words.
    word: u64,
    scored: u64,
    population: Vec<Value>,
    best: Value,
}

impl Search {
    pub fn new(spec: SearchSpec, corpus: LaneCorpus, seed: Seed) -> Self {
        let island = |i| Island::new(&spec.evolution, &corpus, island_seed(seed, i));
        let islands: Vec<Island> = (0..spec.islands).map(island).collect();
        let mut search = Self { spec, corpus, islands, generation: 0, improvements: Vec::new(), best: None };
        search.note_improvement();
        search
    }

    /// How far it is.
    pub fn state(&self) -> SearchState {
        let since = self.generation - self.improvements.last().map_or(0, |last| last.generation);
        let over = if self.generation >= self.spec.generations {
            Some(StopReason::Finished)
        // In generations: the paper stops after two hours without improvement, which no two machines do at
        // the same place.
        } else if self.spec.patience > 0 && since >= self.spec.patience {
            Some(StopReason::Patience)
        } else {
            None
        };
        SearchState {
            generation: self.generation,
            evaluations: self.islands.iter().map(|island| island.scorer.scored).sum(),
            cached: self.islands.iter().map(|island| island.scorer.hits()).sum(),
            best: self.best.as_ref().map_or(f64::INFINITY, Individual::total),
            over,
        }
    }

    /// Every improvement so far.
    pub fn improvements(&self) -> &[Improvement] {
        &self.improvements
    }

    /// The best network so far; if none is finite, the best of the first island.
    pub fn best(&self) -> &Individual {
        self.best.as_ref().unwrap_or(&self.islands[0].best)
    }

    /// Some generations of all islands, up to the next exchange at most. `each` runs every task that it is given, in any order and
    /// on any threads: islands do not see each other.
    pub fn advance(&mut self, each: &dyn Fn(&mut [IslandTask<'_>])) {
        // Islands meet at fixed generations only. Lan et al. exchange networks every 1,800 seconds as well,
        // which makes a result depend on the speed of the machine.
        let interval = self.spec.migration_interval.max(1);
        let left = self.spec.generations - self.generation;
        let to_exchange = interval - self.generation % interval;
        let generations = (STRIDE - self.generation % STRIDE).min(to_exchange).min(left);
        let (evolution, corpus, first) = (&self.spec.evolution, &self.corpus, self.generation);
        let mut tasks: Vec<IslandTask<'_>> = self
            .islands
            .iter_mut()
            .map(|island| IslandTask { island, evolution, corpus, first, generations })
            .collect();
        each(&mut tasks);
        self.generation += generations;
        if self.generation.is_multiple_of(interval) && self.islands.len() > 1 {
            self.exchange();
        }
        self.note_improvement();
    }

    /// Every island sends networks to the next one; at the next exchange to the one after that, and so on.
    fn exchange(&mut self) {
        let n = self.islands.len();
        let round = self.generation / self.spec.migration_interval.max(1) - 1;
        // As released, in rotation: after n − 1 exchanges every island has sent to every other.
        let distance = 1 + round % (n - 1);
        let (evolution, share) = (&self.spec.evolution, self.spec.migration_share);
        let sent: Vec<Vec<Individual>> =
            self.islands.iter_mut().map(|island| island.emigrants(evolution, share)).collect();
        for (from, emigrants) in sent.into_iter().enumerate() {
            self.islands[(from + distance) % n].receive(emigrants, evolution);
        }
    }

    fn note_improvement(&mut self) {
        let totals = self.islands.iter().map(|island| island.best.total());
        let best = totals.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((island, total)) = best else { return };
        if total >= self.best.as_ref().map_or(f64::INFINITY, Individual::total) {
            return;
        }
        let found = self.islands[island].best.clone();
        self.improvements.push(Improvement {
            generation: self.generation,
            evaluations: self.islands.iter().map(|island| island.scorer.scored).sum(),
            island,
            grammar_bits: found.grammar_bits,
            data_bits: found.data_bits,
            network: found.network.to_json(),
        });
        self.best = Some(found);
    }

    /// The search as bytes.
    pub fn save(&self) -> Vec<u8> {
        let island = |island: &Island| SavedIsland {
            // ChaCha can be set to any place, so a stream is saved as a number.
            word: island.rng.get_word_pos() as u64,
            scored: island.scorer.scored,
            population: island.population.iter().map(|one| one.network.to_compact()).collect(),
            best: island.best.network.to_compact(),
        };
        let saved = SavedSearch {
            generation: self.generation,
            improvements: self.improvements.clone(),
            best: self.best.as_ref().map(|best| best.network.to_compact()),
            islands: self.islands.iter().map(island).collect(),
        };
        serde_json::to_vec(&saved).unwrap_or_default()
    }

    /// The search that was saved, with the spec, corpus and seed that it began with; none if the bytes do not fit them.
    pub fn resume(spec: SearchSpec, corpus: LaneCorpus, seed: Seed, bytes: &[u8]) -> Option<Self> {
        let saved: SavedSearch = serde_json::from_slice(bytes).ok()?;
        let mut scorer = NetworkScorer::new();
        let mut individual = |value: &Value| {
            let network = MdlNetwork::from_compact(value)?;
            if network.inputs() != corpus.vocabulary || network.outputs() != corpus.vocabulary {
                return None;
            }
            let mut individual = Individual { network, grammar_bits: 0.0, data_bits: 0.0 };
            scorer.score(&mut individual, &corpus, &spec.evolution.objective);
            Some(individual)
        };
        let mut islands = Vec::new();
        for (i, saved) in saved.islands.iter().enumerate() {
            let population: Vec<Individual> =
                saved.population.iter().map(&mut individual).collect::<Option<_>>()?;
            if population.len() != spec.evolution.size() {
                return None;
            }
            let mut rng = island_seed(seed, i).rng();
            rng.set_word_pos(u128::from(saved.word));
            let mut island = Island::of(population, rng, NetworkScorer::new());
            island.best = individual(&saved.best)?;
            island.scorer.scored = saved.scored;
            islands.push(island);
        }
        let best = match &saved.best {
            Some(best) => Some(individual(best)?),
            None => None,
        };
        let fits = islands.len() == spec.islands
            && saved.islands.iter().all(|island| island.scored <= MOST_SCORED)
            && saved.generation <= spec.generations
            && saved.improvements.iter().all(|found| found.generation <= saved.generation);
        let (generation, improvements) = (saved.generation, saved.improvements);
        fits.then_some(Self { spec, corpus, islands, generation, improvements, best })
    }
}

fn island_seed(seed: Seed, island: usize) -> Seed {
    seed.derive("mdl/island").nth(island)
}

/// Generations of one island.
#[derive(Debug)]
pub struct IslandTask<'a> {
    island: &'a mut Island,
    evolution: &'a Evolution,
    corpus: &'a LaneCorpus,
    first: usize,
    generations: usize,
}

impl IslandTask<'_> {
    pub fn run(&mut self) {
        for generation in self.first..self.first + self.generations {
            self.island.generation(self.evolution, self.corpus, generation);
        }
    }
}

/// Runs islands one after the other.
pub fn in_turn(tasks: &mut [IslandTask<'_>]) {
    tasks.iter_mut().for_each(IslandTask::run);
}
