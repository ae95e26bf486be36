//! Several commands on one sweep or one log at once: nothing is lost, and nobody is refused without need.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use wug_lab::answers::read_splits;

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = "parity"
learners = "rnn"
losses = "R"
validation = "short"
sizes = 2000
seeds = 2
max_epochs = 1
[recognition.data]
training = 60
validation = 20
test = 30
held_out = 10
distances = 5
longest = 60
"#;

fn wug(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("wug"));
    command.current_dir(dir).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn read(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn fine(dir: &Path, args: &[&str]) -> String {
    let (code, out, err) = read(&wug(dir, args).output().unwrap());
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

/// Data, and answers to all of it.
fn write_answers(dir: &Path) {
    let splits = [
        "training",
        "validation-short",
        "validation-long",
        "test",
        "test-short-held-out",
        "test-edit-distance",
    ];
    let sizes: Vec<String> = splits.iter().map(|split| format!("{split}.size=12")).collect();
    let sizes = sizes.iter().flat_map(|size| ["--set", size]);
    fine(dir, &["data", "flare/parity", "--out", "parity"].into_iter().chain(sizes).collect::<Vec<_>>());
    let mut lines = String::new();
    for string in read_splits(&dir.join("parity")).unwrap().iter().flat_map(|split| &split.strings) {
        writeln!(lines, "{{\"string\": \"{string}\", \"log_odds\": 1.5}}").unwrap();
    }
    std::fs::write(dir.join("answers.jsonl"), lines).unwrap();
    std::fs::write(dir.join("small.toml"), SMALL).unwrap();
}

#[test]
fn six_scores_at_a_time_are_all_added_and_the_sweep_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write_answers(dir);
    let run = ["run", "small.toml", "--out", "sweep", "--jobs", "1"];
    fine(dir, &run);
    for round in 0..2 {
        let begin = |i: usize| {
            let (learner, seed) = (format!("mine-{i}"), (round * 10).to_string());
            let args = ["score", "parity", "answers.jsonl", "--learner", &learner, "--seed", &seed];
            wug(dir, &[&args[..], &["--out", "sweep"]].concat()).spawn().unwrap()
        };
        let children: Vec<_> = (0..6).map(begin).collect();
        for child in children {
            let (code, _, err) = read(&child.wait_with_output().unwrap());
            assert_eq!(code, 0, "{err}");
        }
    }
    let status = fine(dir, &["status", "sweep"]);
    assert!(status.contains("14 runs: ") && !status.contains("waiting"), "{status}");
    // What began the sweep goes on with it, and so does a worker; a report has all.
    for args in [&run[..], &["worker", "sweep"]] {
        let out = fine(dir, args);
        assert!(out.contains("14 runs in sweep"), "{out}");
    }
    fine(dir, &[&run[..], &["--set", "seeds=3"]].concat());
    let report = fine(dir, &["report", "sweep"]);
    assert!((0..6).all(|i| report.contains(&format!("mine-{i}"))), "{report}");
    assert!(fine(dir, &["status", "sweep"]).contains("15 runs: "));
}

#[test]
fn a_second_game_on_one_log_is_refused_and_no_answer_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.jsonl");
    let answers = || std::fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    let play = ["play", "qa", "--seed", "5", "--log", "log.jsonl"];
    let mut first = wug(dir.path(), &play).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(b"A\n").unwrap();
    for _ in 0..1000 {
        if answers() == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut second = wug(dir.path(), &play).stdin(Stdio::piped()).spawn().unwrap();
    let _ = second.stdin.take().unwrap().write_all(b"A\nA\nA\n:quit\n");
    let (code, out, err) = read(&second.wait_with_output().unwrap());
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("log.jsonl is the log of a game that another `wug play` is playing"), "{err}");
    assert_eq!(answers(), 1);
    stdin.write_all(b"A\nA\n:quit\n").unwrap();
    let (code, _, err) = read(&first.wait_with_output().unwrap());
    assert_eq!((code, answers()), (0, 3), "{err}");
    // It goes on once the first game is over, also after one that was killed.
    let mut killed = wug(dir.path(), &play).stdin(Stdio::piped()).spawn().unwrap();
    killed.stdin.as_mut().unwrap().write_all(b"A\n").unwrap();
    for _ in 0..1000 {
        if answers() == 4 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (code, _, err) = read(&wug(dir.path(), &play).output().unwrap());
    assert!(code == 0 && err.contains("after 4 answers"), "{err}");
    let names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["log.jsonl"]);
}
