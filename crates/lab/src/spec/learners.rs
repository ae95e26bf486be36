//! `learners` in a section: names, or tables of a name with settings; and settings of the section, which apply to each learner
//! that has them. A setting has a value, a list of values, each with runs of its own, a range from which each run draws, or a value
//! for each subject.

use std::collections::{BTreeMap, BTreeSet};

use wug_dataset::Seed;
use wug_learner::registry::{self, Given, Learner, Parameter, Range, Role, SettingValue, Settings, drawn};
use wug_parameter::{Constant, Key};
use wug_score::plan::{External, Precision};

use super::draft::{DraftItem, DraftNode, Fields};
use super::external::{self, is_external};
use super::grid::{Cells, nonempty};
use super::shared::LEARNERS as FIELD;
use super::{Planning, Problem, Reading};
use crate::protocol::Protocol;

/// One of our learners, or an external one.
#[derive(Clone, Debug)]
pub enum LearnerSource {
    Ours(&'static Learner),
    External(External),
}

/// A learner with every combination of its settings that a section asks for.
#[derive(Clone, Debug)]
pub struct LearnerGrid {
    pub name: String,
    pub source: LearnerSource,
    /// Every combination, at least one. What is drawn has the least value of its range.
    pub settings: Vec<Settings>,
    /// The names of the settings that the section gives.
    pub given: BTreeSet<String>,
    /// Of these, the names of those with several values.
    pub varied: BTreeSet<String>,
    /// The settings that each run draws.
    pub(super) ranges: Vec<(Parameter, Range)>,
    /// Settings with a value for each subject.
    pub(super) by_subject: BTreeMap<String, BTreeMap<String, SettingValue>>,
}

impl LearnerGrid {
    /// The learner, if it is one of ours.
    pub(crate) fn ours(&self) -> Option<&'static Learner> {
        match &self.source {
            LearnerSource::Ours(learner) => Some(learner),
            LearnerSource::External(_) => None,
        }
    }

    pub(crate) fn external(&self) -> Option<&External> {
        match &self.source {
            LearnerSource::Ours(_) => None,
            LearnerSource::External(external) => Some(external),
        }
    }

    /// Whether it comes out the same whatever the seed.
    pub(crate) fn is_deterministic(&self) -> bool {
        self.ours().is_some_and(Learner::is_deterministic)
    }

    /// The precision of runs. An external learner is not told of it: runs that differ in nothing else are one run.
    pub(crate) fn precision(&self, given: Precision) -> Precision {
        if self.external().is_some() { Precision::F32 } else { given }
    }

    /// Whether each run draws a setting.
    pub(super) fn draws(&self, name: &str) -> bool {
        self.ranges.iter().any(|(setting, _)| setting.name == name)
    }

    /// The settings of one run: each that has a range is drawn from a stream of its own name.
    pub(crate) fn drawn(&self, settings: &Settings, seed: Seed) -> Settings {
        // What another setting switches off is not drawn. Streams of their own keep that from changing the other values.
        let effective = self.ranges.iter().filter(|(setting, _)| settings.has(setting.name));
        effective.fold(settings.clone(), |settings, (setting, range)| {
            // The names of streams have hyphens. Another name would change every drawn value.
            let stream = seed.derive(&setting.name.replace('_', "-"));
            settings.with(setting.name, drawn(setting, *range, stream))
        })
    }

    /// The settings that each run draws, and from where.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (&'static str, Range)> {
        self.ranges.iter().map(|(setting, range)| (setting.name, *range))
    }

    /// A number that each run may draw several times, each from a stream of its own.
    pub(crate) fn real(&self, settings: &Settings, key: &Key<f64>, stream: Seed) -> f64 {
        let range = self.ranges.iter().find(|(setting, _)| setting.name == key.name());
        let value = range.and_then(|(setting, range)| drawn(setting, *range, stream).real());
        value.unwrap_or_else(|| settings.get(key))
    }

    /// The settings with those of a subject. A subject is named with its settings, or without.
    pub(crate) fn on(&self, settings: &Settings, subject: &str) -> Result<Settings, Problem> {
        let bare = subject.split(':').next().unwrap_or(subject);
        self.by_subject.iter().try_fold(settings.clone(), |settings, (name, values)| {
            // The full spelling first: a language and one of its variants may have different values.
            let value = values.get(subject).or_else(|| values.get(bare)).ok_or_else(|| {
                let known: Vec<&str> = values.keys().map(String::as_str).collect();
                let known = known.join(", ");
                let message =
                    format!("`{}`: `{name}` has no value for {subject}; it has for: {known}", self.name);
                Problem::new(FIELD, &self.name, message)
            })?;
            Ok(settings.with(name, value.clone()))
        })
    }
}

pub(super) fn varied(given: &GivenSettings) -> BTreeSet<String> {
    given.iter().filter(|(_, given)| given.varies()).map(|(name, _)| name.clone()).collect()
}

/// What is given of settings, by name.
pub(super) type GivenSettings = BTreeMap<String, Given>;

/// The values of settings by subject, by name.
type BySubject = BTreeMap<String, BTreeMap<String, SettingValue>>;

/// What is given of settings: for all subjects, and for each.
#[derive(Clone, Default)]
struct TakenSettings {
    all: GivenSettings,
    by_subject: BySubject,
}

/// Names that settings had in earlier versions.
const FORMER_NAMES: [(&str, &str); 2] = [("losses", "loss"), ("gates", "gate")];

/// The learners of a section.
pub(super) struct TakenLearners {
    pub(super) learners: Vec<LearnerGrid>,
    /// The settings of the section that none of its learners has.
    pub(super) unused: Vec<String>,
}

/// Takes learners and their settings out of a section, whose other cells are counted.
pub(super) fn take<P: Protocol>(
    fields: &mut Fields,
    reading: Reading,
    mut cells: Cells,
    planning: &Planning,
) -> Result<TakenLearners, Problem> {
    let known = setting_names(P::ROLE);
    // Before the learners, which begin with the settings of the section.
    let common = take_settings(fields, &known)?;
    let default = || DraftNode::new(P::DEFAULTS.learners.to_vec(), super::Origin::Program);
    let items = fields.take(FIELD).unwrap_or_else(default).into_items();
    nonempty(FIELD, &items)?;
    let learner = |item: DraftNode| {
        let origin = item.origin;
        learner::<P>(item, reading, (&common, &known), &mut cells, planning)
            .map_err(|problem| problem.near(origin))
    };
    let learners: Vec<LearnerGrid> = items.into_iter().map(learner).collect::<Result<_, _>>()?;
    let has = |name: &str| {
        let ours = learners.iter().filter_map(LearnerGrid::ours);
        let mut all = ours.filter_map(|learner| learner.settings(P::ROLE)).flatten();
        all.any(|setting| setting.name == name)
    };
    let names = common.all.into_keys().chain(common.by_subject.into_keys());
    Ok(TakenLearners { unused: names.filter(|name| !has(name)).collect(), learners })
}

/// Checks the names in `learners` where a section is not read.
pub(super) fn check_names<P: Protocol>(fields: &Fields) -> Result<(), Problem> {
    let Some(node) = fields.get(FIELD) else { return Ok(()) };
    for item in node.clone().into_items() {
        let name = match &item.item {
            // An external learner may have any name.
            DraftItem::Table(table) if is_external(table) => continue,
            DraftItem::Table(table) => table.get("name").and_then(DraftNode::text),
            _ => item.text(),
        };
        if let Some(name) = name {
            find(name, P::ROLE).map_err(|problem| problem.written(item.origin))?;
        }
    }
    Ok(())
}

/// The names of all settings of all learners in a role; those with dots are in tables.
pub(super) fn setting_names(role: Role) -> Vec<&'static str> {
    let mut names = Vec::new();
    for setting in registry::with_role(role).filter_map(|learner| learner.settings(role)).flatten() {
        if !names.contains(&setting.name) {
            names.push(setting.name);
        }
    }
    names
}

/// The names that settings of learners in a role had in earlier versions.
pub(super) fn former_names(role: Role) -> impl Iterator<Item = &'static str> {
    let known = setting_names(role);
    FORMER_NAMES.into_iter().filter(move |(_, new)| known.contains(new)).map(|(old, _)| old)
}

fn take_settings(fields: &mut Fields, known: &[&'static str]) -> Result<TakenSettings, Problem> {
    // Only where the role has the new name: `losses` is a field of its own in recognition.
    for (old, new) in FORMER_NAMES {
        if known.contains(&new)
            && let Some(node) = fields.take(old)
        {
            fields.insert(new, node);
        }
    }
    let mut taken = TakenSettings::default();
    for name in known {
        let Some(node) = fields.take(name) else { continue };
        match &node.item {
            DraftItem::Table(table) if !is_range(table) => {
                let values = table.iter().map(|(subject, node)| {
                    let value = scalar(name, node)?;
                    Ok((subject.to_owned(), value))
                });
                taken.by_subject.insert((*name).to_owned(), values.collect::<Result<_, Problem>>()?);
            }
            _ => drop(taken.all.insert((*name).to_owned(), given(name, &node)?)),
        }
    }
    Ok(taken)
}

/// Whether a table says from where to where, and not which value each subject has.
fn is_range(table: &Fields) -> bool {
    table.is_empty() || ["from", "to", "scale"].iter().any(|name| table.has(name))
}

fn range(name: &str, node: &DraftNode, table: &Fields) -> Result<Range, Problem> {
    let allowed =
        "a number, a list of numbers, or a range `{ from = 0.1, to = 1 }`, with `scale = \"log\"` or without";
    let invalid = || Problem::value(name, &node.shown(), allowed).written(node.origin);
    let number = |field: &str| table.get(field).and_then(DraftNode::value)?.real();
    let log = match table.get("scale").map(DraftNode::text) {
        None | Some(Some("linear")) => false,
        Some(Some("log")) => true,
        Some(_) => return Err(invalid()),
    };
    let others = table.iter().any(|(field, _)| !["from", "to", "scale"].contains(&field));
    match (number("from"), number("to")) {
        (Some(from), Some(to)) if !others => Ok(Range { from, to, log }),
        _ => Err(invalid()),
    }
}

/// What is given of a setting: one value, several, or a range.
pub(super) fn given(name: &str, node: &DraftNode) -> Result<Given, Problem> {
    if let DraftItem::Table(table) = &node.item {
        return range(name, node, table).map(Given::Range);
    }
    let items = node.clone().into_items();
    nonempty(name, &items)?;
    items.iter().map(|item| scalar(name, item)).collect::<Result<_, _>>().map(Given::Values)
}

fn scalar(name: &str, node: &DraftNode) -> Result<SettingValue, Problem> {
    match &node.item {
        DraftItem::Value(value) => Ok(value.clone()),
        _ => Err(Problem::value(name, &node.shown(), "a number, a name, true or false").written(node.origin)),
    }
}

fn find(name: &str, role: Role) -> Result<&'static Learner, Problem> {
    registry::find(name, role).map_err(|error| Problem::new(FIELD, name, error.to_string()))
}

fn learner<P: Protocol>(
    item: DraftNode,
    reading: Reading,
    (common, known): (&TakenSettings, &[&'static str]),
    cells: &mut Cells,
    planning: &Planning,
) -> Result<LearnerGrid, Problem> {
    let role = P::ROLE;
    let (name, own) = match item.item {
        DraftItem::Table(table) if is_external(&table) => {
            return external::learner(table, role, cells, planning);
        }
        DraftItem::Value(SettingValue::Name(name)) => (name, TakenSettings::default()),
        DraftItem::Table(mut table) => {
            let Some(name) = table.take("name").and_then(|node| node.text().map(str::to_owned)) else {
                return Err(Problem::new(FIELD, "", "a learner that is a table needs a `name`".to_owned()));
            };
            let own = take_settings(&mut table, known)?;
            if let Some(key) = table.paths().first() {
                return Err(Problem::unknown_setting(FIELD, &name, key, known));
            }
            (name, own)
        }
        _ => {
            let allowed = "a name, or a table with a `name` and settings";
            return Err(Problem::value(FIELD, &item.shown(), allowed));
        }
    };
    let learner = find(&name, role)?;
    let all = published(learner.settings(role).unwrap_or_default(), P::PUBLISHED);
    let has = |name: &str| all.iter().any(|setting| setting.name == name);
    if let Some(key) = own.all.keys().chain(own.by_subject.keys()).find(|key| !has(key)) {
        let has: Vec<&str> = all.iter().map(|setting| setting.name).collect();
        return Err(Problem::unknown_setting(FIELD, &name, key, &has));
    }
    let (given, by_subject) = merged(common, own, &all)?;
    // Counted first: `Settings::grid` allocates every combination.
    cells.add(Settings::combinations(&all, reading, &given)?)?;
    let settings = Settings::grid(&all, reading, &given)?;
    let range = |setting: &Parameter| match given.get(setting.name)? {
        Given::Range(range) => Some((*setting, *range)),
        Given::Values(_) => None,
    };
    let ranges = all.iter().filter_map(range).collect();
    let mut varied = varied(&given);
    varied.extend(by_subject.keys().cloned());
    let given = given.into_keys().collect();
    Ok(LearnerGrid {
        name,
        source: LearnerSource::Ours(learner),
        settings,
        varied,
        given,
        ranges,
        by_subject,
    })
}

/// The settings that a learner is given: its own before those of the section. In the grid, a setting with a value for each subject
/// has the first of them.
fn merged(
    common: &TakenSettings,
    own: TakenSettings,
    all: &[Parameter],
) -> Result<(GivenSettings, BySubject), Problem> {
    let (mut given, mut by_subject) = (common.all.clone(), common.by_subject.clone());
    // What a learner says itself replaces the section's, in either form: one value, or one for each subject.
    by_subject.retain(|name, _| !own.all.contains_key(name));
    given.retain(|name, _| !own.by_subject.contains_key(name));
    given.extend(own.all);
    by_subject.extend(own.by_subject);
    given.retain(|name, _| all.iter().any(|setting| setting.name == name));
    by_subject.retain(|name, _| all.iter().any(|setting| setting.name == name));
    for setting in all {
        let Some(values) = by_subject.get_mut(setting.name) else { continue };
        for value in values.values_mut() {
            *value = setting.check(value.clone())?;
        }
        // `LearnerGrid::on` replaces it by the subject's own value before a run is planned.
        let first = values.values().next().cloned();
        given.insert(setting.name.to_owned(), Given::Values(first.into_iter().collect()));
    }
    Ok((given, by_subject))
}

/// Declarations with what the published reading sets in a protocol.
fn published(all: &[Parameter], overrides: &[(&str, Constant)]) -> Vec<Parameter> {
    let with = |parameter: &Parameter| {
        let own = overrides.iter().find(|(name, _)| *name == parameter.name).map(|(_, value)| *value);
        Parameter { published: own.or(parameter.published), ..*parameter }
    };
    all.iter().map(with).collect()
}
