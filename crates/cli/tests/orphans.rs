//! No child outlives wug, however wug ends.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A model that is busy in `fit`, and does not see its pipes close. It has a child of its own.
const BUSY: &str = r#"
import json, os, subprocess, sys, time
for line in sys.stdin:
    [what] = json.loads(line)
    if what == "goodbye": break
    if what == "fit":
        other = subprocess.Popen(["sleep", "600"])
        with open(sys.argv[1] + ".part", "w") as file: file.write(f"{os.getpid()} {other.pid}")
        os.rename(sys.argv[1] + ".part", sys.argv[1])
        time.sleep(600)
    print('{"hello": {"protocol": 1, "roles": ["recognizer"], "version": "1"}}', flush=True)
"#;

const LONG: Duration = Duration::from_mins(1);

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts wug with such a model, and waits until the model is busy: wug, and the processes of the model.
fn busy(dir: &Path, command: &str, shell: Option<&str>) -> (Child, Vec<String>) {
    let (model, pids) = (dir.join("busy.py"), dir.join("pids"));
    fs::write(&model, BUSY).unwrap();
    let words = ["python3", model.to_str().unwrap(), pids.to_str().unwrap()].map(str::to_owned);
    let wug = env!("CARGO_BIN_EXE_wug");
    let mut start = match shell {
        Some(_) => Command::new("sh"),
        None => Command::new(wug),
    };
    if let Some(script) = shell {
        start.args(["-c", script, wug]);
    }
    if command == "run" {
        let experiment = dir.join("busy.toml");
        let text = format!(
            "title = \"busy\"\n[[recognition]]\nlanguages = [\"parity\"]\nvalidation = [\"short\"]\nseeds = 1\n\
             learners = [{{ name = \"busy\", command = {words:?} }}]\n\
             data = {{ training = 51, validation = 20, test = 30, held_out = 10, distances = 5, longest = 60 }}\n"
        );
        fs::write(&experiment, text).unwrap();
        start.args(["run", experiment.to_str().unwrap(), "--out", dir.join("runs").to_str().unwrap()]);
    } else {
        start.arg("doctor").args(words);
    }
    let started = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the model is not fitted", || pids.exists());
    let text = fs::read_to_string(&pids).unwrap();
    (started, text.split(' ').map(str::to_owned).collect())
}

fn kill(signal: &str, wug: &Child) {
    assert!(Command::new("kill").args([signal, &wug.id().to_string()]).status().unwrap().success());
}

/// Whether a process is over; one that was orphaned may wait for the system to take note of it.
fn is_gone(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

/// How wug ends after a signal, and that all of its children are gone soon.
fn killed(signal: &str, command: &str) -> ExitStatus {
    let dir = tempfile::tempdir().unwrap();
    let (mut wug, pids) = busy(dir.path(), command, None);
    assert!(!pids.iter().any(|pid| is_gone(pid)), "{pids:?}");
    kill(signal, &wug);
    until(&format!("{command} {signal}: {pids:?} are still there"), || pids.iter().all(|pid| is_gone(pid)));
    wug.wait().unwrap()
}

#[test]
fn no_child_outlives_wug() {
    for command in ["run", "doctor"] {
        assert_eq!(killed("-HUP", command).code(), Some(129), "{command}");
        assert_eq!(killed("-TERM", command).code(), Some(143), "{command}");
        assert_eq!(killed("-KILL", command).signal(), Some(9), "{command}");
        assert_eq!(killed("-ABRT", command).signal(), Some(6), "{command}");
    }
}

#[test]
fn a_hangup_saves_and_the_run_waits() {
    let dir = tempfile::tempdir().unwrap();
    let (mut wug, _) = busy(dir.path(), "run", None);
    kill("-HUP", &wug);
    assert_eq!(wug.wait().unwrap().code(), Some(129));
    let runs = dir.path().join("runs");
    let status = Command::new(env!("CARGO_BIN_EXE_wug")).arg("status").arg(&runs).output().unwrap();
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(text.contains("waiting") || text.contains("interrupted"), "{text}");
}

/// Under `nohup` SIGHUP is ignored, and stays so.
#[test]
fn nohup_is_respected() {
    let dir = tempfile::tempdir().unwrap();
    let (mut wug, _) = busy(dir.path(), "run", Some("trap '' HUP; exec \"$0\" \"$@\""));
    let status = fs::read_to_string(format!("/proc/{}/status", wug.id())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & 1, 1, "{ignored}");
    kill("-TERM", &wug);
    assert_eq!(wug.wait().unwrap().code(), Some(143));
}
