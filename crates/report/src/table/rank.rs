//! Which means of a row are in bold: only those that more than noise sets apart.

use wug_score::estimate::mean_of_runs;
use wug_score::metric::Direction;
use wug_score::permutation::{p_value, smallest_p};
use wug_score::select::first_best;

use super::{Cell, Rank};

/// From which probability on a difference counts as noise.
const NOISE: f64 = 0.05;

/// The rule, as tables state it.
pub(crate) const BOLD_NOTE: &str = "Bold: the best mean of a row, if a permutation test over the runs tells it from every other (two-sided, 5 %) and its 95 % interval lies beyond chance. Underlined: several that are not told from the best, where others are. With fewer than about four runs in a cell the test cannot decide, and nothing is marked.";
/// The rule for cells that show the best of their runs.
pub(crate) const BEST_OF_NOTE: &str =
    "The best of several runs is never in bold: it depends on how many runs there are.";

/// Ranks some means, given the scores of the runs that each is of.
pub(crate) fn set_ranks(cells: &mut [Cell], runs: &[Vec<f64>], chance: Option<f64>, better: Direction) {
    let means: Vec<(usize, f64)> =
        runs.iter().enumerate().filter_map(|(i, of)| Some((i, mean_of_runs(of)?.value))).collect();
    // A cell of one run is compared too: that nothing can be said of it leaves the row open.
    let compared: Vec<usize> = (0..runs.len()).filter(|i| !runs[*i].is_empty()).collect();
    let Some((best, _)) = first_best(&means, better, |mean| Some(mean.1)).copied() else { return };
    let others: Vec<usize> = compared.iter().copied().filter(|i| *i != best).collect();
    // Too few runs for any permutation to reach 5 %: the test could not tell even the clearest difference.
    if others.is_empty() || others.iter().any(|i| smallest_p(runs[*i].len(), runs[best].len()) > NOISE) {
        return;
    }
    // Scores of few runs are often bimodal (solved or not), so no normal distribution is assumed.
    let differs = |i: &usize| p_value(&runs[best], &runs[*i]).is_some_and(|p| p <= NOISE);
    let (worse, tied): (Vec<usize>, Vec<usize>) = others.into_iter().partition(differs);
    if worse.is_empty() || !is_beyond(&runs[best], chance, better) {
        return;
    }
    cells[best].rank = if tied.is_empty() { Rank::Best } else { Rank::Tied };
    for i in tied.into_iter().filter(|i| is_beyond(&runs[*i], chance, better)) {
        cells[i].rank = Rank::Tied;
    }
}

/// Whether the interval of the mean lies on the better side of chance.
fn is_beyond(runs: &[f64], chance: Option<f64>, better: Direction) -> bool {
    let Some(chance) = chance else { return true };
    mean_of_runs(runs).is_some_and(|mean| match better {
        Direction::Higher => mean.low > chance,
        Direction::Lower => mean.high < chance,
    })
}

#[cfg(test)]
mod tests {
    use super::Rank::{Best, Open, Tied};
    use super::*;

    fn ranks(runs: &[&[f64]], chance: f64, better: Direction) -> Vec<Rank> {
        let mut cells = vec![Cell::default(); runs.len()];
        let runs: Vec<Vec<f64>> = runs.iter().map(|of| of.to_vec()).collect();
        set_ranks(&mut cells, &runs, Some(chance), better);
        cells.iter().map(|cell| cell.rank).collect()
    }

    const GOOD: &[f64] = &[0.97, 0.99, 0.98, 1.0];
    const MIDDLING: &[f64] = &[0.8, 0.85, 0.75, 0.82];
    const CHANCE: &[f64] = &[0.5, 0.52, 0.49, 0.51];

    #[test]
    fn only_what_beats_all_others_is_the_best() {
        let of = |runs: &[&[f64]]| ranks(runs, 0.5, Direction::Higher);
        assert_eq!(of(&[CHANCE, GOOD, MIDDLING]), [Open, Best, Open]);
        assert_eq!(of(&[CHANCE, GOOD, GOOD]), [Open, Tied, Tied]);
        assert_eq!(of(&[GOOD, &[], CHANCE]), [Best, Open, Open]);
        // All are alike, or there is nothing to compare with.
        assert_eq!(of(&[GOOD, GOOD]), [Open, Open]);
        assert_eq!(of(&[GOOD, &[]]), [Open, Open]);
        assert_eq!(ranks(&[GOOD, MIDDLING], 1.5, Direction::Lower), [Open, Best]);
    }

    #[test]
    fn too_few_runs_decide_nothing_however_far_apart() {
        let of = |runs: &[&[f64]]| ranks(runs, 0.5, Direction::Higher);
        assert_eq!(of(&[&[1.0; 3], &[0.5; 3]]), [Open, Open]);
        assert_eq!(of(&[&[1.0], &[0.5]]), [Open, Open]);
        // One run of another leaves open whether it is better.
        assert_eq!(of(&[GOOD, CHANCE, &[1.0]]), [Open; 3]);
        assert_eq!(of(&[&[1.0; 4], &[0.5; 4]]), [Best, Open]);
    }

    #[test]
    fn nothing_at_chance_is_marked() {
        // Better than the other, but no better than a coin.
        let lower = &[0.3, 0.31, 0.29, 0.3][..];
        assert_eq!(ranks(&[CHANCE, lower], 0.5, Direction::Higher), [Open, Open]);
        assert_eq!(ranks(&[CHANCE, lower], 0.4, Direction::Higher), [Best, Open]);
    }
}
