//! The same request gives the same bytes: on this machine, on every other, and in later versions. The content of every
//! suite is pinned by its hash, in both readings and every format; a generator that changes data on purpose must update
//! `testdata/content.json`.
//!
//! `WUG_BLESS=1 cargo test -p wug-lab --test same_bytes` writes the hashes.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wug_lab::data::{Request, write};
use wug_lab::dataset::bliss::ARCHIVES;
use wug_lab::language::Reading;
use wug_lab::suite::{DataFormat as Format, SUITES, Suite};

/// Options that take seconds rather than minutes.
fn small(suite: &str) -> &'static [(&'static str, &'static str)] {
    match suite {
        "flare" => &[("training.size", "200"), ("test.size", "40")],
        "bliss" => &[("sizes", "100")],
        "tse" => &[("train", "200"), ("validation", "20"), ("test", "40"), ("ood", "40")],
        "wade" => &[("n", "100")],
        _ => &[],
    }
}

fn members(suite: &dyn Suite) -> Vec<String> {
    let members = suite.members().into_iter();
    match suite.name() {
        "tse" => {
            let laws = ["zipf", "normal"].map(|law| format!("np-vp:law={law}"));
            members.map(|member| format!("{member}:terminals=5")).chain(laws).collect()
        }
        _ => members.map(str::to_owned).collect(),
    }
}

/// The released test sets of aⁿbⁿ and its like, which the released archives hold, are hundreds of megabytes.
fn is_large(member: &str, reading: Reading, format: Format) -> bool {
    format == ARCHIVES && reading == Reading::Published && member.starts_with("an-bn")
}

fn requests() -> Vec<(String, Request)> {
    let mut list = Vec::new();
    for suite in SUITES {
        for member in members(*suite) {
            for reading in Reading::ALL {
                for &format in suite.formats_of(Some(&member)) {
                    if is_large(&member, reading, format) {
                        continue;
                    }
                    let what = format!("{}/{member}", suite.name());
                    let mut request = Request::parse(&what).unwrap();
                    request.reading = reading;
                    request.format = Some(format);
                    let options = small(suite.name()).iter();
                    request.options = options.map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
                    list.push((format!("{what} {reading} {}", format.name()), request));
                }
            }
        }
    }
    list
}

#[test]
fn data_are_the_pinned_bytes() {
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
