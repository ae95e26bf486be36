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
pub struct Node {
    pub item: Item,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Value(SettingValue),
    List(Vec<Node>),
    Table(Fields),
    /// Something that no setting is, such as a date; as written.
    Other(String),
}

/// Values by name; tables in them are nested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(BTreeMap<String, Node>);

impl Node {
    pub(crate) fn new(item: impl Into<Item>, origin: Origin) -> Self {
        Self { item: item.into(), origin }
    }

    /// The items of a list; what is no list stands for a list of one.
    pub(crate) fn into_items(self) -> Vec<Self> {
        match self.item {
            Item::List(items) => items,
            _ => vec![self],
        }
    }

    /// The value of a setting: a word, a number, a switch or a list of these.
    pub(crate) fn value(&self) -> Option<SettingValue> {
        match &self.item {
            Item::Value(value) => Some(value.clone()),
            Item::List(items) => items.iter().map(Self::value).collect::<Option<_>>().map(SettingValue::List),
            Item::Table(_) | Item::Other(_) => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.item {
            Item::Value(value) => value.name(),
            _ => None,
        }
    }

    /// The value as a message shows it.
    pub(crate) fn shown(&self) -> String {
        match &self.item {
            Item::Value(value) => value.to_string(),
            Item::List(items) => {
                format!("[{}]", items.iter().map(Self::shown).collect::<Vec<_>>().join(", "))
            }
            Item::Table(fields) => fields.shown(),
            Item::Other(text) => text.clone(),
        }
    }

    fn of(value: &DeValue<'_>, origin: Origin, lines: &Lines) -> Self {
        // Only a file has lines: everything in a `--set` has the same origin.
        let at = |span: &std::ops::Range<usize>| match origin {
            Origin::Line(_) => Origin::Line(lines.line(span.start)),
            other => other,
        };
        let item = match value {
            DeValue::String(text) => Item::Value(SettingValue::Name(text.clone().into_owned())),
            DeValue::Boolean(on) => Item::Value(SettingValue::Switch(*on)),
            DeValue::Integer(n) => integer(n.as_str(), n.radix()),
            DeValue::Float(x) => number(x.as_str()),
            DeValue::Datetime(date) => Item::Other(date.to_string()),
            DeValue::Array(items) => Item::List(
                items.iter().map(|item| Self::of(item.get_ref(), at(&item.span()), lines)).collect(),
            ),
            DeValue::Table(table) => Item::Table(Fields::of(table, origin, lines)),
        };
        Self { item, origin }
    }
}

/// A whole number. A negative one becomes a real number, which the limits of a count refuse.
fn integer(digits: &str, radix: u32) -> Item {
    match i64::from_str_radix(digits, radix) {
        Ok(n) => Item::Value(u64::try_from(n).map_or(SettingValue::Real(n as f64), SettingValue::Count)),
        // More than 64 bits: as a real number it still reaches its limits, whose message says what is allowed.
        Err(_) => number(digits),
    }
}

fn number(digits: &str) -> Item {
    digits.parse().map_or_else(|_| Item::Other(digits.to_owned()), |x| Item::Value(SettingValue::Real(x)))
}

/// Where the lines of a text begin.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
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
        let lines = Lines::of(text);
        let table = DeTable::parse(text).map_err(|error| NotToml {
            line: error.span().map(|span| lines.line(span.start)),
            message: error.message().trim_end().to_owned(),
        })?;
        Ok(Self::of(table.get_ref(), Origin::Line(1), &lines))
    }

    fn of(table: &DeTable<'_>, origin: Origin, lines: &Lines) -> Self {
        let field = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, &toml::Spanned<DeValue<'_>>)| {
            let origin = match origin {
                Origin::Line(_) => Origin::Line(lines.line(key.span().start)),
                other => other,
            };
            (key.get_ref().clone().into_owned(), Node::of(value.get_ref(), origin, lines))
        };
        Self(table.iter().map(field).collect())
    }

    /// The same with another value.
    #[must_use]
    pub fn with(mut self, name: &str, item: impl Into<Item>) -> Self {
        self.insert(name, Node::new(item, Origin::Program));
        self
    }

    pub(crate) fn insert(&mut self, name: &str, node: Node) {
        self.0.insert(name.to_owned(), node);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(name, node)| (name.as_str(), node))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value at a path with dots.
    pub(crate) fn get(&self, path: &str) -> Option<&Node> {
        match path.split_once('.') {
            // A key may have dots itself: TOML allows them in quotes.
            _ if self.0.contains_key(path) => self.0.get(path),
            None => None,
            Some((first, rest)) => match &self.0.get(first)?.item {
                Item::Table(inner) => inner.get(rest),
                _ => None,
            },
        }
    }

    /// Takes out the value at a path with dots, and the tables around it if they are empty then.
    pub(crate) fn take(&mut self, path: &str) -> Option<Node> {
        if let Some(node) = self.0.remove(path) {
            return Some(node);
        }
        let (first, rest) = path.split_once('.')?;
        let Item::Table(inner) = &mut self.0.get_mut(first)?.item else { return None };
        let taken = inner.take(rest);
        // An emptied table would be left over, and be reported as an unknown field.
        if taken.is_some() && inner.is_empty() {
            self.0.remove(first);
        }
        taken
    }

    /// Sets the value at a path with dots.
    pub(crate) fn set(&mut self, path: &str, node: Node) -> Result<(), Problem> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let Some(rest) = rest else {
            self.insert(first, node);
            return Ok(());
        };
        let (whole, origin) = (format!("{first}.{rest}"), node.origin);
        let table =
            self.0.entry(first.to_owned()).or_insert_with(|| Node::new(Item::Table(Self::default()), origin));
        match &mut table.item {
            Item::Table(inner) => inner.set(rest, node),
            _ => Err(Problem::new(&whole, "", format!("`{first}` has no parts")).written(origin)),
        }
    }

    /// Puts other values over these; tables are merged.
    pub(crate) fn overlay(&mut self, over: Self) {
        for (name, node) in over.0 {
            match (self.0.get_mut(&name), node) {
                (Some(Node { item: Item::Table(inner), .. }), Node { item: Item::Table(more), .. }) => {
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
            if let Item::Table(inner) = &mut node.item {
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
                Item::Table(inner) if !inner.is_empty() => {
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
pub(crate) fn typed(text: &str, origin: Origin) -> Node {
    let parsed = |text: &str| {
        let whole = format!("x = {text}");
        let table = DeTable::parse(&whole).ok()?;
        // More than one value is none: `1\ny = 2` is a word.
        let only = table.get_ref().len() == 1;
        let node = table.get_ref().get("x").filter(|_| only)?;
        Some(Node::of(node.get_ref(), origin, &Lines(Vec::new())))
    };
    let word = |text: &str| Node::new(SettingValue::Name(text.to_owned()), origin);
    // TOML first: `1e-3`, `true`, `[1, 2]` and `{ from = 1, to = 2 }` mean what they mean in a file.
    parsed(text).unwrap_or_else(|| {
        if !text.contains(',') {
            return word(text);
        }
        let items = text.split(',').map(str::trim).map(|item| parsed(item).unwrap_or_else(|| word(item)));
        Node::new(Item::List(items.collect()), origin)
    })
}

impl From<SettingValue> for Item {
    fn from(value: SettingValue) -> Self {
        match value {
            SettingValue::List(items) => {
                Self::List(items.into_iter().map(|item| Node::new(item, Origin::Program)).collect())
            }
            one => Self::Value(one),
        }
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Self {
        Self::Value(SettingValue::Name(text.to_owned()))
    }
}

impl From<u64> for Item {
    fn from(n: u64) -> Self {
        Self::Value(SettingValue::Count(n))
    }
}

impl From<Fields> for Item {
    fn from(fields: Fields) -> Self {
        Self::Table(fields)
    }
}

impl<T: Into<Item>> From<Vec<T>> for Item {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(|item| Node::new(item, Origin::Program)).collect())
    }
}
