//! Checking the files of a task against the oracle.

use std::collections::{BTreeMap, BTreeSet};

use wug_language::{Alphabet, Reading, Symbol, Word};

use super::oracle::{self, OracleAnswer};
use super::{HARD_SYM_CT, SPLITS, VOCABULARY, WadeTask, read};
use crate::rows::read_lines;
use crate::validation::{Findings, Validation};
use crate::{DataError, FileSource, MaskedSequence};

/// Checks `train.jsonl` and `test.jsonl`. Errors are texts that do not follow the task's grammar, answers
/// that the text does not imply, test texts that were trained on, and a `vocabulary.txt` that is not the
/// task's; in the corrected reading also answers about things of which the text says nothing. Duplicates and
/// the majority answer's share are reported.
///
/// The published labels of task 4 are known to be false where a decoy does occur. In the published reading
/// such labels, and no others, are counted as `known_wrong_answers` and are no errors.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, manifest::Recorder, table::TableFormat, wade};
/// let data = wade::dataset(&wade::HARD_SYM_CT, wade::Reading::Published, 500, Seed::new(1));
/// let mut memory = MemoryFiles::default();
/// wade::write(&data, TableFormat::Jsonl, &mut Recorder::new(&mut memory, "")).unwrap();
/// let errors = |reading| wade::validate(&memory, &wade::HARD_SYM_CT, reading).unwrap().errors;
/// assert_eq!(errors(wade::Reading::Published), 0);
/// assert!(errors(wade::Reading::Corrected) > 0);
/// ```
pub fn validate(files: &dyn FileSource, task: &WadeTask, reading: Reading) -> Result<Validation, DataError> {
    let mut report = Validation::new("wade", task.name, reading);
    let mut training: Option<BTreeSet<Word>> = None;
    for split in SPLITS {
        let Some(sequences) = read(files, split, task)? else {
            report.unchecked(format!("{split}: there is no {split}.jsonl, so nothing could be checked"));
            continue;
        };
        let texts: BTreeSet<Word> = sequences.iter().map(|sequence| sequence.word.clone()).collect();
        let mut findings = check_split(&sequences, task, reading);
        findings.fact("duplicates", sequences.len() - texts.len());
        match &training {
            Some(seen) => findings.error("overlap_with_training", texts.intersection(seen).count()),
            None => training = Some(texts),
        }
        report.add(split, findings);
    }
    if report.splits.is_empty() {
        let hint = " nor test.jsonl: not a WADE directory".to_owned();
        return Err(DataError::Missing { file: "train.jsonl".to_owned(), hint });
    }
    check_vocabulary(files, &task.vocabulary(), &mut report)?;
    Ok(report)
}

/// How often each kind of error was found.
#[derive(Default)]
struct AnswerCounts {
    malformed: usize,
    wrong: usize,
    known_wrong: usize,
    unstated: usize,
}

fn check_split(sequences: &[MaskedSequence], task: &WadeTask, reading: Reading) -> Findings {
    let (mut findings, mut counts, vocabulary) =
        (Findings::default(), AnswerCounts::default(), task.vocabulary());
    let false_zeros = reading == Reading::Published && task.number == HARD_SYM_CT.number;
    for (sequence, line) in sequences.iter().zip(1..) {
        let tokens: Vec<&str> = sequence.word.iter().map(|&symbol| vocabulary.token(symbol)).collect();
        let answers = oracle::answers(task.number, &tokens, &sequence.mask).unwrap_or_else(|malformed| {
            counts.malformed += 1;
            findings.sample(|| format!("line {line}: {malformed}"));
            Vec::new()
        });
        for answer in answers {
            let OracleAnswer { position, token, stated } = answer;
            counts.unstated += usize::from(!stated);
            if tokens[position] == token {
                continue;
            }
            if false_zeros && is_zero(&tokens, position, &sequence.mask) {
                counts.known_wrong += 1;
                continue;
            }
            counts.wrong += 1;
            findings.sample(|| {
                format!("line {line}, position {position}: `{}` instead of `{token}`", tokens[position])
            });
        }
    }
    findings.fact("examples", sequences.len());
    findings.error("malformed", counts.malformed);
    findings.error("answer_errors", counts.wrong);
    if false_zeros {
        findings.fact("known_wrong_answers", counts.known_wrong);
    }
    match reading {
        Reading::Published => findings.fact("unstated_answers", counts.unstated),
        Reading::Corrected => findings.error("unstated_answers", counts.unstated),
    }
    findings.fact("masked_positions", sequences.iter().map(|sequence| sequence.mask.len()).sum::<usize>());
    findings.fact("majority_answer_share", majority_share(sequences));
    findings
}

/// Whether the whole answer at a masked position is one `0`, and not a digit of a longer count.
fn is_zero(tokens: &[&str], position: usize, mask: &[usize]) -> bool {
    let masked = |i: Option<usize>| i.is_some_and(|i| mask.binary_search(&i).is_ok());
    tokens[position] == "0" && !masked(position.checked_sub(1)) && !masked(position.checked_add(1))
}

/// How often the most common answer is correct, over all masked positions; `None` if there are none.
fn majority_share(sequences: &[MaskedSequence]) -> Option<f64> {
    let mut counts: BTreeMap<Symbol, usize> = BTreeMap::new();
    for answer in sequences.iter().flat_map(MaskedSequence::answers) {
        *counts.entry(answer).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    counts.values().max().map(|&most| most as f64 / all as f64)
}

fn check_vocabulary(
    files: &dyn FileSource,
    vocabulary: &Alphabet,
    report: &mut Validation,
) -> Result<(), DataError> {
    let Some(tokens) = read_lines(files, VOCABULARY)? else { return Ok(()) };
    let mut findings = Findings::default();
    let lines = 0..tokens.len().max(vocabulary.len());
    let differing: Vec<usize> = lines.filter(|&i| tokens.get(i) != vocabulary.tokens().get(i)).collect();
    for &i in &differing {
        let show = |token: Option<&String>| token.map_or_else(|| "nothing".to_owned(), |t| format!("`{t}`"));
        findings.sample(|| {
            let (found, expected) = (show(tokens.get(i)), show(vocabulary.tokens().get(i)));
            format!("line {}: {found} instead of {expected}", i + 1)
        });
    }
    findings.fact("tokens", tokens.len());
    findings.error("token_errors", differing.len());
    report.add("vocabulary", findings);
    Ok(())
}
