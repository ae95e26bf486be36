//! The published FLaRe data against the oracle.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod shared;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wug_dataset::language::{Reading, registry};
use wug_dataset::{MemoryFiles, flare, recognition};

use shared::shared;

/// Sizes as counted from the released files (spec of FLaRe, 2.3): positives, distinct strings and tokens of the training
/// split.
const TRAINING: [(&str, usize, usize, usize); 9] = [
    ("even-pairs", 4_957, 8_060, 198_169),
    ("parity", 4_989, 8_220, 203_438),
    ("cycle-navigation", 5_002, 9_137, 202_560),
    ("dyck-2-3", 5_061, 8_518, 203_336),
    ("majority", 5_039, 7_341, 193_209),
    ("stack-manipulation", 5_056, 9_702, 270_390),
    ("marked-reversal", 5_012, 7_465, 199_343),
    ("binary-addition", 4_929, 9_074, 217_161),
    ("compute-sqrt", 5_077, 8_460, 210_520),
];

fn archives() -> Vec<PathBuf> {
    TRAINING.iter().filter_map(|row| shared(&format!("data/flare/{}.tar.xz", row.0))).collect()
}

/// A language's files, by their names inside its directory.
fn unpack(path: &Path) -> (String, MemoryFiles) {
    let mut packed = std::io::BufReader::new(File::open(path).unwrap());
    let mut bytes = Vec::new();
    lzma_rs::xz_decompress(&mut packed, &mut bytes).unwrap();
    let mut memory = MemoryFiles::default();
    let mut language = String::new();
    for entry in tar::Archive::new(bytes.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        let Some((top, rest)) = name.split_once('/') else { continue };
        top.clone_into(&mut language);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        if entry.header().entry_type().is_file() {
            memory.0.insert(rest.to_owned(), content);
        }
    }
    (language, memory)
}

fn number(split: &Value, name: &str) -> u64 {
    split[name].as_u64().unwrap_or_else(|| panic!("{name} in {split}"))
}

#[test]
fn published_data_validate() {
    for path in archives() {
        let (name, memory) = unpack(&path);
        let named = registry::find(&name).unwrap();
        for reading in Reading::ALL {
            let language = named.build(reading).unwrap();
            let report =
                flare::validate(&memory, &name, language.as_ref(), reading, &flare::Ranges::new()).unwrap();
            for (split, findings) in &report.splits {
                let at = format!("{name} {split} {reading}");
                let wrong_roots = name == "compute-sqrt" && split == "test" && reading == Reading::Corrected;
                assert_eq!(number(findings, "label_errors"), if wrong_roots { 943 } else { 0 }, "{at}");
                let hidden = name == "stack-manipulation" && reading == Reading::Corrected;
                let next_errors = number(findings, "next_errors");
                assert_eq!(
                    next_errors > 0,
                    hidden && number(findings, "next_strings") > 0,
                    "{at}: {next_errors}"
                );
                if hidden && split == "training" {
                    assert_eq!(
                        (next_errors, number(findings, "next_positions")),
                        (5_056 + 8_663, 154_151),
                        "{at}"
                    );
                }
                if split == "test-edit-distance" {
                    assert_eq!(number(findings, "distance_errors"), 0, "{at}");
                }
            }
            assert_eq!(number(&report.splits["training"], "examples"), 10_000, "{name}");
        }
    }
}

#[test]
fn published_data_have_the_known_sizes() {
    for path in archives() {
        let (name, memory) = unpack(&path);
        let language = registry::build(&name).unwrap();
        let split = recognition::read(&memory, "training", language.alphabet()).unwrap().unwrap();
        let tokens: usize = split.examples.iter().map(|e| e.word.len()).sum();
        let row = TRAINING.iter().find(|row| row.0 == name).unwrap();
        assert_eq!((split.positives(), split.distinct().len(), tokens), (row.1, row.2, row.3), "{name}");
    }
}
