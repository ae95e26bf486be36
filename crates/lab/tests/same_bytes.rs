//! The same request gives the same bytes: on this machine, on every other, and in later versions. What is
//! drawn is pinned by its hash; a change of a generator that changes data on purpose must say so here.
//!
//! `WUG_BLESS=1 cargo test -p wug-lab --test same_bytes` writes the hashes anew.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wug_lab::data::{Request, write};
use wug_lab::language::Reading;
use wug_lab::language::registry::LANGUAGES;
use wug_lab::suite::Format;

fn requests() -> Vec<(String, Request)> {
    let mut list = Vec::new();
    for reading in Reading::ALL {
        let mut add = |what: &str, options: &[(&str, &str)], format: Format| {
            let mut request = Request::parse(what).unwrap();
            request.reading = reading;
            request.format = Some(format);
            request.options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            list.push((format!("{what} {reading}"), request));
        };
        let flare = [("training.size", "200"), ("test.size", "40")];
        let tse = [("train", "200"), ("validation", "20"), ("test", "40"), ("ood", "40")];
        for entry in LANGUAGES {
            match entry.suite {
                "flare" => add(&format!("flare/{}", entry.name), &flare, Format::Flare),
                "bliss" => add(&format!("bliss/{}", entry.name), &[("sizes", "100")], Format::Jsonl),
                _ => add(&format!("tse/{}:terminals=5", entry.name), &tse, Format::Tse),
            }
        }
        for law in ["zipf", "normal"] {
            add(&format!("tse/np-vp:law={law}"), &tse, Format::Tse);
        }
        add("find/scan", &[], Format::Scan);
    }
    list
}

#[test]
fn data_are_the_same_bytes_as_ever() {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/content.json");
    let root = tempfile::tempdir().unwrap();
    let mut hashes = BTreeMap::new();
    for (i, (name, request)) in requests().into_iter().enumerate() {
        let manifests = write(&request, &root.path().join(i.to_string()), false, &mut |_| {}).unwrap();
        hashes.insert(name, manifests[0].content.clone());
    }
    if std::env::var_os("WUG_BLESS").is_some() {
        std::fs::write(&file, serde_json::to_string_pretty(&hashes).unwrap() + "\n").unwrap();
    }
    let pinned: BTreeMap<String, String> =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (name, hash) in &hashes {
        assert_eq!(pinned.get(name), Some(hash), "{name} is no longer the same bytes");
    }
    assert_eq!(pinned.len(), hashes.len());
}
