//! Sizes: the dimensions of a network from a number of parameters, so that learners can be compared at equal size.

use std::collections::BTreeSet;

use wug_parameter::Settings;

use crate::model::SpecError;

/// How far the true count may be from the size that was asked for, as a share of it.
pub const TOLERANCE: f64 = 0.05;

/// Which dimensions of a network a size decides.
#[derive(Debug)]
pub struct Sizing {
    /// The setting with which the count grows.
    pub width: &'static str,
    /// A setting of which the width is a multiple.
    pub divisor: Option<&'static str>,
    /// A setting, and the least and the greatest multiple of it that the width may be.
    pub ratio: Option<(&'static str, usize, usize)>,
    /// The other dimensions, which are changed only if the width alone does not do.
    pub others: &'static [Dimension],
}

/// A dimension beside the width.
#[derive(Debug)]
pub struct Dimension {
    pub setting: &'static str,
    /// The values it may have instead of its default.
    pub steps: Steps,
    /// How much each step away from the default counts: the changes with the least sum are preferred.
    pub cost: usize,
}

/// The values of a dimension, its usual value first.
#[derive(Clone, Copy, Debug)]
pub enum Steps {
    /// The next smaller, the next larger, and so on.
    Around,
    /// Half of it, and so on, down to 1.
    Halves,
    /// Twice as much, and so on, up to 64 times; then halves.
    Doubles,
}

impl Steps {
    fn of(self, usual: usize) -> Vec<usize> {
        let halves = || std::iter::successors(Some(usual / 2), |x| Some(x / 2)).take_while(|x| *x > 0);
        let others: Vec<usize> = match self {
            Self::Around => (1..=usual.max(4)).flat_map(|k| [usual.saturating_sub(k), usual + k]).collect(),
            Self::Halves => halves().collect(),
            Self::Doubles => (1..=6).map(|k| usual << k).chain(halves()).collect(),
        };
        std::iter::once(usual).chain(others.into_iter().filter(|x| *x > 0)).collect()
    }
}

/// Settings of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    pub settings: Settings,
    pub parameters: usize,
}

/// Whether a true count is within [`TOLERANCE`] of the size that was asked for.
///
/// ```
/// use wug_learner::registry::is_met;
/// assert!(is_met(8000, 8400) && !is_met(8000, 8401) && !is_met(8000, 4409));
/// ```
pub fn is_met(size: usize, parameters: usize) -> bool {
    parameters.abs_diff(size) as f64 <= TOLERANCE * size as f64
}

/// A size to be matched.
pub(super) struct Target<'a, F> {
    pub(super) sizing: &'a Sizing,
    /// The settings whose values are given.
    pub(super) given: &'a BTreeSet<String>,
    pub(super) size: usize,
    /// The true count with some settings.
    pub(super) count: F,
}

impl<F: Fn(&Settings) -> Result<usize, SpecError>> Target<'_, F> {
    pub(super) fn nearest(&self, settings: &Settings) -> Result<Matched, SpecError> {
        let mut best = self.nearest_width(settings);
        let distance = |found: &Matched| found.parameters.abs_diff(self.size);
        let meets = |found: &Matched| is_met(self.size, found.parameters);
        if best.as_ref().is_ok_and(meets) {
            return best;
        }
        for shape in self.shapes(settings) {
            let Ok(found) = self.nearest_width(&shape) else { continue };
            // Shapes come by cost, so the first that meets the size changes least.
            if meets(&found) {
                return Ok(found);
            }
            // Of equally near shapes the cheaper, earlier one stays.
            if best.as_ref().is_ok_and(|best| distance(best) <= distance(&found)) {
                continue;
            }
            best = Ok(found);
        }
        best
    }

    /// The width that is the root of `a·d² + b·d + 1 = size`, rounded half to even to a multiple of the divisor.
    pub(super) fn published(&self, settings: &Settings, (a, b): (f64, f64)) -> Result<Matched, SpecError> {
        if self.given.contains(self.sizing.width) {
            return self.counted(settings.clone());
        }
        let root = (-b + libm::sqrt(b * b - 4.0 * a * (1.0 - self.size as f64))) / (2.0 * a);
        let unit = self.unit(settings);
        // `as` takes a negative root (a size below everything) to zero.
        #[expect(clippy::cast_sign_loss, reason = "see above")]
        // The released code rounds the width and does not search for the nearest count. Python's `round` takes halves
        // to even.
        let multiples = libm::rint(root / unit as f64) as usize;
        self.with_width(settings, unit * multiples.max(1))
    }

    fn counted(&self, settings: Settings) -> Result<Matched, SpecError> {
        let parameters = (self.count)(&settings)?;
        Ok(Matched { settings, parameters })
    }

    fn with_width(&self, settings: &Settings, width: usize) -> Result<Matched, SpecError> {
        self.counted(settings.clone().with_count(self.sizing.width, width))
    }

    fn unit(&self, settings: &Settings) -> usize {
        self.sizing.divisor.and_then(|name| settings.count(name)).unwrap_or(1)
    }

    /// Every combination of the other dimensions that are not given, by the cost of the changes.
    fn shapes(&self, settings: &Settings) -> Vec<Settings> {
        let mut shapes = vec![(0, settings.clone())];
        for Dimension { setting, steps, cost } in self.sizing.others {
            let Some(usual) = settings.count(setting).filter(|_| !self.given.contains(*setting)) else {
                continue;
            };
            let values = steps.of(usual);
            let with = |(sum, shape): (usize, Settings)| -> Vec<(usize, Settings)> {
                let values = values.iter().enumerate();
                values.map(|(i, &value)| (sum + i * cost, shape.clone().with_count(setting, value))).collect()
            };
            shapes = shapes.into_iter().flat_map(with).collect();
        }
        shapes.sort_by_key(|(cost, _)| *cost);
        shapes.into_iter().map(|(_, shape)| shape).collect()
    }

    /// The width whose count is nearest, the smaller of two; the count grows with the width.
    fn nearest_width(&self, shape: &Settings) -> Result<Matched, SpecError> {
        if self.given.contains(self.sizing.width) {
            return self.counted(shape.clone());
        }
        let unit = self.unit(shape);
        let (least, most) = self.sizing.ratio.map_or((1, usize::MAX), |(of, least, most)| {
            let of = shape.count(of).unwrap_or(1);
            ((least * of).div_ceil(unit), (most * of / unit).max(1))
        });
        // The count of `low` is below the size (or it is the least width), that of `high` is not. What cannot be built is too
        // wide.
        let below = |multiple: usize| match self.with_width(shape, multiple * unit) {
            Ok(found) => found.parameters < self.size,
            Err(_) => false,
        };
        let (mut low, mut high) = (least, least);
        while high < most && below(high) {
            (low, high) = (high, (2 * high).min(most));
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if below(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let narrow = self.with_width(shape, low * unit)?;
        match self.with_width(shape, high * unit) {
            Ok(wide) if wide.parameters.abs_diff(self.size) < narrow.parameters.abs_diff(self.size) => {
                Ok(wide)
            }
            _ => Ok(narrow),
        }
    }
}

#[cfg(test)]
mod tests;
