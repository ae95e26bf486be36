//! A transformer encoder over the whole input, and a causal decoder with cross-attention to the encoder's states. With
//! cross-self-attention (fairseq), its self-attention attends to them as well, beside the target before a position.

use super::{Vocabularies, max_len, symbol};
use crate::kernel::Real;
use crate::model::init::Initialization;
use crate::model::states::{BatchShape, States};
use crate::model::transformer::{Mask, Source, Transformer, TransformerPart, TransformerSpec};
use crate::params::Layout;
use crate::tape::{Recording, Var};

/// The number of parameters of encoder, decoder and output layer.
pub(super) fn parameters(spec: &TransformerSpec, Vocabularies { inputs, outputs }: Vocabularies) -> usize {
    spec.parameters_of(inputs, false) + spec.parameters_of(outputs, true) + outputs * spec.width
}

#[derive(Clone, Debug)]
pub(super) struct TransformerTransducer {
    encoder: Transformer,
    decoder: Transformer,
    cross_self: bool,
}

impl TransformerTransducer {
    pub(super) fn new(
        spec: &TransformerSpec,
        cross_self: bool,
        Vocabularies { inputs, outputs }: Vocabularies,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let encoder = TransformerPart { prefix: "encoder.", cross: false };
        let decoder = TransformerPart { prefix: "decoder.", cross: true };
        Self {
            encoder: Transformer::new(spec.clone(), inputs, encoder, init, layout),
            decoder: Transformer::new(spec.clone(), outputs, decoder, init, layout),
            cross_self,
        }
    }

    /// The encoder: keys and values of inputs.
    pub(super) fn read<R: Real>(&self, r: &mut Recording<'_, R>, sources: &[Vec<u32>]) -> Source {
        let lengths: Vec<usize> = sources.iter().map(Vec::len).collect();
        let shape = BatchShape { steps: max_len(sources), batch: sources.len() };
        let mask = Mask::Padding(&lengths);
        let states = self.encoder.forward_with(r, shape, |t, b| symbol(sources, t, b), mask, None);
        let rows = r.materialize(states.rows);
        self.decoder.source(r, rows, &lengths, self.cross_self)
    }

    /// The states after every symbol of the targets.
    pub(super) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        sources: &[Vec<u32>],
        targets: &[Vec<u32>],
    ) -> States {
        let source = self.read(r, sources);
        let shape = BatchShape { steps: max_len(targets), batch: targets.len() };
        let states =
            self.decoder.forward_with(r, shape, |t, b| symbol(targets, t, b), Mask::Causal, Some(&source));
        // Targets begin with a start symbol.
        States { start: 1, ..states }
    }

    pub(super) fn caches<R: Real>(&self, r: &Recording<'_, R>, source: &Source) -> Vec<Vec<R>> {
        self.decoder.caches_after(r, source)
    }

    /// The state after one more symbol.
    pub(super) fn advance<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        source: &Source,
        caches: &mut [Vec<R>],
        symbol: u32,
    ) -> Var {
        self.decoder.advance_with(r, caches, symbol, Some(source))
    }
}
