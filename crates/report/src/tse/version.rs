//! How a run was made: corrected, as the paper describes, or as the released code does it; and which tables it belongs to.

use serde_json::Value;
use wug_score::{Reading, RunResult};

use super::published::{SEARCHED, STACK_RNN_SEARCHED, STACK_RNN_SGD};
use super::runs::{Law, language, learner};

/// What the pairs are, and which faults of the released code a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// Corrected pairs; all layers are trained, and pairs are scored without dropout.
    Corrected,
    /// Published pairs; all layers are trained, and pairs are scored without dropout.
    Described,
    /// Published pairs; the output layer is not trained, and dropout stays on while pairs are scored.
    Released,
}

impl Version {
    pub(super) const ALL: [Self; 3] = [Self::Corrected, Self::Described, Self::Released];

    /// By its pairs and its output layer. Baselines have no output layer: on published pairs, theirs are the released ones.
    pub(super) fn of(result: &RunResult) -> Self {
        let trained = result.plan.pointer("/settings/train_output").and_then(Value::as_bool);
        match (result.run.reading, trained) {
            (Reading::Corrected, _) => Self::Corrected,
            (Reading::Published, Some(true)) => Self::Described,
            (Reading::Published, _) => Self::Released,
        }
    }

    /// Its name in the heads of tables. The released code's is that of the reading.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Corrected => "corrected",
            Self::Described => "as described",
            Self::Released => "published",
        }
    }

    /// The same in an address.
    pub(super) fn id(self) -> &'static str {
        if self == Self::Described { "described" } else { self.name() }
    }

    /// The reading of its pairs.
    pub(super) fn reading(self) -> Reading {
        if self == Self::Corrected { Reading::Corrected } else { Reading::Published }
    }
}

/// The tables that a run belongs to. Only those of the first group have the settings of the paper or its released configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Paper,
    /// Terminals drawn from a normal distribution, as the paper says and its code does not.
    Normal,
    /// Settings that were found by search.
    Searched,
}

impl Group {
    pub(super) const ALL: [Self; 3] = [Self::Paper, Self::Normal, Self::Searched];

    /// None of a language that the paper does not have, or not with these settings.
    pub(super) fn of(result: &RunResult) -> Option<Self> {
        match (language(result)?.law, learner(result)) {
            (Law::Uniform, STACK_RNN_SEARCHED) => Some(Self::Searched),
            (Law::Normal, STACK_RNN_SEARCHED) => None,
            (Law::Uniform, _) => Some(Self::Paper),
            (Law::Normal, _) => Some(Self::Normal),
        }
    }

    /// The end of the ids of its tables.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Paper => "",
            Self::Normal => "-normal",
            Self::Searched => "-search",
        }
    }

    /// What its titles begin with.
    pub(super) fn title(self) -> String {
        match self {
            Self::Paper => "Table 3".to_owned(),
            Self::Normal => "Table 3, terminals from a normal distribution".to_owned(),
            Self::Searched => {
                format!("Not the paper's settings, found by search ({SEARCHED} tried at T = 5)")
            }
        }
    }

    /// What to know of its settings.
    pub(super) fn note(self, learners: &[&str]) -> Option<String> {
        match self {
            Self::Paper => learners.contains(&STACK_RNN_SGD).then(|| {
                format!("{STACK_RNN_SGD}: SGD, as the released configuration says, at the learning rates that the paper has for SGD; the paper says AdamW. Batches of 512 either way.")
            }),
            Self::Normal => Some("The paper says that terminals are drawn from a normal distribution, without its mean or deviation; the released code draws them uniformly. Here: mean (T - 1)/2, standard deviation T/4.".to_owned()),
            Self::Searched => Some(format!("SGD with batches of 2,048. No source has this setting: the paper says AdamW and batches of 512, the released configuration SGD. It was found among {SEARCHED} settings of the Stack-RNN by its fit to the paper's figures of np-vp at T = 5, so that its fit there is no evidence; it does not fit T = 50 (docs/errata.md).")),
        }
    }
}
