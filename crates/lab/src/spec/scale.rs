//! How much of an experiment to run.

use super::draft::{DraftItem, Fields};
use super::{Problem, declared, former_names, known_names};
use crate::protocol::ProtocolEntry;

/// How much of an experiment to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Every code path, in seconds.
    Smoke,
    /// An evening on two cores.
    Quick,
    /// The grid of the paper.
    #[default]
    Paper,
}

impl Scale {
    /// All of them, from small to large.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Quick, Self::Paper];
    /// Those that a section may have a table of, which says what is smaller.
    pub(super) const SMALLER: [Self; 2] = [Self::Smoke, Self::Quick];

    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Paper => "paper",
        }
    }

    /// The scale with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scale| scale.name() == name)
    }

    /// The section at this scale.
    pub(super) fn of(self, mut section: Fields) -> Result<Fields, Problem> {
        for at in Self::SMALLER {
            // Both tables are taken at any scale: what is left of them would be read as a field `quick`.
            let Some(node) = section.take(at.name()) else { continue };
            match node.item {
                DraftItem::Table(smaller) if at == self => section.overlay(smaller),
                DraftItem::Table(_) => {}
                _ => {
                    let allowed = "a table of what is smaller";
                    return Err(Problem::value(at.name(), &node.shown(), allowed).written(node.origin));
                }
            }
        }
        Ok(section)
    }
}

/// Checks what a section says at all scales, without reading it: whether its fields are known and their values allowed, so that a
/// mistake at one scale is found at any.
pub(super) fn check_all(
    section: &Fields,
    entry: &ProtocolEntry,
    check: impl Fn(&Fields) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut rest = section.clone();
    let smaller: Vec<_> = Scale::SMALLER.iter().filter_map(|at| rest.take(at.name())).collect();
    let tables = smaller.iter().filter_map(|node| match &node.item {
        DraftItem::Table(table) => Some(table),
        _ => None,
    });
    for table in std::iter::once(&rest).chain(tables) {
        if let Some(path) = table.paths().iter().find(|path| !is_known(entry, path)) {
            let problem = declared::unknown(path, &known_names(entry));
            return Err(match problem.origin(table) {
                Some(origin) => problem.written(origin),
                None => problem,
            });
        }
        check(table)?;
    }
    Ok(())
}

/// Whether a path is that of a field of a protocol's sections, of a table of fields, or of what is inside a field.
pub(super) fn is_known(entry: &ProtocolEntry, path: &str) -> bool {
    let begins = |whole: &str, start: &str| {
        whole.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut known = known_names(entry).into_iter().chain(former_names(entry));
    // Both ways: `data` is known because of `data.training`, and `learning_rate.from` because of `learning_rate`.
    known.any(|name| begins(name, path) || begins(path, name))
}
