//! Every reader, fed with damaged inputs: each must come back, with a value or an error, without a panic, within ten
//! seconds of processor time and a gigabyte of memory.
//!
//! Inputs are valid ones with seeded damage, so that a failure is found again by its reader and seed:
//! `WUG_FUZZ_READER=flare WUG_FUZZ_SEED=17 WUG_FUZZ_INPUTS=1 cargo test -p wug --test fuzz -- --ignored --nocapture`.
//! What was found once is kept in `testdata/fuzz/<reader>/regress-*/`, a directory per input, and read every time.
//!
//! Each reader runs in a process of its own under `ulimit -v`, which leaves no unsafe allocator to write.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "counts are the result of a long run")]

#[path = "fuzz/container.rs"]
mod container;
#[path = "fuzz/data.rs"]
mod data;
#[path = "fuzz/language.rs"]
mod language;
#[path = "fuzz/model.rs"]
mod model;
#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/sweep.rs"]
mod sweep;
#[path = "fuzz/watch.rs"]
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use wug_lab::dataset::{FileSource as _, MemoryFiles, Seed};
use wug_lab::disk::Directory;

/// A reader with its valid inputs.
struct Fuzzed {
    corpus: Vec<MemoryFiles>,
    /// Whether an input was accepted.
    read: Box<dyn FnMut(&MemoryFiles) -> bool>,
}

impl Fuzzed {
    fn new(corpus: Vec<MemoryFiles>, read: impl FnMut(&MemoryFiles) -> bool + 'static) -> Self {
        Self { corpus, read: Box::new(read) }
    }
}

type Open = fn() -> Fuzzed;

/// Every reader, with the number of inputs in an ordinary test: about a second's worth.
const READERS: &[(&str, u64, Open)] = &[
    ("experiment", 100, sweep::experiment),
    ("manifest", 1000, data::manifest),
    ("flare", 300, data::flare),
    ("bliss", 50, data::bliss),
    ("text", 100, data::text),
    ("tse", 300, data::tse),
    ("find", 300, data::find),
    ("scan", 50, data::scan),
    ("jsonl", 300, data::jsonl),
    ("parquet", 100, data::parquet),
    ("plan", 1000, sweep::plan),
    ("sweep", 50, sweep::sweep),
    ("checkpoint", 100, sweep::checkpoint),
    ("result", 50, sweep::result),
    ("model", 300, model::model),
    ("name", 300, language::name),
    ("string", 300, language::string),
    ("command", 50, language::command),
];

/// More than a gigabyte of address space beside what a test binary maps: in KiB.
const MEMORY: &str = "1300000";

/// The payload with which a run is stopped on purpose.
struct Stopped;

/// Does something that may be stopped on purpose.
fn stopped(run: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run))
        && !payload.is::<Stopped>()
    {
        std::panic::resume_unwind(payload);
    }
}

/// An input of one file.
fn file(name: &str, bytes: &[u8]) -> MemoryFiles {
    MemoryFiles([(name.to_owned(), bytes.to_vec())].into())
}

fn text(files: &MemoryFiles, name: &str) -> String {
    String::from_utf8_lossy(files.0.get(name).map_or(&[], Vec::as_slice)).into_owned()
}

/// A directory's files.
fn load(path: &Path) -> MemoryFiles {
    let directory = Directory::open(path).unwrap();
    let read = |name: String| (name.clone(), directory.bytes(&name).unwrap().unwrap());
    MemoryFiles(directory.names().unwrap().into_iter().map(read).collect())
}

/// The inputs that were kept for a reader.
fn kept(reader: &str) -> Vec<(String, MemoryFiles)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz").join(reader);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut inputs: Vec<_> =
        paths.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), load(&path))).collect();
    inputs.sort_by(|a, b| a.0.cmp(&b.0));
    inputs
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// Reads damaged inputs, in a process that was limited. Does nothing unless it is told which reader.
#[test]
#[ignore = "run by the test below, one reader per process"]
fn one_reader() {
    let Ok(name) = std::env::var("WUG_FUZZ_READER") else { return };
    let (_, inputs, open) = READERS.iter().find(|(reader, ..)| *reader == name).unwrap();
    let Fuzzed { mut corpus, mut read } = open();
    for (i, input) in corpus.iter().enumerate() {
        assert!(read(input), "{name}: valid input {i} is refused");
    }
    let mut watch = watch::Watch::new(&name);
    for (case, input) in kept(&name) {
        watch.input(&case, &input, || read(&input));
        corpus.push(input);
    }
    let first = variable("WUG_FUZZ_SEED").unwrap_or(0);
    let seconds = variable("WUG_FUZZ_SECONDS");
    let inputs = variable("WUG_FUZZ_INPUTS").unwrap_or(*inputs);
    let mut seed = first;
    while seconds.map_or(seed < first + inputs, |seconds| watch.seconds() < seconds) {
        let input = mutate::mutated(&corpus, Seed::new(seed).derive(&name));
        if inputs == 1 {
            watch::save(&watch::folder(&name).join(seed.to_string()), &input);
        }
        watch.input(&seed.to_string(), &input, || read(&input));
        seed += 1;
    }
    println!("{name}: seeds {first}..{seed}, {}", watch.summary());
    watch.finish();
}

/// Runs a reader in a process of its own and returns what went wrong. A process that was ended, for its time or its memory,
/// is followed by another that goes on behind the input.
fn limited(name: &str) -> Vec<String> {
    let _ = std::fs::remove_dir_all(watch::folder(name));
    let mut first = variable("WUG_FUZZ_SEED").unwrap_or(0);
    let mut failed = Vec::new();
    while failed.len() < 5 {
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "one_reader", "--ignored", "--nocapture"])
            .env("WUG_FUZZ_READER", name)
            .env("WUG_FUZZ_SEED", first.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        said.lines().filter(|line| line.starts_with(name)).for_each(|line| println!("{line}"));
        if output.status.success() {
            break;
        }
        let current = std::fs::read_to_string(watch::folder(name).join(watch::CURRENT)).unwrap_or_default();
        let errors = String::from_utf8_lossy(&output.stderr);
        failed.push(format!("{name}: {}, last input {current}\n{errors}", output.status));
        match current.parse::<u64>() {
            Ok(seed) if output.status.code().is_none() => first = seed + 1,
            _ => break,
        }
    }
    failed
}

#[test]
fn damaged_inputs_are_refused_or_read_but_never_a_panic() {
    let only = std::env::var("WUG_FUZZ_ONLY").ok();
    let readers = READERS.iter().map(|(name, ..)| *name);
    let readers =
        readers.filter(|name| only.as_deref().is_none_or(|only| only.split(',').any(|only| only == *name)));
    let failed: Vec<String> = readers.flat_map(limited).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
