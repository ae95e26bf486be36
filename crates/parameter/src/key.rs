//! Declarations: untyped in lists, typed in code.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use crate::{
    Choice, Constant, FromValue, ParameterError, Reading, SettingValue, Span, ValueLimits, nearest_names,
};

/// One thing that can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The name in experiments, plans and on the command line.
    pub name: &'static str,
    /// What it sets, in one line.
    pub meaning: &'static str,
    /// What each value must be.
    pub limits: ValueLimits,
    /// The value that holds if nothing is said.
    pub default: Constant,
    /// The value in the published reading if nothing is said, where that differs.
    pub published: Option<Constant>,
    /// Another setting and the value with which this one has no effect; it is left out of plans then.
    pub unless: Option<(&'static str, &'static str)>,
    /// Whether it is a capacity for so many symbols: more than the longest string has changes nothing.
    pub capacity: bool,
    /// Whether its value is a list; one item stands for a list of one.
    pub list: bool,
    /// Names that it had in earlier versions, which are still read.
    pub former: &'static [&'static str],
    /// Whether runs with another value than the default are told apart by it in tables, also where no grid compares its values.
    pub telling: bool,
}

impl Parameter {
    const fn new(name: &'static str, meaning: &'static str, limits: ValueLimits, default: Constant) -> Self {
        Self {
            name,
            meaning,
            limits,
            default,
            published: None,
            unless: None,
            capacity: false,
            list: false,
            former: &[],
            telling: false,
        }
    }

    /// Whether this is its name, or was in an earlier version.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.former.contains(&name)
    }

    /// The value of a reading if nothing is said.
    pub fn default_in(&self, reading: Reading) -> Constant {
        match reading {
            Reading::Published => self.published.unwrap_or(self.default),
            Reading::Corrected => self.default,
        }
    }

    /// A given value in its one spelling, if it is allowed.
    pub fn check(&self, value: SettingValue) -> Result<SettingValue, ParameterError> {
        if let SettingValue::List(items) = value {
            let refused = || self.refused(&SettingValue::List(items.clone()));
            if !self.list || items.is_empty() {
                return Err(refused());
            }
            return items
                .iter()
                .map(|item| self.check(item.clone()))
                .collect::<Result<_, _>>()
                .map(SettingValue::List);
        }
        let value = self.limits.canonical(value);
        if self.limits.allow(&value) { Ok(value) } else { Err(self.refused(&value)) }
    }

    /// A value as it is typed, if it is allowed. Items of a list are separated by commas.
    pub fn parse(&self, text: &str) -> Result<SettingValue, ParameterError> {
        if self.list && text.contains(',') {
            return self
                .check(SettingValue::List(text.split(',').map(|item| self.limits.parse(item)).collect()));
        }
        self.check(self.limits.parse(text))
    }

    fn refused(&self, value: &SettingValue) -> ParameterError {
        let meant = match (self.limits, value.name()) {
            (ValueLimits::Names(names), Some(given)) => nearest_names(given, names.iter().copied()),
            _ => Vec::new(),
        };
        let allowed = match (self.list, value) {
            (true, SettingValue::List(items)) if items.is_empty() => {
                format!("at least one, each {}", self.limits)
            }
            _ => match meant.first() {
                Some(name) => format!("{}; did you mean `{name}`?", self.limits),
                None => self.limits.to_string(),
            },
        };
        ParameterError::Value { name: self.name.to_owned(), given: value.to_string(), allowed }
    }
}

/// A declaration that code reads values through, as a `T`.
#[derive(Debug)]
pub struct Key<T> {
    parameter: Parameter,
    // `fn() -> T` and not `T`: a key holds none, and is `Send` and `Sync` whatever it is read as.
    read_as: PhantomData<fn() -> T>,
}

// Derived, this would ask for `T: Clone`, which no key needs.
impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> Key<T> {
    const fn new(parameter: Parameter) -> Self {
        Self { parameter, read_as: PhantomData }
    }

    pub const fn parameter(&self) -> Parameter {
        self.parameter
    }

    pub const fn name(&self) -> &'static str {
        self.parameter.name
    }

    /// The same with another default.
    #[must_use]
    pub const fn or(self, default: Constant) -> Self {
        Self::new(Parameter { default, ..self.parameter })
    }

    /// The same under another name, such as that of a table that it is in.
    #[must_use]
    pub const fn named(self, name: &'static str) -> Self {
        Self::new(Parameter { name, former: &[], ..self.parameter })
    }

    /// The same with another meaning, where a learner or protocol says it more exactly.
    #[must_use]
    pub const fn meaning(self, meaning: &'static str) -> Self {
        Self::new(Parameter { meaning, ..self.parameter })
    }

    /// The same with another default in the published reading.
    #[must_use]
    pub const fn published(self, value: Constant) -> Self {
        Self::new(Parameter { published: Some(value), ..self.parameter })
    }

    /// The same, as a capacity for so many symbols.
    #[must_use]
    pub const fn as_capacity(self) -> Self {
        Self::new(Parameter { capacity: true, ..self.parameter })
    }

    /// The same, without effect if another setting has a value.
    #[must_use]
    pub const fn unless(self, other: &'static str, value: &'static str) -> Self {
        Self::new(Parameter { unless: Some((other, value)), ..self.parameter })
    }

    /// The same, which tells runs apart that do not have the default.
    #[must_use]
    pub const fn telling(self) -> Self {
        Self::new(Parameter { telling: true, ..self.parameter })
    }

    /// The same, which had other names in earlier versions.
    #[must_use]
    pub const fn formerly(self, former: &'static [&'static str]) -> Self {
        Self::new(Parameter { former, ..self.parameter })
    }

    /// The same without a default: what is given otherwise decides, as `how` says.
    #[must_use]
    pub const fn derived(self, how: &'static str) -> Key<Option<T>> {
        Key::new(Parameter { default: Constant::Derived(how), ..self.parameter })
    }

    /// The same, read as another type.
    #[must_use]
    pub const fn read_as<U>(self) -> Key<U> {
        Key::new(self.parameter)
    }

    /// The same with other limits.
    #[must_use]
    pub const fn within(self, limits: ValueLimits) -> Self {
        Self::new(Parameter { limits, ..self.parameter })
    }

    /// A list of such values.
    #[must_use]
    pub const fn list(self, default: Constant) -> Key<Vec<T>> {
        Key::new(Parameter { default, list: true, ..self.parameter })
    }
}

impl<T: FromValue> Key<T> {
    /// A checked value as its type; the default where there is none.
    pub(crate) fn read(&self, value: Option<&SettingValue>) -> T {
        let given = value.and_then(T::from_value);
        let default = || T::from_value(&self.parameter.default.value()?);
        // A declaration whose default is not of its type is a mistake in the program, which the tests of every registry find.
        given.or_else(default).or_else(T::absent).unwrap_or_else(|| {
            panic!("the default of `{}` is not of the type that it is read as", self.parameter.name)
        })
    }
}

impl Key<bool> {
    pub const fn switch(name: &'static str, meaning: &'static str, default: bool) -> Self {
        Self::new(Parameter::new(name, meaning, ValueLimits::Switch, Constant::Switch(default)))
    }
}

impl Key<usize> {
    pub const fn count(
        name: &'static str,
        meaning: &'static str,
        limits: RangeInclusive<u64>,
        default: u64,
    ) -> Self {
        let limits = ValueLimits::Count(*limits.start(), *limits.end());
        Self::new(Parameter::new(name, meaning, limits, Constant::Count(default)))
    }

    /// A count, or one of some names, which is read as `None`.
    pub const fn count_or(
        name: &'static str,
        meaning: &'static str,
        names: &'static [&'static str],
        default: Constant,
    ) -> Key<Option<usize>> {
        Key::new(Parameter::new(name, meaning, ValueLimits::NamesOrCount(names, 1), default))
    }
}

impl Key<u64> {
    /// A count that may be any number of 64 bits, such as a seed.
    pub const fn whole(
        name: &'static str,
        meaning: &'static str,
        limits: RangeInclusive<u64>,
        default: u64,
    ) -> Self {
        let limits = ValueLimits::Count(*limits.start(), *limits.end());
        Self::new(Parameter::new(name, meaning, limits, Constant::Count(default)))
    }
}

impl Key<f64> {
    pub const fn real(name: &'static str, meaning: &'static str, limits: ValueLimits, default: f64) -> Self {
        Self::new(Parameter::new(name, meaning, limits, Constant::Real(default)))
    }
}

impl Key<Span> {
    pub const fn span(
        name: &'static str,
        meaning: &'static str,
        limits: RangeInclusive<usize>,
        default: RangeInclusive<usize>,
    ) -> Self {
        let default = Constant::Span(*default.start(), *default.end());
        Self::new(Parameter::new(name, meaning, ValueLimits::Span(*limits.start(), *limits.end()), default))
    }
}

impl Key<String> {
    /// One of some names that are no enum's.
    pub const fn one_of(
        name: &'static str,
        meaning: &'static str,
        names: &'static [&'static str],
        default: &'static str,
    ) -> Self {
        Self::new(Parameter::new(name, meaning, ValueLimits::Names(names), Constant::Name(default)))
    }

    /// A text, which has no default.
    pub const fn text(name: &'static str, meaning: &'static str) -> Key<Option<String>> {
        Key::new(Parameter::new(name, meaning, ValueLimits::Text, Constant::Derived("none")))
    }

    /// Paths of files or directories; none unless they are given.
    pub const fn paths(name: &'static str, meaning: &'static str) -> Key<Vec<String>> {
        let list = Parameter {
            list: true,
            ..Parameter::new(name, meaning, ValueLimits::Path, Constant::Derived("none"))
        };
        Key::new(list)
    }

    /// The path of a file or directory, which has no default.
    pub const fn path(name: &'static str, meaning: &'static str) -> Key<Option<String>> {
        Key::new(Parameter::new(name, meaning, ValueLimits::Path, Constant::Derived("none")))
    }
}

impl<T: Choice> Key<T> {
    pub const fn choice(name: &'static str, meaning: &'static str, default: &'static str) -> Self {
        Self::new(Parameter::new(name, meaning, ValueLimits::Names(T::NAMES), Constant::Name(default)))
    }
}

/// A list of declarations from their keys.
#[macro_export]
macro_rules! parameters {
    ($($key:expr),* $(,)?) => {
        &[$($key.parameter()),*]
    };
}

/// Lists of declarations as one, so that what several learners share is written once.
pub const fn joined<const N: usize>(lists: &[&[Parameter]]) -> [Parameter; N] {
    let mut all = [lists[0][0]; N];
    let (mut at, mut list) = (0, 0);
    // Iterators cannot run in constants.
    while list < lists.len() {
        let mut item = 0;
        while item < lists[list].len() {
            all[at] = lists[list][item];
            at += 1;
            item += 1;
        }
        list += 1;
    }
    all
}

/// How many declarations there are in some lists.
pub const fn count(lists: &[&[Parameter]]) -> usize {
    let (mut n, mut list) = (0, 0);
    while list < lists.len() {
        n += lists[list].len();
        list += 1;
    }
    n
}

/// Lists of declarations as one.
///
/// ```
/// use wug_parameter::{Key, Parameter, joined_parameters, parameters};
/// const HIDDEN: Key<usize> = Key::count("hidden", "units", 1..=100, 8);
/// const EPOCHS: Key<usize> = Key::count("epochs", "passes", 1..=100, 10);
/// const TRAINING: [Parameter; 1] = [EPOCHS.parameter()];
/// const ALL: &[Parameter] = joined_parameters![parameters![HIDDEN], &TRAINING];
/// assert_eq!(ALL.iter().map(|parameter| parameter.name).collect::<Vec<_>>(), ["hidden", "epochs"]);
/// ```
#[macro_export]
macro_rules! joined_parameters {
    ($($list:expr),+ $(,)?) => {{
        const LISTS: &[&[$crate::Parameter]] = &[$($list),+];
        const ALL: [$crate::Parameter; $crate::count(LISTS)] = $crate::joined(LISTS);
        &ALL
    }};
}
