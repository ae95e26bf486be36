//! FPA of each rule, as rows of an export.

use std::collections::BTreeSet;

use wug_score::metric::PERFECT_AGREEMENT;
use wug_score::{Measurement, Metric, Stratum, Totals};

use super::group::SheetRuns;
use super::runs::PreferenceRun;
use crate::records::Derived;

static OF_FITTING: Metric = Metric {
    name: "fpa_of_fitting",
    meaning: "share of the seeds that fit their training pairs whose outputs are those of the rule throughout",
    ..PERFECT_AGREEMENT
};

static OF_ALL: Metric = Metric {
    name: "fpa_of_all",
    meaning: "share of all seeds whose outputs are those of the rule throughout",
    ..PERFECT_AGREEMENT
};

/// Both shares of every row and rule. A row that stands in several tables is there once.
pub(super) fn agreement<'a>(groups: &[SheetRuns<'a>]) -> Vec<Derived<'a>> {
    let (mut all, mut known) = (Vec::new(), BTreeSet::new());
    for group in groups {
        for row in &group.rows {
            // Base lines stand in Table 1 and in the appendix; an export would count them twice.
            let plans: BTreeSet<&str> =
                row.runs.iter().map(|run| run.run.result().run.plan.as_str()).collect();
            if !known.insert(plans) {
                continue;
            }
            for rule in &group.rules {
                // The paper's denominator is the seeds that fit (its success rates and FPA agree only so); all seeds
                // are beside it.
                all.extend(share(&OF_FITTING, &row.fitting(), rule));
                all.extend(share(&OF_ALL, &row.runs, rule));
            }
        }
    }
    all
}

fn share<'a>(metric: &'static Metric, runs: &[PreferenceRun<'a>], rule: &str) -> Option<Derived<'a>> {
    let known: Vec<(PreferenceRun<'a>, bool)> =
        runs.iter().filter_map(|run| Some((*run, run.agrees(rule)?))).collect();
    let agreeing = known.iter().filter(|(_, agrees)| *agrees).count();
    let totals = Totals { numerator: agreeing as f64, denominator: known.len() as f64, n: known.len() };
    let measurement =
        Measurement::new(&format!("holdout/{rule}"), Stratum::All, &metric.measured(totals, None));
    let of: Vec<_> = known.iter().map(|(run, _)| run.run.result()).collect();
    (!of.is_empty()).then_some(Derived { of, measurement, shown: String::new() })
}
