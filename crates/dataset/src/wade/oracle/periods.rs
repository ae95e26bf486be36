//! Tasks 1 and 2: the shortest period that explains what is visible, carried on.
//!
//! The visible part determines the rest. Task 1 shows at least two copies of a pattern of length p; the
//! shortest period q ≤ p of the visible part then divides p (Fine and Wilf), and goes on in the same way.
//! Task 2 shows at least copies 1 and 2, which is 3p symbols; that a shorter pattern which explains them goes
//! on alike was verified for every pattern of up to ten symbols (see the tests).

use super::{Malformed, OracleAnswer};

/// Task 1: position i holds symbol i mod p of the pattern.
pub(super) fn periodic(text: &[Option<&str>]) -> Result<Vec<OracleAnswer>, Malformed> {
    go_on(text, 2, tiled)
}

/// Task 2: copy k holds every symbol k times.
pub(super) fn increasing(text: &[Option<&str>]) -> Result<Vec<OracleAnswer>, Malformed> {
    go_on(text, 3, stretched)
}

fn tiled(period: usize) -> impl Iterator<Item = usize> {
    (0..period).cycle()
}

fn stretched(period: usize) -> impl Iterator<Item = usize> {
    (1..).flat_map(move |k| (0..period * k).map(move |i| i / k))
}

/// Carries on the shortest pattern that fits. It must be seen for `times` its length; `layout` says which
/// symbol of a pattern of some length stands at position 0, 1, 2, …
fn go_on<I: Iterator<Item = usize>>(
    text: &[Option<&str>],
    times: usize,
    layout: impl Fn(usize) -> I,
) -> Result<Vec<OracleAnswer>, Malformed> {
    let visible = visible(text)?;
    let fits =
        |&period: &usize| layout(period).zip(&visible).all(|(index, symbol)| visible[index] == *symbol);
    let Some(period) = (1..=visible.len() / times).find(fits) else {
        let reason = "no pattern is visible often enough";
        return Err(Malformed::Open { position: visible.len(), reason });
    };
    let indices = (0..text.len()).zip(layout(period)).skip(visible.len());
    Ok(indices
        .map(|(position, index)| OracleAnswer { position, token: visible[index], stated: true })
        .collect())
}

/// The bits before the first masked token, after which all are masked.
fn visible(text: &[Option<&str>]) -> Result<Vec<&'static str>, Malformed> {
    let found = |token: &str| format!("`{token}`");
    let mut bits = Vec::new();
    for (position, token) in text.iter().enumerate() {
        match *token {
            Some("0") if bits.len() == position => bits.push("0"),
            Some("1") if bits.len() == position => bits.push("1"),
            Some(token) if bits.len() == position => {
                return Err(Malformed::Token { position, expected: "`0` or `1`", found: found(token) });
            }
            Some(token) => {
                return Err(Malformed::Token { position, expected: "a masked answer", found: found(token) });
            }
            None => {}
        }
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The argument of the module's header, by exhaustion: whatever pattern fits the least that may be
    /// visible goes on like the pattern that was drawn.
    #[test]
    fn what_is_visible_determines_the_rest() {
        type Oracle = fn(&[Option<&str>]) -> Result<Vec<OracleAnswer>, Malformed>;
        for (times, oracle) in [(2, periodic as Oracle), (3, increasing as Oracle)] {
            for period in 1..=10 {
                for bits in 0..1usize << period {
                    let pattern: Vec<&str> = (0..period).map(|i| ["0", "1"][bits >> i & 1]).collect();
                    let indices: Vec<usize> = if times == 2 {
                        tiled(period).take(100).collect()
                    } else {
                        stretched(period).take(100).collect()
                    };
                    let whole: Vec<&str> = indices.iter().map(|&i| pattern[i]).collect();
                    let (seen, hidden) = whole.split_at(times * period);
                    let text: Vec<Option<&str>> =
                        seen.iter().copied().map(Some).chain(hidden.iter().map(|_| None)).collect();
                    assert!(
                        oracle(&text).unwrap().iter().map(|answer| answer.token).eq(hidden.iter().copied())
                    );
                }
            }
        }
    }

    #[test]
    fn stretching_repeats_every_symbol_once_more_each_time() {
        assert!(stretched(2).take(12).eq([0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1]));
    }
}
