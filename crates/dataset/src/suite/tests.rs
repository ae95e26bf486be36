//! What every suite must have.

use std::collections::BTreeMap;

use super::*;
use crate::card::CARD;
use crate::manifest::{About, DataManifest, Recorder};
use crate::tabular::DatasetConfig;
use crate::{FileSource as _, MemoryFiles, Seed};

#[test]
fn names_are_unique_and_found() {
    for suite in SUITES {
        assert_eq!(named(suite.name()).map(Suite::name), Some(suite.name()));
    }
    for format in DataFormat::ALL {
        assert_eq!(DataFormat::named(format.name()), Some(format));
    }
}

#[test]
fn a_member_belongs_to_one_suite() {
    for suite in SUITES {
        for member in suite.published_members().iter().map(String::as_str).chain(suite.members()) {
            let owners: Vec<&str> = SUITES.iter().filter(|s| s.contains(member)).map(|s| s.name()).collect();
            assert_eq!(owners, [suite.name()], "{member}");
        }
    }
}

#[test]
fn published_members_can_be_planned_with_defaults() {
    let none = BTreeMap::new();
    for suite in SUITES {
        assert!(!suite.members().is_empty());
        for member in suite.published_members() {
            for reading in Reading::ALL {
                let options = options(*suite, reading, &none).unwrap();
                assert!(suite.plan(&member, reading, &options).is_ok(), "{} {member}", suite.name());
            }
        }
    }
}

#[test]
fn formats_are_listed_and_two_are_common() {
    for suite in SUITES {
        assert!([JSONL, PARQUET].iter().all(|format| suite.about().formats.contains(format)));
        let members = suite.members();
        for member in members.iter().map(|member| Some(*member)).chain([None]) {
            let formats = suite.formats_of(member);
            assert!(
                !formats.is_empty() && formats.iter().all(|format| suite.about().formats.contains(format))
            );
        }
        assert!(
            suite.about().formats.iter().all(|format| DataFormat::ALL.contains(format)),
            "{}",
            suite.name()
        );
    }
}

#[test]
fn bad_options_are_named() {
    let error = |suite: &str, key: &str, value: &str| {
        let given = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        options(named(suite).unwrap(), Reading::Corrected, &given).unwrap_err().to_string()
    };
    let refused = [
        (("flare", "test.size", "x"), "`test.size` cannot be x; it must be a whole number from 0 to"),
        (
            ("tse", "lengths", "9..3"),
            "`lengths` cannot be 9..3; it must be a number or a range A..B within 0..1000000",
        ),
        (("bliss", "sizes", "100,49"), "`sizes` cannot be 49; it must be a whole number from 50 to 1000000"),
        (("bliss", "tests", "some"), "`tests` cannot be some; it must be one of described, stored"),
        (("wade", "m", "3"), "there is no setting `m`; there are: n"),
        (("find", "m", "3"), "there is no setting `m`; there are: none"),
    ];
    for ((suite, key, value), message) in refused {
        let message = format!("`{suite}`: {message}");
        assert!(error(suite, key, value).starts_with(&message), "{}", error(suite, key, value));
    }
}

/// Names of earlier versions are still read.
#[test]
fn former_names_of_options_are_read() {
    let given = BTreeMap::from([("ood".to_owned(), "7".to_owned())]);
    let options = options(named("tse").unwrap(), Reading::Corrected, &given).unwrap();
    assert_eq!(options.get(&crate::pairs::OUT_OF_DISTRIBUTION), 7);
}

/// A suite, a member, and options that take little time.
type Small = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SMALL: [Small; 6] = [
    ("flare", "dyck-2-3", &[("training.size", "40"), ("test.size", "10"), ("test.lengths", "0..60")]),
    ("bliss", "dyck-1", &[("sizes", "100,1000"), ("tests", "stored")]),
    ("tse", "nested:terminals=5", &[("train", "50"), ("validation", "5"), ("test", "20"), ("ood", "20")]),
    ("wade", "hard-sym-ct", &[("n", "40")]),
    ("find", "add-or-multiply:length=3", &[]),
    ("find", "scan", &[]),
];

fn written(
    (suite, member, options): (&str, &str, &[(&str, &str)]),
    reading: Reading,
    format: DataFormat,
) -> (MemoryFiles, DataManifest, Vec<DatasetConfig>) {
    let suite = named(suite).unwrap();
    let given: BTreeMap<String, String> =
        options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let planned = suite.plan(member, reading, &super::options(suite, reading, &given).unwrap()).unwrap();
    let mut memory = MemoryFiles::default();
    let mut out = Recorder::new(&mut memory, "");
    let written = planned.write(format, 7, &mut out).unwrap();
    let about = About { suite: suite.about(), format, reading, seed: Seed::new(7), options: given, written };
    let (manifest, configs) = out.finish(about).unwrap();
    (memory, manifest, configs)
}

fn all(mut check: impl FnMut(&str, DataFormat, Reading, &(MemoryFiles, DataManifest, Vec<DatasetConfig>))) {
    for case in SMALL {
        for reading in Reading::ALL {
            for &format in named(case.0).unwrap().formats_of(Some(case.1)) {
                check(case.1, format, reading, &written(case, reading, format));
            }
        }
    }
}

#[test]
fn every_format_has_a_card_and_is_valid() {
    all(|member, format, reading, (memory, manifest, configs)| {
        let at = format!("{member} {format:?} {reading}");
        let card = String::from_utf8(memory.0[CARD].clone()).unwrap();
        assert!(manifest.files.iter().any(|file| file.name == CARD), "{at}");
        for file in manifest.files.iter().filter(|file| file.name != CARD) {
            assert!(card.contains(&format!("`{}`", file.name)), "{at}: {}", file.name);
        }
        let command =
            format!("wug data {}/{} --out DIR --format {}", manifest.suite, manifest.name, format.name());
        for part in [&command, &format!("--reading {reading} --seed 7"), "```python\n", "## Citation"] {
            assert!(card.contains(part), "{at}: {part}\n{card}");
        }
        assert!(card.contains("\nconfigs:\n"), "{at}");
        // Where splits are no tables, `datasets` is told so by a file that is not there.
        assert_eq!(card.contains("no tables here"), configs.is_empty(), "{at}");
        let subject = ValidationSubject { format, name: &manifest.name, reading, manifest: Some(manifest) };
        let report = subject.validate(memory).unwrap();
        assert_eq!((report.errors, report.not_checked), (0, 0), "{at}: {report:?}");
        assert_eq!(DataFormat::detect(&memory.names().unwrap()), Some(format), "{at}");
    });
}

#[test]
fn default_formats_can_be_loaded_and_encrypted_ones_say_how() {
    for case in SMALL {
        let format = named(case.0).unwrap().formats_of(Some(case.1))[0];
        let (_, _, configs) = written(case, Reading::Corrected, format);
        assert!(configs.iter().all(|config| config.splits.iter().all(|split| split.rows > 0)), "{case:?}");
        assert!(!configs.is_empty(), "{case:?}");
    }
    let (memory, ..) = written(SMALL[1], Reading::Corrected, bliss::ARCHIVES);
    let card = String::from_utf8(memory.0[CARD].clone()).unwrap();
    assert!(card.contains(&format!("with the password `{}`", bliss::PASSWORD)), "{card}");
    assert!(card.contains(&format!("pwd=b\"{}\"", bliss::PASSWORD)), "{card}");
}

#[test]
fn parquet_and_json_lines_hold_the_same_rows() {
    for case in SMALL {
        let (lines, _, configs) = written(case, Reading::Corrected, JSONL);
        let (parquet, manifest, _) = written(case, Reading::Corrected, PARQUET);
        let rows = ParquetRows { files: &parquet, manifest: Some(&manifest) };
        for split in configs.iter().flat_map(|config| &config.splits) {
            assert_eq!(rows.bytes(&split.file).unwrap().as_ref(), Some(&lines.0[&split.file]), "{case:?}");
            assert_eq!(
                String::from_utf8_lossy(&lines.0[&split.file]).lines().count(),
                split.rows,
                "{case:?}"
            );
        }
    }
}

#[test]
fn parquet_that_the_manifest_does_not_know_is_not_decoded() {
    let (mut memory, manifest, _) = written(SMALL[3], Reading::Corrected, PARQUET);
    let error = |memory: &MemoryFiles, manifest: Option<&DataManifest>| {
        let subject =
            ValidationSubject { format: PARQUET, name: "hard-sym-ct", reading: Reading::Corrected, manifest };
        subject.validate(memory).unwrap_err().to_string()
    };
    let message =
        "train.parquet: Parquet files are read only if they are as wug.json says, and this one is not";
    assert_eq!(error(&memory, None), message);
    *memory.0.get_mut("train.parquet").unwrap().last_mut().unwrap() ^= 1;
    assert_eq!(error(&memory, Some(&manifest)), message);
}
