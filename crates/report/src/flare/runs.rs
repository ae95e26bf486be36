//! The runs of FLaRe by the cells of the tables, and which of them a cell shows.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::metric::Direction::Higher;
use wug_score::metric::RECOGNITION_CROSS_ENTROPY;
use wug_score::plan::{Loss, Recognition, Validation};
use wug_score::select::{best_by_validation, first_best, rounded};
use wug_score::{Aggregate, Reading};

use super::NAME;
use super::published::{Half, languages};
use crate::cells::PaperCells;
use crate::departures::reading_note;
use crate::measured::{accuracies, chance, test_accuracy};
use crate::run::{AnyRun, Run, of_kind};

pub(super) type FlareRun<'r> = Run<'r, Recognition>;

/// The learners of the paper.
const LEARNERS: [&str; 3] = ["transformer", "rnn", "lstm"];
/// The size of the models everywhere but in Table 22.
pub(super) const SIZE: usize = 64_000;

/// The claimed runs of one reading, by seed.
pub(super) struct FlareRuns<'r> {
    pub(super) reading: Reading,
    pub(super) reading_note: Option<String>,
    all: Vec<FlareRun<'r>>,
    /// The indices of those of a cell.
    by_cell: BTreeMap<FlareCell<'r>, Vec<usize>>,
}

/// Which runs a cell is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FlareCell<'p> {
    pub(super) language: &'p str,
    pub(super) learner: &'p str,
    pub(super) loss: Loss,
    pub(super) validation: Validation,
    pub(super) size: usize,
}

/// The loss with the best score, that score, and what it was chosen among.
pub(super) struct BestLoss {
    pub(super) loss: Loss,
    pub(super) value: f64,
    /// The scores of the runs of each loss that was run.
    pub(super) by_loss: Vec<(Loss, Vec<f64>)>,
}

impl BestLoss {
    /// The scores of the runs of the chosen loss.
    pub(super) fn scores(&self) -> &[f64] {
        let chosen = self.by_loss.iter().find(|(loss, _)| *loss == self.loss);
        chosen.map_or(&[], |(_, scores)| scores)
    }

    /// The scores of the runs of all losses.
    pub(super) fn all_scores(&self) -> Vec<f64> {
        self.by_loss.iter().flat_map(|(_, scores)| scores.iter().copied()).collect()
    }

    /// The losses that were run.
    pub(super) fn losses(&self) -> Vec<Loss> {
        self.by_loss.iter().map(|(loss, _)| *loss).collect()
    }
}

/// The run as one that the tables have a cell for: on the paper's data, of the size of most tables or of the experiment with several.
pub(super) fn claimed(run: AnyRun<'_>) -> Option<FlareRun<'_>> {
    let run = run.of::<Recognition>().filter(|run| run.has_data_of(NAME))?;
    // Any other size has no cell in a table of the paper.
    (size(run) == SIZE || is_of_sizes(run)).then_some(run)
}

/// Whether a run belongs to the experiment with several sizes: recognition alone, long validation.
fn is_of_sizes(run: FlareRun<'_>) -> bool {
    run.plan.measure.loss == Loss::R && run.plan.measure.validation == Validation::Long
}

/// External learners need not be asked for a size.
fn size(run: FlareRun<'_>) -> usize {
    run.plan.learner.size.unwrap_or(SIZE)
}

pub(super) fn cell_of(run: FlareRun<'_>) -> FlareCell<'_> {
    let measure = &run.plan.measure;
    FlareCell {
        language: run.subject(),
        learner: run.learner(),
        loss: measure.loss,
        validation: measure.validation,
        size: size(run),
    }
}

/// Recognition cross-entropy on the validation set that the run was given.
fn validation_loss(run: FlareRun<'_>) -> Option<f64> {
    run.value(run.plan.measure.validation.split(), RECOGNITION_CROSS_ENTROPY.metric.name)
}

impl<'r> FlareRuns<'r> {
    /// Those of a reading, in the order of their seeds, on which ties depend.
    pub(super) fn of(cells: &PaperCells<'_>, runs: &[AnyRun<'r>], reading: Reading) -> Self {
        let mut all = of_kind::<Recognition>(runs);
        all.retain(|run| run.run.reading == reading);
        all.sort_by_key(|run| (run.plan.seed, &run.result().run.plan));
        let mut by_cell: BTreeMap<FlareCell<'r>, Vec<usize>> = BTreeMap::new();
        for (i, run) in all.iter().enumerate() {
            by_cell.entry(cell_of(*run)).or_default().push(i);
        }
        Self { reading, reading_note: reading_note(cells, reading, all.iter().copied()), all, by_cell }
    }

    pub(super) fn all(&self) -> &[FlareRun<'r>] {
        &self.all
    }

    /// Those of the size that all tables but Table 22 are about.
    pub(super) fn main(&self) -> Vec<FlareRun<'r>> {
        self.all.iter().copied().filter(|run| size(*run) == SIZE).collect()
    }

    /// The runs of each cell.
    pub(super) fn cells(&self) -> impl Iterator<Item = Vec<FlareRun<'r>>> {
        self.by_cell.keys().map(|key| self.at(*key))
    }

    /// Those of a language and the main size.
    pub(super) fn of_language(&self, language: &str) -> Vec<FlareRun<'r>> {
        self.main().into_iter().filter(|run| run.subject() == language).collect()
    }

    /// Those of a cell.
    pub(super) fn at(&self, key: FlareCell<'_>) -> Vec<FlareRun<'r>> {
        self.by_cell.get(&key).into_iter().flatten().map(|i| self.all[*i]).collect()
    }

    /// The languages that were run, in the order of the paper.
    pub(super) fn languages(&self) -> Vec<&'static str> {
        let run = |language: &&str| self.all.iter().any(|run| run.subject() == *language);
        languages().into_iter().filter(run).collect()
    }

    /// The learners of the paper, and then the others that were run.
    pub(super) fn learners(&self) -> Vec<&'r str> {
        let others: BTreeSet<&str> = self.all.iter().map(|run| run.learner()).collect();
        let others = others.into_iter().filter(|name| !LEARNERS.contains(name));
        LEARNERS.into_iter().chain(others).collect()
    }

    /// The sizes of Table 22, and the others that were run.
    pub(super) fn sizes(&self) -> Vec<usize> {
        let run = self.all.iter().filter(|run| is_of_sizes(**run)).map(|run| size(*run));
        run.chain([32_000, SIZE, 128_000]).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether there are runs of a size other than the main one.
    pub(super) fn has_sizes(&self) -> bool {
        self.all.iter().any(|run| size(*run) != SIZE)
    }

    /// The value by which losses are compared. The published tables were made from printed ones with three decimals.
    fn compared(&self, x: f64) -> Option<f64> {
        // The released script re-reads the LaTeX of the full tables, so ties arise after rounding.
        if self.reading == Reading::Published { rounded(x, 3) } else { Some(x) }
    }

    /// Table 2. "Inductive bias": of the losses with short validation, the one with the best mean. "Expressivity": the best of
    /// all runs with long validation, whatever the loss.
    pub(super) fn best_loss(&self, half: Half, language: &str, learner: &str) -> Option<BestLoss> {
        let aggregate = match half {
            Half::InductiveBias => Aggregate::Mean,
            Half::Expressivity => Aggregate::Max,
        };
        self.best_among(Loss::ALL, aggregate, |loss| half.cell(language, learner, loss))
    }

    /// All runs of a half of Table 2, whatever their loss.
    pub(super) fn of_half(&self, half: Half, language: &str, learner: &str) -> Vec<FlareRun<'r>> {
        Loss::ALL.iter().flat_map(|loss| self.at(half.cell(language, learner, *loss))).collect()
    }

    /// The best of some losses, given the cell of each.
    pub(super) fn best_among<'k>(
        &self,
        losses: &[Loss],
        aggregate: Aggregate,
        cell: impl Fn(Loss) -> FlareCell<'k>,
    ) -> Option<BestLoss> {
        let scored = losses.iter().map(|&loss| (loss, accuracies(&self.at(cell(loss)))));
        // A loss that was not run is no candidate; an empty mean would be compared as a value.
        let by_loss: Vec<_> = scored.filter(|(_, scores)| !scores.is_empty()).collect();
        let (loss, scores) = first_best(&by_loss, Higher, |(_, of)| self.compared(aggregate.of(of)?))?;
        Some(BestLoss { loss: *loss, value: aggregate.of(scores)?, by_loss })
    }

    /// The model that the figures show: of all runs with long validation, the one with the best test accuracy.
    pub(super) fn best_model(&self, language: &str, learner: &str) -> Option<FlareRun<'r>> {
        let long = self.of_half(Half::Expressivity, language, learner);
        // By test accuracy, as in the paper: it shows the models under "Expressivity" (App. I).
        first_best(&long, Higher, |run| test_accuracy(run)).copied()
    }

    /// The lowest and the highest chance level on the long test set, as the runs of a language (or all) have it.
    pub(super) fn chance(&self, language: Option<&str>) -> Option<(f64, f64)> {
        let of = self.all.iter().filter(|run| language.is_none_or(|l| run.subject() == l));
        let levels: Vec<f64> = of.filter_map(|run| chance(run)).collect();
        Some((Aggregate::Min.of(&levels)?, Aggregate::Max.of(&levels)?))
    }
}

/// The model that the full tables show: lowest validation cross-entropy.
pub(super) fn selected<'r>(runs: &[FlareRun<'r>]) -> Option<FlareRun<'r>> {
    best_by_validation(runs, |run| validation_loss(*run)).copied()
}
