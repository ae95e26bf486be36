//! The text of an experiment: its head, its sections, and where each value was written.

use std::path::Path;

use wug_parameter::ValueLimits;

use super::draft::{DraftItem, DraftNode, Fields, NotToml, Origin, typed};
use super::{BUILT_IN, Planning, Problem, Scale, built_in, external, scale};
use crate::LabError;
use crate::protocol::{PROTOCOLS, ProtocolEntry};

/// A `--set`: key and value.
pub(super) type Set = (String, String);

/// An experiment as written: nothing of it is planned.
#[derive(Debug)]
pub(super) struct ExperimentFile {
    /// What messages call it.
    pub(super) source: String,
    pub(super) title: String,
    pub(super) about: String,
    /// Whether it has the sections of another experiment.
    pub(super) is_of_another: bool,
    /// By protocol, in the order of the registry.
    pub(super) sections: Vec<WrittenSection>,
}

/// A section as written, with tables of what is smaller at some scales.
#[derive(Debug)]
pub(super) struct WrittenSection {
    pub(super) entry: &'static ProtocolEntry,
    /// What all sections of its protocol in the file have unless they say otherwise.
    inherited: Fields,
    own: Fields,
}

impl WrittenSection {
    /// The section at a scale. What it says itself, at any scale, comes before what it inherits.
    pub(super) fn at(&self, scale: Scale) -> Result<Fields, Problem> {
        let mut fields = scale.of(self.inherited.clone())?;
        fields.overlay(scale.of(self.own.clone())?);
        Ok(fields)
    }

    fn tables(&self) -> [&Fields; 2] {
        [&self.inherited, &self.own]
    }
}

const TITLE: &str = "title";
const ABOUT: &str = "about";
/// What all sections of a protocol have unless they say otherwise, in a table of each protocol.
const DEFAULTS: &str = "defaults";
/// Another built-in experiment whose sections this one has.
const SECTIONS_OF: &str = "sections_of";

impl ExperimentFile {
    pub(super) fn read(source: &str, text: &str) -> Result<Self, LabError> {
        let fields = Fields::read(text).map_err(|NotToml { line, message }| {
            LabError::Usage(format!("{}: {message}", located(source, line)))
        })?;
        Self::of(source, fields).map_err(|problem| {
            let line = match problem.origin(&Fields::default()) {
                Some(Origin::Line(line)) => Some(line),
                _ => None,
            };
            LabError::Usage(problem.describe(&located(source, line)))
        })
    }

    /// The sections of a whole file.
    pub(super) fn of(source: &str, mut fields: Fields) -> Result<Self, Problem> {
        let title = text(&mut fields, TITLE)?.ok_or_else(|| {
            Problem::new("", "", "missing field `title`: what the experiment is, in one line".to_owned())
        })?;
        let about = text(&mut fields, ABOUT)?.unwrap_or_default();
        let another = text(&mut fields, SECTIONS_OF)?;
        let is_of_another = another.is_some();
        let mut sections = another.map_or(Ok(Vec::new()), |name| sections_of(&name))?;
        let mut defaults = table(fields.take(DEFAULTS), DEFAULTS)?.inherited();
        // In the order of the registry and not of the file: a parsed table is sorted, and plans need one order.
        for entry in PROTOCOLS {
            let inherited = table(defaults.take(entry.name), &format!("{DEFAULTS}.{}", entry.name))?;
            for name in std::iter::once(&entry.name).chain(entry.former_names) {
                for own in tables(name, fields.take(name))? {
                    sections.push(WrittenSection { entry, inherited: inherited.clone(), own });
                }
            }
        }
        let names: Vec<&str> = PROTOCOLS.iter().map(|entry| entry.name).collect();
        for (rest, known) in [
            (&fields, [&[TITLE, ABOUT, DEFAULTS, SECTIONS_OF][..], &names].concat()),
            (&defaults, names.clone()),
        ] {
            if let Some((name, node)) = rest.iter().next() {
                return Err(Problem::unknown_field(name, &known).written(node.origin));
            }
        }
        // After the unknown names: a misspelt `[[recogniton]]` is not a file without runs.
        if sections.is_empty() {
            let sections: Vec<String> = names.iter().map(|name| format!("[[{name}]]")).collect();
            let sections = sections.join(" or ");
            return Err(Problem::new("", "", format!("has no runs: it needs a section such as {sections}")));
        }
        Ok(Self { source: source.to_owned(), title, about, is_of_another, sections })
    }

    /// Puts a directory before the relative paths in declared fields.
    pub(super) fn resolve_paths(&mut self, directory: &Path) {
        for WrittenSection { entry, inherited, own } in &mut self.sections {
            let paths = entry.fields.iter().filter(|field| field.limits == ValueLimits::Path);
            for path in paths.map(|field| field.name) {
                // At every scale: the tables are merged only when a section is read at one of them.
                for at in ["", "smoke.", "quick."] {
                    resolve_path(inherited, &format!("{at}{path}"), directory);
                    resolve_path(own, &format!("{at}{path}"), directory);
                }
            }
        }
    }

    /// Greets the commands of all external learners, of the file and of `--set`.
    pub(super) fn greet(&self, planning: &mut Planning, sets: &[Set]) {
        let mut typed_sets = Fields::default();
        for (i, (_, value)) in sets.iter().enumerate() {
            // `--set` may name commands too. Its keys do not matter here: only the tables in its values do.
            typed_sets.insert(&i.to_string(), typed(value, Origin::Set(i)));
        }
        let all = self.sections.iter().flat_map(WrittenSection::tables).chain([&typed_sets]);
        planning.greet(external::commands(all));
    }

    /// Checks all that the file says, at all scales, without reading its sections.
    pub(super) fn check(&self) -> Result<(), LabError> {
        for section in &self.sections {
            let entry = section.entry;
            for table in section.tables() {
                let checked = scale::check_all(table, entry, |fields| (entry.check)(fields));
                checked.map_err(|problem| self.located(&problem, table, &[]))?;
            }
        }
        Ok(())
    }

    /// The `--set`s that a section of a protocol takes: those whose key begins with its name, and those without a name that are
    /// fields of it. A key that no protocol has goes to the first, which reports it.
    pub(super) fn sets_of<'s>(
        &self,
        entry: &ProtocolEntry,
        sets: &'s [Set],
    ) -> Result<Vec<(usize, &'s Set)>, LabError> {
        let has_field = scale::is_known;
        let mut own = Vec::new();
        for (i, set) in sets.iter().enumerate() {
            let key = set.0.as_str();
            match PROTOCOLS.iter().find(|other| other.named_in(key).is_some()) {
                // An error: a `--set` that reaches no section would seem to make no difference to the results.
                Some(other) if self.sections.iter().all(|present| present.entry.name != other.name) => {
                    let message =
                        format!("{}: {} has no section [[{}]]", as_typed(set), self.source, other.name);
                    return Err(LabError::Usage(message));
                }
                Some(other) if other.name == entry.name => own.push((i, set)),
                Some(_) => {}
                None => {
                    let known = self.sections.iter().any(|other| has_field(other.entry, key));
                    let first = self.sections.first().is_some_and(|other| other.entry.name == entry.name);
                    if has_field(entry, key) || (!known && first) {
                        own.push((i, set));
                    }
                }
            }
        }
        Ok(own)
    }

    /// A problem with a section, with where it was written.
    pub(super) fn located(&self, problem: &Problem, section: &Fields, sets: &[Set]) -> LabError {
        let location = match problem.origin(section) {
            Some(Origin::Line(line) | Origin::Inherited(line)) => located(&self.source, Some(line)),
            Some(Origin::Set(i)) => sets.get(i).map_or_else(|| self.source.clone(), as_typed),
            Some(Origin::Program) | None => self.source.clone(),
        };
        LabError::Usage(problem.describe(&location))
    }
}

impl ProtocolEntry {
    /// The key without the section's name, with which it may begin.
    pub(super) fn inside<'k>(&self, key: &'k str) -> &'k str {
        self.named_in(key).unwrap_or(key)
    }

    /// The same, or nothing if the key does not begin with it.
    fn named_in<'k>(&self, key: &'k str) -> Option<&'k str> {
        let names = std::iter::once(&self.name).chain(self.former_names);
        names.into_iter().find_map(|name| key.strip_prefix(name)?.strip_prefix('.'))
    }
}

/// Sets a value of a section.
pub(super) fn set(
    section: &mut Fields,
    entry: &ProtocolEntry,
    i: usize,
    (key, value): &Set,
) -> Result<(), Problem> {
    let path = entry.inside(key);
    if path.split('.').any(str::is_empty) {
        let message = "a part of the key is empty".to_owned();
        return Err(Problem::new(path, value, message).written(Origin::Set(i)));
    }
    section.set(path, typed(value, Origin::Set(i)))
}

/// The sections of a built-in experiment.
fn sections_of(name: &str) -> Result<Vec<WrittenSection>, Problem> {
    let (name, text) = built_in(name).ok_or_else(|| {
        let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        Problem::unknown(SECTIONS_OF, name, &names)
    })?;
    let fields = Fields::read(text).map_err(|error| Problem::new(SECTIONS_OF, name, error.message))?;
    Ok(ExperimentFile::of(name, fields)?.sections)
}

fn text(fields: &mut Fields, name: &str) -> Result<Option<String>, Problem> {
    let Some(node) = fields.take(name) else { return Ok(None) };
    let text = node.text().map(str::to_owned);
    text.ok_or_else(|| Problem::value(name, &node.shown(), "a text").written(node.origin)).map(Some)
}

fn table(node: Option<DraftNode>, name: &str) -> Result<Fields, Problem> {
    match node {
        None => Ok(Fields::default()),
        Some(DraftNode { item: DraftItem::Table(table), .. }) => Ok(table),
        Some(node) => Err(Problem::value(name, &node.shown(), "a table").written(node.origin)),
    }
}

/// The sections of a name.
fn tables(name: &str, node: Option<DraftNode>) -> Result<Vec<Fields>, Problem> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let two = |origin| {
        let message = format!("must have two brackets, `[[{name}]]`: there may be several");
        Problem::new(name, "", message).written(origin)
    };
    let DraftItem::List(items) = node.item else { return Err(two(node.origin)) };
    let table = |item: DraftNode| match item.item {
        DraftItem::Table(table) => Ok(table),
        _ => Err(two(item.origin)),
    };
    items.into_iter().map(table).collect()
}

fn resolve_path(section: &mut Fields, path: &str, directory: &Path) {
    let Some(mut node) = section.take(path) else { return };
    let join = |node: &mut DraftNode| {
        if let Some(text) = node.text() {
            // `join` leaves an absolute path as it is.
            let whole = directory.join(text).display().to_string();
            node.item = whole.as_str().into();
        }
    };
    match &mut node.item {
        DraftItem::List(items) => items.iter_mut().for_each(join),
        _ => join(&mut node),
    }
    // It cannot fail: what is around the value are tables, or are made again.
    let _ = section.set(path, node);
}

pub(super) fn located(source: &str, line: Option<usize>) -> String {
    line.map_or(source.to_owned(), |line| format!("{source}, line {line}"))
}

/// A set as it is typed.
pub(super) fn as_typed((key, value): &Set) -> String {
    format!("--set {key}={value}")
}
