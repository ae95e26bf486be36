//! Files of rows: one value per line, read with errors that name file and line.

use std::io::{BufRead, BufReader, Read as _};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use wug_language::limit::MEMORY;
use wug_language::{Alphabet, Word};
use wug_table::{ColumnValue, Kind, TableFormat};

use crate::suite::LONGEST;
use crate::tabular::{DescribedColumn, SplitTable};
use crate::{DataError, FileSource, MaskedSequence};

/// The longest line: the next-symbol sets of a string of [`LONGEST`] symbols fit.
pub(crate) const LONGEST_LINE: u64 = 1 << 28;

/// The lines of a file; `None` if there is no such file. Files that do not fit into memory are errors.
pub(crate) fn read_lines(files: &dyn FileSource, file: &str) -> Result<Option<Vec<String>>, DataError> {
    let Some(reader) = files.open(file).map_err(DataError::io(file))? else { return Ok(None) };
    let mut reader = BufReader::new(reader);
    let (mut lines, mut bytes) = (Vec::new(), 0);
    loop {
        let mut line = Vec::new();
        // A byte more than is allowed tells a line that is too long from one of just that length.
        let limited = &mut reader.by_ref().take(LONGEST_LINE + 1);
        if limited.read_until(b'\n', &mut line).map_err(DataError::io(file))? == 0 {
            return Ok(Some(lines));
        }
        if line.len() as u64 > LONGEST_LINE {
            let message = format!("it is longer than {LONGEST_LINE} bytes");
            return Err(DataError::line(file, lines.len() + 1, message));
        }
        // As lines take it in memory: a hundred million empty ones are 2.4 GB here and 100 MB on disk.
        bytes += (line.len() + size_of::<String>()) as u64;
        if bytes > MEMORY {
            return Err(DataError::file(file, format!("its lines take more than {MEMORY} bytes of memory")));
        }
        if line.pop_if(|byte| *byte == b'\n').is_some() {
            line.pop_if(|byte| *byte == b'\r');
        }
        let text = String::from_utf8(line).map_err(|_| {
            DataError::line(file, lines.len() + 1, "it is no text: its bytes are not valid UTF-8")
        })?;
        lines.push(text);
    }
}

/// Every line of a file, read by `parse`, whose complaint becomes an error of that line; `None` if there
/// is no such file.
pub(crate) fn read_rows<T>(
    files: &dyn FileSource,
    file: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<Vec<T>>, DataError> {
    let Some(lines) = read_lines(files, file)? else { return Ok(None) };
    let rows: Result<Vec<T>, DataError> = lines
        .iter()
        .enumerate()
        .map(|(i, line)| parse(line).map_err(|message| DataError::line(file, i + 1, message)))
        .collect();
    rows.map(Some)
}

/// A JSON object; `fields` says in words what it must hold.
pub(crate) fn object<T: DeserializeOwned>(text: &str, fields: &str) -> Result<T, String> {
    // Serde names variants and fields of ours, of which a user knows nothing.
    serde_json::from_str(text).map_err(|_| format!("not a JSON object with {fields}"))
}

/// A word over an alphabet, of up to [`LONGEST`] symbols.
pub(crate) fn word(text: &str, alphabet: &Alphabet) -> Result<Word, String> {
    let word = alphabet.parse(text).map_err(|error| error.to_string())?;
    if word.len() > LONGEST {
        return Err(format!("a string of {} symbols; strings have up to {LONGEST}", word.len()));
    }
    Ok(word)
}

/// A masked sequence as a row: its tokens joined by spaces, and the positions to predict.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MaskedRow {
    text: String,
    mask: Vec<usize>,
}

impl MaskedRow {
    /// A table of such rows.
    pub(crate) fn table(format: TableFormat, config: &'static str) -> SplitTable {
        let fields = vec![
            DescribedColumn::new("text", Kind::Text, "the whole text, its tokens separated by spaces"),
            DescribedColumn::list(
                "mask",
                Kind::Integer,
                "the positions of the tokens to predict, from 0, each from all tokens before it",
            ),
        ];
        SplitTable { format, config, fields }
    }

    /// A sequence as a row of this table.
    pub(crate) fn write(sequence: &MaskedSequence, vocabulary: &Alphabet) -> Vec<ColumnValue<'static>> {
        vec![vocabulary.format(&sequence.word).into(), sequence.mask.iter().copied().collect()]
    }

    /// The sequence, if its tokens are known and its mask ascends within the text.
    pub(crate) fn read(self, vocabulary: &Alphabet) -> Result<MaskedSequence, String> {
        let Self { text, mask } = self;
        let word = word(&text, vocabulary)?;
        if let Some((last, next)) = mask.iter().zip(mask.iter().skip(1)).find(|(last, next)| last >= next) {
            return Err(format!("masked position {next} follows {last}; positions must ascend"));
        }
        match mask.last() {
            Some(&last) if last >= word.len() => {
                Err(format!("masked position {last} lies outside the text of {} tokens", word.len()))
            }
            _ => Ok(MaskedSequence { word, mask }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wug_language::Symbol;

    fn read(text: &str) -> Result<MaskedSequence, String> {
        object::<MaskedRow>(text, "text and mask")?.read(&Alphabet::new(["a", "b"]))
    }

    #[test]
    fn a_bad_row_says_what_was_given_and_what_is_allowed() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error("a b"), "not a JSON object with text and mask");
        assert_eq!(error(r#"{"text":"a"}"#), "not a JSON object with text and mask");
        assert_eq!(error(r#"{"text":"a","mask":[-1]}"#), "not a JSON object with text and mask");
        let unknown = "unknown token `c` at position 1; the alphabet is: a b";
        assert_eq!(error(r#"{"text":"a c","mask":[]}"#), unknown);
        let outside = "masked position 2 lies outside the text of 2 tokens";
        assert_eq!(error(r#"{"text":"a b","mask":[0,2]}"#), outside);
        let order = "masked position 0 follows 1; positions must ascend";
        assert_eq!(error(r#"{"text":"a b","mask":[1,0]}"#), order);
        let twice = "masked position 1 follows 1; positions must ascend";
        assert_eq!(error(r#"{"text":"a b","mask":[1,1]}"#), twice);
    }

    #[test]
    fn a_row_error_names_file_and_line() {
        let mut memory = crate::MemoryFiles::default();
        memory.0.insert("f".to_owned(), b"1\n2\nx\n".to_vec());
        let number = |text: &str| text.parse::<u8>().map_err(|_| format!("`{text}` is no number"));
        assert_eq!(read_rows(&memory, "f", number).unwrap_err().to_string(), "f, line 3: `x` is no number");
        assert!(read_rows(&memory, "g", number).unwrap().is_none());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(tokens in prop::collection::vec((0_u16..2, any::<bool>()), 0..20)) {
            let word = tokens.iter().map(|&(s, _)| Symbol(s)).collect();
            let mask = (0..tokens.len()).filter(|&i| tokens[i].1).collect();
            let sequence = MaskedSequence { word, mask };
            let (mut memory, alphabet) = (crate::MemoryFiles::default(), Alphabet::new(["a", "b"]));
            let row = MaskedRow::write(&sequence, &alphabet);
            let table = MaskedRow::table(TableFormat::Jsonl, "t");
            table.put(&mut crate::manifest::Recorder::new(&mut memory, ""), "f", "f", std::iter::once(row)).unwrap();
            let back = read_rows(&memory, "f.jsonl", read).unwrap();
            prop_assert_eq!(back, Some(vec![sequence]));
        }
    }
}
