//! The part of a grid that is about networks. What is left out is as in App. A of the paper.

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Value;
use wug_learner::model::Annealing;
use wug_learner::train::BatchSize;

use super::learner::{Body, GateKind, Learner, Loss, Regularization, Settings};
use crate::spec::Problem;
use crate::spec::grid::{each, nonempty, number};

/// How many strings share an update: `"all"`, or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    All,
    Strings(usize),
}

impl<'de> Deserialize<'de> for Batch {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let count = value.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
        match (value.as_str(), count) {
            (Some("all"), _) => Ok(Self::All),
            (_, Some(count)) => Ok(Self::Strings(count)),
            _ => {
                let given = serde_json::to_string(&value).map_err(D::Error::custom)?;
                Err(D::Error::custom(format!("cannot be {given}; it must be \"all\" or a number of strings")))
            }
        }
    }
}

/// How a gate's temperature falls, unless it is said: as in the released code.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TemperatureSpec {
    start: f64,
    rate: f64,
    least: f64,
}

impl Default for TemperatureSpec {
    fn default() -> Self {
        Self { start: 1.0, rate: 1e-4, least: 0.5 }
    }
}

/// What a section says of networks.
#[derive(Clone, Debug)]
pub(super) struct NetworkGrid<'a> {
    pub(super) losses: &'a [String],
    pub(super) hidden: Option<&'a [usize]>,
    pub(super) layers: usize,
    pub(super) regularization: Option<&'a [String]>,
    pub(super) lambda: &'a [f64],
    pub(super) epochs: Option<&'a [usize]>,
    pub(super) learning_rate: Option<f64>,
    pub(super) batch: Option<Batch>,
    pub(super) shuffle: bool,
    pub(super) memory: Option<&'a [usize]>,
    pub(super) test_memory: usize,
    pub(super) memory_width: usize,
    pub(super) gates: &'a [String],
    pub(super) temperature: TemperatureSpec,
}

impl NetworkGrid<'_> {
    /// Whether names and numbers are what they may be.
    pub(super) fn check(&self) -> Result<(), Problem> {
        each("losses", self.losses, Loss::ALL, Loss::name)?;
        each("gates", self.gates, GateKind::ALL, GateKind::name)?;
        self.regularizations(Body::Plain(wug_learner::model::Cell::Lstm))?;
        let positive = |x: f64| x > 0.0 && x.is_finite();
        for &lambda in self.lambda {
            number(positive(lambda), "lambda", &lambda, "a number above 0")?;
        }
        if let Some(rate) = self.learning_rate {
            number(positive(rate), "learning_rate", &rate, "a number above 0")?;
        }
        let counts = [("hidden", self.hidden), ("epochs", self.epochs), ("memory", self.memory)];
        for (field, counts) in counts.into_iter().filter_map(|(field, counts)| Some((field, counts?))) {
            nonempty(field, counts)?;
            for count in counts {
                number((1..=1_000_000).contains(count), field, count, "from 1 to 1000000")?;
            }
        }
        for (field, count) in
            [("layers", self.layers), ("test_memory", self.test_memory), ("memory_width", self.memory_width)]
        {
            number((1..=1_000_000).contains(&count), field, &count, "from 1 to 1000000")?;
        }
        let TemperatureSpec { start, rate, least } = self.temperature;
        number(positive(start), "temperature.start", &start, "a number above 0")?;
        number(rate >= 0.0 && rate.is_finite(), "temperature.rate", &rate, "a number from 0 on")?;
        number(least > 0.0 && least <= start, "temperature.least", &least, "above 0, up to `start`")
    }

    /// Every way in which a learner is built and trained: one way, with nothing to set, for a baseline.
    pub(super) fn of(&self, learner: Learner) -> Result<Vec<Option<Settings>>, Problem> {
        let Some(body) = learner.body() else { return Ok(vec![None]) };
        let memory = matches!(body, Body::Memory(..));
        let hidden = self.hidden.unwrap_or(if memory { &[8] } else { &[2, 32, 128] });
        let epochs = self.epochs.unwrap_or(if memory { &[3, 50] } else { &[1000] });
        let mut all = Vec::new();
        for loss in each("losses", self.losses, Loss::ALL, Loss::name)? {
            for &hidden in hidden {
                for (regularization, lambda) in self.regularizations(body)? {
                    for &epochs in epochs {
                        let settings = Settings {
                            loss,
                            hidden,
                            layers: self.layers,
                            regularization,
                            lambda,
                            epochs,
                            learning_rate: self.learning_rate.unwrap_or(if memory { 0.01 } else { 0.001 }),
                            batch: self.batch(memory),
                            memory: None,
                            test_memory: None,
                            memory_width: None,
                            gate: None,
                            temperature: None,
                        };
                        if memory {
                            all.extend(self.memories(learner, &settings)?.into_iter().map(Some));
                        } else {
                            all.push(Some(settings));
                        }
                    }
                }
            }
        }
        Ok(all)
    }

    /// The same with every memory and gate.
    fn memories(&self, learner: Learner, settings: &Settings) -> Result<Vec<Settings>, Problem> {
        number(self.layers == 1, "layers", &self.layers, "1 where there is a memory")?;
        let stack = learner != Learner::BabyNtm;
        let rows = self.memory.unwrap_or(if stack { &[50, 100] } else { &[2050] });
        let mut all = Vec::new();
        for &rows in rows {
            let allowed = format!("at least the {rows} rows of `memory`");
            number(self.test_memory >= rows, "test_memory", &self.test_memory, &allowed)?;
            for gate in each("gates", self.gates, GateKind::ALL, GateKind::name)? {
                let TemperatureSpec { start, rate, least } = self.temperature;
                let falls = gate != GateKind::Softmax;
                all.push(Settings {
                    memory: Some(rows),
                    test_memory: Some(self.test_memory),
                    memory_width: Some(self.memory_width),
                    gate: Some(gate),
                    temperature: falls.then_some(Annealing { start, rate, least }),
                    ..settings.clone()
                });
            }
        }
        Ok(all)
    }

    fn batch(&self, memory: bool) -> BatchSize {
        match self.batch.unwrap_or(if memory { Batch::Strings(1) } else { Batch::All }) {
            Batch::All => BatchSize::All,
            Batch::Strings(count) if self.shuffle => BatchSize::Examples(count),
            Batch::Strings(count) => BatchSize::InOrder(count),
        }
    }

    /// Kinds of regularization with their constants; without any, there is nothing to multiply.
    fn regularizations(&self, body: Body) -> Result<Vec<(Regularization, f64)>, Problem> {
        let field = "regularization";
        let kinds = match (self.regularization, body) {
            (Some(names), _) => each(field, names, Regularization::ALL, Regularization::name)?,
            (None, Body::Plain(_)) => Regularization::ALL.to_vec(),
            (None, Body::Memory(..)) => vec![Regularization::None],
        };
        let mut all = Vec::new();
        for kind in kinds {
            if kind == Regularization::None {
                all.push((kind, 0.0));
            } else {
                nonempty("lambda", self.lambda)?;
                all.extend(self.lambda.iter().map(|&lambda| (kind, lambda)));
            }
        }
        Ok(all)
    }
}
