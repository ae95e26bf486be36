//! Recognizers: a body, a recognition head on the state after the last symbol and up to two auxiliary heads on the states
//! after every prefix of a member of the language. One predicts the next symbol (its weights are those of the embedding),
//! the other the set of symbols that may come next.

use serde::{Deserialize, Serialize};

use super::body::{AnyBody, Body, BodyConfig, BodySpec};
use super::init::{Initialization, ParamRole};
use super::limits::{bounded, countable};
use super::{Counted, SpecError};
use crate::kernel::{Activation, Real};
use crate::params::{Layout, Param};
use crate::tape::{Recording, Var};

/// A recognizer, as written in a config.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecognizerSpec {
    pub body: BodySpec,
    /// Symbols of the alphabet, without start and end.
    pub alphabet: usize,
    /// Whether there is a language-modelling head.
    pub language_modeling: bool,
    /// Whether there is a next-symbol head.
    pub next_symbols: bool,
    /// How parameters are initialised.
    pub initialization: Initialization,
}

/// A training or validation string with its label.
#[derive(Clone, Copy, Debug)]
pub struct LabelledString<'a> {
    /// Its ids: symbols are numbered from 1.
    pub string: &'a [u32],
    /// Whether it is in the language.
    pub label: bool,
    /// For each of its n + 1 prefixes, the ids that may come next, one bit each (0 is the end). Required of members if there is a
    /// next-symbol head.
    pub next: &'a [u64],
}

impl<'a> LabelledString<'a> {
    /// A string of which nothing but its label is to be learned.
    pub fn new(string: &'a [u32], label: bool) -> Self {
        Self { string, label, next: &[] }
    }
}

/// Weights of the auxiliary losses; recognition has weight 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossWeights {
    pub language_modeling: f64,
    pub next_symbols: f64,
}

/// The logits of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Logits {
    /// One per string; accepted if not negative.
    pub recognition: Var,
    /// One row of `alphabet + 1` (the end last) per prefix of each member.
    pub language_modeling: Option<Var>,
    /// As for language modelling.
    pub next_symbols: Option<Var>,
}

/// A recognizer with its parameters.
#[derive(Clone, Debug)]
pub struct RecognizerModel {
    spec: RecognizerSpec,
    layout: Layout,
    body: AnyBody,
    /// Read before every string by a body that has no state before the first symbol.
    start: Option<u32>,
    head: (Param, Param),
    language_modeling: Option<Param>,
    next_symbols: Option<(Param, Param)>,
}

impl RecognizerSpec {
    fn check(&self) -> Result<(), SpecError> {
        self.body.check()?;
        bounded([("an alphabet", self.alphabet)])?;
        // Next-symbol sets are the bits of a `u64`: 63 symbols and the end.
        if self.next_symbols && self.alphabet >= 64 {
            return Err(SpecError(format!("a next-symbol head over {} symbols; at most 63", self.alphabet)));
        }
        if self.language_modeling && self.body.embedding_width() != Some(self.body.state_width()) {
            let message = "a tied language-modelling head needs an embedding as wide as the states";
            return Err(SpecError(message.to_owned()));
        }
        Ok(())
    }

    /// The size of the body's vocabulary, and the start symbol, if there is one. Symbols of the alphabet come first, then the
    /// end (the row of the embedding that a tied head needs), then the start.
    fn vocabulary(&self) -> (usize, Option<u32>) {
        let symbols = self.alphabet + usize::from(self.language_modeling || self.next_symbols);
        let start = (!self.body.has_initial_state()).then_some(symbols as u32);
        (symbols + usize::from(start.is_some()), start)
    }
}

impl Counted for RecognizerSpec {
    fn parameters(&self) -> Result<usize, SpecError> {
        self.check()?;
        let head = self.body.state_width() + 1;
        let heads = 1 + if self.next_symbols { self.alphabet + 1 } else { 0 };
        countable(self.body.parameters(self.vocabulary().0) + heads * head)
    }
}

impl RecognizerModel {
    /// Checks the spec and lays out the parameters.
    pub fn new(spec: RecognizerSpec) -> Result<Self, SpecError> {
        spec.check()?;
        let (v, (vocabulary, start)) = (spec.alphabet, spec.vocabulary());
        let mut layout = Layout::default();
        let init = spec.initialization;
        let body = spec.body.build(vocabulary, init, &mut layout);
        let d = spec.body.state_width();
        let mut linear = |name: &str, o: usize| {
            let weight = layout.add(format!("{name}.weight"), &[o, d], init.of(ParamRole::Head { i: d, o }));
            (weight, layout.add(format!("{name}.bias"), &[o], init.of(ParamRole::HeadBias { i: d })))
        };
        let head = linear("recognition", 1);
        let next_symbols = spec.next_symbols.then(|| linear("next_symbols", v + 1));
        let language_modeling =
            // The start symbol is the last row. It is never predicted, so the tied head leaves it out.
            body.embedding().filter(|_| spec.language_modeling).map(|table| table.part(0, (v + 1) * d));
        countable(layout.count())?;
        Ok(Self { spec, layout, body, start, head, language_modeling, next_symbols })
    }

    /// The spec it was built from.
    pub fn spec(&self) -> &RecognizerSpec {
        &self.spec
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many strings of up to `max_len` symbols to read as one batch. A larger batch is split; the gradients of its parts
    /// add up to those of the whole.
    pub fn max_batch_strings(&self, max_len: usize) -> usize {
        self.spec.body.max_batch_strings(max_len)
    }

    /// The recognition logits of strings.
    pub fn forward<R: Real>(&self, r: &mut Recording<'_, R>, strings: &[&[u32]]) -> Var {
        self.read(r, strings, |_| false).recognition
    }

    /// The logits of strings: recognition of all of them, the auxiliary heads at every prefix of those (by index) that are
    /// members.
    pub fn read<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        strings: &[&[u32]],
        is_member: impl Fn(usize) -> bool,
    ) -> Logits {
        // Symbols have the first rows of the embedding; there is none for the boundary.
        let rows: Vec<Vec<u32>> =
            strings.iter().map(|string| string.iter().map(|id| id - 1).collect()).collect();
        let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        let states = self.body.read(r, &rows, self.start);
        let d = states.width;
        let ends = strings.iter().enumerate().map(|(b, s)| states.row(b, s.len()));
        let last = r.select(states.rows, ends, d);
        let recognition = r.linear(last, self.head.0, Some(self.head.1), d, Activation::Identity);
        // FLaRe trains the auxiliary heads on members alone: other strings have no next symbols.
        let headless = self.language_modeling.is_none() && self.next_symbols.is_none();
        if headless || !(0..strings.len()).any(&is_member) {
            return Logits { recognition, language_modeling: None, next_symbols: None };
        }
        let members = strings.iter().enumerate().filter(|(b, _)| is_member(*b));
        let prefixes = members.flat_map(|(b, s)| (0..=s.len()).map(move |p| states.row(b, p)));
        let rows = r.select(states.rows, prefixes, d);
        let mut head = |weight, bias| r.linear(rows, weight, bias, d, Activation::Identity);
        Logits {
            recognition,
            language_modeling: self.language_modeling.map(|table| head(table, None)),
            next_symbols: self.next_symbols.map(|(weight, bias)| head(weight, Some(bias))),
        }
    }

    /// Records the loss of a batch: recognition of all examples, the auxiliary losses of members (averaged over their
    /// prefixes, next-symbol sets also over symbols), all divided by `total`: the size of the batch of which `batch` is a
    /// part or the whole.
    pub fn loss<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        batch: &[LabelledString<'_>],
        weights: LossWeights,
        total: usize,
    ) -> Logits {
        let strings: Vec<&[u32]> = batch.iter().map(|e| e.string).collect();
        let logits = self.read(r, &strings, |b| batch[b].label);
        // Non-members count in the denominator of the auxiliary losses too, as in FLaRe's code.
        let share = 1.0 / total as f64;
        r.logistic_loss(logits.recognition, batch.iter().map(|e| (f64::from(u8::from(e.label)), share)));
        let members = || batch.iter().filter(|e| e.label);
        let v = self.spec.alphabet + 1;
        if let Some(out) = logits.language_modeling {
            let end = self.spec.alphabet as u32;
            let truth = members().flat_map(|e| {
                // The mean over n + 1 positions, the end included: long strings weigh as much as short ones.
                let weight = weights.language_modeling * share / (e.string.len() + 1) as f64;
                e.string.iter().map(|id| id - 1).chain([end]).map(move |symbol| (symbol, weight))
            });
            r.softmax_loss(out, v, truth);
        }
        if let Some(out) = logits.next_symbols {
            let truth = members().flat_map(|e| {
                let weight = weights.next_symbols * share / ((e.string.len() + 1) * v) as f64;
                assert_eq!(e.next.len(), e.string.len() + 1, "one next-symbol set per prefix");
                // The columns are those of the symbols, then that of the end.
                let bits = (1..v).chain([0]);
                e.next.iter().flat_map(move |set| {
                    bits.clone().map(move |bit| (f64::from(set >> bit & 1 == 1), weight))
                })
            });
            r.logistic_loss(out, truth);
        }
        logits
    }
}
