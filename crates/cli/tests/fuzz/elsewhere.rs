//! Readers of files and messages that come from elsewhere: networks, searches, answers, tasks, reviews, games, learners that are
//! processes, and what runs kept.

use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use wug_lab::Keep;
use wug_lab::answers::{Request, Source, SplitStrings, experiment, load_model, read_splits};
use wug_lab::dataset::MemoryFiles;
use wug_lab::dataset::reviews::read_csv;
use wug_lab::dataset::wordpiece::WordPieces;
use wug_lab::foreign::read_reply;
use wug_lab::language::Reading;
use wug_lab::mdl::{
    CorpusRequest, SearchEvent, SearchRequest, certify, read_network, search, search_settings,
};
use wug_lab::play::Game;
use wug_lab::spec::{Experiment, Scale};
use wug_lab::sweep::Sweep;
use wug_lab::work::{WorkerOptions, work};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::data::{FLARE, request};
use super::sweep::{Quiet, TINY, small};
use super::{Fuzzed, file, load, scratch, text, write};

/// Writes the first file of an input under its own name and reads it.
fn named<T>(files: &MemoryFiles, read: impl FnOnce(&Path) -> T) -> T {
    let dir = scratch();
    write(files, dir.path());
    let name = files.0.keys().next().map_or("none", String::as_str);
    read(&dir.path().join(name))
}

/// Networks as JSON, checked by exact arithmetic.
pub(crate) fn network() -> Fuzzed {
    let files = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../record/mdl"))
        .0
        .into_iter()
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|extension| extension == "json"));
    let corpus = files.map(|(_, bytes)| file("network.json", &bytes)).collect();
    Fuzzed::new(corpus, |files| {
        let Ok(read) = named(files, read_network) else { return false };
        for language in ["an-bn", "an-bm-cn-plus-m", "dyck-1", "dyck-2"] {
            let _ = certify(&read.network, language, 20);
        }
        true
    })
}

fn search_request(path: &Path) -> SearchRequest {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let given = [set("population", "8"), set("islands", "2"), set("generations", "6")];
    let corpus =
        CorpusRequest { language: "an-bn".to_owned(), training: 5, reading: Reading::Corrected, seed: 0 };
    SearchRequest {
        corpus,
        settings: search_settings(&given).unwrap(),
        seed: 0,
        threads: 1,
        checkpoint: Some(path.to_owned()),
        every: Duration::ZERO,
        stop: std::sync::Arc::default(),
    }
}

/// The checkpoints of a search, past the line that says which search it is.
pub(crate) fn search_checkpoint() -> Fuzzed {
    let dir = scratch();
    let mut first_line = Vec::new();
    let corpus = [1, 3, usize::MAX]
        .map(|steps| {
            let path = dir.path().join(steps.to_string());
            let mut advanced = 0;
            let request = search_request(&path);
            let mut stop = |event: SearchEvent<'_>| {
                advanced += usize::from(matches!(event, SearchEvent::Advanced(_)));
                request.stop.store(advanced >= steps, Ordering::SeqCst);
            };
            search(&request, &mut stop).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            let line = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
            first_line = bytes[..line].to_vec();
            file("search", &bytes[line..])
        })
        .to_vec();
    Fuzzed::new(corpus, move |files| {
        let whole = [&first_line[..], files.0.values().next().map_or(&[][..], Vec::as_slice)].concat();
        named(&file("search", &whole), |path| search(&search_request(path), &mut |_| ())).is_ok()
    })
}

/// An array of float64 in NumPy's format.
fn npy(values: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n", values.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn npz(splits: &[SplitStrings]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for split in splits {
        zip.start_file(format!("{}.npy", split.name), SimpleFileOptions::default()).unwrap();
        zip.write_all(&npy(&vec![0.5; split.strings.len()])).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const AN_BN: &[(&str, &str)] = &[("sizes", "1000")];

/// Answers about a data set that is as it should be, as lines and as arrays.
pub(crate) fn answers() -> Fuzzed {
    let dir = scratch();
    for (name, what, options) in [("flare", "flare/parity", FLARE), ("bliss", "bliss/an-bn", AN_BN)] {
        let request = request(&(what, "jsonl", options, Reading::Corrected));
        wug_lab::data::write(&request, &dir.path().join(name), false, &mut |_| ()).unwrap();
    }
    let flare = read_splits(&dir.path().join("flare")).unwrap();
    let lines = |splits: &[SplitStrings], answer: &dyn Fn(&str) -> String| -> Vec<u8> {
        let strings = splits.iter().flat_map(|split| &split.strings);
        let lines = strings.flat_map(|s| format!("{{\"string\": \"{s}\", {}}}\n", answer(s)).into_bytes());
        lines.collect()
    };
    let log_odds = lines(&flare, &|_| "\"log_odds\": 1.5".to_owned());
    let probability = lines(&flare, &|_| "\"probability\": 0.25".to_owned());
    let rows = |string: &str| {
        let rows = vec!["[0.5, 0.25, 0.25]"; string.split_whitespace().count() + 1];
        format!("\"next\": [{}]", rows.join(", "))
    };
    let next = lines(&read_splits(&dir.path().join("bliss")).unwrap(), &rows);
    let mut corpus = vec![file("flare.jsonl", &log_odds), file("flare.jsonl", &probability)];
    corpus.extend([file("flare.npz", &npz(&flare)), file("bliss.jsonl", &next)]);
    Fuzzed::new(corpus, move |files| {
        let name = files.0.keys().next().cloned().unwrap_or_default();
        let data = dir.path().join(if name.starts_with("bliss") { "bliss" } else { "flare" });
        let request = Request { data, learner: "fuzz".to_owned(), seed: 0, sets: Vec::new() };
        named(files, |path| experiment(&request, &Source::Answers(path)).is_ok())
    })
}

const TASK: &str = r#"
name = "own"
block_size = 2
train = [{ input = "a b", output = "b a" }, { input = "c", output = "c" }]
holdout = [
    { input = "c a", rules = { reverse = "a c", copy = "c a" } },
    { input = "b c a", rules = { reverse = "a c b", copy = "b c a" } },
]
"#;

/// Tasks of one's own, as TOML and as JSON.
pub(crate) fn tasks() -> Fuzzed {
    let json = serde_json::json!({
        "name": "own",
        "train": [{ "input": "a b", "output": "b a" }, { "input": "c", "output": "c" }],
        "holdout": [{ "input": "c a", "rules": { "reverse": "a c", "copy": "c a" } }],
    });
    let corpus = vec![file("task.toml", TASK.as_bytes()), file("task.json", json.to_string().as_bytes())];
    Fuzzed::new(corpus, |files| {
        named(files, |path| {
            let path = serde_json::Value::from(path.to_string_lossy());
            let text = format!(
                "title = \"t\"\n[[preference]]\nfiles = [{path}]\nlearners = [\"lstm\"]\nseeds = 1\n"
            );
            let read = Experiment::read("fuzz", "fuzz.toml", &text, Scale::Paper, &[]);
            read.inspect(|experiment| experiment.runs.iter().for_each(|run| drop(run.label()))).is_ok()
        })
    })
}

/// Reviews as comma-separated values, and the word pieces that are learned from them.
pub(crate) fn reviews() -> Fuzzed {
    let text_of = include_str!("../../../../testdata/reviews.csv");
    let lines = |n: usize| text_of.split_inclusive('\n').take(n).collect::<String>();
    let corpus = [5, 50].map(|n| file("reviews.csv", lines(n).as_bytes())).to_vec();
    Fuzzed::new(corpus, |files| {
        let Ok(reviews) = read_csv("reviews.csv", &text(files, "reviews.csv")) else { return false };
        let all = || reviews.train.iter().chain(&reviews.test).chain(&reviews.unsplit);
        let pieces = WordPieces::train(all().map(|review| review.text.as_str()), 300);
        for id in all().flat_map(|review| pieces.encode(&review.text)) {
            assert!((id as usize) < pieces.len());
        }
        true
    })
}

/// The log of a game.
pub(crate) fn play() -> Fuzzed {
    let dir = scratch();
    let corpus = [(3, None), (7, Some("qa"))]
        .map(|(seed, task)| {
            let mut game = Game::new(seed, Reading::Corrected, task).unwrap();
            for turn in 0..14 {
                let Some(question) = game.question() else { break };
                let wrong = "A".repeat(question.expected.chars().count());
                game.answer(if turn == 2 { &wrong } else { &question.expected }).unwrap();
            }
            let path = dir.path().join(seed.to_string());
            game.save(&path).unwrap();
            file("log.jsonl", &std::fs::read(path).unwrap())
        })
        .to_vec();
    Fuzzed::new(corpus, |files| {
        let Ok(Some(game)) = named(files, Game::load) else { return false };
        let _ = (game.question(), game.scores(), game.results());
        true
    })
}

/// What a learner that is a process says.
pub(crate) fn reply() -> Fuzzed {
    let lines = [
        r#"{"hello": {"protocol": 1, "roles": ["recognizer", "next-symbol"], "version": "1", "saves": true}}"#,
        r#"{"progress": {"epoch": 3, "training": 0.5, "validation": null}}"#,
        r#"{"checkpoint": "state"}"#,
        r#"{"fitted": {"parameters": 12}}"#,
        r#"{"answers": [[0.5, 0.25], [[1, 2], [3, 4e5]], 6]}"#,
        r#"{"saved": "state"}"#,
        r#"{"loaded": {}}"#,
        r#"{"observed": {}}"#,
        r#"{"error": "no"}"#,
    ];
    let corpus = lines.map(|line| file("line", line.as_bytes())).to_vec();
    Fuzzed::new(corpus, |files| read_reply(files.0.get("line").map_or(&[][..], Vec::as_slice)))
}

/// The checksum of a file that was kept, and around them that of their list: damage would else be noticed before it is read.
fn resealed(kept: &mut MemoryFiles, id: &str) {
    let Some(manifest) = kept.0.get("kept.json") else { return };
    let Ok(mut manifest) = serde_json::from_slice::<serde_json::Value>(manifest) else { return };
    let Some(fields) = manifest.as_object_mut() else { return };
    fields.remove("checksum");
    let sums = kept.0.iter().filter(|(name, _)| *name != "kept.json").map(|(name, bytes)| {
        let mut hasher = blake3::Hasher::new_derive_key("wug 2026 kept file");
        for part in [id.as_bytes(), name.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        (name.clone(), hasher.finalize().to_hex().to_string().into())
    });
    let sums: serde_json::Map<String, serde_json::Value> = sums.collect();
    fields.insert("files".to_owned(), sums.into());
    let text = format!("{manifest:#}\n");
    let body = text.strip_suffix("\n}\n").unwrap_or(&text);
    let sealed = format!("{body},\n  \"checksum\": \"{}\"\n}}\n", blake3::hash(text.as_bytes()).to_hex());
    kept.0.insert("kept.json".to_owned(), sealed.into_bytes());
}

/// What runs kept: predictions and models.
pub(crate) fn kept() -> Fuzzed {
    let dir = scratch();
    let mut experiment = small(TINY);
    experiment.runs.truncate(1);
    let sweep = Sweep::begin(dir.path(), &experiment).unwrap();
    let keep = Keep { predictions: true, models: true };
    work(&sweep, WorkerOptions { keep, ..WorkerOptions::new(1) }, &Quiet).unwrap();
    let id = sweep.runs[0].id.clone();
    let folder = dir.path().join("kept").join(&id);
    let corpus = vec![load(&folder)];
    Fuzzed::new(corpus, move |files| {
        let _ = &dir;
        let mut files = files.clone();
        // An even number of bytes: as after damage on the disk. An odd one: as if somebody had made it.
        if files.0.values().map(Vec::len).sum::<usize>() % 2 == 1 {
            resealed(&mut files, &id);
        }
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        write(&files, &folder);
        let model = load_model(&folder);
        matches!(sweep.predictions(&id), Ok(Some(_))) && model.is_ok()
    })
}
