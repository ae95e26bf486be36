//! Random grammars, over which the properties of context-free languages are quantified.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::{ContextFree, Grammar};
use crate::{Language, Word, draw};

/// A grammar of up to three nonterminals over {a, b}, with empty, unit and recursive rules alike.
fn random(seed: u64) -> Option<Grammar> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let names = &["S", "A", "B"][..draw::between(&mut rng, 1, 3)];
    let mut rules: Vec<(&str, f64, Vec<&str>)> = Vec::new();
    for &left in names {
        for _ in 0..draw::between(&mut rng, 1, 3) {
            let length = *draw::choose(&mut rng, &[0, 1, 1, 2, 2, 3]);
            let right = (0..length)
                .map(|_| {
                    if draw::chance(&mut rng, 0.45) {
                        *draw::choose(&mut rng, names)
                    } else {
                        *draw::choose(&mut rng, &["a", "b"])
                    }
                })
                .collect();
            rules.push((left, 0.1 + draw::unit(&mut rng), right));
        }
    }
    let rules: Vec<(&str, f64, &[&str])> = rules.iter().map(|(l, w, r)| (*l, *w, r.as_slice())).collect();
    Grammar::new("S", &rules).ok()
}

/// All strings up to a length, by rewriting sets until nothing is added.
fn derived(grammar: &Grammar, max: usize) -> BTreeSet<Word> {
    let mut sets = vec![BTreeSet::<Word>::new(); grammar.nonterminals().len()];
    loop {
        let before: usize = sets.iter().map(BTreeSet::len).sum();
        for rule in grammar.rules() {
            let mut partial = BTreeSet::from([Word::new()]);
            for item in &rule.right {
                let options: Vec<Word> = match item {
                    super::Item::Terminal(a) => vec![vec![*a]],
                    super::Item::Nonterminal(b) => sets[*b].iter().cloned().collect(),
                };
                partial = partial
                    .iter()
                    .flat_map(|p| options.iter().map(move |o| [p.as_slice(), o].concat()))
                    .filter(|w| w.len() <= max)
                    .collect();
            }
            sets[rule.left].extend(partial);
        }
        if sets.iter().map(BTreeSet::len).sum::<usize>() == before {
            return sets.swap_remove(0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn earley_equals_brute_force(seed in any::<u64>()) {
        let Some(grammar) = random(seed) else { return Ok(()) };
        let language = ContextFree::new(grammar);
        let members = derived(language.grammar(), 7);
        for n in 0..=5 {
            let brute: Vec<Word> = members.iter().filter(|w| w.len() == n).cloned().collect();
            let ours: Vec<Word> = language.members(n).collect();
            prop_assert_eq!(&ours, &brute, "members of length {}", n);
            prop_assert_eq!(language.has_length(n), !brute.is_empty());
        }
        for word in members.iter().filter(|w| w.len() <= 5) {
            prop_assert!(language.contains(word));
            for i in 0..word.len() {
                prop_assert!(language.next(&word[..i]).contains(word[i]));
            }
        }
        // What is allowed next leads to a member: the scanner's completions say at which length.
        let mut scanner = language.scanner();
        for depth in 0..3 {
            let Some(symbol) = scanner.next().symbols().next() else { break };
            let mut child = scanner.fork();
            child.push(symbol);
            prop_assert!((0..40).any(|k| child.completes(k)), "depth {}", depth);
            scanner = child;
        }
    }

    #[test]
    fn probabilities_add_up(seed in any::<u64>()) {
        let Some(grammar) = random(seed) else { return Ok(()) };
        let language = ContextFree::new(grammar);
        for n in 0..=4 {
            let Ok(by_length) = language.by_length(n..=n) else { continue };
            let total: f64 = language.members(n).map(|w| by_length.log_prob(&w).exp()).sum();
            prop_assert!((total - 1.0).abs() < 1e-9, "length {}: {}", n, total);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            for _ in 0..5 {
                let word = by_length.sample(&mut rng);
                prop_assert!(word.len() == n && language.contains(&word));
            }
        }
    }
}

#[test]
fn sampling_agrees_with_exact_probabilities() {
    // Ambiguous, with empty, unit and left-recursive rules.
    let rules: &[(&str, f64, &[&str])] = &[
        ("S", 0.2, &["S", "S"]),
        ("S", 0.3, &["a"]),
        ("S", 0.2, &["A"]),
        ("S", 0.3, &[]),
        ("A", 0.6, &["a", "S", "b"]),
        ("A", 0.4, &["b"]),
    ];
    let language = ContextFree::new(Grammar::new("S", rules).unwrap());
    let natural = language.natural().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let draws = 200_000;
    let mut counts: BTreeMap<Word, f64> = BTreeMap::new();
    for _ in 0..draws {
        *counts.entry(natural.sample(&mut rng)).or_default() += 1.0;
    }
    for word in (0..=3).flat_map(|n| language.members(n)) {
        let p = natural.log_prob(&word).exp();
        let expected = p * f64::from(draws);
        let seen = counts.get(&word).copied().unwrap_or(0.0);
        assert!((seen - expected).abs() < 5.0 * expected.sqrt() + 5.0, "{word:?}: {seen} of {expected}");
    }
}

#[test]
fn a_grammar_that_never_ends_has_no_distribution_of_its_own() {
    let rules: &[(&str, f64, &[&str])] = &[("S", 0.8, &["S", "S", "a"]), ("S", 0.2, &["b"])];
    let language = ContextFree::new(Grammar::new("S", rules).unwrap());
    assert!(language.natural().is_none());
    assert!(language.by_length(1..=9).is_ok());
}

#[test]
fn errors_name_what_is_wrong() {
    assert!(Grammar::new("S", &[("A", 1.0, &["a"])]).unwrap_err().to_string().contains("`S` has no rule"));
    assert!(
        Grammar::new("S", &[("S", 1.0, &["S", "a"])]).unwrap_err().to_string().contains("derives no string")
    );
    assert!(Grammar::new("S", &[("S", -1.0, &["a"])]).unwrap_err().to_string().contains("weight -1"));
}
