//! Tasks 3 and 4: what is asked about is counted in the prompt.

use super::cursor::Cursor;
use super::{Malformed, OracleAnswer};

/// Task 3: letters, then `x` letter count, once or more, then a full stop.
pub(super) fn symbols(mut text: Cursor<'_>) -> Result<Vec<OracleAnswer>, Malformed> {
    const LETTERS: &[&str] = &["A", "B", "C"];
    let mut prompt = vec![text.expect_any(LETTERS, "a letter")?];
    while !text.skip("x") {
        prompt.push(text.expect_any(LETTERS, "a letter or `x`")?);
    }
    let mut answers = Vec::new();
    loop {
        let asked = text.expect_any(LETTERS, "a letter")?;
        answer(&mut text, &mut answers, prompt.iter().filter(|&&letter| letter == asked).count())?;
        if !text.skip("x") {
            break;
        }
    }
    text.expect(".", "`x` or `.`")?;
    text.expect_end()?;
    Ok(answers)
}

/// Task 4: groups of letters separated by `y`; `x`; then group `y` count, once or more, then a full stop.
pub(super) fn patterns(mut text: Cursor<'_>) -> Result<Vec<OracleAnswer>, Malformed> {
    let mut prompt = vec![group(&mut text)?];
    while !text.skip("x") {
        text.expect("y", "a letter, `y` or `x`")?;
        prompt.push(group(&mut text)?);
    }
    let mut answers = Vec::new();
    loop {
        let asked = group(&mut text)?;
        text.expect("y", "a letter or `y`")?;
        answer(&mut text, &mut answers, prompt.iter().filter(|&group| *group == asked).count())?;
        if text.skip(".") {
            break;
        }
    }
    text.expect_end()?;
    Ok(answers)
}

fn group(text: &mut Cursor<'_>) -> Result<Vec<&'static str>, Malformed> {
    const LETTERS: &[&str] = &["A", "B", "C", "D", "E"];
    let mut letters = vec![text.expect_any(LETTERS, "a letter")?];
    while let Some(letter) = text.skip_any(LETTERS) {
        letters.push(letter);
    }
    Ok(letters)
}

/// Steps over the masked digits of a count and writes down what they should be.
fn answer(text: &mut Cursor<'_>, answers: &mut Vec<OracleAnswer>, count: usize) -> Result<(), Malformed> {
    let position = text.position();
    let masked = text.expect_masked()?;
    let mut digits = Vec::new();
    let mut rest = count;
    // Zero has a digit.
    while digits.is_empty() || rest > 0 {
        digits.push(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"][rest % 10]);
        rest /= 10;
    }
    if digits.len() != masked {
        return Err(Malformed::Digits { position, count, masked });
    }
    let positions = (position..).zip(digits.into_iter().rev());
    answers.extend(positions.map(|(position, token)| OracleAnswer { position, token, stated: true }));
    Ok(())
}
