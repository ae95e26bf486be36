//! The dependencies between the crates, and the licences of all others.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Each crate and the only crates of the workspace that it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("wug-table", &[]),
    ("wug-parameter", &[]),
    ("wug-language", &["wug-parameter"]),
    ("wug-dataset", &["wug-language", "wug-parameter", "wug-table"]),
    ("wug-mdl", &["wug-dataset", "wug-language", "wug-parameter"]),
    ("wug-learner", &["wug-dataset", "wug-language", "wug-mdl", "wug-parameter"]),
    ("wug-score", &["wug-dataset", "wug-language", "wug-parameter"]),
    ("wug-lab", &["wug-language", "wug-dataset", "wug-learner", "wug-parameter", "wug-score", "wug-table"]),
    ("wug-report", &["wug-parameter", "wug-score", "wug-table"]),
    ("wug", &["wug-lab", "wug-report", "wug-table"]),
    ("wug-python", &["wug-lab", "wug-report"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The target that cargo builds for: the dependencies of others may not be downloaded.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn metadata(extra: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(extra)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn arrows_point_one_way() {
    let metadata = metadata(&["--no-deps"]);
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let (_, allowed) = MAY_USE
            .iter()
            .find(|(package, _)| *package == name)
            .unwrap_or_else(|| panic!("unknown crate {name}"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            let ours = used == "wug" || used.starts_with("wug-");
            // Fuzzing reads saved models directly; only tests may.
            let fuzzed = (name, used) == ("wug", "wug-learner") && dependency["kind"] == "dev";
            assert!(!ours || fuzzed || allowed.contains(&used), "{name} may not use {used}");
        }
    }
}

/// Every dependency's licence is one that `deny.toml` allows.
#[test]
fn licences_are_allowed() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let list = deny.split("allow = [").nth(1).unwrap().split(']').next().unwrap();
    let allowed: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(allowed.contains(&"MIT"));
    for package in metadata(&["--filter-platform", &host()])["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_else(|| panic!("{name} states no licence"));
        let plain = licence.replace(['(', ')'], "").replace('/', " OR ");
        // Enough for the expressions that occur: `OR` of `AND`s.
        let fits =
            plain.split(" OR ").any(|choice| choice.split(" AND ").all(|l| allowed.contains(&l.trim())));
        assert!(fits, "{name} is under {licence}");
    }
}
