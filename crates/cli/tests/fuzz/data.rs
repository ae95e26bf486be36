//! Readers of data sets: every format that `wug validate` reads, and the manifest.

use wug_lab::data::Request;
use wug_lab::dataset::card::CARD;
use wug_lab::dataset::manifest::{DataManifest, MANIFEST, hash};
use wug_lab::dataset::{FileSource as _, MemoryFiles};
use wug_lab::language::Reading;
use wug_lab::suite::{DataFormat, ValidationSubject};

use super::{Fuzzed, load, scratch};

/// Data sets as the library writes them: what, in which format, with which options, in which reading.
pub(crate) type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], Reading);

pub(crate) const FLARE: &[(&str, &str)] = &[
    ("training.size", "20"),
    ("validation-short.size", "10"),
    ("validation-long.size", "10"),
    ("validation-long.lengths", "0..60"),
    ("test.size", "10"),
    ("test.lengths", "0..60"),
    ("test-short-held-out.size", "10"),
    ("test-edit-distance.size", "10"),
];
const BLISS: &[(&str, &str)] = &[("sizes", "1000"), ("tests", "stored")];
const TSE: &[(&str, &str)] = &[("train", "20"), ("validation", "5"), ("test", "10"), ("ood", "10")];

pub(crate) fn request(&(what, format, options, reading): &Case) -> Request {
    let mut request = Request::parse(what).unwrap();
    request.format = DataFormat::named(format);
    request.reading = reading;
    request.options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    request
}

/// Writes the data sets, with at most so many lines of each text file.
pub(crate) fn written(cases: &[Case], lines: usize) -> Vec<MemoryFiles> {
    let write = |case: &Case| {
        let dir = scratch();
        let target = dir.path().join("data");
        wug_lab::data::write(&request(case), &target, false, &mut |_| ()).unwrap();
        let mut files = load(&target);
        // The card is written and never read.
        files.0.remove(CARD);
        for (name, bytes) in &mut files.0 {
            if name != MANIFEST
                && let Ok(text) = std::str::from_utf8(bytes)
            {
                *bytes = text.split_inclusive('\n').take(lines).collect::<String>().into_bytes();
            }
        }
        files
    };
    cases.iter().map(write).collect()
}

/// What `wug validate` does with a directory.
fn validate(files: &MemoryFiles) -> bool {
    let manifest = match files.bytes(MANIFEST).unwrap() {
        Some(bytes) => match serde_json::from_slice::<DataManifest>(&bytes) {
            Ok(manifest) => Some(manifest),
            Err(_) => return false,
        },
        None => None,
    };
    let names = files.names().unwrap();
    let stated = manifest.as_ref().and_then(|m| DataFormat::named(m.spec["format"].as_str()?));
    let Some(format) = stated.or_else(|| DataFormat::detect(&names)) else { return false };
    let reading = manifest.as_ref().and_then(|m| m.reading.parse().ok()).unwrap_or_default();
    let name = manifest.as_ref().map_or("parity", |m| m.name.as_str());
    let subject = ValidationSubject { format, name, reading, manifest: manifest.as_ref() };
    let report = subject.validate(files);
    for file in manifest.iter().flat_map(|m| &m.files) {
        hash(files, &file.name).unwrap();
    }
    report.is_ok()
}

pub(crate) fn flare() -> Fuzzed {
    use Reading::{Corrected, Published};
    let cases = [
        ("flare/parity", "flare", FLARE, Corrected),
        ("flare/dyck-2-3", "flare", FLARE, Published),
        ("flare/stack-manipulation", "flare", FLARE, Corrected),
        ("flare/compute-sqrt", "flare", FLARE, Published),
    ];
    Fuzzed::new(written(&cases, 40), validate)
}

pub(crate) fn bliss() -> Fuzzed {
    Fuzzed::new(written(&[("bliss/dyck-1", "bliss", BLISS, Reading::Corrected)], 10), validate)
}

pub(crate) fn text() -> Fuzzed {
    let cases = [
        ("bliss/dyck-1", "text", BLISS, Reading::Corrected),
        ("bliss/an-bn", "text", &[("sizes", "1000")], Reading::Corrected),
    ];
    Fuzzed::new(written(&cases, 10), validate)
}

pub(crate) fn tse() -> Fuzzed {
    let cases = [
        ("tse/adj-np:terminals=5", "tse", TSE, Reading::Corrected),
        ("tse/nested:terminals=5", "tse", TSE, Reading::Published),
        ("tse/cross-serial:terminals=10", "tse", TSE, Reading::Corrected),
    ];
    Fuzzed::new(written(&cases, 20), validate)
}

pub(crate) fn find() -> Fuzzed {
    let cases = [
        ("find/count-or-memorization:length=10", "find", &[][..], Reading::Corrected),
        ("find/hierarchical-or-linear", "find", &[], Reading::Corrected),
        ("find/dax-compo", "find", &[], Reading::Corrected),
    ];
    Fuzzed::new(written(&cases, 20), validate)
}

pub(crate) fn scan() -> Fuzzed {
    Fuzzed::new(written(&[("find/scan", "scan", &[], Reading::Corrected)], 4), validate)
}

pub(crate) fn jsonl() -> Fuzzed {
    let cases = [
        ("flare/even-pairs", "jsonl", FLARE, Reading::Corrected),
        ("bliss/dyck-2", "jsonl", &[("sizes", "1000")], Reading::Corrected),
        ("tse/np-vp:terminals=5", "jsonl", TSE, Reading::Corrected),
        ("wade/qa", "jsonl", &[("n", "20")], Reading::Corrected),
        ("wade/hard-sym-ct", "jsonl", &[("n", "20")], Reading::Corrected),
        ("find/add-or-multiply", "jsonl", &[], Reading::Corrected),
    ];
    Fuzzed::new(written(&cases, 20), validate)
}

pub(crate) fn parquet() -> Fuzzed {
    let cases = [
        ("flare/even-pairs", "parquet", FLARE, Reading::Corrected),
        ("wade/hard-sym-ct", "parquet", &[("n", "20")], Reading::Corrected),
    ];
    Fuzzed::new(written(&cases, 20), validate)
}

/// The manifest alone, with the smallest of the data sets.
pub(crate) fn manifest() -> Fuzzed {
    let cases = [
        ("flare/parity", "flare", FLARE, Reading::Corrected),
        ("tse/nested:terminals=5", "tse", TSE, Reading::Corrected),
        ("wade/qa", "jsonl", &[("n", "5")], Reading::Corrected),
        ("find/count-or-memorization:length=5", "find", &[], Reading::Corrected),
    ];
    let mut corpus = written(&cases, 5);
    corpus.iter_mut().for_each(|files| files.0.retain(|name, _| name == MANIFEST));
    Fuzzed::new(corpus, |files| {
        let bytes = files.bytes(MANIFEST).unwrap().unwrap_or_default();
        let Ok(manifest) = serde_json::from_slice::<DataManifest>(&bytes) else { return false };
        let text = serde_json::to_vec(&manifest).unwrap();
        assert_eq!(
            serde_json::from_slice::<DataManifest>(&text).unwrap(),
            manifest,
            "is read back as another"
        );
        validate(files);
        true
    })
}
