//! Which of several rules a learner follows where its training pairs leave it open: agreement of its outputs, and the
//! description length of the rules' outputs (Kharitonov and Chaabouni 2021).

use super::{Direction, Metric, MetricUnit, Score};
use crate::{Ratio, Totals};

/// The share of outputs that are those of a rule, symbol for symbol.
///
/// ```
/// use wug_score::{Ratio, Totals, metric::EXACT_MATCH};
/// let outputs = [("b b", "b b"), ("b b b", "b b"), ("b", "b")];
/// let ratios = outputs.map(|(given, rule)| Ratio::correct(given == rule));
/// assert_eq!(EXACT_MATCH.measured(Totals::of(&ratios), None).value(), Some(2.0 / 3.0));
/// ```
pub static EXACT_MATCH: Metric = Metric {
    name: "exact_match",
    meaning: "share of outputs that are those of the rule, symbol for symbol",
    ..AGREEMENT
};

/// One if all outputs are those of a rule, else zero. Its mean over seeds is the fraction of perfect agreement (FPA).
///
/// ```
/// use wug_score::{Ratio, Totals, metric::PERFECT_AGREEMENT};
/// let seeds = [true, true, false, true].map(Ratio::correct);
/// assert_eq!(PERFECT_AGREEMENT.measured(Totals::of(&seeds), None).value(), Some(0.75));
/// ```
pub static PERFECT_AGREEMENT: Metric = Metric {
    name: "perfect_agreement",
    meaning: "one if all outputs are those of the rule; its mean over seeds is the fraction of perfect agreement",
    ..AGREEMENT
};

/// One if the outputs are those of none of the rules.
///
/// ```
/// use wug_score::{Ratio, Totals, metric::AGREEMENT_WITH_NONE};
/// let (count, mem) = (false, false);
/// let none = AGREEMENT_WITH_NONE.measured(Totals::of(&[Ratio::correct(!(count || mem))]), None);
/// assert_eq!(none.value(), Some(1.0));
/// ```
pub static AGREEMENT_WITH_NONE: Metric =
    Metric { name: "agreement_with_none", meaning: "one if no rule has all of the outputs", ..AGREEMENT };

/// The nats that it takes to send a rule's outputs block by block, each coded by the learner trained on those before it. The
/// training pairs, which are sent first, are not counted.
///
/// ```
/// use wug_score::{Totals, metric::DESCRIPTION_LENGTH};
/// // Two blocks: of one example with probability 1/2, and of two with 1/4 each.
/// let nats = -(0.5_f64.ln() + 2.0 * 0.25_f64.ln());
/// let totals = Totals { numerator: nats, denominator: 1.0, n: 3 };
/// assert!((DESCRIPTION_LENGTH.measured(totals, None).value().unwrap() - 5.0 * 2.0_f64.ln()).abs() < 1e-12);
/// ```
pub static DESCRIPTION_LENGTH: Metric = Metric {
    name: "description_length",
    unit: MetricUnit::Nats,
    better: Direction::Lower,
    meaning: "nats to send the rule's outputs block by block, each coded after training on those before it",
    cite: "Kharitonov and Chaabouni 2021, Eq. 1 without its constant",
    ..AGREEMENT
};

/// The same in bits.
///
/// ```
/// use wug_score::metric::bits;
/// assert!((bits(3.0 * 2.0_f64.ln()) - 3.0).abs() < 1e-12);
/// ```
pub static DESCRIPTION_LENGTH_BITS: Metric = Metric {
    name: "description_length_bits",
    unit: MetricUnit::Bits,
    meaning: "the description length in bits",
    ..DESCRIPTION_LENGTH
};

/// The description length divided by the number of examples that are sent.
///
/// ```
/// use wug_score::{Totals, metric::DESCRIPTION_LENGTH_PER_EXAMPLE};
/// let totals = Totals { numerator: 6.0, denominator: 4.0, n: 4 };
/// assert_eq!(DESCRIPTION_LENGTH_PER_EXAMPLE.measured(totals, None).value(), Some(1.5));
/// ```
pub static DESCRIPTION_LENGTH_PER_EXAMPLE: Metric = Metric {
    name: "description_length_per_example",
    meaning: "the description length, in nats per example that is sent",
    cite: "Kharitonov and Chaabouni 2021, Appendix F",
    ..DESCRIPTION_LENGTH
};

pub fn bits(nats: f64) -> f64 {
    nats / std::f64::consts::LN_2
}

/// How far outputs are those of a rule, by whether each is: [`EXACT_MATCH`] and [`PERFECT_AGREEMENT`].
///
/// ```
/// use wug_score::metric::agreement;
/// assert_eq!(agreement(&[true, false]).map(|score| score.value()), [Some(0.5), Some(0.0)]);
/// ```
pub fn agreement(matches: &[bool]) -> [Score; 2] {
    let ratios: Vec<Ratio> = matches.iter().map(|&same| Ratio::correct(same)).collect();
    let perfect = Ratio::correct(matches.iter().all(|&same| same));
    [
        EXACT_MATCH.measured(Totals::of(&ratios), None),
        PERFECT_AGREEMENT.measured(Totals::of(&[perfect]), None),
    ]
}

/// The description length of so many examples, from the nats of their blocks: in nats, in bits, and per example.
///
/// ```
/// use wug_score::metric::description_lengths;
/// let scores = description_lengths(&[1.0, 5.0], 4);
/// assert_eq!((scores[0].value(), scores[2].value()), (Some(6.0), Some(1.5)));
/// ```
pub fn description_lengths(nats: &[f64], examples: usize) -> [Score; 3] {
    // A sum without terms is minus zero, which would be printed with its sign.
    let total = nats.iter().sum::<f64>() + 0.0;
    let whole = |numerator: f64| Totals { numerator, denominator: 1.0, n: examples };
    let per_example = Totals { numerator: total, denominator: examples as f64, n: examples };
    [
        DESCRIPTION_LENGTH.measured(whole(total), None),
        DESCRIPTION_LENGTH_BITS.measured(whole(bits(total)), None),
        DESCRIPTION_LENGTH_PER_EXAMPLE.measured(per_example, None),
    ]
}

/// What all have in common.
const AGREEMENT: Metric = Metric {
    name: "",
    unit: MetricUnit::Fraction,
    better: Direction::Higher,
    meaning: "",
    chance_of: None,
    cite: "Kharitonov and Chaabouni 2021, §2",
};
