//! Models that say what comes next: a body and an output layer over the vocabulary on the state after every prefix.

use serde::{Deserialize, Serialize};

use super::body::{Body, BodySpec};
use super::init::{Initialization, Role};
use super::{NormPlace, Positions, SpecError, States, TransformerSpec};
use crate::kernel::{Activation, Attention, Mask, Real, cross_attention};
use crate::params::{Layout, Param};
use crate::tape::{LayerNorm, Record, Var};

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
    /// Of a transformer, for reading one symbol at a time.
    blocks: Vec<StepBlock>,
}

/// What a model remembers of a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory<R> {
    /// Symbols read.
    length: usize,
    /// Of a transformer, keys and values `[length,2D]` of each layer; of a recurrent body, one vector: `h` of every layer,
    /// then `c` of every layer that has cells.
    layers: Vec<Vec<R>>,
}

/// A block of a transformer that reads one symbol at a time: weights with their biases.
#[derive(Clone, Copy, Debug)]
struct StepBlock {
    qkv: (Param, Param),
    out: (Param, Param),
    up: (Param, Param),
    down: (Param, Param),
    norms: [LayerNorm; 2],
}

fn find(layout: &Layout, name: &str) -> Param {
    layout.find(name).unwrap_or_else(|| panic!("a transformer has a parameter {name}")).param
}

fn norm(layout: &Layout, name: &str) -> LayerNorm {
    let [gain, bias] = ["weight", "bias"].map(|part| find(layout, &format!("{name}.{part}")));
    LayerNorm { gain, bias, epsilon: 1e-5 }
}

impl StepBlock {
    fn new(layout: &Layout, l: usize) -> Self {
        let pair = |part: &str| {
            let name = |what: &str| format!("layers.{l}.{part}.{what}");
            (find(layout, &name("weight")), find(layout, &name("bias")))
        };
        let norms = [1, 2].map(|n| norm(layout, &format!("layers.{l}.norm{n}")));
        let [qkv, out, up, down] = ["attention.in", "attention.out", "up", "down"].map(pair);
        Self { qkv, out, up, down, norms }
    }

    /// One row through the block; its key and value join the cache.
    fn step<R: Real>(
        &self,
        r: &mut Record<'_, R>,
        spec: &TransformerSpec,
        cache: &mut Vec<R>,
        x: Var,
    ) -> Var {
        let [first, second] = self.norms;
        let at = |place, r: &mut Record<'_, R>, x, norm| {
            if spec.norm == place { r.layer_norm(x, norm) } else { x }
        };
        let y = at(NormPlace::Pre, r, x, first);
        let y = self.attend(r, spec, cache, y);
        let x = r.add(x, y);
        let x = at(NormPlace::Post, r, x, first);
        let y = at(NormPlace::Pre, r, x, second);
        let y = self.feed(r, spec, y);
        let x = r.add(x, y);
        at(NormPlace::Post, r, x, second)
    }

    fn attend<R: Real>(
        &self,
        r: &mut Record<'_, R>,
        spec: &TransformerSpec,
        cache: &mut Vec<R>,
        x: Var,
    ) -> Var {
        let d = spec.width;
        let x = r.linear(x, self.qkv.0, Some(self.qkv.1), d, Activation::Identity);
        let (query, key_value) = r.value(x).split_at(d);
        cache.extend_from_slice(key_value);
        let keys = cache.len() / (2 * d);
        let n = Attention { batch: 1, queries: 1, keys, width: d, heads: spec.heads, causal: false };
        let (mut out, mut kept) = (vec![R::ZERO; d], vec![R::ZERO; n.kept()]);
        let mut scratch = vec![R::ZERO; n.scratch()];
        cross_attention(&mut out, &mut kept, &mut scratch, (query, cache), Mask::new(0, 0.0), n);
        let x = r.constant(&out);
        r.linear(x, self.out.0, Some(self.out.1), d, Activation::Identity)
    }

    fn feed<R: Real>(&self, r: &mut Record<'_, R>, spec: &TransformerSpec, x: Var) -> Var {
        let x = r.linear(x, self.up.0, Some(self.up.1), spec.width, Activation::Relu);
        r.linear(x, self.down.0, Some(self.down.1), spec.feedforward, Activation::Identity)
    }
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
        let blocks = match &spec.body {
            BodySpec::Transformer(spec) => (0..spec.layers).map(|l| StepBlock::new(&layout, l)).collect(),
            BodySpec::Recurrent(_) => vec![],
        };
        Ok(Self { spec, layout, body, weight, bias, blocks })
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

    /// What the body remembers before the first symbol, and the state outputs are read from (empty for a transformer).
    pub fn initial_memory<R: Real>(&self, params: &[R]) -> (Memory<R>, Vec<R>) {
        let (layers, top) = match &self.body {
            Body::Recurrent(body) => {
                let (memory, top) = body.initial_memory(params);
                (vec![memory], top)
            }
            Body::Transformer(_) => (vec![vec![]; self.blocks.len()], vec![]),
        };
        (Memory { length: 0, layers }, top)
    }

    /// Reads one symbol: changes what the body remembers and gives the state outputs are read from. Nothing read before is
    /// read again; a transformer looks back at the keys and values of the prefix.
    pub fn advance<R: Real>(&self, r: &mut Record<'_, R>, memory: &mut Memory<R>, symbol: u32) -> Vec<R> {
        let top = match (&self.body, &self.spec.body) {
            (Body::Recurrent(body), _) => body.advance(r, &mut memory.layers[0], symbol),
            (_, BodySpec::Transformer(spec)) => self.look_back(r, spec, memory, symbol),
            (Body::Transformer(_), BodySpec::Recurrent(_)) => unreachable!("a body is built from its spec"),
        };
        memory.length += 1;
        top
    }

    fn look_back<R: Real>(
        &self,
        r: &mut Record<'_, R>,
        spec: &TransformerSpec,
        memory: &mut Memory<R>,
        symbol: u32,
    ) -> Vec<R> {
        let (d, position) = (spec.width, memory.length);
        let scale = if spec.scale_embedding { libm::sqrt(d as f64) } else { 1.0 };
        let mut x = r.embedding(find(&self.layout, "embedding"), [symbol], d, scale);
        match spec.positions {
            Positions::None => {}
            Positions::Learned { max } => {
                assert!(position < max, "{} positions, but only {max} learned", position + 1);
                x = r.add_param(x, find(&self.layout, "positions").part(position * d, d));
            }
            Positions::Sinusoidal { layout, first } => r.add_sinusoids(x, 1, first + position, d, layout),
        }
        for (block, cache) in self.blocks.iter().zip(&mut memory.layers) {
            x = block.step(r, spec, cache, x);
        }
        if spec.final_norm {
            x = r.layer_norm(x, norm(&self.layout, "norm"));
        }
        r.value(x).to_vec()
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
