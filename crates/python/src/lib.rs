//! The Python package `wug`: what Python sees of the lab. Arrays come and go as bytes, which NumPy reads and writes in place;
//! `python/wug/` makes them arrays, with Python's own habits. No arithmetic here.

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]

mod data;
mod errors;
mod language;
mod learner;
mod lists;
mod model;
mod numbers;
mod report;
mod run;
mod score;

use pyo3::prelude::*;

/// What `wug` is made of.
#[pymodule]
mod _wug {
    #[pymodule_export]
    use super::data::data;
    #[pymodule_export]
    use super::errors::{UsageError, WugError};
    #[pymodule_export]
    use super::language::PyLanguage;
    #[pymodule_export]
    use super::lists::listing;
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::report::{export, report};
    #[pymodule_export]
    use super::run::{doctor, run};
    #[pymodule_export]
    use super::score::{
        agreement, description_length, examples, index, next_symbols, pairs, perplexity, steps, wade,
    };
    use super::{Bound, PyModule, PyResult};
    use pyo3::types::PyModuleMethods as _;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
