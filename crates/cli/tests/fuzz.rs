//! Every reader, fed with damaged inputs: each must come back, with a value or an error, without a panic, within ten
//! seconds of processor time and a gigabyte of memory.
//!
//! `WUG_FUZZ_SECONDS` is how long all readers are fuzzed together, with the seeds from `WUG_FUZZ_SEED` on.
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
#[path = "fuzz/directory.rs"]
mod directory;
#[path = "fuzz/elsewhere.rs"]
mod elsewhere;
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

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use watch::Count;
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

/// Every reader: the number of inputs in an ordinary test, about a second's worth; and its share of the time of a long run,
/// such that the slow ones get many inputs too.
const READERS: &[(&str, u64, u64, Open)] = &[
    ("experiment", 100, 5, sweep::experiment),
    ("manifest", 1000, 6, data::manifest),
    ("flare", 300, 4, data::flare),
    ("bliss", 50, 4, data::bliss),
    ("text", 100, 6, data::text),
    ("tse", 300, 4, data::tse),
    ("find", 300, 5, data::find),
    ("scan", 50, 3, data::scan),
    ("jsonl", 300, 4, data::jsonl),
    ("parquet", 100, 6, data::parquet),
    ("directory", 50, 12, directory::directory),
    ("force", 50, 12, directory::force),
    ("plan", 1000, 10, sweep::plan),
    ("sweep", 50, 10, sweep::sweep),
    ("checkpoint", 100, 10, sweep::checkpoint),
    ("result", 50, 6, sweep::result),
    ("model", 300, 8, model::model),
    ("kept", 100, 5, elsewhere::kept),
    ("network", 100, 5, elsewhere::network),
    ("search", 100, 4, elsewhere::search_checkpoint),
    ("answers", 100, 5, elsewhere::answers),
    ("tasks", 200, 4, elsewhere::tasks),
    ("reviews", 200, 4, elsewhere::reviews),
    ("play", 200, 4, elsewhere::play),
    ("reply", 1000, 3, elsewhere::reply),
    ("name", 300, 5, language::name),
    ("string", 300, 6, language::string),
    ("command", 50, 8, language::command),
];

/// More than a gigabyte of address space beside what a test binary maps: in KiB.
const MEMORY: &str = "1300000";

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

/// Writes the files of an input below a directory.
fn write(files: &MemoryFiles, root: &Path) {
    for (name, bytes) in &files.0 {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// A directory for one input; in memory where there is such a file system, since a sync to a disk takes longer than a
/// reader.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
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
    let (_, inputs, _, open) = READERS.iter().find(|(reader, ..)| *reader == name).unwrap();
    let Fuzzed { mut corpus, mut read } = open();
    for (i, input) in corpus.iter().enumerate() {
        assert!(read(input), "{name}: valid input {i} is refused");
    }
    let mut watch = watch::Watch::new(&name);
    for (case, input) in kept(&name) {
        let input = Arc::new(input);
        watch.input(&case, &input, || read(&input));
        corpus.push(Arc::unwrap_or_clone(input));
    }
    let first = variable("WUG_FUZZ_SEED").unwrap_or(0);
    let seconds = variable(SECONDS);
    let inputs = variable("WUG_FUZZ_INPUTS").unwrap_or(*inputs);
    let mut seed = first;
    while seconds.map_or(seed < first + inputs, |seconds| watch.seconds() < seconds) {
        let input = Arc::new(mutate::mutated(&corpus, Seed::new(seed).derive(&name)));
        if inputs == 1 {
            write(&input, &watch::folder(&name).join(seed.to_string()));
        }
        watch.input(&seed.to_string(), &input, || read(&input));
        seed += 1;
    }
    println!("{COUNTED}{}", watch.count().line());
    watch.finish();
}

/// How long one reader is fuzzed.
const SECONDS: &str = "WUG_FUZZ_READER_SECONDS";

/// Before the numbers of a process.
const COUNTED: &str = "counted ";

/// Runs a reader in a process of its own and returns what it counted and what went wrong. A process that was ended, for
/// its time or its memory, is followed by another that goes on behind the input.
fn limited(name: &str, seconds: Option<u64>) -> (Count, Vec<String>) {
    let _ = std::fs::remove_dir_all(watch::folder(name));
    let mut first = variable("WUG_FUZZ_SEED").unwrap_or(0);
    let (mut count, mut failed) = (Count::default(), Vec::new());
    let begun = Instant::now();
    while failed.len() < 5 {
        let left = seconds.map(|seconds| seconds.saturating_sub(begun.elapsed().as_secs()).to_string());
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "one_reader", "--ignored", "--nocapture"])
            .env("WUG_FUZZ_READER", name)
            .env("WUG_FUZZ_SEED", first.to_string())
            .envs(left.map(|left| (SECONDS, left)))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let counts = said.lines().filter_map(|line| Count::of_line(line.split_once(COUNTED)?.1));
        count = counts.fold(count, Count::and);
        if output.status.success() {
            break;
        }
        let current = std::fs::read_to_string(watch::folder(name).join(watch::CURRENT)).unwrap_or_default();
        let current = current.trim();
        let errors = String::from_utf8_lossy(&output.stderr);
        failed.push(format!("{name}: {}, last input {current}\n{errors}", output.status));
        match current.parse::<u64>() {
            Ok(seed) if output.status.code().is_none() => first = seed + 1,
            _ => break,
        }
    }
    (count, failed)
}

/// The readers with the seconds of each, those with the most first. Several are fuzzed at a time.
fn schedule(workers: u64) -> Vec<(&'static str, Option<u64>)> {
    let only = std::env::var("WUG_FUZZ_ONLY").ok();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only.split(',').any(|only| only == name));
    let mut readers: Vec<_> = READERS.iter().filter(|(name, ..)| wanted(name)).collect();
    readers.sort_by_key(|(_, _, share, _)| Reverse(*share));
    let shares: u64 = readers.iter().map(|(_, _, share, _)| share).sum();
    let seconds = variable("WUG_FUZZ_SECONDS").map(|seconds| seconds * workers);
    readers.iter().map(|(name, _, share, _)| (*name, seconds.map(|s| (s * share / shares).max(1)))).collect()
}

#[test]
fn damaged_inputs_are_refused_or_read_but_never_a_panic() {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (queue, done) = (Mutex::new(schedule(workers as u64).into_iter()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                // In a statement of its own: the lock is released before the reader begins.
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some((name, seconds)) = next else { break };
                    let counted = limited(name, seconds);
                    println!("{}", counted.0.row(name));
                    done.lock().unwrap().insert(name, counted);
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    println!("\n{}", Count::HEADER);
    for (name, (count, _)) in READERS.iter().filter_map(|(name, ..)| Some((name, done.get(name)?))) {
        println!("{}", count.row(name));
    }
    let total = done.values().fold(Count::default(), |sum, (count, _)| sum.and(count.clone()));
    println!("{}", total.row("all"));
    let failed: Vec<String> = done.into_values().flat_map(|(_, failed)| failed).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
