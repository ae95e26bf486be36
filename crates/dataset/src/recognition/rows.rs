//! Labelled strings and their next-symbol sets as text.

use wug_language::{Alphabet, NextSet, Symbol};
use wug_table::{ColumnValue, Kind};

use super::Labelled;
use crate::rows::word;
use crate::tabular::DescribedColumn;

/// A next-symbol set as published files write it: tokens sorted by code point and joined by spaces, and
/// whether the string may end.
pub fn next_text(out: &mut String, set: &NextSet, alphabet: &Alphabet) {
    out.push_str("{\"s\":\"");
    let mut first = true;
    for symbol in alphabet.sorted().filter(|&a| set.contains(a)) {
        if !std::mem::take(&mut first) {
            out.push(' ');
        }
        for c in alphabet.token(symbol).chars() {
            // No token has a control character, the only others that JSON escapes.
            if c == '"' || c == '\\' {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out.push_str(if set.end() { "\",\"e\":true}" } else { "\",\"e\":false}" });
}

/// The sets of a whole string as one JSON array.
pub fn next_line(sets: &[NextSet], alphabet: &Alphabet) -> String {
    let mut out = String::with_capacity(sets.len() * 24);
    out.push('[');
    for (i, set) in sets.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        next_text(&mut out, set, alphabet);
    }
    out.push(']');
    out
}

/// Reads what [`next_line`] writes.
pub fn parse_next_line(text: &str, alphabet: &Alphabet) -> Result<Vec<NextSet>, String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Set<'a> {
        #[serde(borrow)]
        s: std::borrow::Cow<'a, str>,
        e: bool,
    }
    let sets: Vec<Set<'_>> =
        serde_json::from_str(text).map_err(|e| format!("not a list of next-symbol sets: {e}"))?;
    sets.into_iter().map(|set| next_set(&set.s, set.e, alphabet)).collect()
}

/// There is a set before each symbol, and one at the end.
pub(super) fn check_count(sets: &[NextSet], word: &[Symbol]) -> Result<(), String> {
    if sets.len() == word.len() + 1 {
        return Ok(());
    }
    Err(format!("{} next-symbol sets for a string of {} symbols", sets.len(), word.len()))
}

/// The columns of our own rows.
pub(super) fn fields() -> Vec<DescribedColumn> {
    vec![
        DescribedColumn::new("string", Kind::Text, "the string, its symbols separated by spaces"),
        DescribedColumn::new("label", Kind::Boolean, "whether it is in the language"),
        DescribedColumn::new(
            "edits",
            Kind::Integer,
            "of a perturbed negative, how many edits were made to a member; null for others",
        ),
        DescribedColumn::new(
            "distance",
            Kind::Integer,
            "its edit distance from the language, where it was computed",
        ),
        DescribedColumn::new(
            "log_prob",
            Kind::Float,
            "of a positive, its natural log-probability under the sampler",
        ),
        DescribedColumn::list(
            "next",
            Kind::Text,
            "of a positive, the symbols that can follow each prefix, from the empty one to the whole string, separated by spaces",
        ),
        DescribedColumn::list(
            "end",
            Kind::Boolean,
            "of a positive, whether each prefix is a member: whether the end can follow it",
        ),
    ]
}

/// A string as a row of these columns.
pub(super) fn to_row(example: &Labelled, alphabet: &Alphabet) -> Vec<ColumnValue<'static>> {
    let symbols = |set: &NextSet| {
        let tokens: Vec<&str> =
            alphabet.sorted().filter(|&a| set.contains(a)).map(|a| alphabet.token(a)).collect();
        tokens.join(" ")
    };
    let next = example.next.as_ref();
    vec![
        alphabet.format(&example.word).into(),
        example.label.into(),
        example.edits.into(),
        example.distance.into(),
        // Readers of rows take numbers: JSON has no infinite ones.
        example.log_prob.filter(|log| log.is_finite()).into(),
        next.map_or(ColumnValue::Null, |sets| sets.iter().map(symbols).collect()),
        next.map_or(ColumnValue::Null, |sets| sets.iter().map(NextSet::end).collect()),
    ]
}

/// Reads a row as a JSON object.
pub(super) fn from_row(text: &str, alphabet: &Alphabet) -> Result<Labelled, String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        string: String,
        label: bool,
        edits: Option<usize>,
        distance: Option<usize>,
        log_prob: Option<f64>,
        next: Option<Vec<String>>,
        end: Option<Vec<bool>>,
    }
    let Row { string, label, edits, distance, log_prob, next, end } =
        serde_json::from_str(text).map_err(|e| e.to_string())?;
    let word = word(&string, alphabet)?;
    let (symbols, ends) = match (next, end) {
        (None, None) => return Ok(Labelled { edits, log_prob, distance, ..Labelled::new(word, label) }),
        (symbols, ends) => (symbols.unwrap_or_default(), ends.unwrap_or_default()),
    };
    if symbols.len() != ends.len() {
        return Err(format!("`next` has {} elements and `end` has {}", symbols.len(), ends.len()));
    }
    let sets = symbols.iter().zip(ends).map(|(symbols, end)| next_set(symbols, end, alphabet));
    let next = sets.collect::<Result<Vec<NextSet>, String>>()?;
    check_count(&next, &word)?;
    Ok(Labelled { edits, log_prob, distance, next: Some(next), ..Labelled::new(word, label) })
}

fn next_set(tokens: &str, end: bool, alphabet: &Alphabet) -> Result<NextSet, String> {
    let mut next = NextSet::empty().with_end(end);
    for token in tokens.split_whitespace() {
        let symbol = alphabet.symbol(token);
        next.insert(symbol.ok_or_else(|| format!("unknown token `{token}` in a next-symbol set"))?);
    }
    Ok(next)
}
