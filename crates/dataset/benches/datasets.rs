//! How long whole data sets take, written to memory.

use divan::{Bencher, black_box};
use wug_dataset::language::{Reading, registry};
use wug_dataset::manifest::Recorder;
use wug_dataset::{MemoryFiles, Seed, bliss, corpus, find, pairs, recognition, wade};

fn main() {
    divan::main();
}

const FLARE: &[&str] = &[
    "even-pairs",
    "repeat-01",
    "parity",
    "cycle-navigation",
    "modular-arithmetic",
    "dyck-2-3",
    "first",
    "majority",
    "stack-manipulation",
    "marked-reversal",
    "unmarked-reversal",
    "marked-copy",
    "missing-duplicate",
    "odds-first",
    "binary-addition",
    "binary-multiplication",
    "compute-sqrt",
    "bucket-sort",
];

/// All splits of a FLaRe language at published size, corrected reading (the authors' code: 5.5 to 18 s).
#[divan::bench(args = FLARE, sample_count = 5)]
fn flare_splits(bencher: Bencher<'_, '_>, name: &str) {
    let language = registry::build(name).expect("a language");
    bencher.bench(|| {
        let splits = recognition::default_splits();
        let data = recognition::generate(language.as_ref(), &splits, Reading::Corrected, Seed::new(0))
            .expect("data");
        let mut memory = MemoryFiles::default();
        recognition::write(&data.splits, language.as_ref(), &mut Recorder::new(&mut memory, ""))
            .expect("files");
        memory
    });
}

/// 120,000 distinct TSE strings with their pairs (the authors' code: about ten hours of de-duplication).
#[divan::bench(args = ["adj-np", "np-vp", "nested", "cross-serial"], sample_count = 5)]
fn tse_strings(bencher: Bencher<'_, '_>, name: &str) {
    let named = registry::find(name).expect("a language");
    bencher.bench(|| {
        pairs::generate(&named, &pairs::PairSizes::default(), Reading::Corrected, Seed::new(0)).expect("data")
    });
}

/// How TSE grows with the number of strings: it should double.
#[divan::bench(args = [50_000, 100_000, 200_000], sample_count = 5)]
fn tse_growth(bencher: Bencher<'_, '_>, train: usize) {
    let named = registry::find("nested").expect("a language");
    let sizes = pairs::PairSizes {
        training: train,
        validation: 0,
        test: 0,
        out_of_distribution: 0,
        ..pairs::PairSizes::default()
    };
    bencher.bench(|| pairs::generate(&named, &sizes, Reading::Corrected, Seed::new(0)).expect("data"));
}

/// The 1,200 sequences of a WADE task.
#[divan::bench(args = ["periodic", "hard-sym-ct", "qa-world-def", "adj-qa-ct"], sample_count = 20)]
fn wade_sequences(bencher: Bencher<'_, '_>, name: &str) {
    let task = wade::task(name).expect("a task");
    bencher.bench(|| wade::dataset(task, Reading::Corrected, 1_200, Seed::new(0)));
}

/// The 24 published BLISS training corpora.
#[divan::bench(sample_count = 20)]
fn bliss_corpora() {
    for language in bliss::Published::ALL {
        for size in corpus::SIZES {
            black_box(language.corpus(size, corpus::PRIOR, corpus::SEED).expect("a corpus"));
        }
    }
}

/// The 10,000 strings of aⁿbⁿ after n = 20: 100 million symbols.
#[divan::bench(sample_count = 5)]
fn bliss_test_to_n_10020() -> usize {
    let language = registry::build("an-bn").expect("a language");
    corpus::test_after(language.as_ref(), 40, 10_000).map(|word| word.len()).sum()
}

/// All 20,910 commands of SCAN.
#[divan::bench(sample_count = 20)]
fn scan_commands() -> usize {
    find::scan::commands().len()
}
