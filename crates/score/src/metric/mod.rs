//! The metrics: one file per family, one entry in [`METRICS`]. A [`Metric`] says what is measured; an [`ExampleMetric`]
//! also says how an example is scored.

mod generalization_index;
mod language_modeling;
mod learning_speed;
mod minimal_pairs;
mod next_symbols;
mod preference;
mod recognition;

use serde::{Deserialize, Serialize};

pub use generalization_index::{
    CATEGORICAL_ACCEPTANCE, CATEGORICAL_ACCURACY, DETERMINISTIC_ACCEPTANCE, DETERMINISTIC_ACCURACY,
    GENERALIZATION_INDEX, SOLVED_LENGTH,
};
pub use language_modeling::{
    LANGUAGE_MODELING_CROSS_ENTROPY, LANGUAGE_MODELING_EXCESS, LANGUAGE_MODELING_OPTIMUM,
    LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY, LANGUAGE_MODELING_SYMBOL_EXCESS,
    LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE, LANGUAGE_MODELING_SYMBOL_OPTIMUM,
};
pub use learning_speed::{
    ANSWERS_SEEN, HIGHEST_ACCURACY, LAST_ACCURACY, WADE, WADE_ABOVE_CHANCE, WADE_BEFORE_TRAINING,
    learning_speed,
};
pub use minimal_pairs::{
    PAIR_ACCURACY_MEAN, PAIR_ACCURACY_MEAN_HALF_TIES, PAIR_ACCURACY_MEAN_PROBABILITY,
    PAIR_ACCURACY_MEAN_PROBABILITY_HALF_TIES, PAIR_ACCURACY_SUM, PAIR_ACCURACY_SUM_HALF_TIES, PAIR_CEILING,
    PAIR_CEILING_HALF_TIES, PAIR_CEILING_INDIFFERENT, PERPLEXITY, PERPLEXITY_FLOOR, pair_accuracies,
    pair_accuracy, perplexity, perplexity_of,
};
pub use next_symbols::{
    NEXT_SYMBOLS_CROSS_ENTROPY, NEXT_SYMBOLS_SET_ACCURACY, NEXT_SYMBOLS_STRING_ACCURACY,
    NEXT_SYMBOLS_SYMBOL_ACCURACY, NextMarks, next_symbol_scores,
};
pub use preference::{
    AGREEMENT_WITH_NONE, DESCRIPTION_LENGTH, DESCRIPTION_LENGTH_BITS, DESCRIPTION_LENGTH_PER_EXAMPLE,
    EXACT_MATCH, PERFECT_AGREEMENT, agreement, bits, description_lengths,
};
pub use recognition::{RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY, binary_cross_entropy};

use crate::{Aggregate, Bootstrap, Example, Interval, Ratio, Totals};

/// Every metric, in the order reports list them.
pub static METRICS: &[&Metric] = &[
    &RECOGNITION_ACCURACY.metric,
    &RECOGNITION_CROSS_ENTROPY.metric,
    &LANGUAGE_MODELING_CROSS_ENTROPY.metric,
    &LANGUAGE_MODELING_OPTIMUM.metric,
    &LANGUAGE_MODELING_EXCESS.metric,
    &LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY.metric,
    &LANGUAGE_MODELING_SYMBOL_OPTIMUM.metric,
    &LANGUAGE_MODELING_SYMBOL_EXCESS.metric,
    &LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE.metric,
    &NEXT_SYMBOLS_CROSS_ENTROPY.metric,
    &NEXT_SYMBOLS_SYMBOL_ACCURACY.metric,
    &NEXT_SYMBOLS_SET_ACCURACY.metric,
    &NEXT_SYMBOLS_STRING_ACCURACY.metric,
    &DETERMINISTIC_ACCURACY,
    &DETERMINISTIC_ACCEPTANCE,
    &CATEGORICAL_ACCURACY,
    &CATEGORICAL_ACCEPTANCE,
    &GENERALIZATION_INDEX,
    &SOLVED_LENGTH,
    &EXACT_MATCH,
    &PERFECT_AGREEMENT,
    &AGREEMENT_WITH_NONE,
    &DESCRIPTION_LENGTH,
    &DESCRIPTION_LENGTH_BITS,
    &DESCRIPTION_LENGTH_PER_EXAMPLE,
    &WADE,
    &WADE_ABOVE_CHANCE,
    &WADE_BEFORE_TRAINING,
    &HIGHEST_ACCURACY,
    &LAST_ACCURACY,
    &ANSWERS_SEEN,
    &PAIR_ACCURACY_SUM,
    &PAIR_ACCURACY_MEAN,
    &PAIR_ACCURACY_MEAN_PROBABILITY,
    &PAIR_CEILING,
    &PAIR_CEILING_INDIFFERENT,
    &PAIR_ACCURACY_SUM_HALF_TIES,
    &PAIR_ACCURACY_MEAN_HALF_TIES,
    &PAIR_ACCURACY_MEAN_PROBABILITY_HALF_TIES,
    &PAIR_CEILING_HALF_TIES,
    &PERPLEXITY,
    &PERPLEXITY_FLOOR,
];

/// The metrics that score examples, in the same order.
pub static EXAMPLE_METRICS: &[&ExampleMetric] = &[
    &RECOGNITION_ACCURACY,
    &RECOGNITION_CROSS_ENTROPY,
    &LANGUAGE_MODELING_CROSS_ENTROPY,
    &LANGUAGE_MODELING_OPTIMUM,
    &LANGUAGE_MODELING_EXCESS,
    &LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY,
    &LANGUAGE_MODELING_SYMBOL_OPTIMUM,
    &LANGUAGE_MODELING_SYMBOL_EXCESS,
    &LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE,
    &NEXT_SYMBOLS_CROSS_ENTROPY,
    &NEXT_SYMBOLS_SYMBOL_ACCURACY,
    &NEXT_SYMBOLS_SET_ACCURACY,
    &NEXT_SYMBOLS_STRING_ACCURACY,
];

/// The metric of a name.
///
/// ```
/// assert_eq!(wug_score::metric::find("recognition_accuracy").unwrap().unit.name(), "fraction");
/// assert!(wug_score::metric::find("vibes").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Metric> {
    METRICS.iter().copied().find(|metric| metric.name == name)
}

/// What a value is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricUnit {
    /// A share of a whole, from 0 to 1.
    Fraction,
    /// Nats, of a yes-or-no answer or of all that is sent.
    Nats,
    /// Bits, of all that is sent.
    Bits,
    /// Nats per symbol, the end of a string counted as one.
    NatsPerSymbol,
    /// What chance has above the best possible, as one; the best possible is zero.
    OfChance,
    /// How many times more strings to test on, and fewer to train on.
    Factor,
    /// Symbols of a string.
    Symbols,
    /// Symbols that a model hesitates between, as it were: e to the nats per symbol.
    Perplexity,
}

impl MetricUnit {
    /// Its name, as records write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fraction => "fraction",
            Self::Nats => "nats",
            Self::Bits => "bits",
            Self::NatsPerSymbol => "nats_per_symbol",
            Self::OfChance => "of_chance",
            Self::Factor => "factor",
            Self::Symbols => "symbols",
            Self::Perplexity => "perplexity",
        }
    }
}

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Higher,
    Lower,
}

impl Direction {
    /// Whether `x` is better than `y`; equals are not.
    pub fn improves(self, x: f64, y: f64) -> bool {
        match self {
            Self::Higher => x > y,
            Self::Lower => x < y,
        }
    }
}

/// What a metric is: all that is needed to read its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name in records: for the metrics of a released code, the name they have there.
    pub name: &'static str,
    /// What its values are numbers of.
    pub unit: MetricUnit,
    /// Which values are better.
    pub better: Direction,
    /// What it measures, in one line.
    pub meaning: &'static str,
    /// What the chance level is that of, if there is one.
    pub chance_of: Option<&'static str>,
    /// Where it was defined.
    pub cite: &'static str,
}

impl Metric {
    /// Whether higher values are better.
    pub fn higher_is_better(&self) -> bool {
        self.better == Direction::Higher
    }

    /// The score of what was counted elsewhere, with the chance level on the same strings.
    pub fn measured(&'static self, totals: Totals, chance: Option<f64>) -> Score {
        Score { metric: self, totals, spread: None, chance, interval: None }
    }
}

/// The chance level on some examples.
type Chance = fn(&[Example<'_>]) -> Option<f64>;

/// A metric that scores examples one by one.
#[derive(Debug)]
pub struct ExampleMetric {
    pub metric: Metric,
    /// One example's part; `None` where the metric does not apply.
    each: fn(&Example<'_>) -> Option<Ratio>,
    /// What a model that has not read the examples scores on them.
    chance: Option<Chance>,
}

impl PartialEq for ExampleMetric {
    fn eq(&self, other: &Self) -> bool {
        self.metric == other.metric
    }
}

impl ExampleMetric {
    /// One example's part of the score; `None` where the metric does not apply.
    pub fn ratio(&self, example: &Example<'_>) -> Option<Ratio> {
        (self.each)(example)
    }

    /// The parts of all examples to which the metric applies, in their order.
    pub fn ratios(&self, examples: &[Example<'_>]) -> Vec<Ratio> {
        examples.iter().filter_map(self.each).collect()
    }

    /// The chance level on these examples. A stratum of one label has none: compare it with the whole set's.
    pub fn chance(&self, examples: &[Example<'_>]) -> Option<f64> {
        self.chance?(examples)
    }

    /// The score on these examples.
    pub fn score(&'static self, examples: &[Example<'_>]) -> Score {
        self.score_of(&self.ratios(examples), self.chance(examples))
    }

    /// The score of the parts of examples, which may have been computed on several threads, with the chance level on them.
    pub fn score_of(&'static self, ratios: &[Ratio], chance: Option<f64>) -> Score {
        let values: Option<Vec<f64>> = ratios.iter().map(|r| r.value()).collect();
        Score {
            metric: &self.metric,
            totals: Totals::of(ratios),
            spread: values.and_then(|values| Aggregate::PopulationStd.of(&values)),
            chance,
            interval: None,
        }
    }

    /// The score on these examples, with an interval over them.
    pub fn score_with_interval(&'static self, examples: &[Example<'_>], bootstrap: &Bootstrap) -> Score {
        let interval = bootstrap.over_examples(&self.ratios(examples));
        Score { interval, ..self.score(examples) }
    }
}

/// A measured value with its metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub metric: &'static Metric,
    /// The sums that the value is the ratio of.
    pub totals: Totals,
    /// The population standard deviation of the examples' own values (the shades of Figure 3 of
    /// Butoi et al. 2025).
    pub spread: Option<f64>,
    /// The chance level on the same examples.
    pub chance: Option<f64>,
    /// How sure the value is.
    pub interval: Option<Interval>,
}

impl Score {
    /// The value; `None` if there were no examples, or if it is no finite number.
    pub fn value(&self) -> Option<f64> {
        self.totals.value()
    }
}

/// The mean of `each` over the examples that it applies to; `None` without any.
fn mean_over(examples: &[Example<'_>], each: impl Fn(&Example<'_>) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = examples.iter().filter_map(each).collect();
    Aggregate::Mean.of(&values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_entries_are_complete() {
        let names: BTreeSet<&str> = METRICS.iter().map(|m| m.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
            assert!(std::ptr::eq(find(metric.name).unwrap(), *metric));
            assert!(!metric.meaning.is_empty() && metric.cite.contains("20"), "{}", metric.name);
            assert_eq!(serde_json::to_value(metric.unit).unwrap(), metric.unit.name());
            let costs = [
                MetricUnit::Nats,
                MetricUnit::Bits,
                MetricUnit::NatsPerSymbol,
                MetricUnit::OfChance,
                MetricUnit::Perplexity,
            ];
            let cost = costs.contains(&metric.unit) || std::ptr::eq(*metric, &raw const ANSWERS_SEEN);
            assert_eq!(metric.higher_is_better(), !cost, "{}", metric.name);
        }
    }

    #[test]
    fn every_example_metric_is_listed_and_names_its_chance_level() {
        for scored in EXAMPLE_METRICS {
            let (metric, chance) = (&scored.metric, scored.chance.is_some());
            assert!(std::ptr::eq(find(metric.name).unwrap(), metric));
            assert_eq!(metric.chance_of.is_some(), chance, "{}", metric.name);
        }
    }

    #[test]
    fn without_examples_every_score_is_undefined() {
        for scored in EXAMPLE_METRICS {
            let score = scored.score(&[]);
            assert_eq!((score.value(), score.spread, score.chance), (None, None, None));
            assert_eq!(score.totals, Totals::default());
        }
    }
}
