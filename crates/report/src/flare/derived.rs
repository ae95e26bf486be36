//! Inductive bias and expressivity of each language and learner (Table 2), as rows of an export.

use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::{Aggregate, Measurement, Metric, RunResult, Score, Stratum, Totals};

use super::published::Half;
use super::runs::{BestLoss, FlareRun, FlareRuns};
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
pub(super) fn figures<'r>(runs: &FlareRuns<'r>) -> Vec<Derived<'r>> {
    let mut all = Vec::new();
    for language in runs.languages() {
        for learner in runs.learners() {
            let scored = |runs: Vec<FlareRun<'r>>| -> Vec<&'r RunResult> {
                runs.iter().filter(|run| test_accuracy(run).is_some()).map(|run| run.result()).collect()
            };
            if let Some(best) = runs.best_loss(Half::InductiveBias, language, learner) {
                // Inductive bias is a mean of one loss; expressivity is a maximum over all (§5).
                let of = scored(runs.at(Half::InductiveBias.cell(language, learner, best.loss)));
                all.push(row(&INDUCTIVE_BIAS, of, &best, best.scores()));
            }
            if let Some(best) = runs.best_loss(Half::Expressivity, language, learner) {
                let of = scored(runs.of_half(Half::Expressivity, language, learner));
                all.push(row(&EXPRESSIVITY, of, &best, &best.all_scores()));
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
    Derived {
        of,
        measurement: Measurement::new(TEST, Stratum::All, &score),
        shown: best.loss.name().to_owned(),
    }
}
