use super::*;
use crate::{Prediction, mean_inverse_length};
use wug_dataset::Labelled;
use wug_language::{Word, registry};

/// Expected scores, by going through all members of some lengths: each counts as often as the sampler draws
/// it.
struct World {
    members: Vec<Labelled>,
    weights: Vec<f64>,
}

impl World {
    fn new(language: &str, lengths: std::ops::RangeInclusive<usize>) -> Self {
        let language = registry::build(language).unwrap();
        let sampler = language.by_length(lengths.clone()).unwrap();
        let words: Vec<Word> = lengths.flat_map(|n| language.members(n).collect::<Vec<_>>()).collect();
        let weights: Vec<f64> = words.iter().map(|w| sampler.log_prob(w).exp()).collect();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        Self { members: words.into_iter().map(|w| Labelled::new(w, true)).collect(), weights }
    }

    fn lengths(&self) -> impl Iterator<Item = f64> {
        self.members.iter().map(|m| (m.word.len() + 1) as f64)
    }

    /// The exact mean of `1 / (n + 1)`.
    fn inverse(&self) -> f64 {
        self.lengths().zip(&self.weights).map(|(n, w)| w / n).sum()
    }

    /// The expected nats per symbol of each string, of a model that gives the strings these probabilities.
    fn expected(&self, q: &[f64]) -> f64 {
        self.lengths().zip(&self.weights).zip(q).map(|((n, w), q)| -w * q.ln() / n).sum()
    }
}

fn normalised(q: &[f64]) -> Vec<f64> {
    let total: f64 = q.iter().sum();
    q.iter().map(|x| x / total).collect()
}

#[test]
fn no_model_is_below_the_optimum_and_the_sampler_is_above_it() {
    for name in ["parity", "repeat-01", "dyck-2-3", "majority", "marked-copy"] {
        let language = registry::build(name).unwrap();
        let world = World::new(name, 0..=6);
        let sampler = language.by_length(0..=6).unwrap();
        let prediction = Prediction::default();
        let optimum: f64 = (world.members.iter().zip(&world.weights))
            .map(|(m, w)| {
                let example = Example::new(m, &prediction, language.alphabet()).unwrap();
                let example = example.drawn_from(sampler.as_ref(), world.inverse());
                w * LANGUAGE_MODELING_OPTIMUM.ratio(&example).unwrap().value().unwrap()
            })
            .sum();
        let tilted: Vec<f64> = world.weights.iter().zip(world.lengths()).map(|(w, n)| w / n).collect();
        assert!((world.expected(&normalised(&tilted)) - optimum).abs() < 1e-9, "{name}");
        assert!(world.expected(&world.weights) > optimum + 1e-3, "{name}");
        for step in 1..20 {
            let q: Vec<f64> = tilted
                .iter()
                .enumerate()
                .map(|(i, p)| p * (1.0 + 0.1 * f64::from(step * i as i32 % 7)))
                .collect();
            assert!(world.expected(&normalised(&q)) >= optimum - 1e-12, "{name} {step}");
        }
    }
}

#[test]
fn a_string_that_is_never_drawn_leaves_the_optimum_undefined() {
    let parity = registry::build("parity").unwrap();
    let sampler = parity.by_length(1..=4).unwrap();
    let truth = Labelled::new(vec![], true);
    let prediction = Prediction { log_probs: Some(vec![-1.0]), ..Prediction::default() };
    let example =
        Example::new(&truth, &prediction, parity.alphabet()).unwrap().drawn_from(sampler.as_ref(), 0.3);
    assert_eq!(LANGUAGE_MODELING_SYMBOL_OPTIMUM.score(&[example]).value(), None);
    assert_eq!(LANGUAGE_MODELING_EXCESS.score(&[example]).value(), None);
    assert_eq!(LANGUAGE_MODELING_CROSS_ENTROPY.score(&[example]).value(), Some(1.0));
}

#[test]
fn negatives_do_not_count() {
    let parity = registry::build("parity").unwrap();
    let sampler = parity.by_length(1..=4).unwrap();
    let truth = Labelled::new(vec![], false);
    let prediction = Prediction { log_probs: Some(vec![-1.0]), ..Prediction::default() };
    let z = mean_inverse_length(1..=4).unwrap();
    let example =
        Example::new(&truth, &prediction, parity.alphabet()).unwrap().drawn_from(sampler.as_ref(), z);
    for metric in crate::EXAMPLE_METRICS.iter().filter(|m| m.metric.name.starts_with("language")) {
        let score = metric.score(&[example]);
        assert_eq!((score.totals.n, score.value(), score.chance), (0, None, None), "{}", metric.metric.name);
    }
}

#[test]
fn a_symbol_of_probability_zero_leaves_the_cross_entropy_undefined() {
    let parity = registry::build("parity").unwrap();
    let truth = Labelled::new(vec![], true);
    let prediction = Prediction { log_probs: Some(vec![f64::NEG_INFINITY]), ..Prediction::default() };
    let example = Example::new(&truth, &prediction, parity.alphabet()).unwrap();
    let score = LANGUAGE_MODELING_CROSS_ENTROPY.score(&[example]);
    assert_eq!((score.value(), score.totals.n), (None, 1));
    assert!((score.chance.unwrap() - 3.0_f64.ln()).abs() < 1e-15);
}
