//! The real binary when the world is unkind: a stderr that is lost, and signals.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = ["parity"]
learners = ["lstm"]
losses = ["R"]
validation = ["short"]
sizes = [2000]
seeds = 3
max_epochs = 4
[recognition.data]
training = 60
validation = 20
test = 30
held_out = 10
distances = 5
longest = 60
"#;

fn wug(dir: &Path, args: &[&str]) -> Command {
    std::fs::write(dir.join("small.toml"), SMALL).unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("wug"));
    command.current_dir(dir).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn losing_stderr_is_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = |args: &[&str]| wug(dir.path(), args).stderr(full()).output().unwrap();
    let output = run(&["run", "small.toml", "--out", "sweep", "--jobs", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(run(&["run", "none.toml"]).status.code(), Some(2));
    assert_eq!(run(&["report", "sweep"]).status.code(), Some(0));
}

/// Sends a signal once the sweep has begun, and waits for the end.
fn signalled(dir: &Path, signal: &str, args: &[&str]) -> Output {
    let child = wug(dir, args).spawn().unwrap();
    while !std::fs::read_dir(dir.join("sweep/attempts")).is_ok_and(|mut list| list.next().is_some()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait_with_output().unwrap()
}

#[test]
fn signals_save_checkpoints_and_the_same_command_goes_on() {
    let run = ["run", "small.toml", "--out", "sweep", "--jobs", "1", "--checkpoint", "1000"];
    // Long enough to be met in the middle.
    let long = [&run[..], &["--set", "max_epochs=100000", "--set", "patience=100000"]].concat();
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let dir = tempfile::tempdir().unwrap();
        let output = signalled(dir.path(), signal, &long);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        let said = text(&output.stderr);
        assert!(
            said.contains("wug: interrupted; 1 run is saved and goes on with the same command"),
            "{said}"
        );
        assert_eq!(std::fs::read_dir(dir.path().join("sweep/checkpoints")).unwrap().count(), 2);
        let status = wug(dir.path(), &["status", "sweep"]).output().unwrap();
        assert!(text(&status.stdout).contains("1 interrupted"), "{}", text(&status.stdout));
    }
}

#[test]
fn damaged_files_are_failures_and_not_usage_errors() {
    let dir = tempfile::tempdir().unwrap();
    let code = |args: &[&str]| wug(dir.path(), args).output().unwrap().status.code();
    assert_eq!(code(&["run", "small.toml", "--out", "sweep"]), Some(0));
    let plan = dir.path().join("sweep/plan.json");
    std::fs::write(&plan, "{").unwrap();
    assert_eq!(code(&["status", "sweep"]), Some(1));
    assert_eq!(code(&["run", "small.toml", "--out", "sweep"]), Some(0));
    assert_eq!(code(&["status", "nowhere"]), Some(2));
}
