//! A section of an experiment, read: a grid of one protocol, at one scale, in one reading.

use std::collections::{BTreeMap, BTreeSet};

use wug_language::registry::Named;
use wug_learner::registry::{Matching, Settings};
use wug_parameter::{FromValue, Key};
use wug_score::plan::{Precision, Recipe};

use super::draft::{DraftNode, Fields};
use super::grid::{self, Cells};
use super::learners::{self, LearnerGrid, TakenLearners};
use super::{Planning, Problem, Reading, declared, shared};
use crate::expand;
use crate::plan::RunPlan;
use crate::protocol::{Protocol, Subjects};

/// A section with everything that it says, each value checked against its declaration.
#[derive(Debug)]
pub struct Section<P> {
    /// As published, or corrected.
    pub reading: Reading,
    /// The names of what it is about, as spelled.
    pub subjects: Vec<String>,
    /// The same as languages of the registry, if that is what they are.
    pub languages: Vec<Named>,
    /// The learners, each with every combination of its settings.
    pub learners: Vec<LearnerGrid>,
    /// The numbers of parameters that learners are to have; none if their settings decide.
    pub sizes: Vec<usize>,
    /// How dimensions are found from a size.
    pub matching: Matching,
    /// Floating-point precision of training and evaluation.
    pub precision: Precision,
    pub seeds: std::ops::Range<u64>,
    /// The table of a paper that it is, and what it is called among several of one table.
    pub(crate) paper: Option<(String, String)>,
    /// The protocol's own fields.
    own: Settings,
    /// The names of those that were given.
    given: BTreeSet<&'static str>,
    /// The settings that none of its learners has.
    unused: Vec<String>,
    /// Whether data that only users have may be missing: what a paper did is known without them.
    pub(crate) may_lack_files: bool,
    protocol: std::marker::PhantomData<fn() -> P>,
}

/// A section of any protocol.
pub(crate) trait AnySection {
    /// The most runs that it can have: counted before any is planned. Checks all that can be checked without data.
    fn count(&self) -> Result<usize, Problem>;

    /// The settings that none of its learners has.
    fn unused(&self) -> &[String];

    fn plans(&self) -> Result<Vec<RunPlan>, Problem>;

    /// The cells of the table that it is; none if it is no paper's.
    fn recipes(&self) -> Result<Vec<Recipe>, Problem>;
}

impl<P: Protocol> Section<P> {
    /// Reads a section, which is at one scale; in one of the readings that it asks for.
    pub(crate) fn read(mut fields: Fields, reading: Reading, planning: &Planning) -> Result<Self, Problem> {
        // Before fields are taken: afterwards a default cannot be told from a value that was given.
        let given = P::FIELDS.iter().filter(|field| fields.get(field.name).is_some());
        let given = given.map(|field| field.name).collect();
        let common = declared::take(&mut fields, &shared::parameters::<P>(), reading)?;
        let sizes = common.get(&shared::SIZES);
        let (first_seed, seeds) = (common.get(&shared::FIRST_SEED), common.get(&shared::SEEDS) as u64);
        let things = fields.take(P::SUBJECTS.field()).map_or_else(Vec::new, DraftNode::into_items);
        // A name may stand for several languages: they are counted in full once they are known.
        let of_each = grid::count_things(&things).max(1).saturating_mul(sizes.len().max(1));
        let cells = Cells { first_seed, seeds, of_each, learners: 0 };
        // Refused before the combinations of settings are made: each takes memory.
        grid::runs(first_seed, seeds, [of_each])?;
        let TakenLearners { learners, unused } = learners::take::<P>(&mut fields, reading, cells, planning)?;
        let own = declared::take(&mut fields, P::FIELDS, reading)?;
        // After all that takes fields: what is left has no taker, so its name is wrong.
        declared::nothing_else(&fields, &super::known_names(&P::ENTRY))?;
        let subjects = grid::things(P::SUBJECTS.field(), &things)?;
        let languages = match P::SUBJECTS {
            Subjects::Languages => grid::languages(&subjects)?,
            Subjects::Own(_) => Vec::new(),
        };
        let table = common.get(&shared::PAPER);
        let version = common.get(&shared::VERSION).unwrap_or_default();
        Ok(Self {
            reading,
            subjects,
            languages,
            learners,
            sizes,
            matching: common.get(&shared::MATCHING),
            precision: common.get(&shared::PRECISION),
            seeds: first_seed..first_seed.saturating_add(seeds),
            paper: table.map(|table| (table, version)),
            own,
            given,
            unused,
            may_lack_files: planning.is_of_recipes(),
            protocol: std::marker::PhantomData,
        })
    }

    /// The value of one of the protocol's own fields.
    pub(crate) fn get<T: FromValue>(&self, key: &Key<T>) -> T {
        self.own.get(key)
    }

    /// Whether a field was given, or has its default.
    pub(crate) fn gives<T>(&self, key: &Key<T>) -> bool {
        self.given.contains(key.name())
    }

    /// The same of a field by its name.
    pub(crate) fn gives_named(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// The sizes that are asked for; no size once, if none is.
    pub(crate) fn asked_sizes(&self) -> Vec<Option<usize>> {
        if self.sizes.is_empty() { vec![None] } else { self.sizes.iter().copied().map(Some).collect() }
    }

    /// The names of settings that differ between runs of the section.
    pub(crate) fn varied(&self) -> BTreeSet<String> {
        let mut varied: BTreeSet<String> =
            self.learners.iter().flat_map(|grid| &grid.varied).cloned().collect();
        // With `run`, the seed in the label says it. Only a list needs a name of its own.
        if P::data_seeds(self).len() > 1 {
            varied.insert(crate::plan::DATA_SEED.to_owned());
        }
        varied
    }

    /// The names of settings of which some learner has several values that the section lists, in one table or in several. Runs with
    /// different values are compared with each other. What each run draws from a range varies too, but is not compared.
    pub(crate) fn compared(&self) -> BTreeSet<String> {
        let mut values: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for grid in self.learners.iter().filter(|grid| grid.ours().is_some()) {
            for (name, value) in grid.settings.iter().flat_map(Settings::iter) {
                values.entry((&grid.name, name)).or_default().insert(format!("{value:?}"));
            }
        }
        // In the grid, a drawn setting has the least value of its range: two tables of a learner would seem to list several.
        let drawn = |name: &str| self.learners.iter().any(|grid| grid.draws(name));
        let several = values.into_iter().filter(|(_, values)| values.len() > 1);
        let names = several.map(|((_, name), _)| name).filter(|name| !drawn(name));
        let own = P::COMPARED.iter().filter(|field| self.lists_several(field));
        names.map(str::to_owned).chain(own.map(|field| (*field).to_owned())).collect()
    }

    /// Whether one of the protocol's own fields, whose name is the plural of this one, lists several values.
    fn lists_several(&self, field: &str) -> bool {
        let value = self.own.get_value(&format!("{field}s"));
        matches!(value, Some(wug_parameter::SettingValue::List(items)) if items.len() > 1)
    }
}

impl<P: Protocol> AnySection for Section<P> {
    fn count(&self) -> Result<usize, Problem> {
        let ways = self.learners.iter().map(|learner| learner.settings.len()).sum();
        let shared = [self.languages.len().max(1), ways, self.sizes.len().max(1)];
        let run = |cells: usize| {
            let seeds = self.seeds.end - self.seeds.start;
            grid::runs(self.seeds.start, seeds, shared.into_iter().chain([cells]))
        };
        // Once without the protocol's cells: `P::cells` may look at every combination of settings, so there must not be too many.
        run(P::data_seeds(self).len())?;
        run(P::cells(self)?.saturating_mul(P::data_seeds(self).len()))
    }

    fn unused(&self) -> &[String] {
        &self.unused
    }

    fn plans(&self) -> Result<Vec<RunPlan>, Problem> {
        let (varied, compared) = (self.varied(), self.compared());
        let run = |planned: expand::PlannedCell<P>| {
            RunPlan::new::<P>(planned.plan, planned.estimate).with_notes(&varied, &compared)
        };
        Ok(expand::plans(self)?.into_iter().map(run).collect())
    }

    fn recipes(&self) -> Result<Vec<Recipe>, Problem> {
        let Some((table, version)) = &self.paper else { return Ok(Vec::new()) };
        let runs = usize::try_from(self.seeds.end - self.seeds.start).unwrap_or(usize::MAX);
        let recipe = |planned: expand::PlannedCell<P>| Recipe {
            table: table.clone(),
            version: version.clone(),
            protocol: P::PROTOCOL.to_owned(),
            plan: planned.plan.untyped(),
            drawn: self.learners[planned.learner]
                .ranges()
                .map(|(name, range)| (name.to_owned(), range))
                .collect(),
            runs,
        };
        // The runs of a cell differ in their seeds alone: the first stands for all.
        let one = self.seeds.start..self.seeds.start + 1;
        Ok(expand::plans_with(self, one)?.into_iter().map(recipe).collect())
    }
}
