//! The cells of the papers' tables, and which of them a run is nearest to.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wug_score::plan::{Departure, PlanKind, Recipe, fields};
use wug_score::{Reading, RunResult};

use crate::facts;
use crate::run::{AnyRun, Run};

/// A cell: its recipe, flattened once.
pub(crate) struct PaperCell<'a> {
    pub(crate) recipe: &'a Recipe,
    fields: BTreeMap<String, Value>,
    /// In what the recipe differs from the published one of the same cell, beside the reading.
    implied: OnceCell<BTreeSet<String>>,
}

impl PaperCell<'_> {
    pub(crate) fn suite(&self) -> &str {
        self.recipe.table.split_once('/').map_or(self.recipe.table.as_str(), |(suite, _)| suite)
    }

    /// The table without the suite.
    pub(crate) fn table(&self) -> &str {
        self.recipe.table.split_once('/').map_or("", |(_, table)| table)
    }

    pub(crate) fn learner(&self) -> &str {
        &self.recipe.plan.learner.name
    }

    /// Whether another cell is of the same table, subject and learner.
    fn is_beside(&self, other: &PaperCell<'_>) -> bool {
        let (a, b) = (&self.recipe, &other.recipe);
        a.table == b.table && a.plan.subject == b.plan.subject && self.learner() == other.learner()
    }

    /// In what a run differs from this cell.
    pub(crate) fn departures(&self, ours: &BTreeMap<String, Value>) -> Vec<Departure> {
        self.recipe.differences(ours, &self.fields)
    }
}

/// All cells, by what they are of.
pub(crate) struct PaperCells<'a> {
    all: Vec<PaperCell<'a>>,
    /// The indices of those of a protocol and subject.
    by_subject: BTreeMap<(&'a str, &'a str), Vec<usize>>,
    /// The first with exactly these fields: most runs are of one, and there may be thousands.
    exact: BTreeMap<String, usize>,
}

impl<'a> PaperCells<'a> {
    pub(crate) fn of(recipes: &'a [Recipe]) -> Self {
        let cell = |recipe: &'a Recipe| PaperCell {
            recipe,
            fields: facts::of_recipe(recipe, fields(&recipe.plan)),
            implied: OnceCell::new(),
        };
        let all: Vec<PaperCell<'a>> = recipes.iter().map(cell).collect();
        let (mut by_subject, mut exact) = (BTreeMap::<_, Vec<usize>>::new(), BTreeMap::new());
        for (i, cell) in all.iter().enumerate() {
            let recipe = cell.recipe;
            by_subject.entry((recipe.protocol.as_str(), recipe.plan.subject.as_str())).or_default().push(i);
            exact.entry(key(&recipe.protocol, &cell.fields)).or_insert(i);
        }
        Self { all, by_subject, exact }
    }

    /// The cell that a run is nearest to: of the same protocol and subject, in the same reading and of the same learner if there is
    /// one, with the fewest departures; of equals the first. None where no paper has the subject.
    pub(crate) fn nearest(&self, result: &RunResult) -> Option<(&PaperCell<'a>, Vec<Departure>)> {
        let ours = facts::of_result(result, fields(&result.plan));
        // Thousands of runs of one rule of 256 each would be compared with all of them otherwise.
        if let Some(&i) = self.exact.get(&key(&result.run.protocol, &ours)) {
            return Some((&self.all[i], Vec::new()));
        }
        let of_subject = self.by_subject.get(&(&result.run.protocol, &result.plan.subject))?;
        let learner = &result.plan.learner;
        // An external learner may have the name of a paper's and be another model.
        let is_ours = learner.external.is_none();
        let candidates = preferred(of_subject.iter().map(|i| &self.all[*i]), |cell| {
            cell.recipe.plan.reading == result.plan.reading
        });
        let in_paper = |cell: &&PaperCell<'_>| is_ours && cell.learner() == learner.name;
        let has_learner = candidates.iter().any(in_paper);
        let candidates = preferred(candidates.into_iter(), in_paper);
        let departures = candidates.into_iter().map(|cell| {
            let mut departures = cell.departures(&ours);
            // A paper that has no figures of a reading has the same cells in it: what else the reading changes is a departure.
            departures.retain(|one| one.field != "reading" && (has_learner || one.is_of_task()));
            (cell, departures)
        });
        // A learner that the paper does not have is as near to several versions of a reading: the plain one is meant.
        let is_plain = |cell: &PaperCell<'_>| {
            cell.recipe.version.is_empty() || cell.recipe.version == cell.recipe.plan.reading.name()
        };
        // `min_by_key` keeps the first of equals, so recipes decide ties by their order in the experiment files.
        departures.min_by_key(|(cell, departures)| (departures.len(), !is_plain(cell)))
    }

    /// In what a cell differs from the nearest published one of the same table, subject and learner: what the corrected
    /// reading implies beside other data.
    pub(crate) fn implied(&self, cell: &PaperCell<'_>) -> BTreeSet<String> {
        let published =
            |other: &&PaperCell<'_>| other.recipe.plan.reading == Reading::Published && other.is_beside(cell);
        let of = || {
            let recipe = &cell.recipe;
            let beside = self.by_subject.get(&(recipe.protocol.as_str(), recipe.plan.subject.as_str()));
            let beside = beside.into_iter().flatten().map(|i| &self.all[*i]).filter(published);
            let differing = beside.map(|other| other.departures(&cell.fields));
            // A table may have several published cells of a learner; the nearest is the one that the reading alone
            // changes.
            let nearest = differing.min_by_key(Vec::len).unwrap_or_default();
            nearest.iter().filter(|one| one.field != "reading").map(Departure::group).collect()
        };
        cell.implied.get_or_init(of).clone()
    }

    /// In what a run differs from the first cell of its subject, reading and learner: what tells columns of a learner apart. None where no
    /// paper has such a cell.
    pub(crate) fn departures_of_first(&self, run: Run<'_, impl PlanKind>) -> Option<Vec<Departure>> {
        let result = run.result();
        let of_subject = self.by_subject.get(&(&result.run.protocol, &result.plan.subject));
        let of_subject = of_subject.into_iter().flatten().map(|i| &self.all[*i]);
        let same = |cell: &&PaperCell<'_>| {
            let plan = &cell.recipe.plan;
            plan.reading == result.plan.reading && plan.learner.name == result.plan.learner.name
        };
        let first = of_subject.into_iter().find(same);
        let ours = fields(&result.plan);
        first.map(|cell| cell.departures(&ours))
    }

    /// Whether a table has a cell of a subject.
    pub(crate) fn has_subject(&self, table: &str, subject: &str) -> bool {
        self.all.iter().any(|cell| cell.recipe.table == table && cell.recipe.plan.subject == subject)
    }

    /// The settings in which the cells of a run's table, subject and learner differ: the table pools them, or tells them apart.
    pub(crate) fn varied(&self, run: AnyRun<'_>) -> BTreeSet<String> {
        let Some(cell) = run.cell() else { return BTreeSet::new() };
        let recipe = &cell.recipe;
        let beside = self.by_subject.get(&(recipe.protocol.as_str(), recipe.plan.subject.as_str()));
        let beside =
            beside.into_iter().flatten().map(|i| &self.all[*i]).filter(|other| other.is_beside(cell));
        beside.flat_map(|other| other.departures(&cell.fields)).map(|one| one.name()).collect()
    }
}

/// Those of which something is true, if it is true of any.
fn preferred<T>(items: impl Iterator<Item = T>, is: impl Fn(&T) -> bool) -> Vec<T> {
    let (first, others): (Vec<T>, Vec<T>) = items.partition(is);
    if first.is_empty() { others } else { first }
}

fn key(protocol: &str, fields: &BTreeMap<String, Value>) -> String {
    // A map of JSON values has a form in JSON.
    format!("{protocol} {}", serde_json::to_string(fields).unwrap_or_default())
}
