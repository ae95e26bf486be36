//! Reviews that the user has, as sequences of word pieces that end with their label.

use std::path::Path;

use wug_dataset::masked::MaskedExample;
use wug_dataset::reviews::{Review, Reviews, read_csv};
use wug_dataset::wordpiece::WordPieces as Pieces;
use wug_dataset::{DataError, Seed};
use wug_language::draw;
use wug_score::plan::CorpusFile;

use crate::LabError;
use crate::regular::read_present;

/// The labels are the first symbols: negative, positive. Pieces come after them.
pub(super) const LABELS: [&str; 2] = ["negative", "positive"];

/// The most reviews, and the most bytes of them.
const MOST: (usize, u64) = (1_000_000, 1 << 30);

const FOLDERS: [&str; 4] = ["train/pos", "train/neg", "test/pos", "test/neg"];
/// What reviews look like on disk.
const LAYOUT: &str = "reviews are a directory with train/pos, train/neg, test/pos and test/neg (`aclImdb`), or a file of comma-separated values";

pub(super) struct Read {
    pub(super) train: Vec<MaskedExample>,
    pub(super) test: Vec<MaskedExample>,
    pub(super) pieces: Pieces,
}

/// The same with the hash of its reviews, which are read and checked.
pub(super) fn identified(corpus: &CorpusFile) -> Result<CorpusFile, String> {
    if corpus.path.is_empty() {
        let what = "a directory `aclImdb` or a file of comma-separated values";
        return Err(format!(
            "no reviews are given, and none come with wug: say where they are with `--set corpus.path=PATH`, {what}"
        ));
    }
    let path = Path::new(&corpus.path);
    if !path.exists() {
        return Err(format!("there is nothing at {}: {LAYOUT}", corpus.path));
    }
    let missing = FOLDERS.into_iter().find(|folder| path.is_dir() && !path.join(folder).is_dir());
    if let Some(folder) = missing {
        return Err(format!("{} has no directory {folder}: {LAYOUT}", corpus.path));
    }
    let reviews = reviews(corpus).map_err(|error| error.to_string())?;
    Ok(CorpusFile { hash: hash(&reviews), ..corpus.clone() })
}

fn reviews(corpus: &CorpusFile) -> Result<Reviews, LabError> {
    let path = Path::new(&corpus.path);
    if path.is_dir() { directory(path) } else { table(path) }
}

/// Reads and encodes the reviews. Pieces are learned from the training part alone.
pub(super) fn read(corpus: &CorpusFile, seed: Seed) -> Result<Read, LabError> {
    let mut reviews = reviews(corpus)?;
    if hash(&reviews) != corpus.hash {
        let message = format!("{}: the reviews have changed since the runs were planned", corpus.path);
        return Err(LabError::Usage(message));
    }
    if !reviews.unsplit.is_empty() {
        let mut rest = std::mem::take(&mut reviews.unsplit);
        draw::shuffle(&mut seed.derive("reviews/split").rng(), &mut rest);
        // The share of the ten tasks: four fifths for training.
        reviews.test.extend(rest.split_off(rest.len() * 4 / 5));
        reviews.train.extend(rest);
    }
    // The released tokeniser was trained on the test reviews too: its vocabulary depends on them.
    let pieces = Pieces::train(reviews.train.iter().map(|review| review.text.as_str()), corpus.pieces);
    let encode = |reviews: &[Review]| -> Vec<MaskedExample> {
        reviews.iter().map(|review| example(corpus, review, &pieces)).collect()
    };
    Ok(Read { train: encode(&reviews.train), test: encode(&reviews.test), pieces })
}

fn example(corpus: &CorpusFile, review: &Review, pieces: &Pieces) -> MaskedExample {
    let mut symbols: Vec<u32> =
        pieces.encode(&review.text).iter().take(corpus.longest).map(|id| id + LABELS.len() as u32).collect();
    if symbols.is_empty() {
        // An empty review is one unknown piece: a label is never the first symbol.
        symbols.push(LABELS.len() as u32);
    }
    let answers = vec![symbols.len()];
    symbols.push(u32::from(review.positive));
    MaskedExample { symbols, answers, accepted: None }
}

fn hash(reviews: &Reviews) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [&reviews.train, &reviews.test, &reviews.unsplit] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        for Review { text, positive } in part {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
            hasher.update(&[u8::from(*positive)]);
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

fn table(path: &Path) -> Result<Reviews, LabError> {
    let text = read_present(path, MOST.1).map_err(LabError::disk(path))?;
    Ok(read_csv(&path.display().to_string(), &String::from_utf8_lossy(&text))?)
}

fn directory(root: &Path) -> Result<Reviews, LabError> {
    let mut reviews = Reviews::default();
    let mut bytes = 0;
    for (split, to) in [("train", &mut reviews.train), ("test", &mut reviews.test)] {
        for (label, positive) in [("pos", true), ("neg", false)] {
            let folder = root.join(split).join(label);
            let mut files: Vec<_> = std::fs::read_dir(&folder)
                .map_err(LabError::disk(&folder))?
                .collect::<Result<Vec<_>, _>>()
                .map_err(LabError::disk(&folder))?;
            // The order of a directory is that of its names, not of the disk.
            files.sort_by_key(std::fs::DirEntry::file_name);
            for file in files
                .iter()
                .map(std::fs::DirEntry::path)
                .filter(|path| path.extension().is_some_and(|e| e == "txt"))
            {
                let text = read_present(&file, MOST.1).map_err(LabError::disk(&file))?;
                bytes += text.len() as u64;
                if bytes > MOST.1 || to.len() >= MOST.0 {
                    let most = format!("at most {} reviews and {} bytes are read", MOST.0, MOST.1);
                    return Err(LabError::Usage(format!("{}: {most}", root.display())));
                }
                to.push(Review { text: String::from_utf8_lossy(&text).into_owned(), positive });
            }
        }
    }
    if reviews.train.is_empty() || reviews.test.is_empty() {
        let message = format!("{} has no reviews (.txt) in train or test", root.display());
        return Err(DataError::Request(message).into());
    }
    Ok(reviews)
}
