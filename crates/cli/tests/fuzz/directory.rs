//! Directories of data on the disk: checked, trained from, and replaced.

use std::path::Path;

use wug_lab::dataset::MemoryFiles;
use wug_lab::language::Reading;
use wug_lab::spec::{Experiment, Scale};
use wug_lab::{data, validate};

use super::data::{FLARE, request, written};
use super::{Fuzzed, scratch, write};

/// What `wug validate` does, and `wug run` with `data.directory`.
pub(crate) fn directory() -> Fuzzed {
    let mut corpus = written(&[("flare/parity", "flare", FLARE, Reading::Corrected)], 20);
    // Fewer files: opening them takes most of the time.
    corpus[0].0.retain(|name, _| !["test-", "validation-long"].iter().any(|part| name.contains(part)));
    Fuzzed::new(corpus, |files| {
        let dir = scratch();
        write(files, &dir.path().join("parity"));
        let request = validate::Request { format: None, language: None, reading: None };
        let _ = validate::validate(dir.path(), &request);
        experiment(dir.path()).is_some()
    })
}

/// The runs of an experiment with the data of a directory.
fn experiment(directory: &Path) -> Option<usize> {
    let text = format!(
        "title = \"x\"\n[[recognition]]\nlanguages = \"parity\"\nlearners = \"lstm\"\nvalidation = \"short\"\nseeds = 1\ndata.directory = '{}'",
        directory.display()
    );
    Experiment::read("x", "x.toml", &text, Scale::Paper, &[]).ok().map(|experiment| experiment.runs.len())
}

/// What `wug data --force` does with a directory whose manifest was damaged: it deletes nothing beside it.
pub(crate) fn force() -> Fuzzed {
    const SMALL: &[(&str, &str)] = &[("train", "5"), ("validation", "2"), ("test", "2"), ("ood", "2")];
    let case = ("tse/adj-np:terminals=5", "tse", SMALL, Reading::Corrected);
    let mut corpus = written(&[case, case], 5);
    corpus[1].0.insert("mine.txt".to_owned(), b"mine".to_vec());
    let request = request(&case);
    Fuzzed::new(corpus, move |files: &MemoryFiles| {
        let dir = scratch();
        let (target, beside) = (dir.path().join("data"), dir.path().join("mine.txt"));
        std::fs::write(&beside, "mine").unwrap();
        write(files, &target);
        let mine = std::fs::read(target.join("mine.txt")).ok();
        let forced = data::write(&request, &target, true, &mut |_| ());
        assert_eq!(std::fs::read(&beside).unwrap(), b"mine", "a file beside the directory was changed");
        if mine.is_some() && !listed(files) {
            assert_eq!(std::fs::read(target.join("mine.txt")).ok(), mine, "a foreign file was deleted");
        }
        forced.is_ok() || mine.is_some()
    })
}

/// Whether the damaged manifest may name the foreign file.
fn listed(files: &MemoryFiles) -> bool {
    String::from_utf8_lossy(files.0.get("wug.json").map_or(&[], Vec::as_slice)).contains("mine")
}
