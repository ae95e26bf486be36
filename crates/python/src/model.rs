//! Saved models.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wug_lab::answers::{LoadedModel, load_model};
use wug_lab::foreign::Question;

use crate::errors::raised;
use crate::numbers::{real_bytes, split, whole};

/// A saved model of one of our learners.
#[pyclass(frozen, module = "wug._wug", name = "ModelCore")]
pub(crate) struct PyModel(LoadedModel);

#[pymethods]
impl PyModel {
    #[new]
    fn new(directory: PathBuf) -> PyResult<Self> {
        load_model(&directory).map(Self).map_err(raised)
    }

    #[getter]
    fn role(&self) -> &'static str {
        self.0.role.name()
    }

    #[getter]
    fn vocabulary(&self) -> usize {
        self.0.vocabulary()
    }

    #[getter]
    fn config(&self) -> String {
        self.0.config.to_string()
    }

    /// The answers for strings that lie one after the other.
    fn ask<'py>(&self, py: Python<'py>, ids: &[u8], lengths: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let vocabulary = self.0.vocabulary();
        let ids: Vec<u32> = whole(ids)
            .into_iter()
            // An id beyond the vocabulary would reach outside the embedding.
            .map(|id| u32::try_from(id).ok().filter(|id| (*id as usize) < vocabulary))
            .collect::<Option<_>>()
            .ok_or_else(|| crate::errors::usage(format!("ids are from 0 to {}", vocabulary - 1)))?;
        let strings = split(&ids, &whole(lengths))?;
        let answers = py.detach(|| {
            // One for each call, because the object is frozen and threads of Python may ask it at once.
            let mut conversation = self.0.conversation();
            let question = match self.0.role.name() {
                "recognizer" => Question::LogOdds(&strings),
                _ => Question::NextSymbols(&strings, vocabulary),
            };
            conversation.ask(question).map(|numbers| real_bytes(&numbers))
        });
        Ok(PyBytes::new(py, &answers.map_err(raised)?))
    }
}
