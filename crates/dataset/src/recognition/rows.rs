//! Labelled strings and their next-symbol sets as text.

use serde_json::{Value, json};
use wug_language::{Alphabet, NextSet, Symbol};

use super::Labelled;
use crate::rows::word;

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
    sets.into_iter()
        .map(|set| {
            let mut next = NextSet::empty().with_end(set.e);
            for token in set.s.split_whitespace() {
                let symbol = alphabet.symbol(token);
                next.insert(symbol.ok_or_else(|| format!("unknown token `{token}` in a next-symbol set"))?);
            }
            Ok(next)
        })
        .collect()
}

/// There is a set before each symbol, and one at the end.
pub(super) fn check_count(sets: &[NextSet], word: &[Symbol]) -> Result<(), String> {
    if sets.len() == word.len() + 1 {
        return Ok(());
    }
    Err(format!("{} next-symbol sets for a string of {} symbols", sets.len(), word.len()))
}

/// A row of our own JSONL.
pub fn to_row(example: &Labelled, alphabet: &Alphabet) -> Value {
    let mut row = json!({ "string": alphabet.format(&example.word), "label": example.label });
    if let Some(edits) = example.edits {
        row["edits"] = json!(edits);
    }
    if let Some(distance) = example.distance {
        row["distance"] = json!(distance);
    }
    if let Some(log_prob) = example.log_prob {
        row["log_prob"] = json!(log_prob);
    }
    if let Some(sets) = &example.next {
        let sets: Vec<Value> = sets
            .iter()
            .map(|set| {
                let tokens: Vec<&str> =
                    alphabet.sorted().filter(|&a| set.contains(a)).map(|a| alphabet.token(a)).collect();
                json!({ "s": tokens.join(" "), "e": set.end() })
            })
            .collect();
        row["next"] = Value::Array(sets);
    }
    row
}

/// Reads a row of our own JSONL.
pub fn from_row(text: &str, alphabet: &Alphabet) -> Result<Labelled, String> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        string: String,
        label: bool,
        edits: Option<usize>,
        distance: Option<usize>,
        log_prob: Option<f64>,
        next: Option<Value>,
    }
    let row: Row = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let next = row.next.map(|sets| parse_next_line(&sets.to_string(), alphabet)).transpose()?;
    let word = word(&row.string, alphabet)?;
    if let Some(sets) = &next {
        check_count(sets, &word)?;
    }
    Ok(Labelled {
        word,
        label: row.label,
        edits: row.edits,
        log_prob: row.log_prob,
        next,
        distance: row.distance,
    })
}
