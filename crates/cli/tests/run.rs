//! Experiments with the real binary: arguments, kills, and that results are the same in the end.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = ["parity", "dyck-2-3"]
learners = ["rnn", "lstm", "transformer"]
losses = ["R", "R+LM+NS"]
sizes = [2000]
seeds = 1
max_epochs = 6
batch_symbols = 256
[recognition.data]
training = 200
validation = 50
test = 60
held_out = 20
distances = 5
longest = 80
"#;

fn wug(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("wug"));
    command.args(args).stdin(Stdio::null());
    command
}

fn output(args: &[&str]) -> (i32, String, String) {
    let output = wug(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn results(root: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root.join("results")).unwrap().map(|e| e.unwrap());
    let files = entries.filter(|e| !e.file_name().to_string_lossy().starts_with('.'));
    files
        .map(|e| (e.file_name().into_string().unwrap(), std::fs::read_to_string(e.path()).unwrap()))
        .collect()
}

#[test]
fn ten_kills_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dir.path().join("small.toml");
    std::fs::write(&spec, SMALL).unwrap();
    let (spec, whole, killed) = (spec.to_str().unwrap(), dir.path().join("whole"), dir.path().join("killed"));
    let (code, _, err) = output(&["run", spec, "--out", whole.to_str().unwrap(), "--jobs", "2"]);
    assert_eq!(code, 0, "{err}");
    let args = ["run", spec, "--out", killed.to_str().unwrap(), "--jobs", "2", "--checkpoint", "0"];
    let mut kills = 0;
    for i in 0u64..10 {
        let mut child = wug(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // At any moment: before the plan, between two files, in the middle of an epoch.
        std::thread::sleep(Duration::from_millis(7 + (i * 7919) % 263));
        child.kill().unwrap();
        kills += usize::from(!child.wait().unwrap().success());
    }
    assert!(kills >= 5, "only {kills} kills came before the end");
    let (code, _, err) = output(&args);
    assert_eq!(code, 0, "{err}");
    let (whole, killed) = (results(&whole), results(&killed));
    assert_eq!(whole.len(), 24);
    assert_eq!(whole, killed);
}

#[test]
fn a_sweep_is_run_reported_and_exported() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dir.path().join("small.toml");
    std::fs::write(&spec, SMALL).unwrap();
    let sweep = dir.path().join("sweep");
    let (spec, sweep) = (spec.to_str().unwrap(), sweep.to_str().unwrap());
    let run = ["run", spec, "--out", sweep, "--set", "languages=parity", "--set", "learners=rnn"];
    let (code, plan, _) = output(&[&run[..], &["--plan"]].concat());
    assert_eq!((code, plan.lines().count()), (0, 4));
    let (_, json, _) = output(&[&run[..], &["--plan", "--json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    let ids: Vec<&str> = json.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert!(ids.iter().zip(plan.lines()).all(|(id, line)| line.starts_with(id)) && ids.len() == 4);
    assert!(!Path::new(sweep).exists());
    let (code, out, err) = output(&run);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("report.html") && err.contains("[4/4]"), "{out}{err}");
    assert!(std::fs::read_to_string(Path::new(sweep).join("report.html")).unwrap().contains("<svg"));
    let (_, status, _) = output(&["status", sweep, "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["counts"]["waiting"], 0);
    for format in ["table", "markdown", "csv", "json", "html"] {
        let (code, out, err) = output(&["report", sweep, "--format", format]);
        assert!(code == 0 && out.len() > 100, "{format}: {err}");
    }
    let (_, rows, _) = output(&["export", sweep, "--format", "jsonl"]);
    let row: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!((row["language"].as_str(), row["learner"].as_str()), (Some("parity"), Some("rnn")));
    let (_, table, _) = output(&["export", sweep, "--format", "csv"]);
    assert_eq!(table.lines().count(), rows.lines().count() + 1);
    assert!(table.starts_with("plan,protocol,language,learner,size,loss,validation,seed,reading"), "{table}");
}

#[test]
fn errors_in_a_spec_name_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let spec = dir.path().join("typo.toml");
    std::fs::write(&spec, SMALL.replace("learners", "lerners")).unwrap();
    let spec = spec.to_str().unwrap();
    let (code, _, err) = output(&["run", spec]);
    assert_eq!(code, 2);
    assert!(err.contains("typo.toml, line 5: `lerners`: unknown field; did you mean `learners`?"), "{err}");
    let (code, _, err) = output(&["run", "flare_table3"]);
    assert!(code == 2 && err.contains("did you mean `flare_table2`?"), "{err}");
    let (code, _, err) = output(&["status", dir.path().to_str().unwrap()]);
    assert!(code == 2 && err.contains("is no sweep"), "{err}");
    let (code, _, err) = output(&["run", "no/such.toml"]);
    assert!(code == 2 && err.contains("no/such.toml"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let (code, _, err) = output(&["run", "quickstart", "--scale", "smoke", "--out", "/proc/wug"]);
    assert!(code == 1 && err.contains("/proc/wug"), "{err}");
}

/// The README's first command, with fewer epochs.
#[test]
fn the_tour_ends_with_a_table_and_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let output = wug(&["run", "quickstart", "--set", "max_epochs=3", "--set", "epochs=20"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for word in [
        "even-pairs",
        "parity",
        "dyck-2-3",
        "marked-reversal",
        "transformer",
        "lstm",
        "an-bn",
        "chance",
        "reca",
        "esn",
    ] {
        assert!(text.contains(word), "{text}");
    }
    assert!(text.contains(" runs in runs/quickstart; the report is runs/quickstart/report.html"), "{text}");
    let page = std::fs::read_to_string(dir.path().join("runs/quickstart/report.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("accuracy against length"));
}

/// Every code path of the index, at scale `smoke`.
#[test]
fn the_index_at_scale_smoke_is_run_and_exported() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = dir.path().join("bliss");
    let sweep = sweep.to_str().unwrap();
    let (code, _, err) = output(&["run", "bliss_table2", "--scale", "smoke", "--out", sweep, "--jobs", "2"]);
    assert!(code == 0 && err.contains("[152/152]"), "{err}");
    let (_, rows, _) = output(&["export", sweep, "--format", "jsonl"]);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let known = rows.iter().filter(|row| row["learner"] == "true-grammar" && row["split"] == "test");
    let solved = known.filter(|row| row["metric"].as_str().unwrap().ends_with("_accuracy"));
    assert_eq!(solved.map(|row| row["value"].as_f64()).collect::<Vec<_>>(), [Some(1.0); 2 * 3 * 2 * 2]);
    let (_, list, _) = output(&["list", "learners"]);
    assert!(list.contains("baby-ntm") && list.contains("true-grammar"), "{list}");
    let (code, _, err) = output(&["run", "bliss_table2", "--set", "factors=3", "--plan"]);
    assert!(code == 2 && err.contains("--set factors=3: `factors`: cannot be 3"), "{err}");
}

/// Runs a command on a terminal and types a line at each prompt.
const ON_A_TERMINAL: &str = r#"
import os, pty, sys
command, lines = sys.argv[1].split("\x1f"), sys.argv[2].split(",")
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
seen, typed = b"", 0
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    seen += data
    if typed < len(lines) and seen.count(b"> ") > typed:
        os.write(terminal, lines[typed].encode() + b"\n")
        typed += 1
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

fn on_a_terminal(args: &[&str], lines: &[String]) -> String {
    let binary = assert_cmd::cargo::cargo_bin("wug");
    let command: Vec<&str> = [binary.to_str().unwrap()].into_iter().chain(args.iter().copied()).collect();
    let output = Command::new("python3")
        .args(["-c", ON_A_TERMINAL, &command.join("\u{1f}"), &lines.join(",")])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// What a player who knows everything types, in a game of one task.
fn right_answers(seed: u64, task: &str, count: usize) -> Vec<String> {
    let mut game = wug_lab::play::Game::new(seed, wug_lab::language::Reading::Corrected, Some(task)).unwrap();
    let answer = |_| {
        let expected = game.question().unwrap().expected;
        game.answer(&expected).unwrap();
        expected
    };
    (0..count).map(answer).collect()
}

/// The human baseline on a terminal: from the first question to the score, stopped once and resumed, and in the report.
#[test]
fn a_game_is_played_on_a_terminal_scored_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (perfect, slow) = (path("perfect.jsonl"), path("slow.jsonl"));
    let right = right_answers(5, "qa", 10);
    let text = on_a_terminal(&["play", "qa", "--seed", "5", "--log", &perfect], &right);
    assert_eq!(
        text.matches("qa: solved after 10 questions, 10 right in a row, WADE 1.000").count(),
        1,
        "{text}"
    );
    // A log that cannot be written is named before anything is asked.
    let (code, out, err) = output(&["play", "qa", "--log", &path("missing/log.jsonl")]);
    assert!(code == 1 && out.is_empty() && err.contains("missing"), "{out}{err}");
    assert_eq!(std::fs::read_to_string(&perfect).unwrap().lines().count(), 10);
    // One wrong answer first, then a pause.
    let wrong = if right[0] == "A" { "B" } else { "A" };
    let first =
        [wrong.to_owned(), "nonsense!".to_owned(), right_answers(5, "qa", 2)[1].clone(), ":quit".to_owned()];
    let text = on_a_terminal(&["play", "qa", "--seed", "5", "--log", &slow], &first);
    assert!(
        text.contains("wrong: ") && text.contains("type one letter") && text.contains("not solved yet"),
        "{text}"
    );
    let mut game = wug_lab::play::Game::load(Path::new(&slow)).unwrap().unwrap();
    let mut rest = Vec::new();
    while let Some(question) = game.question() {
        game.answer(&question.expected).unwrap();
        rest.push(question.expected);
    }
    assert_eq!(rest.len(), 9);
    let text = on_a_terminal(&["play", "--log", &slow], &rest);
    assert!(text.contains("qa: solved after 11 questions, 10 right in a row, WADE 0.500"), "{text}");
    let (code, _, err) = output(&["play", "3", "--log", &slow]);
    assert!(code == 2 && err.contains("`qa`"), "{err}");
    // Beside learners in a report.
    let (spec, sweep) = (path("small.toml"), path("sweep"));
    let speed =
        "title = \"small\"\n[[speed]]\nlanguages = \"qa\"\nlearners = \"reca\"\nprojection = 10\nseeds = 1\n";
    std::fs::write(&spec, speed).unwrap();
    let (code, _, err) = output(&["run", &spec, "--out", &sweep]);
    assert_eq!(code, 0, "{err}");
    let (_, text, _) =
        output(&["report", &sweep, "--format", "markdown", "--human", &perfect, "--human", &slow]);
    let table = text.split("Table 4").nth(1).unwrap();
    assert!(table.contains("human") && table.contains("0.75"), "{text}");
    assert!(table.contains("human: Equation 1 in either reading"), "{text}");
}

#[test]
fn the_experiment_on_reviews_asks_for_them_and_exits_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let missing = dir.path().join("aclImdb");
    let path = format!("corpus.path={}", missing.display());
    let empty = format!("corpus.path={}", dir.path().display());
    for (set, message) in [
        (&[][..], "say where they are with `--set corpus.path=PATH`"),
        (&["--set", &path], "a directory with train/pos, train/neg, test/pos and test/neg"),
        (&["--set", &empty], "has no directory train/pos"),
    ] {
        let args =
            [&["run", "wade_table2", "--scale", "smoke", "--out", out.to_str().unwrap()], set].concat();
        let (code, _, err) = output(&args);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(message), "{err}");
        assert!(!out.exists(), "nothing is written");
    }
}
