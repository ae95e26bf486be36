//! Is it a member? Accuracy and cross-entropy of the answer.

use super::{Direction, ExampleMetric, Metric, MetricUnit};
use crate::chance::{majority_share, share_entropy};
use crate::{Example, Ratio, Verdict};

/// The share of strings correctly accepted or rejected. A string is accepted if its logit is not negative;
/// a NaN is incorrect.
///
/// ```
/// use wug_dataset::{Labelled, language::Alphabet};
/// use wug_score::{Example, Prediction, metric::RECOGNITION_ACCURACY};
/// let alphabet = Alphabet::new(["a"]);
/// let (member, other) = (Labelled::new(vec![], true), Labelled::new(vec![], false));
/// let answers = [0.0, -3.0, 1.5].map(Prediction::of_logit);
/// let example = |truth, i: usize| Example::new(truth, &answers[i], &alphabet).unwrap();
/// // A member accepted, a member rejected, another rejected, another accepted.
/// let score = RECOGNITION_ACCURACY.score(&[
///     example(&member, 0), example(&member, 1), example(&other, 1), example(&other, 2),
/// ]);
/// assert_eq!(score.value(), Some(0.5));
/// assert_eq!(score.chance, Some(0.5)); // two members of four
/// ```
pub static RECOGNITION_ACCURACY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "recognition_accuracy",
        unit: MetricUnit::Fraction,
        better: Direction::Higher,
        meaning: "share of strings correctly accepted or rejected",
        chance_of: Some("always giving the commoner label"),
        cite: "Butoi et al. 2025, §5",
    },
    each: accuracy,
    chance: Some(|examples| {
        let (members, n) = labels(examples);
        majority_share(members, n)
    }),
};

/// Minus the logarithm of the probability of the correct label, averaged over strings.
///
/// ```
/// use wug_dataset::{Labelled, language::Alphabet};
/// use wug_score::{Example, Prediction, metric::RECOGNITION_CROSS_ENTROPY};
/// let alphabet = Alphabet::new(["a"]);
/// let member = Labelled::new(vec![], true);
/// // Odds of 1:1 and of 3:1, so probabilities of 1/2 and 3/4.
/// let answers = [1.0_f64, 3.0].map(|odds| Prediction::of_logit(odds.ln()));
/// let examples = answers.each_ref().map(|answer| Example::new(&member, answer, &alphabet).unwrap());
/// let expected = (2.0_f64.ln() + (4.0_f64 / 3.0).ln()) / 2.0;
/// assert!((RECOGNITION_CROSS_ENTROPY.score(&examples).value().unwrap() - expected).abs() < 1e-15);
/// ```
pub static RECOGNITION_CROSS_ENTROPY: ExampleMetric = ExampleMetric {
    metric: Metric {
        name: "recognition_cross_entropy",
        unit: MetricUnit::Nats,
        better: Direction::Lower,
        meaning: "minus the log-probability of the correct label, averaged over strings",
        chance_of: Some("always giving the labels their shares"),
        cite: "Butoi et al. 2025, §3.3 and §5",
    },
    each: cross_entropy,
    chance: Some(|examples| {
        let (members, n) = labels(examples);
        share_entropy(members, n)
    }),
};

fn accuracy(example: &Example<'_>) -> Option<Ratio> {
    let verdict = example.prediction().recognition?;
    Some(Ratio::correct(verdict.accepts() == Some(example.truth().label)))
}

fn cross_entropy(example: &Example<'_>) -> Option<Ratio> {
    let label = example.truth().label;
    Some(Ratio::once(match example.prediction().recognition? {
        Verdict::Logit(z) => binary_cross_entropy(label, z),
        Verdict::Probability(p) if label => -libm::log(p),
        // 1 − p would round to 1 for every p below 1e-16.
        Verdict::Probability(p) => -libm::log1p(-p),
    }))
}

/// `-ln σ(z)` for a yes and `-ln σ(-z)` for a no, without overflow: both are `max(x, 0) + ln(1 + exp(-|x|))`.
///
/// ```
/// use wug_score::metric::binary_cross_entropy;
/// assert_eq!(binary_cross_entropy(true, 0.0), std::f64::consts::LN_2);
/// assert_eq!(binary_cross_entropy(true, -1e4), 1e4);
/// assert_eq!(binary_cross_entropy(false, -1e4), 0.0);
/// ```
pub fn binary_cross_entropy(label: bool, logit: f64) -> f64 {
    let x = if label { -logit } else { logit };
    x.max(0.0) + libm::log1p(libm::exp(-x.abs()))
}

/// How many strings with an answer are members, of how many.
fn labels(examples: &[Example<'_>]) -> (f64, f64) {
    let answered = || examples.iter().filter(|e| e.prediction().recognition.is_some());
    (answered().filter(|e| e.truth().label).count() as f64, answered().count() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prediction, Score};
    use wug_dataset::Labelled;
    use wug_language::Alphabet;

    fn score(metric: &'static ExampleMetric, answers: &[(bool, Verdict)]) -> Score {
        let alphabet = Alphabet::new(["a"]);
        let truths: Vec<Labelled> = answers.iter().map(|(label, _)| Labelled::new(vec![], *label)).collect();
        let predictions: Vec<Prediction> = answers
            .iter()
            .map(|(_, verdict)| Prediction { recognition: Some(*verdict), ..Prediction::default() })
            .collect();
        let examples: Vec<Example<'_>> =
            truths.iter().zip(&predictions).map(|(t, p)| Example::new(t, p, &alphabet).unwrap()).collect();
        metric.score(&examples)
    }

    #[test]
    fn extreme_logits_are_stable() {
        for z in [1e4, 1e300, f64::INFINITY] {
            assert!(binary_cross_entropy(true, z).abs() < f64::MIN_POSITIVE);
            assert!(binary_cross_entropy(false, -z).abs() < f64::MIN_POSITIVE);
            assert_eq!(binary_cross_entropy(false, z).to_bits(), z.to_bits());
            assert_eq!(binary_cross_entropy(true, -z).to_bits(), z.to_bits());
        }
        // Small losses keep their digits: ln(1 + e^-40) is e^-40.
        assert!((binary_cross_entropy(true, 40.0) / libm::exp(-40.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn certain_and_incorrect_has_no_finite_cross_entropy() {
        let certain = [(true, Verdict::Logit(1e4)), (true, Verdict::Probability(0.0))];
        assert_eq!(score(&RECOGNITION_CROSS_ENTROPY, &certain).value(), None);
        assert_eq!(score(&RECOGNITION_CROSS_ENTROPY, &certain[..1]).value(), Some(0.0));
        assert_eq!(score(&RECOGNITION_ACCURACY, &certain).value(), Some(0.5));
    }

    #[test]
    fn a_nan_is_incorrect_and_has_no_cross_entropy() {
        let nan = Verdict::Logit(f64::NAN);
        assert_eq!(score(&RECOGNITION_ACCURACY, &[(true, nan), (false, nan)]).value(), Some(0.0));
        assert_eq!(score(&RECOGNITION_CROSS_ENTROPY, &[(true, nan)]).value(), None);
    }

    #[test]
    fn probabilities_and_logits_agree() {
        for (p, label) in [(0.25, true), (0.25, false), (0.9, true)] {
            let logit = Verdict::Logit(libm::log(p / (1.0 - p)));
            let a = score(&RECOGNITION_CROSS_ENTROPY, &[(label, logit)]).value().unwrap();
            let b = score(&RECOGNITION_CROSS_ENTROPY, &[(label, Verdict::Probability(p))]).value().unwrap();
            assert!((a - b).abs() < 1e-15);
        }
    }

    #[test]
    fn constant_answers_on_one_label() {
        let same = [(false, Verdict::Logit(-1.0)); 3];
        let accuracy = score(&RECOGNITION_ACCURACY, &same);
        // Giving that label always is no guess: there is no chance level.
        assert_eq!((accuracy.value(), accuracy.chance, accuracy.spread), (Some(1.0), None, Some(0.0)));
        assert_eq!(score(&RECOGNITION_CROSS_ENTROPY, &same).chance, None);
    }

    #[test]
    fn the_spread_is_the_population_deviation_of_the_losses() {
        // Losses of ln 2 and 2 ln 2.
        let answers = [(true, Verdict::Probability(0.5)), (false, Verdict::Probability(0.75))];
        let score = score(&RECOGNITION_CROSS_ENTROPY, &answers);
        assert!((score.value().unwrap() - 1.5 * crate::chance::FAIR_COIN).abs() < 1e-15);
        assert!((score.spread.unwrap() - 0.5 * crate::chance::FAIR_COIN).abs() < 1e-15);
    }
}
