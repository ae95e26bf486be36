//! Pairs, bounds and files.

use wug_language::{Reading, Word, registry};

use super::*;
use crate::manifest::Recorder;
use crate::pairs::{PairSizes, generate};
use crate::table::TableFormat;
use crate::{Bounds, MemoryFiles, Seed};

fn small() -> PairSizes {
    PairSizes {
        training: 900,
        validation: 100,
        test: 2_000,
        out_of_distribution: 2_000,
        ..PairSizes::default()
    }
}

const LANGUAGES: [&str; 4] = ["adj-np", "np-vp", "nested", "cross-serial"];

#[test]
fn corrected_negatives_are_ungrammatical_and_near() {
    for name in LANGUAGES {
        for terminals in [5, 50] {
            let named = registry::find(&format!("{name}:terminals={terminals}")).unwrap();
            let language = named.build(Reading::Corrected).unwrap();
            let data = generate(&named, &small(), Reading::Corrected, Seed::new(1)).unwrap();
            for pair in data.test.iter().chain(&data.out_of_distribution) {
                assert!(language.contains(&pair.good) && !language.contains(&pair.bad), "{name}");
                assert!(pair.good.len().abs_diff(pair.bad.len()) <= 1, "{name}");
            }
            assert!(data.test.iter().all(|p| (4..=30).contains(&p.good.len())));
            assert!(data.out_of_distribution.iter().all(|p| (31..=100).contains(&p.good.len())));
            let mut all: Vec<&Word> = data.train.iter().chain(&data.validation).collect();
            all.extend(data.test.iter().map(|p| &p.good));
            all.sort_unstable();
            assert!(all.windows(2).all(|w| w[0] != w[1]), "{name}: all strings are distinct");
        }
    }
}

/// A third of the released negatives are grammatical, 1/(3T) identical; the ceiling is 2/3 + (1 − 1/T)/6.
#[test]
fn published_negatives_have_the_known_ceiling() {
    for name in ["nested", "cross-serial"] {
        for terminals in [5u8, 10] {
            let named = registry::find(&format!("{name}:terminals={terminals}")).unwrap();
            let language = named.build(Reading::Published).unwrap();
            let sizes = PairSizes { test: 10_000, out_of_distribution: 10, ..small() };
            let data = generate(&named, &sizes, Reading::Published, Seed::new(2)).unwrap();
            let bounds = Bounds::of(&data.test, language.as_ref());
            let t = f64::from(terminals);
            let share = |n: usize| n as f64 / 10_000.0;
            assert!((share(bounds.grammatical) - 1.0 / 3.0).abs() < 0.02, "{name} {terminals}");
            assert!((share(bounds.identical) - 1.0 / (3.0 * t)).abs() < 0.01, "{name} {terminals}");
            assert!(
                (bounds.ceiling() - (2.0 / 3.0 + (1.0 - 1.0 / t) / 6.0)).abs() < 0.015,
                "{name} {terminals}"
            );
            assert!((bounds.chance() - (1.0 - 1.0 / (3.0 * t)) / 2.0).abs() < 0.01, "{name} {terminals}");
        }
    }
}

#[test]
fn written_files_read_back_and_validate() {
    for name in LANGUAGES {
        let named = registry::find(name).unwrap();
        for reading in Reading::ALL {
            let language = named.build(reading).unwrap();
            let data = generate(&named, &small(), reading, Seed::new(3)).unwrap();
            for ours in [false, true] {
                let mut memory = MemoryFiles::default();
                let mut out = Recorder::new(&mut memory, "");
                if ours {
                    write_rows(&data, language.alphabet(), TableFormat::Jsonl, &mut out).unwrap();
                } else {
                    write(&data, language.alphabet(), &mut out).unwrap();
                }
                let (pairs, ood) = if ours {
                    ("test.jsonl", "out-of-distribution.jsonl")
                } else {
                    ("test_pair.jsonl", "out_of_dist_test_pair.jsonl")
                };
                let alphabet = language.alphabet();
                assert_eq!(read_pairs(&memory, pairs, alphabet).unwrap().unwrap(), data.test);
                assert_eq!(read_pairs(&memory, ood, alphabet).unwrap().unwrap(), data.out_of_distribution);
                let train: Vec<Word> = read_corpus(&memory, "train.jsonl", alphabet)
                    .unwrap()
                    .unwrap()
                    .into_iter()
                    .map(|(w, _)| w)
                    .collect();
                assert_eq!(train, data.train);
                let report = validate(&memory, name, language.as_ref(), reading).unwrap();
                assert_eq!(report.errors, 0, "{name} {reading}: {report:?}");
            }
        }
    }
}

#[test]
fn too_few_strings_are_an_error_not_an_endless_loop() {
    let named = registry::find("np-vp:terminals=1").unwrap();
    let error = generate(&named, &small(), Reading::Corrected, Seed::new(1)).unwrap_err().to_string();
    assert_eq!(error, "asked for 3000 distinct strings of length 4..30, but only 14 exist");
}

#[test]
fn near_misses_that_cannot_be_are_refused_at_once() {
    let refused = |name: &str, sizes: &PairSizes| {
        let named = registry::find(name).unwrap();
        generate(&named, sizes, Reading::Corrected, Seed::new(1)).unwrap_err().to_string()
    };
    assert!(refused("nested:classes=1", &small()).contains("with 1 classes"));
    let short = PairSizes { lengths: 0..=2, ..small() };
    assert!(refused("nested", &short).contains("length 0..2"));
}

/// Words that are put in follow the law of the language, or their frequency would give them away.
#[test]
fn near_misses_follow_the_law_of_the_terminals() {
    let named = registry::find("adj-np:terminals=50,law=zipf").unwrap();
    let data = generate(&named, &small(), Reading::Corrected, Seed::new(1)).unwrap();
    let mut put_in: Vec<u16> = Vec::new();
    for pair in &data.test {
        put_in.extend(pair.good.iter().zip(&pair.bad).filter(|(g, b)| g != b).map(|(_, b)| b.0));
    }
    let first = put_in.iter().filter(|&&a| a == 50).count() as f64 / put_in.len() as f64;
    let expected = 1.0 / (1..=50).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    assert!((first - expected).abs() < 0.02, "{first} of {expected}");
}
