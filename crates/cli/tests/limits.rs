//! Sizes and files that no machine can hold: a message within seconds, in little memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test says why it fails")]

use std::path::Path;
use std::process::{Command, Output};

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
