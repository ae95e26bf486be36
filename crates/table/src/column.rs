//! Columns, and the values in them.

use std::borrow::Cow;

use crate::TableError;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// Whole numbers of 64 bits with a sign.
    Integer,
    /// Whole numbers of 64 bits without a sign, such as seeds.
    Unsigned,
    /// Numbers, infinite ones included; what is not a number becomes an absent value.
    Float,
    Boolean,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integers",
            Self::Unsigned => "integers without a sign",
            Self::Float => "numbers",
            Self::Boolean => "truth values",
        }
    }
}

/// A column of a table. Any value may be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedColumn {
    pub name: String,
    /// What its values are, or the elements of its lists.
    pub kind: Kind,
    /// Whether each value is a list.
    pub list: bool,
}

impl TypedColumn {
    /// A column of single values.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, list: false }
    }

    /// A column of lists.
    pub fn list(name: impl Into<String>, kind: Kind) -> Self {
        Self { list: true, ..Self::new(name, kind) }
    }

    /// The value as this column has it: whole numbers become floats in a column of floats, and what is not a number is absent.
    pub(crate) fn checked<'a>(&self, value: &'a ColumnValue<'a>) -> Result<ColumnValue<'a>, TableError> {
        match value {
            ColumnValue::Null => Ok(ColumnValue::Null),
            ColumnValue::List(values) if self.list => {
                let values = values.iter().map(|value| self.scalar(value));
                Ok(ColumnValue::List(values.collect::<Result<_, _>>()?))
            }
            value if !self.list => self.scalar(value),
            other => Err(self.refused(other)),
        }
    }

    fn scalar<'a>(&self, value: &'a ColumnValue<'a>) -> Result<ColumnValue<'a>, TableError> {
        Ok(match (self.kind, value) {
            (_, ColumnValue::Null) => ColumnValue::Null,
            (Kind::Text, ColumnValue::Text(text)) => ColumnValue::Text(Cow::Borrowed(text)),
            (Kind::Integer, ColumnValue::Integer(n)) if i64::try_from(*n).is_ok() => ColumnValue::Integer(*n),
            (Kind::Unsigned, ColumnValue::Integer(n)) if u64::try_from(*n).is_ok() => {
                ColumnValue::Integer(*n)
            }
            // JSON has no NaN, and readers of CSV disagree about it: absent means the same in all three
            // formats.
            (Kind::Float, ColumnValue::Float(x)) if x.is_nan() => ColumnValue::Null,
            (Kind::Float, ColumnValue::Float(x)) => ColumnValue::Float(*x),
            (Kind::Float, ColumnValue::Integer(n)) => ColumnValue::Float(*n as f64),
            (Kind::Boolean, ColumnValue::Boolean(on)) => ColumnValue::Boolean(*on),
            (_, other) => return Err(self.refused(other)),
        })
    }

    fn refused(&self, value: &ColumnValue<'_>) -> TableError {
        let lists = if self.list { "lists of " } else { "" };
        TableError::Value {
            column: self.name.clone(),
            given: format!("{value:?}"),
            allowed: format!("{lists}{}", self.kind.name()),
        }
    }
}

/// A value in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ColumnValue<'a> {
    #[default]
    Null,
    Text(Cow<'a, str>),
    /// A whole number; the column says how large it may be.
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// Several values of one kind.
    List(Vec<ColumnValue<'a>>),
}

impl ColumnValue<'_> {
    /// The same value, without what it borrows.
    pub fn into_owned(self) -> ColumnValue<'static> {
        match self {
            Self::Null => ColumnValue::Null,
            Self::Text(text) => ColumnValue::Text(Cow::Owned(text.into_owned())),
            Self::Integer(n) => ColumnValue::Integer(n),
            Self::Float(x) => ColumnValue::Float(x),
            Self::Boolean(on) => ColumnValue::Boolean(on),
            Self::List(values) => {
                ColumnValue::List(values.into_iter().map(ColumnValue::into_owned).collect())
            }
        }
    }
}

impl<'a> From<&'a str> for ColumnValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for ColumnValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for ColumnValue<'_> {
    fn from(n: i64) -> Self {
        Self::Integer(n.into())
    }
}

impl From<u64> for ColumnValue<'_> {
    fn from(n: u64) -> Self {
        Self::Integer(n.into())
    }
}

impl From<usize> for ColumnValue<'_> {
    fn from(n: usize) -> Self {
        Self::Integer(n as i128)
    }
}

impl From<f64> for ColumnValue<'_> {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<bool> for ColumnValue<'_> {
    fn from(on: bool) -> Self {
        Self::Boolean(on)
    }
}

impl<'a, T: Into<ColumnValue<'a>>> From<Option<T>> for ColumnValue<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a, T: Into<ColumnValue<'a>>> FromIterator<T> for ColumnValue<'a> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}
