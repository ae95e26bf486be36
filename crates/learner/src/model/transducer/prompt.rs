//! A decoder alone, in prompt form: a causal transformer reads `end, input, separator` and goes on with the output and its end.
//!
//! It has one vocabulary: the symbols of outputs, then those of inputs, whose end is the separator. The loss is that of the output
//! alone, over the whole vocabulary.

use super::{Vocabularies, max_len};
use crate::kernel::Real;
use crate::model::init::Initialization;
use crate::model::states::{BatchShape, States};
use crate::model::transformer::{Mask, Transformer, TransformerPart, TransformerSpec};
use crate::params::Layout;
use crate::tape::{Recording, Var};

/// The number of parameters, with the output layer.
pub(super) fn parameters(spec: &TransformerSpec, Vocabularies { inputs, outputs }: Vocabularies) -> usize {
    let vocabulary = inputs + outputs;
    spec.parameters_of(vocabulary, false) + vocabulary * spec.width
}

#[derive(Clone, Debug)]
pub(super) struct PromptTransducer {
    body: Transformer,
    /// Where the symbols of inputs begin.
    outputs: u32,
}

/// After a prefix: keys and values of every block, and the separator while it has not been read.
#[derive(Clone, Debug)]
pub(super) struct PromptDecoding<R> {
    caches: Vec<Vec<R>>,
    separator: Option<u32>,
}

impl PromptTransducer {
    pub(super) fn new(
        spec: &TransformerSpec,
        Vocabularies { inputs, outputs }: Vocabularies,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let part = TransformerPart { prefix: "", cross: false };
        let body = Transformer::new(spec.clone(), inputs + outputs, part, init, layout);
        Self { body, outputs: outputs as u32 }
    }

    /// The start symbol, a source with its end, and the rest of a target.
    fn joined(&self, source: &[u32], target: &[u32]) -> Vec<u32> {
        let (start, rest) = target.split_at(1);
        // Outputs come first in the vocabulary, so that targets of the loss keep their ids.
        let source = source.iter().map(|symbol| symbol + self.outputs);
        start.iter().copied().chain(source).chain(rest.iter().copied()).collect()
    }

    /// The states at every symbol: those from which outputs are predicted begin at the separator, one per symbol of the source
    /// later than in other transducers.
    pub(super) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        sources: &[Vec<u32>],
        targets: &[Vec<u32>],
    ) -> States {
        let strings: Vec<Vec<u32>> =
            sources.iter().zip(targets).map(|(source, target)| self.joined(source, target)).collect();
        let shape = BatchShape { steps: max_len(&strings), batch: strings.len() };
        let symbol = |t: usize, b: usize| super::symbol(&strings, t, b);
        let states = self.body.forward_with(r, shape, symbol, Mask::Causal, None);
        States { start: 1, ..states }
    }

    /// Reads the start symbol and a source, but not yet the separator.
    pub(super) fn begin<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        source: &[u32],
        start: u32,
    ) -> PromptDecoding<R> {
        let prompt = self.joined(source, &[start]);
        let mut caches = self.body.caches();
        for &symbol in &prompt[..prompt.len() - 1] {
            self.body.advance_with(r, &mut caches, symbol, None);
        }
        // The first symbol is predicted at the separator, so the first step must read it.
        PromptDecoding { caches, separator: prompt.last().copied() }
    }

    /// The state after one more symbol; the first time, after the separator.
    pub(super) fn step<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        at: &mut PromptDecoding<R>,
        symbol: u32,
    ) -> Var {
        let symbol = at.separator.take().unwrap_or(symbol);
        self.body.advance_with(r, &mut at.caches, symbol, None)
    }
}
