//! Checking a task's files against the task made anew.

use std::collections::BTreeMap;

use wug_language::{Alphabet, Reading, Word};

use super::files::{HOLDOUT, PROMPTS_TRAIN, TRAIN, read_prompts, read_rows, read_text, read_words};
use super::{build, prompt_form};
use crate::validation::{Findings, Validation};
use crate::{CandidateRule, DataError, FileSource, RuleTask, Seed, TransductionPair};

/// Checks the files of a task, such as `count-or-memorization:length=40`, against the task made anew. The
/// seed matters to random splits of SCAN only.
///
/// Both our rows (reported by file name) and the published text (reported by stem) are checked,
/// whichever are there. What is missing, unexpected or answered otherwise is an error, repetitions
/// included; the order of lines is not, and is reported. Targets of `valid` and `test` are not looked
/// at: as published they are empty.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, find, manifest::Recorder};
/// let (name, seed) = ("add-or-multiply:length=3", Seed::new(1));
/// let mut memory = MemoryFiles::default();
/// find::write_text(&find::build(name, seed).unwrap(), &mut Recorder::new(&mut memory, "")).unwrap();
/// assert_eq!(find::validate(&memory, name, seed).unwrap().errors, 0);
/// assert!(find::validate(&memory, "add-or-multiply:length=4", seed).unwrap().errors > 0);
/// ```
pub fn validate(files: &dyn FileSource, task: &str, seed: Seed) -> Result<Validation, DataError> {
    let task = build(task, seed).map_err(|error| DataError::Request(error.to_string()))?;
    let mut report = Validation::new("find", &task.name, Reading::Published);
    let rows = check_rows(files, &task, &mut report)?;
    let text = check_text(files, &task, &mut report)?;
    if rows || text {
        return Ok(report);
    }
    Err(DataError::Missing {
        file: TRAIN.to_owned(),
        hint: " nor train.src: not a FIND directory".to_owned(),
    })
}

/// Checks our own rows; whether there are any.
fn check_rows(files: &dyn FileSource, task: &RuleTask, report: &mut Validation) -> Result<bool, DataError> {
    let Some(found) = read_rows(files, task)? else { return Ok(false) };
    report.add(TRAIN, check_pairs(&task.train, &found.train, task));

    let mut findings = check_inputs(&task.holdout, &found.holdout, &task.source);
    for rule in &task.rules {
        let answers = |task: &RuleTask, rule: &CandidateRule| pairs(&task.holdout, &rule.outputs);
        let Some(given) = found.rule(&rule.name) else {
            findings.sample(|| format!("there is no rule `{}`", rule.name));
            continue;
        };
        let (expected, given) = (answers(task, rule), answers(&found, given));
        let Differences { outputs, .. } = Differences::of(&expected, &given);
        for wrong in &outputs {
            findings.sample(|| wrong.show(task, &rule.name));
        }
        findings.error(&format!("{}_output_errors", rule.name), outputs.len());
    }
    let lacks = |task: &RuleTask, other: &RuleTask| {
        task.rules.iter().filter(|rule| other.rule(&rule.name).is_none()).count()
    };
    findings.error("missing_rules", lacks(task, &found));
    findings.error("unexpected_rules", lacks(&found, task));
    report.add(HOLDOUT, findings);

    let form = prompt_form(task);
    match read_prompts(files, &form)? {
        None => report.unchecked(format!("there is no {PROMPTS_TRAIN}, so no prompts could be checked")),
        Some(found) => {
            let mut findings = Findings::default();
            let (extra, lacking) = unmatched(&form.train, &found.train);
            findings.fact("examples", found.train.len());
            findings.error("missing_examples", lacking.len());
            findings.error("unexpected_examples", extra.len());
            let (extra, lacking) = unmatched(&form.holdout, &found.holdout);
            findings.fact("prompts", found.holdout.len());
            findings.error("missing_prompts", lacking.len());
            findings.error("unexpected_prompts", extra.len());
            report.add("prompts", findings);
        }
    }
    Ok(true)
}

/// Checks the published text; whether there is any.
fn check_text(files: &dyn FileSource, task: &RuleTask, report: &mut Validation) -> Result<bool, DataError> {
    let Some(train) = read_text(files, "train", task)? else { return Ok(false) };
    report.add("train", check_pairs(&task.train, &train, task));
    let absent = |stem: &str| format!("{stem}: there is no {stem}.src, so nothing could be checked");
    for stem in ["valid", "test"] {
        match read_words(files, &format!("{stem}.src"), &task.source)? {
            Some(inputs) => report.add(stem, check_inputs(&task.holdout, &inputs, &task.source)),
            None => report.unchecked(absent(stem)),
        }
    }
    for rule in &task.rules {
        match read_text(files, &rule.name, task)? {
            Some(pairs) => report.add(&rule.name, check_pairs(&task.candidate_lines(rule), &pairs, task)),
            None => report.unchecked(absent(&rule.name)),
        }
    }
    Ok(true)
}

fn check_pairs(expected: &[TransductionPair], found: &[TransductionPair], task: &RuleTask) -> Findings {
    let mut findings = Findings::default();
    let Differences { missing, unexpected, outputs } = Differences::of(expected, found);
    let show = |pair: &TransductionPair| format!("`{}`", task.source.format(&pair.input));
    for wrong in &outputs {
        findings.sample(|| wrong.show(task, "the task"));
    }
    for (line, pair) in &unexpected {
        findings.sample(|| format!("line {line}: unexpected {}", show(pair)));
    }
    for pair in &missing {
        findings.sample(|| format!("{} is missing", show(pair)));
    }
    findings.fact("examples", found.len());
    findings.error("missing_pairs", missing.len());
    findings.error("unexpected_pairs", unexpected.len());
    findings.error("output_errors", outputs.len());
    findings.fact("same_order", found == expected);
    findings
}

fn check_inputs(expected: &[Word], found: &[Word], source: &Alphabet) -> Findings {
    let mut findings = Findings::default();
    let (unexpected, missing) = unmatched(expected, found);
    for (line, input) in &unexpected {
        findings.sample(|| format!("line {line}: unexpected `{}`", source.format(input)));
    }
    for input in &missing {
        findings.sample(|| format!("`{}` is missing", source.format(input)));
    }
    findings.fact("examples", found.len());
    findings.error("missing_inputs", missing.len());
    findings.error("unexpected_inputs", unexpected.len());
    findings.fact("same_order", found == expected);
    findings
}

fn pairs(inputs: &[Word], outputs: &[Word]) -> Vec<TransductionPair> {
    let pair =
        |(input, output): (&Word, &Word)| TransductionPair { input: input.clone(), output: output.clone() };
    inputs.iter().zip(outputs).map(pair).collect()
}

/// Something and the number of the line where it was found.
type Numbered<'a, T> = (usize, &'a T);

/// What was found beyond what was expected, and what was expected but not found. Order does
/// not matter, repetitions do.
fn unmatched<'a, T: Ord>(expected: &'a [T], found: &'a [T]) -> (Vec<Numbered<'a, T>>, Vec<&'a T>) {
    let mut open: BTreeMap<&T, usize> = BTreeMap::new();
    for item in expected {
        *open.entry(item).or_default() += 1;
    }
    let is_extra = |&(_, item): &Numbered<'a, T>| match open.get_mut(item) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    let extra = (1..).zip(found).filter(is_extra).collect();
    (extra, open.into_iter().flat_map(|(item, left)| std::iter::repeat_n(item, left)).collect())
}

/// How two lists of pairs differ.
struct Differences<'a> {
    missing: Vec<&'a TransductionPair>,
    unexpected: Vec<Numbered<'a, TransductionPair>>,
    outputs: Vec<WrongOutput<'a>>,
}

/// An expected input with another output.
struct WrongOutput<'a> {
    line: usize,
    found: &'a TransductionPair,
    expected: &'a TransductionPair,
}

impl<'a> Differences<'a> {
    fn of(expected: &'a [TransductionPair], found: &'a [TransductionPair]) -> Self {
        let (extra, lacking) = unmatched(expected, found);
        // Equal pairs are gone by now. What is left is paired by its input, so that a wrong answer is one
        // error, and not one missing and one unexpected pair.
        let mut by_input: BTreeMap<&Word, Vec<&TransductionPair>> = BTreeMap::new();
        for pair in lacking {
            by_input.entry(&pair.input).or_default().push(pair);
        }
        let (mut unexpected, mut outputs) = (Vec::new(), Vec::new());
        for (line, found) in extra {
            match by_input.get_mut(&found.input).and_then(Vec::pop) {
                Some(expected) => outputs.push(WrongOutput { line, found, expected }),
                None => unexpected.push((line, found)),
            }
        }
        Self { missing: by_input.into_values().flatten().collect(), unexpected, outputs }
    }
}

impl WrongOutput<'_> {
    fn show(&self, task: &RuleTask, by: &str) -> String {
        let target = |pair: &TransductionPair| task.target.format(&pair.output);
        let (input, found, expected) =
            (task.source.format(&self.found.input), target(self.found), target(self.expected));
        format!("line {}: `{input}` is answered with `{found}`; {by} says `{expected}`", self.line)
    }
}
