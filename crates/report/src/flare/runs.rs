//! The runs of FLaRe by their place in the tables, and which of them stand for the others.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::metric::Direction::Higher;
use wug_score::metric::RECOGNITION_CROSS_ENTROPY;
use wug_score::select::{best_by_validation, first_best, rounded};
use wug_score::{Aggregate, Reading, RunResult};

use super::setting::departures;
use crate::measured::{accuracies, chance, test_accuracy};
use crate::published::flare_languages;
use crate::table::spread;

/// The losses, in the order in which ties between them are resolved.
pub(crate) const LOSSES: [&str; 4] = ["R", "R+LM", "R+NS", "R+LM+NS"];
/// The validation sets: lengths up to 40, and up to 80.
pub(crate) const VALIDATIONS: [&str; 2] = ["short", "long"];
/// The learners of the paper, with the names that its tables give them.
const LEARNERS: [(&str, &str); 3] = [("transformer", "Tf"), ("rnn", "RNN"), ("lstm", "LSTM")];
/// The size of the models everywhere but in Table 22.
pub(crate) const SIZE: u64 = 64_000;

/// The runs of one reading that have a place in the tables of the paper, by seed.
pub(crate) struct Runs<'a> {
    pub(crate) reading: Reading,
    all: Vec<&'a RunResult>,
    /// Where among them those of a place are.
    by_place: BTreeMap<Place<'a>, Vec<usize>>,
}

/// Which runs a cell is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place<'p> {
    pub(crate) language: &'p str,
    pub(crate) learner: &'p str,
    pub(crate) loss: &'p str,
    pub(crate) validation: &'p str,
    pub(crate) size: u64,
}

/// A loss that was chosen, and its score.
pub(crate) struct Chosen {
    pub(crate) loss: &'static str,
    pub(crate) value: f64,
    pub(crate) std: Option<f64>,
    /// Runs that the score is of.
    pub(crate) n: usize,
    /// Losses that there was to choose from.
    pub(crate) losses: usize,
}

/// Whether a run has a place in the tables of the paper.
pub(crate) fn has_place(result: &RunResult) -> bool {
    let run = &result.run;
    let known = |name: &Option<String>, names: &[&str]| name.as_deref().is_some_and(|n| names.contains(&n));
    run.suite == "flare"
        && flare_languages().contains(&run.language.as_str())
        && known(&run.loss, &LOSSES)
        && known(&run.validation, &VALIDATIONS)
        && (size(result) == SIZE || is_of_sizes(result))
        && departures(result).is_empty()
}

/// Whether a run belongs to the experiment with several sizes: recognition alone, long validation.
fn is_of_sizes(result: &RunResult) -> bool {
    result.run.loss.as_deref() == Some("R") && result.run.validation.as_deref() == Some("long")
}

fn size(result: &RunResult) -> u64 {
    result.run.size.unwrap_or(SIZE)
}

fn place(result: &RunResult) -> Place<'_> {
    let run = &result.run;
    Place {
        language: &run.language,
        learner: &run.learner,
        loss: run.loss.as_deref().unwrap_or_default(),
        validation: run.validation.as_deref().unwrap_or_default(),
        size: size(result),
    }
}

/// The name of a learner in a table.
pub(crate) fn label(learner: &str) -> String {
    let known = LEARNERS.iter().find(|(name, _)| *name == learner);
    known.map_or_else(|| learner.to_uppercase(), |(_, label)| (*label).to_owned())
}

/// Recognition cross-entropy on the validation set that the run was given.
pub(crate) fn validation_loss(run: &RunResult) -> Option<f64> {
    let split = format!("validation-{}", run.run.validation.as_deref()?);
    run.value(&split, RECOGNITION_CROSS_ENTROPY.name)
}

impl<'a> Runs<'a> {
    /// Those of a reading, in the order of their seeds, on which ties depend.
    pub(crate) fn of(results: &'a [RunResult], reading: Reading) -> Self {
        let mut runs: Vec<&RunResult> =
            results.iter().filter(|r| r.run.reading == reading && has_place(r)).collect();
        runs.sort_by_key(|r| (r.run.seed, &r.run.plan));
        let mut by_place: BTreeMap<Place<'a>, Vec<usize>> = BTreeMap::new();
        for (i, run) in runs.iter().enumerate() {
            by_place.entry(place(run)).or_default().push(i);
        }
        Self { reading, all: runs, by_place }
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[&'a RunResult] {
        &self.all
    }

    /// Those of the size that all tables but Table 22 are about.
    pub(crate) fn main(&self) -> Vec<&'a RunResult> {
        self.all.iter().copied().filter(|run| size(run) == SIZE).collect()
    }

    /// Those of a language and the main size.
    pub(crate) fn of_language(&self, language: &str) -> Vec<&'a RunResult> {
        self.main().into_iter().filter(|run| run.run.language == language).collect()
    }

    /// Those of a place.
    pub(crate) fn at(&self, place: Place<'_>) -> Vec<&'a RunResult> {
        self.by_place.get(&place).into_iter().flatten().map(|i| self.all[*i]).collect()
    }

    /// The languages that were run, in the order of the paper.
    pub(crate) fn languages(&self) -> Vec<&'static str> {
        let run = |language: &&str| self.all.iter().any(|run| run.run.language == *language);
        flare_languages().into_iter().filter(run).collect()
    }

    /// The learners of the paper, and then the others that were run.
    pub(crate) fn learners(&self) -> Vec<&'a str> {
        let others: BTreeSet<&str> = self.all.iter().map(|run| run.run.learner.as_str()).collect();
        let known = LEARNERS.map(|(name, _)| name);
        known.into_iter().chain(others.into_iter().filter(|name| !known.contains(name))).collect()
    }

    /// The sizes of Table 22, and the others that were run.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let run = self.all.iter().filter(|run| is_of_sizes(run)).map(|run| size(run));
        run.chain([32_000, SIZE, 128_000]).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether there are runs of a size other than the main one.
    pub(crate) fn has_sizes(&self) -> bool {
        self.all.iter().any(|run| size(run) != SIZE)
    }

    /// The value that decides between losses. The published tables were made from printed ones, which have
    /// three decimals.
    fn judged(&self, x: f64) -> Option<f64> {
        if self.reading == Reading::Published { rounded(x, 3) } else { Some(x) }
    }

    fn choose(&self, chosen: &[Chosen]) -> Option<usize> {
        let places: Vec<usize> = (0..chosen.len()).collect();
        first_best(&places, Higher, |i| self.judged(chosen[*i].value)).copied()
    }

    /// Table 2, "Inductive bias": of the losses with short validation, the one with the best mean.
    pub(crate) fn inductive_bias(&self, language: &str, learner: &str) -> Option<Chosen> {
        let mut means: Vec<Chosen> = LOSSES
            .into_iter()
            .filter_map(|loss| {
                let runs = self.at(Place { language, learner, loss, validation: "short", size: SIZE });
                let scores = accuracies(&runs);
                let (value, std) = (Aggregate::Mean.of(&scores)?, spread(&scores));
                Some(Chosen { loss, value, std, n: scores.len(), losses: 1 })
            })
            .collect();
        let losses = means.len();
        let best = self.choose(&means)?;
        Some(Chosen { losses, ..means.swap_remove(best) })
    }

    /// Table 2, "Expressivity": the best of all runs with long validation, whatever the loss.
    pub(crate) fn expressivity(&self, language: &str, learner: &str) -> Option<Chosen> {
        let mut bests: Vec<Chosen> = LOSSES
            .into_iter()
            .filter_map(|loss| {
                let runs = self.at(Place { language, learner, loss, validation: "long", size: SIZE });
                let scores = accuracies(&runs);
                Some(Chosen {
                    loss,
                    value: Aggregate::Max.of(&scores)?,
                    std: None,
                    n: scores.len(),
                    losses: 1,
                })
            })
            .collect();
        let (losses, n) = (bests.len(), bests.iter().map(|best| best.n).sum());
        let best = self.choose(&bests)?;
        Some(Chosen { n, losses, ..bests.swap_remove(best) })
    }

    /// The model that the figures show: of all runs with long validation, the one with the best test accuracy.
    pub(crate) fn best_model(&self, language: &str, learner: &str) -> Option<&'a RunResult> {
        let place = |loss| Place { language, learner, loss, validation: "long", size: SIZE };
        let runs: Vec<&RunResult> = LOSSES.into_iter().flat_map(|loss| self.at(place(loss))).collect();
        first_best(&runs, Higher, |run| test_accuracy(run)).copied()
    }

    /// The lowest and the highest chance level on the long test set, as the runs of a language (or all) have it.
    pub(crate) fn chance(&self, language: Option<&str>) -> Option<(f64, f64)> {
        let of = self.all.iter().filter(|run| language.is_none_or(|l| run.run.language == l));
        let levels: Vec<f64> = of.filter_map(|run| chance(run)).collect();
        Some((Aggregate::Min.of(&levels)?, Aggregate::Max.of(&levels)?))
    }
}

/// The model that the full tables show: lowest validation cross-entropy.
pub(crate) fn selected<'a>(runs: &[&'a RunResult]) -> Option<&'a RunResult> {
    best_by_validation(runs, |run| validation_loss(run)).copied()
}
