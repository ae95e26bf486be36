//! Transducers and incremental classifiers. What they learn is not looked at: the checks are about answers that must be the same.

use super::checks::{after, consistent, differs, mistake, named};
use super::{Check, Finding, VOCABULARY, rounds};
use crate::LabError;
use crate::foreign::{Conversation, Failure, Question};

const LOGS: &str = "log-probabilities are at most 0";
const TOTAL: &str = "outputs are no more likely than certain";
const OUTPUTS: &str = "outputs are made of ids and as long as asked";
const IDS: &str = "answers are ids";
const HIDDEN: &str = "answers are not looked at";
/// How far a sum of probabilities may be above one.
const SUM: f64 = 1e-3;
/// How many sequences an incremental classifier observes.
const OBSERVED: usize = 200;
/// The outputs that are asked for have from 1 to so many symbols.
const LONGEST: usize = 12;

/// A transducer. It was fitted to copy its input.
pub(super) fn transducer(model: &mut dyn Conversation) -> Result<Vec<Check>, LabError> {
    let mut findings = vec![(LOGS, logs(model)?), (TOTAL, total(model)?)];
    let mut ask = |strings: &[&[u32]]| -> Result<Vec<Vec<f64>>, Failure> {
        Ok(log_probs(model, strings, strings)?.into_iter().map(|log| vec![log]).collect())
    };
    findings.extend(consistent(&mut ask, &rounds(3), &[rounds(1), rounds(3), rounds(6)])?);
    findings.push((OUTPUTS, outputs(model)?));
    Ok(named("transducer", findings))
}

fn log_probs(
    model: &mut dyn Conversation,
    inputs: &[&[u32]],
    outputs: &[&[u32]],
) -> Result<Vec<f64>, Failure> {
    let numbers = model.ask(Question::LogProbs(inputs, outputs))?;
    if numbers.len() == inputs.len() {
        return Ok(numbers);
    }
    Err(Failure::learner(format!(
        "it was asked about {} pairs and answered about {}",
        inputs.len(),
        numbers.len()
    )))
}

fn logs(model: &mut dyn Conversation) -> Result<Finding, Failure> {
    let strings: Vec<Vec<u32>> = (1..=4).map(rounds).collect();
    let strings: Vec<&[u32]> = strings.iter().map(Vec::as_slice).collect();
    let odd = log_probs(model, &strings, &strings)?.into_iter().find(|log| !(log.is_finite() && *log <= SUM));
    Ok(odd.map_or(Finding::Fine, |log| {
        mistake(
            format!("the log-probability of an output is {log}"),
            "a loss (which is positive), a probability or a score is returned; or the log of 0",
        )
    }))
}

/// All outputs of at most two symbols, whose probabilities, the end included, add up to one at most.
fn total(model: &mut dyn Conversation) -> Result<Finding, Failure> {
    let symbols = 1..VOCABULARY as u32;
    let two = symbols.clone().flat_map(|a| symbols.clone().map(move |b| vec![a, b]));
    let all: Vec<Vec<u32>> =
        [vec![]].into_iter().chain(symbols.clone().map(|a| vec![a])).chain(two).collect();
    let outputs: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
    let input = rounds(1);
    let logs = log_probs(model, &vec![&input[..]; outputs.len()], &outputs)?;
    let sum: f64 = logs.into_iter().map(libm::exp).sum();
    // Only an upper bound can be checked: longer outputs have the rest of the probability.
    Ok(if sum <= 1.0 + SUM {
        Finding::Fine
    } else {
        mistake(
            format!("the probabilities of all outputs of at most two symbols add up to {sum:.4}"),
            "the end of the output is not counted, or the mean over symbols is returned and not the sum",
        )
    })
}

fn outputs(model: &mut dyn Conversation) -> Result<Finding, Failure> {
    let input = rounds(2);
    let first = model.output(&input, 1..=LONGEST)?;
    let second = model.output(&input, 1..=LONGEST)?;
    let is_id = |id: &u32| (1..VOCABULARY as u32).contains(id);
    Ok(if !first.iter().all(is_id) {
        mistake(
            format!("an output is {first:?}; ids are from 1 to {}", VOCABULARY - 1),
            "the boundary (id 0) at the start or the end is part of the output",
        )
    } else if !(1..=LONGEST).contains(&first.len()) {
        mistake(
            format!("an output has {} symbols; from 1 to {LONGEST} were asked for", first.len()),
            "the end is allowed before the shortest length, or decoding goes on after the longest",
        )
    } else if first != second {
        mistake(
            "the same input has another output the second time".to_owned(),
            "outputs are sampled, or dropout is still on: take the most likely symbol in each step",
        )
    } else {
        Finding::Fine
    })
}

/// An incremental classifier. It observes first, and then predicts each symbol after an `a` or a `b`.
pub(super) fn incremental(model: &mut dyn Conversation) -> Result<Vec<Check>, LabError> {
    for i in 0..OBSERVED {
        let string = rounds(1 + i % 5);
        model.observe(&[&string], &[&positions(&string)])?;
    }
    let mut ask = |strings: &[&[u32]]| answers(model, strings);
    let string = rounds(3);
    let first = ask(&[&string])?.remove(0);
    let is_id = |id: &f64| (1.0..VOCABULARY as f64).contains(id) && id.fract().abs() < f64::EPSILON;
    let ids = match first.iter().find(|id| !is_id(id)) {
        None => Finding::Fine,
        Some(id) => mistake(
            format!("an answer is {id}; ids are from 1 to {}", VOCABULARY - 1),
            "ids are counted from 0, or the padding is a class that can be predicted",
        ),
    };
    let same = consistent(&mut ask, &string, &[rounds(1), rounds(4), rounds(9)])?;
    let (first, steady) = (same[0].0, same[0].1 == Finding::Fine);
    let mut findings = vec![(IDS, ids)];
    findings.extend(same);
    findings.push((HIDDEN, if steady { hidden(model, &string)? } else { after(first) }));
    Ok(named("incremental", findings))
}

/// The positions after an `a` or a `b`, whose symbols are certain.
fn positions(string: &[u32]) -> Vec<usize> {
    (1..string.len()).filter(|&at| string[at - 1] <= 2).collect()
}

fn answers(model: &mut dyn Conversation, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
    let positions: Vec<Vec<usize>> = strings.iter().map(|string| positions(string)).collect();
    let positions: Vec<&[usize]> = positions.iter().map(Vec::as_slice).collect();
    asked(model, strings, &positions)
}

fn asked(
    model: &mut dyn Conversation,
    strings: &[&[u32]],
    positions: &[&[usize]],
) -> Result<Vec<Vec<f64>>, Failure> {
    let question = Question::Answers(strings, positions);
    let numbers = model.ask(question)?;
    if numbers.len() != question.all_numbers() {
        return Err(Failure::learner(format!(
            "its answer has {} numbers; there must be {}",
            numbers.len(),
            question.all_numbers()
        )));
    }
    let mut numbers = numbers.into_iter();
    Ok(positions.iter().map(|positions| numbers.by_ref().take(positions.len()).collect()).collect())
}

/// Other symbols at a position and after it must not change what is predicted there.
fn hidden(model: &mut dyn Conversation, string: &[u32]) -> Result<Finding, Failure> {
    for at in positions(string) {
        let mut other = string.to_vec();
        other[at..].iter_mut().for_each(|symbol| *symbol = 1 + *symbol % 4);
        let before = asked(model, &[string], &[&[at]])?;
        let now = asked(model, &[&other], &[&[at]])?;
        if differs(&before[0], &now[0]).is_some() {
            return Ok(mistake(
                format!("another symbol at position {at}, which is asked for, changes the answer"),
                "the answer is among the inputs: predict position t from the symbols before t",
            ));
        }
    }
    Ok(Finding::Fine)
}
