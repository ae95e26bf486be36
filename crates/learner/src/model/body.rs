//! Bodies: what reads a string and gives a state after every prefix. A model is a body with output layers on its states.
//!
//! A body is two types: a spec that implements [`BodyConfig`], and what it builds, which implements [`Body`]. The table at
//! the end of this file lists them; the enums [`BodySpec`] and [`AnyBody`] are generated from it. A new body is one file
//! with the two implementations and one line of the table. Models call the traits and name no body.

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::augmented::{AugmentedBody, AugmentedSpec};
use super::init::Initialization;
use super::recurrent::{Recurrent, RecurrentSpec};
use super::stack_rnn::{StackRnnBody, StackRnnSpec};
use super::states::{BatchShape, BatchStates, PrefixState, States};
use super::transformer::{Transformer, TransformerSpec};
use crate::kernel::Real;
use crate::params::{Layout, Param};
use crate::tape::Recording;

/// What is known of a body before it is built.
pub(crate) trait BodyConfig {
    /// The body with its parameters.
    type Built: Body;

    /// Checks the sizes. The other methods rely on it.
    fn check(&self) -> Result<(), SpecError>;

    /// `D`, elements per state.
    fn state_width(&self) -> usize;

    /// Elements per embedded symbol, if symbols are embedded.
    fn embedding_width(&self) -> Option<usize>;

    /// The number of parameters that [`build`](Self::build) adds.
    fn parameters(&self, vocabulary: usize) -> usize;

    /// Adds the parameters to the layout. Inputs are symbols below `vocabulary`.
    fn build(&self, vocabulary: usize, init: Initialization, layout: &mut Layout) -> Self::Built;

    /// How many strings of up to `max_len` symbols to put in one batch. Small batches of a transformer stay in cache, while
    /// recurrent layers gain from every string that shares a step.
    fn max_batch_strings(&self, max_len: usize) -> usize;

    /// Elements of [`PrefixState::caches`] after `max_len` symbols; 0 if the state does not grow with the prefix.
    fn cache_elements(&self, _max_len: usize) -> usize {
        0
    }

    /// Whether there is a state before the first symbol. A body without one needs a start symbol to predict the first.
    fn has_initial_state(&self) -> bool {
        true
    }

    /// The maximum number of symbols, if there is one.
    fn max_len(&self) -> Option<usize> {
        None
    }

    /// Changes the number of rows of the memory. False if there is no memory.
    fn set_memory_rows(&mut self, _rows: usize) -> bool {
        false
    }
}

/// A body with its parameters.
pub(crate) trait Body {
    /// The embedding, for output layers that share its weights.
    fn embedding(&self) -> Option<Param> {
        None
    }

    /// Sets the parameters that are a function of the number of training examples seen, and have no gradient.
    fn anneal<R: Real>(&self, _params: &mut [R], _examples: u64) {}

    /// The states after all prefixes of a batch of strings, padded at the end: `symbol(t, b)` is the input of string `b` at
    /// step `t`, and may be any symbol past the end of the string.
    fn forward<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        shape: BatchShape,
        symbol: impl Fn(usize, usize) -> u32,
    ) -> States;

    /// The state before the first symbol.
    fn initial_state<R: Real>(&self, params: &[R]) -> PrefixState<R>;

    /// Reads one symbol. The prefix is not read again.
    fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32);

    /// Reads one piece per state, all pieces of the same length and at least one symbol, as one batch. None if the body can
    /// only [`advance`](Self::advance) states one at a time.
    fn step_batch<R: Real>(
        &self,
        _r: &mut Recording<'_, R>,
        _states: &mut [PrefixState<R>],
        _pieces: &[&[u32]],
    ) -> Option<BatchStates> {
        None
    }
}

impl AnyBody {
    /// The states after all prefixes of strings. A start symbol, if given, is read before each of them and is not counted
    /// in the prefixes.
    pub(crate) fn read<R: Real>(
        &self,
        r: &mut Recording<'_, R>,
        strings: &[&[u32]],
        start: Option<u32>,
    ) -> States {
        let shift = usize::from(start.is_some());
        let max_len = strings.iter().map(|s| s.len()).max().unwrap_or(0);
        let symbol = |t: usize, b: usize| match start {
            Some(start) if t == 0 => start,
            _ => strings[b].get(t - shift).copied().unwrap_or(0),
        };
        States {
            start: shift,
            ..self.forward(r, BatchShape { steps: max_len + shift, batch: strings.len() }, symbol)
        }
    }
}

/// Generates the two enums and their delegation from the table of bodies.
macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident($spec:ty, $body:ty),)+) => {
        /// The architecture of a body, as written in a config.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", tag = "kind")]
        pub enum BodySpec {
            $($(#[$doc])* $name($spec),)+
        }

        /// Any body with its parameters.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyBody {
            $($name($body),)+
        }

        impl BodyConfig for BodySpec {
            type Built = AnyBody;

            fn check(&self) -> Result<(), SpecError> {
                match self { $(Self::$name(spec) => spec.check(),)+ }
            }

            fn state_width(&self) -> usize {
                match self { $(Self::$name(spec) => spec.state_width(),)+ }
            }

            fn embedding_width(&self) -> Option<usize> {
                match self { $(Self::$name(spec) => spec.embedding_width(),)+ }
            }

            fn parameters(&self, vocabulary: usize) -> usize {
                match self { $(Self::$name(spec) => spec.parameters(vocabulary),)+ }
            }

            fn build(&self, vocabulary: usize, init: Initialization, layout: &mut Layout) -> AnyBody {
                match self { $(Self::$name(spec) => AnyBody::$name(spec.build(vocabulary, init, layout)),)+ }
            }

            fn max_batch_strings(&self, max_len: usize) -> usize {
                match self { $(Self::$name(spec) => spec.max_batch_strings(max_len),)+ }
            }

            fn cache_elements(&self, max_len: usize) -> usize {
                match self { $(Self::$name(spec) => spec.cache_elements(max_len),)+ }
            }

            fn has_initial_state(&self) -> bool {
                match self { $(Self::$name(spec) => spec.has_initial_state(),)+ }
            }

            fn max_len(&self) -> Option<usize> {
                match self { $(Self::$name(spec) => spec.max_len(),)+ }
            }

            fn set_memory_rows(&mut self, rows: usize) -> bool {
                match self { $(Self::$name(spec) => spec.set_memory_rows(rows),)+ }
            }
        }

        impl Body for AnyBody {
            fn embedding(&self) -> Option<Param> {
                match self { $(Self::$name(body) => body.embedding(),)+ }
            }

            fn anneal<R: Real>(&self, params: &mut [R], examples: u64) {
                match self { $(Self::$name(body) => body.anneal(params, examples),)+ }
            }

            fn forward<R: Real>(
                &self,
                r: &mut Recording<'_, R>,
                shape: BatchShape,
                symbol: impl Fn(usize, usize) -> u32,
            ) -> States {
                match self { $(Self::$name(body) => body.forward(r, shape, symbol),)+ }
            }

            fn initial_state<R: Real>(&self, params: &[R]) -> PrefixState<R> {
                match self { $(Self::$name(body) => body.initial_state(params),)+ }
            }

            fn advance<R: Real>(&self, r: &mut Recording<'_, R>, state: &mut PrefixState<R>, symbol: u32) {
                match self { $(Self::$name(body) => body.advance(r, state, symbol),)+ }
            }

            fn step_batch<R: Real>(
                &self,
                r: &mut Recording<'_, R>,
                states: &mut [PrefixState<R>],
                pieces: &[&[u32]],
            ) -> Option<BatchStates> {
                match self { $(Self::$name(body) => body.step_batch(r, states, pieces),)+ }
            }
        }
    };
}

bodies! {
    Recurrent(RecurrentSpec, Recurrent),
    /// A recurrent network with a memory.
    Augmented(AugmentedSpec, AugmentedBody),
    /// A recurrent network with a stack in its input.
    StackRnn(StackRnnSpec, StackRnnBody),
    Transformer(TransformerSpec, Transformer),
}
