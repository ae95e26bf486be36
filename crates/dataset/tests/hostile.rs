//! Files that promise more than they hold, and requests that nobody can fulfil: a message, in little time and memory.

#![expect(clippy::unwrap_used, reason = "a test says why it fails")]

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use wug_dataset::suite::{SUITES, options};
use wug_dataset::validation::Validation;
use wug_dataset::{DataError, MemoryFiles, bliss, flare};
use wug_language::{Reading, registry};
use wug_parameter::ValueLimits;

fn memory(files: &[(&str, &[u8])]) -> MemoryFiles {
    MemoryFiles(files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect())
}

fn corpus(language: &str, reading: Reading, files: &[(&str, &[u8])]) -> Result<Validation, DataError> {
    let named = registry::find(language).unwrap();
    bliss::validate(&memory(files), &named, named.build(reading).unwrap().as_ref(), reading)
}

/// A mask with a header of this shape and these bytes.
fn npz(shape: &str, bytes: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '|b1', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("data.npy", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
    zip.write_all(&(text.len() as u16).to_le_bytes()).unwrap();
    zip.write_all(text.as_bytes()).unwrap();
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn next_symbol_sets_of_the_wrong_number_are_errors() {
    let parity = registry::build("parity").unwrap();
    for sets in [0, 1, 2, 4, 9] {
        let (next, end) = (vec![r#""0 1""#; sets].join(","), vec!["false"; sets].join(","));
        let row = format!(r#"{{"string":"0 1","label":true,"next":[{next}],"end":[{end}]}}"#);
        let files = memory(&[("training.jsonl", row.as_bytes())]);
        let error =
            flare::validate_rows(&files, "parity", parity.as_ref(), Reading::Corrected, &BTreeMap::new());
        let expected = format!("training.jsonl, line 1: {sets} next-symbol sets for a string of 2 symbols");
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_number_of_strings_in_a_name_is_not_believed() {
    for name in ["train_99999999999_p_0_3_seed_100.txt", "train_18446744073709551615_p_0_3_seed_1.txt"] {
        let report = corpus("an-bn", Reading::Published, &[(name, b"#ab#\n#ab#")]).unwrap();
        assert!(report.errors > 1_000_000, "{report:?}");
        let text = report.splits[name].to_string();
        assert!(text.contains("the name says") && text.contains("and there are 2"), "{text}");
    }
    // As many strings as the name says, but with a prior that makes them endless.
    let name = "train_1_p_0_0000000000001_seed_1.txt";
    let report = corpus("an-bn", Reading::Published, &[(name, b"#ab#")]).unwrap();
    assert_eq!((report.errors, report.not_checked), (0, 1), "{report:?}");
    let name = "train_1_p_0_5_seed_1.txt";
    let report = corpus("dyck-1", Reading::Published, &[(name, b"#()#")]).unwrap();
    assert_eq!(report.not_checked, 1, "{report:?}");
}

#[test]
fn a_shape_in_a_header_is_not_believed() {
    for shape in ["(1, 2400000000000)", "(2, 9223372036854775807, 2)", "(1, 18446744073709551615)"] {
        let files: [(&str, &[u8]); 2] =
            [("test.txt", b"#ab#"), ("test_deterministic_mask.npz", &npz(shape, &[0; 1000]))];
        let error = corpus("an-bn", Reading::Corrected, &files).unwrap_err().to_string();
        assert!(error.starts_with("test_deterministic_mask.npz: "), "{error}");
    }
    let rows = npz("(99999999999999, 3)", &[0; 1000]);
    let files: [(&str, &[u8]); 2] = [("test.txt", b"#ab#"), ("test_deterministic_mask.npz", &rows)];
    let error = corpus("an-bn", Reading::Corrected, &files).unwrap_err().to_string();
    assert!(error.contains("more rows than test.txt has strings"), "{error}");
}

#[test]
fn a_long_string_beside_a_short_test_is_not_compared() {
    let long = format!("#{}{}#", "(".repeat(400_000), ")".repeat(400_000));
    let files: [(&str, &[u8]); 2] = [("train_100.txt", long.as_bytes()), ("test_100.txt", b"#()#")];
    let report = corpus("dyck-1", Reading::Corrected, &files).unwrap();
    assert_eq!(report.not_checked, 1, "{report:?}");
    assert!(report.splits["test_100.txt"]["not_checked"][0].as_str().unwrap().contains("800000 symbols"));
    // Where they are compared, strings that are not there are counted and not made.
    let files: [(&str, &[u8]); 2] = [("train_1.txt", b"#()#"), ("test_1.txt", b"#(())#")];
    let report = corpus("dyck-1", Reading::Corrected, &files).unwrap();
    assert_eq!(report.splits["test_1.txt"]["strings_that_differ"], 999_999);
    let endless = vec![b'('; 5_000_000];
    let error = corpus("dyck-1", Reading::Corrected, &[("train_1.txt", &endless)]).unwrap_err();
    assert_eq!(error.to_string(), "train_1.txt: line 1 is longer than 1000002 bytes");
}

#[test]
fn absurd_sizes_are_refused_with_an_estimate_by_every_suite() {
    for suite in SUITES {
        for option in suite.options() {
            let absurd = match option.limits {
                ValueLimits::Count(..) if option.list => "50,99999999999",
                ValueLimits::Count(..) => "99999999999",
                ValueLimits::Span(..) => "0..99999999999",
                _ => continue,
            };
            let given = BTreeMap::from([(option.name.to_owned(), absurd.to_owned())]);
            for member in suite.published_members() {
                let planned = options(*suite, Reading::Corrected, &given)
                    .and_then(|options| suite.plan(&member, Reading::Corrected, &options));
                let error = planned.err().unwrap_or_else(|| panic!("{member}: {} is planned", option.name));
                let text = error.to_string();
                assert!(matches!(error, DataError::Request(_)), "{text}");
                let estimate = text.contains("would take about") && text.contains("the limit is 2.0 GiB");
                let range = text.contains("within 0..1000000") || text.contains("from 50 to 1000000");
                assert!(estimate || range, "{text}");
            }
        }
    }
}

#[test]
fn published_sizes_are_within_the_limits() {
    for suite in SUITES {
        let given = BTreeMap::new();
        for (member, reading) in
            suite.published_members().iter().flat_map(|member| Reading::ALL.map(|reading| (member, reading)))
        {
            if let Err(error) = suite.plan(member, reading, &options(*suite, reading, &given).unwrap()) {
                panic!("{}/{member}: {error}", suite.name());
            }
        }
    }
}

#[test]
fn corpora_of_long_strings_are_refused() {
    let given = BTreeMap::from([("sizes".to_owned(), "1000000".to_owned())]);
    let bliss = SUITES.iter().find(|suite| suite.name() == "bliss").unwrap();
    for name in ["an-bn-cn-dn:prior=0.0001", "dyck-2:prior=0.4999"] {
        let planned =
            bliss.plan(name, Reading::Corrected, &options(*bliss, Reading::Corrected, &given).unwrap());
        assert!(planned.err().unwrap().to_string().contains("the limit is 2.0 GiB"), "{name}");
    }
}
