//! What holds of every example metric: the order of examples does not matter, parts add up, and values are finite.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use wug_dataset::{Labelled, Seed};
use wug_language::{Alphabet, Symbol, draw, registry};
use wug_score::strata::{Windows, by_label};
use wug_score::{Aggregate, Bootstrap, EXAMPLE_METRICS, Example, NextAnswer, Prediction, Totals, Verdict};
use wug_score::{mean_inverse_length, stratify};

fn logit() -> impl Strategy<Value = f64> {
    prop_oneof![-8.0..8.0, Just(1e4), Just(-1e4), Just(0.0)]
}

fn next(prefixes: usize) -> impl Strategy<Value = Option<NextAnswer>> {
    let logits = prop::collection::vec(prop::collection::vec(logit(), 3), prefixes);
    let sets = prop::collection::vec(prop::collection::vec(any::<bool>(), 3), prefixes);
    prop::option::of(prop_oneof![logits.prop_map(NextAnswer::Logits), sets.prop_map(NextAnswer::Sets)])
}

fn prediction(length: usize) -> impl Strategy<Value = Prediction> {
    let verdict =
        prop_oneof![logit().prop_map(Verdict::Logit), (0.001..0.999).prop_map(Verdict::Probability)];
    let log_probs = prop::option::of(prop::collection::vec(-1e4..0.0, length + 1));
    (prop::option::of(verdict), log_probs, next(length + 1))
        .prop_map(|(recognition, log_probs, next)| Prediction { recognition, log_probs, next })
}

/// Strings over 0 and 1 with their true labels in Parity, and any answers.
fn rows() -> impl Strategy<Value = Vec<(Labelled, Prediction)>> {
    let word = prop::collection::vec((0..2_u16).prop_map(Symbol), 0..6);
    let row = word.prop_flat_map(|word| {
        let parity = registry::build("parity").unwrap();
        let next = Some(parity.next_sets(&word));
        let truth = Labelled { next, ..Labelled::new(word.clone(), parity.contains(&word)) };
        (Just(truth), prediction(word.len()))
    });
    prop::collection::vec(row, 0..25)
}

fn with_examples<T>(rows: &[(Labelled, Prediction)], then: impl FnOnce(&[Example<'_>]) -> T) -> T {
    let parity = registry::build("parity").unwrap();
    let sampler = parity.by_length(0..=6).unwrap();
    let z = mean_inverse_length(rows.iter().map(|(truth, _)| truth.word.len())).unwrap_or(1.0);
    let alphabet = Alphabet::new(["0", "1"]);
    let examples: Vec<Example<'_>> = rows
        .iter()
        .map(|(truth, said)| Example::new(truth, said, &alphabet).unwrap().drawn_from(sampler.as_ref(), z))
        .collect();
    then(&examples)
}

proptest! {
    #[test]
    fn scores_do_not_depend_on_the_order_of_examples(rows in rows(), seed in any::<u64>()) {
        let mut shuffled = rows.clone();
        draw::shuffle(&mut Seed::new(seed).rng(), &mut shuffled);
        let bootstrap = Bootstrap::new(Seed::new(seed), 5, 0.5).unwrap();
        for metric in EXAMPLE_METRICS {
            let [one, other] = [&rows, &shuffled]
                .map(|rows| with_examples(rows, |examples| metric.score_with_interval(examples, &bootstrap)));
            prop_assert_eq!(one, other);
        }
    }

    #[test]
    fn values_are_finite_and_accuracies_are_shares(rows in rows()) {
        with_examples(&rows, |examples| {
            for metric in EXAMPLE_METRICS {
                let score = metric.score(examples);
                prop_assert_eq!(score.value().is_some(), score.totals.n > 0, "{}", metric.metric.name);
                prop_assert_eq!(score.spread.is_some(), score.totals.n > 0, "{}", metric.metric.name);
                // Where all answers are the same, giving it always is no guess.
                let answered = examples.iter().filter(|example| example.prediction().recognition.is_some());
                let labels: BTreeSet<bool> = answered.map(|example| example.truth().label).collect();
                let possible = score.totals.n > 0 && metric.metric.chance_of.is_some();
                prop_assert!(possible || score.chance.is_none(), "{}", metric.metric.name);
                if metric.metric.name.starts_with("recognition") {
                    prop_assert_eq!(score.chance.is_some(), labels.len() == 2, "{}", metric.metric.name);
                }
                if metric.metric.higher_is_better() {
                    prop_assert!(score.value().is_none_or(|x| (0.0..=1.0).contains(&x)));
                } else if metric.metric.name.ends_with("cross_entropy") {
                    prop_assert!(score.value().is_none_or(|x| x >= 0.0));
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn the_parts_of_a_partition_add_up(rows in rows()) {
        with_examples(&rows, |examples| {
            let parts = stratify(examples, |e| by_label(e.truth()));
            for metric in EXAMPLE_METRICS {
                let whole = metric.score(examples).totals;
                let sum = parts.values().map(|p| metric.score(p).totals).fold(Totals::default(), Totals::plus);
                prop_assert_eq!(sum.n, whole.n);
                let slack = 1e-9 * whole.numerator.abs().max(1.0);
                prop_assert!((sum.numerator - whole.numerator).abs() <= slack);
                prop_assert!((sum.denominator - whole.denominator).abs() < 1e-9);
            }
            Ok(())
        })?;
    }

    #[test]
    fn windows_hold_the_lengths_they_name(lengths in prop::collection::vec(0..520_usize, 0..60)) {
        let parts: BTreeMap<_, Vec<usize>> = stratify(&lengths, |&n| Windows::PUBLISHED.of(n));
        for (i, centre) in (0..=500_usize).step_by(10).enumerate() {
            let naive: Vec<usize> = lengths.iter().copied().filter(|n| n.abs_diff(centre) <= 10).collect();
            let stratum = Windows::PUBLISHED.of(centre).nth(usize::from(i > 0)).unwrap();
            prop_assert_eq!(parts.get(&stratum).cloned().unwrap_or_default(), naive);
        }
    }

    #[test]
    fn means_and_medians_lie_between_the_extremes(values in prop::collection::vec(-1e3..1e3, 1..20_usize)) {
        let of = |a: Aggregate| a.of(&values).unwrap();
        for middle in [Aggregate::Median, Aggregate::Mean] {
            prop_assert!(of(Aggregate::Min) <= of(middle) && of(middle) <= of(Aggregate::Max));
        }
        if let Some(sample) = Aggregate::SampleStd.of(&values) {
            let n = values.len() as f64;
            let population = of(Aggregate::PopulationStd);
            prop_assert!((population * population * n - sample * sample * (n - 1.0)).abs() < 1e-6);
        }
    }
}
