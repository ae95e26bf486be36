//! Line numbers of keys and values in the text of an experiment.

use std::ops::Range;

use toml::de::{DeTable, DeValue, Error};

use super::{Problem, Scale};
use crate::protocol::Entry;

/// A text with the positions of all its keys and values.
pub(super) struct SourceMap<'a> {
    text: &'a str,
    root: DeTable<'a>,
}

impl<'a> SourceMap<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, Error> {
        Ok(Self { text, root: DeTable::parse(text)?.into_inner() })
    }

    /// The line of a section that is written with single brackets.
    pub(super) fn lone_section(&self, name: &str) -> Option<usize> {
        let (key, value) = self.root.get_key_value(name)?;
        value.get_ref().is_table().then(|| line(self.text, key.span().start))
    }

    /// The line of a key outside the sections.
    pub(super) fn top_line(&self, key: &str) -> Option<usize> {
        let (key, _) = self.root.get_key_value(key)?;
        Some(line(self.text, key.span().start))
    }

    /// The line of a problem in a section at a scale: of the item if the field is a list with it, of the field otherwise.
    pub(super) fn line(&self, entry: &Entry, index: usize, scale: Scale, problem: &Problem) -> Option<usize> {
        let names = std::iter::once(&entry.name).chain(entry.former_names);
        let mut sections = names.filter_map(|name| self.root.get(*name)?.get_ref().as_array()).flatten();
        let section = sections.nth(index)?.get_ref().as_table()?;
        let smaller = section.get(scale.name()).and_then(|table| table.get_ref().as_table());
        let (key, value) = smaller
            .and_then(|table| find(table, problem.field()))
            .or_else(|| find(section, problem.field()))?;
        let item = value.as_array().and_then(|items| items.iter().find(|item| problem.is_of(item.get_ref())));
        Some(line(self.text, item.map_or(key.start, |item| item.span().start)))
    }
}

/// The value at a dotted path, and the position of its key.
fn find<'t, 'a>(table: &'t DeTable<'a>, path: &str) -> Option<(Range<usize>, &'t DeValue<'a>)> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (key, value) = table.get_key_value(first)?;
    match rest {
        None => Some((key.span(), value.get_ref())),
        Some(rest) => find(value.get_ref().as_table()?, rest),
    }
}

/// The line number of a byte.
pub(crate) fn line(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|b| *b == b'\n').count() + 1
}
