//! Reservoirs: echo-state networks and cellular automata.

use wug_dataset::Seed;

use super::gradient::{LATER_OPTIMIZER, LEARNING_RATE, MAX, UpdateRule};
use super::setting::{Default, Limits, Setting, Settings};
use super::size::{Dimension, Sizing, Steps};
use super::{IncrementalRole, IncrementalTask, Learner, NO_ROLES};
use crate::interface::Incremental;
use crate::kernel::Real;
use crate::model::SpecError;
use crate::reservoir::automaton::{Automaton, AutomatonSpec};
use crate::reservoir::decoder::units;
use crate::reservoir::echo_state::{EchoState, EchoStateSpec};
use crate::reservoir::{DecoderKind, DecoderSpec, Labels, Reservoir, ReservoirLearner, Standardization};

const DECODER: Setting = Setting::new(
    "decoder",
    "what learns from the features: softmax regression, or a logistic regression for each answer against the rest (published)",
    Limits::Names(&["softmax", "one-vs-rest"]),
    Default::Name("softmax"),
);
const STANDARDIZATION: Setting = Setting::new(
    "standardization",
    "with which mean and variance features are standardised: none, those of all training features, known before the first step (published), or those seen so far",
    Limits::Names(&["none", "prior", "running"]),
    Default::Name("running"),
);
const LABELS: Setting = Setting::new(
    "labels",
    "what the decoder chooses from: every symbol that can be an answer, or the answers of the training sequences, known before the first step (published)",
    Limits::Names(&["all", "training"]),
    Default::Name("all"),
);
const OPTIMIZER: Setting = Setting {
    meaning: "the decoder's update rule: stochastic gradient descent (published) or Adam",
    ..LATER_OPTIMIZER.or(Default::Name(UpdateRule::Sgd.name()))
};
const RATE: Setting = Setting { meaning: "step size of the decoder", ..LEARNING_RATE };
const WEIGHT_DECAY: Setting = Setting::new(
    "weight_decay",
    "factor of ½·|w|² in the decoder's loss",
    Limits::NotNegative,
    Default::Real(0.001),
);

const RULE: Setting = Setting::new(
    "rule",
    "the elementary rule, in Wolfram's numbering",
    Limits::Count(0, 255),
    Default::Count(110),
);
const REDUNDANCY: Setting = Setting::new(
    "redundancy",
    "segments of the ring; a symbol flips one cell of each",
    Limits::Count(1, 10_000),
    Default::Count(15),
);
const PROJECTION: Setting =
    Setting::new("projection", "cells per segment", Limits::Count(1, 10_000), Default::Count(60));
const ITERATIONS: Setting = Setting::new(
    "iterations",
    "steps of the automaton per symbol; the states after each are features",
    Limits::Count(1, 100),
    Default::Count(2),
);

const UNITS: Setting =
    Setting::new("units", "units of the network", Limits::Count(1, MAX), Default::Count(1800));
const CONNECTIONS: Setting = Setting::new(
    "connections",
    "connections to each unit, on average",
    Limits::Positive,
    Default::Real(10.0),
);
const DYNAMICS: Setting = Setting::new(
    "dynamics",
    "`published`: no scaling of the recurrent matrix, no leak, the biases of PyTorch, no skip connection; `given`: as the settings below say",
    Limits::Names(&["given", "published"]),
    Default::Name("given"),
);
const SPECTRAL_RADIUS: Setting = Setting::new(
    "spectral_radius",
    "to which the recurrent matrix is scaled; below 1, the network forgets",
    Limits::Positive,
    Default::Real(0.95),
)
.unless("dynamics", "published");
const LEAK: Setting =
    Setting::new("leak", "how much of a state is replaced in a step", Limits::Factor, Default::Real(1.0))
        .unless("dynamics", "published");
const INPUT_SCALE: Setting =
    Setting::new("input_scale", "input weights are uniform in ± this", Limits::Positive, Default::Real(1.0))
        .unless("dynamics", "published");
const BIAS: Setting =
    Setting::new("bias", "biases are uniform in ± this", Limits::NotNegative, Default::Real(0.0))
        .unless("dynamics", "published");
const SKIP: Setting =
    Setting::new("skip", "whether the last symbol is a feature too", Limits::Switch, Default::Switch(false))
        .unless("dynamics", "published");

/// Cells per segment first: they are the usual way to make the ring longer.
const RECA_SIZING: Sizing = Sizing {
    width: PROJECTION.name,
    divisor: None,
    ratio: None,
    others: &[Dimension { setting: REDUNDANCY.name, steps: Steps::Around, cost: 1 }],
};

const ESN_SIZING: Sizing = Sizing { width: UNITS.name, divisor: None, ratio: None, others: &[] };

/// Refuses a dimension that no experiment may give either: a size is not to find it.
fn within(setting: Setting, settings: &Settings) -> Result<(), SpecError> {
    let value = settings.get(setting.name).cloned();
    value.map_or(Ok(()), |value| {
        setting.check(value).map(|_| ()).map_err(|error| SpecError(error.to_string()))
    })
}

fn decoder(settings: &Settings) -> DecoderSpec {
    let real = |setting: Setting| settings.real(setting.name).unwrap_or(0.001);
    DecoderSpec {
        kind: match settings.name(DECODER.name) {
            Some("one-vs-rest") => DecoderKind::OneVsRest,
            _ => DecoderKind::Softmax,
        },
        standardization: match settings.name(STANDARDIZATION.name) {
            Some("none") => Standardization::None,
            Some("prior") => Standardization::Prior,
            _ => Standardization::Running,
        },
        rate: real(RATE),
        weight_decay: real(WEIGHT_DECAY),
        adam: UpdateRule::of(settings) == Some(UpdateRule::Adam),
    }
}

fn labels(settings: &Settings) -> Labels {
    if settings.name(LABELS.name) == Some("training") { Labels::OfTraining } else { Labels::All }
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
    Box::new(ReservoirLearner::<R, V>::new(reservoir, decoder(settings), labels(settings), task.answers))
}

fn automaton(settings: &Settings) -> AutomatonSpec {
    let count = |setting: Setting| settings.count(setting.name).unwrap_or(1);
    AutomatonSpec {
        rule: u8::try_from(count(RULE)).unwrap_or(u8::MAX),
        redundancy: count(REDUNDANCY),
        projection: count(PROJECTION),
        iterations: count(ITERATIONS),
    }
}

fn echo_state(settings: &Settings) -> EchoStateSpec {
    let real = |setting: Setting| settings.real(setting.name).unwrap_or(1.0);
    let units = settings.count(UNITS.name).unwrap_or(1);
    let published = EchoStateSpec { connections: real(CONNECTIONS), ..EchoStateSpec::published(units) };
    if settings.name(DYNAMICS.name) == Some("published") {
        return published;
    }
    EchoStateSpec {
        spectral_radius: settings.real(SPECTRAL_RADIUS.name),
        leak: real(LEAK),
        input_scale: real(INPUT_SCALE),
        bias: settings.real(BIAS.name).unwrap_or(0.0),
        biases: 1,
        skip: settings.is_on(SKIP.name),
        ..published
    }
}

pub(super) static RECA: Learner = Learner {
    name: "reca",
    summary: "reservoir cellular automaton: an elementary rule on a ring, and a linear decoder that learns",
    cite: "Yilmaz 2014, Reservoir Computing using Cellular Automata",
    incremental: Some(IncrementalRole {
        settings: &[
            RULE,
            REDUNDANCY,
            PROJECTION,
            ITERATIONS,
            DECODER,
            STANDARDIZATION,
            LABELS,
            OPTIMIZER,
            RATE,
            WEIGHT_DECAY,
        ],
        check: None,
        parameters: |settings, task| {
            within(PROJECTION, settings)?;
            within(REDUNDANCY, settings)?;
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
        settings: &[
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
            OPTIMIZER,
            RATE,
            WEIGHT_DECAY,
        ],
        check: None,
        parameters: |settings, task| {
            within(UNITS, settings)?;
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

    use super::super::{Matching, is_met};
    use super::*;

    /// A size decides the projection of an automaton and the units of a network, whatever the decoder and the symbols.
    #[test]
    fn reservoirs_meet_sizes() {
        for learner in [&RECA, &ESN] {
            let role = learner.incremental.as_ref().unwrap();
            for decoder in ["softmax", "one-vs-rest"] {
                let settings = Settings::defaults(role.settings)
                    .with(DECODER.name, super::super::SettingValue::Name(decoder.to_owned()));
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
