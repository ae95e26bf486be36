//! The edit distance between two sequences.

/// The least number of insertions, replacements and deletions that turn one sequence into the other
/// (Levenshtein).
pub(crate) fn levenshtein<T: PartialEq>(u: &[T], v: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=v.len()).collect();
    for (i, a) in u.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in v.iter().enumerate() {
            let best = (diagonal + usize::from(a != b)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[v.len()]
}

#[cfg(test)]
mod tests {
    use super::levenshtein;

    #[test]
    fn known_distances() {
        assert_eq!(levenshtein(b"kitten", b"sitting"), 3);
        assert_eq!(levenshtein(b"", b"ab"), 2);
    }
}
