//! Does a model prefer the grammatical string? Accuracy on minimal pairs (Someya, Yoshida and Oseki 2024; the design is that of
//! Warstadt et al. 2020), how high it can be on the very pairs, and the perplexity of a corpus with its floor.
//!
//! Each accuracy names what is compared and what a tie counts. Some "bad" strings may be grammatical, or the good string itself:
//! ceiling and chance level are those of the pairs at hand.

use super::{Direction, Metric, MetricUnit, Score};
use crate::pairs::{PairComparison, StringScore, Ties};
use crate::{Ratio, Totals};

/// The share of pairs whose good string has the higher probability.
///
/// ```
/// use wug_score::{Totals, metric::PAIR_ACCURACY_SUM, pairs::{PairComparison, Ties}};
/// let pair = |good: f64, bad: f64| PairComparison::Sum.preference(&[good], &[bad], Ties::Wrong);
/// let score = PAIR_ACCURACY_SUM.measured(Totals::of(&[pair(-1.0, -2.0), pair(-1.0, -1.0)]), Some(0.25));
/// assert_eq!((score.value(), score.chance), (Some(0.5), Some(0.25)));
/// ```
pub static PAIR_ACCURACY_SUM: Metric = Metric {
    name: "pair_accuracy_sum",
    meaning: "share of pairs whose good string has a strictly higher probability",
    ..STRICT
};

/// The same with the mean of log-probabilities.
pub static PAIR_ACCURACY_MEAN: Metric = Metric {
    name: "pair_accuracy_mean",
    meaning: "share of pairs whose good string has a strictly higher mean log-probability per symbol, its end included",
    ..STRICT
};

/// The same with the mean of probabilities.
pub static PAIR_ACCURACY_MEAN_PROBABILITY: Metric = Metric {
    name: "pair_accuracy_mean_probability",
    meaning: "share of pairs whose good string has a strictly higher mean probability of its symbols, its end included",
    ..STRICT
};

/// [`PAIR_ACCURACY_SUM`], where ties count one half.
pub static PAIR_ACCURACY_SUM_HALF_TIES: Metric = Metric {
    name: "pair_accuracy_sum_half_ties",
    meaning: "pair_accuracy_sum, where a tie counts one half",
    ..HALF
};

/// [`PAIR_ACCURACY_MEAN`], where ties count one half.
pub static PAIR_ACCURACY_MEAN_HALF_TIES: Metric = Metric {
    name: "pair_accuracy_mean_half_ties",
    meaning: "pair_accuracy_mean, where a tie counts one half",
    ..HALF
};

/// [`PAIR_ACCURACY_MEAN_PROBABILITY`], where ties count one half.
pub static PAIR_ACCURACY_MEAN_PROBABILITY_HALF_TIES: Metric = Metric {
    name: "pair_accuracy_mean_probability_half_ties",
    meaning: "pair_accuracy_mean_probability, where a tie counts one half",
    ..HALF
};

/// What a model that knows the language, and has preferences of its own among its strings, scores on these very pairs on the average,
/// if ties are wrong.
pub static PAIR_CEILING: Metric = Metric {
    name: "pair_ceiling",
    meaning: "expected score on these pairs of a model that knows the language and has preferences of its own among its strings, which have nothing to do with the pairs: half of the bad strings that are grammatical fall below, and none that is the good string",
    chance_of: None,
    ..STRICT
};

/// The same of a model that finds all strings of the language and of a length equally likely: a bad string
/// that is grammatical is a tie, and wrong.
pub static PAIR_CEILING_INDIFFERENT: Metric = Metric {
    name: "pair_ceiling_indifferent",
    meaning: "score on these pairs of a model that knows the language and finds its strings of a length equally likely: every bad string that is grammatical is a tie",
    chance_of: None,
    ..STRICT
};

/// The same, if ties count one half or noise decides them.
pub static PAIR_CEILING_HALF_TIES: Metric = Metric {
    name: "pair_ceiling_half_ties",
    meaning: "expected score on these pairs of a model that knows the language, where a tie counts one half or noise decides it",
    chance_of: None,
    ..HALF
};

/// The exponential of the mean nats per symbol.
pub static PERPLEXITY: Metric = Metric {
    name: "perplexity",
    unit: MetricUnit::Perplexity,
    better: Direction::Lower,
    meaning: "e to the mean nats per symbol, over all symbols and ends of all strings",
    chance_of: Some("giving every symbol and the end the same probability"),
    cite: CITE,
};

/// The perplexity of the grammar itself on these very strings. It is no entropy: that of other strings of the same law is another.
pub static PERPLEXITY_FLOOR: Metric = Metric {
    name: "perplexity_floor",
    meaning: "perplexity of these very strings by the law that they were drawn from, which no model is below on the average: the probability of the length (its share among these strings, where none is drawn twice) times that of the string among those of its length",
    chance_of: None,
    ..PERPLEXITY
};

const CITE: &str = "Someya et al. 2024, §3.3";

const STRICT: Metric = Metric {
    name: "",
    unit: MetricUnit::Fraction,
    better: Direction::Higher,
    meaning: "",
    chance_of: Some("a fair coin on every pair of two strings, and nothing for a pair of one string twice"),
    cite: CITE,
};

const HALF: Metric = Metric { chance_of: Some("a fair coin"), ..STRICT };

/// The accuracy with a comparison and a rule for ties.
pub fn pair_accuracy(comparison: PairComparison, ties: Ties) -> &'static Metric {
    match (comparison, ties) {
        (PairComparison::Sum, Ties::Wrong) => &PAIR_ACCURACY_SUM,
        (PairComparison::Mean, Ties::Wrong) => &PAIR_ACCURACY_MEAN,
        (PairComparison::MeanProbability, Ties::Wrong) => &PAIR_ACCURACY_MEAN_PROBABILITY,
        (PairComparison::Sum, Ties::Half) => &PAIR_ACCURACY_SUM_HALF_TIES,
        (PairComparison::Mean, Ties::Half) => &PAIR_ACCURACY_MEAN_HALF_TIES,
        (PairComparison::MeanProbability, Ties::Half) => &PAIR_ACCURACY_MEAN_PROBABILITY_HALF_TIES,
    }
}

/// Every accuracy of pairs, each a good and a bad string. The chance level of strict accuracies depends on the strings themselves,
/// and is left out.
///
/// ```
/// use wug_score::{metric::pair_accuracies, pairs::StringScore};
/// let scores = pair_accuracies(&[[-1.0, -2.0], [-1.0, -1.0]].map(|pair| pair.map(|log| StringScore::new(&[log]))));
/// assert_eq!((scores[0].metric.name, scores[0].value()), ("pair_accuracy_sum", Some(0.5)));
/// assert_eq!((scores[3].metric.name, scores[3].value()), ("pair_accuracy_sum_half_ties", Some(0.75)));
/// ```
pub fn pair_accuracies(pairs: &[[StringScore; 2]]) -> Vec<Score> {
    let mut scores = Vec::new();
    for (ties, chance) in [(Ties::Wrong, None), (Ties::Half, Some(0.5))] {
        for comparison in PairComparison::ALL {
            let count = |[good, bad]: &[StringScore; 2]| comparison.preferred(good, bad, ties);
            let ratios: Vec<Ratio> = pairs.iter().map(count).collect();
            scores.push(pair_accuracy(comparison, ties).measured(Totals::of(&ratios), chance));
        }
    }
    scores
}

/// The sums of [`PERPLEXITY`] from those of nats over symbols.
///
/// ```
/// use wug_score::{Totals, metric::perplexity};
/// let nats = Totals { numerator: 4.0 * 3.0_f64.ln(), denominator: 4.0, n: 1 };
/// assert!((perplexity(nats).value().unwrap() - 3.0).abs() < 1e-12);
/// ```
pub fn perplexity(nats: Totals) -> Totals {
    // Without any symbol this is e⁰ and not NaN; `perplexity_of` gives such a corpus no value.
    let mean = nats.numerator / nats.denominator.max(1.0);
    Totals { numerator: libm::exp(mean), denominator: 1.0, n: nats.n }
}

/// [`PERPLEXITY`] of strings by the log-probabilities of their symbols and ends.
///
/// ```
/// use wug_score::metric::perplexity_of;
/// let half = 0.5_f64.ln();
/// assert!((perplexity_of(&[&[half, half][..], &[half]]).value().unwrap() - 2.0).abs() < 1e-12);
/// assert_eq!(perplexity_of(&[]).value(), None);
/// ```
pub fn perplexity_of(strings: &[&[f64]]) -> Score {
    let ratio = |logs: &&[f64]| Ratio::new(-logs.iter().sum::<f64>(), logs.len() as f64);
    let totals = Totals::of(&strings.iter().map(ratio).collect::<Vec<_>>());
    let totals = if totals.denominator > 0.0 { perplexity(totals) } else { Totals::default() };
    PERPLEXITY.measured(totals, None)
}
