//! Languages.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wug_lab::dataset::{DataError, Seed};
use wug_lab::language::negative::{Coin, Negatives};
use wug_lab::language::registry::{self, LanguageEntry};
use wug_lab::language::{Language, NextSet, Reading, Symbol, Word};

use crate::errors::{raised, usage};
use crate::numbers::{real_bytes, word_bytes, words};

#[pyclass(frozen, module = "wug._wug", name = "LanguageCore")]
pub(crate) struct PyLanguage {
    spelled: String,
    entry: &'static LanguageEntry,
    reading: Reading,
    pub(crate) oracle: Box<dyn Language>,
}

pub(crate) fn reading(name: &str) -> PyResult<Reading> {
    name.parse().map_err(|error: wug_lab::language::UnknownReading| usage(error))
}

type Arrays<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

pub(crate) fn arrays(py: Python<'_>, (a, b): (Vec<u8>, Vec<u8>)) -> Arrays<'_> {
    (PyBytes::new(py, &a), PyBytes::new(py, &b))
}

#[pymethods]
impl PyLanguage {
    #[new]
    fn new(name: &str, reading_name: &str) -> PyResult<Self> {
        let named = registry::find(name).map_err(raised)?;
        let reading = reading(reading_name)?;
        let oracle = named.build(reading).map_err(raised)?;
        Ok(Self { spelled: named.spelled(), entry: named.entry, reading, oracle })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.spelled
    }

    #[getter]
    fn reading(&self) -> &'static str {
        self.reading.name()
    }

    #[getter]
    fn summary(&self) -> &'static str {
        self.entry.summary
    }

    #[getter]
    fn definition(&self) -> &'static str {
        self.entry.definition
    }

    #[getter]
    fn citation(&self) -> &'static str {
        self.entry.citation
    }

    #[getter]
    fn tokens(&self) -> Vec<String> {
        self.oracle.alphabet().tokens().to_vec()
    }

    fn parse(&self, text: &str) -> PyResult<Vec<u32>> {
        let word = self.oracle.alphabet().parse(text).map_err(usage)?;
        // Python has symbols from 1 on, as models see them: 0 is the boundary.
        Ok(word.iter().map(|symbol| u32::from(symbol.0) + 1).collect())
    }

    fn format(&self, ids: Vec<u32>) -> PyResult<String> {
        Ok(self.oracle.alphabet().format(&self.word(&ids)?))
    }

    fn contains(&self, py: Python<'_>, ids: &[u8], lengths: &[u8]) -> PyResult<Vec<u8>> {
        let words = words(ids, lengths, self.oracle.alphabet())?;
        Ok(py.detach(|| words.iter().map(|word| u8::from(self.oracle.contains(word))).collect()))
    }

    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        shortest: usize,
        longest: usize,
        negative: bool,
        natural: bool,
        seed: u64,
    ) -> PyResult<Arrays<'py>> {
        let lengths = shortest..=longest;
        let drawn: PyResult<Vec<Word>> = py.detach(|| {
            if negative {
                let negatives = Negatives::new(self.oracle.as_ref(), lengths, Coin::of(self.reading));
                let negatives = negatives.map_err(|error| raised(DataError::from(error)))?;
                // The streams of `wug sample`: a seed gives the same strings there and here.
                let mut rng = Seed::new(seed).derive("sample/negative").rng();
                let draw = |_| negatives.sample(&mut rng).map(|drawn| drawn.word).map_err(usage);
                return (0..n).map(draw).collect();
            }
            let distribution = if natural {
                let missing = || usage(format!("`{}` has no distribution of its own", self.spelled));
                self.oracle.natural().ok_or_else(missing)?
            } else {
                self.oracle.by_length(lengths).map_err(|error| raised(DataError::from(error)))?
            };
            let mut rng = Seed::new(seed).derive("sample").rng();
            Ok((0..n).map(|_| distribution.sample(&mut rng)).collect())
        });
        let drawn = drawn?;
        Ok(arrays(py, word_bytes(drawn.iter().map(Vec::as_slice))))
    }

    /// For each string, one row per prefix: the end, then the symbols.
    fn next_sets<'py>(&self, py: Python<'py>, ids: &[u8], lengths: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let words = words(ids, lengths, self.oracle.alphabet())?;
        let size = self.oracle.alphabet().len();
        let masks: Vec<u8> = py.detach(|| {
            // The end first, in the order of the columns of answers.
            let row = |set: &NextSet| -> Vec<u8> {
                let symbols = (0..size).map(|s| set.contains(Symbol(s as u16)));
                std::iter::once(set.end()).chain(symbols).map(u8::from).collect()
            };
            words.iter().flat_map(|word| self.oracle.next_sets(word)).flat_map(|set| row(&set)).collect()
        });
        Ok(PyBytes::new(py, &masks))
    }

    /// The log-probability of each string given its length, or under the language's own distribution.
    fn log_prob<'py>(
        &self,
        py: Python<'py>,
        ids: &[u8],
        lengths: &[u8],
        natural: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let words = words(ids, lengths, self.oracle.alphabet())?;
        let logs: Result<Vec<f64>, PyErr> = py.detach(|| {
            if natural {
                let own = self.oracle.natural().ok_or_else(|| {
                    usage(format!("{} has no distribution over strings of any length", self.spelled))
                })?;
                return Ok(words.iter().map(|word| own.log_prob(word)).collect());
            }
            let of = |word: &Word| {
                self.oracle.check_length(word.len()).map_err(usage)?;
                let own = self.oracle.by_length(word.len()..=word.len());
                // Adding zero turns the minus zero of a certain string into zero.
                Ok(own.map_or(f64::NEG_INFINITY, |own| own.log_prob(word) + 0.0))
            };
            words.iter().map(of).collect()
        });
        Ok(PyBytes::new(py, &real_bytes(&logs?)))
    }

    /// The edit distance from the language and a nearest member.
    fn distance(&self, ids: Vec<u32>) -> PyResult<(usize, String)> {
        let word = self.word(&ids)?;
        let dfa = self.oracle.automaton();
        let dfa = dfa
            .ok_or_else(|| usage(format!("{} is not regular: edit distances are not known", self.spelled)))?;
        dfa.check_nearest(word.len()).map_err(usage)?;
        let near = dfa.nearest(&word).ok_or_else(|| usage(format!("{} has no strings", self.spelled)))?;
        Ok((near.distance, self.oracle.alphabet().format(&near.word)))
    }
}

impl PyLanguage {
    fn word(&self, ids: &[u32]) -> PyResult<Word> {
        let bytes = crate::numbers::whole_bytes(ids.iter().map(|id| i64::from(*id)));
        let lengths = crate::numbers::whole_bytes([ids.len() as i64]);
        Ok(words(&bytes, &lengths, self.oracle.alphabet())?.remove(0))
    }
}
