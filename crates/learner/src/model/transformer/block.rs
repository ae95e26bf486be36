//! One block: self-attention, cross-attention in a decoder, and a feed-forward network.

use super::{NormPlace, TransformerSpec};
use crate::kernel::{Activation, Attention, Real};
use crate::model::init::{Initialization, ParamRole};
use crate::model::states::BatchShape;
use crate::params::{Layout, Param};
use crate::tape::{HeadSizes, LayerNorm, Recording, Var};

/// The mask of self-attention.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mask<'a> {
    /// A position attends to itself and to earlier ones.
    Causal,
    /// A position attends to all positions but padding; strings have these lengths.
    Padding(&'a [usize]),
}

/// What cross-attention attends to: keys and values for each block, and the lengths of strings without padding.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(super) keys_values: Vec<Var>,
    /// Keys and values of self-attention, which attends to the source as well; none if it does not.
    pub(super) before: Option<Vec<Var>>,
    pub(super) lengths: Vec<usize>,
}

/// The same of one block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSource<'a> {
    keys_values: Var,
    before: Option<Var>,
    lengths: &'a [usize],
}

impl Source {
    /// What block `l` attends to.
    pub(super) fn of(&self, l: usize) -> BlockSource<'_> {
        let before = self.before.as_ref().map(|before| before[l]);
        BlockSource { keys_values: self.keys_values[l], before, lengths: &self.lengths }
    }

    /// How many positions of the one source come before those of the target in self-attention.
    pub(super) fn positions_before(&self) -> usize {
        self.before.as_ref().map_or(0, |_| self.lengths[0])
    }
}

/// Weights and biases of multi-head attention: queries, keys and values in one matrix, and the output.
#[derive(Clone, Copy, Debug)]
struct Heads {
    input: (Param, Param),
    out: (Param, Param),
}

impl Heads {
    fn new(name: &str, d: usize, init: Initialization, layout: &mut Layout) -> Self {
        let mut add = |part: &str, shape: &[usize], role: ParamRole| {
            layout.add(format!("{name}.{part}"), shape, init.of(role))
        };
        Self {
            input: (
                add("in.weight", &[3 * d, d], ParamRole::AttentionIn { d }),
                add("in.bias", &[3 * d], ParamRole::AttentionInBias { d }),
            ),
            out: (
                add("out.weight", &[d, d], ParamRole::AttentionOut { d }),
                add("out.bias", &[d], ParamRole::AttentionOutBias),
            ),
        }
    }

    /// A linear map of `x` by `count` of the three matrices (queries, keys, values), from number `from` on.
    fn project<R: Real>(self, r: &mut Recording<'_, R>, x: Var, d: usize, from: usize, count: usize) -> Var {
        let (weight, bias) = self.input;
        let (weight, bias) = (weight.part(from * d * d, count * d * d), bias.part(from * d, count * d));
        r.linear(x, weight, Some(bias), d, Activation::Identity)
    }

    fn queries<R: Real>(self, r: &mut Recording<'_, R>, x: Var, d: usize) -> Var {
        self.project(r, x, d, 0, 1)
    }

    fn keys_values<R: Real>(self, r: &mut Recording<'_, R>, x: Var, d: usize) -> Var {
        self.project(r, x, d, 1, 2)
    }

    fn output<R: Real>(self, r: &mut Recording<'_, R>, x: Var, spec: &TransformerSpec) -> Var {
        let x = r.linear(x, self.out.0, Some(self.out.1), spec.width, Activation::Identity);
        r.dropout(x, spec.dropout.residual)
    }

    /// Attention with queries of `x`.
    fn attend<R: Real>(
        self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        x: Var,
        SourceKeys { keys_values, lengths }: SourceKeys<'_>,
    ) -> Var {
        let q = self.queries(r, x, spec.width);
        let sizes = HeadSizes { width: spec.width, heads: spec.heads };
        let x = r.cross_attention(q, keys_values, lengths, sizes, spec.dropout.attention);
        self.output(r, x, spec)
    }
}

/// Keys and values of sources, and the lengths of these without padding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceKeys<'a> {
    pub(crate) keys_values: Var,
    pub(crate) lengths: &'a [usize],
}

impl Heads {
    /// Attention of `t` positions of each target to the whole source, to themselves and to the target before them. Sources have keys
    /// and values with the same weights, and these lengths without padding.
    fn attend_after<R: Real>(
        self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        x: Var,
        SourceKeys { keys_values: source, lengths }: SourceKeys<'_>,
        t: usize,
    ) -> Var {
        let d = spec.width;
        let own = self.keys_values(r, x, d);
        let both = side_by_side(r, source, own, lengths, t, 2 * d);
        let ends: Vec<usize> = lengths.iter().map(|length| length + t).collect();
        let q = self.queries(r, x, d);
        let sizes = HeadSizes { width: d, heads: spec.heads };
        let x = r.prefix_attention(q, both, &ends, lengths, sizes, spec.dropout.attention);
        self.output(r, x, spec)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    attention: (Heads, LayerNorm),
    cross: Option<(Heads, LayerNorm)>,
    up: (Param, Param),
    down: (Param, Param),
    norm: LayerNorm,
}

pub(super) fn norm(layout: &mut Layout, name: &str, d: usize, init: Initialization) -> LayerNorm {
    let gain = layout.add(format!("{name}.weight"), &[d], init.of(ParamRole::NormGain));
    let bias = layout.add(format!("{name}.bias"), &[d], init.of(ParamRole::NormBias));
    // PyTorch's default, which the papers keep.
    LayerNorm { gain, bias, epsilon: 1e-5 }
}

impl Block {
    pub(crate) fn new(
        name: &str,
        spec: &TransformerSpec,
        cross: bool,
        init: Initialization,
        layout: &mut Layout,
    ) -> Self {
        let (d, f) = (spec.width, spec.feedforward);
        let heads = Heads::new(&format!("{name}.attention"), d, init, layout);
        let mut linear = |part: &str, i: usize, o: usize| {
            let weight =
                layout.add(format!("{name}.{part}.weight"), &[o, i], init.of(ParamRole::Linear { i, o }));
            (weight, layout.add(format!("{name}.{part}.bias"), &[o], init.of(ParamRole::LinearBias { i })))
        };
        let (up, down) = (linear("up", d, f), linear("down", f, d));
        let attention = (heads, norm(layout, &format!("{name}.norm1"), d, init));
        let last = norm(layout, &format!("{name}.norm2"), d, init);
        let cross = cross.then(|| {
            let heads = Heads::new(&format!("{name}.cross"), d, init, layout);
            (heads, norm(layout, &format!("{name}.cross.norm"), d, init))
        });
        Self { attention, cross, up, down, norm: last }
    }

    /// Keys and values of an encoder's states.
    pub(super) fn source<R: Real>(&self, r: &mut Recording<'_, R>, states: Var) -> Var {
        let (heads, norm) = self.cross.expect("only a decoder has cross-attention");
        heads.keys_values(r, states, norm.gain.len())
    }

    /// Whole strings, `t` positions each.
    pub(super) fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        x: Var,
        BatchShape { steps: t, batch }: BatchShape,
        mask: Mask<'_>,
        source: Option<BlockSource<'_>>,
    ) -> Var {
        let (d, heads) = (spec.width, self.attention.0);
        let before = source
            .and_then(|source| Some(SourceKeys { keys_values: source.before?, lengths: source.lengths }));
        let x = sublayer(r, spec.norm, x, self.attention.1, |r, x| match (mask, before) {
            (Mask::Causal, Some(source)) => heads.attend_after(r, spec, x, source, t),
            (Mask::Causal, None) => {
                let x = heads.project(r, x, d, 0, 3);
                let n = Attention {
                    batch,
                    queries: t,
                    keys: t,
                    width: d,
                    heads: spec.heads,
                    causal: true,
                    prefix: 0,
                };
                let x = r.attention(x, n, spec.dropout.attention);
                heads.output(r, x, spec)
            }
            // Cross-attention of strings to themselves, because its kernel masks keys by length.
            (Mask::Padding(lengths), _) => {
                let keys_values = heads.keys_values(r, x, d);
                heads.attend(r, spec, x, SourceKeys { keys_values, lengths })
            }
        });
        self.rest(r, spec, x, source)
    }

    /// Source and target with the same weights: every position attends to the whole source, and one of the target also to itself and to
    /// the target before it. Sources have these lengths without padding; targets have `t` positions. Gives both, and the keys and
    /// values of the source.
    pub(crate) fn joint<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        source: Var,
        target: Var,
        lengths: &[usize],
        t: usize,
    ) -> (Var, Var) {
        let (heads, norm) = self.attention;
        // The source's keys are of its states before this block, as the target's own are.
        let keys = SourceKeys { keys_values: self.joint_source(r, spec, source), lengths };
        let target = sublayer(r, spec.norm, target, norm, |r, x| heads.attend_after(r, spec, x, keys, t));
        (self.joint_read(r, spec, source, keys), self.rest(r, spec, target, None))
    }

    /// Keys and values of a source, to which the self-attention of its target attends as well.
    pub(crate) fn joint_source<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        source: Var,
    ) -> Var {
        self.attention.0.keys_values(r, source, spec.width)
    }

    /// The source after this block.
    pub(crate) fn joint_read<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        source: Var,
        keys: SourceKeys<'_>,
    ) -> Var {
        let (heads, norm) = self.attention;
        let x = sublayer(r, spec.norm, source, norm, |r, x| heads.attend(r, spec, x, keys));
        self.rest(r, spec, x, None)
    }

    /// One position; its key and value are appended to the cache.
    pub(crate) fn advance<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        x: Var,
        cache: &mut Vec<R>,
        source: Option<BlockSource<'_>>,
    ) -> Var {
        let (d, heads) = (spec.width, self.attention.0);
        let x = sublayer(r, spec.norm, x, self.attention.1, |r, x| {
            let new = heads.keys_values(r, x, d);
            cache.extend_from_slice(r.value(new));
            let keys_values = r.constant(cache);
            heads.attend(r, spec, x, SourceKeys { keys_values, lengths: &[cache.len() / (2 * d)] })
        });
        self.rest(r, spec, x, source)
    }

    /// The sublayers after self-attention.
    fn rest<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        spec: &TransformerSpec,
        mut x: Var,
        source: Option<BlockSource<'_>>,
    ) -> Var {
        if let (Some((heads, norm)), Some(source)) = (self.cross, source) {
            let keys = SourceKeys { keys_values: source.keys_values, lengths: source.lengths };
            x = sublayer(r, spec.norm, x, norm, |r, x| heads.attend(r, spec, x, keys));
        }
        sublayer(r, spec.norm, x, self.norm, |r, x| {
            let x = r.linear(x, self.up.0, Some(self.up.1), spec.width, Activation::Relu);
            let x = r.dropout(x, spec.dropout.hidden);
            let x = r.linear(x, self.down.0, Some(self.down.1), spec.feedforward, Activation::Identity);
            r.dropout(x, spec.dropout.residual)
        })
    }
}

/// Of each string the rows of its source (`lengths[b]` of them), then `t` of its target, then padding.
fn side_by_side<R: Real>(
    r: &mut Recording<'_, R>,
    source: Var,
    target: Var,
    lengths: &[usize],
    t: usize,
    width: usize,
) -> Var {
    let (batch, all) = (lengths.len(), r.join(&[source, target], 1));
    let s = r.value(source).len() / (width * batch);
    let rows = (0..batch * (s + t)).map(|i| {
        let (b, row) = (i / (s + t), i % (s + t));
        match row.checked_sub(lengths[b]) {
            None => (b * s + row) as u32,
            // Rows of padding are never read: any will do.
            Some(row) => (batch * s + b * t + row.min(t - 1)) as u32,
        }
    });
    r.select(all, rows.collect::<Vec<u32>>(), width)
}

/// A residual branch with its normalisation.
fn sublayer<R: Real>(
    r: &mut Recording<'_, R>,
    place: NormPlace,
    x: Var,
    norm: LayerNorm,
    branch: impl FnOnce(&mut Recording<'_, R>, Var) -> Var,
) -> Var {
    match place {
        NormPlace::Pre => {
            let y = r.layer_norm(x, norm);
            let y = branch(r, y);
            r.add(x, y)
        }
        NormPlace::Post => {
            let y = branch(r, x);
            let x = r.add(x, y);
            r.layer_norm(x, norm)
        }
    }
}
