//! TSE files as released (`*.jsonl` with token lists) and our own (one string or pair per row).

use serde::{Deserialize, Serialize};
use wug_language::{Alphabet, Word};
use wug_table::{ColumnValue, Kind, TableFormat};

use super::lm_eval::without_end;
use crate::manifest::Recorder;
use crate::pairs::MinimalPairData;
use crate::rows::{self, read_rows};
use crate::tabular::{DEFAULT, DescribedColumn, SplitFile, SplitTable};
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
pub fn write(data: &MinimalPairData, alphabet: &Alphabet, out: &mut Recorder<'_>) -> Result<(), DataError> {
    let (samples, pairs) = released_fields();
    let mut put = |config, fields: &[DescribedColumn], split: &str, file: String, rows: Vec<String>| {
        let split = SplitFile { name: split.to_owned(), rows: rows.len(), file };
        out.put_rows(&split.file, rows.into_iter())?;
        out.split(config, fields, split);
        Ok::<_, DataError>(())
    };
    for (name, words) in [("train", &data.train), ("validation", &data.validation)] {
        let rows = words.iter().map(|w| sample(w, true, alphabet)).collect();
        put("samples", &samples, name, format!("{name}.jsonl"), rows)?;
    }
    for (name, drawn) in [("test", &data.test), ("out_of_dist_test", &data.out_of_distribution)] {
        // The released layout: all good strings, then all bad ones, so that pair i is in lines i and n + i.
        let good = drawn.iter().map(|p| sample(&p.good, true, alphabet));
        let bad = drawn.iter().map(|p| sample(&p.bad, false, alphabet));
        put("samples", &samples, name, format!("{name}.jsonl"), good.chain(bad).collect())?;
        let rows = drawn.iter().map(|p| pair(p, alphabet)).collect();
        put("pairs", &pairs, name, format!("{name}_pair.jsonl"), rows)?;
    }
    let specials = ["[PAD]", "[CLS]", "[SEP]"].map(str::to_owned);
    out.put_rows("vocab.txt", alphabet.tokens().iter().cloned().chain(specials))
}

/// The columns of the two kinds of released file.
fn released_fields() -> (Vec<DescribedColumn>, Vec<DescribedColumn>) {
    let samples = vec![
        DescribedColumn::list("sequences", Kind::Text, "the words of the string"),
        DescribedColumn::new("labels", Kind::Integer, "1 if it is grammatical, else 0"),
        DescribedColumn::new("data_type", Kind::Text, "`correct`, or `flip` for a near miss"),
        DescribedColumn::new("num_seq", Kind::Integer, "how many words it has"),
    ];
    let pairs = vec![
        DescribedColumn::list("good_sequences", Kind::Text, "the words of the grammatical string"),
        DescribedColumn::list("bad_sequences", Kind::Text, "the words of its near miss"),
        DescribedColumn::new("num_good_seq", Kind::Integer, "how many words the first has"),
        DescribedColumn::new("num_bad_seq", Kind::Integer, "how many words the second has"),
    ];
    (samples, pairs)
}

/// Writes one string or pair per row.
pub fn write_rows(
    data: &MinimalPairData,
    alphabet: &Alphabet,
    format: TableFormat,
    out: &mut Recorder<'_>,
) -> Result<(), DataError> {
    let fields = vec![
        DescribedColumn::new("good", Kind::Text, "a grammatical string, its words separated by spaces"),
        DescribedColumn::new(
            "bad",
            Kind::Text,
            "its near miss, which a model should find less likely; null in `train` and `validation`, which are corpora",
        ),
    ];
    let table = SplitTable { format, config: DEFAULT, fields };
    for (name, words) in [("train", &data.train), ("validation", &data.validation)] {
        table.put(
            out,
            name,
            name,
            words.iter().map(|w| vec![alphabet.format(w).into(), ColumnValue::Null]),
        )?;
    }
    for (name, pairs) in [("test", &data.test), ("out-of-distribution", &data.out_of_distribution)] {
        let rows =
            pairs.iter().map(|p| vec![alphabet.format(&p.good).into(), alphabet.format(&p.bad).into()]);
        table.put(out, name, name, rows)?;
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
        // Tried in this order, and told apart by the names of their fields.
        Released(Sample),
        Exported { terminals: String },
        Ours { good: String, bad: () },
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
            Row::Exported { terminals } => (without_end(&terminals)?.to_owned(), true),
            Row::Ours { good, bad: () } => (good, true),
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
        Exported { good_terminals: String, bad_terminals: String },
        Ours { good: String, bad: String },
    }
    read_rows(files, file, |text| {
        let (good, bad) = match rows::object(text, "good_sequences and bad_sequences")? {
            Row::Released(pair) => {
                same_length("num_good_seq", pair.num_good_seq, &pair.good_sequences)?;
                same_length("num_bad_seq", pair.num_bad_seq, &pair.bad_sequences)?;
                (pair.good_sequences.join(" "), pair.bad_sequences.join(" "))
            }
            Row::Exported { good_terminals, bad_terminals } => {
                (without_end(&good_terminals)?.to_owned(), without_end(&bad_terminals)?.to_owned())
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
