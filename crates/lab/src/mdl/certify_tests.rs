use serde_json::{Value, json};
use wug_dataset::Seed;
use wug_language::draw;
use wug_learner::mdl::{
    NetworkEdge, NetworkProgram, NetworkUnit, Outputs, RationalWeight, UnitActivation, UnitValues,
};

use super::*;

const GOLDEN: &str = include_str!("../../../../testdata/learner/mdlrnn.json");

/// The file of a released network.
fn released(name: &str) -> Value {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    cases.iter().find(|case| case["name"] == name).unwrap()["net"].clone()
}

fn network(name: &str) -> MdlNetwork {
    MdlNetwork::from_json(&released(name)).unwrap()
}

fn push(list: &mut Value, more: Value) {
    list.as_array_mut().unwrap().push(more);
}

fn edge(source: usize, target: usize, sign: i8, numerator: u32, denominator: u32) -> Value {
    json!({ "src": source, "dst": target, "sign": sign, "num": numerator, "den": denominator })
}

fn unit(id: usize, activation: &str, bias: &Value) -> Value {
    json!({ "id": id, "activation": activation, "type": "sum", "bias": bias })
}

fn whole(n: i32) -> Value {
    json!({ "sign": n.signum(), "num": n.abs(), "den": 1 })
}

/// Predicts the same symbol after every other.
fn constant(symbols: usize, favourite: usize) -> Value {
    let bias = |id| if id == symbols + favourite { whole(5) } else { Value::Null };
    json!({
        "num_units": 2 * symbols,
        "inputs": (0..symbols).collect::<Vec<_>>(),
        "outputs": (symbols..2 * symbols).collect::<Vec<_>>(),
        "units": (0..2 * symbols).map(|id| unit(id, "linear", &bias(id))).collect::<Vec<_>>(),
        "forward": [],
        "recurrent": [],
    })
}

#[test]
fn published_networks_are_correct_up_to_a_bound() {
    let holds = |name: &str, language: &str, up_to: usize| certify(&network(name), language, up_to).unwrap();
    let counted = holds("published_an_bn", "an-bn", 3000);
    assert_eq!((counted.holds_up_to, counted.failure), (3000, None));
    // Every state is read on once: the work does not grow with the square.
    assert!(counted.steps < 4 * 3000, "{}", counted.steps);
    assert_eq!(holds("published_an_bm_c_n_plus_m", "an-bm-cn-plus-m", 60).holds_up_to, 60);
    assert_eq!(holds("published_dyck1", "dyck-1", 500).holds_up_to, 500);
    assert_eq!(holds("manual_dyck2_p03", "dyck-2", 6).holds_up_to, 6);
}

#[test]
fn what_is_wrong_or_not_exact_is_said() {
    let wrong = certify(&MdlNetwork::from_json(&constant(3, 1)).unwrap(), "an-bn", 10).unwrap();
    assert_eq!(wrong.holds_up_to, 0);
    assert!(wrong.failure.unwrap().contains("n = 1"));
    let error = certify(&network("published_an_bn"), "parity", 10).unwrap_err().to_string();
    assert!(error.starts_with("no exact check of `parity`"), "{error}");
}

#[test]
fn a_bound_is_of_strings_that_were_all_tried() {
    // Always predicts `a`, and has too many digits after some a's.
    let mut digits = constant(4, 1);
    digits["num_units"] = json!(9);
    push(&mut digits["units"], unit(8, "linear", &Value::Null));
    push(&mut digits["forward"], edge(1, 8, 1, 1, 1));
    push(&mut digits["recurrent"], edge(8, 8, 1, 1, 3));
    push(&mut digits["recurrent"], edge(8, 7, 1, 1, 1000));
    let found = certify(&MdlNetwork::from_json(&digits).unwrap(), "an-bm-cn-plus-m", 200).unwrap();
    assert_eq!(found.holds_up_to, 0);
    assert!(found.failure.unwrap().contains("n = 1, m = 1"));

    // Wrong for long runs of a, and for more than one b.
    let mut order = released("published_an_bm_c_n_plus_m");
    order["num_units"] = json!(11);
    push(&mut order["units"], unit(9, "relu", &whole(-1)));
    push(&mut order["units"], unit(10, "relu", &whole(-10)));
    for (source, target, sign, weight) in
        [(2, 9, 1, 1), (9, 7, -1, 100), (8, 10, -1, 1), (10, 7, -1, 100), (10, 4, 1, 100)]
    {
        push(&mut order["forward"], edge(source, target, sign, weight, 1));
    }
    push(&mut order["recurrent"], edge(2, 9, 1, 1, 1));
    push(&mut order["recurrent"], edge(9, 9, 1, 2, 1));
    let found = certify(&MdlNetwork::from_json(&order).unwrap(), "an-bm-cn-plus-m", 200).unwrap();
    assert_eq!(found.holds_up_to, 1, "{:?}", found.failure);
}

#[test]
fn a_sum_of_outputs_that_counts_as_zero_makes_all_symbols_equal() {
    const TINY: u32 = 4_000_000_000;
    let mut scaled = released("published_dyck1");
    for output in [3, 4] {
        scaled["units"][output]["bias"] = json!({ "sign": 1, "num": 1, "den": TINY });
    }
    for edge in scaled["forward"].as_array_mut().unwrap() {
        if edge["dst"].as_u64().is_some_and(|target| (3..6).contains(&target)) {
            edge["den"] = json!(TINY);
        }
    }
    let found = certify(&MdlNetwork::from_json(&scaled).unwrap(), "dyck-1", 100).unwrap();
    assert_eq!(found.holds_up_to, 0);
}

/// Up to where every string is right, read one by one.
fn brute_force(language: &str, up_to: usize, word_is_right: impl Fn(&[usize], usize) -> bool) -> usize {
    let right = |(word, from): (Vec<usize>, usize)| word_is_right(&word, from);
    let runs = |n: usize, k: usize| {
        let letters = (1..=k).flat_map(|symbol| std::iter::repeat_n(symbol, n));
        ([0].into_iter().chain(letters).chain([0]).collect(), n + 1)
    };
    let sum = |n: usize, m: usize| {
        let letters = [(1, n), (2, m), (3, n + m)].into_iter();
        let letters = letters.flat_map(|(symbol, count)| std::iter::repeat_n(symbol, count));
        ([0].into_iter().chain(letters).chain([0]).collect(), n + m + 1)
    };
    let holds = |k: usize| match language {
        "an-bn" => right(runs(k, 2)),
        "an-bn-cn" => right(runs(k, 3)),
        _ => (1..=k).all(|i| right(sum(i, k)) && right(sum(k, i))),
    };
    (1..=up_to).find(|k| !holds(*k)).unwrap_or(up_to + 1) - 1
}

/// Whether each symbol after the one at `from` is the most probable in exact arithmetic.
fn is_right_exactly(network: &ExactNetwork, word: &[usize], from: usize) -> bool {
    let mut memory = None;
    word.windows(2).enumerate().all(|(i, pair)| {
        let (next, outputs) = network.step(&memory, pair[0]).unwrap();
        memory = next;
        i < from || is_most_probable(&normalized(outputs).unwrap(), pair[1])
    })
}

/// The same in double precision.
fn is_right(network: &MdlNetwork, word: &[usize], from: usize) -> bool {
    let program = NetworkProgram::of(network);
    let mut values = UnitValues::<f64>::new(&program);
    word.windows(2).enumerate().all(|(i, pair)| {
        let mut inputs = vec![0.0; network.inputs()];
        inputs[pair[0]] = 1.0;
        let mut row = values.step(&program, &inputs).to_vec();
        Outputs::Normalized.probabilities(&mut row);
        let best = (0..row.len()).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        i < from || best == pair[1]
    })
}

/// A network changed at random: a weight, an activation, an edge, or a unit that is silent up to a count and then changes an output.
fn changed(network: &MdlNetwork, below: &mut dyn FnMut(usize) -> usize) -> MdlNetwork {
    let (inputs, outputs) = (network.inputs(), network.outputs());
    let (mut units, mut edges) = (network.units().to_vec(), network.edges().to_vec());
    let weight = |below: &mut dyn FnMut(usize) -> usize| RationalWeight {
        negative: below(2) == 0,
        numerator: 1 + below(3) as u32,
        denominator: 1 << below(2),
    };
    let n = units.len() as u16;
    let output = (inputs + below(outputs)) as u16;
    match below(4) {
        0 => {
            let i = below(edges.len());
            edges[i].weight = weight(below);
        }
        1 => {
            let exact = [
                UnitActivation::Linear,
                UnitActivation::Relu,
                UnitActivation::Floor,
                UnitActivation::Step,
                UnitActivation::Abs,
            ];
            units[usize::from(output)].activation = exact[below(exact.len())];
        }
        2 => edges.push(NetworkEdge {
            recurrent: true,
            source: below(usize::from(n)) as u16,
            target: output,
            weight: weight(below),
        }),
        _ => {
            let late = RationalWeight { negative: true, numerator: 1 + below(8) as u32, denominator: 2 };
            units.push(NetworkUnit { bias: Some(late), ..NetworkUnit::sum(UnitActivation::Relu) });
            let counter = (inputs + outputs + below(network.hidden())) as u16;
            edges.push(NetworkEdge { recurrent: false, source: counter, target: n, weight: weight(below) });
            edges.push(NetworkEdge { recurrent: true, source: n, target: output, weight: weight(below) });
        }
    }
    // An edge that was there already.
    MdlNetwork::new(inputs, outputs, units, edges).unwrap_or_else(|_| network.clone())
}

#[test]
fn certificates_agree_with_reading_every_string() {
    let mut rng = Seed::new(18).derive("certify/test").rng();
    let mut below = |n| draw::below(&mut rng, n);
    let mut bounds = [0; 7];
    for (name, language) in [
        ("published_an_bn", "an-bn"),
        ("published_an_bn_cn", "an-bn-cn"),
        ("published_an_bm_c_n_plus_m", "an-bm-cn-plus-m"),
    ] {
        let published = network(name);
        for i in 0..400 {
            let mut net = changed(&published, &mut below);
            for _ in 0..i % 3 {
                net = changed(&net, &mut below);
            }
            let Ok(found) = certify(&net, language, 6) else { continue };
            let exact = ExactNetwork::new(&net).unwrap();
            let by_hand = brute_force(language, 6, |word, from| is_right_exactly(&exact, word, from));
            assert_eq!(found.holds_up_to, by_hand, "{language} {}", net.to_json());
            // Thirds are rounded in double precision, which may change what is most probable.
            let biases = net.units().iter().filter_map(|unit| unit.bias);
            let mut weights = net.edges().iter().map(|edge| edge.weight).chain(biases);
            if weights.all(|weight| weight.denominator.is_power_of_two()) {
                let rounded = brute_force(language, 6, |word, from| is_right(&net, word, from));
                assert_eq!(found.holds_up_to, rounded, "{language} {}", net.to_json());
            }
            bounds[found.holds_up_to] += 1;
        }
    }
    // Networks that are right, wrong, and right for a while.
    assert!(bounds[0] > 50 && bounds[6] > 50 && bounds[1..6].iter().all(|count| *count > 0), "{bounds:?}");
}
