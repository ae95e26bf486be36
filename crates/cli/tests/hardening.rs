//! The real binary when the world is unkind: a stderr that is lost, signals, and limits on threads and memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![cfg_attr(target_os = "linux", expect(clippy::print_stdout, reason = "a test says when it skips"))]

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

/// A user who is not root, for whom the limit on processes holds; `None` if the tests' own user will do.
fn other_user() -> Option<&'static str> {
    let id = Command::new("id").arg("-u").output().unwrap();
    (text(&id.stdout).trim() == "0").then_some("54321")
}

/// Runs wug under a limit of bash's `ulimit`, as another user if need be.
fn limited(dir: &Path, user: Option<&str>, limit: &str, args: &[&str]) -> Output {
    let wug = wug(dir, args);
    let script = format!("ulimit {limit} && exec \"$@\"");
    let mut command = match user {
        Some(user) => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", user, "--clear-groups", "bash"]);
            command
        }
        None => Command::new("bash"),
    };
    command.args(["-c", &script, "bash"]).arg(wug.get_program()).args(wug.get_args());
    command.current_dir(dir).stdin(Stdio::null()).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_threads_is_a_note_and_the_sweep_goes_on() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let user = other_user();
    if user.is_some() && !limited(dir.path(), user, "-u 1", &["--version"]).status.success() {
        println!("skipped: the tests run as root, and no other user can be taken on or can run wug");
        return;
    }
    let run = ["run", "small.toml", "--out", "sweep", "--jobs", "3"];
    let output = limited(dir.path(), user, "-u 1", &run);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("the system gives no more threads") && said.contains("1 of 3 runs at a time"),
        "{said}"
    );
    assert!(said.contains("[3/3]") && !said.contains("panicked"), "{said}");
}

/// The limit lets a small run through; the first vector of the large one is more than it.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_dies_for_want_of_memory_is_set_aside_after_three_attempts() {
    let dir = tempfile::tempdir().unwrap();
    let two = r#"
title = "two"
[[generalization]]
languages = ["an-bn"]
learners = ["lstm"]
order = 2
factors = [1]
seeds = 1
hidden = [4, 5000]
regularization = "none"
epochs = 2
learning_rate = 0.01
"#;
    std::fs::write(dir.path().join("two.toml"), two).unwrap();
    let run = ["run", "two.toml", "--out", "sweep", "--jobs", "1"];
    for death in 1..=3 {
        let output = limited(dir.path(), None, "-v 300000", &run);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), None, "death {death}: {said}");
        assert!(said.contains("memory allocation of"), "{said}");
    }
    let output = limited(dir.path(), None, "-v 300000", &run);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("its process ended 3 times before the run had saved any progress")
            && said.contains("`wug retry`"),
        "{said}"
    );
    let status = wug(dir.path(), &["status", "sweep"]).output().unwrap();
    let status = text(&status.stdout);
    assert!(status.contains("2 runs: 1 finished, 1 failed"), "{status}");
}

/// The calls that sync and rename, in their order, as strace shows them; `None` if it is not installed or not allowed.
#[cfg(target_os = "linux")]
fn calls(dir: &Path, args: &[&str]) -> Option<Vec<String>> {
    let (wug, log) = (wug(dir, args), dir.join("calls"));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "500", "-e", "trace=fsync,rename,renameat,renameat2", "-o"]).arg(&log);
    let output = strace.arg(wug.get_program()).args(wug.get_args()).current_dir(dir).output().ok()?;
    output
        .status
        .success()
        .then(|| std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect())
}

#[cfg(target_os = "linux")]
#[test]
fn files_are_synced_before_they_take_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let data = ["data", "bliss/an-bn", "--set", "sizes=100", "--out", "data"];
    let Some(calls) = calls(dir.path(), &data) else {
        println!("skipped: there is no strace, or it may not trace");
        return;
    };
    let renamed = calls.iter().position(|call| call.contains("rename")).unwrap();
    let files: Vec<_> = std::fs::read_dir(dir.path().join("data")).unwrap().collect();
    assert!(files.len() > 1);
    for file in files {
        let end = format!("/{}>", file.unwrap().file_name().to_str().unwrap());
        let synced = calls.iter().position(|call| call.contains("fsync(") && call.contains(&end));
        assert!(synced.is_some_and(|synced| synced < renamed), "{end}: {calls:?}");
    }
    // A result of a sweep has a temporary name when it is synced.
    let run = ["run", "small.toml", "--out", "sweep", "--jobs", "1"];
    let calls = self::calls(dir.path(), &run).unwrap();
    for (i, call) in calls.iter().enumerate().filter(|(_, call)| call.contains("rename")) {
        let part = call.split('"').nth(1).unwrap();
        let name = part.rsplit('/').next().unwrap();
        let synced = calls[..i].iter().any(|call| call.contains("fsync(") && call.contains(name));
        assert!(name.starts_with('.') && synced, "{call}");
    }
}

/// A run without checkpoints starts again, and the message says so.
#[test]
fn a_run_that_has_saved_nothing_is_not_counted_as_saved() {
    let dir = tempfile::tempdir().unwrap();
    let speed = "title = \"speed\"\n[[speed]]\nlanguages = \"periodic\"\nlearners = \"lstm\"\nseeds = 1\nsequences = 100000\n";
    std::fs::write(dir.path().join("speed.toml"), speed).unwrap();
    let output = signalled(dir.path(), "-TERM", &["run", "speed.toml", "--out", "sweep", "--jobs", "1"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{said}");
    assert!(said.contains("0 runs are saved"), "{said}");
    assert!(said.contains("1 run had saved nothing and starts again"), "{said}");
}

fn is_alive(process: &str) -> bool {
    Command::new("kill").args(["-0", process.trim()]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn the_doctor_ends_its_child_and_waits_no_longer_than_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let silent = "echo $$ > pid.new; mv pid.new pid; exec sleep 1000";
    let pid = || std::fs::read_to_string(dir.path().join("pid"));
    let child = wug(dir.path(), &["doctor", "--", "sh", "-c", silent]).spawn().unwrap();
    while pid().is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", text(&output.stderr));
    assert!(!is_alive(&pid().unwrap()), "the child is an orphan");
    std::fs::remove_file(dir.path().join("pid")).unwrap();
    let begun = std::time::Instant::now();
    let output = wug(dir.path(), &["doctor", "--seconds", "1", "--", "sh", "-c", silent]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("did not answer `hello` within 1s"), "{}", text(&output.stderr));
    assert!(begun.elapsed() < Duration::from_mins(1) && !is_alive(&pid().unwrap()));
}

/// None of these may block, or fill the memory.
#[test]
fn special_and_huge_files_are_refused_wherever_a_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe.toml")).status().unwrap().success());
    std::fs::File::create(at("huge.toml")).unwrap().set_len(1 << 40).unwrap();
    let refused = |args: &[&str], expected: &str| {
        let output = wug(dir.path(), args).output().unwrap();
        let said = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    };
    for (name, expected) in
        [("/dev/zero", "a device"), ("pipe.toml", "a named pipe"), ("huge.toml", "bytes; at most")]
    {
        refused(&["run", name], expected);
        refused(&["play", "--log", name], expected);
        refused(&["mdl", "search", "an-bn", "--checkpoint", name], expected);
        let section = format!("learners = \"lstm\"\nseeds = 1\ncorpus = {{ path = \"{name}\" }}\n");
        std::fs::write(at("speed.toml"), format!("title = \"speed\"\n[[speed]]\n{section}")).unwrap();
        refused(&["run", "speed.toml", "--out", &expected.replace(' ', "-")], expected);
        let task = format!(
            "title = \"t\"\n[[preference]]\nfiles = [\"{name}\"]\nlearners = [\"lstm\"]\nseeds = 1\n"
        );
        std::fs::write(at("task.toml"), task).unwrap();
        refused(&["run", "task.toml"], expected);
    }
}
