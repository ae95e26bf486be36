//! The edit distance between two sequences.

/// The least number of insertions, replacements and deletions that turn one sequence
/// into the other (Levenshtein).
pub fn levenshtein<T: PartialEq>(u: &[T], v: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=v.len()).collect();
    for (i, a) in u.iter().enumerate() {
        // One row is kept in place of the table: the cell up and to the left is saved before it is
        // overwritten.
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in v.iter().enumerate() {
            let best = (diagonal + usize::from(a != b)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[v.len()]
}

/// The names closest to a misspelt one: up to three equally close, none if all are far.
///
/// ```
/// use wug_parameter::nearest_names;
/// assert_eq!(nearest_names("partiy", ["parity", "first"]), ["parity"]);
/// assert!(nearest_names("wug", ["parity", "first"]).is_empty());
/// ```
pub fn nearest_names<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let distance = |name: &'a str| (levenshtein(given.as_bytes(), name.as_bytes()), name);
    let mut close: Vec<(usize, &'a str)> = names.into_iter().map(distance).collect();
    close.sort_unstable();
    let best = close.first().map_or(0, |(d, _)| *d);
    // With more than half of its letters wrong a name is another word, and no slip.
    if best > given.len() / 2 {
        return Vec::new();
    }
    close.into_iter().take_while(|(d, _)| *d == best).map(|(_, name)| name).take(3).collect()
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
