//! Models that say what comes next: a body and an output layer over the vocabulary on the state after every prefix.

use serde::{Deserialize, Serialize};

use super::body::{Body, BodySpec};
use super::init::{Initialization, Role};
use super::{Positions, SpecError, States, TransformerSpec};
use crate::kernel::{Activation, Real};
use crate::params::{Layout, Param};
use crate::tape::{Record, Var};

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

impl LanguageModel {
    /// Builds the model.
    pub fn new(spec: LanguageModelSpec) -> Result<Self, SpecError> {
        if let Some(complaint) = spec.body.complaint() {
            return Err(SpecError(complaint));
        }
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
        matches!(self.body, Body::Recurrent(_))
    }

    /// The most symbols it can read, if there is a limit.
    pub fn longest(&self) -> Option<usize> {
        match &self.spec.body {
            BodySpec::Transformer(TransformerSpec { positions: Positions::Learned { max }, .. }) => {
                Some(*max)
            }
            _ => None,
        }
    }

    /// How many strings up to this length to read at once, as for a recognizer; fewer if a large vocabulary would make
    /// the probabilities of all next symbols too many to keep.
    pub fn strings_at_once(&self, longest: usize) -> usize {
        let most = match self.spec.body {
            BodySpec::Transformer(_) => 160 / (longest + 1),
            BodySpec::Recurrent(_) => 512,
        };
        most.min(PROBABILITIES / ((longest + 1) * self.spec.vocabulary.max(1))).max(1)
    }

    /// The states after every prefix of every string (which should begin with the start symbol, if there is one).
    pub fn states<R: Real>(&self, r: &mut Record<'_, R>, strings: &[&[u32]]) -> States {
        self.body.forward(r, strings, None)
    }

    /// Logits of rows picked from the states.
    pub fn logits<R: Real>(
        &self,
        r: &mut Record<'_, R>,
        states: States,
        rows: impl IntoIterator<Item = u32>,
    ) -> Var {
        let rows = r.select(states.var, rows, states.width);
        self.output(r, rows)
    }

    /// Logits of states that are already rows.
    pub fn output<R: Real>(&self, r: &mut Record<'_, R>, rows: Var) -> Var {
        r.linear(rows, self.weight, self.bias, self.body.width(), Activation::Identity)
    }

    /// What a recurrent body remembers before the first symbol, and the state outputs are read from; both empty for a
    /// transformer.
    pub fn initial_memory<R: Real>(&self, params: &[R]) -> (Vec<R>, Vec<R>) {
        match &self.body {
            Body::Recurrent(body) => body.initial_memory(params),
            Body::Transformer(_) => (vec![], vec![]),
        }
    }

    /// One step of a recurrent body: changes what it remembers and gives the state outputs are read from.
    ///
    /// # Panics
    /// If the body is a transformer, which remembers nothing but the prefix.
    pub fn advance<R: Real>(&self, r: &mut Record<'_, R>, memory: &mut [R], symbol: u32) -> Vec<R> {
        match &self.body {
            Body::Recurrent(body) => body.advance(r, memory, symbol),
            Body::Transformer(_) => panic!("a transformer has no memory to advance"),
        }
    }

    /// The row of the state from which symbol `position` of string `b` is predicted: that after the symbols before it.
    pub fn row(&self, states: States, b: usize, position: usize) -> u32 {
        match self.body {
            Body::Recurrent(_) => states.row(b, position),
            // A transformer's row is *at* a symbol, not before it.
            Body::Transformer(_) => states.row(b, position - 1),
        }
    }

    /// Records the loss of predicting some symbols of strings, each with its weight: `(string, position, weight)`.
    pub fn loss<R: Real>(
        &self,
        r: &mut Record<'_, R>,
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
