//! Many runs in one number.

use serde::{Deserialize, Serialize};

use crate::ratio::{finite, sorted};

/// A way to summarise the scores of several runs (or examples) in one number.
///
/// ```
/// use wug_score::Aggregate;
/// let scores = [1.0, 3.0, 2.0, 6.0];
/// assert_eq!(Aggregate::Mean.of(&scores), Some(3.0));
/// assert_eq!(Aggregate::PopulationStd.of(&scores), Some(3.5_f64.sqrt())); // (4 + 0 + 1 + 9) / 4
/// assert_eq!(Aggregate::SampleStd.of(&scores), Some((14.0_f64 / 3.0).sqrt()));
/// assert_eq!(Aggregate::Median.of(&scores), Some(2.5));
/// assert_eq!((Aggregate::Min.of(&scores), Aggregate::Max.of(&scores)), (Some(1.0), Some(6.0)));
/// assert_eq!(Aggregate::Mean.of(&[]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    Mean,
    /// The standard deviation that divides by `n`, as the tables of Butoi et al. 2025 have it.
    PopulationStd,
    /// The standard deviation that divides by `n - 1`; undefined for one run.
    SampleStd,
    Min,
    Max,
    /// The middle one, or the mean of the middle two.
    Median,
}

impl Aggregate {
    /// Every way, in the order reports list them.
    pub const ALL: [Self; 6] =
        [Self::Mean, Self::PopulationStd, Self::SampleStd, Self::Min, Self::Max, Self::Median];

    /// Its name, as records and tables write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::PopulationStd => "population_std",
            Self::SampleStd => "sample_std",
            Self::Min => "min",
            Self::Max => "max",
            Self::Median => "median",
        }
    }

    /// The number, independent of the order of `values`; `None` if it is undefined or if one of
    /// them is not finite.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        // Sorted because addition of floats is not associative: runs that finish in another order would
        // give another last digit.
        let values = sorted(values.iter().copied());
        // Values that are not finite are sorted to the ends.
        let (min, max) = (finite(*values.first()?)?, finite(*values.last()?)?);
        let n = values.len() as f64;
        // Values that are all the same have that very mean, not one that rounding has moved.
        let mean = finite(values.iter().sum::<f64>() / n)?.clamp(min, max);
        let squares = || values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        match self {
            Self::Mean => Some(mean),
            Self::PopulationStd => finite((squares() / n).sqrt()),
            Self::SampleStd => finite((squares() / (n - 1.0)).sqrt()),
            Self::Min => Some(min),
            Self::Max => Some(max),
            Self::Median => quantile(&values, 0.5),
        }
    }
}

/// The value below which a share of the sorted values lies, with straight lines between neighbours (Hyndman
/// and Fan's definition 7).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let position = share * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(position as usize)?;
    let above = *sorted.get(position as usize + 1).unwrap_or(&below);
    let weight = position.fract();
    // Equal neighbours give themselves, whatever the weight.
    finite(if weight > 0.0 { below + weight * (above - below) } else { below })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_values_have_no_spread() {
        for a in Aggregate::ALL {
            let spread = matches!(a, Aggregate::PopulationStd | Aggregate::SampleStd);
            assert_eq!(a.of(&[0.1; 10]), Some(if spread { 0.0 } else { 0.1 }), "{}", a.name());
            assert_eq!(a.of(&[]), None);
            assert_eq!(a.of(&[7.0]).is_none(), a == Aggregate::SampleStd);
        }
    }

    #[test]
    fn non_finite_values_leave_every_aggregate_undefined() {
        for bad in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for a in Aggregate::ALL {
                assert_eq!((a.of(&[1.0, bad, 2.0]), a.of(&[bad])), (None, None), "{}", a.name());
            }
        }
    }

    #[test]
    fn names_are_what_serde_writes() {
        for a in Aggregate::ALL {
            assert_eq!(serde_json::to_value(a).unwrap(), a.name());
        }
    }
}
