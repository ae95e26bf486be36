//! Properties of every language in the registry, and of random automata and grammars, checked against brute
//! force, so that a new entry is tested before anyone thinks of it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use wug_language::grammar::{ContextFree, Grammar};
use wug_language::negative::{Coin, Negatives};
use wug_language::registry::{self, LANGUAGES, LanguageEntry};
use wug_language::{
    Alphabet, Dfa, Distribution, Language, LengthRange, Reading, Regular, Symbol, Word, draw,
};

/// Every language in both readings, with alphabets small enough for brute force.
fn languages() -> Vec<(String, Box<dyn Language>)> {
    let mut list = Vec::new();
    for entry in LANGUAGES {
        for reading in Reading::ALL {
            for settings in variants(entry) {
                let named = registry::find(&format!("{}:{settings}", entry.name)).unwrap();
                list.push((format!("{} {reading} {settings}", entry.name), named.build(reading).unwrap()));
            }
        }
    }
    for seed in 0..12 {
        list.push((format!("random automaton {seed} corrected"), random_regular(seed)));
        list.extend(random_context_free(seed).map(|l| (format!("random grammar {seed} corrected"), l)));
    }
    list
}

/// A random automaton of up to six states over two symbols; states that lead nowhere are trimmed by the
/// constructor.
fn random_regular(seed: u64) -> Box<dyn Language> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let states = draw::between(&mut rng, 2, 6);
    let mut arcs = Vec::new();
    for q in 0..states {
        for token in ["0", "1"] {
            if draw::chance(&mut rng, 0.75) {
                arcs.push((q, token, draw::below(&mut rng, states)));
            }
        }
    }
    let accepting: Vec<usize> = (0..states).filter(|_| draw::chance(&mut rng, 0.4)).collect();
    Box::new(Regular::new(Dfa::new(Alphabet::new(["0", "1"]), states, 0, &accepting, &arcs)))
}

/// A random grammar of up to three nonterminals over two symbols, with empty, unit and recursive rules alike;
/// none if it derives nothing.
fn random_context_free(seed: u64) -> Option<Box<dyn Language>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1_000 + seed);
    let names = ["S", "A", "B"];
    let mut rules: Vec<(&str, f64, Vec<&str>)> = vec![("S", 1.0, vec!["0"]), ("S", 1.0, vec!["1", "A", "0"])];
    for left in names {
        for _ in 0..2 {
            let length = draw::below(&mut rng, 4);
            let item = |rng: &mut ChaCha8Rng| {
                let letters = ["0", "1"];
                let choices = if draw::chance(rng, 0.4) { &names[..] } else { &letters[..] };
                *draw::choose(rng, choices)
            };
            rules.push((left, 0.2 + draw::unit(&mut rng), (0..length).map(|_| item(&mut rng)).collect()));
        }
    }
    let rules: Vec<(&str, f64, &[&str])> = rules.iter().map(|(l, w, r)| (*l, *w, r.as_slice())).collect();
    Some(Box::new(ContextFree::new(Grammar::new("S", &rules).ok()?)))
}

fn variants(entry: &LanguageEntry) -> &'static [&'static str] {
    match entry.name {
        "adj-np" | "np-vp" => &["terminals=2", "terminals=3,law=zipf"],
        "nested" | "cross-serial" => &["terminals=1,classes=2", "terminals=2,classes=1,law=normal"],
        "dyck-2-3" => &["", "kinds=1,depth=2"],
        _ => &[""],
    }
}

/// All strings of one length, in lexicographic order.
fn strings(alphabet: &Alphabet, length: usize) -> impl Iterator<Item = Word> + '_ {
    let v = alphabet.len();
    (0..v.pow(length as u32)).map(move |mut code| {
        let mut word = vec![Symbol(0); length];
        for symbol in word.iter_mut().rev() {
            *symbol = Symbol((code % v) as u16);
            code /= v;
        }
        word
    })
}

/// The greatest length with at most so many strings; reading grammars takes longer, so there it is fewer.
fn reach(name: &str, alphabet: &Alphabet, most: usize) -> usize {
    let most = if name.starts_with("random") { most.min(300) } else { most };
    (0..20).take_while(|&n| alphabet.len().pow(n) <= most).last().unwrap() as usize
}

#[test]
fn worked_examples_hold() {
    for entry in LANGUAGES {
        let language = entry.build(Reading::Corrected).unwrap();
        let parse = |text: &&str| language.alphabet().parse(text).unwrap();
        assert!(entry.members.len() >= 2 && !entry.nonmembers.is_empty(), "{}", entry.name);
        for text in entry.members {
            assert!(language.contains(&parse(text)), "{}: {text}", entry.name);
        }
        for text in entry.nonmembers {
            assert!(!language.contains(&parse(text)), "{}: {text}", entry.name);
        }
    }
}

#[test]
fn members_counts_and_lengths_equal_brute_force() {
    for (name, language) in languages() {
        let alphabet = language.alphabet();
        for n in 0..=reach(&name, alphabet, 100_000) {
            let brute: Vec<Word> = strings(alphabet, n).filter(|w| language.contains(w)).collect();
            let ours: Vec<Word> = language.members(n).collect();
            assert_eq!(ours, brute, "{name}: members of length {n}");
            assert_eq!(language.count(n), brute.len().into(), "{name}: count of length {n}");
            assert_eq!(language.has_length(n), !brute.is_empty(), "{name}: length {n}");
            assert_eq!(language.lengths(n..=n).len(), usize::from(!brute.is_empty()), "{name}: lengths {n}");
        }
    }
}

/// The end is allowed exactly at members, and a symbol exactly where some completion exists. Completions up
/// to the reach of brute force are checked against it; beyond, the scanner's own word is taken.
#[test]
fn next_symbol_sets_equal_brute_force() {
    for (name, language) in languages() {
        let alphabet = language.alphabet();
        let most = reach(&name, alphabet, 20_000);
        let mut completions: BTreeMap<Word, Vec<bool>> = BTreeMap::new();
        for n in 0..=most {
            for word in strings(alphabet, n).filter(|w| language.contains(w)) {
                for i in 0..=n {
                    completions.entry(word[..i].to_vec()).or_insert_with(|| vec![false; most + 1])[n - i] =
                        true;
                }
            }
        }
        let released = name.contains("stack-manipulation published");
        for prefix in (0..=most.min(6)).flat_map(|n| strings(alphabet, n)) {
            let mut scanner = language.scanner();
            prefix.iter().for_each(|&a| scanner.push(a));
            let next = scanner.next();
            let text = || format!("{name}: after `{}`", alphabet.format(&prefix));
            assert_eq!(next.end(), language.contains(&prefix), "{}", text());
            assert_eq!(next, language.next(&prefix), "{}", text());
            if !released {
                assert_eq!(&next, language.next_sets(&prefix).last().unwrap(), "{}", text());
            }
            for rest in 0..=most - prefix.len() {
                let brute = completions.get(&prefix).is_some_and(|known| known[rest]);
                assert_eq!(scanner.completes(rest), brute, "{} in {rest}", text());
            }
            for symbol in alphabet.symbols() {
                let mut child = scanner.fork();
                child.push(symbol);
                let possible = (0..60).any(|rest| child.completes(rest));
                assert_eq!(next.contains(symbol), possible, "{} with `{}`", text(), alphabet.token(symbol));
            }
        }
    }
}

/// After short strings of all kinds, and along members, of which the rest is then read on.
#[test]
fn repeating_a_symbol_is_reading_it_again_and_again() {
    let mut saved = BTreeMap::new();
    for (name, language) in languages() {
        let alphabet = language.alphabet();
        let short = (0..=reach(&name, alphabet, 20_000).min(6)).flat_map(|n| strings(alphabet, n));
        let mut cases: Vec<(Word, Word)> = short.map(|prefix| (prefix, vec![])).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for length in [12, 15, 16].into_iter().filter(|&length| language.has_length(length)) {
            let member = language.by_length(length..=length).unwrap().sample(&mut rng);
            cases.extend((0..length).map(|i| (member[..i].to_vec(), member[i..].to_vec())));
        }
        for (prefix, rest) in cases {
            for (symbol, most) in alphabet.symbols().flat_map(|symbol| [1, 9].map(|most| (symbol, most))) {
                let text = || format!("{name}: `{}` {symbol:?} {most}", alphabet.format(&prefix));
                let ahead = rest.iter().take_while(|&&other| other == symbol).count();
                let most = if rest.is_empty() { most } else { most.min(ahead) };
                let mut scanner = language.scanner();
                prefix.iter().for_each(|&a| scanner.push(a));
                let (mut slow, next) = (scanner.fork(), scanner.next());
                let times = scanner.repeat(symbol, most);
                assert!(times <= most, "{}: {times}", text());
                if times == 0 {
                    assert_eq!(scanner.next(), next, "{}", text());
                    continue;
                }
                *saved.entry(name.clone()).or_insert(0) += times;
                for _ in 0..times {
                    slow.push(symbol);
                    assert_eq!(slow.next(), next, "{}", text());
                }
                let after = if rest.is_empty() { &[symbol; 4][..] } else { &rest[times..] };
                for &symbol in after {
                    assert_eq!(scanner.next(), slow.next(), "{}", text());
                    assert!((0..9).all(|n| scanner.completes(n) == slow.completes(n)), "{}", text());
                    scanner.push(symbol);
                    slow.push(symbol);
                }
                assert_eq!(scanner.next(), slow.next(), "{}", text());
            }
        }
    }
    for counts in
        ["an-bn published", "an-bn-cn-dn published", "an-bm-cn-plus-m published", "repeat-01 published"]
    {
        let times: usize = saved.iter().filter(|(name, _)| name.starts_with(counts)).map(|(_, n)| n).sum();
        assert!(times > 0, "{counts} reads no row in one go");
    }
}

#[test]
fn exact_probabilities_add_up_to_one() {
    for (name, language) in languages() {
        if name.starts_with("compute-sqrt published") {
            continue; // double-precision roots are drawn again when they do not fit
        }
        let most = reach(&name, language.alphabet(), 20_000);
        for range in [0..=most, most - 1..=most, most..=most] {
            let Ok(distribution) = language.by_length(range.clone()) else { continue };
            let total: f64 = range
                .clone()
                .flat_map(|n| language.members(n))
                .map(|w| distribution.log_prob(&w).exp())
                .sum();
            assert!((total - 1.0).abs() < 1e-9, "{name}: {range:?} adds up to {total}");
        }
    }
}

/// The probability of a prefix is the sum of those of the members that begin with it, whatever the shares of lengths are.
#[test]
fn prefixes_have_the_probability_of_what_begins_with_them() {
    let mut known = 0;
    for (name, language) in languages() {
        let most = reach(&name, language.alphabet(), 2_000);
        let Ok(distribution) = language.by_length(0..=most) else { continue };
        let members: Vec<Word> = (0..=most).flat_map(|n| language.members(n)).collect();
        let lengths = language.lengths(0..=most);
        let all: usize = lengths.iter().map(|n| n + 1).sum();
        let share = |n: usize| ((n + 1) as f64 / all as f64).ln();
        let probability = |word: &Word| {
            let of_length = language.by_length(word.len()..=word.len()).unwrap();
            (share(word.len()) + of_length.log_prob(word)).exp()
        };
        let step = members.len().div_ceil(20).max(1);
        for word in members.iter().step_by(step) {
            let Some(prefixes) = distribution.log_prefixes(word, &share) else { break };
            known += 1;
            for (i, log) in prefixes.iter().enumerate() {
                let begun = members.iter().filter(|other| other.starts_with(&word[..i]));
                let sum: f64 = begun.map(probability).sum();
                assert!((log.exp() - sum).abs() < 1e-9, "{name}: {sum} is not {}", log.exp());
            }
        }
    }
    assert!(known > 100, "{known}");
}

/// In the corrected reading every member can be drawn, as §3.1.1 of Butoi et al. asks.
#[test]
fn every_member_has_positive_probability() {
    for (name, language) in languages().iter().filter(|(name, _)| name.contains("corrected")) {
        let most = reach(name, language.alphabet(), 20_000);
        let Some(distribution) = by_length(name, language.as_ref(), 0..=most) else { continue };
        for word in (0..=most).flat_map(|n| language.members(n)) {
            assert!(
                distribution.log_prob(&word) > f64::NEG_INFINITY,
                "{name}: {}",
                language.alphabet().format(&word)
            );
        }
    }
}

fn chi_squared(name: &str, distribution: &dyn Distribution, words: &[Word], draws: usize, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut counts: BTreeMap<Word, usize> = BTreeMap::new();
    for _ in 0..draws {
        *counts.entry(distribution.sample(&mut rng)).or_default() += 1;
    }
    // Words expected fewer than five times, and all others, are pooled.
    let (mut statistic, mut cells, mut seen, mut mass) = (0.0, 0usize, 0usize, 0.0);
    for word in words {
        let p = distribution.log_prob(word).exp();
        let expected = p * draws as f64;
        if expected >= 5.0 {
            let count = counts.get(word).copied().unwrap_or(0);
            statistic += (count as f64 - expected).powi(2) / expected;
            cells += 1;
            seen += count;
            mass += p;
        }
    }
    let rest = (1.0 - mass) * draws as f64;
    if rest >= 5.0 {
        statistic += ((draws - seen) as f64 - rest).powi(2) / rest;
        cells += 1;
    } else {
        assert!(draws - seen <= 40, "{name}: {} draws outside the expected words", draws - seen);
    }
    if cells > 1 {
        let p = 1.0 - ChiSquared::new((cells - 1) as f64).unwrap().cdf(statistic);
        assert!(p > 1e-6, "{name}: chi-squared {statistic} with {cells} cells, p = {p}");
    }
}

#[test]
fn sampled_frequencies_agree_with_exact_probabilities() {
    for (i, (name, language)) in languages().into_iter().enumerate() {
        let most = reach(&name, language.alphabet(), 3_000);
        let words: Vec<Word> = (0..=most).flat_map(|n| language.members(n)).collect();
        let Some(distribution) = by_length(&name, language.as_ref(), 0..=most) else { continue };
        chi_squared(&name, distribution.as_ref(), &words, 20_000, i as u64);
        if let Some(natural) = language.natural() {
            chi_squared(&format!("{name} natural"), natural.as_ref(), &words, 20_000, i as u64);
        }
    }
}

/// The sampler of a range; a random language may have no strings in it, others must.
fn by_length<'a>(
    name: &str,
    language: &'a dyn Language,
    range: LengthRange,
) -> Option<Box<dyn Distribution + 'a>> {
    let distribution = language.by_length(range.clone());
    assert!(distribution.is_ok() || name.starts_with("random"), "{name}: {range:?}");
    distribution.ok()
}

/// Lengths far beyond brute force.
fn long(name: &str) -> LengthRange {
    if name.starts_with("random grammar") { 10..=24 } else { 100..=300 }
}

#[test]
fn long_samples_are_members_and_keep_to_the_range() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for (name, language) in languages() {
        let Some(distribution) = by_length(&name, language.as_ref(), long(&name)) else { continue };
        for _ in 0..60 {
            let word = distribution.sample(&mut rng);
            assert!(long(&name).contains(&word.len()), "{name}: length {}", word.len());
            assert!(language.contains(&word), "{name}: {}", language.alphabet().format(&word));
            assert!(distribution.log_prob(&word) > f64::NEG_INFINITY, "{name}");
            let sets = language.next_sets(&word);
            assert!(word.iter().zip(&sets).all(|(a, set)| set.contains(*a)), "{name}");
            assert!(sets[word.len()].end(), "{name}");
        }
    }
}

#[test]
fn negatives_are_not_members() {
    for coin in [Coin::PerProposal, Coin::PerExample] {
        for (i, (name, language)) in languages().into_iter().enumerate() {
            let mut rng = ChaCha8Rng::seed_from_u64(i as u64);
            let random = name.starts_with("random");
            let longest = if name.starts_with("random grammar") { 12 } else { 40 };
            let Ok(negatives) = Negatives::new(language.as_ref(), 0..=longest, coin) else { continue };
            for _ in 0..if random { 10 } else { 100 } {
                // A random language may have hardly a complement.
                let negative = match negatives.sample(&mut rng) {
                    Err(_) if random => break,
                    drawn => drawn.unwrap(),
                };
                assert!(!language.contains(&negative.word), "{name}");
                assert!(negative.word.len() <= 40 && negative.edits != Some(0), "{name}");
            }
        }
    }
}
