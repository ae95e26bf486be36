//! Our data against the released files and against golden values.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;

use serde::Deserialize;
use wug_language::{Symbol, Word, registry};

use super::*;
use crate::Seed;
use crate::corpus::{
    MaskKind, PRIOR, SEED, SIZES, Slice, Statistics, TEST_SIZE, code_length_bits, deterministic_steps, draw,
    test_after, valid_next,
};
use crate::shared::shared;

/// One language of each kind, of which the shared data have the released files.
const SHARED: [Published; 3] = [Published::AnBn, Published::AnBmCnPlusM, Published::Dyck1];

fn released_languages() -> impl Iterator<Item = (Published, PathBuf)> {
    let path = |language: Published| shared(&format!("data/bliss/{}", language.directory()));
    SHARED.into_iter().filter_map(move |language| Some((language, path(language)?)))
}

/// A writer that compares what is written with what a reader has.
struct Comparer<R> {
    expected: R,
    read: u64,
}

impl<R: Read> Comparer<R> {
    fn new(expected: R) -> Self {
        Self { expected, read: 0 }
    }

    fn finish(mut self) {
        assert_eq!(self.expected.read(&mut [0]).unwrap(), 0, "there is more after byte {}", self.read);
    }
}

impl<R: Read> Write for Comparer<R> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut expected = vec![0; bytes.len()];
        self.expected.read_exact(&mut expected)?;
        assert!(expected == bytes, "bytes differ after {}", self.read);
        self.read += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn compare(language: Published, expected: impl Read, words: impl Iterator<Item = Word>) {
    let mut comparer = Comparer::new(expected);
    CorpusText::new(&language.alphabet()).unwrap().write(&mut comparer, words).unwrap();
    comparer.finish();
}

#[test]
fn training_corpora_are_the_released_bytes() {
    for (language, path) in released_languages() {
        for size in SIZES {
            let name = Published::train_file(size, PRIOR, SEED);
            let mut archive = Archive::new(File::open(path.join(format!("{name}.zip"))).unwrap()).unwrap();
            assert_eq!(archive.name().unwrap(), name);
            let words = language.corpus(size, PRIOR, SEED).unwrap();
            compare(language, archive.content(Some(PASSWORD)).unwrap(), words.into_iter());
        }
    }
}

#[test]
fn test_sets_and_previews_are_the_released_bytes() {
    for (language, path) in released_languages() {
        compare(language, File::open(path.join("preview.txt")).unwrap(), language.preview().into_iter());
        let mut archive = Archive::new(File::open(path.join("test.txt.zip")).unwrap()).unwrap();
        compare(language, archive.content(Some(PASSWORD)).unwrap(), language.test());
    }
}

#[test]
fn masks_are_the_released_cells() {
    for (language, path) in released_languages() {
        let mut archive = Archive::new(File::open(path.join(language.mask_file())).unwrap()).unwrap();
        assert_eq!(archive.name().unwrap(), "data.npy");
        let mut header = [0; 128];
        archive.content(None).unwrap().read_exact(&mut header).unwrap();
        assert_eq!(header[..], crate::npy::header("|b1", &language.mask_shape()));
        let mut mask = MaskReader::new(archive.content(None).unwrap()).unwrap();
        mask.expect_shape(&language.mask_shape()).unwrap();
        for (i, ours) in language.mask_rows().enumerate() {
            assert!(mask.next().unwrap().unwrap() == ours, "{language}: row {i}");
        }
        assert!(mask.next().is_none());
    }
}

#[test]
fn a_released_corpus_can_be_read() {
    for (language, path) in released_languages() {
        let name = format!("{}.zip", Published::train_file(1000, PRIOR, SEED));
        let mut archive = Archive::new(File::open(path.join(&name)).unwrap()).unwrap();
        let text = CorpusText::new(&language.alphabet()).unwrap();
        let lines = text.read(BufReader::new(archive.content(Some(PASSWORD)).unwrap()));
        let words: Vec<Word> = lines.collect::<Result<_, _>>().unwrap();
        assert_eq!(words, language.corpus(1000, PRIOR, SEED).unwrap());
        assert!(matches!(archive.content(Some("4321")).map(drop), Err(FormatError::WrongPassword)));
        assert!(matches!(archive.content(None).map(drop), Err(FormatError::WrongPassword)));

        let bytes = fs::read(path.join(name)).unwrap();
        let cut = std::io::Cursor::new(&bytes[..bytes.len() / 2]);
        assert!(matches!(Archive::new(cut), Err(FormatError::Truncated)));
    }
}

#[derive(Deserialize)]
struct Golden {
    training: Vec<Training>,
    windows: Vec<Window>,
    dyck_tests: Vec<DyckTest>,
}

#[derive(Deserialize)]
struct Training {
    language: String,
    size: usize,
    unique: usize,
    longest: usize,
    max_n: Option<usize>,
    max_m: Option<usize>,
    depth: Option<usize>,
    targets: usize,
    empty: usize,
    optimal_bits: f64,
}

#[derive(Deserialize)]
struct Window {
    language: String,
    b: usize,
    first_n: usize,
    last_n: usize,
}

#[derive(Deserialize)]
struct DyckTest {
    language: String,
    depth: usize,
    up_to_depth: usize,
    deeper: usize,
    longest: usize,
    exhaustive_to: usize,
    beyond_training: BTreeMap<usize, usize>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../../testdata/bliss.json")).unwrap()
}

fn most(words: &[Word], symbol: u16) -> usize {
    words.iter().map(|word| word.iter().filter(|s| s.0 == symbol).count()).max().unwrap()
}

fn nesting(word: &[Symbol]) -> usize {
    let heights = word.iter().scan(0, |height, bracket| {
        *height += if bracket.0 % 2 == 0 { 1 } else { -1 };
        Some(*height)
    });
    heights.max().map_or(0, |height: i32| height.unsigned_abs() as usize)
}

#[test]
fn training_statistics_are_the_published_ones() {
    let golden = golden();
    assert_eq!(golden.training.len(), 24);
    for row in golden.training {
        let language: Published = row.language.parse().unwrap();
        let words = language.corpus(row.size, PRIOR, SEED).unwrap();
        let counted = Statistics::of(&words);
        let expected = Statistics {
            strings: row.size,
            unique: row.unique,
            longest: row.longest,
            targets: row.targets,
            empty: row.empty,
        };
        assert_eq!(counted, expected, "{language} {}", row.size);
        assert!(row.max_n.is_none_or(|n| most(&words, 0) == n), "{language} {}", row.size);
        assert!(row.max_m.is_none_or(|m| most(&words, 1) == m), "{language} {}", row.size);
        let depth = row.depth.map(|_| words.iter().map(|word| nesting(word)).max().unwrap());
        assert_eq!(depth, row.depth, "{language} {}", row.size);

        let model = registry::build(&row.language).unwrap();
        let bits = code_length_bits(&*model.natural().unwrap(), &words);
        assert!((bits - row.optimal_bits).abs() < 1e-6, "{language} {}: {bits}", row.size);
    }
}

#[test]
fn conditional_probabilities_multiply_to_those_of_strings() {
    for language in Published::ALL {
        let registered = registry::build(language.name()).unwrap();
        let whole = registered.natural().unwrap();
        for word in language.corpus(200, PRIOR, SEED).unwrap() {
            let targets = word.iter().map(|symbol| symbol.index() + 1).chain([0]);
            let steps = registered.next_sets(&word).into_iter().zip(targets);
            let log: f64 =
                steps.map(|(next, target)| language.next_probabilities(&next, PRIOR)[target].ln()).sum();
            assert!((log - whole.log_prob(&word)).abs() < 1e-9, "{language}: {word:?}");
        }
    }
}

#[test]
fn slices_start_where_they_say() {
    let counts = Published::AnBmCnPlusM;
    let train = counts.corpus(100, PRIOR, SEED).unwrap();
    let pairs = |slice, count| -> Vec<(usize, usize)> {
        let power = |word: &Word, letter| word.iter().filter(|symbol| symbol.0 == letter).count();
        counts.slice(slice, &train, count).map(|word| (power(&word, 0), power(&word, 1))).collect()
    };
    // The longest training string is (9, 20), the 386th of the test set, counted from 0.
    let after = pairs(Slice::AfterLast, 2);
    assert_eq!(after, [(10, 19), (11, 18)]);
    assert_eq!(pairs(Slice::Longer, 2), [(1, 29), (2, 28)]);
    // n up to 18 and m up to 20 were trained on; "up to 120" of the paper is 100 more.
    let square = pairs(Slice::Square, 10_000);
    assert_eq!((square[0], square[1], square[9_999]), ((21, 21), (21, 22), (120, 120)));
    assert_eq!(pairs(Slice::Square, 1_000).len(), 1_000);
    for slice in [Slice::AfterLast, Slice::Longer, Slice::Square] {
        let train = Published::AnBn.corpus(100, PRIOR, SEED).unwrap();
        let lengths: Vec<usize> =
            Published::AnBn.slice(slice, &train, 10_000).map(|word| word.len()).collect();
        assert_eq!((lengths[0], lengths[9_999]), (42, 20_040));
    }
}

#[test]
fn words_are_members_of_the_registered_language() {
    for language in Published::ALL {
        let registered = registry::build(language.name()).unwrap();
        assert_eq!(registered.alphabet(), &language.alphabet());
        let train = language.corpus(1000, PRIOR, SEED).unwrap();
        let test = language.test().take_while(|word| word.len() < 500);
        assert!(train.into_iter().chain(test).all(|word| registered.contains(&word)), "{language}");
    }
}

#[test]
fn windows_start_right_after_training() {
    for window in golden().windows {
        let language: Published = window.language.parse().unwrap();
        let longest = Statistics::of(&language.corpus(1000 / window.b, PRIOR, SEED).unwrap()).longest;
        let registered = registry::build(&window.language).unwrap();
        let letters = registered.alphabet().len();
        let expected = (window.first_n..=window.last_n).map(|n| test_set::power(letters, n));
        let ours = test_after(&*registered, longest, 1000 * window.b);
        if window.b < 10 || window.language == "an-bn" {
            assert!(ours.eq(expected), "{language} at {}", window.b);
        } else {
            assert!(ours.take(500).eq(expected.take(500)), "{language} at {}", window.b);
        }
    }
}

/// The depth of S → open S close S | ε.
fn derivation_depth(word: &[Symbol]) -> usize {
    let mut height = 0;
    for (i, bracket) in word.iter().enumerate() {
        height += if bracket.0 % 2 == 0 { 1 } else { -1 };
        if height == 0 {
            return 1 + derivation_depth(&word[1..i]).max(derivation_depth(&word[i + 1..]));
        }
    }
    1
}

#[test]
fn dyck_tests_are_shallow_and_miss_strings() {
    for facts in golden().dyck_tests {
        let language: Published = facts.language.parse().unwrap();
        let words: Vec<Word> = language.test().collect();
        assert_eq!(words.len(), TEST_SIZE);
        let shallow = words.iter().filter(|word| derivation_depth(word) <= facts.depth).count();
        assert_eq!((shallow, words.len() - shallow), (facts.up_to_depth, facts.deeper));
        assert!(words.iter().all(|word| derivation_depth(word) <= facts.depth + 1));
        assert_eq!(words.last().unwrap().len(), facts.longest);
        assert_eq!(language.longest_test(), facts.longest);

        let registered = registry::build(&facts.language).unwrap();
        let of_length = |n| words.iter().filter(|word| word.len() == n).cloned().collect::<Vec<_>>();
        for n in 0..=facts.exhaustive_to {
            assert!(of_length(n).into_iter().eq(registered.members(n)), "{language} at length {n}");
        }
        let n = facts.exhaustive_to + 2;
        assert!(of_length(n).len() < registered.members(n).count());

        for (size, beyond) in facts.beyond_training {
            let longest = Statistics::of(&language.corpus(size, PRIOR, SEED).unwrap()).longest;
            assert_eq!(words.iter().filter(|word| word.len() > longest).count(), beyond, "{language} {size}");
        }
    }
}

#[test]
fn the_true_next_strings_leave_none_out() {
    // Dyck-2 has 2³ · 5 strings of length 6 and 2⁴ · 14 of length 8.
    let dyck = registry::build("dyck-2").unwrap();
    let words: Vec<Word> = test_after(&*dyck, 4, 264).collect();
    assert_eq!(words.iter().filter(|word| word.len() == 6).count(), 40);
    assert_eq!(words.last().unwrap().len(), 8);
    assert!(words.is_sorted_by_key(|word| (word.len(), word.clone())));
    assert_eq!(test_after(&*dyck, 4, 265).last().unwrap().len(), 10);
    // The pairs after (9, 20) of the two-count language: 29 of sum 30, then 30 of sum 31.
    let counts = registry::build("an-bm-cn-plus-m").unwrap();
    let lengths: Vec<usize> = test_after(&*counts, 58, 30).map(|word| word.len()).collect();
    assert_eq!((lengths[0], lengths[28], lengths[29]), (60, 60, 62));
}

#[test]
fn exact_masks_are_the_published_ones_but_for_the_first_step() {
    for language in Published::ALL {
        let registered = registry::build(language.name()).unwrap();
        for word in language.test().take_while(|word| word.len() < 100).take(2000) {
            let published = language.mask_row(&word);
            match language.mask_kind() {
                MaskKind::ValidNext => assert_eq!(valid_next(&*registered, &word), published),
                MaskKind::Deterministic => {
                    let exact = deterministic_steps(&*registered, &word);
                    assert_eq!(exact[1..], published[1..]);
                    assert!(exact[0] && !published[0], "`a` is certain at the first step, yet not scored");
                }
            }
        }
    }
}

#[test]
fn scored_steps_are_counted_as_in_the_paper() {
    let scored = |language: Published, text: &str| {
        let word = language.alphabet().parse(text).unwrap();
        language.mask_row(&word).iter().filter(|&&step| step).count()
    };
    assert_eq!(scored(Published::AnBn, "aaabbb"), 3); // two b and the end
    assert_eq!(scored(Published::AnBnCn, "aabbcc"), 4);
    assert_eq!(scored(Published::AnBnCnDn, "aabbccdd"), 6);
    assert_eq!(scored(Published::AnBmCnPlusM, "aabbbccccc"), 5);
    let shapes: Vec<_> = Published::ALL.into_iter().map(Published::mask_shape).collect();
    assert_eq!(shapes[..3], [[15_000, 30_001], [15_000, 45_001], [15_000, 60_001]]);
    assert_eq!(shapes[3], [15_000, 464]);
    assert_eq!(shapes[4..], [[15_000, 64, 3], [15_000, 32, 5]]);
}

#[test]
fn corrected_corpora_grow_by_drawing_on() {
    for language in Published::ALL {
        let registered = registry::build(language.name()).unwrap();
        let small = draw(&*registered, 100, Seed::new(1)).unwrap();
        let large = draw(&*registered, 250, Seed::new(1)).unwrap();
        assert!(large.iter().all(|word| registered.contains(word)));
        assert!(large.is_sorted_by_key(Vec::len));
        // Sorting is stable, so the smaller corpus is a subsequence of the larger one.
        let mut rest = large.iter();
        assert!(small.iter().all(|word| rest.any(|other| other == word)), "{language}");
        assert_ne!(small, draw(&*registered, 100, Seed::new(2)).unwrap());
    }
}

#[test]
fn other_priors_and_seeds_work_and_bad_ones_are_named() {
    let shorter = Published::AnBn.corpus(1000, 0.9, 7).unwrap();
    assert!(Statistics::of(&shorter).targets < 4000);
    assert_eq!(Published::train_file(100, 0.9, 7), "train_100_p_0_9_seed_7.txt");
    let error = Published::Dyck1.corpus(10, 0.7, 7).unwrap_err();
    let message = "a prior of 0.7 does not work for dyck-1, where it is the probability to open a bracket: from 0 to 0.5";
    assert_eq!(error.to_string(), message);
    assert!(Published::AnBnCn.corpus(10, 0.0, 7).is_err());
    assert!(Published::AnBnCn.corpus(10, f64::NAN, 7).is_err());
    assert!("parity".parse::<Published>().is_err());
}
