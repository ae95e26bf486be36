//! Against the released code: every value of `testdata/learner/mdlrnn.json`.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_dataset::corpus;
use wug_language::{Reading, registry};

use super::*;

const GOLDEN: &str = include_str!("../../../testdata/learner/mdlrnn.json");

pub(super) fn golden() -> Value {
    serde_json::from_str(GOLDEN).unwrap()
}

pub(super) fn cases() -> Vec<Value> {
    golden()["cases"].as_array().unwrap().clone()
}

/// The network of a case.
pub(super) fn network(name: &str) -> MdlNetwork {
    MdlNetwork::from_json(cases().iter().find(|case| case["name"] == name).unwrap()).unwrap()
}

/// The distinct training strings of a language, in the published reading.
pub(super) fn strings(language: &str, size: usize) -> (Vec<(Vec<u32>, f64)>, usize) {
    let named = registry::find(language).unwrap();
    let vocabulary = named.build(Reading::Published).unwrap().alphabet().len() + 1;
    let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for word in corpus::training(&named, size, Reading::Published, 100).unwrap() {
        let symbols = corpus::encode(&word).iter().map(|symbol| u32::from(symbol.0)).collect();
        *counts.entry(symbols).or_default() += 1.0;
    }
    (counts.into_iter().collect(), vocabulary)
}

fn training(language: &str, size: usize) -> Vec<CorpusSequence> {
    let (strings, vocabulary) = strings(language, size);
    strings.iter().map(|(symbols, weight)| CorpusSequence::of_symbols(symbols, vocabulary, *weight)).collect()
}

/// All sums of two numbers below 20, as bits from the lowest.
fn addition() -> Vec<CorpusSequence> {
    let bit = |n: u16, t: u16| n >> t & 1;
    let pairs = (0..20).flat_map(|a| (0..20).map(move |b| (a, b)));
    pairs
        .map(|(a, b)| CorpusSequence {
            inputs: (0..7).flat_map(|t| [f64::from(bit(a, t)), f64::from(bit(b, t))]).collect(),
            targets: (0..7).map(|t| bit(a + b, t)).collect(),
            weight: 1.0,
        })
        .collect()
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[track_caller]
fn close(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what} at {i}: {a}, expected {b}");
    }
}

fn allowed(set: &str) -> usize {
    activations_named(set).unwrap().len()
}

/// The outputs and probabilities at each step of a sequence.
fn run(network: &MdlNetwork, sequence: &CorpusSequence) -> (Vec<f64>, Vec<f64>) {
    let program = NetworkProgram::of(network);
    let (mut values, mut raw, mut probabilities) = (UnitValues::<f64>::new(&program), Vec::new(), Vec::new());
    for inputs in sequence.inputs.chunks(network.inputs()) {
        let mut row = values.step(&program, inputs).to_vec();
        raw.extend_from_slice(&row);
        Outputs::Normalized.probabilities(&mut row);
        probabilities.extend(row);
    }
    (raw, probabilities)
}

#[test]
fn tables_are_those_of_the_released_code() {
    let golden = golden();
    for (n, bits) in golden["integers"].as_object().unwrap() {
        assert_eq!(u64::from(integer_bits(n.parse().unwrap())), bits.as_u64().unwrap());
    }
    for activation in UnitActivation::ALL {
        assert_eq!(golden["ids"][activation.name()], activation.id());
        assert_eq!(golden["costs"][activation.name()], activation.cost());
    }
}

#[test]
fn code_lengths_are_exact() {
    let mut compared = 0;
    for case in cases() {
        let network = MdlNetwork::from_json(&case).unwrap();
        for (set, bits) in case["grammar_bits"].as_object().into_iter().flatten() {
            assert_eq!(network.grammar_bits(allowed(set)), bits.as_u64().unwrap() as u32, "{}", case["name"]);
            compared += 1;
        }
        if let Some(parts) = case["parts"].as_array() {
            let ours = network.code_length(3).parts().map(|(_, bits)| Value::from(bits));
            assert_eq!(ours, parts[..9], "{}", case["name"]);
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn units_are_evaluated_in_the_released_order() {
    for case in cases() {
        let network = MdlNetwork::from_json(&case).unwrap();
        let order = EvaluationOrder::of(&network);
        assert_eq!(Value::from(order.units.clone()), case["order"], "{}", case["name"]);
        let ignored = network.forward().iter().zip(&order.ignored).filter(|(_, ignored)| **ignored);
        let ignored: Vec<Value> =
            ignored.map(|(edge, _)| Value::from(vec![edge.source, edge.target])).collect();
        let mut theirs = case["ignored"].as_array().unwrap().clone();
        theirs.sort_by_key(ToString::to_string);
        assert_eq!(ignored, theirs, "{}", case["name"]);
    }
}

#[test]
fn steps_are_those_of_the_released_code() {
    for case in cases() {
        let network = MdlNetwork::from_json(&case).unwrap();
        let name = case["name"].as_str().unwrap();
        for string in case["runs"].as_array().into_iter().flatten() {
            let vocabulary = case["vocabulary"].as_str().unwrap();
            let mut symbols: Vec<u32> =
                string[0].as_str().unwrap().chars().map(|c| vocabulary.find(c).unwrap() as u32).collect();
            symbols.push(0);
            let (raw, probabilities) =
                run(&network, &CorpusSequence::of_symbols(&symbols, vocabulary.len(), 1.0));
            close(name, &raw, &flat(&string[1]), 1e-12);
            close(name, &probabilities, &flat(&string[2]), 1e-12);
        }
        let Some(corpus) = case.get("corpus") else { continue };
        let corpus = sequences(corpus);
        for (i, sequence) in corpus.iter().enumerate().take(case["raw"].as_array().unwrap().len()) {
            let (raw, probabilities) = run(&network, sequence);
            close(name, &raw, &flat(&case["raw"][i]), 1e-12);
            close(name, &probabilities, &flat(&case["probabilities"][i]), 1e-12);
        }
    }
}

fn sequences(corpus: &Value) -> Vec<CorpusSequence> {
    if corpus == "addition" {
        return addition();
    }
    let rows = corpus[0].as_array().unwrap().iter().zip(corpus[1].as_array().unwrap());
    rows.map(|(inputs, targets)| CorpusSequence {
        inputs: flat(inputs),
        targets: flat(targets).iter().map(|&x| x as u16).collect(),
        weight: 1.0,
    })
    .collect()
}

/// A score as the file has it: |G|, |D:G| (null if infinite), accuracy.
fn check_score(name: &str, ours: NetworkScore, theirs: &[Value]) {
    let data = theirs[1].as_f64().unwrap_or(f64::INFINITY);
    assert_eq!(Some(ours.grammar_bits), theirs[0].as_f64(), "{name}");
    assert!(
        ours.data_bits.to_bits() == data.to_bits() || (ours.data_bits - data).abs() < 1e-9 * data,
        "{name}: {ours:?}, {data}"
    );
    assert!((ours.accuracy - theirs[2].as_f64().unwrap()).abs() < 1e-12, "{name}: {ours:?} {theirs:?}");
}

#[test]
fn scores_are_those_of_the_released_code() {
    let mut corpora: BTreeMap<(String, u64), Vec<CorpusSequence>> = BTreeMap::new();
    for case in cases() {
        let network = MdlNetwork::from_json(&case).unwrap();
        let name = case["name"].as_str().unwrap();
        for row in case["scores"].as_array().into_iter().flatten() {
            let (language, size) = (row[0].as_str().unwrap(), row[1].as_u64().unwrap());
            let corpus = corpora
                .entry((language.to_owned(), size))
                .or_insert_with(|| training(language, size as usize));
            let set = row[2].as_str().unwrap_or("lan2022_extended8");
            let objective = MdlObjective { early_rejection: true, ..MdlObjective::new(allowed(set)) };
            check_score(name, score(&network, corpus, &objective), &row.as_array().unwrap()[3..]);
        }
        if let Some(fitness) = case["fitness"].as_array() {
            let objective = MdlObjective {
                early_rejection: true,
                ..MdlObjective::new(allowed(fitness[0].as_str().unwrap()))
            };
            check_score(name, score(&network, &sequences(&case["corpus"]), &objective), &fitness[1..]);
        }
    }
}

#[test]
fn networks_are_read_as_they_were_written() {
    for case in cases() {
        let network = MdlNetwork::from_json(&case).unwrap();
        assert_eq!(MdlNetwork::from_json(&network.to_json()).unwrap(), network);
    }
}

#[test]
fn files_that_are_no_networks_are_refused_by_what_is_wrong() {
    let good = network("published_an_bn").to_json();
    let refused = |path: &str, value: Value| {
        let mut json = good.clone();
        *json.pointer_mut(path).unwrap() = value;
        MdlNetwork::from_json(&json).unwrap_err().to_string()
    };
    let one = |n: i64| Value::from(n);
    assert_eq!(refused("/num_units", one(8)), "net.num_units: 8, but there are 7 units");
    assert_eq!(refused("/forward/0/den", one(0)), "net.forward[0].den: 0; a denominator is at least 1");
    assert_eq!(refused("/forward/0/dst", one(7)), "net.forward[0].dst: 7, but the units are 0 to 6");
    assert_eq!(refused("/recurrent/0/sign", one(0)), "net.recurrent[0].sign: 0; it is 1 or -1");
    assert_eq!(refused("/outputs/0", one(2)).split(':').next(), Some("net.outputs[0]"));
    assert_eq!(refused("/units/3/id", one(2)), "net.units[3].id: unit 2 is there twice");
    assert!(
        refused("/units/3/activation", "tan".into())
            .starts_with("net.units[3].activation: unknown activation `tan`")
    );
    assert_eq!(
        refused("/units/3/activation_id", one(1)),
        "net.units[3].activation_id: 1 is relu, but the activation is tanh"
    );
    assert_eq!(
        refused("/forward/1", good["forward"][0].clone()),
        "net: there are two forward edges from unit 1 to unit 6"
    );
    assert_eq!(refused("/units/3/bias", Value::from(1.5)), "net.units[3].bias: 1.5; it must be an object");
    assert_eq!(refused("/units/3/type", one(3)), "net.units[3].type: 3; it is \"sum\" or \"product\"");
    assert!(MdlNetwork::from_json(&Value::Null).is_err());
    let misspelt = |path: &str, name: &str, other: Option<&str>| {
        let mut json = good.clone();
        let object = json.pointer_mut(path).unwrap().as_object_mut().unwrap();
        let value = object.remove(name).unwrap();
        object.extend(other.map(|other| (other.to_owned(), value)));
        MdlNetwork::from_json(&json).unwrap_err().to_string()
    };
    assert_eq!(misspelt("", "recurrent", None), "net.recurrent: missing");
    assert_eq!(
        misspelt("", "recurrent", Some("recurent")),
        "net: unknown field `recurent`; there are: num_units, inputs, outputs, units, forward, recurrent"
    );
    assert!(misspelt("/units/0", "type", Some("kind")).starts_with("net.units[0]: unknown field `kind`"));
    assert!(misspelt("/units/4", "bias", Some("Bias")).starts_with("net.units[4]: unknown field `Bias`"));
    assert!(misspelt("/forward/0", "num", Some("nom")).starts_with("net.forward[0]: unknown field `nom`"));
}
