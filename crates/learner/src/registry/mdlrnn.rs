//! The learner `mdlrnn`: recurrent networks of minimum description length.

use serde_json::{Value, json};
use wug_language::Reading;
use wug_parameter::{Key, Parameter, Settings, ValueLimits as Limits, choices, parameters};

use super::search::{Found, NextSymbolSearch, SearchProgress, SearchRole, SearchTask};
use super::{Learner, NO_ROLES, NextSymbolRole};
use crate::interface::{AnyNextSymbol, Failure, NextSymbol};
use crate::mdl::{
    ACTIVATION_SETS, AnnealingSchedule, Evolution, Float, LaneCorpus, MAX_UNITS, MdlObjective, NetworkModel,
    NetworkState, Outputs, Search, SearchSpace, SearchSpec, StopReason, in_turn,
};

pub(super) static MDLRNN: Learner = Learner {
    name: "mdlrnn",
    summary: "evolved recurrent network of minimum description length",
    cite: "Lan, Geyer, Chemla and Katzir 2022, Minimum Description Length Recurrent Neural Networks",
    next_symbol: Some(NextSymbolRole::Search(SearchRole {
        settings: SETTINGS,
        check: None,
        begin: |settings, task| Box::new(MdlSearch::begin(settings, task)),
        resume: |settings, task, bytes| Some(Box::new(MdlSearch::resume(settings, task, bytes)?)),
        evaluations: |settings| {
            [POPULATION, ISLANDS, GENERATIONS].iter().map(|key| settings.get(key) as f64).product()
        },
    })),
    ..NO_ROLES
};

/// The names of the sets of activations, in the order of [`ACTIVATION_SETS`].
const SETS: &[&str] =
    &["bliss3", "linear_relu_sigmoid_tanh", "lan2022_default6", "lan2022_extended8", "tests4", "all15"];

choices! {
    /// How networks are searched for.
    pub enum SearchKind {
        Evolution = "evolution",
        Annealing = "annealing",
    }
}

choices! {
    pub enum UnitKinds {
        Sum = "sum",
        SumProduct = "sum-product",
    }
}

const SEARCH: Key<SearchKind> = Key::choice(
    "search",
    "evolution as published, or simulated annealing with as many evaluations",
    "annealing",
);
const CYCLE: Key<usize> = Key::count(
    "cycle",
    "generations of a cycle of annealing",
    1..=100_000_000,
    AnnealingSchedule::USUAL.cycle as u64,
)
.unless("search", "evolution");
const HOT: Key<f64> = Key::real(
    "hot",
    "the first temperature of a cycle, in bits",
    Limits::Positive,
    AnnealingSchedule::USUAL.hot,
)
.unless("search", "evolution");
const COLD: Key<f64> = Key::real(
    "cold",
    "the last temperature of a cycle, in bits",
    Limits::Positive,
    AnnealingSchedule::USUAL.cold,
)
.unless("search", "evolution");
const ACTIVATIONS: Key<String> =
    Key::one_of("activations", "the activations that units may have", SETS, "bliss3");
const UNITS: Key<UnitKinds> = Key::choice("units", "whether units are sums, or may be products", "sum");
const OUTPUTS: Key<Outputs> = Key::choice("outputs", "how outputs become probabilities", "normalized");
const POPULATION: Key<usize> = Key::count("population", "networks per island", 4..=1_000_000, 500);
const ISLANDS: Key<usize> = Key::count("islands", "populations that evolve by themselves", 1..=10_000, 2);
const GENERATIONS: Key<usize> =
    Key::count("generations", "as many offspring as networks, so many times", 1..=100_000_000, 25_000);
const PATIENCE: Key<usize> = Key::count(
    "patience",
    "stops after so many generations without improvement; 0: never",
    0..=100_000_000,
    0,
);
const TOURNAMENT: Key<usize> = Key::count("tournament", "networks per tournament", 2..=4, 2);
const ELITE: Key<f64> =
    Key::real("elite", "the share of networks that only better ones replace", Limits::Probability, 0.001);
const MIGRATION_INTERVAL: Key<usize> =
    Key::count("migration.interval", "generations between exchanges of islands", 1..=100_000_000, 1000);
const MIGRATION_SHARE: Key<f64> =
    Key::real("migration.share", "the share of networks that emigrates", Limits::Probability, 0.01);
const MAX_UNITS_OF_NETWORK: Key<usize> =
    Key::count("max_units", "the most units of a network", 2..=MAX_UNITS as u64, MAX_UNITS as u64);
const START_SMOOTH: Key<bool> =
    Key::switch("start_smooth", "whether first networks have sigmoid outputs", false);
const MULTIPLIER_GRAMMAR: Key<f64> =
    Key::real("multiplier.grammar", "what the bits of the network are multiplied by", Limits::Positive, 1.0);
const MULTIPLIER_DATA: Key<f64> =
    Key::real("multiplier.data", "what the bits of the data are multiplied by", Limits::Positive, 1.0);

const SETTINGS: &[Parameter] = parameters![
    SEARCH,
    CYCLE,
    HOT,
    COLD,
    ACTIVATIONS,
    UNITS,
    OUTPUTS,
    POPULATION,
    ISLANDS,
    GENERATIONS,
    PATIENCE,
    TOURNAMENT,
    ELITE,
    MIGRATION_INTERVAL,
    MIGRATION_SHARE,
    MAX_UNITS_OF_NETWORK,
    START_SMOOTH,
    MULTIPLIER_GRAMMAR,
    MULTIPLIER_DATA,
];

/// The search that settings stand for.
pub fn search_spec(settings: &Settings, reading: Reading) -> SearchSpec {
    let name = settings.get(&ACTIVATIONS);
    let set = ACTIVATION_SETS.iter().find(|set| set.name == name);
    let activations = set.unwrap_or(&ACTIVATION_SETS[0]).activations.to_vec();
    // Slips of the released code: ties of two infinite scores replace slots by place in the tournament, and the
    // early exit tests raw outputs, which rejects good networks with a softmax.
    let published = reading == Reading::Published;
    SearchSpec {
        evolution: Evolution {
            population: settings.get(&POPULATION),
            tournament: settings.get(&TOURNAMENT),
            elite: settings.get(&ELITE),
            tie_error: published,
            annealing: (settings.get(&SEARCH) == SearchKind::Annealing).then(|| AnnealingSchedule {
                cycle: settings.get(&CYCLE),
                hot: settings.get(&HOT),
                cold: settings.get(&COLD),
                ..AnnealingSchedule::USUAL
            }),
            objective: MdlObjective {
                outputs: settings.get(&OUTPUTS),
                grammar_multiplier: settings.get(&MULTIPLIER_GRAMMAR),
                data_multiplier: settings.get(&MULTIPLIER_DATA),
                early_rejection: published,
                ..MdlObjective::new(activations.len())
            },
            alphabet: SearchSpace {
                activations,
                products: settings.get(&UNITS) == UnitKinds::SumProduct,
                max_units: settings.get(&MAX_UNITS_OF_NETWORK),
                start_smooth: settings.get(&START_SMOOTH),
            },
        },
        islands: settings.get(&ISLANDS),
        generations: settings.get(&GENERATIONS),
        migration_interval: settings.get(&MIGRATION_INTERVAL),
        migration_share: settings.get(&MIGRATION_SHARE),
        patience: settings.get(&PATIENCE),
    }
}

impl<R: Float> NextSymbol for NetworkModel<R> {
    type State = NetworkState<R>;

    fn start(&mut self) -> NetworkState<R> {
        Self::start(self)
    }

    fn push(&mut self, state: &mut NetworkState<R>, symbol: u32) {
        Self::push(self, state, symbol);
    }

    fn next(&mut self, state: &NetworkState<R>) -> Result<Vec<f64>, Failure> {
        Ok(Self::next(self, state))
    }

    fn advance_batch(
        &mut self,
        states: &mut [NetworkState<R>],
        pieces: &[&[u32]],
    ) -> Result<Vec<f64>, Failure> {
        Ok(Self::advance_batch(self, states, pieces))
    }

    fn same(&self, a: &NetworkState<R>, b: &NetworkState<R>) -> bool {
        Self::same(self, a, b)
    }
}

struct MdlSearch {
    search: Search,
    outputs: Outputs,
    task: Value,
}

impl MdlSearch {
    fn parts(settings: &Settings, task: &SearchTask) -> (SearchSpec, LaneCorpus, Value) {
        let facts = json!({
            "strings": task.strings.iter().map(|(_, weight)| weight).sum::<f64>(),
            "distinct": task.strings.len(),
            "seed": task.seed.value(),
            "reading": task.reading.name(),
            "settings": settings,
        });
        (search_spec(settings, task.reading), LaneCorpus::new(&task.strings, task.vocabulary), facts)
    }

    fn begin(settings: &Settings, task: &SearchTask) -> Self {
        let (spec, corpus, facts) = Self::parts(settings, task);
        let outputs = spec.evolution.objective.outputs;
        Self { search: Search::new(spec, corpus, task.seed), outputs, task: facts }
    }

    fn resume(settings: &Settings, task: &SearchTask, bytes: &[u8]) -> Option<Self> {
        let (spec, corpus, facts) = Self::parts(settings, task);
        let outputs = spec.evolution.objective.outputs;
        Some(Self { search: Search::resume(spec, corpus, task.seed, bytes)?, outputs, task: facts })
    }
}

impl NextSymbolSearch for MdlSearch {
    fn advance(&mut self) {
        self.search.advance(&in_turn);
    }

    fn progress(&self) -> SearchProgress {
        let state = self.search.state();
        SearchProgress {
            step: state.generation,
            best: state.best,
            over: state.over.is_some(),
            stopped: state.over == Some(StopReason::Patience),
        }
    }

    fn save(&self) -> Vec<u8> {
        self.search.save()
    }

    fn curve(&self) -> Vec<(usize, u64, f64)> {
        let point = |found: &crate::mdl::Improvement| {
            (found.generation, found.evaluations, found.grammar_bits + found.data_bits)
        };
        self.search.improvements().iter().map(point).collect()
    }

    fn found(&self, single: bool) -> Found {
        let best = self.search.best();
        let network = best.network.clone();
        // Precision can decide an index: the published aⁿbⁿcⁿ network fails in single precision at n = 21.
        let model = if single {
            AnyNextSymbol::new(NetworkModel::<f32>::new(network, self.outputs))
        } else {
            AnyNextSymbol::new(NetworkModel::<f64>::new(network, self.outputs))
        };
        // JSON has no infinity.
        let finite = |bits: f64| bits.is_finite().then_some(bits);
        let found = self.search.improvements().last();
        let file = json!({
            "format": "wug-mdlrnn",
            "version": 1,
            "net": best.network.to_json(),
            "grammar_bits": best.grammar_bits,
            "data_bits": finite(best.data_bits),
            "total_bits": finite(best.total()),
            "outputs": self.outputs.name(),
            "generation": found.map(|found| found.generation),
            "evaluations": found.map(|found| found.evaluations),
            "training": self.task,
        });
        Found { model, parameters: best.network.parameters(), file }
    }
}
