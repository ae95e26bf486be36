//! Hyperparameters that a section fixes, or draws from a range.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Value;
use wug_dataset::Seed;
use wug_language::draw;

use crate::spec::Problem;

/// A number, or a range from which each run draws one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberOrRange {
    /// The same in every run.
    Fixed(f64),
    /// Drawn, both ends included.
    Between([f64; 2]),
}

impl<'de> Deserialize<'de> for NumberOrRange {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|i| i as f64));
        let ends = value.as_array().and_then(|items| items.iter().map(number).collect::<Option<Vec<f64>>>());
        match (number(&value), ends.as_deref()) {
            (Some(x), _) => Ok(Self::Fixed(x)),
            (_, Some(&[from, to])) => Ok(Self::Between([from, to])),
            _ => {
                let given = serde_json::to_string(&value).map_err(D::Error::custom)?;
                Err(D::Error::custom(format!("cannot be {given}; it must be a number or a range [from, to]")))
            }
        }
    }
}

impl NumberOrRange {
    pub(super) fn check(self, field: &str) -> Result<(), Problem> {
        let [from, to] = self.ends();
        if from > 0.0 && from <= to && to.is_finite() {
            return Ok(());
        }
        Err(self.problem(field, "a number above 0 or a range [from, to] of such numbers"))
    }

    /// As [`check`](Self::check), for a whole number.
    pub(super) fn check_whole(self, field: &str) -> Result<(), Problem> {
        let whole = |x: f64| x.fract() == 0.0 && (1.0..=1e9).contains(&x);
        if self.ends().into_iter().all(whole) {
            return self.check(field);
        }
        Err(self.problem(field, "a whole number from 1 to 1000000000 or a range [from, to] of such numbers"))
    }

    fn problem(self, field: &str, allowed: &str) -> Problem {
        let given = match self {
            Self::Fixed(x) => x.to_string(),
            Self::Between([from, to]) => format!("[{from}, {to}]"),
        };
        Problem::value(field, &given, allowed)
    }

    fn ends(self) -> [f64; 2] {
        match self {
            Self::Fixed(x) => [x, x],
            Self::Between(ends) => ends,
        }
    }

    /// Draws a number whose logarithm is uniform.
    pub(super) fn log_uniform(self, seed: Seed) -> f64 {
        let [from, to] = self.ends();
        let share = draw::unit(&mut seed.rng());
        libm::exp(libm::log(from) + share * (libm::log(to) - libm::log(from))).clamp(from, to)
    }

    /// Draws a whole number uniformly, both ends included.
    pub(super) fn integer(self, seed: Seed) -> usize {
        let [from, to] = self.ends().map(|x| x as usize);
        from + draw::below(&mut seed.rng(), to - from + 1)
    }
}
