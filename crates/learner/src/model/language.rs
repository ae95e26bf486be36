//! Models that say what comes next: a body and an output layer over the vocabulary on the state after every prefix.

use serde::{Deserialize, Serialize};

use super::body::{Body, BodySpec};
use super::init::{Initialization, Role};
use super::limits::{bounded, countable};
use super::{SpecError, States};
use crate::kernel::{Activation, Real, min_stable_rows};
use crate::params::{Layout, Param};
use crate::tape::{Recording, Var};

/// The output layer of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Its own weights and bias.
    Linear,
    /// Its own weights, no bias.
    NoBias,
    /// The embedding's weights, no bias.
    Tied,
}

/// Probabilities of next symbols kept at once.
const PROBABILITIES: usize = 1 << 24;

/// Keys and values of transformers, and numbers on stacks, kept at once.
const REMEMBERED: usize = 1 << 26;

/// A language model, as written in a config. Symbols below `vocabulary` may be read and predicted alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageModelSpec {
    /// What reads the string.
    pub body: BodySpec,
    /// Symbols, start and end included.
    pub vocabulary: usize,
    /// The output layer.
    pub output: Output,
    /// How parameters start.
    pub initialization: Initialization,
}

/// A language model with its parameters.
#[derive(Clone, Debug)]
pub struct LanguageModel {
    spec: LanguageModelSpec,
    layout: Layout,
    body: Body,
    weight: Param,
    bias: Option<Param>,
}

/// What a model remembers of a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory<R> {
    /// Of a transformer, keys and values `[length,2D]` of each layer; of a recurrent body, one vector: `h` of every layer,
    /// then `c` of every layer that has cells. Of a network with a memory, such a vector and the rows in use.
    layers: Vec<Vec<R>>,
}

impl LanguageModel {
    /// Builds the model.
    pub fn new(spec: LanguageModelSpec) -> Result<Self, SpecError> {
        spec.body.check()?;
        bounded([("a vocabulary", spec.vocabulary)])?;
        let (v, init) = (spec.vocabulary, spec.initialization);
        let mut layout = Layout::default();
        let body = Body::new(&spec.body, v, init, &mut layout);
        let d = body.width();
        let weight = match (spec.output, body.embedding()) {
            (Output::Tied, Some(table)) if table.len() == v * d => table,
            (Output::Tied, _) => {
                let message = "a tied output layer needs an embedding as wide as the states";
                return Err(SpecError(message.to_owned()));
            }
            _ => layout.add("output.weight", &[v, d], init.of(Role::Head { i: d, o: v })),
        };
        let bias = (spec.output == Output::Linear)
            .then(|| layout.add("output.bias", &[v], init.of(Role::HeadBias { i: d })));
        countable(&layout)?;
        Ok(Self { spec, layout, body, weight, bias })
    }

    /// As it was asked for.
    pub fn spec(&self) -> &LanguageModelSpec {
        &self.spec
    }

    /// Its parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether it predicts a symbol before it has read one: only what has an initial state does.
    pub fn speaks_first(&self) -> bool {
        !matches!(self.body, Body::Transformer(_))
    }

    /// The same model with another number of rows in its memory; the same parameters fit.
    pub fn with_memory_rows(&self, rows: usize) -> Result<Self, SpecError> {
        let mut spec = self.spec.clone();
        match &mut spec.body {
            BodySpec::Augmented(body) => body.rows = rows,
            BodySpec::Recurrent(_) | BodySpec::Transformer(_) => {
                let message = format!("{rows} rows of memory are asked for, but the model has no memory");
                return Err(SpecError(message));
            }
        }
        Self::new(spec)
    }

    /// Sets what depends on the number of examples learned from and on nothing else: the temperature of a memory's gate.
    pub fn anneal<R: Real>(&self, params: &mut [R], examples: u64) {
        if let Body::Augmented(body) = &self.body {
            body.anneal(params, examples);
        }
    }

    /// The most symbols it can read, if there is a limit.
    pub fn max_len(&self) -> Option<usize> {
        match &self.spec.body {
            BodySpec::Transformer(spec) => spec.max_len(),
            BodySpec::Recurrent(_) | BodySpec::Augmented(_) => None,
        }
    }

    /// How many strings up to this length to read at once, as for a recognizer; fewer if a large vocabulary would make
    /// the probabilities of all next symbols too many to keep.
    pub fn max_batch_strings(&self, longest: usize) -> usize {
        let most = self.spec.body.max_batch_strings(longest);
        most.min(PROBABILITIES / ((longest + 1) * self.spec.vocabulary.max(1))).max(1)
    }

    /// How many memories of prefixes up to this length to keep at once: those of transformers and stacks grow.
    pub fn max_batch_states(&self, longest: usize) -> usize {
        let each = match &self.spec.body {
            BodySpec::Transformer(spec) => 2 * spec.width * spec.layers * longest,
            BodySpec::Augmented(spec) => spec.width * spec.rows.min(longest),
            BodySpec::Recurrent(_) => 1,
        };
        (REMEMBERED / each.max(1)).clamp(1, 1024)
    }

    /// The states after every prefix of every string (which should begin with the start symbol, if there is one).
    pub fn states<R: Real>(&self, r: &mut Recording<'_, R>, strings: &[&[u32]]) -> States {
        self.body.forward(r, strings, None)
    }

    /// Logits of rows picked from the states.
    pub fn logits<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: States,
        rows: impl IntoIterator<Item = u32>,
    ) -> Var {
        let rows = r.select(states.rows, rows, states.width);
        self.output(r, rows)
    }

    /// Logits of states that are already rows.
    pub fn output<R: Real>(&self, r: &mut Recording<'_, R>, rows: Var) -> Var {
        r.linear(rows, self.weight, self.bias, self.body.width(), Activation::Identity)
    }

    /// Logits of states `[N,D]`, each the same whatever the others are; there may be more behind them.
    pub(crate) fn output_stable<R: Real>(&self, r: &mut Recording<'_, R>, tops: Var) -> Var {
        let least = min_stable_rows(self.spec.vocabulary) * self.body.width();
        let mut rows = tops;
        if r.value(tops).len() < least {
            let mut padded = r.value(tops).to_vec();
            padded.resize(least, R::ZERO);
            rows = r.constant(&padded);
        }
        self.output(r, rows)
    }

    /// What the body remembers before the first symbol, and the state outputs are read from (empty for a transformer).
    pub fn initial_memory<R: Real>(&self, params: &[R]) -> (Memory<R>, Vec<R>) {
        let (layers, top) = match &self.body {
            Body::Recurrent(body) => {
                let (memory, top) = body.initial_memory(params);
                (vec![memory], top)
            }
            Body::Augmented(body) => (body.initial_memory(), vec![R::ZERO; body.hidden()]),
            Body::Transformer(body) => (body.caches(), vec![]),
        };
        (Memory { layers }, top)
    }

    /// Reads one symbol: changes what the body remembers and gives the state outputs are read from. Nothing read before is
    /// read again; a transformer looks back at the keys and values of the prefix.
    pub fn advance<R: Real>(&self, r: &mut Recording<'_, R>, memory: &mut Memory<R>, symbol: u32) -> Vec<R> {
        match &self.body {
            Body::Recurrent(body) => {
                let (top, _) = body.step_batch(r, &mut [&mut memory.layers[0]], &[&[symbol]]);
                r.value(top)[..body.width()].to_vec()
            }
            Body::Augmented(body) => body.advance(r, &mut memory.layers, symbol),
            Body::Transformer(body) => {
                let top = body.advance(r, &mut memory.layers, symbol, None);
                r.value(top).to_vec()
            }
        }
    }

    /// Reads pieces of the same length, one per memory, with the states outputs are read from as `[T,N,H]` and `N ≥ B`. Only
    /// recurrent bodies read many strings in step.
    pub(crate) fn step_batch<'m, R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        memories: impl Iterator<Item = &'m mut Memory<R>>,
        pieces: &[&[u32]],
    ) -> Option<(Var, usize)> {
        let Body::Recurrent(body) = &self.body else { return None };
        let mut rows: Vec<&mut [R]> = memories.map(|memory| memory.layers[0].as_mut_slice()).collect();
        Some(body.step_batch(r, &mut rows, pieces))
    }

    /// The row of the state from which symbol `position` of string `b` is predicted: that after the symbols before it.
    pub fn row(&self, states: States, b: usize, position: usize) -> u32 {
        match self.body {
            Body::Recurrent(_) | Body::Augmented(_) => states.row(b, position),
            // A transformer's row is *at* a symbol, not before it.
            Body::Transformer(_) => states.row(b, position - 1),
        }
    }

    /// Records the loss of predicting some symbols of strings, each with its weight: `(string, position, weight)`.
    pub fn loss<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        strings: &[&[u32]],
        asked: &[(usize, usize, f64)],
    ) -> Var {
        // The last symbol is never read when it is only predicted.
        let inputs: Vec<&[u32]> = strings.iter().map(|s| &s[..s.len().saturating_sub(1)]).collect();
        let states = self.states(r, &inputs);
        let logits = self.logits(r, states, asked.iter().map(|&(b, p, _)| self.row(states, b, p)));
        let truth = asked.iter().map(|&(b, p, weight)| (strings[b][p], weight));
        r.softmax_loss(logits, self.spec.vocabulary, truth);
        logits
    }
}
