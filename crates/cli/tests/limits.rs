//! Sizes and files that no machine can hold: a message within seconds, in little memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test says why it fails")]

use std::path::Path;
use std::process::{Command, Output};

/// One run of a moment.
const SMALL: &str = r#"
title = "small"
[[generalization]]
languages = "an-bn"
learners = "bigram"
order = 1
factors = 1
seeds = 1
"#;

/// Runs wug with 2 GB of address space and 20 seconds.
fn wug(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
    let script =
        format!("ulimit -v 2000000; exec timeout 20 '{}' {}", env!("CARGO_BIN_EXE_wug"), quoted.join(" "));
    let Output { status, stdout, stderr } =
        Command::new("bash").args(["-c", &script]).current_dir(dir).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

#[test]
fn absurd_sizes_are_refused_with_an_estimate() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        "sample dyck-8-5 --length 0..100000",
        "sample dyck-8-5 --length 0..100000 --negative",
        "sample dyck-64-2 --length 1000000",
        "data flare/parity --out x --set training.size=99999999999",
        "data flare/dyck-8-5 --out x --set test.lengths=0..100000",
        "data wade/qa --out x --set n=100000000",
        "data tse/nested --out x --set train=99999999999",
        "data bliss/an-bn-cn-dn:prior=0.0001 --out x --set sizes=1000000",
    ] {
        let (code, out, message) = wug(dir.path(), &args.split(' ').collect::<Vec<_>>());
        assert_eq!((code, out.as_str()), (2, ""), "{args}: {message}");
        assert!(
            message.contains("would take about") && message.contains("the limit is 2.0 GiB"),
            "{message}"
        );
    }
    assert!(!dir.path().join("x").exists());
}

#[test]
fn every_language_comes_back_from_absurd_lengths() {
    let dir = tempfile::tempdir().unwrap();
    let names: serde_json::Value = serde_json::from_str(&wug(dir.path(), &["list", "--json"]).1).unwrap();
    for name in names.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()) {
        for more in ["--json", "--negative"] {
            let (code, _, message) =
                wug(dir.path(), &["sample", name, "-n1", "--length", "0..1000000", more]);
            assert!(code == 0 || code == 2 && !message.is_empty(), "{name} {more}: {code}: {message}");
        }
        let (code, _, message) = wug(dir.path(), &["sample", name, "--length", "0..99999999999"]);
        assert_eq!(code, 2, "{name}: {message}");
    }
}

#[test]
fn special_files_do_not_block() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let fifo = |name: &str| assert!(Command::new("mkfifo").arg(at(name)).status().unwrap().success());
    let make = |name: &str| {
        let args = ["data", "bliss/an-bn", "--out", name, "--set", "sizes=100"];
        assert_eq!(wug(dir.path(), &args).0, 0);
    };
    make("a");
    fifo("a/extra.txt");
    let (code, out, _) = wug(dir.path(), &["validate", "a"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("extra.txt is a named pipe, and was not read"), "{out}");
    assert!(!out.lines().any(|line| line == "no errors"), "{out}");
    for name in ["wug.json", "train_100.txt"] {
        let folder = format!("in-place-of-{name}");
        make(&folder);
        std::fs::remove_file(at(&folder).join(name)).unwrap();
        fifo(&format!("{folder}/{name}"));
        let (code, out, message) = wug(dir.path(), &["validate", &folder]);
        assert!(code == 1 || code == 2, "{out}{message}");
        assert!(format!("{out}{message}").contains("a named pipe"), "{out}{message}");
        let args = ["data", "bliss/an-bn", "--out", &folder, "--set", "sizes=100"];
        assert_eq!(wug(dir.path(), &args).0, 1, "it would replace the pipe");
    }
}

#[test]
fn what_files_say_is_shown_and_not_obeyed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("train_100.txt"), "#ab#\n").unwrap();
    std::fs::write(dir.path().join("\u{1b}[2J.txt"), "#ba#\n").unwrap();
    let (code, out, message) = wug(dir.path(), &["validate", ".", "--language", "an-bn"]);
    assert_eq!(code, 1, "{message}");
    assert!(out.contains("\\u{1b}[2J.txt") && !out.contains('\u{1b}'), "{out}");
}

#[test]
fn what_was_not_checked_is_never_without_errors() {
    let dir = tempfile::tempdir().unwrap();
    let last = |folder: &str, args: &[&str]| {
        let (code, out, message) = wug(dir.path(), &[&["validate", folder][..], args].concat());
        (code, out.lines().last().unwrap_or(&message).to_owned())
    };
    let make = ["data", "bliss/an-bn", "--out", "a", "--set", "sizes=100"];
    assert_eq!(wug(dir.path(), &make).0, 0);
    assert_eq!(last("a", &[]), (0, "no errors".to_owned()));
    std::fs::create_dir(dir.path().join("a/more")).unwrap();
    assert_eq!(last("a", &[]), (0, "no errors in what was checked; 1 thing was not checked".to_owned()));
    std::os::unix::fs::symlink("nowhere", dir.path().join("a/gone.txt")).unwrap();
    assert_eq!(last("a", &[]), (1, "1 errors in what was checked; 2 things were not checked".to_owned()));
    // A name that says more than can be computed.
    std::fs::create_dir(dir.path().join("b")).unwrap();
    std::fs::write(dir.path().join("b/train_1_p_0_0000000000001_seed_1.txt"), "#ab#").unwrap();
    let (code, said) = last("b", &["--language", "an-bn", "--reading", "published"]);
    assert_eq!((code, said.as_str()), (0, "no errors in what was checked; 1 thing was not checked"));
}

#[test]
fn three_lists_of_a_thousand_values_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let list = (1..=1000).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!(
        "title = \"x\"\n[[generalization]]\nlanguages = \"an-bn\"\nlearners = \"lstm\"\nhidden = [{list}]\nepochs = [{list}]\nlayers = [{list}]\n"
    );
    std::fs::write(dir.path().join("x.toml"), text).unwrap();
    let begun = std::time::Instant::now();
    let (code, out, message) = wug(dir.path(), &["run", "x.toml", "--plan"]);
    assert_eq!((code, out.as_str()), (2, ""), "{message}");
    assert!(
        message.contains("3 seeds of 1000000000 cells are 3000000000 runs; an experiment has at most 100000"),
        "{message}"
    );
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

#[test]
fn no_number_of_seconds_is_too_large_to_be_refused() {
    let dir = tempfile::tempdir().unwrap();
    let most = u64::MAX.to_string();
    for seconds in [most.as_str(), "31622401", "0", "-1", "1e9"] {
        let (code, out, message) = wug(dir.path(), &["doctor", "--seconds", seconds, "true"]);
        assert_eq!((code, out.as_str()), (2, ""), "{message}");
        assert!(seconds == "-1" || message.contains("from 1 to 31622400 seconds"), "{message}");
    }
    for field in ["fit_seconds", "answer_seconds"] {
        let learner = format!(
            "learners = [{{ name = \"mine\", command = [\"true\"], {field} = 9223372036854775807 }}]"
        );
        let text = format!("title = \"x\"\n[[recognition]]\nlanguages = \"parity\"\n{learner}\n");
        std::fs::write(dir.path().join("x.toml"), text).unwrap();
        let (code, _, message) = wug(dir.path(), &["run", "x.toml", "--plan"]);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("it must be from 1 to 31622400 seconds"), "{message}");
    }
    // Never, in effect: nothing is added to a clock.
    std::fs::write(dir.path().join("small.toml"), SMALL).unwrap();
    let args = ["run", "small.toml", "--out", "sweep", "--checkpoint", &most];
    let (code, _, message) = wug(dir.path(), &args);
    assert_eq!(code, 0, "{message}");
}

#[test]
fn status_as_json_has_no_character_that_a_terminal_obeys() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("small.toml"), SMALL).unwrap();
    assert_eq!(wug(dir.path(), &["run", "small.toml", "--out", "sweep", "--jobs", "1"]).0, 0);
    let plan = dir.path().join("sweep/plan.json");
    let mut header: serde_json::Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    header["title"] = "a\u{9b}2Jb\u{202e}c".into();
    std::fs::write(&plan, header.to_string()).unwrap();
    let (code, out, message) = wug(dir.path(), &["status", "sweep", "--json"]);
    assert_eq!(code, 0, "{message}");
    assert!(out.contains(r"a\u009b2Jb\u202ec") && !out.contains(['\u{9b}', '\u{202e}']), "{out}");
    let said: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(said["plan"]["title"], header["title"]);
    let (_, out, _) = wug(dir.path(), &["status", "sweep"]);
    assert!(out.contains(r"a\u{9b}2Jb\u{202e}c") && !out.contains(['\u{9b}', '\u{202e}']), "{out}");
}

#[test]
fn a_model_without_a_role_is_told_which_roles_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let hello = r#"{"hello": {"protocol": 1, "roles": [], "version": "1"}}"#;
    std::fs::write(dir.path().join("mine.sh"), format!("read line\necho '{hello}'\nread line\n")).unwrap();
    let learner = "learners = [{ name = \"mine\", command = [\"sh\", \"mine.sh\"] }]";
    let text = format!("title = \"x\"\n[[recognition]]\nlanguages = \"parity\"\n{learner}\n");
    std::fs::write(dir.path().join("x.toml"), text).unwrap();
    for args in [&["run", "x.toml", "--plan"][..], &["doctor", "sh", "mine.sh"]] {
        let (code, _, message) = wug(dir.path(), args);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("its hello names no role; there are: recognizer, "), "{message}");
    }
}
