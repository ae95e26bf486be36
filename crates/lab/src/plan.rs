//! A run of any protocol: its plan, its id, and what is known of it before it is executed.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wug_learner::kernel::instruction_set;
use wug_learner::registry;
use wug_parameter::{Parameter, SettingValue};
use wug_score::plan::{Plan, PlannedLearner, Untyped};
use wug_score::{Coordinate, Coordinates, FORMAT, Run, RunResult};

use crate::LabError;
use crate::context::RunContext;
use crate::protocol::{self, Outcome, Protocol, RunData};
use crate::spec::sizes;
use crate::sweep::{BUILD, VERSION};

/// The format of plans. Plans in another format are refused.
pub const PLAN_FORMAT: u32 = 3;

/// How labels call the seed of the data, where runs have several.
pub(crate) const DATA_SEED: &str = "data seed";

/// About what a run costs. It is no part of the run's identity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunEstimate {
    /// How long it takes, compared with other runs of the protocol.
    pub cost: f64,
    /// Seconds of one core, where that is known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Bytes of memory at its peak.
    pub memory: f64,
}

/// A run, with what its section says of it beside its plan.
#[derive(Clone)]
pub struct RunPlan {
    plan: Arc<dyn AnyPlan>,
    pub estimate: RunEstimate,
    notes: Notes,
}

/// What the section of a run says of it. Not part of its identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Notes {
    /// The names of settings that differ between runs of its section: labels have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    varied: Vec<String>,
    /// The names of settings of which its section lists several values: coordinates of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    compared: Vec<String>,
}

/// A plan of any protocol.
trait AnyPlan: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn protocol(&self) -> &'static str;
    fn learner(&self) -> &PlannedLearner;
    fn untyped(&self) -> Plan<Untyped>;
    fn identity(&self) -> Vec<u8>;
    fn coordinates(&self) -> Coordinates;
    fn compared(&self, name: &str) -> Option<Coordinate>;
    fn label(&self) -> String;
    fn data_seed(&self) -> Option<u64>;
    fn execute(
        &self,
        cache: &mut DataCache,
        context: &mut dyn RunContext,
    ) -> Result<(Outcome, String), LabError>;
}

impl<P: Protocol> AnyPlan for Plan<P> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn protocol(&self) -> &'static str {
        P::PROTOCOL
    }

    fn learner(&self) -> &PlannedLearner {
        &self.learner
    }

    fn untyped(&self) -> Plan<Untyped> {
        Self::untyped(self)
    }

    fn identity(&self) -> Vec<u8> {
        Self::identity(self)
    }

    fn coordinates(&self) -> Coordinates {
        let head = Coordinates::default()
            .with(P::SUBJECT, self.subject.as_str())
            .with("learner", self.learner.name.as_str())
            .with_some("size", self.learner.size);
        let own = P::coordinates(self);
        own.iter().fold(head, |all, (name, value)| all.with(name, value.clone()))
    }

    fn compared(&self, name: &str) -> Option<Coordinate> {
        P::compared(self, name)
    }

    fn label(&self) -> String {
        let PlannedLearner { name, size, parameters, external, .. } = &self.learner;
        let mut parts = vec![format!("{} {name}", self.subject)];
        match parameters {
            Some(parameters) => parts.push(sizes::count(*size, *parameters)),
            // An external learner says how many it has once it runs, if at all.
            None if external.is_some() => parts.push("(parameters unknown)".to_owned()),
            None => {}
        }
        parts.extend(P::label(self));
        // A baseline's seed means nothing: a label with one would suggest that another seed gives another result.
        let role = || registry::find(name, P::ROLE).is_ok_and(registry::Learner::is_deterministic);
        if parameters.is_some() || external.is_some() || !role() {
            parts.push(format!("seed {}", self.seed));
        }
        parts.join(" ")
    }

    fn data_seed(&self) -> Option<u64> {
        self.data_seed
    }

    fn execute(
        &self,
        cache: &mut DataCache,
        context: &mut dyn RunContext,
    ) -> Result<(Outcome, String), LabError> {
        let data = cache.get(self)?;
        let hash = data.hash().to_owned();
        Ok((P::execute(self, &data, context)?, hash))
    }
}

/// The data of the last run of each protocol, which the next one often needs again.
#[derive(Debug, Default)]
pub struct DataCache(BTreeMap<TypeId, CacheSlot>);

#[derive(Debug)]
struct CacheSlot {
    key: String,
    data: Arc<dyn Any + Send + Sync>,
}

impl DataCache {
    fn get<P: Protocol>(&mut self, plan: &Plan<P>) -> Result<Arc<P::Loaded>, LabError> {
        // One slot per protocol is enough: plans on the same data follow each other.
        let (kind, key) = (TypeId::of::<P>(), P::data_key(plan));
        if let Some(slot) = self.0.get(&kind)
            && slot.key == key
            && let Ok(data) = Arc::clone(&slot.data).downcast()
        {
            return Ok(data);
        }
        // The old data are dropped before the new ones are made.
        self.0.remove(&kind);
        let data = Arc::new(P::load(plan)?);
        self.0.insert(kind, CacheSlot { key, data: Arc::<P::Loaded>::clone(&data) });
        Ok(data)
    }
}

impl RunPlan {
    pub fn new<P: Protocol>(plan: Plan<P>, estimate: RunEstimate) -> Self {
        Self { plan: Arc::new(plan), estimate, notes: Notes::default() }
    }

    /// The same with the names of settings that differ between runs of its section: its label has their values. Those of which the
    /// section lists several values are coordinates too.
    pub(crate) fn with_notes(mut self, varied: &BTreeSet<String>, compared: &BTreeSet<String>) -> Self {
        let has = |name: &&String| self.value_of(name).is_some();
        let varied = varied.iter().filter(has).cloned().collect();
        let fixed = self.plan.coordinates();
        // What is a coordinate already is not told twice; what a learner does not have cannot be told.
        let new = |name: &&String| fixed.get(name).is_none() && self.compared_value(name).is_some();
        let compared = compared.iter().filter(new).cloned().collect();
        self.notes = Notes { varied, compared };
        self
    }

    /// The value of a setting of the learner, as labels show it.
    fn value_of(&self, name: &str) -> Option<String> {
        if name == DATA_SEED {
            return self.plan.data_seed().map(|seed| seed.to_string());
        }
        let own = self.plan.learner().settings.get_value(name).map(shown);
        own.or_else(|| self.plan.compared(name).map(|value| value.to_string()))
    }

    /// The value of a setting that is compared, as a coordinate.
    fn compared_value(&self, name: &str) -> Option<Coordinate> {
        let own = self.plan.learner().settings.get_value(name).and_then(coordinate);
        own.or_else(|| self.plan.compared(name))
    }

    /// The names of settings that tell a run apart where they are not at the learner's default.
    fn telling(&self) -> Vec<&'static str> {
        let PlannedLearner { name, settings, .. } = self.plan.learner();
        let role = protocol::find(self.protocol()).map(|entry| entry.role);
        let all = role.and_then(|role| registry::find(name, role).ok()?.settings(role)).unwrap_or_default();
        let usual = |setting: &Parameter| {
            settings.get_value(setting.name).is_none_or(|own| Some(own) == setting.default.value().as_ref())
        };
        let telling = all.iter().filter(|setting| setting.telling && !usual(setting));
        telling.map(|setting| setting.name).collect()
    }

    /// What tells the run apart from others of its grid, and what tells it apart from the usual runs of other grids.
    pub fn coordinates(&self) -> Coordinates {
        let fixed = self.plan.coordinates();
        let names = self.notes.compared.iter().map(String::as_str).chain(self.telling());
        let known = |name: &str| Some((name.to_owned(), self.compared_value(name)?));
        let told: Vec<_> = names.filter_map(known).filter(|(name, _)| fixed.get(name).is_none()).collect();
        told.into_iter().fold(fixed, |all, (name, value)| all.with(&name, value))
    }

    /// The plan itself, if it is of protocol `P`.
    pub fn of<P: Protocol>(&self) -> Option<&Plan<P>> {
        self.plan.as_any().downcast_ref()
    }

    /// The plan as results have it.
    pub fn untyped(&self) -> Plan<Untyped> {
        self.plan.untyped()
    }

    pub fn learner(&self) -> &PlannedLearner {
        self.plan.learner()
    }

    /// The name of its protocol.
    pub fn protocol(&self) -> &'static str {
        self.plan.protocol()
    }

    /// The hash of the plan. Data that are read from files are identified by their content, not by their path.
    pub fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("wug 2026 run plan");
        // Format and protocol are part of the id: plans whose bytes happen to be equal are still different runs.
        hasher.update(&PLAN_FORMAT.to_le_bytes());
        hasher.update(self.protocol().as_bytes());
        hasher.update(&self.plan.identity());
        // 64 bits: in a sweep of 100,000 runs, two share an id with a probability of 3e-10.
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// What progress lines call the run.
    pub fn label(&self) -> String {
        let label = self.plan.label();
        let values: Vec<String> = (self.notes.varied.iter())
            .filter_map(|name| Some(format!("{name} {}", self.value_of(name)?)))
            .collect();
        if values.is_empty() { label } else { format!("{label} ({})", values.join(", ")) }
    }

    /// The run's identity in its result.
    pub fn run(&self, data_hash: String) -> Run {
        let Plan { seed, reading, .. } = self.untyped();
        Run {
            plan: self.id(),
            protocol: self.protocol().to_owned(),
            coordinates: self.coordinates(),
            seed,
            reading,
            version: VERSION.to_owned(),
            build: BUILD.to_owned(),
            instructions: instruction_set().to_owned(),
            data_hash,
        }
    }

    pub fn execute(
        &self,
        cache: &mut DataCache,
        context: &mut dyn RunContext,
    ) -> Result<RunResult, LabError> {
        let (outcome, data_hash) = self.plan.execute(cache, context)?;
        Ok(self.result(data_hash, outcome))
    }

    /// The result with this outcome.
    pub fn result(&self, data_hash: String, outcome: Outcome) -> RunResult {
        let Outcome { ending, parameters, data, curve, scores, hardest, strings } = outcome;
        RunResult {
            format: FORMAT,
            run: self.run(data_hash),
            plan: self.untyped(),
            ending,
            parameters,
            data,
            curve,
            scores,
            hardest,
            strings,
        }
    }
}

/// A value that can be a coordinate: a word, a number or a switch.
pub(crate) fn coordinate(value: &SettingValue) -> Option<Coordinate> {
    match value {
        SettingValue::Name(text) => Some(text.as_str().into()),
        SettingValue::Switch(on) => Some((*on).into()),
        SettingValue::Count(n) => Some((*n).into()),
        SettingValue::Real(x) => Some((*x).into()),
        SettingValue::List(_) => None,
    }
}

/// A value in a label.
fn shown(value: &SettingValue) -> String {
    match value {
        SettingValue::Real(x) => three_digits(*x),
        other => other.to_string(),
    }
}

/// A number with three digits.
pub(crate) fn three_digits(x: f64) -> String {
    let exponent = if x == 0.0 { 0.0 } else { libm::floor(libm::log10(x.abs())) };
    #[expect(clippy::cast_sign_loss, reason = "it is not negative")]
    let decimals = (2.0 - exponent).clamp(0.0, 20.0) as usize;
    let text = format!("{x:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

impl fmt::Debug for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", self.protocol(), self.untyped(), self.notes)
    }
}

impl PartialEq for RunPlan {
    fn eq(&self, other: &Self) -> bool {
        // By the untyped form: types are erased, and `Sweep::write` compares what it reads back with what it wrote.
        self.protocol() == other.protocol()
            && self.estimate == other.estimate
            && self.notes == other.notes
            && self.untyped() == other.untyped()
    }
}

/// A run as files have it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRun {
    protocol: String,
    plan: Plan<Untyped>,
    #[serde(default)]
    notes: Notes,
    estimate: RunEstimate,
}

impl Serialize for RunPlan {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (protocol, plan) = (self.protocol().to_owned(), self.untyped());
        WrittenRun { protocol, plan, notes: self.notes.clone(), estimate: self.estimate }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for RunPlan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let WrittenRun { protocol, plan, notes, estimate } = WrittenRun::deserialize(from)?;
        let unknown = || D::Error::custom(format!("unknown protocol `{protocol}`"));
        let entry = protocol::find(&protocol).ok_or_else(unknown)?;
        // The protocol's types check the plan now: a damaged line must not fail in the middle of a sweep.
        let read = (entry.plan)(plan, estimate).map_err(D::Error::custom)?;
        Ok(Self { notes, ..read })
    }
}
