//! `learners` in a section: names, or tables of a name with settings; and settings of the section, which apply to each learner
//! that has them. A setting has a value, a list of values, each with runs of its own, or a range from which each run draws.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::{Table, Value};
use wug_dataset::Seed;
use wug_language::Reading;
use wug_learner::registry::{self, Given, Learner, Parameter, Range, Role, SettingValue, Settings, drawn};
use wug_parameter::{Constant, Key};

use super::Problem;
use super::foreign::{self, is_foreign};
use super::grid::{Cells, nonempty};
use crate::foreign::ForeignPlan;
use crate::names::Precision;
use crate::protocol::Protocol;

/// A learner with every combination of its settings that a section asks for.
#[derive(Clone, Debug)]
pub struct LearnerGrid {
    pub learner: &'static Learner,
    /// Every combination, at least one. What is drawn has the least value of its range.
    pub settings: Vec<Settings>,
    /// The names of the settings that the section gives.
    pub given: BTreeSet<String>,
    /// Of these, the names of those with several values.
    pub varied: BTreeSet<String>,
    /// The settings that each run draws.
    pub(super) ranges: Vec<(Parameter, Range)>,
}

impl LearnerGrid {
    /// Whether the learner is from elsewhere. All combinations of its settings say the same.
    pub(crate) fn is_foreign(&self) -> bool {
        self.settings.first().is_some_and(|settings| ForeignPlan::of(settings).is_some())
    }

    /// The precision of runs. A learner from elsewhere is not told of it: runs that differ in nothing else are one run.
    pub(crate) fn precision(&self, given: Precision) -> Precision {
        if self.is_foreign() { Precision::F32 } else { given }
    }

    /// Whether each run draws a setting.
    pub(super) fn draws(&self, name: &str) -> bool {
        self.ranges.iter().any(|(setting, _)| setting.name == name)
    }

    /// The settings of one run: each that has a range is drawn from a stream of its own name.
    pub(crate) fn drawn(&self, settings: &Settings, seed: Seed) -> Settings {
        let effective = self.ranges.iter().filter(|(setting, _)| settings.has(setting.name));
        effective.fold(settings.clone(), |settings, (setting, range)| {
            let stream = seed.derive(&setting.name.replace('_', "-"));
            settings.with(setting.name, drawn(setting, *range, stream))
        })
    }

    /// The names of the settings that each run draws.
    pub(crate) fn drawn_names(&self) -> Vec<String> {
        self.ranges.iter().map(|(setting, _)| setting.name.to_owned()).collect()
    }

    /// A number that each run may draw several times, each from a stream of its own.
    pub(crate) fn real(&self, settings: &Settings, key: &Key<f64>, stream: Seed) -> f64 {
        let range = self.ranges.iter().find(|(setting, _)| setting.name == key.name());
        let value = range.and_then(|(setting, range)| drawn(setting, *range, stream).real());
        value.unwrap_or_else(|| settings.get(key))
    }
}

pub(super) fn varied(given: &GivenSettings) -> BTreeSet<String> {
    given.iter().filter(|(_, given)| given.varies()).map(|(name, _)| name.clone()).collect()
}

/// What is given of settings, by name.
pub(super) type GivenSettings = BTreeMap<String, Given>;

/// Names that settings had in earlier versions.
const FORMER_NAMES: [(&str, &str); 2] = [("losses", "loss"), ("gates", "gate")];

/// The learners of a section.
pub(super) struct TakenLearners {
    pub(super) learners: Vec<LearnerGrid>,
    /// The names of all settings that the section may have.
    pub(super) known: Vec<&'static str>,
    /// The settings of the section that none of its learners has.
    pub(super) unused: Vec<String>,
}

/// Takes learners and their settings out of a section, whose other cells are counted.
pub(super) fn take_learners<P: Protocol>(
    table: &mut Table,
    reading: Reading,
    mut cells: Cells,
) -> Result<TakenLearners, Problem> {
    let (role, default) = (P::ROLE, P::DEFAULTS.learners);
    let known = setting_names(role);
    let common = take_settings(table, &known)?;
    let given = table.remove("learners").unwrap_or_else(|| {
        Value::Array(default.iter().map(|&name| Value::String(name.to_owned())).collect())
    });
    let items = match given {
        Value::Array(items) => items,
        one => vec![one],
    };
    nonempty("learners", &items)?;
    foreign::greet(&items);
    let learners = items.into_iter().map(|item| learner::<P>(item, reading, &common, &known, &mut cells));
    let learners: Vec<LearnerGrid> = learners.collect::<Result<_, _>>()?;
    let has = |name: &str| {
        let mut all = learners.iter().filter_map(|grid| grid.learner.settings(role)).flatten();
        all.any(|setting| setting.name == name)
    };
    let unused = common.into_keys().filter(|name| !has(name)).collect();
    Ok(TakenLearners { learners, known: top_level(&known), unused })
}

/// The names of all settings of all learners in a role; those with dots are in tables.
fn setting_names(role: Role) -> Vec<&'static str> {
    let mut names = Vec::new();
    for setting in registry::with_role(role).filter_map(|learner| learner.settings(role)).flatten() {
        if !names.contains(&setting.name) {
            names.push(setting.name);
        }
    }
    names
}

fn top_level(names: &[&'static str]) -> Vec<&'static str> {
    let mut top: Vec<&str> = names.iter().map(|name| name.split('.').next().unwrap_or(name)).collect();
    top.dedup();
    top
}

fn take_settings(table: &mut Table, known: &[&'static str]) -> Result<GivenSettings, Problem> {
    for (old, new) in FORMER_NAMES {
        if known.contains(&new)
            && let Some(value) = table.remove(old)
        {
            table.insert(new.to_owned(), value);
        }
    }
    let mut given = GivenSettings::new();
    for name in known {
        let value = match name.split_once('.') {
            None => table.remove(*name),
            Some((outer, inner)) => match table.get_mut(outer) {
                Some(Value::Table(inside)) => inside.remove(inner),
                _ => None,
            },
        };
        if let Some(value) = value {
            given.insert((*name).to_owned(), values(name, value)?);
        }
    }
    // Empty tables are removed; what is left in a table is unknown, and the section reports it.
    for outer in known.iter().filter_map(|name| name.split_once('.')).map(|(outer, _)| outer) {
        if table.get(outer).and_then(Value::as_table).is_some_and(Table::is_empty) {
            table.remove(outer);
        }
    }
    Ok(given)
}

/// A range as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeSpec {
    from: f64,
    to: f64,
    scale: Option<String>,
}

fn range(name: &str, table: Table) -> Result<Range, Problem> {
    let given = serde_json::to_string(&table).unwrap_or_default();
    let allowed =
        "a number, a list of numbers, or a range `{ from = 0.1, to = 1 }`, with `scale = \"log\"` or without";
    let invalid = || Problem::value(name, &given, allowed);
    let RangeSpec { from, to, scale } = Value::Table(table).try_into().map_err(|_| invalid())?;
    match scale.as_deref() {
        None | Some("linear") => Ok(Range { from, to, log: false }),
        Some("log") => Ok(Range { from, to, log: true }),
        Some(_) => Err(invalid()),
    }
}

pub(super) fn values(name: &str, value: Value) -> Result<Given, Problem> {
    let items = match value {
        Value::Array(items) => items,
        Value::Table(table) => return range(name, table).map(Given::Range),
        one => vec![one],
    };
    nonempty(name, &items)?;
    let one = |item: Value| {
        let given = serde_json::to_string(&item).unwrap_or_default();
        let invalid = || Problem::value(name, &given, "a number, a name, true or false");
        match item {
            // What a setting may be says why a negative number is refused.
            Value::Integer(n) => {
                Ok(u64::try_from(n).map_or(SettingValue::Real(n as f64), SettingValue::Count))
            }
            Value::Float(x) => Ok(SettingValue::Real(x)),
            Value::String(name) => Ok(SettingValue::Name(name)),
            Value::Boolean(on) => Ok(SettingValue::Switch(on)),
            _ => Err(invalid()),
        }
    };
    items.into_iter().map(one).collect::<Result<_, _>>().map(Given::Values)
}

fn learner<P: Protocol>(
    item: Value,
    reading: Reading,
    common: &GivenSettings,
    known: &[&'static str],
    cells: &mut Cells,
) -> Result<LearnerGrid, Problem> {
    let (field, role) = ("learners", P::ROLE);
    let (name, own) = match item {
        Value::Table(table) if is_foreign(&table) => return foreign::learner(table, role, cells),
        Value::String(name) => (name, GivenSettings::new()),
        Value::Table(mut table) => {
            let Some(Value::String(name)) = table.remove("name") else {
                return Err(Problem::new(field, "", "a learner that is a table needs a `name`".to_owned()));
            };
            let own = take_settings(&mut table, known)?;
            if let Some(key) = table.keys().next() {
                return Err(Problem::unknown_setting(field, &name, key, known));
            }
            (name, own)
        }
        other => {
            let given = serde_json::to_string(&other).unwrap_or_default();
            return Err(Problem::value(field, &given, "a name, or a table with a `name` and settings"));
        }
    };
    let learner =
        registry::find(&name, role).map_err(|error| Problem::new(field, &name, error.to_string()))?;
    let all = published(learner.settings(role).unwrap_or_default(), P::PUBLISHED);
    if let Some(key) = own.keys().find(|key| !all.iter().any(|setting| setting.name == **key)) {
        let has: Vec<&str> = all.iter().map(|setting| setting.name).collect();
        return Err(Problem::unknown_setting(field, &name, key, &has));
    }
    let mut given = common.clone();
    given.extend(own);
    given.retain(|name, _| all.iter().any(|setting| setting.name == name));
    cells.add(Settings::combinations(&all, reading, &given)?)?;
    let settings = Settings::grid(&all, reading, &given)?;
    let range = |setting: &Parameter| match given.get(setting.name)? {
        Given::Range(range) => Some((*setting, *range)),
        Given::Values(_) => None,
    };
    let ranges = all.iter().filter_map(range).collect();
    Ok(LearnerGrid { learner, settings, varied: varied(&given), given: given.into_keys().collect(), ranges })
}

/// Declarations with what the published reading sets in a protocol.
fn published(all: &[Parameter], overrides: &[(&str, Constant)]) -> Vec<Parameter> {
    let with = |parameter: &Parameter| {
        let own = overrides.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| *value);
        Parameter { published: own.or(parameter.published), ..*parameter }
    };
    all.iter().map(with).collect()
}
