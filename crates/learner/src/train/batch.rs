//! Which strings are read together: strings of like length, as many as a budget of symbols allows.

use wug_dataset::Seed;
use wug_language::draw;

/// Cuts strings, given by their lengths, into batches: shortest first (equal lengths in the given order), each batch as
/// large as `count × longest ≤ budget` allows. A single string over the budget gets a batch of its own; empty ones cost
/// nothing. Start and end symbols are not counted.
///
/// ```
/// use wug_learner::train::batches;
/// assert_eq!(batches(&[3, 1, 9, 3, 0], 6), [vec![4, 1], vec![0, 3], vec![2]]);
/// ```
pub fn batches(lengths: &[usize], budget: usize) -> Vec<Vec<usize>> {
    cut((0..lengths.len()).collect(), lengths, budget)
}

fn cut(mut order: Vec<usize>, lengths: &[usize], budget: usize) -> Vec<Vec<usize>> {
    order.sort_by_key(|&i| lengths[i]);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for i in order {
        match batches.last_mut() {
            Some(batch) if (batch.len() + 1) * lengths[i] <= budget => batch.push(i),
            _ => batches.push(vec![i]),
        }
    }
    batches
}

/// The batches of one epoch: strings shuffled before they are sorted, and batches after they are cut.
pub fn shuffled_batches(lengths: &[usize], budget: usize, seed: Seed) -> Vec<Vec<usize>> {
    let mut rng = seed.rng();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    draw::shuffle(&mut rng, &mut order);
    let mut batches = cut(order, lengths, budget);
    draw::shuffle(&mut rng, &mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_holds_every_string_once_and_depends_on_its_seed() {
        let lengths: Vec<usize> = (0..200).map(|i| i * 7 % 41).collect();
        let [one, two] = [1, 2].map(|seed| shuffled_batches(&lengths, 128, Seed::new(seed)));
        assert_ne!(one, two);
        for epoch in [one, two] {
            for batch in &epoch {
                let longest = batch.iter().map(|&i| lengths[i]).max().unwrap();
                assert!(batch.len() == 1 || batch.len() * longest <= 128, "{batch:?}");
            }
            let mut all: Vec<usize> = epoch.concat();
            all.sort_unstable();
            assert_eq!(all, (0..200).collect::<Vec<_>>());
        }
    }
}
