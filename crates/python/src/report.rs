//! Reports and exports of sweeps.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wug_lab::LabError;
use wug_lab::score::RunResult;
use wug_lab::spec::recipes;
use wug_lab::sweep::Sweep;
use wug_report::{Format, Logs, RecordFormat, Report, TableFormat, records};

use crate::errors::{WugError, raised, usage};

fn results(dirs: &[PathBuf]) -> Result<Vec<RunResult>, LabError> {
    let mut all = Vec::new();
    for dir in dirs {
        all.extend(Sweep::open(dir)?.status()?.results());
    }
    // Two directories may hold the same run: it counts once, or a mean would lean towards it.
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|result| seen.insert(result.run.plan.clone()));
    Ok(all)
}

/// The report of sweeps as text.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, dirs: Vec<PathBuf>, format: &str) -> PyResult<String> {
    let format = Format::named(format)
        .ok_or_else(|| usage(format!("the formats are: {}", Format::ALL.map(Format::name).join(", "))))?;
    let results = py.detach(|| results(&dirs)).map_err(raised)?;
    let recipes = py.detach(recipes).map_err(raised)?;
    py.detach(|| Report::new(&results, &recipes)?.render(format)).map_err(usage)
}

/// The rows of a sweep as JSON lines.
#[pyfunction]
pub(crate) fn export<'py>(py: Python<'py>, dir: PathBuf, what: &str) -> PyResult<Bound<'py, PyBytes>> {
    let rows = match what {
        "scores" => RecordFormat::Scores,
        "curves" => RecordFormat::Curves,
        "strings" => RecordFormat::Strings,
        other => {
            return Err(usage(format!("there are no rows of `{other}`; there are: scores, curves, strings")));
        }
    };
    let written = py.detach(|| {
        let sweep = Sweep::open(&dir)?;
        let results = sweep.status()?.results();
        let logged = |result: &RunResult| Some((result.run.plan.clone(), sweep.log(&result.run.plan)?));
        let logs: Logs = results.iter().filter_map(logged).collect();
        let mut bytes = Vec::new();
        let ended = records(&results, &recipes()?, &logs, rows, TableFormat::Jsonl, &mut bytes);
        Ok::<_, LabError>(ended.map(|()| bytes))
    });
    let bytes = written.map_err(raised)?.map_err(|error| WugError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}
