//! Kills: a sweep whose processes die again and again, and whose checkpoints are damaged in between, ends with the results
//! of a sweep that nothing happened to, byte for byte.
//!
//! `WUG_KILLS` is the number of kills (20 if not set), `WUG_KILL_SEED` draws their moments.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stdout, reason = "counts are the result of a long run")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand_core::Rng;
use wug_lab::dataset::Seed;

/// Both protocols; the first has epochs enough to be met between two.
const SMALL: &str = include_str!("../../../testdata/fuzz/small.toml");

fn wug(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("wug"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// The files of a folder that have their final names.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    let mut files = BTreeMap::new();
    for entry in entries.map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        // A worker that is being killed may remove a file meanwhile.
        if let Ok(bytes) = std::fs::read(entry.path())
            && !name.starts_with('.')
        {
            files.insert(name, bytes);
        }
    }
    files
}

struct Torture {
    dir: tempfile::TempDir,
    spec: String,
    rng: Box<dyn Rng>,
    /// By command.
    kills: BTreeMap<&'static str, usize>,
    /// By kind.
    damages: BTreeMap<&'static str, usize>,
    sweeps: usize,
    /// Sweeps in which a run died too often.
    retries: usize,
}

impl Torture {
    fn new(seed: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let spec = dir.path().join("small.toml");
        std::fs::write(&spec, SMALL).unwrap();
        let (spec, rng) =
            (spec.to_str().unwrap().to_owned(), Box::new(Seed::new(seed).derive("kills").rng()));
        Self { dir, spec, rng, kills: BTreeMap::new(), damages: BTreeMap::new(), sweeps: 0, retries: 0 }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.next_u64() % n
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().unwrap().to_owned()
    }

    fn run(&self, out: &str) -> Vec<String> {
        let sets = ["max_epochs=40", "patience=40", "epochs=60"].iter().flat_map(|set| ["--set", set]);
        let args = ["run", &self.spec, "--out", out, "--jobs", "1", "--checkpoint", "0"];
        args.into_iter().chain(sets).map(str::to_owned).collect()
    }

    /// Kills a child after a while, unless it was faster; says whether it was killed.
    fn kill(&mut self, what: &'static str, mut children: Vec<Child>, most: u64) -> bool {
        std::thread::sleep(Duration::from_millis(self.below(most)));
        let mut killed = false;
        for child in &mut children {
            child.kill().unwrap();
            killed |= !child.wait().unwrap().success();
        }
        *self.kills.entry(what).or_default() += usize::from(killed);
        killed
    }

    /// Damages one checkpoint, if there is one: flips a bit, cuts it, empties it, or puts another run's in its place.
    fn damage(&mut self, sweep: &str) {
        let folder = PathBuf::from(sweep).join("checkpoints");
        let all: Vec<(String, Vec<u8>)> = files(&folder).into_iter().collect();
        if all.is_empty() {
            return;
        }
        let (name, bytes) = &all[self.below(all.len() as u64) as usize];
        let mut bytes = bytes.clone();
        let at = self.below(bytes.len().max(1) as u64) as usize;
        let kind = match self.below(4) {
            0 if !bytes.is_empty() => {
                bytes[at] ^= 1 << self.below(8);
                "flipped"
            }
            1 => {
                bytes.truncate(at);
                "cut"
            }
            2 => {
                bytes.clear();
                "emptied"
            }
            _ => {
                bytes.clone_from(&all[self.below(all.len() as u64) as usize].1);
                "swapped"
            }
        };
        std::fs::write(folder.join(name), bytes).unwrap();
        *self.damages.entry(kind).or_default() += 1;
    }

    /// Kills workers on one sweep some times, lets it end, and returns its results.
    fn sweep(&mut self, kills: usize) -> BTreeMap<String, Vec<u8>> {
        self.sweeps += 1;
        let sweep = self.path(&format!("sweep-{}", self.sweeps));
        let run = self.run(&sweep);
        let run: Vec<&str> = run.iter().map(String::as_str).collect();
        for i in 0..kills {
            let first = wug(&run).stderr(Stdio::null()).spawn().unwrap();
            let (what, children) = if i % 3 == 2 && Path::new(&sweep).join("plan.json").exists() {
                let second = wug(&["worker", &sweep, "--jobs", "1", "--checkpoint", "0"]);
                ("run and worker", vec![first, { second }.stderr(Stdio::null()).spawn().unwrap()])
            } else {
                ("run", vec![first])
            };
            if !self.kill(what, children, 600) {
                break;
            }
            if self.below(2) == 0 {
                self.damage(&sweep);
            }
        }
        let mut ended = wug(&run).output().unwrap();
        // A run that died three times without progress has failed; that is how it is done again.
        if ended.status.code() == Some(1) {
            assert!(wug(&["retry", &sweep]).status().unwrap().success());
            ended = wug(&run).output().unwrap();
            self.retries += 1;
        }
        assert!(ended.status.success(), "sweep {}: {}", self.sweeps, String::from_utf8_lossy(&ended.stderr));
        let results = files(&Path::new(&sweep).join("results"));
        self.report(&sweep);
        std::fs::remove_dir_all(&sweep).unwrap();
        results
    }

    /// A report that is killed leaves the old page or the new one.
    fn report(&mut self, sweep: &str) {
        let page = self.path("page.html");
        let args = ["report", sweep, "--format", "html", "--out", &page];
        assert!(wug(&args).status().unwrap().success());
        let whole = std::fs::read(&page).unwrap();
        let child = wug(&args).stderr(Stdio::null()).spawn().unwrap();
        self.kill("report", vec![child], 60);
        assert!(std::fs::read(&page).unwrap() == whole, "half a page");
    }

    /// Data that are killed are not there, or whole; the same command ends with the same bytes.
    fn data(&mut self, calm: &BTreeMap<String, Vec<u8>>) {
        let out = self.path("data");
        let args = DATA.map(|arg| if arg == "OUT" { out.as_str() } else { arg });
        let child = wug(&args).stderr(Stdio::null()).spawn().unwrap();
        self.kill("data", vec![child], 120);
        let there = files(Path::new(&out));
        assert!(there.is_empty() || there == *calm, "half a data set");
        assert!(wug(&args).status().unwrap().success());
        assert_eq!(files(Path::new(&out)), *calm);
        std::fs::remove_dir_all(&out).unwrap();
    }
}

const DATA: [&str; 6] = ["data", "find/scan", "--format", "jsonl", "--out", "OUT"];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

#[test]
fn kills_and_damaged_checkpoints_change_no_result() {
    let wanted = number("WUG_KILLS", 20) as usize;
    let mut torture = Torture::new(number("WUG_KILL_SEED", 0));
    let calm = torture.sweep(0);
    assert_eq!(calm.len(), 8);
    torture.kills.clear();
    let data = {
        let out = torture.path("calm");
        assert!(
            wug(&DATA.map(|arg| if arg == "OUT" { out.as_str() } else { arg })).status().unwrap().success()
        );
        files(Path::new(&out))
    };
    let (mut compared, mut differing) = (0, 0);
    while torture.kills.values().sum::<usize>() < wanted {
        let left = wanted - torture.kills.values().sum::<usize>();
        let results = torture.sweep(left.min(8));
        compared += calm.len();
        differing += calm.iter().filter(|(name, bytes)| results.get(*name) != Some(bytes)).count();
        assert_eq!(results.len(), calm.len());
        torture.data(&data);
    }
    let Torture { kills, damages, sweeps, retries, .. } = &torture;
    println!(
        "kills {kills:?}, damaged checkpoints {damages:?}, {sweeps} sweeps ({retries} retried): {differing} of {compared} results differ"
    );
    assert_eq!(differing, 0);
}
