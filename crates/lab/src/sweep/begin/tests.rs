use super::*;
use crate::spec::Scale;
use crate::work::{Observer, Progress, WorkerOptions, work};

const SMALL: &str = r#"
title = "small"
[[recognition]]
languages = "parity"
learners = "rnn"
losses = "R"
validation = "short"
sizes = 2000
seeds = 1
max_epochs = 1
[recognition.data]
training = 60
validation = 20
test = 30
held_out = 10
distances = 5
longest = 60
"#;

/// One run per seed.
fn experiment(name: &str, first_seed: usize, seeds: usize) -> Experiment {
    let sets = [("first_seed", first_seed), ("seeds", seeds)].map(|(key, n)| (key.to_owned(), n.to_string()));
    Experiment::read(name, name, SMALL, Scale::Paper, &sets).unwrap()
}

struct Silent;

impl Observer for Silent {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &wug_score::RunResult, _: std::time::Duration, _: Progress) {}
}

fn worked(sweep: &Sweep, only: Option<&Experiment>) -> (usize, usize, usize) {
    let ids = |experiment: &Experiment| experiment.runs.iter().map(crate::plan::RunPlan::id).collect();
    let options = WorkerOptions { only: only.map(ids), ..WorkerOptions::new(1) };
    let summary = work(sweep, options, &Silent).unwrap();
    (summary.done, summary.failed, summary.waiting)
}

#[test]
fn six_who_add_to_a_sweep_at_once_all_succeed() {
    let dir = tempfile::tempdir().unwrap();
    let (new, old) = (dir.path().join("new"), dir.path().join("old"));
    Sweep::begin(&old, &experiment("first", 0, 1)).unwrap();
    std::thread::scope(|scope| {
        for i in 1..=6 {
            let (new, old) = (&new, &old);
            scope.spawn(move || {
                for round in 0..5 {
                    let added = experiment("added", 10 * i + round, 1);
                    for root in [new, old] {
                        let sweep = Sweep::add(root, &added).unwrap();
                        assert!(sweep.runs.iter().any(|run| run.id == added.runs[0].id()));
                    }
                }
            });
        }
    });
    assert_eq!(Sweep::open(&new).unwrap().runs.len(), 30);
    let grown = Sweep::open(&old).unwrap();
    assert_eq!((grown.runs.len(), grown.header.runs, grown.header.name.as_str()), (31, 31, "first"));
    assert_eq!(grown.runs.iter().filter(|run| !run.added).count(), 1);
}

#[test]
fn the_command_that_began_a_sweep_goes_on_after_runs_were_added() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (own, added, longer) = (experiment("own", 0, 2), experiment("added", 7, 1), experiment("own", 0, 3));
    Sweep::begin(root, &own).unwrap();
    let sweep = Sweep::add(root, &added).unwrap();
    assert_eq!(sweep.runs.len(), 3);
    // What was added is done by who added it, also if that one was killed.
    let sweep = Sweep::begin(root, &own).unwrap();
    assert_eq!((sweep.runs.len(), worked(&sweep, None)), (3, (2, 0, 0)));
    assert_eq!(worked(&Sweep::add(root, &added).unwrap(), Some(&added)), (1, 0, 0));
    // Nothing is to be done: with the same command, as a worker, and in what is reported.
    assert_eq!(worked(&Sweep::begin(root, &own).unwrap(), None), (0, 0, 0));
    assert_eq!(worked(&Sweep::open(root).unwrap(), None), (0, 0, 0));
    // The sweep grows with its experiment, and keeps what was added; another experiment is refused as ever.
    let grown = Sweep::begin(root, &longer).unwrap();
    assert_eq!((grown.runs.len(), grown.header.runs, worked(&grown, None)), (4, 4, (1, 0, 0)));
    let refused = Sweep::begin(root, &own).unwrap_err().to_string();
    assert!(refused.contains("holds another sweep"), "{refused}");
    // A plan that is lost or damaged is written again.
    fs::remove_file(root.join(PLAN)).unwrap();
    assert_eq!(Sweep::begin(root, &longer).unwrap().runs, grown.runs);
    fs::write(root.join(PLAN), "{").unwrap();
    assert_eq!(Sweep::begin(root, &longer).unwrap().header, grown.header);
    assert_eq!(Sweep::open(root).unwrap().status().unwrap().results().len(), 4);
}
