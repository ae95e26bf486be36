//! Values of settings: as they are stored, as a constant in a declaration, and as the type that code reads.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Choice, Span};

/// The value of a setting, as plans and manifests have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingValue {
    Switch(bool),
    Count(u64),
    Real(f64),
    /// A name, a path or a [`Span`].
    Name(String),
    List(Vec<SettingValue>),
}

impl SettingValue {
    pub fn count(&self) -> Option<usize> {
        usize::from_value(self)
    }

    /// A number; whole numbers are numbers too.
    pub fn real(&self) -> Option<f64> {
        f64::from_value(self)
    }

    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => on.fmt(f),
            Self::Count(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
            Self::Name(name) => name.fmt(f),
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A value that can stand in a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    Switch(bool),
    Count(u64),
    Real(f64),
    Name(&'static str),
    Span(usize, usize),
    Counts(&'static [usize]),
    Reals(&'static [f64]),
    Names(&'static [&'static str]),
    /// No value of its own: what is given otherwise decides, and this says how.
    Derived(&'static str),
}

impl Constant {
    /// The value; `None` if it is derived.
    pub fn value(self) -> Option<SettingValue> {
        Some(match self {
            Self::Switch(on) => SettingValue::Switch(on),
            Self::Count(n) => SettingValue::Count(n),
            Self::Real(x) => SettingValue::Real(x),
            Self::Name(name) => SettingValue::Name(name.to_owned()),
            Self::Span(first, last) => SettingValue::Name(Span::new(first, last).to_string()),
            Self::Counts(items) => {
                SettingValue::List(items.iter().map(|n| SettingValue::Count(*n as u64)).collect())
            }
            Self::Reals(items) => SettingValue::List(items.iter().map(|x| SettingValue::Real(*x)).collect()),
            Self::Names(items) => {
                SettingValue::List(items.iter().map(|n| SettingValue::Name((*n).to_owned())).collect())
            }
            Self::Derived(_) => return None,
        })
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value(), self) {
            (Some(value), _) => value.fmt(f),
            (None, Self::Derived(how)) => f.write_str(how),
            (None, _) => Ok(()),
        }
    }
}

/// A type that a setting can be read as.
pub trait FromValue: Sized {
    fn from_value(value: &SettingValue) -> Option<Self>;

    /// What a setting without a value is; only an optional one has this.
    fn absent() -> Option<Self> {
        None
    }
}

impl FromValue for bool {
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Switch(on) => Some(*on),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Count(n) => Some(*n),
            _ => None,
        }
    }
}

impl FromValue for usize {
    fn from_value(value: &SettingValue) -> Option<Self> {
        u64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for f64 {
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Count(n) => Some(*n as f64),
            SettingValue::Real(x) => Some(*x),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: &SettingValue) -> Option<Self> {
        value.name().map(str::to_owned)
    }
}

impl FromValue for Span {
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Count(n) => usize::try_from(*n).ok().map(|n| Self::new(n, n)),
            other => other.name()?.parse().ok(),
        }
    }
}

impl<T: Choice> FromValue for T {
    fn from_value(value: &SettingValue) -> Option<Self> {
        T::named(value.name()?)
    }
}

/// Another value than one of the type, such as `all` beside counts, is `None`.
impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &SettingValue) -> Option<Self> {
        Some(T::from_value(value))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// One item stands for a list of one.
impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::List(items) => items.iter().map(T::from_value).collect(),
            one => Some(vec![T::from_value(one)?]),
        }
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}
