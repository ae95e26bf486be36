//! `wug mdl` with the real binary: what is refused, exit codes, and that no work of a search is lost.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

const GOLDEN: &str = include_str!("../../../testdata/learner/mdlrnn.json");

fn wug(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("wug"));
    command.current_dir(dir).arg("mdl").args(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    read(&wug(dir, args).output().unwrap())
}

fn read(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Writes a released network to NAME.json.
fn released(dir: &Path, name: &str) -> String {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let case = golden["cases"].as_array().unwrap().iter().find(|case| case["name"] == name).unwrap();
    let file = format!("{name}.json");
    std::fs::write(dir.join(&file), case.to_string()).unwrap();
    file
}

#[test]
fn certificates_that_fall_short_are_failures() {
    let dir = tempfile::tempdir().unwrap();
    let good = released(dir.path(), "published_an_bn");
    let (code, out, err) = run(dir.path(), &["certify", &good, "--language", "an-bn", "--up-to", "50"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("for every n up to 50: with normalized outputs"), "{out}");

    // Without its forward edges it always predicts `a`.
    let mut wrong: Value = serde_json::from_slice(&std::fs::read(dir.path().join(&good)).unwrap()).unwrap();
    wrong["net"]["forward"] = json!([]);
    std::fs::write(dir.path().join("wrong.json"), wrong.to_string()).unwrap();
    let args = ["certify", "wrong.json", "--language", "an-bn", "--up-to", "50", "--json"];
    let (code, out, err) = run(dir.path(), &args);
    assert_eq!((code, err.as_str()), (1, ""));
    let row: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&row["holds_up_to"], &row["asked"]), (&json!(0), &json!(50)), "{row}");
}

#[test]
fn networks_of_bits_are_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let bits = released(dir.path(), "floor_binary_addition");
    let (code, _, err) = run(dir.path(), &["score", &bits, "--language", "an-bn"]);
    assert_eq!(code, 2);
    assert!(err.contains("wug has no corpora of bits"), "{err}");
}

#[test]
fn places_that_cannot_be_written_are_refused_before_a_search() {
    let dir = tempfile::tempdir().unwrap();
    // It would take hours.
    let long = ["search", "an-bn", "--set", "generations=100000000", "--jobs", "1"];
    for place in [["--out", "none/net.json"], ["--checkpoint", "none/saved"], ["--out", "."]] {
        let (code, _, err) = run(dir.path(), &[&long[..], &place].concat());
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(place[1]), "{err}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn damaged_checkpoints_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("saved");
    let short = ["search", "an-bn", "--set", "generations=40", "--set", "population=20", "--jobs", "1"];
    let short = [&short[..], &["--checkpoint", "saved", "--out", "net.json"]].concat();
    assert_eq!(run(dir.path(), &short).0, 0);
    let whole = std::fs::read(&saved).unwrap();
    let line = whole.iter().position(|&byte| byte == b'\n').unwrap();
    for body in ["", "garbage", "{}"] {
        let damaged = [&whole[..=line], body.as_bytes()].concat();
        std::fs::write(&saved, &damaged).unwrap();
        let (code, _, err) = run(dir.path(), &short);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("saved is a checkpoint of this search, but is damaged"), "{err}");
        assert_eq!(std::fs::read(&saved).unwrap(), damaged);
    }
}

#[cfg(unix)]
#[test]
fn signals_leave_the_best_network_so_far() {
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let dir = tempfile::tempdir().unwrap();
        let long =
            ["search", "an-bn", "--set", "generations=100000000", "--set", "patience=0", "--jobs", "1"];
        let long = [&long[..], &["--set", "population=20", "--json"]].concat();
        let long = [&long[..], &["--checkpoint", "saved", "--out", "net.json"]].concat();
        let mut child = wug(dir.path(), &long).spawn().unwrap();
        // The first improvement is told when the search has begun.
        let mut first = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let (found, _, err) = read(&child.wait_with_output().unwrap());
        assert_eq!(found, code, "{err}");
        assert!(err.contains("the best network so far is in net.json; the search goes on"), "{err}");
        let file: Value =
            serde_json::from_slice(&std::fs::read(dir.path().join("net.json")).unwrap()).unwrap();
        assert_eq!(file["search"]["interrupted"], true);
        assert_eq!(run(dir.path(), &["show", "net.json"]).0, 0);
        assert!(dir.path().join("saved").exists());
    }
}

#[test]
fn temporary_files_of_a_killed_search_are_removed_by_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("saved")).unwrap();
    let left = [".wug-part-abc123", "saved/.wug-part-def456"].map(|name| dir.path().join(name));
    left.iter().for_each(|path| std::fs::write(path, "half").unwrap());
    std::fs::write(dir.path().join("mine"), "mine").unwrap();
    let short = ["search", "an-bn", "--set", "generations=20", "--set", "population=20", "--jobs", "1"];
    let short = [&short[..], &["--checkpoint", "saved/search", "--out", "net.json"]].concat();
    let (code, _, err) = run(dir.path(), &short);
    assert_eq!(code, 0, "{err}");
    assert!(left.iter().all(|path| !path.exists()));
    assert!(dir.path().join("mine").exists() && dir.path().join("net.json").exists());
}
