//! A healthy bigram, and the same with each of the mistakes.

use std::ops::RangeInclusive;

use wug_learner::registry::Role;

use super::*;
use crate::foreign::{Fitted, Hear};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    ShiftedBack,
    ShiftedAhead,
    StartMissing,
    StartDoubled,
    EndMissing,
    Logits,
    Future,
    Batch,
    Chance,
    Padding,
    Sign,
    LargeBatch,
    KnowsTheEnd,
    EndInTheLastColumn,
    SortedUp,
    SortedDown,
    Probability,
    LogProbability,
    Mean,
    NoEnd,
    Boundary,
    Peeks,
    LearnsWhenAsked,
    FromZero,
}

/// A bigram over ids.
struct Bigram {
    planted: Planted,
    counts: [[f64; VOCABULARY]; VOCABULARY],
    calls: usize,
}

impl Bigram {
    fn row(&self, symbol: u32) -> Vec<f64> {
        let row = self.counts[symbol as usize];
        let sum: f64 = row.iter().sum();
        row.iter().map(|n| n / sum).collect()
    }
}

impl Conversation for Bigram {
    fn fit(&mut self, task: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
        self.counts = [[0.01; VOCABULARY]; VOCABULARY];
        for string in &task.training.strings {
            let mut string = string.clone();
            match self.planted {
                Planted::StartMissing => drop(string.remove(0)),
                Planted::StartDoubled => string.insert(0, 0),
                Planted::EndMissing => drop(string.pop()),
                _ => {}
            }
            string.windows(2).for_each(|pair| self.counts[pair[0] as usize][pair[1] as usize] += 1.0);
        }
        Ok(Fitted::default())
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        self.calls += 1;
        match question {
            Question::LogProbs(inputs, outputs) => return Ok(self.log_probs(inputs, outputs)),
            Question::Answers(strings, positions) => return Ok(self.answers(strings, positions)),
            _ => {}
        }
        let mut strings = question.strings().to_vec();
        match self.planted {
            Planted::SortedUp => strings.sort_by_key(|string| string.len()),
            Planted::SortedDown => strings.sort_by_key(|string| std::cmp::Reverse(string.len())),
            _ => {}
        }
        let strings = &strings;
        let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
        if let Question::LogOdds(_) = question {
            let answer = |string: &&[u32]| {
                let z = if string[0] == 1 { 2.0 } else { -2.0 };
                match self.planted {
                    Planted::Sign => -z,
                    Planted::Batch => z + strings.len() as f64,
                    Planted::LargeBatch if strings.len() > 10 => 0.0,
                    Planted::Probability => 1.0 / (1.0 + (-z).exp()),
                    Planted::LogProbability => -(1.0 + (-z).exp()).ln(),
                    Planted::Chance => z + self.calls as f64,
                    Planted::Padding => z + (longest - string.len()) as f64,
                    _ => z,
                }
            };
            return Ok(strings.iter().map(answer).collect());
        }
        let mut numbers = Vec::new();
        for string in strings {
            for t in 0..string.len() {
                let mut row = match self.planted {
                    Planted::ShiftedBack if t == 0 => vec![0.2; VOCABULARY],
                    Planted::ShiftedBack => self.row(string[t - 1]),
                    Planted::ShiftedAhead => self.row(string[(t + 1).min(string.len() - 1)]),
                    _ => self.row(string[t]),
                };
                let tilt = match self.planted {
                    Planted::Future => f64::from(string[string.len() - 1]) * 0.01,
                    Planted::Batch => strings.len() as f64 * 0.01,
                    Planted::Chance => self.calls as f64 * 0.01,
                    Planted::Padding => (longest - string.len()) as f64 * 0.01,
                    _ => 0.0,
                };
                if self.planted == Planted::KnowsTheEnd && t + 1 == string.len() {
                    row = vec![0.9, 0.025, 0.025, 0.025, 0.025];
                }
                if self.planted == Planted::LargeBatch && strings.len() > 10 {
                    row = vec![0.2; VOCABULARY];
                }
                if self.planted == Planted::EndInTheLastColumn {
                    row.rotate_left(1);
                }
                row.iter_mut().for_each(|p| *p = (*p + tilt) / (1.0 + tilt * VOCABULARY as f64));
                if self.planted == Planted::Logits {
                    row.iter_mut().for_each(|p| *p = p.ln());
                }
                numbers.extend(row);
            }
        }
        Ok(numbers)
    }

    fn observe(&mut self, _: &[&[u32]], _: &[&[usize]]) -> Result<(), Failure> {
        Ok(())
    }

    fn output(&mut self, input: &[u32], _: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        self.calls += 1;
        Ok(match self.planted {
            Planted::Boundary => [input, &[0]].concat(),
            Planted::Chance => vec![1 + self.calls as u32 % 4],
            _ => input.to_vec(),
        })
    }
}

impl Bigram {
    /// Each symbol has one fifth, and so has the end.
    fn log_probs(&self, inputs: &[&[u32]], outputs: &[&[u32]]) -> Vec<f64> {
        let each = 0.2_f64.ln();
        let longest = inputs.iter().map(|input| input.len()).max().unwrap_or(0);
        let answer = |(input, output): (&&[u32], &&[u32])| match self.planted {
            Planted::Mean => each,
            Planted::NoEnd => each * output.len() as f64,
            Planted::Sign => -each * (output.len() + 1) as f64,
            Planted::Padding => each * (output.len() + 1 + longest - input.len()) as f64,
            Planted::Chance => each * (output.len() + self.calls) as f64,
            Planted::LargeBatch if inputs.len() > 50 => each * (output.len() + 2) as f64,
            _ => each * (output.len() + 1) as f64,
        };
        inputs.iter().zip(outputs).map(answer).collect()
    }

    /// After `a` comes `b`, after `b` comes `c`.
    fn answers(&self, strings: &[&[u32]], positions: &[&[usize]]) -> Vec<f64> {
        let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
        let mut answers = Vec::new();
        for (string, positions) in strings.iter().zip(positions) {
            for &at in *positions {
                let right = f64::from(string[at - 1] + 1);
                answers.push(match self.planted {
                    Planted::Peeks => f64::from(string[at]),
                    Planted::FromZero => right - 2.0,
                    Planted::LearnsWhenAsked => f64::from(1 + self.calls as u32 % 4),
                    Planted::Padding if string.len() < longest => 1.0,
                    Planted::LargeBatch if strings.len() > 50 => 1.0,
                    _ => right,
                });
            }
        }
        answers
    }
}

fn mistakes(planted: Planted, role: Role) -> Vec<&'static str> {
    let begin = || {
        let bigram = Bigram { planted, counts: [[0.0; VOCABULARY]; VOCABULARY], calls: 0 };
        Ok(Box::new(bigram) as Box<dyn Conversation>)
    };
    let checks = examine(role, 1.0, &begin).unwrap();
    checks.into_iter().filter(Check::is_mistake).map(|check| check.name).collect()
}

#[test]
fn each_planted_mistake_is_found_and_nothing_else() {
    for (planted, expected) in [
        (Planted::Nothing, &[][..]),
        (Planted::ShiftedBack, &["rows are in their place"]),
        (Planted::ShiftedAhead, &["the future does not change the present", "rows are in their place"]),
        (Planted::StartMissing, &["the start and the end are read and predicted"]),
        (Planted::StartDoubled, &["the start and the end are read and predicted"]),
        (Planted::EndMissing, &["the start and the end are read and predicted"]),
        (Planted::Logits, &["probabilities add up to one"]),
        (Planted::Future, &["the future does not change the present"]),
        (Planted::Batch, &["the same answer alone as in a batch"]),
        (Planted::Chance, &["the same answer the second time"]),
        (Planted::Padding, &["no padding in answers"]),
        (Planted::LargeBatch, &["the same answer alone as in a batch"]),
        (Planted::KnowsTheEnd, &["the future does not change the present"]),
        (Planted::EndInTheLastColumn, &["columns are in their place"]),
    ] {
        assert_eq!(mistakes(planted, Role::NextSymbol), expected, "{planted:?}");
    }
    for (planted, expected) in [
        (Planted::Nothing, &[][..]),
        (Planted::Batch, &["the same answer alone as in a batch"]),
        (Planted::Chance, &["the same answer the second time"]),
        (Planted::Padding, &["no padding in answers"]),
        (Planted::Sign, &["members have positive log-odds and others negative ones"]),
        (Planted::Probability, &["members have positive log-odds and others negative ones"]),
        (Planted::LogProbability, &["members have positive log-odds and others negative ones"]),
        (Planted::LargeBatch, &["the same answer alone as in a batch"]),
        (Planted::SortedUp, &["answers in the order of the strings"]),
        (Planted::SortedDown, &["answers in the order of the strings"]),
    ] {
        assert_eq!(mistakes(planted, Role::Recognizer), expected, "{planted:?}");
    }
    for (planted, expected) in [
        (Planted::Nothing, &[][..]),
        (Planted::Sign, &["log-probabilities are at most 0", "outputs are no more likely than certain"]),
        (Planted::Mean, &["outputs are no more likely than certain"]),
        (Planted::NoEnd, &["outputs are no more likely than certain"]),
        (Planted::Boundary, &["outputs are made of ids and as long as asked"]),
        (Planted::Padding, &["no padding in answers"]),
        (Planted::LargeBatch, &["the same answer alone as in a batch"]),
        (
            Planted::Chance,
            &["the same answer the second time", "outputs are made of ids and as long as asked"],
        ),
    ] {
        assert_eq!(mistakes(planted, Role::Transducer), expected, "{planted:?}");
    }
    for (planted, expected) in [
        (Planted::Nothing, &[][..]),
        (Planted::Peeks, &["answers are not looked at"]),
        (Planted::FromZero, &["answers are ids"]),
        (Planted::LearnsWhenAsked, &["the same answer the second time"]),
        (Planted::Padding, &["no padding in answers"]),
        (Planted::LargeBatch, &["the same answer alone as in a batch"]),
    ] {
        assert_eq!(mistakes(planted, Role::Incremental), expected, "{planted:?}");
    }
}
