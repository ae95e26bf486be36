//! Foreign learners behind the interfaces of trained models. Questions are batched; answers are checked.

use std::ops::RangeInclusive;

use wug_learner::interface::{Incremental, NextSymbol, Recognizer, RecognizerOutput, Sequence, Transducer};
use wug_learner::model::Pair;

use super::{Conversation, Failure, Question};

/// Symbols in a question, about.
const SYMBOLS: usize = 1 << 16;
/// Strings in a question.
const STRINGS: usize = 4096;
/// How far the sum of probabilities may be from one. Single precision over a large vocabulary stays well within.
const TOLERANCE: f64 = 1e-3;
/// Symbols of strings whose probabilities are in memory.
const IN_MEMORY: usize = 1 << 20;

/// The strings in groups for one question each, in order.
fn groups(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut groups, mut strings, mut symbols) = (Vec::new(), 0, 0);
    for length in lengths {
        // At least one string, however long it is.
        if strings > 0 && (symbols + length > SYMBOLS || strings == STRINGS) {
            groups.push(strings);
            (strings, symbols) = (0, 0);
        }
        strings += 1;
        symbols += length;
    }
    groups.extend((strings > 0).then_some(strings));
    groups
}

pub(crate) struct ForeignRecognizer(pub(crate) Box<dyn Conversation>);

impl ForeignRecognizer {
    pub(super) fn ask(&mut self, strings: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        let (mut answers, mut rest) = (Vec::with_capacity(strings.len()), strings);
        for size in groups(strings.iter().map(|string| string.len())) {
            let (now, later) = rest.split_at(size);
            rest = later;
            let log_odds = self.0.ask(Question::LogOdds(now))?;
            check_count(log_odds.len(), now.len())?;
            if let Some(i) = log_odds.iter().position(|z| !z.is_finite()) {
                let message = format!(
                    "its log-odds for a string are {}; they must be finite (string {})",
                    log_odds[i],
                    shown(now[i])
                );
                return Err(Failure::learner(message));
            }
            answers.extend(log_odds);
        }
        Ok(answers)
    }
}

impl Recognizer for ForeignRecognizer {
    fn predict(
        &mut self,
        strings: &[&[u32]],
        _: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<RecognizerOutput>, Failure> {
        let output = |log_odds| RecognizerOutput { log_odds, ..Default::default() };
        Ok(self.ask(strings)?.into_iter().map(output).collect())
    }
}

/// A foreign next-symbol model. Its state is the prefix: it reads whole strings.
pub(crate) struct ForeignNextSymbol {
    pub(crate) conversation: Box<dyn Conversation>,
    pub(crate) vocabulary: usize,
}

impl ForeignNextSymbol {
    /// The probabilities `[T,V]` for each string.
    pub(super) fn rows(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        let v = self.vocabulary;
        let (mut answers, mut rest) = (Vec::with_capacity(strings.len()), strings);
        for size in groups(strings.iter().map(|string| string.len())) {
            let (now, later) = rest.split_at(size);
            rest = later;
            let numbers = self.conversation.ask(Question::NextSymbols(now, v))?;
            check_count(numbers.len(), now.iter().map(|string| string.len() * v).sum())?;
            let mut left = &numbers[..];
            for string in now {
                let (rows, others) = left.split_at(string.len() * v);
                left = others;
                rows.chunks_exact(v).enumerate().try_for_each(|(t, row)| check_row(string, t, row))?;
                answers.push(rows.to_vec());
            }
        }
        Ok(answers)
    }

    fn uniform(&self) -> Vec<f64> {
        vec![1.0 / self.vocabulary as f64; self.vocabulary]
    }

    /// The log-probability of each symbol of a string, from its rows. The first is not asked for.
    fn logs(&self, string: &[u32], rows: &[f64]) -> Vec<f64> {
        // The first boundary is given and no row predicts it: uniform, as `next` has it after the empty prefix.
        let first = string.first().map(|_| -libm::log(self.vocabulary as f64));
        let others = string.iter().skip(1).zip(rows.chunks_exact(self.vocabulary));
        first.into_iter().chain(others.map(|(&id, row)| libm::log(row[id as usize]))).collect()
    }
}

impl NextSymbol for ForeignNextSymbol {
    type State = Vec<u32>;

    fn start(&mut self) -> Vec<u32> {
        Vec::new()
    }

    fn push(&mut self, state: &mut Vec<u32>, symbol: u32) {
        state.push(symbol);
    }

    /// Before the first boundary nothing is asked: all symbols have the same probability.
    fn next(&mut self, state: &Vec<u32>) -> Result<Vec<f64>, Failure> {
        if state.is_empty() {
            return Ok(self.uniform());
        }
        let rows = self.rows(&[state])?.remove(0);
        Ok(rows[rows.len() - self.vocabulary..].to_vec())
    }

    fn log_probs(&mut self, string: &[u32]) -> Result<Vec<f64>, Failure> {
        Ok(self.log_probs_batch(&[string])?.remove(0))
    }

    fn log_probs_batch(&mut self, strings: &[&[u32]]) -> Result<Vec<Vec<f64>>, Failure> {
        // What comes after the last symbol is not asked for.
        let asked: Vec<&[u32]> =
            strings.iter().map(|string| &string[..string.len().saturating_sub(1)]).collect();
        let rows = self.rows(&asked)?;
        Ok(strings.iter().zip(&rows).map(|(string, rows)| self.logs(string, rows)).collect())
    }

    fn read_whole(&mut self, strings: &[&[u32]]) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        self.rows(strings).map(Some)
    }

    fn advance_batch(&mut self, states: &mut [Vec<u32>], pieces: &[&[u32]]) -> Result<Vec<f64>, Failure> {
        for (state, piece) in states.iter_mut().zip(pieces) {
            state.extend_from_slice(piece);
        }
        let whole: Vec<&[u32]> = states.iter().map(Vec::as_slice).collect();
        // A child has no states: it reads the whole prefix again, in quadratic time. So `read_whole` is tried first.
        let rows = self.rows(&whole)?;
        let last =
            |(rows, piece): (&Vec<f64>, &&[u32])| rows[rows.len() - piece.len() * self.vocabulary..].to_vec();
        Ok(rows.iter().zip(pieces).flat_map(last).collect())
    }

    fn same(&self, a: &Vec<u32>, b: &Vec<u32>) -> bool {
        a == b
    }

    fn max_batch(&self, max_len: usize) -> usize {
        (IN_MEMORY / max_len.max(1)).clamp(1, STRINGS)
    }
}

/// A foreign incremental learner.
pub(crate) struct ForeignIncremental {
    pub(crate) conversation: Box<dyn Conversation>,
    /// The symbols of sequences.
    pub(crate) vocabulary: usize,
}

impl Incremental for ForeignIncremental {
    fn observe(&mut self, batch: &[Sequence<'_>]) -> Result<(), Failure> {
        let strings: Vec<&[u32]> = batch.iter().map(|sequence| sequence.symbols).collect();
        let positions: Vec<&[usize]> = batch.iter().map(|sequence| sequence.answers).collect();
        self.conversation.observe(&strings, &positions)
    }

    fn predict(&mut self, sequences: &[Sequence<'_>]) -> Result<Vec<u32>, Failure> {
        let mut predicted = Vec::new();
        let mut rest = sequences;
        for size in groups(sequences.iter().map(|sequence| sequence.symbols.len())) {
            let (now, later) = rest.split_at(size);
            rest = later;
            let strings: Vec<&[u32]> = now.iter().map(|sequence| sequence.symbols).collect();
            let positions: Vec<&[usize]> = now.iter().map(|sequence| sequence.answers).collect();
            let question = Question::Answers(&strings, &positions);
            let answers = self.conversation.ask(question)?;
            check_count(answers.len(), question.all_numbers())?;
            for id in answers {
                predicted.push(self.symbol(id)?);
            }
        }
        Ok(predicted)
    }
}

impl ForeignIncremental {
    /// A number as the id of a symbol, if it is one.
    fn symbol(&self, id: f64) -> Result<u32, Failure> {
        // The cast saturates and makes 0 of NaN: neither passes the check.
        let whole = id as u32;
        if (1..=self.vocabulary as u32).contains(&whole) && (f64::from(whole) - id).abs() < f64::EPSILON {
            return Ok(whole);
        }
        Err(Failure::learner(format!("it answered {id}; answers are ids from 1 to {}", self.vocabulary)))
    }
}

pub(crate) struct ForeignTransducer {
    pub(crate) conversation: Box<dyn Conversation>,
    /// How many symbols outputs are made of.
    pub(crate) outputs: usize,
    /// The number of the first symbol of inputs and of outputs.
    pub(crate) first: u32,
}

impl ForeignTransducer {
    /// Ids from 1 on.
    pub(crate) fn ids(first: u32, string: &[u32]) -> Vec<u32> {
        string.iter().map(|symbol| (symbol + 1).saturating_sub(first)).collect()
    }
}

impl Transducer for ForeignTransducer {
    fn log_probs(&mut self, pairs: &[Pair<'_>]) -> Result<Vec<f64>, Failure> {
        let ids = |string: &[u32]| Self::ids(self.first, string);
        let inputs: Vec<Vec<u32>> = pairs.iter().map(|pair| ids(pair.input)).collect();
        let outputs: Vec<Vec<u32>> = pairs.iter().map(|pair| ids(pair.output)).collect();
        let inputs: Vec<&[u32]> = inputs.iter().map(Vec::as_slice).collect();
        let outputs: Vec<&[u32]> = outputs.iter().map(Vec::as_slice).collect();
        let (mut answers, mut from) = (Vec::new(), 0);
        for size in groups(inputs.iter().zip(&outputs).map(|(input, output)| input.len() + output.len())) {
            let now = from..from + size;
            from += size;
            let question = Question::LogProbs(&inputs[now.clone()], &outputs[now]);
            let logs = self.conversation.ask(question)?;
            check_count(logs.len(), size)?;
            // Rounding may leave a probability a little above one.
            if let Some(log) = logs.iter().find(|log| !(log.is_finite() && **log <= 1e-5)) {
                return Err(Failure::learner(format!("the log-probability of an output is {log}")));
            }
            answers.extend(logs);
        }
        Ok(answers)
    }

    fn greedy(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        let output = self.conversation.output(&Self::ids(self.first, input), lengths.clone())?;
        if let Some(id) = output.iter().find(|id| !(1..=self.outputs as u32).contains(id)) {
            let message = format!("an output has the id {id}; ids are from 1 to {}", self.outputs);
            return Err(Failure::learner(message));
        }
        if !lengths.contains(&output.len()) {
            let message = format!("an output has {} symbols; it must have {lengths:?}", output.len());
            return Err(Failure::learner(message));
        }
        Ok(output.iter().map(|id| id - 1 + self.first).collect())
    }
}

fn check_count(got: usize, needed: usize) -> Result<(), Failure> {
    if got == needed {
        return Ok(());
    }
    Err(Failure::learner(format!("its answer has {got} numbers; there must be {needed}")))
}

/// Probabilities: none negative, with a sum of one.
fn check_row(string: &[u32], t: usize, row: &[f64]) -> Result<(), Failure> {
    let prefix = || shown(&string[..=t]);
    if let Some(p) = row.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
        return Err(Failure::learner(format!("a probability after {} is {p}", prefix())));
    }
    let sum: f64 = row.iter().sum();
    if (sum - 1.0).abs() > TOLERANCE {
        return Err(Failure::learner(format!(
            "the probabilities after {} add up to {sum}; they must add up to 1",
            prefix()
        )));
    }
    Ok(())
}

/// The end of a string of ids, for a message.
fn shown(ids: &[u32]) -> String {
    let skipped = ids.len().saturating_sub(10);
    let dots = if skipped > 0 { "… " } else { "" };
    let ids: Vec<String> = ids[skipped..].iter().map(u32::to_string).collect();
    format!("`{dots}{}`", ids.join(" "))
}
