//! A run as all tables read it: its result, its plan as a type, and the cell of a paper that it is nearest to.

use std::any::Any;
use std::ops::Deref;

use wug_score::RunResult;
use wug_score::plan::{
    Departure, Generalization, Pairs, Plan, PlanKind, Preference, Recognition, Speed, Untyped,
};

use crate::cells::PaperCell;

/// A result beside the cell of a paper that is nearest to it.
pub(crate) struct ReportedRun<'a> {
    pub(crate) result: &'a RunResult,
    /// A `Plan` of the protocol, read once; none of a protocol that is not known here.
    // Runs of all protocols are in one list, and each suite asks for its own type.
    plan: Option<Box<dyn Any>>,
    /// None where no paper has the subject.
    pub(crate) cell: Option<&'a PaperCell<'a>>,
    /// In what it is not as that cell.
    pub(crate) departures: Vec<Departure>,
}

impl<'a> ReportedRun<'a> {
    pub(crate) fn new(result: &'a RunResult, nearest: Option<(&'a PaperCell<'a>, Vec<Departure>)>) -> Self {
        let (cell, departures) = nearest.map_or((None, Vec::new()), |(cell, of)| (Some(cell), of));
        Self { result, plan: typed(result), cell, departures }
    }

    /// The run with its plan as it is in the result, whatever protocol it is of.
    pub(crate) fn any(&'a self) -> AnyRun<'a> {
        Run { reported: self, plan: &self.result.plan }
    }
}

fn typed(result: &RunResult) -> Option<Box<dyn Any>> {
    fn plan<K: PlanKind>(result: &RunResult) -> Option<Box<dyn Any>> {
        result.plan_of::<K>().map(|plan| Box::new(plan) as Box<dyn Any>)
    }
    let kinds =
        [plan::<Recognition>, plan::<Generalization>, plan::<Speed>, plan::<Preference>, plan::<Pairs>];
    kinds.iter().find_map(|plan| plan(result))
}

/// A run whose protocol nobody asks for.
pub(crate) type AnyRun<'r> = Run<'r, Untyped>;

/// A run of a protocol. All that its result has can be read of it too.
#[derive(Clone, Copy)]
pub(crate) struct Run<'r, K: PlanKind> {
    pub(crate) reported: &'r ReportedRun<'r>,
    pub(crate) plan: &'r Plan<K>,
}

impl<K: PlanKind> Deref for Run<'_, K> {
    type Target = RunResult;

    fn deref(&self) -> &RunResult {
        self.reported.result
    }
}

impl<'r, K: PlanKind> Run<'r, K> {
    /// The run with its plan as a type, if it is of that protocol.
    pub(crate) fn of<T: PlanKind>(self) -> Option<Run<'r, T>> {
        Some(Run { reported: self.reported, plan: self.reported.plan.as_ref()?.downcast_ref()? })
    }

    /// Whether the figure of its cell may stand beside it.
    pub(crate) fn is_as_in_paper(self) -> bool {
        self.cell().is_some() && self.reported.departures.is_empty()
    }

    /// Whether its data are those of a cell of a suite.
    pub(crate) fn has_data_of(self, suite: &str) -> bool {
        // Another learner on the paper's data has a place in its tables; other data have none.
        let other_data = self.reported.departures.iter().any(Departure::is_of_data);
        self.cell().is_some_and(|cell| cell.suite() == suite) && !other_data
    }

    pub(crate) fn cell(self) -> Option<&'r PaperCell<'r>> {
        self.reported.cell
    }

    pub(crate) fn result(self) -> &'r RunResult {
        self.reported.result
    }

    pub(crate) fn learner(self) -> &'r str {
        &self.plan.learner.name
    }

    pub(crate) fn subject(self) -> &'r str {
        &self.plan.subject
    }
}

/// The runs of a protocol among some.
pub(crate) fn of_kind<'r, K: PlanKind>(runs: &[AnyRun<'r>]) -> Vec<Run<'r, K>> {
    runs.iter().filter_map(|run| run.of()).collect()
}

pub(crate) fn results<'r, K: PlanKind>(runs: &[Run<'r, K>]) -> Vec<&'r RunResult> {
    runs.iter().map(|run| run.result()).collect()
}
