//! Learners in Python, behind the same trait as those of other processes.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;
use wug_lab::foreign::{Begin, Conversation, Examples, Failure, Fitted, Hear, Question, Task};

use crate::numbers::{reals, whole_bytes};

/// A conversation with an object of Python's class `wug._learners.Adapter`.
struct PythonLearner {
    adapter: Py<PyAny>,
    /// Whether the run is to stop.
    stop: Arc<AtomicBool>,
}

/// Begins conversations: `make` is called without arguments for each run. `stop` is set before learners are interrupted.
pub(crate) fn begin(make: Py<PyAny>, stop: Arc<AtomicBool>) -> Box<Begin> {
    Box::new(move || {
        Python::attach(|py| {
            let adapter = make.call0(py).map_err(|error| failure(py, &error, &stop))?;
            Ok(Box::new(PythonLearner { adapter, stop: Arc::clone(&stop) }) as Box<dyn Conversation>)
        })
    })
}

/// An exception as a failure of the learner, with where it was raised. Signals are handled on another thread: a `KeyboardInterrupt`
/// here is an interruption only if the run is to stop. Otherwise the learner raised it, and its run fails as with any exception.
fn failure(py: Python<'_>, error: &PyErr, stop: &AtomicBool) -> Failure {
    if stop.load(Ordering::SeqCst) && error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return Failure::Stopped;
    }
    let trace = error.traceback(py).and_then(|trace| trace.format().ok()).unwrap_or_default();
    // The last frame says where.
    let frames: Vec<&str> = trace.lines().rev().take(2).collect();
    let at = frames.into_iter().rev().map(str::trim).collect::<Vec<_>>().join(" ");
    let at = if at.is_empty() { at } else { format!(" ({at})") };
    Failure::learner(format!("{error}{at}"))
}

fn flat<'s>(strings: impl Iterator<Item = &'s [u32]>) -> (Vec<u8>, Vec<u8>) {
    let (mut ids, mut lengths) = (Vec::new(), Vec::new());
    for string in strings {
        ids.extend(string.iter().map(|id| i64::from(*id)));
        lengths.push(string.len() as i64);
    }
    (whole_bytes(ids), whole_bytes(lengths))
}

/// For each symbol of each string, whether it is at one of the positions.
fn masks(strings: &[&[u32]], positions: &[&[usize]]) -> Vec<u8> {
    let of = |(string, positions): (&&[u32], &&[usize])| {
        let mut mask = vec![0; string.len()];
        positions.iter().for_each(|&at| mask[at] = 1);
        mask
    };
    strings.iter().zip(positions).flat_map(of).collect()
}

/// Ids, lengths, labels, and ids and lengths of outputs.
type ExampleBytes<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
    Option<Bound<'py, PyBytes>>,
    Option<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>,
);

fn example_bytes<'py>(py: Python<'py>, examples: &Examples) -> ExampleBytes<'py> {
    let (ids, lengths) = flat(examples.strings.iter().map(Vec::as_slice));
    let labels = examples.labels.as_ref().map(|labels| {
        let bytes: Vec<u8> = labels.iter().map(|label| u8::from(*label)).collect();
        PyBytes::new(py, &bytes)
    });
    let outputs = examples.outputs.as_ref().map(|outputs| {
        let (ids, lengths) = flat(outputs.iter().map(Vec::as_slice));
        (PyBytes::new(py, &ids), PyBytes::new(py, &lengths))
    });
    (PyBytes::new(py, &ids), PyBytes::new(py, &lengths), labels, outputs)
}

/// All of a task but its examples.
fn about(task: &Task) -> String {
    json!({
        "role": task.role, "seed": task.seed, "settings": task.settings, "budget": task.budget,
        "alphabet": task.alphabet,
        "output_alphabet": task.output_alphabet, "vocabulary": task.vocabulary, "checkpoint": task.checkpoint,
    })
    .to_string()
}

impl PythonLearner {
    fn failure(&self, py: Python<'_>, error: &PyErr) -> Failure {
        failure(py, error, &self.stop)
    }
}

impl Conversation for PythonLearner {
    fn fit(&mut self, task: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
        Python::attach(|py| {
            let training = example_bytes(py, &task.training);
            let validation = task.validation.as_ref().map(|examples| example_bytes(py, examples));
            let parameters = self.adapter.call_method1(py, "fit", (about(task), training, validation));
            let parameters = parameters.and_then(|found| found.extract(py));
            Ok(Fitted { parameters: parameters.map_err(|error| self.failure(py, &error))? })
        })
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        let (ids, lengths) = flat(question.strings().iter().copied());
        Python::attach(|py| {
            let (ids, lengths) = (PyBytes::new(py, &ids), PyBytes::new(py, &lengths));
            let answer = match question {
                Question::LogOdds(_) => self.adapter.call_method1(py, "log_odds", (ids, lengths)),
                Question::NextSymbols(_, vocabulary) => {
                    self.adapter.call_method1(py, "next_probs", (ids, lengths, vocabulary))
                }
                Question::Answers(strings, positions) => {
                    let mask = PyBytes::new(py, &masks(strings, positions));
                    self.adapter.call_method1(py, "answers", (ids, lengths, mask))
                }
                Question::LogProbs(_, outputs) => {
                    let (outputs, sizes) = flat(outputs.iter().copied());
                    let outputs = (PyBytes::new(py, &outputs), PyBytes::new(py, &sizes));
                    self.adapter.call_method1(py, "log_probs", (ids, lengths, outputs.0, outputs.1))
                }
            };
            let answer = answer.map_err(|error| self.failure(py, &error))?;
            // Borrowed from the object of Python, so that the answers to a large test are copied once.
            let bytes: &[u8] = answer.extract(py).map_err(|error| self.failure(py, &error))?;
            Ok(reals(bytes))
        })
    }

    fn observe(&mut self, strings: &[&[u32]], positions: &[&[usize]]) -> Result<(), Failure> {
        let ((ids, lengths), mask) = (flat(strings.iter().copied()), masks(strings, positions));
        Python::attach(|py| {
            let [ids, lengths, mask] = [ids, lengths, mask].map(|bytes| PyBytes::new(py, &bytes));
            let observed = self.adapter.call_method1(py, "observe", (ids, lengths, mask));
            observed.map(drop).map_err(|error| self.failure(py, &error))
        })
    }

    fn output(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        let (shortest, longest) = lengths.into_inner();
        Python::attach(|py| {
            let output = self.adapter.call_method1(py, "output", (input.to_vec(), shortest, longest));
            output.and_then(|output| output.extract(py)).map_err(|error| self.failure(py, &error))
        })
    }

    fn save(&mut self) -> Result<Option<String>, Failure> {
        Python::attach(|py| {
            let state = self.adapter.call_method0(py, "save").and_then(|state| state.extract(py));
            state.map_err(|error| self.failure(py, &error))
        })
    }

    fn load(&mut self, task: &Task, state: &str) -> Result<(), Failure> {
        Python::attach(|py| {
            let loaded = self.adapter.call_method1(py, "load", (about(task), state));
            loaded.map(drop).map_err(|error| self.failure(py, &error))
        })
    }
}
