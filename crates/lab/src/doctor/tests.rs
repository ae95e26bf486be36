//! A healthy bigram, and the same with each of the mistakes.

use wug_learner::registry::Role;

use super::*;
use crate::foreign::{Event, Fitted};

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
    fn fit(&mut self, task: &Task, _: &mut dyn FnMut(Event)) -> Result<Fitted, Failure> {
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
        let strings = question.strings();
        let longest = strings.iter().map(|string| string.len()).max().unwrap_or(0);
        if let Question::LogOdds(_) = question {
            let answer = |string: &&[u32]| {
                let z = if string[0] == 1 { 2.0 } else { -2.0 };
                match self.planted {
                    Planted::Sign => -z,
                    Planted::Batch => z + strings.len() as f64,
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
                row.iter_mut().for_each(|p| *p = (*p + tilt) / (1.0 + tilt * VOCABULARY as f64));
                if self.planted == Planted::Logits {
                    row.iter_mut().for_each(|p| *p = p.ln());
                }
                numbers.extend(row);
            }
        }
        Ok(numbers)
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
    ] {
        assert_eq!(mistakes(planted, Role::NextSymbol), expected, "{planted:?}");
    }
    for (planted, expected) in [
        (Planted::Nothing, &[][..]),
        (Planted::Batch, &["the same answer alone as in a batch"]),
        (Planted::Chance, &["the same answer the second time"]),
        (Planted::Padding, &["no padding in answers"]),
        (Planted::Sign, &["members have positive log-odds"]),
    ] {
        assert_eq!(mistakes(planted, Role::Recognizer), expected, "{planted:?}");
    }
}
