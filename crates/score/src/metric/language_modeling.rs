//! How well are members predicted symbol by symbol? Cross-entropy, how low it can be, and what is above that.
//!
//! The released code averages each string's nats per symbol over the strings
//! (`language_modeling_cross_entropy`), so a symbol of a short string weighs more. Its optimum is therefore
//! not the sampler `p` but `q(w) = p(w) / (n + 1) / Z`, where `n` is the length of `w` and `Z` is the mean of
//! `1 / (n + 1)`: among all distributions `q`, it is the one with the lowest mean of `-ln q(w) / (n + 1)`.
//! The metrics with `symbol` in their names pool all symbols of all strings, and there the sampler itself is
//! the optimum. Either optimum is one in expectation; on a finite sample a model may fall below it by luck.
//! Negatives, and strings without an answer, are left out.

use super::{Direction, ExampleMetric, Metric, MetricUnit, mean_over};
use crate::chance::uniform;
use crate::{Example, Ratio};

/// Each member's nats per symbol, its end included, averaged over members: the released figure.
///
/// ```
/// use wug_dataset::{Labelled, language::{Alphabet, Symbol}};
/// use wug_score::{Example, Prediction, metric::*};
/// let alphabet = Alphabet::new(["a"]);
/// let truths = [Labelled::new(vec![], true), Labelled::new(vec![Symbol(0); 2], true)];
/// // One symbol (the end) at 4 nats; three symbols at 1 nat each.
/// let predicts = |logs| Prediction { log_probs: Some(logs), ..Prediction::default() };
/// let answers = [vec![-4.0], vec![-1.0; 3]].map(predicts);
/// let examples = [0, 1].map(|i| Example::new(&truths[i], &answers[i], &alphabet).unwrap());
/// assert_eq!(LANGUAGE_MODELING_CROSS_ENTROPY.score(&examples).value(), Some((4.0 + 1.0) / 2.0));
/// assert_eq!(LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY.score(&examples).value(), Some((4.0 + 3.0) / 4.0));
/// ```
pub static LANGUAGE_MODELING_CROSS_ENTROPY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_cross_entropy",
        meaning: "nats per symbol of each member, averaged over members",
        chance_of: UNIFORM,
        ..LANGUAGE_MODELING
    },
    each: |e| Some(per_string(e, nats(e)?)),
    chance: Some(uniform_chance),
};

/// What [`LANGUAGE_MODELING_CROSS_ENTROPY`] would be of the best possible model.
///
/// ```
/// use wug_dataset::{Labelled, language::{Symbol, registry}};
/// use wug_score::{Example, Prediction, mean_inverse_length, metric::*};
/// let repeat = registry::build("repeat-01").unwrap();
/// let sampler = repeat.by_length(0..=2).unwrap(); // the empty string and 01, one half each
/// let truths = [Labelled::new(vec![], true), Labelled::new(vec![Symbol(0), Symbol(1)], true)];
/// let z = mean_inverse_length([0, 2]).unwrap(); // (1 + 1/3) / 2 = 2/3
/// let prediction = Prediction::default();
/// let examples = truths.each_ref().map(|truth| {
///     Example::new(truth, &prediction, repeat.alphabet()).unwrap().drawn_from(sampler.as_ref(), z)
/// });
/// // The best model gives them 3/4 and 1/4: 1/2 over 1 and over 3, divided by 2/3.
/// let expected = (-0.75_f64.ln() - 0.25_f64.ln() / 3.0) / 2.0;
/// assert!((LANGUAGE_MODELING_OPTIMUM.score(&examples).value().unwrap() - expected).abs() < 1e-12);
/// // Over all symbols: two strings at ln 2, four symbols.
/// let pooled = LANGUAGE_MODELING_SYMBOL_OPTIMUM.score(&examples).value().unwrap();
/// assert!((pooled - 2.0 * 2.0_f64.ln() / 4.0).abs() < 1e-12);
/// ```
pub static LANGUAGE_MODELING_OPTIMUM: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_optimum",
        meaning: "what the best possible model would score as language_modeling_cross_entropy",
        ..LANGUAGE_MODELING
    },
    each: |e| Some(per_string(e, tilted(e)?)),
    chance: None,
};

/// How far [`LANGUAGE_MODELING_CROSS_ENTROPY`] is above its optimum, over the members for
/// which both are known.
///
/// ```
/// use wug_dataset::{Labelled, language::registry};
/// use wug_score::{Example, Prediction, metric::*};
/// let repeat = registry::build("repeat-01").unwrap();
/// let sampler = repeat.by_length(0..=0).unwrap(); // always the empty string, at 0 nats
/// let truth = Labelled::new(vec![], true);
/// let prediction = Prediction { log_probs: Some(vec![-0.5]), ..Prediction::default() };
/// let example = Example::new(&truth, &prediction, repeat.alphabet()).unwrap().drawn_from(sampler.as_ref(), 1.0);
/// assert_eq!(LANGUAGE_MODELING_EXCESS.score(&[example]).value(), Some(0.5));
/// assert_eq!(LANGUAGE_MODELING_SYMBOL_EXCESS.score(&[example]).value(), Some(0.5));
/// ```
pub static LANGUAGE_MODELING_EXCESS: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_excess",
        meaning: "language_modeling_cross_entropy above its optimum",
        ..LANGUAGE_MODELING
    },
    each: |e| Some(per_string(e, nats(e)? - tilted(e)?)),
    chance: None,
};

/// Nats per symbol, over all symbols of all members. Worked by hand at [`LANGUAGE_MODELING_CROSS_ENTROPY`].
pub static LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_symbol_cross_entropy",
        meaning: "nats per symbol, averaged over all symbols of all members",
        chance_of: UNIFORM,
        ..LANGUAGE_MODELING
    },
    each: |e| Some(per_symbol(e, nats(e)?)),
    chance: Some(uniform_chance),
};

/// What [`LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY`] is of the sampler itself. Worked
/// by hand at [`LANGUAGE_MODELING_OPTIMUM`].
pub static LANGUAGE_MODELING_SYMBOL_OPTIMUM: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_symbol_optimum",
        meaning: "what the sampler itself scores as language_modeling_symbol_cross_entropy",
        ..LANGUAGE_MODELING
    },
    each: |e| Some(per_symbol(e, sampled(e)?)),
    chance: None,
};

/// How far [`LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY`] is above its optimum. Worked
/// by hand at [`LANGUAGE_MODELING_EXCESS`].
pub static LANGUAGE_MODELING_SYMBOL_EXCESS: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_symbol_excess",
        meaning: "language_modeling_symbol_cross_entropy above its optimum",
        ..LANGUAGE_MODELING
    },
    each: |e| Some(per_symbol(e, nats(e)? - sampled(e)?)),
    chance: None,
};

/// [`LANGUAGE_MODELING_SYMBOL_EXCESS`] on a scale that is the same for all languages: 0 is the sampler itself, 1 is giving
/// everything the same probability. Lan, Chemla and Katzir (2023) ask for such a scale and leave it open.
///
/// ```
/// use wug_dataset::{Labelled, language::registry};
/// use wug_score::{Example, Prediction, metric::*};
/// let repeat = registry::build("repeat-01").unwrap();
/// let sampler = repeat.by_length(0..=0).unwrap(); // always the empty string, at 0 nats
/// let truth = Labelled::new(vec![], true);
/// // Half of ln 3, the cost of one out of 0, 1 and the end.
/// let prediction = Prediction { log_probs: Some(vec![-0.5 * 3.0_f64.ln()]), ..Prediction::default() };
/// let example = Example::new(&truth, &prediction, repeat.alphabet()).unwrap().drawn_from(sampler.as_ref(), 1.0);
/// let value = LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE.score(&[example]).value().unwrap();
/// assert!((value - 0.5).abs() < 1e-12);
/// ```
pub static LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "language_modeling_symbol_excess_of_chance",
        unit: MetricUnit::OfChance,
        meaning: "language_modeling_symbol_excess as a share of that of chance",
        chance_of: UNIFORM,
        cite: "Lan et al. 2023, §3.5",
        ..LANGUAGE_MODELING
    },
    each: |e| {
        let best = sampled(e)?;
        Some(Ratio::new(nats(e)? - best, uniform(e.choices())? * e.prefixes() as f64 - best))
    },
    chance: Some(|examples| mean_over(examples, |e| nats(e).and(sampled(e)).map(|_| 1.0))),
};

const UNIFORM: Option<&str> = Some("giving every symbol and the end the same probability");

/// What all seven have in common.
const LANGUAGE_MODELING: Metric = Metric {
    name: "",
    unit: MetricUnit::NatsPerSymbol,
    better: Direction::Lower,
    meaning: "",
    chance_of: None,
    cite: "Butoi et al. 2025, §3.3",
};

/// The model's cost of a whole member in nats, its end included.
fn nats(example: &Example<'_>) -> Option<f64> {
    let logs = example.prediction().log_probs.as_ref().filter(|_| example.truth().label)?;
    Some(-logs.iter().sum::<f64>())
}

/// The sampler's cost of it.
fn sampled(example: &Example<'_>) -> Option<f64> {
    example.drawn().filter(|_| example.truth().label).map(|drawn| -drawn.log_prob)
}

/// The sampler's cost of it when short strings weigh more.
fn tilted(example: &Example<'_>) -> Option<f64> {
    // −ln q(w) = −ln p(w) + ln(n + 1) + ln Z.
    let inverse = example.drawn()?.mean_inverse_length;
    Some(sampled(example)? + libm::log(example.prefixes() as f64) + libm::log(inverse))
}

fn per_string(example: &Example<'_>, nats: f64) -> Ratio {
    Ratio::once(nats / example.prefixes() as f64)
}

fn per_symbol(example: &Example<'_>, nats: f64) -> Ratio {
    Ratio::new(nats, example.prefixes() as f64)
}

fn uniform_chance(examples: &[Example<'_>]) -> Option<f64> {
    mean_over(examples, |e| nats(e).and_then(|_| uniform(e.choices())))
}

#[cfg(test)]
mod tests;
