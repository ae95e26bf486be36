//! The measurements of a learner: accuracy on pairs with every comparison and rule for ties, beside ceiling and chance level of the very
//! pairs, by length and by dependency; perplexity beside its floor.

use wug_dataset::{Bounds, Labelled, MinimalPair, ids};
use wug_language::Word;
use wug_learner::interface::NextSymbol;
use wug_score::metric::{
    LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY, PAIR_CEILING, PAIR_CEILING_HALF_TIES, PAIR_CEILING_INDIFFERENT,
    PERPLEXITY, PERPLEXITY_FLOOR, pair_accuracy, perplexity,
};
use wug_score::pairs::{PairComparison as Comparison, StringScore, Ties};
use wug_score::strata::Window;
use wug_score::{Measurement, Metric, Ratio, Stratum, Totals, stratify};

use super::VALIDATION;
use super::data::{Data, PairSet};
use super::law::Law;
use crate::LabError;
use crate::context::RunContext;
use crate::keep::{PairMember, Predicted, Predictions};

/// Lengths, and distances of dependencies, in one part of a split.
const PART: usize = 5;

/// Strings that are scored between two looks at whether the run is to stop.
const AT_ONCE: usize = 4096;

pub(super) trait Scores {
    /// The log-probabilities of the symbols and the end of each string of a split.
    fn score(&mut self, split: &str, words: &[&Word]) -> Result<Vec<Vec<f64>>, LabError>;
}

/// A fitted model. The released code leaves training mode on, and takes logarithms of probabilities in single precision, where it
/// scores pairs; validation has neither.
pub(super) struct Scorer<'m, L> {
    pub(super) model: &'m mut L,
    /// The model without dropout, if it stays on where pairs are scored.
    pub(super) clean: Option<&'m mut L>,
    /// Whether a probability of a pair that single precision cannot hold is zero.
    pub(super) underflows: bool,
}

impl<L: NextSymbol> Scores for Scorer<'_, L> {
    fn score(&mut self, split: &str, words: &[&Word]) -> Result<Vec<Vec<f64>>, LabError> {
        let validates = split == VALIDATION;
        let model = match &mut self.clean {
            Some(clean) if validates => clean,
            _ => &mut self.model,
        };
        let strings: Vec<Vec<u32>> = words.iter().map(|word| ids::between_boundaries(word)).collect();
        let strings: Vec<&[u32]> = strings.iter().map(Vec::as_slice).collect();
        // The first boundary is given.
        let mut logs: Vec<Vec<f64>> =
            model.log_probs_batch(&strings)?.into_iter().map(|mut logs| logs.split_off(1)).collect();
        if self.underflows && !validates {
            for log in logs.iter_mut().flatten().filter(|log| (libm::exp(**log) as f32) <= 0.0) {
                *log = f64::NEG_INFINITY;
            }
        }
        Ok(logs)
    }
}

/// The grammar itself, with the probabilities that the strings of each split were drawn with.
pub(super) struct TrueGrammar<'a>(pub(super) Vec<(&'static str, Law<'a>)>);

impl Scores for TrueGrammar<'_> {
    fn score(&mut self, split: &str, words: &[&Word]) -> Result<Vec<Vec<f64>>, LabError> {
        let laws = self.0.iter().filter(|(of, _)| *of == split);
        Ok(laws.flat_map(|(_, law)| words.iter().map(|word| law.log_probs(word))).collect())
    }
}

fn score_watched(
    scorer: &mut impl Scores,
    words: &[&Word],
    split: &str,
    context: &mut dyn RunContext,
) -> Result<Vec<Vec<f64>>, LabError> {
    let mut logs = Vec::with_capacity(words.len());
    for part in words.chunks(AT_ONCE) {
        context.evaluating(&format!("{split}, {} of {} strings", logs.len(), words.len()))?;
        logs.extend(scorer.score(split, part)?);
    }
    Ok(logs)
}

/// Everything that is measured.
pub(super) fn measured(
    scorer: &mut impl Scores,
    data: &Data,
    context: &mut dyn RunContext,
    predictions: &mut Predictions,
) -> Result<Vec<Measurement>, LabError> {
    let vocabulary = data.language.alphabet().len() + 1;
    let words: Vec<&Word> = data.validation.words.iter().collect();
    let logs = score_watched(scorer, &words, VALIDATION, context)?;
    let mut scores = perplexities(VALIDATION, &logs, data.validation.floor, vocabulary);
    let kept = StringRows { data, laws: if predictions.wanted() { data.laws()? } else { Vec::new() } };
    kept.validation(&logs, predictions)?;
    for set in &data.tests {
        // A pair after the other, so that noise in a model is that of one program run.
        let words: Vec<&Word> = set.pairs.iter().flat_map(|pair| [&pair.good, &pair.bad]).collect();
        let logs = score_watched(scorer, &words, set.split, context)?;
        let (pairs, _) = logs.as_chunks::<2>();
        let good: Vec<Vec<f64>> = pairs.iter().map(|[good, _]| good.clone()).collect();
        scores.extend(accuracies(set, pairs));
        scores.extend(perplexities(set.split, &good, set.floor, vocabulary));
        kept.pairs(set, pairs, predictions)?;
    }
    Ok(scores)
}

/// One pair with all that is measured of it.
#[derive(Clone, Copy)]
struct ScoredPair<'a> {
    pair: &'a MinimalPair,
    strings: [StringScore; 2],
    bounds: Bounds,
    dependency: Option<usize>,
}

fn accuracies(set: &PairSet, logs: &[[Vec<f64>; 2]]) -> Vec<Measurement> {
    let known = set.bounds.iter().zip(&set.dependencies);
    let all: Vec<ScoredPair<'_>> = (set.pairs.iter().zip(logs).zip(known))
        .map(|((pair, logs), (&bounds, &dependency))| {
            let strings = logs.each_ref().map(|logs| StringScore::new(logs));
            ScoredPair { pair, strings, bounds, dependency }
        })
        .collect();
    let mut scores = part(set.split, Stratum::All, &all, &[Ties::Wrong, Ties::Half]);
    let strata = |scored: &ScoredPair<'_>| {
        let length = Stratum::Length(Window::of(scored.pair.good.len(), PART));
        let dependency = scored.dependency.map(|distance| Stratum::Dependency(Window::of(distance, PART)));
        std::iter::once(length).chain(dependency)
    };
    for (stratum, pairs) in stratify(&all, strata) {
        // One rule for ties: a result has a row for each stratum, rule and comparison.
        scores.extend(part(set.split, stratum, &pairs, &[Ties::Wrong]));
    }
    scores
}

/// The accuracies and the ceiling of a part of a split.
fn part(split: &str, stratum: Stratum, pairs: &[ScoredPair<'_>], rules: &[Ties]) -> Vec<Measurement> {
    let bounds: Bounds = pairs.iter().map(|scored| scored.bounds).sum();
    let mut scores = Vec::new();
    for &ties in rules {
        // Where the released code swaps, a third of the bad strings is grammatical: the ceiling is a perfect model's score.
        let (ceiling, most, chance) = match ties {
            Ties::Wrong => (&PAIR_CEILING, bounds.ceiling(), bounds.chance()),
            Ties::Half => (&PAIR_CEILING_HALF_TIES, bounds.ceiling_with_noise(), 0.5),
        };
        for comparison in Comparison::ALL {
            let count = |ScoredPair { strings: [good, bad], .. }: &ScoredPair<'_>| {
                comparison.preferred(good, bad, ties)
            };
            let ratios: Vec<Ratio> = pairs.iter().map(count).collect();
            let score = pair_accuracy(comparison, ties).measured(Totals::of(&ratios), Some(chance));
            scores.push(Measurement::new(split, stratum, &score));
        }
        let n = pairs.len();
        let totals = Totals { numerator: most * n as f64, denominator: n as f64, n };
        scores.push(Measurement::new(split, stratum, &ceiling.measured(totals, None)));
        if ties == Ties::Wrong {
            let totals = Totals { numerator: bounds.ceiling_of_indifferent() * n as f64, ..totals };
            scores.push(Measurement::new(split, stratum, &PAIR_CEILING_INDIFFERENT.measured(totals, None)));
        }
    }
    scores
}

/// Cross-entropy and perplexity of strings, and the least that the latter can be.
fn perplexities(split: &str, logs: &[Vec<f64>], floor: f64, vocabulary: usize) -> Vec<Measurement> {
    let symbols: usize = logs.iter().map(Vec::len).sum();
    let nats = -logs.iter().flatten().sum::<f64>();
    let uniform = libm::log(vocabulary as f64);
    let per_symbol = |nats: f64| Totals { numerator: nats, denominator: symbols as f64, n: logs.len() };
    let row = |metric: &'static Metric, totals, chance| {
        Measurement::new(split, Stratum::All, &metric.measured(totals, chance))
    };
    vec![
        row(&LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY.metric, per_symbol(nats), Some(uniform)),
        row(&PERPLEXITY, perplexity(per_symbol(nats)), Some(vocabulary as f64)),
        row(&PERPLEXITY_FLOOR, perplexity(per_symbol(floor)), None),
    ]
}

/// Keeps what was predicted of every string, if predictions are wanted.
struct StringRows<'d> {
    data: &'d Data,
    /// None if nothing is kept.
    laws: Vec<(&'static str, Law<'d>)>,
}

impl StringRows<'_> {
    fn validation(&self, logs: &[Vec<f64>], predictions: &mut Predictions) -> Result<(), LabError> {
        let words = &self.data.validation.words;
        words.iter().zip(logs).try_for_each(|(word, logs)| {
            self.add(VALIDATION, &Labelled::new(word.clone(), true), None, logs, predictions)
        })
    }

    /// Both strings of every pair: the good one, then the bad one.
    fn pairs(
        &self,
        set: &PairSet,
        logs: &[[Vec<f64>; 2]],
        predictions: &mut Predictions,
    ) -> Result<(), LabError> {
        let known = set.bounds.iter().zip(&set.dependencies);
        for (number, ((pair, logs), (bounds, &dependency))) in
            set.pairs.iter().zip(logs).zip(known).enumerate()
        {
            let strings = [(&pair.good, true, true), (&pair.bad, false, bounds.grammatical > 0)];
            for ((word, good, member), logs) in strings.into_iter().zip(logs) {
                let truth = Labelled::new(word.clone(), member);
                let pair = PairMember { number, good, dependency };
                self.add(set.split, &truth, Some(pair), logs, predictions)?;
            }
        }
        Ok(())
    }

    fn add(
        &self,
        split: &'static str,
        truth: &Labelled,
        pair: Option<PairMember>,
        log_probs: &[f64],
        predictions: &mut Predictions,
    ) -> Result<(), LabError> {
        let Some((_, law)) = self.laws.iter().find(|(of, _)| *of == split) else { return Ok(()) };
        let alphabet = self.data.language.alphabet();
        predictions.add(&Predicted {
            split,
            string: alphabet.format(&truth.word),
            length: truth.word.len(),
            truth: Some(truth),
            pair,
            log_probs: Some(log_probs),
            sampler_log_prob: Some(law.log_prob(&truth.word)),
            choices: Some(alphabet.len() + 1),
            ..Predicted::default()
        })
    }
}
