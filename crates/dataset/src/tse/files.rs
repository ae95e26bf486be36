//! TSE files as released (`*.jsonl` with token lists) and our own (one string or pair per row).

use serde::{Deserialize, Serialize};
use serde_json::json;
use wug_language::{Alphabet, Word};

use super::TseData;
use crate::manifest::Recorder;
use crate::rows::{self, read_rows};
use crate::{DataError, FileSource, MinimalPair};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    sequences: Vec<String>,
    labels: u8,
    data_type: String,
    num_seq: usize,
}

#[derive(Serialize, Deserialize)]
struct PairRow {
    good_sequences: Vec<String>,
    bad_sequences: Vec<String>,
    num_good_seq: usize,
    num_bad_seq: usize,
}

fn tokens(word: &Word, alphabet: &Alphabet) -> Vec<String> {
    word.iter().map(|&a| alphabet.token(a).to_owned()).collect()
}

fn row<T: Serialize>(value: &T) -> String {
    // Strings, numbers and lists of them always serialise.
    serde_json::to_string(value).unwrap_or_default()
}

fn sample(word: &Word, correct: bool, alphabet: &Alphabet) -> String {
    let data_type = if correct { "correct" } else { "flip" }.to_owned();
    row(&Sample {
        sequences: tokens(word, alphabet),
        labels: u8::from(correct),
        data_type,
        num_seq: word.len(),
    })
}

fn pair(pair: &MinimalPair, alphabet: &Alphabet) -> String {
    row(&PairRow {
        good_sequences: tokens(&pair.good, alphabet),
        bad_sequences: tokens(&pair.bad, alphabet),
        num_good_seq: pair.good.len(),
        num_bad_seq: pair.bad.len(),
    })
}

/// Writes the released layout.
pub fn write(data: &TseData, alphabet: &Alphabet, out: &mut Recorder<'_>) -> Result<(), DataError> {
    for (name, words) in [("train", &data.train), ("validation", &data.validation)] {
        out.put_rows(&format!("{name}.jsonl"), words.iter().map(|w| sample(w, true, alphabet)))?;
    }
    for (name, pairs) in [("test", &data.test), ("out_of_dist_test", &data.out_of_distribution)] {
        let good = pairs.iter().map(|p| sample(&p.good, true, alphabet));
        let bad = pairs.iter().map(|p| sample(&p.bad, false, alphabet));
        out.put_rows(&format!("{name}.jsonl"), good.chain(bad))?;
        out.put_rows(&format!("{name}_pair.jsonl"), pairs.iter().map(|p| pair(p, alphabet)))?;
    }
    let specials = ["[PAD]", "[CLS]", "[SEP]"].map(str::to_owned);
    out.put_rows("vocab.txt", alphabet.tokens().iter().cloned().chain(specials))
}

/// Writes one string or pair per row.
pub fn write_jsonl(data: &TseData, alphabet: &Alphabet, out: &mut Recorder<'_>) -> Result<(), DataError> {
    for (name, words) in [("train", &data.train), ("validation", &data.validation)] {
        let rows = words.iter().map(|w| json!({ "string": alphabet.format(w) }).to_string());
        out.put_rows(&format!("{name}.jsonl"), rows)?;
    }
    for (name, pairs) in [("test", &data.test), ("out-of-distribution", &data.out_of_distribution)] {
        let rows = pairs
            .iter()
            .map(|p| json!({ "good": alphabet.format(&p.good), "bad": alphabet.format(&p.bad) }).to_string());
        out.put_rows(&format!("{name}.jsonl"), rows)?;
    }
    Ok(())
}

/// A string and its label, from a released file or one of ours (where every string is grammatical); `None` if
/// there is no such file.
pub fn read_corpus(
    files: &dyn FileSource,
    file: &str,
    alphabet: &Alphabet,
) -> Result<Option<Vec<(Word, bool)>>, DataError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Row {
        Released(Sample),
        Ours { string: String },
    }
    read_rows(files, file, |text| {
        let (tokens, label) = match rows::object(text, "sequences and labels")? {
            Row::Released(sample) if sample.labels > 1 => {
                return Err(format!("`labels` is {}, not 0 or 1", sample.labels));
            }
            Row::Released(sample) => {
                same_length("num_seq", sample.num_seq, &sample.sequences)?;
                (sample.sequences.join(" "), sample.labels == 1)
            }
            Row::Ours { string } => (string, true),
        };
        Ok((rows::word(&tokens, alphabet)?, label))
    })
}

/// Pairs, from a released file (predictions may be attached) or one of ours; `None` if there is no such file.
pub fn read_pairs(
    files: &dyn FileSource,
    file: &str,
    alphabet: &Alphabet,
) -> Result<Option<Vec<MinimalPair>>, DataError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Row {
        Released(PairRow),
        Ours { good: String, bad: String },
    }
    read_rows(files, file, |text| {
        let (good, bad) = match rows::object(text, "good_sequences and bad_sequences")? {
            Row::Released(pair) => {
                same_length("num_good_seq", pair.num_good_seq, &pair.good_sequences)?;
                same_length("num_bad_seq", pair.num_bad_seq, &pair.bad_sequences)?;
                (pair.good_sequences.join(" "), pair.bad_sequences.join(" "))
            }
            Row::Ours { good, bad } => (good, bad),
        };
        Ok(MinimalPair { good: rows::word(&good, alphabet)?, bad: rows::word(&bad, alphabet)? })
    })
}

fn same_length(field: &str, stated: usize, tokens: &[String]) -> Result<(), String> {
    if stated == tokens.len() {
        return Ok(());
    }
    Err(format!("`{field}` is {stated}, but there are {} tokens", tokens.len()))
}
