//! A task's files: the published text, and our own rows.
//!
//! Our rows are three files. `train.jsonl` has a row `{"input", "output"}` per training pair. `holdout.jsonl`
//! has a row `{"input", "rules": {"count": …, "mem": …}}` per hold-out input, with what each rule would
//! answer. `prompts.jsonl` is the [prompt form](PromptForm) of the same task: first a row `{"text", "mask"}`
//! per training pair, where `mask` holds the positions of the continuation, then a row `{"prompt"}` per
//! hold-out input, both in the task's order. Tokens are always joined by single spaces.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use wug_language::{Alphabet, Word};

use super::{PromptForm, prompt_form, to_text};
use crate::manifest::Recorder;
use crate::rows::{MaskedRow, object, read_rows, word};
use crate::{DataError, FileSource, Pair, Rule, RuleTask};

pub(super) const TRAIN: &str = "train.jsonl";
pub(super) const HOLDOUT: &str = "holdout.jsonl";
pub(super) const PROMPTS: &str = "prompts.jsonl";

/// Writes the published files, as [`to_text`] makes them.
pub fn write_text(task: &RuleTask, out: &mut Recorder<'_>) -> Result<(), DataError> {
    to_text(task).iter().try_for_each(|(file, text)| out.put_text(file, text))
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
) -> Result<Option<Vec<Pair>>, DataError> {
    let Some(inputs) = read_words(files, &format!("{stem}.src"), &task.source)? else { return Ok(None) };
    let file = format!("{stem}.dst");
    let missing = || DataError::Missing { file: file.clone(), hint: format!(" beside {stem}.src") };
    let outputs = read_words(files, &file, &task.target)?.ok_or_else(missing)?;
    if outputs.len() != inputs.len() {
        let message = format!("{} outputs for {} inputs in {stem}.src", outputs.len(), inputs.len());
        return Err(DataError::file(&file, message));
    }
    Ok(Some(inputs.into_iter().zip(outputs).map(|(input, output)| Pair { input, output }).collect()))
}

/// A word per line; `None` if there is no such file.
pub(super) fn read_words(
    files: &dyn FileSource,
    file: &str,
    alphabet: &Alphabet,
) -> Result<Option<Vec<Word>>, DataError> {
    read_rows(files, file, |line| word(line, alphabet))
}

/// Writes `train.jsonl`, `holdout.jsonl` and `prompts.jsonl`.
pub fn write_jsonl(task: &RuleTask, out: &mut Recorder<'_>) -> Result<(), DataError> {
    let (input, output) = (|word: &Word| task.source.format(word), |word: &Word| task.target.format(word));
    let pair = |pair: &Pair| json!({ "input": input(&pair.input), "output": output(&pair.output) });
    out.put_rows(TRAIN, task.train.iter().map(|p| pair(p).to_string()))?;
    let row = |i: usize| {
        let answer = |rule: &Rule| (rule.name.clone(), Value::from(output(&rule.outputs[i])));
        let rules: Map<String, Value> = task.rules.iter().map(answer).collect();
        json!({ "input": input(&task.holdout[i]), "rules": rules }).to_string()
    };
    out.put_rows(HOLDOUT, (0..task.holdout.len()).map(row))?;
    let PromptForm { vocabulary, train, holdout, .. } = &prompt_form(task);
    let examples = train.iter().map(|sequence| MaskedRow::write(sequence, vocabulary));
    let prompts = holdout.iter().map(|prompt| json!({ "prompt": vocabulary.format(prompt) }).to_string());
    out.put_rows(PROMPTS, examples.chain(prompts))
}

/// Reads training pairs, hold-out inputs and rules from `train.jsonl` and `holdout.jsonl`; `None` if there is
/// no `train.jsonl`. Name, alphabets and block size, which the rows do not say, are those of `like`.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, find, manifest::Recorder};
/// let task = find::build("count-or-memorization", Seed::new(1)).unwrap();
/// let mut memory = MemoryFiles::default();
/// find::write_jsonl(&task, &mut Recorder::new(&mut memory, "")).unwrap();
/// assert_eq!(find::read_jsonl(&memory, &task).unwrap(), Some(task));
/// ```
pub fn read_jsonl(files: &dyn FileSource, like: &RuleTask) -> Result<Option<RuleTask>, DataError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct PairRow {
        input: String,
        output: String,
    }
    let RuleTask { name, source, target, block_size, .. } = like;
    let train = read_rows(files, TRAIN, |line| {
        let row: PairRow = object(line, "input and output")?;
        Ok(Pair { input: word(&row.input, source)?, output: word(&row.output, target)? })
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

fn read_holdout(files: &dyn FileSource, like: &RuleTask) -> Result<(Vec<Word>, Vec<Rule>), DataError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct HoldoutRow {
        input: String,
        rules: Map<String, Value>,
    }
    let rows = read_rows(files, HOLDOUT, |line| {
        let row: HoldoutRow = object(line, "input and rules")?;
        let mut answers = Vec::with_capacity(row.rules.len());
        for (name, answer) in row.rules {
            let Value::String(text) = answer else {
                return Err(format!("the answer of rule `{name}` is {answer}, not a string"));
            };
            answers.push(Rule { name, outputs: vec![word(&text, &like.target)?] });
        }
        Ok((word(&row.input, &like.source)?, answers))
    })?;
    let missing = || DataError::Missing { file: HOLDOUT.to_owned(), hint: format!(" beside {TRAIN}") };
    let mut rows = rows.ok_or_else(missing)?.into_iter();
    let Some((input, mut rules)) = rows.next() else { return Ok((Vec::new(), Vec::new())) };
    let mut holdout = vec![input];
    for (line, (input, answers)) in (2..).zip(rows) {
        let names =
            |rules: &[Rule]| rules.iter().map(|rule| rule.name.clone()).collect::<Vec<_>>().join(", ");
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

/// Reads the training examples and the hold-out prompts of `prompts.jsonl`, each in the file's order; `None`
/// if there is no such file. The vocabulary is that of `like`.
pub fn read_prompts(files: &dyn FileSource, like: &PromptForm) -> Result<Option<PromptForm>, DataError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PromptRow {
        Example(MaskedRow),
        Prompt { prompt: String },
    }
    let vocabulary = &like.vocabulary;
    let rows = read_rows(files, PROMPTS, |line| match object(line, "text and mask, or with prompt")? {
        PromptRow::Example(row) => Ok((Some(row.read(vocabulary)?), None)),
        PromptRow::Prompt { prompt } => Ok((None, Some(word(&prompt, vocabulary)?))),
    })?;
    let Some(rows) = rows else { return Ok(None) };
    let (examples, prompts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let mut form = like.clone();
    form.train = examples.into_iter().flatten().collect();
    form.holdout = prompts.into_iter().flatten().collect();
    Ok(Some(form))
}
