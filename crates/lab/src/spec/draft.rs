//! What was written of an experiment, before it is known what it means: every value with the place that it is from.
//!
//! Files, `--set`, `wug score` and Python all become [`Fields`]. A section is read from them once, and whatever is wrong with a value
//! is said of the place where it was written.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};
use wug_parameter::SettingValue;

use super::Problem;

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line of the file, from 1 on.
    Line(usize),
    /// A line of the file, in a table of what sections inherit.
    Inherited(usize),
    /// The `--set` of this number, from 0 on.
    Set(usize),
    /// The program that asks.
    Program,
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftNode {
    pub item: DraftItem,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DraftItem {
    Value(SettingValue),
    List(Vec<DraftNode>),
    Table(Fields),
    /// Something that no setting is, such as a date; as written.
    Other(String),
}

/// Values by name; tables in them are nested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(BTreeMap<String, DraftNode>);

impl DraftNode {
    pub(crate) fn new(item: impl Into<DraftItem>, origin: Origin) -> Self {
        Self { item: item.into(), origin }
    }

    /// The items of a list; what is no list stands for a list of one.
    pub(crate) fn into_items(self) -> Vec<Self> {
        match self.item {
            DraftItem::List(items) => items,
            _ => vec![self],
        }
    }

    /// The value of a setting: a word, a number, a switch or a list of these.
    pub(crate) fn value(&self) -> Option<SettingValue> {
        match &self.item {
            DraftItem::Value(value) => Some(value.clone()),
            DraftItem::List(items) => {
                items.iter().map(Self::value).collect::<Option<_>>().map(SettingValue::List)
            }
            DraftItem::Table(_) | DraftItem::Other(_) => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.item {
            DraftItem::Value(value) => value.name(),
            _ => None,
        }
    }

    /// The value as a message shows it.
    pub(crate) fn shown(&self) -> String {
        match &self.item {
            DraftItem::Value(value) => value.to_string(),
            DraftItem::List(items) => {
                format!("[{}]", items.iter().map(Self::shown).collect::<Vec<_>>().join(", "))
            }
            DraftItem::Table(fields) => fields.shown(),
            DraftItem::Other(text) => text.clone(),
        }
    }

    fn of(value: &DeValue<'_>, origin: Origin, lines: &LineIndex) -> Self {
        // Only a file has lines: everything in a `--set` has the same origin.
        let at = |span: &std::ops::Range<usize>| match origin {
            Origin::Line(_) => Origin::Line(lines.line(span.start)),
            other => other,
        };
        let item = match value {
            DeValue::String(text) => DraftItem::Value(SettingValue::Name(text.clone().into_owned())),
            DeValue::Boolean(on) => DraftItem::Value(SettingValue::Switch(*on)),
            DeValue::Integer(n) => integer(n.as_str(), n.radix()),
            DeValue::Float(x) => number(x.as_str()),
            DeValue::Datetime(date) => DraftItem::Other(date.to_string()),
            DeValue::Array(items) => DraftItem::List(
                items.iter().map(|item| Self::of(item.get_ref(), at(&item.span()), lines)).collect(),
            ),
            DeValue::Table(table) => DraftItem::Table(Fields::of(table, origin, lines)),
        };
        Self { item, origin }
    }
}

/// A whole number. A negative one becomes a real number, which the limits of a count refuse.
fn integer(digits: &str, radix: u32) -> DraftItem {
    match i64::from_str_radix(digits, radix) {
        Ok(n) => DraftItem::Value(u64::try_from(n).map_or(SettingValue::Real(n as f64), SettingValue::Count)),
        // More than 64 bits: as a real number it still reaches its limits, whose message says what is allowed.
        Err(_) => number(digits),
    }
}

fn number(digits: &str) -> DraftItem {
    digits
        .parse()
        .map_or_else(|_| DraftItem::Other(digits.to_owned()), |x| DraftItem::Value(SettingValue::Real(x)))
}

/// Where the lines of a text begin.
pub(crate) struct LineIndex(Vec<usize>);

impl LineIndex {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte, from 1 on.
    pub(crate) fn line(&self, byte: usize) -> usize {
        // A line break belongs to the line that it ends.
        self.0.partition_point(|end| *end < byte) + 1
    }
}

/// A problem with the text itself, and its line.
pub(crate) struct NotToml {
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl Fields {
    /// What a text in TOML says.
    pub(crate) fn read(text: &str) -> Result<Self, NotToml> {
        let lines = LineIndex::of(text);
        let table = DeTable::parse(text).map_err(|error| NotToml {
            line: error.span().map(|span| lines.line(span.start)),
            message: error.message().trim_end().to_owned(),
        })?;
        Ok(Self::of(table.get_ref(), Origin::Line(1), &lines))
    }

    fn of(table: &DeTable<'_>, origin: Origin, lines: &LineIndex) -> Self {
        let field = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, &toml::Spanned<DeValue<'_>>)| {
            let origin = match origin {
                Origin::Line(_) => Origin::Line(lines.line(key.span().start)),
                other => other,
            };
            (key.get_ref().clone().into_owned(), DraftNode::of(value.get_ref(), origin, lines))
        };
        Self(table.iter().map(field).collect())
    }

    /// The same with another value.
    #[must_use]
    pub fn with(mut self, name: &str, item: impl Into<DraftItem>) -> Self {
        self.insert(name, DraftNode::new(item, Origin::Program));
        self
    }

    pub(crate) fn insert(&mut self, name: &str, node: DraftNode) {
        self.0.insert(name.to_owned(), node);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &DraftNode)> {
        self.0.iter().map(|(name, node)| (name.as_str(), node))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value at a path with dots.
    pub(crate) fn get(&self, path: &str) -> Option<&DraftNode> {
        match path.split_once('.') {
            // A key may have dots itself: TOML allows them in quotes.
            _ if self.0.contains_key(path) => self.0.get(path),
            None => None,
            Some((first, rest)) => match &self.0.get(first)?.item {
                DraftItem::Table(inner) => inner.get(rest),
                _ => None,
            },
        }
    }

    /// Takes out the value at a path with dots, and the tables around it if they are empty then.
    pub(crate) fn take(&mut self, path: &str) -> Option<DraftNode> {
        if let Some(node) = self.0.remove(path) {
            return Some(node);
        }
        let (first, rest) = path.split_once('.')?;
        let DraftItem::Table(inner) = &mut self.0.get_mut(first)?.item else { return None };
        let taken = inner.take(rest);
        // An emptied table would be left over, and be reported as an unknown field.
        if taken.is_some() && inner.is_empty() {
            self.0.remove(first);
        }
        taken
    }

    /// Sets the value at a path with dots.
    pub(crate) fn set(&mut self, path: &str, node: DraftNode) -> Result<(), Problem> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let Some(rest) = rest else {
            self.insert(first, node);
            return Ok(());
        };
        let (whole, origin) = (format!("{first}.{rest}"), node.origin);
        let table = self
            .0
            .entry(first.to_owned())
            .or_insert_with(|| DraftNode::new(DraftItem::Table(Self::default()), origin));
        match &mut table.item {
            DraftItem::Table(inner) => inner.set(rest, node),
            _ => Err(Problem::new(&whole, "", format!("`{first}` has no parts")).written(origin)),
        }
    }

    /// Puts other values over these; tables are merged.
    pub(crate) fn overlay(&mut self, over: Self) {
        for (name, node) in over.0 {
            match (self.0.get_mut(&name), node) {
                (
                    Some(DraftNode { item: DraftItem::Table(inner), .. }),
                    DraftNode { item: DraftItem::Table(more), .. },
                ) => {
                    inner.overlay(more);
                }
                // A list replaces a list: a scale with one size must not keep the sizes of the paper.
                (_, node) => drop(self.0.insert(name, node)),
            }
        }
    }

    /// The same as what sections inherit.
    pub(crate) fn inherited(mut self) -> Self {
        for node in self.0.values_mut() {
            if let Origin::Line(line) = node.origin {
                node.origin = Origin::Inherited(line);
            }
            if let DraftItem::Table(inner) = &mut node.item {
                *inner = std::mem::take(inner).inherited();
            }
        }
        self
    }

    /// The paths of all values, those inside tables with dots.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for (name, node) in &self.0 {
            match &node.item {
                DraftItem::Table(inner) if !inner.is_empty() => {
                    paths.extend(inner.paths().into_iter().map(|path| format!("{name}.{path}")));
                }
                // An empty table is a path too: nobody may know its name.
                _ => paths.push(name.clone()),
            }
        }
        paths
    }

    fn shown(&self) -> String {
        let fields = self.0.iter().map(|(name, node)| format!("{name} = {}", node.shown()));
        format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
    }
}

/// The value of a `--set`, as TOML; bare words are strings, and words with commas are lists.
pub(crate) fn typed(text: &str, origin: Origin) -> DraftNode {
    let parsed = |text: &str| {
        let whole = format!("x = {text}");
        let table = DeTable::parse(&whole).ok()?;
        // More than one value is none: `1\ny = 2` is a word.
        let only = table.get_ref().len() == 1;
        let node = table.get_ref().get("x").filter(|_| only)?;
        Some(DraftNode::of(node.get_ref(), origin, &LineIndex(Vec::new())))
    };
    let word = |text: &str| DraftNode::new(SettingValue::Name(text.to_owned()), origin);
    // TOML first: `1e-3`, `true`, `[1, 2]` and `{ from = 1, to = 2 }` mean what they mean in a file.
    parsed(text).unwrap_or_else(|| {
        if !text.contains(',') {
            return word(text);
        }
        let items = text.split(',').map(str::trim).map(|item| parsed(item).unwrap_or_else(|| word(item)));
        DraftNode::new(DraftItem::List(items.collect()), origin)
    })
}

impl From<SettingValue> for DraftItem {
    fn from(value: SettingValue) -> Self {
        match value {
            SettingValue::List(items) => {
                Self::List(items.into_iter().map(|item| DraftNode::new(item, Origin::Program)).collect())
            }
            one => Self::Value(one),
        }
    }
}

impl From<&str> for DraftItem {
    fn from(text: &str) -> Self {
        Self::Value(SettingValue::Name(text.to_owned()))
    }
}

impl From<u64> for DraftItem {
    fn from(n: u64) -> Self {
        Self::Value(SettingValue::Count(n))
    }
}

impl From<Fields> for DraftItem {
    fn from(fields: Fields) -> Self {
        Self::Table(fields)
    }
}

impl<T: Into<DraftItem>> From<Vec<T>> for DraftItem {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(|item| DraftNode::new(item, Origin::Program)).collect())
    }
}
