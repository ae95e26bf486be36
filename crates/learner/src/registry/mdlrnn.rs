//! The learner `mdlrnn`: recurrent networks of minimum description length.

use serde_json::{Value, json};
use wug_language::Reading;

use super::search::{Found, NextSymbolSearch, SearchProgress, SearchRole, SearchTask};
use super::setting::{Default, Limits};
use super::{Learner, NO_ROLES, NextSymbolRole, Setting, Settings};
use crate::interface::AnyNextSymbol;
use crate::mdl::{
    ACTIVATION_SETS, Alphabet, Annealing, Evolution, LaneCorpus, MAX_UNITS, NetworkModel, Objective, Outputs,
    Search, SearchSpec, Stop, in_turn,
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
            let count = |name| settings.count(name).unwrap_or(1) as f64;
            count("population") * count("islands") * count("generations")
        },
    })),
    ..NO_ROLES
};

/// The names of the sets of activations, in the order of [`ACTIVATION_SETS`].
const SETS: &[&str] =
    &["bliss3", "linear_relu_sigmoid_tanh", "lan2022_default6", "lan2022_extended8", "tests4", "all15"];

const SETTINGS: &[Setting] = &[
    Setting::new(
        "search",
        "evolution as published, or simulated annealing with as many evaluations",
        Limits::Names(&["evolution", "annealing"]),
        Default::Name("annealing"),
    ),
    Setting::new(
        "cycle",
        "generations of a cycle of annealing",
        Limits::Count(1, 100_000_000),
        Default::Count(400),
    )
    .unless("search", "evolution"),
    Setting::new("hot", "the first temperature of a cycle, in bits", Limits::Positive, Default::Real(8.0))
        .unless("search", "evolution"),
    Setting::new("cold", "the last temperature of a cycle, in bits", Limits::Positive, Default::Real(0.7))
        .unless("search", "evolution"),
    Setting::new(
        "activations",
        "the activations that units may have",
        Limits::Names(SETS),
        Default::Name("bliss3"),
    ),
    Setting::new(
        "units",
        "whether units are sums, or may be products",
        Limits::Names(&["sum", "sum-product"]),
        Default::Name("sum"),
    ),
    Setting::new(
        "outputs",
        "how outputs become probabilities",
        Limits::Names(&["normalized", "softmax"]),
        Default::Name("normalized"),
    ),
    Setting::new("population", "networks per island", Limits::Count(4, 1_000_000), Default::Count(500)),
    Setting::new(
        "islands",
        "populations that evolve by themselves",
        Limits::Count(1, 10_000),
        Default::Count(2),
    ),
    Setting::new(
        "generations",
        "as many offspring as networks, so many times",
        Limits::Count(1, 100_000_000),
        Default::Count(25_000),
    ),
    Setting::new(
        "patience",
        "stops after so many generations without improvement; 0: never",
        Limits::Count(0, 100_000_000),
        Default::Count(0),
    ),
    Setting::new("tournament", "networks per tournament", Limits::Count(2, 4), Default::Count(2)),
    Setting::new(
        "elite",
        "the share of networks that only better ones replace",
        Limits::Probability,
        Default::Real(0.001),
    ),
    Setting::new(
        "migration.interval",
        "generations between exchanges of islands",
        Limits::Count(1, 100_000_000),
        Default::Count(1000),
    ),
    Setting::new(
        "migration.share",
        "the share of networks that emigrates",
        Limits::Probability,
        Default::Real(0.01),
    ),
    Setting::new(
        "max_units",
        "the most units of a network",
        Limits::Count(2, MAX_UNITS as u64),
        Default::Count(MAX_UNITS as u64),
    ),
    Setting::new(
        "start_smooth",
        "whether first networks have sigmoid outputs",
        Limits::Switch,
        Default::Switch(false),
    ),
    Setting::new(
        "multiplier.grammar",
        "what the bits of the network are multiplied by",
        Limits::Positive,
        Default::Real(1.0),
    ),
    Setting::new(
        "multiplier.data",
        "what the bits of the data are multiplied by",
        Limits::Positive,
        Default::Real(1.0),
    ),
];

/// The search that settings stand for.
pub fn search_spec(settings: &Settings, reading: Reading) -> SearchSpec {
    let count = |name: &str, otherwise: usize| settings.count(name).unwrap_or(otherwise);
    let real = |name: &str, otherwise: f64| settings.real(name).unwrap_or(otherwise);
    let set = ACTIVATION_SETS.iter().find(|set| Some(set.name) == settings.name("activations"));
    let activations = set.unwrap_or(&ACTIVATION_SETS[0]).activations.to_vec();
    let published = reading == Reading::Published;
    let softmax = settings.name("outputs") == Some("softmax");
    SearchSpec {
        evolution: Evolution {
            population: count("population", 500),
            tournament: count("tournament", 2),
            elite: real("elite", 0.001),
            tie_error: published,
            annealing: (settings.name("search") == Some("annealing")).then(|| Annealing {
                cycle: count("cycle", Annealing::USUAL.cycle),
                hot: real("hot", Annealing::USUAL.hot),
                cold: real("cold", Annealing::USUAL.cold),
                ..Annealing::USUAL
            }),
            objective: Objective {
                outputs: if softmax { Outputs::Softmax } else { Outputs::Normalized },
                grammar_multiplier: real("multiplier.grammar", 1.0),
                data_multiplier: real("multiplier.data", 1.0),
                early_rejection: published,
                ..Objective::new(activations.len())
            },
            alphabet: Alphabet {
                activations,
                products: settings.name("units") == Some("sum-product"),
                max_units: count("max_units", MAX_UNITS),
                start_smooth: settings.is_on("start_smooth"),
            },
        },
        islands: count("islands", 2),
        generations: count("generations", 25_000),
        migration_interval: count("migration.interval", 1000),
        migration_share: real("migration.share", 0.01),
        patience: count("patience", 0),
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
            stopped: state.over == Some(Stop::Patience),
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
        let model = if single {
            AnyNextSymbol::new(NetworkModel::<f32>::new(network, self.outputs))
        } else {
            AnyNextSymbol::new(NetworkModel::<f64>::new(network, self.outputs))
        };
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
