//! Joint source–target self-attention (He et al. 2018, as Fonollosa et al. 2019 have it without locality constraints).
//!
//! One stack of blocks reads source and target. In every block, positions of the source attend to the source, and positions of the
//! target to the source and to the target before them, both with the same weights. Source and target have embeddings and positions of
//! their own, and a vector each that tells them apart; the output layer is the embedding of the target.

use super::{Vocabularies, max_len, symbol};
use crate::kernel::Real;
use crate::model::body::BodyConfig;
use crate::model::init::{Initialization, ParamRole};
use crate::model::transformer::{Block, NormPlace, Positions, SourceKeys, TransformerSpec};
use crate::model::{SpecError, States};
use crate::params::{Layout, Param};
use crate::tape::{Recording, Var};

pub(super) fn check(spec: &TransformerSpec) -> Result<(), SpecError> {
    spec.check()?;
    // The reference has no other form, and the code below neither a final norm nor a table of positions.
    let plain = spec.norm == NormPlace::Post
        && !spec.final_norm
        && matches!(spec.positions, Positions::Sinusoidal { .. } | Positions::None);
    if plain {
        return Ok(());
    }
    let message =
        "joint attention has its norms after sublayers, no last norm, and sinusoidal positions or none";
    Err(SpecError(message.to_owned()))
}

/// The number of parameters.
pub(super) fn parameters(spec: &TransformerSpec, Vocabularies { inputs, outputs }: Vocabularies) -> usize {
    // Both sides share the blocks. The output layer is the target's embedding and adds nothing.
    spec.parameters_of(inputs + outputs, false) + 2 * spec.width
}

/// What embeds the symbols of one side.
#[derive(Clone, Copy, Debug)]
struct Side {
    embedding: Param,
    /// A vector that is added to all embeddings.
    language: Param,
}

#[derive(Clone, Debug)]
pub(super) struct JointTransducer {
    spec: TransformerSpec,
    /// Of the source and of the target.
    sides: [Side; 2],
    blocks: Vec<Block>,
}

/// A decoder after a prefix of one output: keys and values of the source and of the prefix, per block.
#[derive(Clone, Debug)]
pub(super) struct JointDecoding<R> {
    caches: Vec<Vec<R>>,
    position: usize,
}

impl JointTransducer {
    pub(super) fn new(
        spec: &TransformerSpec,
        Vocabularies { inputs, outputs }: Vocabularies,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let d = spec.width;
        let sides = [("source", inputs), ("target", outputs)].map(|(name, vocabulary)| {
            let init = init.of(ParamRole::Embedding { d });
            let embedding = layout.add(format!("{name}.embedding"), &[vocabulary, d], init);
            Side { embedding, language: layout.add(format!("{name}.language"), &[1, d], init) }
        });
        let block = |l| Block::new(&format!("layers.{l}"), spec, false, init, layout);
        let blocks = (0..spec.layers).map(block).collect();
        Self { spec: spec.clone(), sides, blocks }
    }

    /// The weights of the output layer.
    pub(super) fn output(&self) -> Param {
        self.sides[1].embedding
    }

    /// Embeddings of symbols of one side, `t` of each string from `position` on.
    fn embed<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        side: Side,
        symbols: Vec<u32>,
        position: usize,
        t: usize,
    ) -> Var {
        let d = self.spec.width;
        let scale = if self.spec.scale_embedding { libm::sqrt(d as f64) } else { 1.0 };
        let rows = symbols.len();
        let x = r.embedding(side.embedding, symbols, d, scale);
        if let Positions::Sinusoidal { layout, first } = self.spec.positions {
            r.add_sinusoids(x, t, first + position, d, layout);
        }
        let language = r.embedding(side.language, vec![0; rows], d, scale);
        let x = r.add(x, language);
        r.dropout(x, self.spec.dropout.embedding)
    }

    fn embed_all<R: Real>(&self, r: &mut Recording<'_, R>, side: Side, strings: &[Vec<u32>]) -> Var {
        let t = max_len(strings);
        let symbols = (0..strings.len() * t).map(|i| symbol(strings, i % t, i / t)).collect();
        // Both sides count positions from the start: the language vector tells them apart.
        self.embed(r, side, symbols, 0, t)
    }

    /// The states after every symbol of the targets.
    pub(super) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        sources: &[Vec<u32>],
        targets: &[Vec<u32>],
    ) -> States {
        let lengths: Vec<usize> = sources.iter().map(Vec::len).collect();
        let t = max_len(targets);
        let [source, target] = self.sides;
        let mut both = (self.embed_all(r, source, sources), self.embed_all(r, target, targets));
        for block in &self.blocks {
            both = block.joint(r, &self.spec, both.0, both.1, &lengths, t);
        }
        let (rows, width) = (both.1.into(), self.spec.width);
        States { rows, width, per_position: 1, per_string: t, start: 1, first: 1 }
    }

    /// Reads a source; the decoder has read nothing.
    pub(super) fn begin<R: Real>(&self, r: &mut Recording<'_, R>, source: &[Vec<u32>]) -> JointDecoding<R> {
        let lengths: Vec<usize> = source.iter().map(Vec::len).collect();
        let mut x = self.embed_all(r, self.sides[0], source);
        let mut caches = Vec::new();
        for block in &self.blocks {
            let keys_values = block.joint_source(r, &self.spec, x);
            caches.push(r.value(keys_values).to_vec());
            x = block.joint_read(r, &self.spec, x, SourceKeys { keys_values, lengths: &lengths });
        }
        JointDecoding { caches, position: 0 }
    }

    /// The state after one more symbol.
    pub(super) fn step<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        at: &mut JointDecoding<R>,
        symbol: u32,
    ) -> Var {
        let mut x = self.embed(r, self.sides[1], vec![symbol], at.position, 1);
        for (block, cache) in self.blocks.iter().zip(&mut at.caches) {
            x = block.advance(r, &self.spec, x, cache, None);
        }
        at.position += 1;
        x
    }
}
