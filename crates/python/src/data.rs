//! Data sets in memory.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use wug_lab::LabError;
use wug_lab::data::{Request, in_memory, tokens};
use wug_lab::suite::DataFormat;

use crate::errors::{raised, usage};
use crate::language::reading;

/// Files by name; the tokens of symbols, of outputs, and of prompts.
type FilesAndTokens<'py> = (Bound<'py, PyDict>, Vec<String>, Option<Vec<String>>, Option<Vec<String>>);

/// The files of a data set, by name, and the tokens of its symbols in the order of their ids.
#[pyfunction]
pub(crate) fn data<'py>(
    py: Python<'py>,
    what: &str,
    seed: Option<u64>,
    reading_name: &str,
    options: Vec<(String, String)>,
) -> PyResult<FilesAndTokens<'py>> {
    let mut request = Request::parse(what).map_err(raised)?;
    // A suite as a whole is many data sets, in folders; here are the files of one.
    if request.name.is_none() {
        let names = request.suite.members().join(", ");
        return Err(usage(format!("name one of the members, such as {what}/…; there are: {names}")));
    }
    request.reading = reading(reading_name)?;
    request.seed = seed;
    // Rows are what the package reads; the other layouts are those of released files.
    request.format = DataFormat::named("jsonl");
    request.options = options.into_iter().collect();
    let (files, tokens) =
        py.detach(|| Ok::<_, LabError>((in_memory(&request)?, tokens(&request)?))).map_err(raised)?;
    let dict = PyDict::new(py);
    for (name, bytes) in files {
        dict.set_item(name, PyBytes::new(py, &bytes))?;
    }
    Ok((dict, tokens.symbols, tokens.outputs, tokens.prompts))
}
