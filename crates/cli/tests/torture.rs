//! Kills: a sweep whose processes die again and again, and whose checkpoints are damaged in between, ends with the files
//! of a sweep that nothing happened to, byte for byte; and so do data sets, reports and exports.
//!
//! `WUG_KILLS` is the number of kills (20 if not set), `WUG_KILL_SEED` draws their moments.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "counts are the result of a long run")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rand_core::Rng;
use wug_lab::dataset::Seed;

/// Both protocols; the first has epochs enough to be met between two.
const SMALL: &str = include_str!("../../../testdata/fuzz/small.toml");

/// File names with their contents.
type Files = BTreeMap<String, Vec<u8>>;

fn wug(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("wug"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Lets a command end well, and says how long it took.
fn calm(args: &[&str]) -> Duration {
    let begun = Instant::now();
    let output = wug(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    begun.elapsed()
}

/// The files below a folder, by their names from it on.
fn files(folder: &Path) -> Files {
    fn collect(folder: &Path, prefix: &str, files: &mut Files) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap()) {
            let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                collect(&entry.path(), &format!("{name}/"), files);
            } else {
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut files = Files::new();
    collect(folder, "", &mut files);
    files
}

/// Whether a file has a temporary name, or is below one.
fn is_temporary(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.'))
}

struct Torture {
    dir: tempfile::TempDir,
    spec: String,
    rng: Box<dyn Rng>,
    /// How long a sweep takes that nothing happens to.
    whole: Duration,
    /// By command.
    kills: BTreeMap<&'static str, usize>,
    /// By kind.
    damages: BTreeMap<&'static str, usize>,
    /// A checkpoint of each run, to be put in another's place.
    checkpoints: Files,
    sweeps: usize,
    /// Sweeps in which a run died too often.
    retries: usize,
    /// Checkpoints that were found to be damaged.
    aside: usize,
    /// Files that were compared with those of calm commands.
    compared: usize,
    differing: Vec<String>,
}

impl Torture {
    fn new(seed: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let spec = dir.path().join("small.toml");
        std::fs::write(&spec, SMALL).unwrap();
        let (spec, rng) =
            (spec.to_str().unwrap().to_owned(), Box::new(Seed::new(seed).derive("kills").rng()));
        Self {
            dir,
            spec,
            rng,
            whole: Duration::ZERO,
            kills: BTreeMap::new(),
            damages: BTreeMap::new(),
            checkpoints: Files::new(),
            sweeps: 0,
            retries: 0,
            aside: 0,
            compared: 0,
            differing: Vec::new(),
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.next_u64() % n.max(1)
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, out: &str, jobs: &str) -> Vec<String> {
        let sets = ["max_epochs=40", "patience=40", "epochs=60"].iter().flat_map(|set| ["--set", set]);
        let args = ["run", &self.spec, "--out", out, "--jobs", jobs, "--checkpoint", "0"];
        args.into_iter().chain(sets).map(str::to_owned).collect()
    }

    /// Kills processes at a moment of the time that they may take, unless they are faster; says whether one was killed.
    fn kill(&mut self, what: &'static str, mut children: Vec<Child>, most: Duration) -> bool {
        std::thread::sleep(Duration::from_micros(self.below(most.as_micros() as u64)));
        children.iter_mut().for_each(|child| child.kill().unwrap());
        let ends: Vec<ExitStatus> = children.iter_mut().map(|child| child.wait().unwrap()).collect();
        let killed = ends.iter().any(|end| end.code().is_none());
        *self.kills.entry(what).or_default() += usize::from(killed);
        killed
    }

    /// Damages one checkpoint, if there is one: flips a bit, cuts it, empties it, appends to it, or puts another run's in
    /// its place.
    fn damage(&mut self, sweep: &str) {
        let folder = PathBuf::from(sweep).join("checkpoints");
        let all: Vec<(String, Vec<u8>)> =
            files(&folder).into_iter().filter(|(name, _)| !name.contains('.')).collect();
        self.checkpoints.extend(all.iter().cloned());
        if all.is_empty() {
            return;
        }
        let (name, mut bytes) = all[self.below(all.len() as u64) as usize].clone();
        let at = self.below(bytes.len() as u64) as usize;
        let other =
            self.checkpoints.iter().find(|(other, _)| **other != name).map(|(_, bytes)| bytes.clone());
        let kind = match (self.below(5), other) {
            (0, Some(other)) => {
                bytes = other;
                "swapped"
            }
            (1, _) if !bytes.is_empty() => {
                bytes.truncate(at);
                "cut"
            }
            (2, _) => {
                bytes.clear();
                "emptied"
            }
            (3, _) => {
                bytes.extend((0..=self.below(64)).map(|i| i as u8));
                "appended to"
            }
            _ if !bytes.is_empty() => {
                bytes[at] ^= 1 << self.below(8);
                "flipped"
            }
            _ => return,
        };
        std::fs::write(folder.join(name), bytes).unwrap();
        *self.damages.entry(kind).or_default() += 1;
    }

    /// Kills workers on one sweep some times, lets it end, and returns what every such sweep must have in common: all files
    /// but the logs, which say when and where, and what was set aside.
    fn sweep(&mut self, kills: usize) -> (String, Files) {
        self.sweeps += 1;
        let sweep = self.path(&format!("sweep-{}", self.sweeps));
        let run = self.run(&sweep, if self.sweeps.is_multiple_of(2) { "2" } else { "1" });
        let run: Vec<&str> = run.iter().map(String::as_str).collect();
        for i in 0..kills {
            let first = wug(&run).stderr(Stdio::null()).spawn().unwrap();
            let (what, children) = if i % 3 == 2 && Path::new(&sweep).join("plan.json").exists() {
                let second = wug(&["worker", &sweep, "--jobs", "1", "--checkpoint", "0"]);
                ("run and worker", vec![first, { second }.stderr(Stdio::null()).spawn().unwrap()])
            } else {
                ("run", vec![first])
            };
            if !self.kill(what, children, self.whole / 3) {
                break;
            }
            if self.below(3) > 0 {
                self.damage(&sweep);
            }
        }
        let begun = Instant::now();
        let mut ended = wug(&run).output().unwrap();
        self.whole = self.whole.max(begun.elapsed());
        // A run that died three times without progress has failed; that is how it is done again.
        if ended.status.code() == Some(1) {
            calm(&["retry", &sweep]);
            ended = wug(&run).output().unwrap();
            self.retries += 1;
        }
        assert!(ended.status.success(), "sweep {}: {}", self.sweeps, String::from_utf8_lossy(&ended.stderr));
        let mut files = files(Path::new(&sweep));
        let aside = |name: &str| name.starts_with("aside/");
        self.aside += files.keys().filter(|name| aside(name) && name.ends_with(".checkpoint")).count();
        files.retain(|name, _| !aside(name) && !name.starts_with("logs/"));
        (sweep, files)
    }

    /// Counts what is not as it should be.
    fn compare(&mut self, what: &str, there: &Files, calm: &Files) {
        self.compared += calm.len();
        let names = calm.keys().chain(there.keys().filter(|name| !calm.contains_key(*name)));
        let differing = names.filter(|name| calm.get(*name) != there.get(*name));
        self.differing.extend(differing.map(|name| format!("{what} {}: {name}", self.sweeps)));
    }

    /// A report or an export that is killed leaves the old file or the new one.
    fn page(&mut self, what: &'static str, format: &str, sweep: &str) -> Vec<u8> {
        let page = self.path("page");
        let args = [what, sweep, "--format", format, "--out", &page];
        let took = calm(&args);
        let whole = std::fs::read(&page).unwrap();
        std::fs::write(&page, "old").unwrap();
        let child = wug(&args).stderr(Stdio::null()).spawn().unwrap();
        self.kill(what, vec![child], took);
        let there = std::fs::read(&page).unwrap();
        assert!(there == whole || there == b"old", "half a page: {what}");
        calm(&args);
        assert!(std::fs::read(&page).unwrap() == whole, "{what} is another one");
        if format == "jsonl" { without_times(&whole) } else { whole }
    }

    /// Data that are killed are not there, or whole; the same command ends with the same bytes.
    fn data(&mut self, calm_data: &CalmData) {
        let out = self.path("data");
        let args = data_args(calm_data.what, &out, "2");
        let child = wug(&args).stderr(Stdio::null()).spawn().unwrap();
        self.kill("data", vec![child], calm_data.took);
        let there = files(Path::new(&out));
        assert!(there.is_empty() || there == calm_data.new, "half a data set");
        calm(&args);
        self.compare("data", &files(Path::new(&out)), &calm_data.new);
        std::fs::remove_dir_all(&out).unwrap();
    }

    /// Data that are killed while they replace others: one of the two is there, or the next command puts it there.
    fn force(&mut self, calm_data: &CalmData) {
        let out = self.path("data");
        calm(&data_args(calm_data.what, &out, "1"));
        let args = [&data_args(calm_data.what, &out, "2")[..], &["--force"]].concat();
        let child = wug(&args).stderr(Stdio::null()).spawn().unwrap();
        self.kill("data --force", vec![child], calm_data.took);
        let mut there = files(Path::new(&out));
        there.retain(|name, _| !is_temporary(name));
        let one = there.is_empty() || there == calm_data.new || there == calm_data.old;
        assert!(one, "a mixture of two data sets");
        calm(&args);
        self.compare("data --force", &files(Path::new(&out)), &calm_data.new);
        std::fs::remove_dir_all(&out).unwrap();
        let left: Vec<String> =
            files(self.dir.path()).into_keys().filter(|name| is_temporary(name)).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    fn killed(&self) -> usize {
        self.kills.values().sum()
    }
}

/// Data sets that nothing happened to, with two seeds.
struct CalmData {
    what: &'static [&'static str],
    took: Duration,
    old: Files,
    new: Files,
}

impl CalmData {
    fn write(torture: &Torture, what: &'static [&'static str]) -> Self {
        let out = torture.path("calm");
        let one = |seed: &str| {
            let took = calm(&data_args(what, &out, seed));
            let files = files(Path::new(&out));
            std::fs::remove_dir_all(&out).unwrap();
            (took, files)
        };
        let ((took, old), (_, new)) = (one("1"), one("2"));
        Self { what, took, old, new }
    }
}

fn data_args<'a>(what: &[&'a str], out: &'a str, seed: &'a str) -> Vec<&'a str> {
    [&["data"][..], what, &["--out", out, "--seed", seed]].concat()
}

const DATA: [&[&str]; 3] = [
    &["find/scan", "--format", "jsonl"],
    &["flare/dyck-2-3", "--set", "training.size=1000", "--set", "test.size=500"],
    &["bliss/an-bn", "--set", "sizes=1000"],
];

/// Rows without what was logged of the time that runs took, which no two sweeps share.
fn without_times(rows: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    for line in std::str::from_utf8(rows).unwrap().lines() {
        let mut row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        for name in ["begun", "seconds", "cpu_seconds", "starts"] {
            assert!(row.remove(name).is_some(), "{name}");
        }
        serde_json::to_writer(&mut kept, &row).unwrap();
    }
    kept
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

#[test]
fn kills_and_damaged_checkpoints_change_no_result() {
    let wanted = number("WUG_KILLS", 20) as usize;
    let mut torture = Torture::new(number("WUG_KILL_SEED", 0));
    let (sweep, whole) = torture.sweep(0);
    assert_eq!(whole.keys().filter(|name| name.starts_with("results/")).count(), 16);
    let pages = [("report", "html"), ("report", "markdown"), ("export", "jsonl")];
    let calm_pages = pages.map(|(what, format)| torture.page(what, format, &sweep));
    let data = DATA.map(|what| CalmData::write(&torture, what));
    torture.kills.clear();
    for i in 0.. {
        let damages: usize = torture.damages.values().sum();
        if torture.killed() >= wanted && damages >= wanted * 3 / 10 {
            break;
        }
        let (sweep, files) = torture.sweep(12);
        torture.compare("sweep", &files, &whole);
        let (page, calm_page) = (pages[i % pages.len()], &calm_pages[i % pages.len()]);
        assert!(torture.page(page.0, page.1, &sweep) == *calm_page, "another {page:?}");
        torture.compared += 1;
        std::fs::remove_dir_all(&sweep).unwrap();
        torture.data(&data[i % data.len()]);
        torture.force(&data[i % data.len()]);
    }
    let Torture { kills, damages, sweeps, retries, aside, compared, differing, .. } = &torture;
    println!("{} kills {kills:?}", torture.killed());
    println!("{} damaged checkpoints {damages:?}, {aside} set aside", damages.values().sum::<usize>());
    println!("{sweeps} sweeps ({retries} retried): {} of {compared} files differ", differing.len());
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
