//! Our files of a task: a row per sequence, and the vocabulary. The released code writes no files.

use wug_table::TableFormat;

use super::task::WadeTask;
use super::{TaskData, task};
use crate::manifest::Recorder;
use crate::rows::{MaskedRow, object, read_rows};
use crate::tabular::DEFAULT;
use crate::{DataError, FileSource, MaskedSequence};

/// The splits, in order; each is a file.
pub const SPLITS: [&str; 2] = ["train", "test"];

/// The file of the vocabulary.
pub const VOCABULARY: &str = "vocabulary.txt";

/// Writes `train` and `test`, each row `{"text": …, "mask": […]}` with the tokens joined by spaces and the
/// 0-based positions to predict, and `vocabulary.txt`, a token per line in the published order.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, manifest::Recorder, table::TableFormat, wade};
/// let data = wade::dataset(&wade::QA, wade::Reading::Corrected, 10, Seed::new(1));
/// let mut memory = MemoryFiles::default();
/// wade::write(&data, TableFormat::Jsonl, &mut Recorder::new(&mut memory, "")).unwrap();
/// let train = wade::read(&memory, "train", &wade::QA).unwrap().unwrap();
/// assert!(train.iter().eq(data.train()));
/// ```
pub fn write(data: &TaskData, format: TableFormat, out: &mut Recorder<'_>) -> Result<(), DataError> {
    let task = task(data.task).map_err(|error| DataError::Request(error.to_string()))?;
    let vocabulary = task.vocabulary();
    let row = |sequence: &MaskedSequence| MaskedRow::write(sequence, &vocabulary);
    let table = MaskedRow::table(format, DEFAULT);
    table.put(out, "train", "train", data.train().map(row))?;
    table.put(out, "test", "test", data.test().map(row))?;
    out.put_rows(VOCABULARY, vocabulary.tokens().iter().cloned())
}

/// Reads a split in the form of [`write()`]; `None` if there is no such file.
pub fn read(
    files: &dyn FileSource,
    split: &str,
    task: &WadeTask,
) -> Result<Option<Vec<MaskedSequence>>, DataError> {
    let vocabulary = task.vocabulary();
    read_rows(files, &format!("{split}.jsonl"), |text| {
        object::<MaskedRow>(text, "text and mask")?.read(&vocabulary)
    })
}
