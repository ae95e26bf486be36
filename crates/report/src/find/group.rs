//! Runs by table and row.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::paired::{PairedTest, holm, paired_t};
use wug_score::plan::Preference;
use wug_score::{Aggregate, Reading};

use super::runs::PreferenceRun;
use super::sheets::{MAIN_SEEDS, Place, Sheet, places};
use crate::cells::PaperCells;
use crate::columns::VaryingColumns;
use crate::departures::reading_note;
use crate::plan_fields::fields;
use crate::run::{AnyRun, Run};
use crate::table::distinct;

/// The runs of one table in one reading.
pub(super) struct SheetRuns<'a> {
    pub(super) sheet: Sheet,
    pub(super) reading: Reading,
    pub(super) reading_note: Option<String>,
    /// The names of what tells rows apart beside the learner.
    pub(super) keys: Vec<String>,
    pub(super) rows: Vec<SheetRow<'a>>,
    /// The rules of the task, in its order.
    pub(super) rules: Vec<&'a str>,
}

/// The runs of one row, by seed.
pub(super) struct SheetRow<'a> {
    pub(super) learner: &'a str,
    /// The values of the keys.
    pub(super) values: Vec<String>,
    /// The value that the paper's row has, if it may have one.
    pub(super) printed: Option<String>,
    /// Whether it is a base line that other tables have as well.
    base: bool,
    pub(super) runs: Vec<PreferenceRun<'a>>,
}

/// A comparison of the rule with the shortest description with another one.
pub(super) struct RuleComparison<'a> {
    pub(super) row: usize,
    pub(super) best: &'a str,
    pub(super) other: &'a str,
    pub(super) test: PairedTest,
    /// The p-value, corrected for the number of comparisons in the table.
    pub(super) corrected: f64,
}

/// The learners in the order of the paper; others after them.
const ORDER: [&str; 6] = ["lstm", "lstm-attention", "cnn", "transformer", "joint-attention", "decoder-only"];

impl<'a> SheetRuns<'a> {
    /// Every table for which there is a run, by reading.
    pub(super) fn all(cells: &PaperCells<'_>, runs: &[AnyRun<'a>]) -> Vec<Self> {
        let mut sheets: BTreeMap<(Reading, Sheet), Vec<(Place, PreferenceRun<'a>)>> = BTreeMap::new();
        for run in runs.iter().filter_map(|run| PreferenceRun::of(*run)) {
            for place in places(cells, run) {
                let key = (run.run.plan.reading, place.sheet.clone());
                sheets.entry(key).or_default().push((place, run));
            }
        }
        // Base lines alone do not make a table: nobody ran what it varies.
        let groups = sheets.into_iter().filter(|(_, runs)| runs.iter().any(|(place, _)| !place.base));
        groups.map(|((reading, sheet), runs)| Self::of(cells, sheet, reading, runs)).collect()
    }

    fn of(
        cells: &PaperCells<'_>,
        sheet: Sheet,
        reading: Reading,
        runs: Vec<(Place, PreferenceRun<'a>)>,
    ) -> Self {
        let reading_note = reading_note(cells, reading, runs.iter().map(|(_, run)| run.run));
        let rules = distinct(runs.iter().flat_map(|(_, run)| run.rules()));
        let (keys, values) = if let Sheet::Other(_) = sheet {
            settings(&runs)
        } else {
            // Base lines and rows of a table share its key, and the first that has a name gives it.
            let named = runs.iter().map(|(place, _)| place.key).find(|key| !key.is_empty());
            let keys: Vec<String> = named.map(str::to_owned).into_iter().collect();
            let value = |place: &Place| if keys.is_empty() { vec![] } else { vec![place.value.clone()] };
            let values = runs.iter().map(|(place, _)| value(place)).collect();
            (keys, values)
        };
        let mut rows: Vec<SheetRow<'a>> = Vec::new();
        for ((place, run), values) in runs.into_iter().zip(values) {
            let same = |row: &&mut SheetRow<'a>| row.learner == run.learner() && row.values == values;
            if let Some(row) = rows.iter_mut().find(same) {
                row.add(run);
            } else {
                let printed = matches!(sheet, Sheet::Printed(..)).then_some(place.value);
                let base = place.base;
                rows.push(SheetRow { learner: run.learner(), values, printed, base, runs: vec![run] });
            }
        }
        let rank = |learner: &str| ORDER.iter().position(|name| *name == learner).unwrap_or(ORDER.len());
        let number = |row: &SheetRow<'_>| row.values.first().and_then(|value| value.parse::<f64>().ok());
        rows.sort_by(|a, b| {
            // By number, so that 5 comes before 10; values that are none keep their order.
            let order = rank(a.learner).cmp(&rank(b.learner)).then_with(|| a.learner.cmp(b.learner));
            order.then_with(|| number(a).partial_cmp(&number(b)).unwrap_or(std::cmp::Ordering::Equal))
        });
        for row in &mut rows {
            row.runs.sort_by_key(|run| run.run.plan.seed);
        }
        Self { sheet, reading, reading_note, keys, rows, rules }
    }

    /// In every row, the rule with the shortest description against each other one, over the seeds that have both.
    pub(super) fn comparisons(&self) -> Vec<RuleComparison<'a>> {
        let mut found = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            let Some(best) = row.shortest(&self.rules) else { continue };
            for &other in self.rules.iter().filter(|rule| **rule != best) {
                // Paired: seeds share weights and order of data, so a seed with one length only has no pair.
                let both = row.runs.iter().filter_map(|run| Some((run.nats(best)?, run.nats(other)?)));
                let (first, second): (Vec<f64>, Vec<f64>) = both.unzip();
                // Without two seeds there is no spread and no test; the row keeps no bold.
                if let Some(test) = paired_t(&first, &second) {
                    found.push(RuleComparison { row: i, best, other, test, corrected: test.p });
                }
            }
        }
        // The paper does not correct. A table makes dozens of tests, some of which would pass by chance.
        let corrected = holm(&found.iter().map(|one| one.test.p).collect::<Vec<_>>());
        found.iter_mut().zip(corrected).for_each(|(one, p)| one.corrected = p);
        found
    }
}

impl<'a> SheetRow<'a> {
    /// Adds a run. A seed counts once, even if one section of an experiment has a measure and another both.
    fn add(&mut self, run: PreferenceRun<'a>) {
        let seed = run.run.plan.seed;
        match self.runs.iter_mut().find(|other| other.run.plan.seed == seed) {
            Some(other) => other.join(run),
            None => self.runs.push(run),
        }
    }

    /// All runs behind the row.
    pub(super) fn all(&self) -> impl Iterator<Item = Run<'a, Preference>> {
        self.runs.iter().flat_map(|run| run.runs())
    }

    /// How many seeds the paper's values are of.
    pub(super) fn paper_seeds(&self, sheet: &Sheet) -> usize {
        if self.base { MAIN_SEEDS } else { sheet.seeds() }
    }

    /// The description lengths of a rule.
    pub(super) fn nats(&self, rule: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.nats(rule)).collect()
    }

    /// The rule with the lowest mean description length, if there are several with one.
    fn shortest(&self, rules: &[&'a str]) -> Option<&'a str> {
        let mean = |rule: &&'a str| Some((Aggregate::Mean.of(&self.nats(rule))?, *rule));
        let means: Vec<(f64, &str)> = rules.iter().filter_map(mean).collect();
        let best = means.iter().min_by(|a, b| a.0.total_cmp(&b.0)).filter(|_| means.len() > 1)?;
        Some(best.1)
    }

    /// The runs that learned their training pairs, of those of which it is known.
    pub(super) fn fitting(&self) -> Vec<PreferenceRun<'a>> {
        self.runs.iter().copied().filter(|run| run.fits() == Some(true)).collect()
    }
}

/// What differs between runs of a task that are not as in the paper, beside learner and seed: names, and the values of each run.
fn settings(runs: &[(Place, PreferenceRun<'_>)]) -> (Vec<String>, Vec<Vec<String>>) {
    const OTHERS: [&str; 6] = ["seed", "data seed", "learner", "reading", "parameters", "measures"];
    let all: Vec<BTreeMap<String, serde_json::Value>> =
        runs.iter().map(|(_, run)| fields(&run.run)).collect();
    // Among the runs of one learner: settings that others do not have tell nothing apart.
    let mut differing: BTreeSet<String> = BTreeSet::new();
    for learner in distinct(runs.iter().map(|(_, run)| run.learner())) {
        let own: Vec<_> = runs.iter().zip(&all).filter(|((_, run), _)| run.learner() == learner).collect();
        let names: BTreeSet<&String> = own.iter().flat_map(|(_, fields)| fields.keys()).collect();
        let differs = |name: &&&String| own.iter().any(|(_, f)| f.get(**name) != own[0].1.get(**name));
        differing.extend(names.iter().filter(differs).map(|name| (**name).clone()));
    }
    // Each of these is a key, a spread over runs, or what was measured, and makes no row.
    differing.retain(|name| !OTHERS.contains(&name.as_str()));
    let names: Vec<String> = differing.into_iter().collect();
    let text = |value: Option<&serde_json::Value>| {
        let shown =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        value.map_or_else(String::new, shown)
    };
    let values: Vec<Vec<String>> =
        all.iter().map(|fields| names.iter().map(|name| text(fields.get(name))).collect()).collect();
    let columns = VaryingColumns::of(&names, values.iter().map(Vec::as_slice));
    let rows = values.iter().map(|row| columns.values(row).collect()).collect();
    (columns.names().collect(), rows)
}
