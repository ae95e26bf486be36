//! How long a language takes: to be ready to sample, to draw, to tell what may come next, to measure edit
//! distances.

use divan::{Bencher, black_box};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use wug_language::negative::{Coin, Negatives};
use wug_language::registry;
use wug_language::{LengthSampler, Word};

fn main() {
    divan::main();
}

const REGULAR: &[&str] =
    &["even-pairs", "repeat-01", "parity", "cycle-navigation", "modular-arithmetic", "dyck-2-3", "first"];

/// A regular language from nothing to the first sample at lengths up to 500 (the authors' PyTorch: 2.2 to 24
/// s).
#[divan::bench(args = REGULAR)]
fn ready_to_sample_500(bencher: Bencher<'_, '_>, name: &str) {
    bencher.bench(|| {
        let language = registry::build(name).expect("a language");
        let dfa = language.automaton().expect("regular");
        black_box(LengthSampler::new(dfa, 500).log_weight(499));
    });
}

/// How the preparation grows with the length: it should double.
#[divan::bench(args = [250, 500, 1_000, 2_000])]
fn ready_to_sample_modular_arithmetic(bencher: Bencher<'_, '_>, max: usize) {
    let language = registry::build("modular-arithmetic").expect("a language");
    let dfa = language.automaton().expect("regular");
    bencher.bench(|| black_box(LengthSampler::new(dfa, max).log_weight(max - 1)));
}

/// One string of up to 500 symbols.
#[divan::bench(args = ["modular-arithmetic", "majority", "stack-manipulation", "binary-multiplication", "dyck-1"])]
fn sample_500(bencher: Bencher<'_, '_>, name: &str) {
    let language = registry::build(name).expect("a language");
    let distribution = language.by_length(0..=500).expect("strings");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    bencher.bench_local(|| black_box(distribution.sample(&mut rng)));
}

/// The next-symbol sets of a string of 499 or 500 symbols.
#[divan::bench(args = ["dyck-2-3", "unmarked-reversal", "missing-duplicate", "binary-multiplication"])]
fn next_sets_500(bencher: Bencher<'_, '_>, name: &str) {
    let language = registry::build(name).expect("a language");
    let distribution = language.by_length(499..=500).expect("strings");
    let word = distribution.sample(&mut ChaCha8Rng::seed_from_u64(1));
    bencher.bench(|| black_box(language.next_sets(&word)));
}

/// Edit distances of 50 negatives of length up to 500.
#[divan::bench(args = ["dyck-2-3", "repeat-01"])]
fn distances_of_50(bencher: Bencher<'_, '_>, name: &str) {
    let language = registry::build(name).expect("a language");
    let negatives = Negatives::new(language.as_ref(), 0..=500, Coin::PerExample).expect("strings");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let words: Vec<Word> = (0..50).filter_map(|_| negatives.sample(&mut rng).ok()).map(|n| n.word).collect();
    let dfa = language.automaton().expect("regular");
    bencher.bench(|| words.iter().filter_map(|w| dfa.nearest(w)).map(|n| n.distance).sum::<usize>());
}
