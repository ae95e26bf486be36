//! From a section to its plans: every cell of the grid, with nothing left open. Written once for all protocols.

use std::ops::Range;

use wug_learner::registry::Settings;
use wug_score::plan::{Plan, PlanKind, PlannedLearner};

use crate::plan::RunEstimate;
use crate::protocol::Protocol;
use crate::spec::sizes::Sizes;
use crate::spec::{LearnerGrid, Problem, Section};

/// A learner with some settings and a size, before it is known what it is fitted to.
pub struct LearnerCandidate<'s> {
    pub grid: &'s LearnerGrid,
    pub settings: &'s Settings,
    pub size: Option<usize>,
}

impl LearnerCandidate<'_> {
    pub fn is_external(&self) -> bool {
        self.grid.external().is_some()
    }
}

/// The data and the measure of one cell.
pub type GridCell<P> = (<P as PlanKind>::Data, <P as PlanKind>::Measure);

/// A run of a section.
pub struct PlannedCell<P: Protocol> {
    pub plan: Plan<P>,
    pub estimate: RunEstimate,
    /// The index of its learner in the section.
    pub learner: usize,
}

pub(crate) fn plans<P: Protocol>(section: &Section<P>) -> Result<Vec<PlannedCell<P>>, Problem> {
    plans_with(section, section.seeds.clone())
}

/// The runs with these seeds. Seeds are outermost, so that a sweep that is cut short has some runs of every kind; runs on the same
/// data follow each other.
pub(crate) fn plans_with<P: Protocol>(
    section: &Section<P>,
    seeds: Range<u64>,
) -> Result<Vec<PlannedCell<P>>, Problem> {
    let data_seeds = P::data_seeds(section);
    let mut grid = Expansion { section, sizes: Sizes::default(), plans: Vec::new() };
    // Once for all seeds: a subject may read a directory or a file of reviews.
    let subjects = P::subjects(section)?;
    for seed in seeds {
        for data_seed in data_seeds.of(seed) {
            // A baseline is deterministic: one seed is enough for each set of data.
            let again = seed != section.seeds.start && !data_seeds.has_of_run();
            for subject in &subjects {
                // Learners innermost: `DataCache` holds one data set, which all learners on a subject read.
                for (i, learner) in section.learners.iter().enumerate() {
                    if !(again && learner.is_deterministic()) {
                        grid.learner(subject, i, RunSeeds { run: seed, data: data_seed })?;
                    }
                }
            }
        }
    }
    P::distinct(grid.plans)
}

/// The seed of a run, and that of its data.
#[derive(Clone, Copy)]
struct RunSeeds {
    run: u64,
    data: u64,
}

struct Expansion<'s, P: Protocol> {
    section: &'s Section<P>,
    /// Cached across seeds: most runs share a search for dimensions.
    sizes: Sizes,
    plans: Vec<PlannedCell<P>>,
}

impl<P: Protocol> Expansion<'_, P> {
    /// Every cell of a learner on a subject.
    fn learner(&mut self, subject: &P::Subject, index: usize, seeds: RunSeeds) -> Result<(), Problem> {
        let section = self.section;
        let grid = &section.learners[index];
        for settings in &grid.settings {
            let settings = grid.on(settings, subject.as_ref())?;
            // A baseline has no parameters: it would be run once for each size, with the same result.
            let sizes = if grid.is_deterministic() {
                vec![None]
            } else {
                P::sizes(section, subject, grid, &settings)?
            };
            for size in sizes {
                let candidate = LearnerCandidate { grid, settings: &settings, size };
                for (data, measure) in P::variants(section, subject, &candidate)? {
                    let plan = Plan {
                        subject: subject.as_ref().to_owned(),
                        reading: section.reading,
                        learner: PlannedLearner {
                            name: grid.name.clone(),
                            size,
                            ..PlannedLearner::default()
                        },
                        // Data that are read have no seed: with one, the same run would have several ids.
                        data_seed: P::draws(&data).then_some(seeds.data),
                        data,
                        measure,
                        seed: seeds.run,
                        precision: P::precision(section, grid),
                    };
                    let plan = self.settled(plan, subject, &candidate)?;
                    let estimate = P::estimate(&plan, subject);
                    self.plans.push(PlannedCell { plan, estimate, learner: index });
                }
            }
        }
        Ok(())
    }

    /// The plan with what is drawn and with its dimensions.
    fn settled(
        &mut self,
        mut plan: Plan<P>,
        subject: &P::Subject,
        candidate: &LearnerCandidate<'_>,
    ) -> Result<Plan<P>, Problem> {
        let grid = candidate.grid;
        // `P::root` reads the subject, the learner's name and its size, which are final here. Dimensions are found below.
        let stream = P::root(&plan).derive("hyperparameters");
        plan.learner.external = grid.external().cloned();
        plan.learner.settings = grid.drawn(candidate.settings, stream);
        P::draw(&mut plan, candidate, stream);
        if let Some(learner) = grid.ours() {
            let settings = std::mem::take(&mut plan.learner.settings);
            let task = P::task(&plan, subject);
            let how = (candidate.size, self.section.matching);
            let matched = self
                .sizes
                .matched(learner, grid, settings, task, how)
                .map_err(|error| error.of(&grid.name, subject.as_ref()))?;
            // Only where a size decided something: otherwise two values of `matching` would give one run two ids.
            plan.learner.matching =
                candidate.size.filter(|_| !matched.found.is_empty()).map(|_| self.section.matching);
            plan.learner.found = matched.found;
            plan.learner.found.extend(grid.ranges().map(|(name, _)| name.to_owned()));
            (plan.learner.settings, plan.learner.parameters) = (matched.settings, matched.parameters);
        }
        // Last: what follows from the dimensions, such as the positions of a transformer, is known only now.
        P::settle(self.section, subject, &mut plan)?;
        Ok(plan)
    }
}
