//! The index of each language, learner and setting, as rows of an export.

use wug_score::metric::GENERALIZATION_INDEX;
use wug_score::{Acceptance, Measurement, Metric, Stratum, Totals};

use super::index_run::IndexRun;
use super::index_table::{asked, index_runs, known_index};
use super::rows::{RunGroup, margins};
use crate::measured::TEST;
use crate::records::Derived;

/// The index where each string must be solved by itself, as §3.5 of the paper says.
static INDEX_OF_STRINGS: Metric = Metric {
    name: "generalization_index_every_string",
    meaning: "largest b so that the model trained on 10^N/b strings solves each of the next 10^N*b by itself",
    ..GENERALIZATION_INDEX
};

/// Every index of a group, at each margin and by both criteria of acceptance. It is absent where no factor was solved.
pub(super) fn indices<'a>(group: &RunGroup<'a>) -> Vec<Derived<'a>> {
    let rows = index_runs(group);
    let (margins, factors) = (margins(&rows), group.factors());
    let mut all = Vec::new();
    for runs in rows.values() {
        let asked = asked(runs, &factors);
        for acceptance in Acceptance::ALL {
            for &margin in &margins {
                let Some(known) = known_index(runs, margin, acceptance, &asked) else { continue };
                let metric = match acceptance {
                    Acceptance::AllSteps => &GENERALIZATION_INDEX,
                    Acceptance::EveryString => &INDEX_OF_STRINGS,
                };
                let score = metric.measured(Totals::whole(known.index), None);
                let measurement = Measurement::new(TEST, Stratum::Margin(margin), &score);
                // A run that was never evaluated does not lower an index, so the figure is not of it.
                let evaluated = |run: &&IndexRun<'a>| run.solved(margin, acceptance).is_some();
                let of = runs.iter().filter(evaluated).map(|run| run.result).collect();
                all.push(Derived { of, measurement, shown: known.shown });
            }
        }
    }
    all
}
