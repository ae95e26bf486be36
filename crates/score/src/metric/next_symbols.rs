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

use super::{Direction, ExampleMetric, Metric, MetricUnit, Score};
use crate::chance::{majority_share, share_entropy};
use crate::{Aggregate, Example, NextAnswer, Ratio};

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
        unit: MetricUnit::Nats,
        better: Direction::Lower,
        meaning: "minus the log-probability of each symbol's correct yes or no, averaged within and over members",
        chance_of: Some("always giving the share of symbols that may come"),
        ..NEXT_SYMBOLS
    },
    each: |example| marked(example)?.cross_entropy(),
    chance: Some(|examples| entropy_chance(&examples.iter().filter_map(marked).collect::<Vec<_>>())),
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
    each: |example| counted(example).map(|marks| marks.symbol_accuracy()),
    chance: Some(|examples| symbol_chance(&examples.iter().filter_map(counted).collect::<Vec<_>>())),
};

/// The share of prefixes whose set is entirely correct. Worked by hand at [`NEXT_SYMBOLS_SYMBOL_ACCURACY`].
pub static NEXT_SYMBOLS_SET_ACCURACY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "next_symbols_set_accuracy",
        meaning: "share of prefixes whose next-symbol set is entirely correct",
        ..NEXT_SYMBOLS
    },
    each: |example| counted(example).map(|marks| marks.set_accuracy()),
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
    each: |example| counted(example).map(|marks| marks.string_accuracy()),
    chance: None,
};

/// What all four have in common.
const NEXT_SYMBOLS: Metric = Metric {
    name: "",
    unit: MetricUnit::Fraction,
    better: Direction::Higher,
    meaning: "",
    chance_of: None,
    cite: "Butoi et al. 2025, §3.3",
};

/// How the answers at all prefixes of one member compare with its true sets: what the four metrics are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NextMarks {
    /// How many prefixes the string has.
    prefixes: usize,
    /// How many answers there are in all.
    answers: usize,
    /// How many of them should be yes.
    allowed: usize,
    /// How many are correct.
    correct: usize,
    /// How many prefixes have no incorrect one.
    sets: usize,
    /// The cross-entropy of all answers, if they have probabilities.
    nats: Option<f64>,
}

impl NextMarks {
    /// Those of log-odds: for each prefix as many as there are choices, one per symbol, then one for the end.
    ///
    /// ```
    /// use wug_dataset::language::{NextSet, Symbol};
    /// use wug_score::metric::{NextMarks, next_symbol_scores};
    /// let sets = [NextSet::of([Symbol(0)]), NextSet::only_end()];
    /// let marks = NextMarks::of_logits(&sets, 2, [[1.0, -1.0], [2.0, 0.5]]);
    /// let scores = next_symbol_scores(&[marks]);
    /// assert_eq!((scores[1].metric.name, scores[1].value()), ("next_symbols_symbol_accuracy", Some(0.75)));
    /// ```
    pub fn of_logits(
        truth: &[NextSet],
        choices: usize,
        rows: impl IntoIterator<Item = impl IntoIterator<Item = f64>>,
    ) -> Self {
        let mut nats = Softplus::default();
        let answer = |z: f64, should: bool| {
            // −ln σ(z) is ln(1 + e^−z) for a yes, −ln σ(−z) is ln(1 + e^z) for a no: one softplus for each
            // answer.
            nats.add(if should { -z } else { z });
            is_correct(z, should)
        };
        let marks = Self::of(truth, choices, rows, answer);
        Self { nats: Some(nats.total()), ..marks }
    }

    /// Those of sets, which have no probabilities.
    fn of_sets(truth: &[NextSet], choices: usize, rows: &[Vec<bool>]) -> Self {
        Self::of(truth, choices, rows.iter().map(|row| row.iter().copied()), |yes, should| yes == should)
    }

    fn of<T>(
        truth: &[NextSet],
        choices: usize,
        rows: impl IntoIterator<Item = impl IntoIterator<Item = T>>,
        mut is_correct: impl FnMut(T, bool) -> bool,
    ) -> Self {
        let mut marks = Self::default();
        for (set, row) in truth.iter().zip(rows) {
            let answers = row.into_iter().enumerate();
            let correct: usize =
                answers.map(|(i, x)| usize::from(is_correct(x, allowed(set, i, choices)))).sum();
            marks.prefixes += 1;
            marks.answers += choices;
            marks.allowed += set.size();
            marks.correct += correct;
            marks.sets += usize::from(correct == choices);
        }
        marks
    }

    fn cross_entropy(&self) -> Option<Ratio> {
        Some(Ratio::once(self.nats? / self.answers as f64))
    }

    fn symbol_accuracy(&self) -> Ratio {
        Ratio::new(self.correct as f64, self.answers as f64)
    }

    fn set_accuracy(&self) -> Ratio {
        Ratio::new(self.sets as f64, self.prefixes as f64)
    }

    fn string_accuracy(&self) -> Ratio {
        Ratio::correct(self.sets == self.prefixes)
    }
}

/// The scores of members by each metric of next-symbol sets, in the order of [`METRICS`](super::METRICS).
pub fn next_symbol_scores(members: &[NextMarks]) -> [Score; 4] {
    let ratios = |each: fn(&NextMarks) -> Ratio| members.iter().map(each).collect::<Vec<_>>();
    let entropies: Vec<Ratio> = members.iter().filter_map(NextMarks::cross_entropy).collect();
    [
        NEXT_SYMBOLS_CROSS_ENTROPY.score_of(&entropies, entropy_chance(members)),
        NEXT_SYMBOLS_SYMBOL_ACCURACY.score_of(&ratios(NextMarks::symbol_accuracy), symbol_chance(members)),
        NEXT_SYMBOLS_SET_ACCURACY.score_of(&ratios(NextMarks::set_accuracy), None),
        NEXT_SYMBOLS_STRING_ACCURACY.score_of(&ratios(NextMarks::string_accuracy), None),
    ]
}

/// The marks of an example whose true sets and answers are both known.
fn marked(example: &Example<'_>) -> Option<NextMarks> {
    match known(example)? {
        (truth, NextAnswer::Logits(rows)) => {
            let rows = rows.iter().map(|row| row.iter().copied());
            Some(NextMarks::of_logits(truth, example.choices(), rows))
        }
        _ => counted(example),
    }
}

/// The same without a cross-entropy, which costs more than all the rest.
fn counted(example: &Example<'_>) -> Option<NextMarks> {
    let (truth, answer) = known(example)?;
    let choices = example.choices();
    Some(match answer {
        NextAnswer::Logits(rows) => {
            NextMarks::of(truth, choices, rows.iter().map(|row| row.iter().copied()), is_correct)
        }
        NextAnswer::Sets(rows) => NextMarks::of_sets(truth, choices, rows),
    })
}

/// The true sets and the answers, where both are known.
fn known<'a>(example: &Example<'a>) -> Option<(&'a [NextSet], &'a NextAnswer)> {
    let truth = example.truth().next.as_ref().filter(|_| example.truth().label)?;
    Some((truth, example.prediction().next.as_ref()?))
}

/// Whether log-odds give the correct answer. NaN is no answer.
fn is_correct(z: f64, should: bool) -> bool {
    !z.is_nan() && (z >= 0.0) == should
}

/// Whether the choice at an index of a row may come: a symbol, or the end as the last choice.
fn allowed(set: &NextSet, index: usize, choices: usize) -> bool {
    if index + 1 == choices { set.end() } else { set.contains(Symbol(index as u16)) }
}

/// A sum of `ln(1 + exp(x))`, with one logarithm for many terms: `max(x, 0) + ln(1 + exp(-|x|))`, and the product of the second
/// parts is kept less one, so that small terms keep their digits.
#[derive(Default)]
struct Softplus {
    sum: f64,
    product_less_one: f64,
    terms: u32,
}

impl Softplus {
    /// Each is at most two, so that their product stays far below the largest number.
    const TERMS: u32 = 64;

    fn add(&mut self, x: f64) {
        let small = libm::exp(-x.abs());
        self.sum += x.max(0.0);
        // (1 + p)(1 + s) − 1 = p + s + s·p, in which no 1 swallows the small terms of a confident model.
        self.product_less_one += small + small * self.product_less_one;
        self.terms += 1;
        if self.terms == Self::TERMS {
            *self = Self { sum: self.total(), ..Self::default() };
        }
    }

    fn total(&self) -> f64 {
        self.sum + libm::log1p(self.product_less_one)
    }
}

/// The entropy of a yes with the mean share of answers that should be one, over members whose answers have probabilities.
fn entropy_chance(members: &[NextMarks]) -> Option<f64> {
    let shares = members.iter().filter(|marks| marks.nats.is_some());
    let shares: Vec<f64> = shares.map(|marks| marks.allowed as f64 / marks.answers as f64).collect();
    share_entropy(Aggregate::Mean.of(&shares)?, 1.0)
}

fn symbol_chance(members: &[NextMarks]) -> Option<f64> {
    let sum = |of: fn(&NextMarks) -> usize| members.iter().map(of).sum::<usize>() as f64;
    majority_share(sum(|marks| marks.allowed), sum(|marks| marks.answers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prediction;
    use crate::metric::binary_cross_entropy;
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
    fn a_sum_of_many_terms_is_that_of_their_cross_entropies() {
        let of = |terms: &[f64]| {
            let mut sum = Softplus::default();
            terms.iter().for_each(|&x| sum.add(x));
            sum.total()
        };
        let terms: Vec<f64> = (0..1000).map(|i| f64::from((i * 7919) % 1000 - 500) / 10.0).collect();
        let exact: f64 = terms.iter().map(|&x| binary_cross_entropy(false, x)).sum();
        assert!((of(&terms) / exact - 1.0).abs() < 1e-14);
        // Terms far below one keep their digits, huge ones do not overflow, and what is not a number stays none.
        assert!((of(&[-40.0; 100]) / (100.0 * libm::exp(-40.0)) - 1.0).abs() < 1e-13);
        assert_eq!(of(&[1e300, 1.0, f64::NEG_INFINITY]).to_bits(), 1e300_f64.to_bits());
        assert!(of(&[0.0, f64::INFINITY]).is_infinite() && of(&[f64::NAN, 1.0]).is_nan());
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
