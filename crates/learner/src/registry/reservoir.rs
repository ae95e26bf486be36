//! Reservoirs: echo-state networks and cellular automata.

use wug_dataset::Seed;

use wug_parameter::{Constant, Key, Settings, ValueLimits as Limits, choices, parameters};

use super::gradient::{LEARNING_RATE, MAX, TELLING_OPTIMIZER, UpdateRule};
use super::size::{Dimension, Sizing, Steps};
use super::{IncrementalRole, IncrementalTask, Learner, NO_ROLES};
use crate::interface::{ByRow, Incremental};
use crate::kernel::Real;
use crate::model::SpecError;
use crate::reservoir::automaton::{Automaton, AutomatonSpec};
use crate::reservoir::decoder::units;
use crate::reservoir::echo_state::{EchoState, EchoStateSpec};
use crate::reservoir::{DecoderKind, DecoderSpec, Labels, Reservoir, ReservoirLearner, Standardization};

pub const DECODER: Key<DecoderKind> = Key::choice(
    "decoder",
    "what learns from the features: softmax regression, or a logistic regression for each answer against the rest (published)",
    "softmax",
).published(Constant::Name("one-vs-rest"));
const STANDARDIZATION: Key<Standardization> = Key::choice(
    "standardization",
    "with which mean and variance features are standardised: none, those of all training features, known before the first step (published), or those seen so far",
    "running",
).published(Constant::Name("prior"));
const LABELS: Key<Labels> = Key::choice(
    "labels",
    "what the decoder chooses from: every symbol that can be an answer, or the answers of the training sequences, known before the first step (published)",
    "all",
).published(Constant::Name("training"));
const DECODER_OPTIMIZER: Key<UpdateRule> = TELLING_OPTIMIZER
    .or(Constant::Name(UpdateRule::Sgd.name()))
    .meaning("the decoder's update rule: stochastic gradient descent (published) or Adam");
const RATE: Key<f64> = LEARNING_RATE.meaning("step size of the decoder");
const WEIGHT_DECAY: Key<f64> =
    Key::real("weight_decay", "factor of ½·|w|² in the decoder's loss", Limits::NotNegative, 0.001);

pub const RULE: Key<usize> = Key::count("rule", "the elementary rule, in Wolfram's numbering", 0..=255, 110);
// 15 × 60 cells over 2 iterations are 1,800 features, as many as the echo-state network has units.
pub const REDUNDANCY: Key<usize> =
    Key::count("redundancy", "segments of the ring; a symbol flips one cell of each", 1..=10_000, 15);
pub const PROJECTION: Key<usize> = Key::count("projection", "cells per segment", 1..=10_000, 60);
pub const ITERATIONS: Key<usize> = Key::count(
    "iterations",
    "steps of the automaton per symbol; the states after each are features",
    1..=100,
    2,
);

pub const UNITS: Key<usize> = Key::count("units", "units of the network", 1..=MAX, 1800);
const CONNECTIONS: Key<f64> =
    Key::real("connections", "connections to each unit, on average", Limits::Positive, 10.0);
choices! {
    /// Which dynamics an echo-state network has.
    pub enum Dynamics {
        Given = "given",
        Published = "published",
    }
}

const DYNAMICS: Key<Dynamics> = Key::choice(
    "dynamics",
    "`published`: no scaling of the recurrent matrix, no leak, the biases of PyTorch, no skip connection; `given`: as the settings below say",
    "given",
);
const SPECTRAL_RADIUS: Key<f64> = Key::real(
    "spectral_radius",
    "to which the recurrent matrix is scaled; below 1, the network forgets",
    Limits::Positive,
    0.95,
)
.unless("dynamics", "published");
const LEAK: Key<f64> = Key::real("leak", "how much of a state is replaced in a step", Limits::Factor, 1.0)
    .unless("dynamics", "published");
const INPUT_SCALE: Key<f64> =
    Key::real("input_scale", "input weights are uniform in ± this", Limits::Positive, 1.0)
        .unless("dynamics", "published");
const BIAS: Key<f64> = Key::real("bias", "biases are uniform in ± this", Limits::NotNegative, 0.0)
    .unless("dynamics", "published");
const SKIP: Key<bool> =
    Key::switch("skip", "whether the last symbol is a feature too", false).unless("dynamics", "published");

/// Cells per segment first: they are the usual way to make the ring longer.
const RECA_SIZING: Sizing = Sizing {
    width: PROJECTION.name(),
    divisor: None,
    ratio: None,
    others: &[Dimension { setting: REDUNDANCY.name(), steps: Steps::Around, cost: 1 }],
};

const ESN_SIZING: Sizing = Sizing { width: UNITS.name(), divisor: None, ratio: None, others: &[] };

/// Refuses a dimension that no experiment may give either: a size is not to find it.
fn within<T>(key: &Key<T>, settings: &Settings) -> Result<(), SpecError> {
    let Some(value) = settings.get_value(key.name()) else { return Ok(()) };
    key.parameter().check(value.clone()).map(drop).map_err(|error| SpecError(error.to_string()))
}

fn decoder(settings: &Settings) -> DecoderSpec {
    DecoderSpec {
        kind: settings.get(&DECODER),
        standardization: settings.get(&STANDARDIZATION),
        rate: settings.get(&RATE),
        weight_decay: settings.get(&WEIGHT_DECAY),
        adam: settings.get(&DECODER_OPTIMIZER) == UpdateRule::Adam,
    }
}

/// The parameters of the decoder, if every answer can be one.
fn parameters(settings: &Settings, width: usize, task: IncrementalTask) -> usize {
    units(decoder(settings).kind, task.answers) * (width + 1)
}

fn learner<R: Real, V: Reservoir<R> + 'static>(
    reservoir: V,
    settings: &Settings,
    task: IncrementalTask,
) -> Box<dyn Incremental>
where
    V::Rows: 'static,
{
    Box::new(ByRow(ReservoirLearner::<R, V>::new(
        reservoir,
        decoder(settings),
        settings.get(&LABELS),
        task.answers,
    )))
}

fn automaton(settings: &Settings) -> AutomatonSpec {
    AutomatonSpec {
        rule: u8::try_from(settings.get(&RULE)).unwrap_or(u8::MAX),
        redundancy: settings.get(&REDUNDANCY),
        projection: settings.get(&PROJECTION),
        iterations: settings.get(&ITERATIONS),
    }
}

fn echo_state(settings: &Settings) -> EchoStateSpec {
    let connections = settings.get(&CONNECTIONS);
    // The released network does not scale W: its spectral radius is about 1.86, outside the echo-state regime.
    let published = EchoStateSpec { connections, ..EchoStateSpec::published(settings.get(&UNITS)) };
    match settings.get(&DYNAMICS) {
        Dynamics::Published => published,
        Dynamics::Given => EchoStateSpec {
            spectral_radius: Some(settings.get(&SPECTRAL_RADIUS)),
            leak: settings.get(&LEAK),
            input_scale: settings.get(&INPUT_SCALE),
            bias: settings.get(&BIAS),
            biases: 1,
            skip: settings.get(&SKIP),
            ..published
        },
    }
}

pub(super) static RECA: Learner = Learner {
    name: "reca",
    summary: "reservoir cellular automaton: an elementary rule on a ring, and a linear decoder that learns",
    cite: "Yilmaz 2014, Reservoir Computing using Cellular Automata",
    incremental: Some(IncrementalRole {
        settings: parameters![
            RULE,
            REDUNDANCY,
            PROJECTION,
            ITERATIONS,
            DECODER,
            STANDARDIZATION,
            LABELS,
            DECODER_OPTIMIZER,
            RATE,
            WEIGHT_DECAY,
        ],
        check: None,
        parameters: |settings, task| {
            within(&PROJECTION, settings)?;
            within(&REDUNDANCY, settings)?;
            Ok(parameters(settings, automaton(settings).width(), task))
        },
        build: |settings, task, seed: Seed| {
            let reservoir = Automaton::new(automaton(settings), task.vocabulary, seed);
            Ok(if task.double {
                learner::<f64, _>(reservoir, settings, task)
            } else {
                learner::<f32, _>(reservoir, settings, task)
            })
        },
        sizing: Some(&RECA_SIZING),
        published: None,
    }),
    ..NO_ROLES
};

pub(super) static ESN: Learner = Learner {
    name: "esn",
    summary: "echo-state network: recurrent weights as drawn, and a linear decoder that learns",
    cite: "Jaeger 2001, The \"echo state\" approach to analysing and training recurrent neural networks",
    incremental: Some(IncrementalRole {
        settings: parameters![
            DYNAMICS,
            UNITS,
            CONNECTIONS,
            SPECTRAL_RADIUS,
            LEAK,
            INPUT_SCALE,
            BIAS,
            SKIP,
            DECODER,
            STANDARDIZATION,
            LABELS,
            DECODER_OPTIMIZER,
            RATE,
            WEIGHT_DECAY,
        ],
        check: None,
        parameters: |settings, task| {
            within(&UNITS, settings)?;
            Ok(parameters(settings, echo_state(settings).width(task.vocabulary), task))
        },
        build: |settings, task, seed| {
            let spec = echo_state(settings);
            Ok(if task.double {
                learner::<f64, _>(EchoState::new(&spec, task.vocabulary, seed), settings, task)
            } else {
                learner::<f32, _>(EchoState::new(&spec, task.vocabulary, seed), settings, task)
            })
        },
        sizing: Some(&ESN_SIZING),
        published: None,
    }),
    ..NO_ROLES
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wug_language::Reading;

    use super::super::{Matching, is_met};
    use super::*;

    /// A size decides the projection of an automaton and the units of a network, whatever the decoder and the symbols.
    #[test]
    fn reservoirs_meet_sizes() {
        for learner in [&RECA, &ESN] {
            let role = learner.incremental.as_ref().unwrap();
            for decoder in ["softmax", "one-vs-rest"] {
                let settings = Settings::defaults(role.settings, Reading::Corrected)
                    .with(DECODER.name(), super::super::SettingValue::Name(decoder.to_owned()));
                for symbols in [2, 5, 16, 51] {
                    let task = IncrementalTask { vocabulary: symbols, answers: symbols, double: false };
                    for size in [4_000, 8_000, 64_000, 256_000] {
                        let found = role.matched(&settings, &BTreeSet::new(), size, task, Matching::Nearest);
                        let found = found.unwrap();
                        assert!(
                            is_met(size, found.parameters),
                            "{} {symbols} {size}: {found:?}",
                            learner.name
                        );
                        assert_eq!((role.parameters)(&found.settings, task).unwrap(), found.parameters);
                    }
                }
            }
        }
    }
}
