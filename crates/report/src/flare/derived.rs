//! Inductive bias and expressivity of each language and learner (Table 2), as rows of an export.

use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::{Aggregate, Measurement, Metric, RunResult, Score, Stratum, Totals};

use super::published::Half;
use super::runs::{BestLoss, CellKey, LOSSES, PaperRuns, SIZE};
use crate::measured::{TEST, test_accuracy};
use crate::records::Derived;

static INDUCTIVE_BIAS: Metric = Metric {
    name: "inductive_bias",
    meaning: "mean accuracy of the loss with the best mean, validated on short strings",
    cite: "Butoi et al. 2025, Table 2",
    ..RECOGNITION_ACCURACY.metric
};

static EXPRESSIVITY: Metric = Metric {
    name: "expressivity",
    meaning: "best accuracy of any run, validated on long strings",
    cite: "Butoi et al. 2025, Table 2",
    ..RECOGNITION_ACCURACY.metric
};

/// Both figures of every language and learner.
pub(super) fn figures<'a>(runs: &PaperRuns<'a>) -> Vec<Derived<'a>> {
    let mut all = Vec::new();
    for language in runs.languages() {
        for learner in runs.learners() {
            let of = |losses: &[&str], validation| -> Vec<&'a RunResult> {
                let key = |loss| CellKey { language, learner, loss, validation, size: SIZE };
                let cells = losses.iter().flat_map(|&loss| runs.at(key(loss)));
                cells.filter(|run| test_accuracy(run).is_some()).collect()
            };
            if let Some(best) = runs.best_loss(Half::InductiveBias, language, learner) {
                let scores = best.scores().to_vec();
                all.push(row(&INDUCTIVE_BIAS, of(&[best.loss], "short"), &best, &scores));
            }
            if let Some(best) = runs.best_loss(Half::Expressivity, language, learner) {
                all.push(row(&EXPRESSIVITY, of(&LOSSES, "long"), &best, &best.all_scores()));
            }
        }
    }
    all
}

/// The figure, and the loss that has it.
fn row<'a>(metric: &'static Metric, of: Vec<&'a RunResult>, best: &BestLoss, scores: &[f64]) -> Derived<'a> {
    let totals = Totals { numerator: best.value, denominator: 1.0, n: scores.len() };
    let score = Score {
        spread: Aggregate::PopulationStd.of(scores).filter(|_| scores.len() > 1),
        ..metric.measured(totals, None)
    };
    Derived { of, measurement: Measurement::new(TEST, Stratum::All, &score), shown: best.loss.to_owned() }
}
