//! An axis: what it shows, from where to where, and where numbers stand.

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    lo: f64,
    hi: f64,
    step: f64,
}

impl Axis {
    /// From zero to a round number that is not below any of the values.
    pub(crate) fn from_zero(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let most = values.filter(|x| x.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        let step = step(most);
        Self { label, lo: 0.0, hi: (most / step).ceil() * step, step }
    }

    /// Where a value lies between the ends, 0 to 1; values outside lie on an end.
    pub(crate) fn place(&self, x: f64) -> f64 {
        ((x - self.lo) / (self.hi - self.lo)).clamp(0.0, 1.0)
    }

    /// The values at which numbers stand, as they are written.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let decimals = (0..9).find(|d| is_whole(self.step * 10_f64.powi(*d))).unwrap_or(9);
        let steps = ((self.hi - self.lo) / self.step).round() as usize;
        let at = |i: usize| self.lo + i as f64 * self.step;
        (0..=steps).map(|i| (at(i), format!("{:.*}", decimals as usize, at(i)))).collect()
    }
}

/// The round distance between numbers that makes three to five of them.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf(most.log10().floor());
    let fits = |factor: &f64| most / (factor * power) <= 5.0;
    [0.2, 0.5, 1.0, 2.0].into_iter().find(fits).unwrap_or(2.0) * power
}

fn is_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_round_and_few() {
        for (most, expected) in [
            (500.0, "0 100 200 300 400 500"),
            (0.7, "0.0 0.2 0.4 0.6 0.8"),
            (1.0, "0.0 0.2 0.4 0.6 0.8 1.0"),
            (13.0, "0 5 10 15"),
            (0.012, "0.000 0.005 0.010 0.015"),
        ] {
            let axis = Axis::from_zero("x", [most].into_iter());
            let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
            assert_eq!(ticks.join(" "), expected);
        }
    }

    #[test]
    fn places_are_between_the_ends_whatever_is_given() {
        let axis = Axis::from_zero("x", [f64::NAN, 4.0, f64::INFINITY].into_iter());
        for (x, place) in [(-1.0, 0.0), (0.0, 0.0), (2.0, 0.5), (9.0, 1.0), (f64::INFINITY, 1.0)] {
            assert!((axis.place(x) - place).abs() < 1e-12, "{x}");
        }
        let nothing = Axis::from_zero("x", std::iter::empty());
        assert!(nothing.place(0.0).is_finite() && !nothing.ticks().is_empty());
    }
}
