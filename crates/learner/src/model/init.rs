//! How parameters are initialised: the recipe of each paper, by name.

use serde::{Deserialize, Serialize};

use crate::params::Init;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initialization {
    /// Butoi et al.: output layers Xavier with zero bias, everything else uniform in ±0.1.
    Flare,
    /// The defaults of PyTorch's modules (Cisneros et al., Lan et al., and the LSTM of Someya et al.).
    Torch,
    /// The transformer of Someya et al.: as PyTorch, but every matrix of a block Xavier.
    Tse,
    /// The LSTM of Kharitonov and Chaabouni (fairseq): everything uniform in ±0.1.
    FindLstm,
    /// The transformer of Kharitonov and Chaabouni (fairseq).
    FindTransformer,
    /// The convolutional network of Kharitonov and Chaabouni (fairseq).
    FindCnn,
    /// The joint attention of Fonollosa et al. (fairseq): as the transformer, but all biases of attention are zero.
    JointAttention,
}

/// The role of a parameter, with the sizes that recipes depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ParamRole {
    Embedding {
        d: usize,
    },
    Positions,
    InitialState,
    /// Weights and biases of a recurrent layer.
    Recurrent {
        hidden: usize,
    },
    /// Queries, keys and values in one matrix `[3D,D]`.
    AttentionIn {
        d: usize,
    },
    AttentionInBias {
        d: usize,
    },
    AttentionOut {
        d: usize,
    },
    AttentionOutBias,
    Linear {
        i: usize,
        o: usize,
    },
    LinearBias {
        i: usize,
    },
    Head {
        i: usize,
        o: usize,
    },
    HeadBias {
        i: usize,
    },
    NormGain,
    NormBias,
    /// The directions of a layer with weight normalisation, of `i` elements each. Dropout keeps the share `kept` of its input;
    /// half of the outputs of a gated layer are gates.
    Directions {
        i: usize,
        kept: f64,
        gated: bool,
    },
    DirectionsBias,
}

impl Initialization {
    pub(crate) fn of(self, role: ParamRole) -> Init {
        match (self, role) {
            (_, ParamRole::NormGain) => Init::Constant(1.0),
            (_, ParamRole::NormBias)
            | (Self::Flare, ParamRole::HeadBias { .. })
            | (Self::JointAttention, ParamRole::AttentionInBias { .. }) => Init::Constant(0.0),
            // Butoi et al. (details of §4 in the appendix) draw the heads by Glorot and Bengio. The released code
            // zeroes their biases.
            (Self::Flare, ParamRole::Head { i, o }) | (Self::Tse, ParamRole::Linear { i, o }) => {
                Init::xavier(i, o, 1.0)
            }
            // Everything else, embeddings and biases included. This arm must follow the exceptions above.
            (Self::Flare | Self::FindLstm, _) => Init::Uniform(0.1),
            (Self::Tse, ParamRole::AttentionOut { d }) => Init::xavier(d, d, 1.0),
            (Self::FindTransformer | Self::JointAttention, role) => find_transformer(role),
            (Self::FindCnn, role) => find_cnn(role),
            (Self::Torch | Self::Tse, role) => torch(role),
        }
    }
}

fn inverse_root(n: usize) -> f64 {
    1.0 / libm::sqrt(n as f64)
}

fn torch(role: ParamRole) -> Init {
    match role {
        ParamRole::Embedding { .. } | ParamRole::Positions => Init::Normal(1.0),
        ParamRole::Recurrent { hidden } => Init::Uniform(inverse_root(hidden)),
        // `nn.MultiheadAttention` initialises queries, keys and values as one matrix, so the fan-out is 3D.
        ParamRole::AttentionIn { d } => Init::xavier(d, 3 * d, 1.0),
        // The default of `nn.Linear`: Kaiming-uniform with a = √5 is uniform in ±1/√fan-in.
        ParamRole::AttentionOut { d } => Init::Uniform(inverse_root(d)),
        ParamRole::Linear { i, .. }
        | ParamRole::LinearBias { i }
        | ParamRole::Head { i, .. }
        | ParamRole::HeadBias { i }
        | ParamRole::Directions { i, .. } => Init::Uniform(inverse_root(i)),
        ParamRole::InitialState
        | ParamRole::AttentionInBias { .. }
        | ParamRole::AttentionOutBias
        | ParamRole::NormBias
        | ParamRole::DirectionsBias => Init::Constant(0.0),
        ParamRole::NormGain => Init::Constant(1.0),
    }
}

fn find_transformer(role: ParamRole) -> Init {
    match role {
        // With `scale_embedding`, √D undoes this: elements of the input have variance 1. The output layer is drawn
        // alike, untied.
        ParamRole::Embedding { d } | ParamRole::Head { i: d, .. } => Init::Normal(inverse_root(d)),
        // fairseq draws the three matrices one by one, with gain 1/√2.
        ParamRole::AttentionIn { d } => Init::xavier(d, d, std::f64::consts::FRAC_1_SQRT_2),
        // fairseq 0.9.0 leaves these at the default of `nn.Linear`, and zeroes the bias of the output projection
        // alone.
        ParamRole::AttentionInBias { d } => Init::Uniform(inverse_root(d)),
        ParamRole::AttentionOut { d } => Init::xavier(d, d, 1.0),
        ParamRole::Linear { i, o } => Init::xavier(i, o, 1.0),
        ParamRole::LinearBias { .. } | ParamRole::HeadBias { .. } | ParamRole::AttentionOutBias => {
            Init::Constant(0.0)
        }
        role => torch(role),
    }
}

fn find_cnn(role: ParamRole) -> Init {
    match role {
        ParamRole::Embedding { .. } | ParamRole::Positions => Init::Normal(0.1),
        ParamRole::Directions { i, kept, gated } => {
            // A gate reduces the variance to a quarter.
            let gates = if gated { 4.0 } else { 1.0 };
            // Dropout divides what it keeps by `kept`, which raises the variance of inputs; the factor undoes it.
            Init::Normal(libm::sqrt(gates * kept / i as f64))
        }
        role => torch(role),
    }
}
