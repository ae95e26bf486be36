//! Our data against the definitions, and the published data against ours.

use std::collections::BTreeMap;

use wug_language::Reading;
use wug_language::registry::{self, LANGUAGES};
use wug_table::TableFormat;

use super::*;
use crate::flare::{Ranges, validate};
use crate::manifest::Recorder;
use crate::{MemoryFiles, Seed};

fn small() -> Vec<SplitSpec> {
    let mut specs = default_splits();
    for spec in &mut specs {
        spec.size = spec.size.div_ceil(50);
        spec.lengths = 0..=(*spec.lengths.end()).min(60);
    }
    specs
}

#[test]
fn what_is_written_is_read_back_and_validates() {
    for entry in LANGUAGES {
        for reading in Reading::ALL {
            let language = entry.build(reading).unwrap();
            let data = generate(language.as_ref(), &small(), reading, Seed::new(1)).unwrap();
            let mut memory = MemoryFiles::default();
            write(&data.splits, language.as_ref(), &mut Recorder::new(&mut memory, "")).unwrap();
            for split in &data.splits {
                let back = read(&memory, &split.name, language.alphabet()).unwrap().unwrap();
                assert_eq!(&back, split, "{} {reading} {}", entry.name, split.name);
            }
            let report = validate(&memory, entry.name, language.as_ref(), reading, &Ranges::new()).unwrap();
            assert_eq!(report.errors, 0, "{} {reading}: {report:?}", entry.name);
            let mut rows = MemoryFiles::default();
            let mut recorder = Recorder::new(&mut rows, "");
            write_rows(&data.splits, language.alphabet(), TableFormat::Jsonl, &mut recorder).unwrap();
            for split in &data.splits {
                let back = read_rows(&rows, &split.name, language.alphabet()).unwrap().unwrap();
                assert_eq!(&back, split, "{} {reading} {}", entry.name, split.name);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_data() {
    let language = registry::build("dyck-2-3").unwrap();
    let draw = |seed| generate(language.as_ref(), &small(), Reading::Corrected, Seed::new(seed)).unwrap();
    assert_eq!(draw(3), draw(3));
    assert_ne!(draw(3), draw(4));
}

#[test]
fn corrected_labels_are_balanced_in_every_split_and_published_ones_are_coins() {
    let flare = || LANGUAGES.iter().filter(|entry| entry.suite == "flare");
    assert_eq!(flare().count(), 18);
    let labelled = |entry: &registry::LanguageEntry, specs: &[SplitSpec], reading, seed| {
        let language = entry.build(reading).unwrap();
        let data = generate(language.as_ref(), specs, reading, Seed::new(seed)).unwrap();
        data.splits.into_iter().filter(|split| split.name != "test-edit-distance").collect::<Vec<_>>()
    };
    let mut larger = [0, 0];
    for (entry, seed) in flare().flat_map(|entry| [0, 1, 2].map(|seed| (entry, seed))) {
        let mut specs = small();
        // Odd and even sizes, and the smallest.
        specs.iter_mut().zip([201, 20, 21, 100, 1, 1]).for_each(|(spec, size)| spec.size = size);
        for split in labelled(entry, &specs, Reading::Corrected, seed) {
            let (positives, size) = (split.positives(), split.examples.len());
            assert!(positives.abs_diff(size - positives) == size % 2, "{} {}", entry.name, split.name);
            larger[0] += usize::from(2 * positives < size);
            larger[1] += usize::from(2 * positives > size);
        }
    }
    assert!(larger[0] > 20 && larger[1] > 20, "one side has the odd string too often: {larger:?}");
    // The order says nothing: neighbours are as often alike as not.
    let parity = labelled(registry::find("parity").unwrap().entry, &default_splits(), Reading::Corrected, 0);
    let labels: Vec<bool> = parity[0].examples.iter().map(|e| e.label).collect();
    let alike = labels.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!((4_800..5_200).contains(&alike), "{alike}");
    let coins = labelled(registry::find("parity").unwrap().entry, &default_splits(), Reading::Published, 0);
    assert!(coins.iter().any(|split| 2 * split.positives() != split.examples.len()));
}

#[test]
fn a_language_too_small_to_hold_strings_out_loses_that_split_only() {
    let language = registry::build("repeat-01").unwrap();
    let data = generate(language.as_ref(), &default_splits(), Reading::Corrected, Seed::new(0)).unwrap();
    let names: Vec<&str> = data.splits.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["training", "validation-short", "validation-long", "test", "test-edit-distance"]);
    assert!(data.notes[0].starts_with("test-short-held-out: left out"), "{:?}", data.notes);
}

#[test]
fn held_out_strings_are_new() {
    let language = registry::build("parity").unwrap();
    let data = generate(language.as_ref(), &default_splits(), Reading::Corrected, Seed::new(0)).unwrap();
    let held_out = data.splits.iter().find(|s| s.name == "test-short-held-out").unwrap();
    for earlier in &data.splits[..3] {
        assert!(held_out.distinct().is_disjoint(&earlier.distinct()), "{}", earlier.name);
    }
}

#[test]
fn malformed_files_name_the_line() {
    let language = registry::build("parity").unwrap();
    let files = |labels: &str, words: &str, next: &str| {
        let text = [("labels.txt", labels), ("main.tok", words), ("next-symbols.jsonl", next)];
        MemoryFiles(
            text.iter().map(|(n, t)| ((*n).to_owned(), t.as_bytes().to_vec())).collect::<BTreeMap<_, _>>(),
        )
    };
    let message = |memory: &MemoryFiles| read(memory, TRAINING, language.alphabet()).unwrap_err().to_string();
    assert_eq!(message(&files("2\n", "1\n", "")), "labels.txt, line 1: `2` is neither 0 nor 1");
    assert!(message(&files("1\n0\n", "1\n2\n", "")).starts_with("main.tok, line 2: unknown token `2`"));
    assert_eq!(message(&files("1\n", "1\n0\n", "")), "labels.txt: 1 labels for 2 strings in main.tok");
    assert!(
        message(&files("1\n", "1\n", "[{\"s\":\"0\"\n"))
            .starts_with("next-symbols.jsonl, line 1: not a list")
    );
    assert!(message(&files("1\n", "1\n", "[]\n")).contains("0 next-symbol sets for a string of 1 symbols"));
}

#[test]
fn next_sets_survive_quotes_and_order() {
    let alphabet = wug_language::Alphabet::new(["b", "\"", "a"]);
    let set = wug_language::NextSet::all(&alphabet).with_end(true);
    let line = next_line(std::slice::from_ref(&set), &alphabet);
    assert_eq!(line, r#"[{"s":"\" a b","e":true}]"#);
    assert_eq!(parse_next_line(&line, &alphabet).unwrap(), [set]);
}
