//! The fast evaluator against the definition; searches against themselves.

use wug_dataset::Seed;
use wug_language::draw::below;

use super::evaluate::Evaluator;
use super::island::{Individual, NetworkScorer};
use super::tests::strings;
use super::*;

fn spec(tie_error: bool) -> SearchSpec {
    let activations = activations_named("all15").unwrap();
    SearchSpec {
        evolution: Evolution {
            population: 40,
            tournament: 2,
            elite: 0.001,
            tie_error,
            annealing: None,
            objective: MdlObjective::new(activations.len()),
            alphabet: SearchSpace { activations, products: true, max_units: 14, start_smooth: false },
        },
        islands: 3,
        generations: 90,
        migration_interval: 30,
        migration_share: 0.1,
        patience: 0,
    }
}

/// Random networks, many changes each.
fn random_networks(count: usize, vocabulary: usize) -> Vec<MdlNetwork> {
    let mut rng = Seed::new(1).derive("networks").rng();
    let alphabet = spec(false).evolution.alphabet;
    let mut networks = Vec::new();
    while networks.len() < count {
        let mut network = MdlNetwork::random(vocabulary, vocabulary, &alphabet, &mut rng);
        for _ in 0..below(&mut rng, 60) {
            network.mutate(&alphabet, &mut rng);
            let MdlNetwork { inputs, outputs, units, edges } = network.clone();
            let checked = MdlNetwork::new(usize::from(inputs), usize::from(outputs), units, edges).unwrap();
            assert_eq!(checked, network, "edges stay sorted");
        }
        let legal = |edge: &NetworkEdge| {
            let (source, target) = (usize::from(edge.source), usize::from(edge.target));
            let from_output = (vocabulary..2 * vocabulary).contains(&source);
            target >= vocabulary && !from_output && (edge.recurrent || source != target)
        };
        assert!(network.edges().iter().all(legal), "{network:?}");
        networks.push(network);
    }
    networks
}

#[test]
fn lanes_give_the_scores_of_the_definition() {
    for (language, size) in [("an-bn", 100), ("dyck-2", 500), ("an-bm-cn-plus-m", 100)] {
        let (strings, vocabulary) = strings(language, size);
        let lanes = LaneCorpus::new(&strings, vocabulary);
        let corpus: Vec<CorpusSequence> = strings
            .iter()
            .map(|(symbols, weight)| CorpusSequence::of_symbols(symbols, vocabulary, *weight))
            .collect();
        let mut evaluator = Evaluator::new();
        let mut finite = 0;
        let mut networks = random_networks(300, vocabulary);
        networks.extend(
            tests::cases()
                .iter()
                .map(|case| MdlNetwork::from_json(case).unwrap())
                .filter(|n| n.inputs() == vocabulary && n.outputs() == vocabulary),
        );
        for network in networks {
            for (outputs, early_rejection) in [
                (Outputs::Normalized, false),
                (Outputs::Normalized, true),
                (Outputs::Softmax, false),
                (Outputs::Softmax, true),
            ] {
                let objective = MdlObjective { outputs, early_rejection, ..MdlObjective::new(15) };
                let defined = score(&network, &corpus, &objective).data_bits;
                evaluator.compile(&network);
                let fast = evaluator.data_bits(&lanes, &objective, 0.0);
                let same = defined.to_bits() == fast.to_bits() || (defined - fast).abs() < 1e-9 * defined;
                assert!(same, "{language}, {objective:?}: {fast}, defined {defined}, {network:?}");
                finite += usize::from(defined.is_finite());
            }
        }
        assert!(finite > 100, "{language}: {finite}");
    }
}

#[test]
fn programs_with_the_same_key_have_the_same_score() {
    let (strings, vocabulary) = strings("an-bn", 100);
    let lanes = LaneCorpus::new(&strings, vocabulary);
    let objective = MdlObjective::new(15);
    let (mut with_cache, mut without) = (NetworkScorer::new(), Evaluator::new());
    for network in random_networks(500, vocabulary) {
        let mut one = Individual { network, grammar_bits: 0.0, data_bits: 0.0 };
        with_cache.score(&mut one, &lanes, &objective);
        without.compile(&one.network);
        assert_eq!(
            one.data_bits.to_bits(),
            without.data_bits(&lanes, &objective, 0.0).to_bits(),
            "{:?}",
            one.network
        );
        assert_eq!(MdlNetwork::from_compact(&one.network.to_compact()).unwrap(), one.network);
        // Fractions that are not reduced cost more, and compute the same.
        let mut same = one.clone();
        for edge in &mut same.network.edges {
            (edge.weight.numerator, edge.weight.denominator) =
                (2 * edge.weight.numerator, 2 * edge.weight.denominator);
        }
        let hits = with_cache.hits();
        with_cache.score(&mut same, &lanes, &objective);
        assert_eq!((same.data_bits.to_bits(), with_cache.hits()), (one.data_bits.to_bits(), hits + 1));
        assert!(same.grammar_bits >= one.grammar_bits);
    }
}

fn finished(mut search: Search, each: &dyn Fn(&mut [IslandTask<'_>])) -> (Vec<Improvement>, Vec<u8>) {
    while search.state().over.is_none() {
        search.advance(each);
    }
    (search.improvements().to_vec(), search.save())
}

#[test]
fn searches_are_the_same_on_any_number_of_threads_and_after_any_interruption() {
    let (strings, vocabulary) = strings("an-bn", 100);
    let corpus = LaneCorpus::new(&strings, vocabulary);
    for (tie_error, anneals) in [(false, false), (true, false), (false, true)] {
        let seed = Seed::new(5);
        let mut spec = spec(tie_error);
        spec.evolution.annealing =
            anneals.then_some(AnnealingSchedule { cycle: 25, ..AnnealingSchedule::USUAL });
        let new = || Search::new(spec.clone(), corpus.clone(), seed);
        let in_order = finished(new(), &in_turn);
        let threads = |tasks: &mut [IslandTask<'_>]| {
            std::thread::scope(|scope| tasks.iter_mut().for_each(|task| drop(scope.spawn(|| task.run()))));
        };
        assert_eq!(finished(new(), &threads), in_order);
        let mut half = new();
        for _ in 0..3 {
            half.advance(&in_turn);
            half = Search::resume(spec.clone(), corpus.clone(), seed, &half.save()).unwrap();
        }
        assert_eq!(finished(half, &in_turn), in_order);
        assert!(in_order.0.len() > 1);
        assert!(Search::resume(spec.clone(), corpus.clone(), seed, b"{}").is_none());
    }
}

#[test]
fn a_search_without_improvement_stops() {
    let (strings, vocabulary) = strings("an-bn", 100);
    let corpus = LaneCorpus::new(&strings, vocabulary);
    let mut search =
        Search::new(SearchSpec { patience: 20, generations: 100_000, ..spec(false) }, corpus, Seed::new(1));
    while search.state().over.is_none() {
        search.advance(&in_turn);
    }
    assert_eq!(search.state().over, Some(StopReason::Patience));
    assert!(search.state().best.is_finite());
}

#[test]
fn models_predict_what_the_definition_says() {
    for network in random_networks(60, 3) {
        let (mut model, program) =
            (NetworkModel::<f64>::new(network.clone(), Outputs::Normalized), NetworkProgram::of(&network));
        for symbols in [[0, 1, 1, 2, 2, 1], [0, 2, 1, 2, 0, 0]] {
            let (mut state, mut values) = (model.start(), UnitValues::<f64>::new(&program));
            let mut rows = Vec::new();
            for symbol in symbols {
                let mut inputs = [0.0; 3];
                inputs[symbol as usize] = 1.0;
                let mut row = values.step(&program, &inputs).to_vec();
                Outputs::Normalized.probabilities(&mut row);
                model.push(&mut state, symbol);
                assert_eq!(
                    model.next(&state).iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                    row.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
                );
                rows.extend(row);
            }
            let mut states = [model.start()];
            assert_eq!(format!("{:?}", model.advance_batch(&mut states, &[&symbols])), format!("{rows:?}"));
        }
    }
}
