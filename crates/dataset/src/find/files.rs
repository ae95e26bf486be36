//! A task's files: the published text, and our own rows.
//!
//! Our rows are four files, as JSON lines or Parquet. `train` has a row per training pair, with `input` and `output`. `holdout` has
//! a row per hold-out input, and a column per rule with what it would answer. `prompts-train` and `prompts-holdout` are the
//! [prompt form](PromptForm) of the same task: a row per training pair, where `mask` holds the positions of the continuation, and
//! a row per hold-out input, where it is empty; both in the task's order. Tokens are always joined by single spaces.

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use wug_language::{Alphabet, Word};
use wug_table::{ColumnValue, Kind, TableFormat};

use super::{PromptForm, prompt_form, to_text};
use crate::manifest::Recorder;
use crate::rows::{self, MaskedRow, object, word};
use crate::tabular::{DEFAULT, DescribedColumn, SplitTable};
use crate::{CandidateRule, DataError, FileSource, MaskedSequence, RuleTask, TransductionPair};

pub(super) const TRAIN: &str = "train.jsonl";
pub(super) const HOLDOUT: &str = "holdout.jsonl";
pub(super) const PROMPTS_TRAIN: &str = "prompts-train.jsonl";
pub(super) const PROMPTS_HOLDOUT: &str = "prompts-holdout.jsonl";

/// Writes the published files, as [`to_text`] makes them.
pub fn write_text(task: &RuleTask, out: &mut Recorder<'_>) -> Result<(), DataError> {
    for (file, text) in to_text(task) {
        out.put_text(&file, &text)?;
        if let Some(stem) = file.strip_suffix(".src") {
            out.count(stem, text.lines().count());
        }
    }
    Ok(())
}

/// Reads the pairs of `<stem>.src` and `<stem>.dst`, where the stem is `train` or a rule's name; `None` if
/// there is no `<stem>.src`. Of a rule's pairs, the first are the training pairs.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, find, manifest::Recorder};
/// let task = find::build("count-or-memorization", Seed::new(1)).unwrap();
/// let mut memory = MemoryFiles::default();
/// find::write_text(&task, &mut Recorder::new(&mut memory, "")).unwrap();
/// assert_eq!(find::read_text(&memory, "train", &task).unwrap(), Some(task.train));
/// ```
pub fn read_text(
    files: &dyn FileSource,
    stem: &str,
    task: &RuleTask,
) -> Result<Option<Vec<TransductionPair>>, DataError> {
    let Some(inputs) = read_words(files, &format!("{stem}.src"), &task.source)? else { return Ok(None) };
    let file = format!("{stem}.dst");
    let missing = || DataError::Missing { file: file.clone(), hint: format!(" beside {stem}.src") };
    let outputs = read_words(files, &file, &task.target)?.ok_or_else(missing)?;
    if outputs.len() != inputs.len() {
        let message = format!("{} outputs for {} inputs in {stem}.src", outputs.len(), inputs.len());
        return Err(DataError::file(&file, message));
    }
    Ok(Some(
        inputs.into_iter().zip(outputs).map(|(input, output)| TransductionPair { input, output }).collect(),
    ))
}

/// A word per line; `None` if there is no such file.
pub(super) fn read_words(
    files: &dyn FileSource,
    file: &str,
    alphabet: &Alphabet,
) -> Result<Option<Vec<Word>>, DataError> {
    rows::read_rows(files, file, |line| word(line, alphabet))
}

/// Writes the pairs, the hold-out and their prompts as tables.
pub fn write_rows(task: &RuleTask, format: TableFormat, out: &mut Recorder<'_>) -> Result<(), DataError> {
    let mut fields = vec![
        DescribedColumn::new("input", Kind::Text, "the input, its tokens separated by spaces"),
        DescribedColumn::new("output", Kind::Text, "the output to train on; null in `holdout`"),
    ];
    fields.extend(task.rules.iter().map(|rule| {
        let meaning = format!("what the rule `{}` answers to a hold-out input; null in `train`", rule.name);
        DescribedColumn::new(&rule.name, Kind::Text, meaning)
    }));
    let (input, output) = (|word: &Word| task.source.format(word), |word: &Word| task.target.format(word));
    let table = SplitTable { format, config: DEFAULT, fields };
    let pair = |pair: &TransductionPair| {
        let mut row = vec![input(&pair.input).into(), output(&pair.output).into()];
        // The columns of the rules stay empty: `datasets` wants the same columns in every split.
        row.resize(table.fields.len(), ColumnValue::Null);
        row
    };
    table.put(out, "train", "train", task.train.iter().map(pair))?;
    let held_out = |i: usize| {
        let answers = task.rules.iter().map(|rule| output(&rule.outputs[i]).into());
        [input(&task.holdout[i]).into(), ColumnValue::Null].into_iter().chain(answers).collect()
    };
    table.put(out, "holdout", "holdout", (0..task.holdout.len()).map(held_out))?;
    let PromptForm { vocabulary, train, holdout, .. } = &prompt_form(task);
    let table = MaskedRow::table(format, "prompts");
    let examples = train.iter().map(|sequence| MaskedRow::write(sequence, vocabulary));
    table.put(out, "train", "prompts-train", examples)?;
    let prompt = |word: &Word| MaskedSequence { word: word.clone(), mask: Vec::new() };
    let prompts = holdout.iter().map(|word| MaskedRow::write(&prompt(word), vocabulary));
    table.put(out, "holdout", "prompts-holdout", prompts)
}

/// Reads training pairs, hold-out inputs and rules from `train.jsonl` and `holdout.jsonl`; `None` if there is
/// no `train.jsonl`. Name, alphabets and block size, which the rows do not say, are those of `like`.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, find, manifest::Recorder, table::TableFormat};
/// let task = find::build("count-or-memorization", Seed::new(1)).unwrap();
/// let mut memory = MemoryFiles::default();
/// find::write_rows(&task, TableFormat::Jsonl, &mut Recorder::new(&mut memory, "")).unwrap();
/// assert_eq!(find::read_rows(&memory, &task).unwrap(), Some(task));
/// ```
pub fn read_rows(files: &dyn FileSource, like: &RuleTask) -> Result<Option<RuleTask>, DataError> {
    #[derive(Deserialize)]
    struct PairRow {
        input: String,
        output: String,
    }
    let RuleTask { name, source, target, block_size, .. } = like;
    let train = rows::read_rows(files, TRAIN, |line| {
        let row: PairRow = object(line, "input and output")?;
        Ok(TransductionPair { input: word(&row.input, source)?, output: word(&row.output, target)? })
    })?;
    let Some(train) = train else { return Ok(None) };
    let (holdout, rules) = read_holdout(files, like)?;
    Ok(Some(RuleTask {
        name: name.clone(),
        source: source.clone(),
        target: target.clone(),
        train,
        holdout,
        rules,
        block_size: *block_size,
    }))
}

fn read_holdout(
    files: &dyn FileSource,
    like: &RuleTask,
) -> Result<(Vec<Word>, Vec<CandidateRule>), DataError> {
    #[derive(Deserialize)]
    struct HoldoutRow {
        input: String,
        #[expect(dead_code, reason = "it is the column of the training pairs, and no rule")]
        output: (),
        // Whatever else is a column is a rule, because the names of rules are those of the task.
        #[serde(flatten)]
        rules: Map<String, Json>,
    }
    let rows = rows::read_rows(files, HOLDOUT, |line| {
        let row: HoldoutRow = object(line, "input, output (null) and rules")?;
        let mut answers = Vec::with_capacity(row.rules.len());
        for (name, answer) in row.rules {
            let Json::String(text) = answer else {
                return Err(format!("the answer of rule `{name}` is {answer}, not a string"));
            };
            answers.push(CandidateRule { name, outputs: vec![word(&text, &like.target)?] });
        }
        Ok((word(&row.input, &like.source)?, answers))
    })?;
    let missing = || DataError::Missing { file: HOLDOUT.to_owned(), hint: format!(" beside {TRAIN}") };
    let mut rows = rows.ok_or_else(missing)?.into_iter();
    let Some((input, mut rules)) = rows.next() else { return Ok((Vec::new(), Vec::new())) };
    let mut holdout = vec![input];
    for (line, (input, answers)) in (2..).zip(rows) {
        let names = |rules: &[CandidateRule]| {
            rules.iter().map(|rule| rule.name.clone()).collect::<Vec<_>>().join(", ")
        };
        let (given, first) = (names(&answers), names(&rules));
        if given != first {
            let message = format!("the rules are {given}, but in line 1 {first}");
            return Err(DataError::line(HOLDOUT, line, message));
        }
        holdout.push(input);
        rules.iter_mut().zip(answers).for_each(|(rule, answer)| rule.outputs.extend(answer.outputs));
    }
    Ok((holdout, rules))
}

/// Reads the training examples and the hold-out prompts, each in the file's order; `None` if there are no
/// examples. The vocabulary is that of `like`.
pub fn read_prompts(files: &dyn FileSource, like: &PromptForm) -> Result<Option<PromptForm>, DataError> {
    let read = |file: &str| {
        rows::read_rows(files, file, |line| {
            object::<MaskedRow>(line, "text and mask")?.read(&like.vocabulary)
        })
    };
    let Some(train) = read(PROMPTS_TRAIN)? else { return Ok(None) };
    let holdout = read(PROMPTS_HOLDOUT)?.unwrap_or_default();
    let mut form = like.clone();
    form.train = train;
    form.holdout = holdout.into_iter().map(|prompt| prompt.word).collect();
    Ok(Some(form))
}
