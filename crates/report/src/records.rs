//! Results as tables for other programs: every measurement, every point of a learning curve or every scored string as a row
//! with everything about its run.

mod flat;
mod runs;

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::Value as Json;
use wug_score::plan::Recipe;
use wug_score::{Measurement, RunResult};
use wug_table::{ColumnValue as Value, Kind, TableFormat, TableWriter, TypedColumn as Column};

use crate::ReportError;
use crate::cells::PaperCells;
use crate::report::reported;
use crate::run::{AnyRun, ReportedRun};
use crate::{generic, repeats, suite};
pub(crate) use flat::flatten;
use runs::RunColumns;

/// What the rows of an exported table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// Measurements, and what suites derive from several results.
    Scores,
    /// Points of learning curves.
    Curves,
    /// Strings that results list with their scores.
    Strings,
}

/// What is logged about runs, by the hash of their plan: seconds, build and whatever else is no part of a result.
pub type Logs = BTreeMap<String, Json>;

/// A figure that a suite derives from several results, such as an index over factors.
#[derive(Clone, Debug)]
pub struct Derived<'a> {
    /// The results that it is derived from.
    pub of: Vec<&'a RunResult>,
    pub measurement: Measurement,
    /// As the report shows it, where that says more than the number: `≥2` or `<1`.
    pub shown: String,
}

/// Writes a table of these results. What tells runs apart comes first, then what the rows are about, then everything else
/// about the run: how it ended, what was logged, and every setting of its plan under its path, such as `data.training`
/// (paths of the learner and the measure are shortened). In a derived row, what differs between the results is empty.
///
/// What suites derive of the runs that are as in their papers needs the papers' recipes.
pub fn records(
    results: &[RunResult],
    recipes: &[Recipe],
    logs: &Logs,
    rows: RecordFormat,
    format: TableFormat,
    out: impl Write,
) -> Result<(), ReportError> {
    let own: &[(&str, Kind)] = match rows {
        RecordFormat::Scores => &SCORES,
        RecordFormat::Curves => &CURVES,
        RecordFormat::Strings => &STRINGS,
    };
    let own: Vec<Column> = own.iter().map(|(name, kind)| Column::new(*name, *kind)).collect();
    let mut table = RunTable::begin(results, logs, &own, format, out)?;
    for (i, result) in results.iter().enumerate() {
        match rows {
            RecordFormat::Scores => {
                let scores = result.scores.iter().map(|m| score(m, false, 1, ""));
                table.rows(&[i], scores)?;
            }
            RecordFormat::Curves => {
                table.rows(&[i], result.curve.iter().map(curve_point))?;
                table.rows(&[i], accuracies(&result.data).into_iter().map(EvaluatedPoint::values))?;
            }
            RecordFormat::Strings => {
                table.rows(&[i], result.hardest.iter().map(|string| scored_string("hardest", string)))?;
                table.rows(&[i], result.strings.iter().map(|string| scored_string("every", string)))?;
            }
        }
    }
    if rows == RecordFormat::Scores {
        let known = results.iter().enumerate().map(|(i, result)| (result.run.plan.as_str(), i));
        let at: BTreeMap<&str, usize> = known.collect();
        let cells = PaperCells::of(recipes);
        let all = reported(results, &cells);
        let all: Vec<AnyRun<'_>> = all.iter().map(ReportedRun::any).collect();
        for derived in derived(&cells, &repeats::distinct(&all, &cells)) {
            let of: Vec<usize> =
                derived.of.iter().filter_map(|r| at.get(r.run.plan.as_str()).copied()).collect();
            table.rows(&of, [score(&derived.measurement, true, of.len(), &derived.shown)])?;
        }
    }
    table.finish()
}

/// Writes a table of rows that are beside the results, such as predictions, with everything about their runs.
pub fn records_beside<E: From<ReportError>>(
    results: &[RunResult],
    logs: &Logs,
    columns: &[Column],
    mut rows: impl FnMut(&RunResult) -> Result<Vec<Vec<Value<'static>>>, E>,
    format: TableFormat,
    out: impl Write,
) -> Result<(), E> {
    let mut table = RunTable::begin(results, logs, columns, format, out)?;
    for (i, result) in results.iter().enumerate() {
        table.rows(&[i], rows(result)?)?;
    }
    Ok(table.finish()?)
}

/// A table with everything about runs in each row.
struct RunTable<W: Write> {
    table: TableWriter<W>,
    runs: RunColumns,
}

impl<W: Write> RunTable<W> {
    /// A table with these columns of its own.
    fn begin(
        results: &[RunResult],
        logs: &Logs,
        own: &[Column],
        format: TableFormat,
        out: W,
    ) -> Result<Self, ReportError> {
        let taken: Vec<&str> = own.iter().map(|column| column.name.as_str()).collect();
        let runs = RunColumns::of(results, logs, &taken);
        let (first, rest) = runs.columns();
        let columns = [first, own, rest].concat();
        Ok(Self { table: TableWriter::new(out, format, columns)?, runs })
    }

    /// Rows of what these results have in common.
    fn rows<'v>(
        &mut self,
        of: &[usize],
        rows: impl IntoIterator<Item = Vec<Value<'v>>>,
    ) -> Result<(), ReportError> {
        let run = self.runs.row(of);
        let (first, rest) = run.split_at(self.runs.columns().0.len());
        for own in rows {
            self.table.row(&[first, &own, rest].concat())?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), ReportError> {
        self.table.finish()?;
        Ok(())
    }
}

/// What every suite derives from the runs that it claims, and the means of the others.
fn derived<'r>(cells: &PaperCells<'_>, runs: &[AnyRun<'r>]) -> Vec<Derived<'r>> {
    let (claims, unclaimed) = suite::split(runs);
    let of_suites = claims.iter().flat_map(|(suite, own)| suite.derived(cells, own));
    of_suites.chain(generic::means(&unclaimed)).collect()
}

/// A measurement: of one run, or derived from several.
const SCORES: [(&str, Kind); 19] = [
    ("derived", Kind::Boolean),
    ("runs", Kind::Integer),
    ("split", Kind::Text),
    ("stratum", Kind::Text),
    ("stratum_kind", Kind::Text),
    ("stratum_low", Kind::Float),
    ("stratum_high", Kind::Float),
    ("metric", Kind::Text),
    ("unit", Kind::Text),
    ("value", Kind::Float),
    ("shown", Kind::Text),
    ("numerator", Kind::Float),
    ("denominator", Kind::Float),
    ("n", Kind::Integer),
    ("spread", Kind::Float),
    ("chance", Kind::Float),
    ("interval_low", Kind::Float),
    ("interval_high", Kind::Float),
    ("interval_level", Kind::Float),
];

fn score<'a>(m: &'a Measurement, derived: bool, runs: usize, shown: &'a str) -> Vec<Value<'a>> {
    let bounds = m.stratum.bounds();
    vec![
        derived.into(),
        runs.into(),
        m.split.as_str().into(),
        m.stratum.to_string().into(),
        m.stratum.kind().into(),
        bounds.map(|(low, _)| low).into(),
        bounds.map(|(_, high)| high).into(),
        m.metric.as_str().into(),
        m.unit.name().into(),
        m.value.into(),
        Some(shown).filter(|shown| !shown.is_empty()).into(),
        m.numerator.into(),
        m.denominator.into(),
        m.n.into(),
        m.spread.into(),
        m.chance.into(),
        m.interval.map(|i| i.low).into(),
        m.interval.map(|i| i.high).into(),
        m.interval.map(|i| i.level).into(),
    ]
}

/// A point of a learning curve: a loss in training, or the accuracy after so many sequences.
const CURVES: [(&str, Kind); 6] = [
    ("epoch", Kind::Integer),
    ("step", Kind::Unsigned),
    ("training_loss", Kind::Float),
    ("validation_loss", Kind::Float),
    ("seen", Kind::Float),
    ("accuracy", Kind::Float),
];

fn curve_point(point: &wug_score::Point) -> Vec<Value<'static>> {
    let none = None::<f64>;
    let (training, validation) = (point.training.into(), point.validation.into());
    vec![point.epoch.into(), point.steps.into(), training, validation, none.into(), none.into()]
}

/// An evaluation on the way.
struct EvaluatedPoint {
    updates: Option<u64>,
    seen: f64,
    accuracy: f64,
}

impl EvaluatedPoint {
    fn values(self) -> Vec<Value<'static>> {
        let (count, loss) = (None::<usize>, None::<f64>);
        let (seen, accuracy) = (self.seen.into(), self.accuracy.into());
        vec![count.into(), self.updates.into(), loss.into(), loss.into(), seen, accuracy]
    }
}

/// The evaluations that a result lists with its data.
fn accuracies(data: &Json) -> Vec<EvaluatedPoint> {
    let list = |name: &str| data.get("curve")?.get(name)?.as_array();
    let of = data.get("test_answers").and_then(Json::as_f64);
    let (Some(seen), Some(correct), Some(of)) = (list("seen"), list("correct"), of) else {
        return Vec::new();
    };
    let point = |(i, (seen, correct)): (usize, (&Json, &Json))| {
        let updates = list("updates").and_then(|updates| updates.get(i)?.as_u64());
        Some(EvaluatedPoint { updates, seen: seen.as_f64()?, accuracy: correct.as_f64()? / of })
    };
    seen.iter().zip(correct).enumerate().filter_map(point).collect()
}

/// A string with its score, and the list of the result that it is in: the hardest ones, or every string of a split.
const STRINGS: [(&str, Kind); 7] = [
    ("list", Kind::Text),
    ("split", Kind::Text),
    ("string", Kind::Text),
    ("label", Kind::Boolean),
    ("edits", Kind::Integer),
    ("distance", Kind::Integer),
    ("cross_entropy", Kind::Float),
];

fn scored_string<'a>(list: &'a str, s: &'a wug_score::ScoredString) -> Vec<Value<'a>> {
    vec![
        list.into(),
        s.split.as_str().into(),
        s.string.as_str().into(),
        s.label.into(),
        s.edits.into(),
        s.distance.into(),
        s.cross_entropy.into(),
    ]
}
