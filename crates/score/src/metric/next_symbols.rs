//! Which symbols may come next? Answers at every prefix of every member, scored one by one, by prefix and by
//! string.
//!
//! A symbol is in the answered set if its logit is not negative. Only members count whose true sets are
//! known.
//!
//! The released `next_symbols_string_accuracy` counts padding as incorrect, so that a string that is shorter than
//! the longest of its batch can never be correct. It depends on how strings were batched and is no
//! function of predictions; only the corrected one is here.

use wug_language::{NextSet, Symbol};

use super::{Direction, ExampleMetric, Metric, Unit, mean_over};
use crate::chance::{majority_share, share_entropy};
use crate::metric::binary_cross_entropy;
use crate::{Example, NextAnswer, Ratio};

/// Minus the log-probability of the correct yes or no for each symbol, averaged over symbols, then over
/// prefixes, then over members.
///
/// ```
/// use wug_dataset::{Labelled, language::{Alphabet, NextSet}};
/// use wug_score::{Example, NextAnswer, Prediction, metric::NEXT_SYMBOLS_CROSS_ENTROPY};
/// let alphabet = Alphabet::new(["a"]);
/// let truth = Labelled { next: Some(vec![NextSet::only_end()]), ..Labelled::new(vec![], true) };
/// // `a` may not come, given 1/2; the end may, given 3/4.
/// let logits = vec![vec![0.0, 3.0_f64.ln()]];
/// let prediction = Prediction { next: Some(NextAnswer::Logits(logits)), ..Prediction::default() };
/// let score = NEXT_SYMBOLS_CROSS_ENTROPY.score(&[Example::new(&truth, &prediction, &alphabet).unwrap()]);
/// let expected = (2.0_f64.ln() + (4.0_f64 / 3.0).ln()) / 2.0;
/// assert!((score.value().unwrap() - expected).abs() < 1e-15);
/// ```
pub static NEXT_SYMBOLS_CROSS_ENTROPY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "next_symbols_cross_entropy",
        unit: Unit::Nats,
        better: Direction::Lower,
        meaning: "minus the log-probability of each symbol's correct yes or no, averaged within and over members",
        chance_of: Some("always giving the share of symbols that may come"),
        ..NEXT_SYMBOLS
    },
    each: cross_entropy,
    chance: Some(|examples| share_entropy(mean_over(examples, share_of)?, 1.0)),
};

/// The share of correct answers to "may this symbol come here?", the end among the symbols.
///
/// ```
/// use wug_dataset::{Labelled, language::{Alphabet, NextSet, Symbol}};
/// use wug_score::{Example, NextAnswer, Prediction, metric::*};
/// let alphabet = Alphabet::new(["a"]);
/// // Only `a` may come first, then only the end.
/// let next = Some(vec![NextSet::of([Symbol(0)]), NextSet::only_end()]);
/// let truth = Labelled { next, ..Labelled::new(vec![Symbol(0)], true) };
/// let sets = vec![vec![true, false], vec![true, true]]; // incorrect only in allowing a second `a`
/// let prediction = Prediction { next: Some(NextAnswer::Sets(sets)), ..Prediction::default() };
/// let examples = [Example::new(&truth, &prediction, &alphabet).unwrap()];
/// assert_eq!(NEXT_SYMBOLS_SYMBOL_ACCURACY.score(&examples).value(), Some(3.0 / 4.0));
/// assert_eq!(NEXT_SYMBOLS_SET_ACCURACY.score(&examples).value(), Some(1.0 / 2.0));
/// assert_eq!(NEXT_SYMBOLS_STRING_ACCURACY.score(&examples).value(), Some(0.0));
/// assert_eq!(NEXT_SYMBOLS_CROSS_ENTROPY.score(&examples).totals.n, 0); // sets have no probabilities
/// ```
pub static NEXT_SYMBOLS_SYMBOL_ACCURACY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "next_symbols_symbol_accuracy",
        meaning: "share of correct answers to whether a symbol may come at a prefix",
        chance_of: Some("always giving the commoner of yes and no"),
        ..NEXT_SYMBOLS
    },
    each: |e| correct(e).map(|c| Ratio::new(c.symbols as f64, (e.prefixes() * e.choices()) as f64)),
    chance: Some(symbol_chance),
};

/// The share of prefixes whose set is entirely correct. Worked by hand at [`NEXT_SYMBOLS_SYMBOL_ACCURACY`].
pub static NEXT_SYMBOLS_SET_ACCURACY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "next_symbols_set_accuracy",
        meaning: "share of prefixes whose next-symbol set is entirely correct",
        ..NEXT_SYMBOLS
    },
    each: |e| correct(e).map(|c| Ratio::new(c.sets as f64, e.prefixes() as f64)),
    chance: None,
};

/// The share of members whose sets are all correct. Worked by hand at [`NEXT_SYMBOLS_SYMBOL_ACCURACY`]. The
/// figure of the released code under this name is another, and lower: it counts padding as incorrect answers.
pub static NEXT_SYMBOLS_STRING_ACCURACY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "next_symbols_string_accuracy",
        meaning: "share of members whose next-symbol sets are all correct",
        ..NEXT_SYMBOLS
    },
    each: |e| correct(e).map(|c| Ratio::correct(c.sets == e.prefixes())),
    chance: None,
};

/// What all four have in common.
const NEXT_SYMBOLS: Metric = Metric {
    name: "",
    unit: Unit::Fraction,
    better: Direction::Higher,
    meaning: "",
    chance_of: None,
    cite: "Butoi et al. 2025, §3.3",
};

/// The true sets and the answers, where both are known.
fn known<'a>(example: &Example<'a>) -> Option<(&'a [NextSet], &'a NextAnswer)> {
    let truth = example.truth().next.as_ref().filter(|_| example.truth().label)?;
    Some((truth, example.prediction().next.as_ref()?))
}

/// Whether the choice at an index of a row may come: a symbol, or the end as the last choice.
fn allowed(set: &NextSet, index: usize, choices: usize) -> bool {
    if index + 1 == choices { set.end() } else { set.contains(Symbol(index as u16)) }
}

fn cross_entropy(example: &Example<'_>) -> Option<Ratio> {
    let (truth, NextAnswer::Logits(rows)) = known(example)? else { return None };
    let choices = example.choices();
    let row_loss = |(set, row): (&NextSet, &Vec<f64>)| -> f64 {
        let losses = row.iter().enumerate().map(|(i, &z)| binary_cross_entropy(allowed(set, i, choices), z));
        losses.sum()
    };
    let total: f64 = truth.iter().zip(rows).map(row_loss).sum();
    Some(Ratio::once(total / (example.prefixes() * choices) as f64))
}

/// How many answers and how many whole sets are correct.
struct Correct {
    symbols: usize,
    sets: usize,
}

fn correct(example: &Example<'_>) -> Option<Correct> {
    let (truth, answer) = known(example)?;
    let choices = example.choices();
    let correct: Vec<usize> = match answer {
        NextAnswer::Logits(rows) => count_correct(truth, rows, choices, |&z| {
            // NaN is no answer.
            if z.is_nan() { None } else { Some(z >= 0.0) }
        }),
        NextAnswer::Sets(rows) => count_correct(truth, rows, choices, |&in_set| Some(in_set)),
    };
    let sets = correct.iter().filter(|&&n| n == choices).count();
    Some(Correct { symbols: correct.iter().sum(), sets })
}

/// The number of correct answers at each prefix.
fn count_correct<T>(
    truth: &[NextSet],
    rows: &[Vec<T>],
    choices: usize,
    in_set: impl Fn(&T) -> Option<bool>,
) -> Vec<usize> {
    let correct = |set: &NextSet, row: &[T]| {
        row.iter().enumerate().filter(|(i, x)| in_set(x) == Some(allowed(set, *i, choices))).count()
    };
    truth.iter().zip(rows).map(|(set, row)| correct(set, row)).collect()
}

/// How many choices may come at the prefixes of an example, of how many.
fn share(example: &Example<'_>) -> Option<(usize, usize)> {
    let (truth, _) = known(example)?;
    Some((truth.iter().map(NextSet::size).sum(), example.prefixes() * example.choices()))
}

/// The same as a fraction, of an example that has a cross-entropy.
fn share_of(example: &Example<'_>) -> Option<f64> {
    let (_, NextAnswer::Logits(_)) = known(example)? else { return None };
    share(example).map(|(yes, n)| yes as f64 / n as f64)
}

fn symbol_chance(examples: &[Example<'_>]) -> Option<f64> {
    let shares: Vec<(usize, usize)> = examples.iter().filter_map(share).collect();
    let (yes, n) = shares.iter().fold((0, 0), |(yes, n), share| (yes + share.0, n + share.1));
    majority_share(yes as f64, n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prediction;
    use wug_dataset::Labelled;
    use wug_language::{Alphabet, Language, registry};

    fn rows(language: &dyn Language, sets: &[NextSet], height: f64) -> NextAnswer {
        let choices = language.alphabet().len() + 1;
        let row =
            |set| (0..choices).map(|i| if allowed(set, i, choices) { height } else { -height }).collect();
        NextAnswer::Logits(sets.iter().map(row).collect())
    }

    #[test]
    fn the_oracle_scores_one_and_its_opposite_zero() {
        let dyck = registry::build("dyck-2-3").unwrap();
        let word = dyck.alphabet().parse("(0 (1 )1 )0").unwrap();
        let sets = dyck.next_sets(&word);
        let truth = Labelled { next: Some(sets.clone()), ..Labelled::new(word, true) };
        for (height, accuracy, loss) in [(1e4, 1.0, 0.0), (-1e4, 0.0, 1e4)] {
            let prediction =
                Prediction { next: Some(rows(dyck.as_ref(), &sets, height)), ..Prediction::default() };
            let example = [Example::new(&truth, &prediction, dyck.alphabet()).unwrap()];
            assert_eq!(NEXT_SYMBOLS_CROSS_ENTROPY.score(&example).value(), Some(loss));
            for metric in
                [&NEXT_SYMBOLS_SYMBOL_ACCURACY, &NEXT_SYMBOLS_SET_ACCURACY, &NEXT_SYMBOLS_STRING_ACCURACY]
            {
                assert_eq!(metric.score(&example).value(), Some(accuracy), "{}", metric.metric.name);
            }
        }
    }

    #[test]
    fn chance_is_what_the_best_constant_scores() {
        let alphabet = Alphabet::new(["a", "b", "c"]);
        let truth = Labelled { next: Some(vec![NextSet::only_end()]), ..Labelled::new(vec![], true) };
        let constant = libm::log(0.25 / 0.75); // one of four may come
        let next = Some(NextAnswer::Logits(vec![vec![constant; 4]]));
        let prediction = Prediction { next, ..Prediction::default() };
        let example = [Example::new(&truth, &prediction, &alphabet).unwrap()];
        let loss = NEXT_SYMBOLS_CROSS_ENTROPY.score(&example);
        assert!((loss.value().unwrap() - loss.chance.unwrap()).abs() < 1e-15);
        let accuracy = NEXT_SYMBOLS_SYMBOL_ACCURACY.score(&example);
        assert_eq!((accuracy.value(), accuracy.chance), (Some(0.75), Some(0.75)));
    }
}
