//! What is trained on and what is held out.

use wug_language::{Symbol, draw};
use wug_parameter::choices;

use super::grammar::commands;
use crate::{Seed, TransductionPair};

/// The longest action sequence that the length split trains on.
const LONGEST_TRAINED: usize = 22;

choices! {
    /// One of the published ways to split the commands.
    pub enum Split {
        /// A random fifth is held out.
        Simple = "simple",
        /// Every use of `jump` but the bare command is held out.
        Jump = "jump",
        /// Every use of `turn left` but the bare command is held out.
        TurnLeft = "turn-left",
        /// Every command of more than 22 actions is held out.
        Length = "length",
    }
}

/// The two parts of a split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The training set; a bare command that stands for its primitive is there many times.
    pub train: Vec<TransductionPair>,
    pub test: Vec<TransductionPair>,
}

impl Split {
    /// The bare command whose uses are held out, if any.
    pub fn primitive(self) -> Option<TransductionPair> {
        let (words, action): (&[u16], u16) = match self {
            Self::Jump => (&[12], 5),
            Self::TurnLeft => (&[8, 6], 0),
            Self::Simple | Self::Length => return None,
        };
        let input = words.iter().copied().map(Symbol).collect();
        Some(TransductionPair { input, output: vec![Symbol(action)] })
    }

    /// The commands of both parts, each in an order drawn from its own stream of the seed.
    ///
    /// ```
    /// use wug_dataset::{Seed, find::scan::Split};
    /// let parts = Split::Length.parts(Seed::new(1));
    /// assert_eq!((parts.train.len(), parts.test.len()), (16_990, 3_920));
    /// ```
    pub fn parts(self, seed: Seed) -> Parts {
        let seed = seed.derive("find/scan").derive(self.name());
        let (mut train, mut test) = match self {
            Self::Simple => {
                let mut train = commands();
                draw::shuffle(&mut seed.derive("choose").rng(), &mut train);
                let test = train.split_off(train.len() * 4 / 5);
                (train, test)
            }
            Self::Length => commands().into_iter().partition(|pair| pair.output.len() <= LONGEST_TRAINED),
            Self::Jump | Self::TurnLeft => self.hold_primitive_out(),
        };
        draw::shuffle(&mut seed.derive("train").rng(), &mut train);
        draw::shuffle(&mut seed.derive("test").rng(), &mut test);
        Parts { train, test }
    }

    fn hold_primitive_out(self) -> (Vec<TransductionPair>, Vec<TransductionPair>) {
        let Some(primitive) = self.primitive() else { return (commands(), Vec::new()) };
        let words = &primitive.input;
        // As neighbours: `turn opposite left` does not use `turn left` in the published split.
        let uses = |pair: &TransductionPair| pair.input.windows(words.len()).any(|window| window == words);
        let (test, mut train): (Vec<TransductionPair>, Vec<TransductionPair>) =
            commands().into_iter().filter(|pair| pair.input != *words).partition(uses);
        // As published, the bare command makes up a tenth of the training set.
        let copies = train.len() / 9;
        train.extend(std::iter::repeat_n(primitive, copies));
        (train, test)
    }
}
