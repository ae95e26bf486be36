//! Which run is shown for a group, and how a table rounds.

use crate::metric::Direction;
use crate::ratio::finite;

/// The first of the items with the best value. Items without one never win.
///
/// ```
/// use wug_score::{metric::Direction, select::first_best};
/// let rows = [("R", Some(0.9)), ("+LM", Some(0.95)), ("+NS", Some(0.95)), ("+LM+NS", None)];
/// assert_eq!(first_best(&rows, Direction::Higher, |row| row.1).unwrap().0, "+LM");
/// ```
pub fn first_best<T>(items: &[T], direction: Direction, value: impl Fn(&T) -> Option<f64>) -> Option<&T> {
    let mut best: Option<(&T, f64)> = None;
    for item in items {
        let Some(x) = value(item).and_then(finite) else { continue };
        if best.is_none_or(|(_, y)| direction.improves(x, y)) {
            best = Some((item, x));
        }
    }
    best.map(|(item, _)| item)
}

/// The run with the lowest validation cross-entropy, the first of equals: the model selection of Butoi et
/// al. 2025, App. G.
///
/// ```
/// let runs = [("a", Some(0.4)), ("b", Some(0.1)), ("c", Some(0.1)), ("diverged", None)];
/// assert_eq!(wug_score::select::best_by_validation(&runs, |run| run.1).unwrap().0, "b");
/// ```
pub fn best_by_validation<T>(runs: &[T], cross_entropy: impl Fn(&T) -> Option<f64>) -> Option<&T> {
    first_best(runs, Direction::Lower, cross_entropy)
}

/// To so many decimals, the even neighbour where exactly between two: what printing and reading again does.
///
/// ```
/// assert_eq!(wug_score::select::rounded(0.9349, 2), Some(0.93));
/// assert_eq!(wug_score::select::rounded(f64::NAN, 2), None);
/// ```
pub fn rounded(x: f64, decimals: usize) -> Option<f64> {
    // Formatting rounds the exact binary value. x·10ᵈ is rounded itself, and would make ties of what are
    // none.
    format!("{:.decimals$}", finite(x)?).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Exactly representable halves: `"%.2f"` gives the even neighbour in Python and must do so here.
    #[test]
    fn halves_go_to_the_even_neighbour() {
        for (x, expected) in [(0.125, 0.12), (0.375, 0.38), (0.625, 0.62), (0.875, 0.88)] {
            assert_eq!(rounded(x, 2), Some(expected), "{x}");
        }
    }

    // 0.995 is stored a little below itself, 0.935 a little above.
    #[test]
    fn other_halves_go_where_their_binary_value_lies() {
        assert_eq!(rounded(0.995, 2), Some(0.99));
        assert_eq!(rounded(0.935, 2), Some(0.94));
        assert_eq!(rounded(1.0, 2), Some(1.0));
    }

    #[test]
    fn without_values_none_is_best() {
        assert_eq!(best_by_validation(&[None, Some(f64::NAN)], |x| *x), None);
        assert_eq!(best_by_validation(&[] as &[Option<f64>], |x| *x), None);
    }
}
