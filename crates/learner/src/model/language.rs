//! Language models: a body, and an output layer over the vocabulary on the state after every prefix.

use serde::{Deserialize, Serialize};

use super::body::{AnyBody, Body, BodyConfig, BodySpec};
use super::init::{Initialization, ParamRole};
use super::limits::{bounded, countable};
use super::states::{BatchStates, PrefixState, States};
use super::{Counted, SpecError};
use crate::kernel::{Activation, Real, min_stable_rows};
use crate::params::{Layout, Param};
use crate::tape::{Recording, Var};

/// The output layer of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Weights and a bias.
    Linear,
    /// Weights without a bias.
    NoBias,
    /// The weights of the embedding, without a bias.
    Tied,
}

/// Limit of the logits of a batch, in elements.
const MAX_LOGITS: usize = 1 << 24;

/// Limit of the caches of states that are kept at the same time, in elements.
const MAX_CACHE_ELEMENTS: usize = 1 << 26;

/// A language model, as written in a config. Inputs and outputs share one vocabulary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageModelSpec {
    pub body: BodySpec,
    /// Symbols, start and end included.
    pub vocabulary: usize,
    pub output: Output,
    /// How parameters are initialised.
    pub initialization: Initialization,
}

/// A language model with its parameters.
#[derive(Clone, Debug)]
pub struct LanguageModel {
    spec: LanguageModelSpec,
    layout: Layout,
    body: AnyBody,
    weight: Param,
    bias: Option<Param>,
}

impl LanguageModelSpec {
    fn check(&self) -> Result<(), SpecError> {
        self.body.check()?;
        bounded([("a vocabulary", self.vocabulary)])?;
        if self.output == Output::Tied && self.body.embedding_width() != Some(self.body.state_width()) {
            let message = "a tied output layer needs an embedding as wide as the states";
            return Err(SpecError(message.to_owned()));
        }
        Ok(())
    }
}

impl Counted for LanguageModelSpec {
    fn parameters(&self) -> Result<usize, SpecError> {
        self.check()?;
        let per_symbol = match self.output {
            Output::Linear => self.body.state_width() + 1,
            Output::NoBias => self.body.state_width(),
            Output::Tied => 0,
        };
        countable(self.body.parameters(self.vocabulary) + self.vocabulary * per_symbol)
    }
}

impl LanguageModel {
    /// Checks the spec and lays out the parameters.
    pub fn new(spec: LanguageModelSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let (v, init) = (spec.vocabulary, spec.initialization);
        let mut layout = Layout::default();
        let body = spec.body.build(v, init, &mut layout);
        let d = spec.body.state_width();
        let weight = match (spec.output, body.embedding()) {
            (Output::Tied, Some(table)) => table,
            _ => layout.add("output.weight", &[v, d], init.of(ParamRole::Head { i: d, o: v })),
        };
        let bias = (spec.output == Output::Linear)
            .then(|| layout.add("output.bias", &[v], init.of(ParamRole::HeadBias { i: d })));
        countable(layout.count())?;
        Ok(Self { spec, layout, body, weight, bias })
    }

    /// The spec it was built from.
    pub fn spec(&self) -> &LanguageModelSpec {
        &self.spec
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the output layer begins in the layout, behind all other parameters; a tied one has none of its own.
    pub(crate) fn output_start(&self) -> usize {
        // A tied output layer is the embedding, at the front of the layout: there is no suffix to leave untrained.
        let own = (self.spec.output != Output::Tied).then(|| self.weight.range().start);
        own.unwrap_or_else(|| self.layout.count())
    }

    /// `D`, elements per state.
    pub(crate) fn state_width(&self) -> usize {
        self.spec.body.state_width()
    }

    /// Whether it predicts the first symbol without a start symbol.
    pub fn predicts_before_input(&self) -> bool {
        self.spec.body.has_initial_state()
    }

    /// The same model with another number of memory rows. No parameter depends on it.
    pub fn with_memory_rows(&self, rows: usize) -> Result<Self, SpecError> {
        let mut spec = self.spec.clone();
        if !spec.body.set_memory_rows(rows) {
            let message = format!("{rows} rows of memory are asked for, but the model has no memory");
            return Err(SpecError(message));
        }
        // The layout is the same, so that parameters trained with other rows fit.
        Self::new(spec)
    }

    /// Sets the parameters that are a function of the number of training examples seen: the temperature of a memory's gate.
    pub fn anneal<R: Real>(&self, params: &mut [R], examples: u64) {
        self.body.anneal(params, examples);
    }

    /// The maximum number of symbols it can read, if there is one.
    pub fn max_len(&self) -> Option<usize> {
        self.spec.body.max_len()
    }

    /// How many strings of up to `max_len` symbols to put in one batch. A large vocabulary lowers it, because the logits of
    /// all positions are kept.
    pub fn max_batch_strings(&self, max_len: usize) -> usize {
        let most = self.spec.body.max_batch_strings(max_len);
        most.min(MAX_LOGITS / ((max_len + 1) * self.spec.vocabulary.max(1))).max(1)
    }

    /// How many states after prefixes of up to `max_len` symbols to keep at the same time.
    pub fn max_batch_states(&self, max_len: usize) -> usize {
        let each = self.spec.body.cache_elements(max_len);
        (MAX_CACHE_ELEMENTS / each.max(1)).clamp(1, 1024)
    }

    /// The states after all prefixes of strings. A start symbol, if there is one, is part of the strings.
    pub fn states<R: Real>(&self, r: &mut Recording<'_, R>, strings: &[&[u32]]) -> States {
        self.body.read(r, strings, None)
    }

    /// Logits `[N,V]` of the given rows of the states.
    pub fn logits<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: States,
        rows: impl IntoIterator<Item = u32>,
    ) -> Var {
        let rows = r.select(states.rows, rows, states.width);
        self.output(r, rows)
    }

    /// The output layer: logits `[N,V]` of states `[N,D]`.
    pub fn output<R: Real>(&self, r: &mut Recording<'_, R>, rows: Var) -> Var {
        r.linear(rows, self.weight, self.bias, self.state_width(), Activation::Identity)
    }

    /// The output layer, with logits of a state that do not depend on `N`. Kernels sum a few rows in another order than many,
    /// so fewer than [`min_stable_rows`] are padded; the result then has as many rows of logits.
    pub(crate) fn output_stable<R: Real>(&self, r: &mut Recording<'_, R>, tops: Var) -> Var {
        let least = min_stable_rows(self.spec.vocabulary) * self.state_width();
        let mut rows = tops;
        if r.value(tops).len() < least {
            let mut padded = r.value(tops).to_vec();
            padded.resize(least, R::ZERO);
            rows = r.constant(&padded);
        }
        self.output(r, rows)
    }

    /// The state before the first symbol.
    pub fn initial_state<R: Real>(&self, params: &[R]) -> PrefixState<R> {
        self.body.initial_state(params)
    }

    /// Reads one symbol. The prefix is not read again.
    pub fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32) {
        self.body.advance(r, state, symbol);
    }

    /// Reads one piece per state as one batch, all pieces of the same length and at least one symbol. None if the body
    /// reads strings one at a time.
    pub(crate) fn step_batch<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        states: &mut [PrefixState<R>],
        pieces: &[&[u32]],
    ) -> Option<BatchStates> {
        self.body.step_batch(r, states, pieces)
    }

    /// Records the cross-entropy of some symbols of strings, summed with weights. A target is `(string, position, weight)`.
    /// Gives the logits of the targets.
    pub fn loss<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        strings: &[&[u32]],
        targets: &[(usize, usize, f64)],
    ) -> Var {
        // The last symbol of a string is predicted and never read.
        let inputs: Vec<&[u32]> = strings.iter().map(|s| &s[..s.len().saturating_sub(1)]).collect();
        let states = self.states(r, &inputs);
        let logits = self.logits(r, states, targets.iter().map(|&(b, p, _)| states.row(b, p)));
        let truth = targets.iter().map(|&(b, p, weight)| (strings[b][p], weight));
        r.softmax_loss(logits, self.spec.vocabulary, truth);
        logits
    }
}
