//! The error margin ε that a measurement forgives.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An error margin, from 0 to 1. It is written in the fewest digits that mean the same number, so that it is read as it was
/// written, and two are equal where their texts are.
///
/// ```
/// use wug_score::strata::{Margin, Stratum};
/// let margin = Margin::new(0.005).unwrap();
/// assert_eq!(serde_json::to_string(&Stratum::Margin(margin)).unwrap(), r#"{"margin":"0.005"}"#);
/// assert_eq!("0.005".parse(), Ok(margin));
/// assert_eq!(Margin::new(2.0).unwrap_err().to_string(), "`2` is no error margin; one is a number from 0 to 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Margin {
    /// Of a number that is not negative: such bits are in the order of their numbers.
    bits: u64,
}

/// Not an error margin.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no error margin; one is a number from 0 to 1")]
pub struct BadMargin(String);

impl Margin {
    /// The margin of a number.
    pub fn new(value: f64) -> Result<Self, BadMargin> {
        // Adding zero makes minus zero zero.
        let bits = (value + 0.0).to_bits();
        if (0.0..=1.0).contains(&value) { Ok(Self { bits }) } else { Err(BadMargin(value.to_string())) }
    }

    pub fn value(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl FromStr for Margin {
    type Err = BadMargin;

    fn from_str(text: &str) -> Result<Self, BadMargin> {
        text.parse().ok().and_then(|value| Self::new(value).ok()).ok_or_else(|| BadMargin(text.to_owned()))
    }
}

impl TryFrom<String> for Margin {
    type Error = BadMargin;

    fn try_from(text: String) -> Result<Self, BadMargin> {
        text.parse()
    }
}

impl From<Margin> for String {
    fn from(margin: Margin) -> Self {
        margin.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_ordered_as_numbers_and_read_as_they_are_written() {
        let values = [0.0, 1e-7, 0.005, 0.1, 1.0];
        let margins = values.map(|value| Margin::new(value).unwrap());
        assert!(margins.is_sorted_by(|a, b| a < b));
        for margin in margins {
            assert_eq!(margin.to_string().parse(), Ok(margin));
        }
        assert_eq!(Margin::new(-0.0), Margin::new(0.0));
        assert_eq!(margins[0].to_string(), "0");
        for bad in ["", "-0.1", "1.5", "NaN", "small"] {
            assert_eq!(
                bad.parse::<Margin>().unwrap_err().to_string(),
                format!("`{bad}` is no error margin; one is a number from 0 to 1")
            );
        }
    }
}
