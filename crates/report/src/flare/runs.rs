//! The runs of FLaRe by the cells of the tables, and which of them a cell shows.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::metric::Direction::Higher;
use wug_score::metric::RECOGNITION_CROSS_ENTROPY;
use wug_score::select::{best_by_validation, first_best, rounded};
use wug_score::{Aggregate, Reading, RunResult};

use super::PROTOCOL;
use super::departures::departures;
use super::published::{Half, languages};
use crate::measured::{accuracies, chance, test_accuracy};

/// The losses, in the order in which ties between them are resolved.
pub(crate) const LOSSES: [&str; 4] = ["R", "R+LM", "R+NS", "R+LM+NS"];
/// The validation sets: lengths up to 40, and up to 80.
pub(crate) const VALIDATIONS: [&str; 2] = ["short", "long"];
/// The learners of the paper.
const LEARNERS: [&str; 3] = ["transformer", "rnn", "lstm"];
/// The size of the models everywhere but in Table 22.
pub(crate) const SIZE: u64 = 64_000;

/// The runs of one reading that are as in the paper, by seed.
pub(crate) struct PaperRuns<'a> {
    pub(crate) reading: Reading,
    all: Vec<&'a RunResult>,
    /// The indices of those of a cell.
    by_cell: BTreeMap<CellKey<'a>, Vec<usize>>,
}

/// Which runs a cell is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellKey<'p> {
    pub(crate) language: &'p str,
    pub(crate) learner: &'p str,
    pub(crate) loss: &'p str,
    pub(crate) validation: &'p str,
    pub(crate) size: u64,
}

/// The loss with the best score, that score, and what it was chosen among.
pub(crate) struct BestLoss {
    pub(crate) loss: &'static str,
    pub(crate) value: f64,
    /// The scores of the runs of each loss that was run.
    pub(crate) by_loss: Vec<(&'static str, Vec<f64>)>,
}

impl BestLoss {
    /// The scores of the runs of the chosen loss.
    pub(crate) fn scores(&self) -> &[f64] {
        let chosen = self.by_loss.iter().find(|(loss, _)| *loss == self.loss);
        chosen.map_or(&[], |(_, scores)| scores)
    }

    /// The scores of the runs of all losses.
    pub(crate) fn all_scores(&self) -> Vec<f64> {
        self.by_loss.iter().flat_map(|(_, scores)| scores.iter().copied()).collect()
    }

    /// The losses that were run.
    pub(crate) fn losses(&self) -> Vec<&'static str> {
        self.by_loss.iter().map(|(loss, _)| *loss).collect()
    }
}

/// Whether a run is as in the paper, so that the tables have a cell for it.
pub(crate) fn is_of_paper(result: &RunResult) -> bool {
    let run = &result.run;
    let known =
        |name: &str, names: &[&str]| run.coordinates.text(name).is_some_and(|text| names.contains(&text));
    run.protocol == PROTOCOL
        && known("language", &languages())
        && known("loss", &LOSSES)
        && known("validation", &VALIDATIONS)
        && (size(result) == SIZE || is_of_sizes(result))
        && departures(result).is_empty()
}

/// Whether a run belongs to the experiment with several sizes: recognition alone, long validation.
fn is_of_sizes(result: &RunResult) -> bool {
    let at = &result.run.coordinates;
    at.text("loss") == Some("R") && at.text("validation") == Some("long")
}

fn size(result: &RunResult) -> u64 {
    result.run.coordinates.integer("size").unwrap_or(SIZE)
}

fn cell_key(result: &RunResult) -> CellKey<'_> {
    let run = &result.run;
    CellKey {
        language: run.language(),
        learner: run.learner(),
        loss: run.coordinates.text("loss").unwrap_or_default(),
        validation: run.coordinates.text("validation").unwrap_or_default(),
        size: size(result),
    }
}

/// Recognition cross-entropy on the validation set that the run was given.
pub(crate) fn validation_loss(run: &RunResult) -> Option<f64> {
    let split = format!("validation-{}", run.run.coordinates.text("validation")?);
    run.value(&split, RECOGNITION_CROSS_ENTROPY.metric.name)
}

impl<'a> PaperRuns<'a> {
    /// Those of a reading, in the order of their seeds, on which ties depend.
    pub(crate) fn of(results: &[&'a RunResult], reading: Reading) -> Self {
        let mut runs: Vec<&RunResult> =
            results.iter().copied().filter(|result| result.run.reading == reading).collect();
        runs.sort_by_key(|r| (r.run.seed, &r.run.plan));
        let mut by_cell: BTreeMap<CellKey<'a>, Vec<usize>> = BTreeMap::new();
        for (i, run) in runs.iter().enumerate() {
            by_cell.entry(cell_key(run)).or_default().push(i);
        }
        Self { reading, all: runs, by_cell }
    }

    pub(crate) fn all(&self) -> &[&'a RunResult] {
        &self.all
    }

    /// Those of the size that all tables but Table 22 are about.
    pub(crate) fn main(&self) -> Vec<&'a RunResult> {
        self.all.iter().copied().filter(|run| size(run) == SIZE).collect()
    }

    /// The runs of each cell.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Vec<&'a RunResult>> {
        self.by_cell.keys().map(|key| self.at(*key))
    }

    /// Those of a language and the main size.
    pub(crate) fn of_language(&self, language: &str) -> Vec<&'a RunResult> {
        self.main().into_iter().filter(|run| run.run.language() == language).collect()
    }

    /// Those of a cell.
    pub(crate) fn at(&self, key: CellKey<'_>) -> Vec<&'a RunResult> {
        self.by_cell.get(&key).into_iter().flatten().map(|i| self.all[*i]).collect()
    }

    /// The languages that were run, in the order of the paper.
    pub(crate) fn languages(&self) -> Vec<&'static str> {
        let run = |language: &&str| self.all.iter().any(|run| run.run.language() == *language);
        languages().into_iter().filter(run).collect()
    }

    /// The learners of the paper, and then the others that were run.
    pub(crate) fn learners(&self) -> Vec<&'a str> {
        let others: BTreeSet<&str> = self.all.iter().map(|run| run.run.learner()).collect();
        let others = others.into_iter().filter(|name| !LEARNERS.contains(name));
        LEARNERS.into_iter().chain(others).collect()
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

    /// The value by which losses are compared. The published tables were made from printed ones, which have
    /// three decimals.
    fn compared(&self, x: f64) -> Option<f64> {
        if self.reading == Reading::Published { rounded(x, 3) } else { Some(x) }
    }

    /// Table 2. "Inductive bias": of the losses with short validation, the one with the best mean. "Expressivity": the best of
    /// all runs with long validation, whatever the loss.
    pub(crate) fn best_loss(&self, half: Half, language: &str, learner: &str) -> Option<BestLoss> {
        let aggregate = match half {
            Half::InductiveBias => Aggregate::Mean,
            Half::Expressivity => Aggregate::Max,
        };
        let (validation, size) = (half.validation(), SIZE);
        self.best_among(&LOSSES, aggregate, |loss| CellKey { language, learner, loss, validation, size })
    }

    /// The best of some losses, given the cell of each.
    pub(crate) fn best_among<'k>(
        &self,
        losses: &[&'static str],
        aggregate: Aggregate,
        cell: impl Fn(&'static str) -> CellKey<'k>,
    ) -> Option<BestLoss> {
        let scored = losses.iter().map(|&loss| (loss, accuracies(&self.at(cell(loss)))));
        let by_loss: Vec<_> = scored.filter(|(_, scores)| !scores.is_empty()).collect();
        let (loss, scores) = first_best(&by_loss, Higher, |(_, of)| self.compared(aggregate.of(of)?))?;
        Some(BestLoss { loss, value: aggregate.of(scores)?, by_loss })
    }

    /// All runs with long validation, whatever the loss: those behind "Expressivity".
    pub(crate) fn long(&self, language: &str, learner: &str) -> Vec<&'a RunResult> {
        let key = |loss| CellKey { language, learner, loss, validation: "long", size: SIZE };
        LOSSES.into_iter().flat_map(|loss| self.at(key(loss))).collect()
    }

    /// The model that the figures show: of all runs with long validation, the one with the best test accuracy.
    pub(crate) fn best_model(&self, language: &str, learner: &str) -> Option<&'a RunResult> {
        first_best(&self.long(language, learner), Higher, |run| test_accuracy(run)).copied()
    }

    /// The lowest and the highest chance level on the long test set, as the runs of a language (or all) have it.
    pub(crate) fn chance(&self, language: Option<&str>) -> Option<(f64, f64)> {
        let of = self.all.iter().filter(|run| language.is_none_or(|l| run.run.language() == l));
        let levels: Vec<f64> = of.filter_map(|run| chance(run)).collect();
        Some((Aggregate::Min.of(&levels)?, Aggregate::Max.of(&levels)?))
    }
}

/// The model that the full tables show: lowest validation cross-entropy.
pub(crate) fn selected<'a>(runs: &[&'a RunResult]) -> Option<&'a RunResult> {
    best_by_validation(runs, |run| validation_loss(run)).copied()
}
