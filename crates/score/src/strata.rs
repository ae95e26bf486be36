//! Parts of a set: by length, by number of edits, by edit distance, by kind of negative, by label, by block; or a whole set with an
//! error margin.
//!
//! ```
//! use wug_score::strata::{Windows, stratify};
//! let lengths = [3, 12, 25];
//! let windows = Windows { step: 10, reach: 10, last: 30 };
//! let parts = stratify(&lengths, |&n| windows.of(n));
//! let named: Vec<_> = parts.iter().map(|(stratum, part)| (stratum.to_string(), part.len())).collect();
//! let expected = [("length -10..10", 1), ("length 0..20", 2), ("length 10..30", 2), ("length 20..40", 1)];
//! assert_eq!(named, expected.map(|(name, n)| (name.to_owned(), n)));
//! ```

mod margin;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wug_dataset::Labelled;

pub use margin::{BadMargin, Margin};

/// A named part of a set. In a record it is an object with one field, such
/// as `{"length":"40..60"}`, or `"all"`.
///
/// ```
/// use wug_score::strata::{Stratum, Window};
/// let stratum = Stratum::Length(Window { lo: 40, hi: 60 });
/// assert_eq!(serde_json::to_string(&stratum).unwrap(), r#"{"length":"40..60"}"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stratum {
    All,
    /// Members, or the others.
    Label(Membership),
    /// One kind of negative.
    Kind(NegativeKind),
    /// Strings of some lengths.
    Length(Window),
    /// Negatives made with so many edits.
    Edits(usize),
    /// Negatives at this edit distance from the language.
    Distance(usize),
    /// The whole set, where so much error is forgiven.
    Margin(Margin),
    /// What was sent in one block, counted from 1: the block after the training pairs.
    Block(usize),
    /// Minimal pairs that break a dependency whose two ends are so far apart.
    Dependency(Window),
}

/// Members, or the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Membership {
    Positive,
    Negative,
}

/// How a negative was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NegativeKind {
    /// A member with some edits.
    Perturbed,
    Uniform,
}

impl NegativeKind {
    /// Its name, as records write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perturbed => "perturbed",
            Self::Uniform => "uniform",
        }
    }

    /// How a negative was made. One without a number of edits counts as uniform, so this is for data that have those numbers.
    pub fn of(truth: &Labelled) -> Option<Self> {
        (!truth.label).then_some(if truth.edits.is_some() { Self::Perturbed } else { Self::Uniform })
    }
}

/// Lengths from `lo` to `hi`, both included. A window around 0 begins below it, so that its centre is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Window {
    pub lo: i64,
    pub hi: i64,
}

impl Window {
    /// The window of a number among windows of `width` numbers each that lie side by side from 0 on.
    ///
    /// ```
    /// use wug_score::strata::Window;
    /// assert_eq!(Window::of(13, 5), Window { lo: 10, hi: 14 });
    /// ```
    pub fn of(number: usize, width: usize) -> Self {
        let lo = (number - number % width.max(1)) as i64;
        Self { lo, hi: lo + width.max(1) as i64 - 1 }
    }

    pub fn centre(self) -> f64 {
        (self.lo + self.hi) as f64 / 2.0
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

/// Not a range of lengths.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no range of lengths; one is written as `40..60`")]
pub struct BadWindow(String);

impl TryFrom<String> for Window {
    type Error = BadWindow;

    fn try_from(text: String) -> Result<Self, BadWindow> {
        let ends = text.split_once("..").and_then(|(lo, hi)| Some((lo.parse().ok()?, hi.parse().ok()?)));
        match ends {
            Some((lo, hi)) if lo <= hi => Ok(Self { lo, hi }),
            _ => Err(BadWindow(text)),
        }
    }
}

impl From<Window> for String {
    fn from(window: Window) -> Self {
        window.to_string()
    }
}

impl fmt::Display for Stratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Label(Membership::Positive) => f.write_str("positive"),
            Self::Label(Membership::Negative) => f.write_str("negative"),
            Self::Kind(kind) => write!(f, "{} negative", kind.name()),
            Self::Length(window) => write!(f, "length {window}"),
            Self::Edits(k) => write!(f, "{k} edits"),
            Self::Distance(d) => write!(f, "distance {d}"),
            Self::Margin(margin) => write!(f, "margin {margin}"),
            Self::Block(block) => write!(f, "block {block}"),
            Self::Dependency(window) => write!(f, "dependency {window}"),
        }
    }
}

impl Stratum {
    /// By what the set is divided, as records write it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Label(_) => "label",
            Self::Kind(_) => "kind",
            Self::Length(_) => "length",
            Self::Edits(_) => "edits",
            Self::Distance(_) => "distance",
            Self::Margin(_) => "margin",
            Self::Block(_) => "block",
            Self::Dependency(_) => "dependency",
        }
    }

    /// The lowest and the highest value of what the set is divided by, where that is a number.
    ///
    /// ```
    /// use wug_score::strata::{Stratum, Window};
    /// assert_eq!(Stratum::Length(Window { lo: 40, hi: 60 }).bounds(), Some((40.0, 60.0)));
    /// assert_eq!(Stratum::Edits(2).bounds(), Some((2.0, 2.0)));
    /// assert_eq!(Stratum::All.bounds(), None);
    /// ```
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::All | Self::Label(_) | Self::Kind(_) => None,
            Self::Length(window) | Self::Dependency(window) => Some((window.lo as f64, window.hi as f64)),
            Self::Edits(n) | Self::Distance(n) | Self::Block(n) => Some((*n as f64, *n as f64)),
            Self::Margin(margin) => Some((margin.value(), margin.value())),
        }
    }
}

/// Windows of lengths `x - reach ..= x + reach` around `x = 0, step, 2 step, …, last`. They may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// From one centre to the next; 0 is taken for 1.
    pub step: usize,
    /// How far a window goes to either side.
    pub reach: usize,
    pub last: usize,
}

impl Windows {
    /// Those of Figure 3 of Butoi et al. 2025.
    pub const PUBLISHED: Self = Self { step: 10, reach: 10, last: 500 };

    /// The windows that a length falls into.
    pub fn of(self, length: usize) -> impl Iterator<Item = Stratum> {
        let centres = (0..=self.last).step_by(self.step.max(1));
        let near = centres.filter(move |centre| centre.abs_diff(length) <= self.reach);
        near.map(move |centre| {
            let (centre, reach) = (centre as i64, self.reach as i64);
            Stratum::Length(Window { lo: centre - reach, hi: centre + reach })
        })
    }
}

pub fn by_label(truth: &Labelled) -> Option<Stratum> {
    Some(Stratum::Label(if truth.label { Membership::Positive } else { Membership::Negative }))
}

/// How a negative was made ([`NegativeKind::of`]).
pub fn by_kind(truth: &Labelled) -> Option<Stratum> {
    NegativeKind::of(truth).map(Stratum::Kind)
}

/// How many edits made a negative.
pub fn by_edits(truth: &Labelled) -> Option<Stratum> {
    truth.edits.filter(|_| !truth.label).map(Stratum::Edits)
}

/// How far a negative is from the language, where known.
pub fn by_distance(truth: &Labelled) -> Option<Stratum> {
    truth.distance.filter(|_| !truth.label).map(Stratum::Distance)
}

/// Sorts items into parts by their keys. An item goes into one part for each of its keys: none, one or
/// several. Parts without items are absent.
pub fn stratify<T: Copy, K: Ord, I: IntoIterator<Item = K>>(
    items: &[T],
    keys: impl Fn(&T) -> I,
) -> BTreeMap<K, Vec<T>> {
    let mut parts: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for item in items {
        for key in keys(item) {
            parts.entry(key).or_default().push(*item);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_windows_cover_every_length_once_or_more() {
        assert_eq!(Windows::PUBLISHED.of(0).count(), 2);
        assert_eq!(Windows::PUBLISHED.of(20).count(), 3);
        assert_eq!(Windows::PUBLISHED.of(15).count(), 2);
        assert_eq!(Windows::PUBLISHED.of(500).count(), 2);
        let all: Vec<Stratum> = (0..=500).flat_map(|n| Windows::PUBLISHED.of(n)).collect();
        assert_eq!(stratify(&all, |s| [*s]).len(), 51);
    }

    #[test]
    fn strata_are_read_as_they_are_written() {
        let window = Window { lo: -10, hi: 10 };
        assert!(window.centre().abs() < f64::EPSILON);
        let label = Stratum::Label(Membership::Negative);
        let kind = Stratum::Kind(NegativeKind::Perturbed);
        let margin = Stratum::Margin(Margin::new(0.005).unwrap());
        let (length, dependency) = (Stratum::Length(window), Stratum::Dependency(window));
        let (edits, distance) = (Stratum::Edits(3), Stratum::Distance(1));
        for stratum in
            [Stratum::All, label, kind, length, edits, distance, margin, dependency, Stratum::Block(2)]
        {
            let text = serde_json::to_string(&stratum).unwrap();
            assert_eq!(serde_json::from_str::<Stratum>(&text).unwrap(), stratum, "{text}");
            assert!(text.contains(stratum.kind()), "{text}");
        }
        for bad in [r#"{"length":"5"}"#, r#"{"length":"9..3"}"#, r#"{"margin":"2"}"#, r#"{"colour":"red"}"#] {
            assert!(serde_json::from_str::<Stratum>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_that_do_not_apply_leave_an_example_out() {
        let positive = Labelled::new(vec![], true);
        let uniform = Labelled::new(vec![], false);
        let perturbed = Labelled { edits: Some(2), distance: Some(1), ..uniform.clone() };
        let all = [&positive, &uniform, &perturbed];
        assert_eq!(stratify(&all, |e| by_kind(e)).len(), 2);
        assert_eq!(stratify(&all, |e| by_edits(e)).into_keys().collect::<Vec<_>>(), [Stratum::Edits(2)]);
        assert_eq!(
            stratify(&all, |e| by_distance(e)).into_keys().collect::<Vec<_>>(),
            [Stratum::Distance(1)]
        );
        assert_eq!(stratify(&all, |e| by_label(e))[&Stratum::Label(Membership::Negative)].len(), 2);
    }
}
