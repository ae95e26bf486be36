//! What can be put to the test, and how it is built and trained.

use serde::{Deserialize, Serialize};
use wug_learner::kernel::MemoryKind;
use wug_learner::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModel, LanguageModelSpec, Output,
    RecurrentSpec, SpecError, Start,
};
use wug_learner::optim::OptimizerSpec;
use wug_learner::train::{BatchSize, Schedule, TrainSpec};

use crate::names::named;

named! {
    /// Something that says what comes next.
    Learner {
        /// Long short-term memory.
        Lstm = "lstm",
        /// Simple recurrent network (not in the paper).
        Rnn = "rnn",
        /// Gated recurrent units (not in the paper).
        Gru = "gru",
        /// Simple recurrent network with a stack (not in the paper).
        StackRnn = "stack-rnn",
        /// Long short-term memory with a stack.
        StackLstm = "stack-lstm",
        /// Simple recurrent network with a memory that moves.
        BabyNtm = "baby-ntm",
        /// Expects the last symbol again.
        RepeatLast = "repeat-last",
        /// Gives everything the same probability.
        Uniform = "uniform",
        /// Shares of symbols.
        Unigram = "unigram",
        /// Shares after the last symbol.
        Bigram = "bigram",
        /// Shares after the last two symbols.
        Trigram = "trigram",
        /// Knows the language.
        TrueGrammar = "true-grammar",
    }
}

named! {
    /// What a network is trained on.
    Loss {
        /// A softmax over what comes next, and its cross-entropy.
        CrossEntropy = "cross-entropy",
        /// A sigmoid per symbol that may come next, and its squared error (Suzgun et al. 2019).
        SigmoidMse = "sigmoid-mse",
    }
}

named! {
    /// What is added to the loss, λ times.
    Regularization {
        /// Nothing.
        None = "none",
        /// Σ|w|.
        L1 = "l1",
        /// Σw².
        L2 = "l2",
    }
}

named! {
    /// How a memory's action is chosen.
    GateKind {
        /// By a softmax.
        Softmax = "softmax",
        /// By a softmax with a temperature that falls.
        Temperature = "temperature",
        /// The same, with Gumbel noise while learning.
        Gumbel = "gumbel",
    }
}

/// What a network is built of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Layers alone.
    Plain(Cell),
    /// A layer with a memory.
    Memory(Cell, MemoryKind),
}

impl Learner {
    /// What it is, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Lstm => "long short-term memory, one-hot input",
            Self::Rnn => "simple recurrent network, tanh, one-hot input (not in the paper)",
            Self::Gru => "gated recurrent units, one-hot input (not in the paper)",
            Self::StackRnn => "simple recurrent network with a differentiable stack (not in the paper)",
            Self::StackLstm => "long short-term memory with a differentiable stack",
            Self::BabyNtm => "simple recurrent network with a memory whose rows rotate and shift",
            Self::RepeatLast => "no training: expects the last symbol again",
            Self::Uniform => "no training: gives everything the same probability",
            Self::Unigram => "shares of symbols in the training strings",
            Self::Bigram => "shares of symbols after the last one",
            Self::Trigram => "shares of symbols after the last two",
            Self::TrueGrammar => "no training: knows the language and its probabilities",
        }
    }

    /// What is trained by gradients; a baseline has no such thing.
    pub(super) fn body(self) -> Option<Body> {
        Some(match self {
            Self::Lstm => Body::Plain(Cell::Lstm),
            Self::Rnn => Body::Plain(Cell::Rnn),
            Self::Gru => Body::Plain(Cell::Gru),
            Self::StackRnn => Body::Memory(Cell::Rnn, MemoryKind::Stack),
            Self::StackLstm => Body::Memory(Cell::Lstm, MemoryKind::Stack),
            Self::BabyNtm => Body::Memory(Cell::Rnn, MemoryKind::BabyNtm),
            _ => return None,
        })
    }
}

/// How a network is built and trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// What it is trained on.
    pub loss: Loss,
    /// Units per layer.
    pub hidden: usize,
    /// Layers; one beside a memory.
    pub layers: usize,
    /// What is added to the loss.
    pub regularization: Regularization,
    /// How much of it.
    pub lambda: f64,
    /// Passes over the training strings.
    pub epochs: usize,
    /// Of Adam.
    pub learning_rate: f64,
    /// Strings per update.
    pub batch: BatchSize,
    /// Rows of the memory in training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<usize>,
    /// Rows of the memory at the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_memory: Option<usize>,
    /// Numbers per row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_width: Option<usize>,
    /// How an action is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateKind>,
    /// How a gate's temperature falls, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Annealing>,
}

impl Settings {
    /// The network in training, for a vocabulary of so many symbols.
    pub(super) fn model(&self, body: Body, vocabulary: usize) -> Result<LanguageModel, SpecError> {
        let body = match body {
            Body::Plain(cell) => BodySpec::Recurrent(RecurrentSpec {
                cell,
                layers: self.layers,
                hidden: self.hidden,
                embedding: None,
                biases: 2,
                start: Start::Zero,
                dropout: 0.0,
            }),
            Body::Memory(cell, device) => BodySpec::Augmented(AugmentedSpec {
                cell,
                hidden: self.hidden,
                device,
                rows: self.memory.unwrap_or(1),
                width: self.memory_width.unwrap_or(1),
                gate: self.gate(),
            }),
        };
        let (output, initialization) = (Output::Linear, Initialization::Torch);
        LanguageModel::new(LanguageModelSpec { body, vocabulary, output, initialization })
    }

    fn gate(&self) -> Gate {
        match (self.gate, self.temperature) {
            (Some(GateKind::Temperature), Some(annealing)) => Gate::Temperature(annealing),
            (Some(GateKind::Gumbel), Some(annealing)) => Gate::Gumbel(annealing),
            _ => Gate::Softmax,
        }
    }

    /// How to train.
    pub(super) fn training(&self) -> TrainSpec {
        let of = |kind| if self.regularization == kind { self.lambda } else { 0.0 };
        let (l1, l2) = (of(Regularization::L1), of(Regularization::L2));
        TrainSpec {
            optimizer: OptimizerSpec { l1, l2, ..OptimizerSpec::adam() },
            schedule: Schedule::Constant { rate: self.learning_rate },
            batch: self.batch,
            max_epochs: self.epochs,
            patience: usize::MAX,
        }
    }

    /// Whether equal strings may be learned from as one that weighs more. It is the same sum if all are in one batch; only
    /// what goes by the number of strings, a temperature and its noise, would differ.
    pub(super) fn merges(&self) -> bool {
        self.batch == BatchSize::All && self.temperature.is_none()
    }
}
