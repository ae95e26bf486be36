//! A run of any protocol with nothing left open, its id, and the data it shares with other runs.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use wug_learner::kernel::instruction_set;
use wug_learner::registry;
use wug_parameter::Parameter;
use wug_score::{Coordinate, Coordinates, FORMAT, Run, RunResult};

use crate::LabError;
use crate::context::RunContext;
use crate::foreign::VERSION as FOREIGN;
use crate::protocol::{self, Outcome, Plan, Planned, Protocol, RunData};
use crate::sweep::{BUILD, VERSION};

/// The format of plans. Plans in another format are refused.
pub const PLAN_FORMAT: u32 = 2;

#[derive(Clone)]
pub struct RunPlan {
    protocol: &'static str,
    plan: Arc<dyn AnyPlan>,
    /// The names of settings that differ between runs of its section. Not part of its identity.
    varied: Vec<String>,
    /// The names of settings of which its section lists several values: coordinates of the run. Not part of its identity.
    compared: Vec<String>,
}

/// The fields of [`RunPlan::varied`] and [`RunPlan::compared`] in JSON.
const VARIED: &str = "varied";
const COMPARED: &str = "compared";

/// A plan of any protocol.
trait AnyPlan: Planned {
    fn as_any(&self) -> &dyn Any;
    fn value(&self) -> Value;
    fn identity(&self) -> Vec<u8>;
    fn execute(
        &self,
        cache: &mut DataCache,
        context: &mut dyn RunContext,
    ) -> Result<(Outcome, String), LabError>;
}

impl<T: Plan> AnyPlan for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn value(&self) -> Value {
        // Plans have nothing that JSON cannot represent.
        serde_json::to_value(self).unwrap_or_default()
    }

    fn identity(&self) -> Vec<u8> {
        // Fields are written in the order in which they are declared.
        serde_json::to_vec(&Plan::identity(self)).unwrap_or_default()
    }

    fn execute(
        &self,
        cache: &mut DataCache,
        context: &mut dyn RunContext,
    ) -> Result<(Outcome, String), LabError> {
        let data = cache.get(self)?;
        let hash = data.hash().to_owned();
        Ok((Plan::execute(self, &data, context)?, hash))
    }
}

/// The data of the last run of each kind, which the next one often needs again.
#[derive(Debug, Default)]
pub struct DataCache(BTreeMap<TypeId, CacheSlot>);

#[derive(Debug)]
struct CacheSlot {
    key: String,
    data: Arc<dyn Any + Send + Sync>,
}

impl DataCache {
    fn get<T: Plan>(&mut self, plan: &T) -> Result<Arc<T::Data>, LabError> {
        let (kind, key) = (TypeId::of::<T>(), plan.data_key());
        if let Some(slot) = self.0.get(&kind)
            && slot.key == key
            && let Ok(data) = Arc::clone(&slot.data).downcast()
        {
            return Ok(data);
        }
        // The old data are dropped before the new ones are made.
        self.0.remove(&kind);
        let data = Arc::new(plan.data()?);
        self.0.insert(kind, CacheSlot { key, data: Arc::<T::Data>::clone(&data) });
        Ok(data)
    }
}

impl RunPlan {
    /// A plan of protocol `P`.
    pub fn new<P: Protocol>(plan: P::Plan) -> Self {
        Self { protocol: P::NAME, plan: Arc::new(plan), varied: Vec::new(), compared: Vec::new() }
    }

    /// The same with the names of settings that differ between runs of its section: its label has their values. Those of which the
    /// section lists several values are coordinates too.
    pub(crate) fn with_varied(mut self, varied: &BTreeSet<String>, compared: &BTreeSet<String>) -> Self {
        let value = self.plan.value();
        // A plan with a learner from elsewhere has fields for settings of ours too, which say nothing.
        let settings = &value["settings"];
        let foreign = settings.get(FOREIGN).is_some();
        let has = |name: &&String| !foreign || settings.get(name.as_str()).is_some();
        let varied = varied.iter().filter(has).filter(|name| setting(&value, name).is_some());
        self.varied = varied.cloned().collect();
        let compared = compared.iter().filter(has);
        self.compared =
            compared.filter(|name| self.compared_value(&value, name).is_some()).cloned().collect();
        self
    }

    /// The same with names of fields of the plan that are no settings, and that are compared.
    pub(crate) fn with_compared_fields(mut self, names: &[&str]) -> Self {
        let value = self.plan.value();
        let names = names.iter().filter(|name| self.compared_value(&value, name).is_some());
        let names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
        self.compared.extend(names);
        self.compared.sort();
        self.compared.dedup();
        self
    }

    /// The value of a setting that is compared, as a coordinate; none if it has none or is a coordinate already.
    fn compared_value(&self, plan: &Value, name: &str) -> Option<Coordinate> {
        let value = setting(plan, name).cloned().or_else(|| self.plan.setting(name))?;
        coordinate(&value).filter(|_| self.plan.coordinates().get(name).is_none())
    }

    /// The names of settings that tell a run apart where they are not at the learner's default.
    fn telling(&self, plan: &Value) -> Vec<&'static str> {
        let role = || Some(protocol::find(self.protocol)?.role);
        let learner = |role| registry::find(plan.get("learner")?.as_str()?, role).ok()?.settings(role);
        let all = role().and_then(learner).unwrap_or_default().iter().filter(|setting| setting.telling);
        let usual = |setting: &&Parameter| {
            let default = setting.default.value().and_then(|value| serde_json::to_value(value).ok());
            self::setting(plan, setting.name).is_none_or(|value| Some(value) == default.as_ref())
        };
        all.filter(|setting| !usual(setting)).map(|setting| setting.name).collect()
    }

    /// What tells the run apart from others of its grid, and what tells it apart from the usual runs of other grids.
    pub fn coordinates(&self) -> Coordinates {
        let value = self.plan.value();
        let mut names: Vec<&str> = self.compared.iter().map(String::as_str).collect();
        names.extend(self.telling(&value));
        let known = |name: &str| Some((name.to_owned(), self.compared_value(&value, name)?));
        let told = names.into_iter().filter_map(known);
        told.fold(self.plan.coordinates(), |all, (name, value)| all.with(&name, value))
    }

    /// The plan itself, if it is of protocol `P`.
    pub fn of<P: Protocol>(&self) -> Option<&P::Plan> {
        self.plan.as_any().downcast_ref()
    }

    /// The name of its protocol.
    pub fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// The hash of the plan. Data that are read from files are identified by their content, not by their path.
    pub fn id(&self) -> String {
        let mut hasher = blake3::Hasher::new_derive_key("wug 2026 run plan");
        hasher.update(&PLAN_FORMAT.to_le_bytes());
        hasher.update(self.protocol.as_bytes());
        hasher.update(&self.plan.identity());
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// What progress lines call the run.
    pub fn label(&self) -> String {
        let (label, value) = (self.plan.label(), self.plan.value());
        let values: Vec<String> = (self.varied.iter())
            .filter_map(|name| Some(format!("{name} {}", shown(setting(&value, name)?))))
            .collect();
        if values.is_empty() { label } else { format!("{label} ({})", values.join(", ")) }
    }

    /// About how long the run takes, compared with others.
    pub fn cost(&self) -> f64 {
        self.plan.cost()
    }

    /// About how many seconds of one core the run takes, where that is known in advance.
    pub fn seconds(&self) -> Option<f64> {
        self.plan.seconds()
    }

    /// About how many bytes of memory the run needs at its peak.
    pub fn memory(&self) -> f64 {
        self.plan.memory()
    }

    /// The plan as JSON, as it is in results.
    pub fn value(&self) -> Value {
        let mut value = self.plan.value();
        if let Value::Object(fields) = &mut value {
            let names = [(VARIED, &self.varied), (COMPARED, &self.compared)];
            for (field, names) in names.into_iter().filter(|(_, names)| !names.is_empty()) {
                fields.insert(field.to_owned(), names.clone().into());
            }
        }
        value
    }

    /// The run's identity in its result.
    pub fn run(&self, data_hash: String) -> Run {
        Run {
            plan: self.id(),
            protocol: self.protocol.to_owned(),
            coordinates: self.coordinates(),
            seed: self.plan.seed(),
            reading: self.plan.reading(),
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
            plan: self.value(),
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

/// The value of a setting of a plan: of the learner, or of training. A plan may have another field of the same name.
fn setting<'v>(plan: &'v Value, name: &str) -> Option<&'v Value> {
    plan.get("settings").and_then(|settings| settings.get(name)).or_else(|| plan.get(name))
}

/// A value that can be a coordinate: a word, a number or a switch.
fn coordinate(value: &Value) -> Option<Coordinate> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Bool(on) => Some((*on).into()),
        Value::Number(n) => n.as_u64().map(Coordinate::from).or_else(|| n.as_f64().map(Coordinate::from)),
        _ => None,
    }
}

/// A value in a label.
fn shown(value: &Value) -> String {
    match (value.as_f64().filter(|_| value.is_f64()), value.as_str()) {
        (Some(x), _) => three_digits(x),
        (_, Some(name)) => name.to_owned(),
        _ => value.to_string(),
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
        write!(f, "{} {}", self.protocol, self.value())
    }
}

impl PartialEq for RunPlan {
    fn eq(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.value() == other.value()
    }
}

/// The fields of the plan, and `protocol` before them.
impl Serialize for RunPlan {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tagged {
            protocol: &'static str,
            #[serde(flatten)]
            plan: Value,
        }
        Tagged { protocol: self.protocol, plan: self.value() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for RunPlan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut plan = serde_json::Map::deserialize(from)?;
        let Some(Value::String(name)) = plan.remove("protocol") else {
            return Err(D::Error::missing_field("protocol"));
        };
        let mut names = |field: &str| {
            let names =
                plan.remove(field).map(serde_json::from_value).transpose().map_err(D::Error::custom)?;
            Ok::<Vec<String>, D::Error>(names.unwrap_or_default())
        };
        let (varied, compared) = (names(VARIED)?, names(COMPARED)?);
        let entry =
            protocol::find(&name).ok_or_else(|| D::Error::custom(format!("unknown protocol `{name}`")))?;
        let read = (entry.read)(Value::Object(plan)).map_err(D::Error::custom)?;
        Ok(Self { varied, compared, ..read })
    }
}
