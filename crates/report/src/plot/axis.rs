//! An axis: its label, its ends and its ticks.

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    lo: f64,
    hi: f64,
    scale: Scale,
}

/// How values are laid out between the ends.
#[derive(Clone, Debug, PartialEq)]
enum Scale {
    /// Evenly, with ticks this far apart.
    Even { step: f64 },
    /// By their logarithms; both ends are powers of ten.
    Logarithmic,
}

impl Axis {
    /// From zero to a round number that is not below any of the values.
    pub(crate) fn from_zero(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        // Never zero: the axis would have no length and every position would be 0/0.
        let most = values.filter(|x| x.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
        let step = step(most);
        Self { label, lo: 0.0, hi: (most / step).ceil() * step, scale: Scale::Even { step } }
    }

    /// Logarithmic, between the powers of ten around the values that are above zero.
    pub(crate) fn logarithmic(label: &'static str, values: impl Iterator<Item = f64>) -> Self {
        let powers: Vec<f64> = values.filter(|x| x.is_finite() && *x > 0.0).map(f64::log10).collect();
        let least = powers.iter().copied().reduce(f64::min).unwrap_or(0.0).floor();
        // At least one decade, or both ends would be the same.
        let most = powers.iter().copied().reduce(f64::max).unwrap_or(0.0).ceil().max(least + 1.0);
        let power = |exponent: f64| 10_f64.powi(exponent as i32);
        Self { label, lo: power(least), hi: power(most), scale: Scale::Logarithmic }
    }

    /// Where a value lies between the ends, 0 to 1; values outside lie on an end.
    pub(crate) fn position(&self, x: f64) -> f64 {
        let share = match self.scale {
            Scale::Even { .. } => (x - self.lo) / (self.hi - self.lo),
            // Zero has no logarithm and lies on the lower end.
            Scale::Logarithmic => (x.max(self.lo) / self.lo).ln() / (self.hi / self.lo).ln(),
        };
        share.clamp(0.0, 1.0)
    }

    /// The values of the ticks, with their labels.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Even { step } => self.even_ticks(step),
            Scale::Logarithmic => self.powers().into_iter().map(|x| (x, x.to_string())).collect(),
        }
    }

    fn even_ticks(&self, step: f64) -> Vec<(f64, String)> {
        // The fewest that write the step exactly: 0.2 and not 0.20.
        let decimals = (0..9).find(|d| is_whole(step * 10_f64.powi(*d))).unwrap_or(9);
        let steps = ((self.hi - self.lo) / step).round() as usize;
        let at = |i: usize| self.lo + i as f64 * step;
        (0..=steps).map(|i| (at(i), format!("{:.*}", decimals as usize, at(i)))).collect()
    }

    /// The powers of ten, and where there are few of them, twice and five times each.
    fn powers(&self) -> Vec<f64> {
        let (least, most) = (self.lo.log10().round() as i32, self.hi.log10().round() as i32);
        let factors: &[f64] = if most - least > 1 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = (least..=most).flat_map(|power| factors.iter().map(move |f| f * 10_f64.powi(power)));
        all.filter(|x| *x <= self.hi).collect()
    }
}

/// The round distance between ticks that makes three to six of them.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf(most.log10().floor());
    let fits = |factor: &f64| most / (factor * power) <= 5.5;
    [0.2, 0.5, 1.0, 2.0].into_iter().find(fits).unwrap_or(2.0) * power
}

fn is_whole(x: f64) -> bool {
    (x - x.round()).abs() < 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (most, expected) in [
            (500.0, "0 100 200 300 400 500"),
            (0.7, "0.0 0.2 0.4 0.6 0.8"),
            (1.0, "0.0 0.2 0.4 0.6 0.8 1.0"),
            (13.0, "0 5 10 15"),
            (102.0, "0 20 40 60 80 100 120"),
            (0.012, "0.000 0.005 0.010 0.015"),
        ] {
            let axis = Axis::from_zero("x", [most].into_iter());
            let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
            assert_eq!(ticks.join(" "), expected);
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_and_more_where_those_are_few() {
        for (values, expected) in [
            (&[100.0, 250.0, 1000.0][..], "100 200 500 1000"),
            (&[1.0, 999.0], "1 10 100 1000"),
            (&[0.0, 3.0, f64::INFINITY], "1 2 5 10"),
            (&[100.0], "100 200 500 1000"),
            (&[], "1 2 5 10"),
        ] {
            let axis = Axis::logarithmic("x", values.iter().copied());
            let ticks: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
            assert_eq!(ticks.join(" "), expected, "{values:?}");
        }
        let axis = Axis::logarithmic("x", [1.0, 100.0].into_iter());
        for (x, position) in [(0.0, 0.0), (1.0, 0.0), (10.0, 0.5), (100.0, 1.0), (1e9, 1.0)] {
            assert!((axis.position(x) - position).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn positions_are_between_the_ends_whatever_is_given() {
        let axis = Axis::from_zero("x", [f64::NAN, 4.0, f64::INFINITY].into_iter());
        for (x, position) in [(-1.0, 0.0), (0.0, 0.0), (2.0, 0.5), (9.0, 1.0), (f64::INFINITY, 1.0)] {
            assert!((axis.position(x) - position).abs() < 1e-12, "{x}");
        }
        let empty = Axis::from_zero("x", std::iter::empty());
        assert!(empty.position(0.0).is_finite() && !empty.ticks().is_empty());
    }
}
