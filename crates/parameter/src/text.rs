//! Settings as they are typed, and names that may have been meant.

use crate::ParameterError;
use crate::edit::nearest_names;

/// The parts of `key=value,key=value`, without blanks around them. Empty parts are skipped.
pub fn assignments(text: &str) -> Result<Vec<(&str, &str)>, ParameterError> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
        let form = || ParameterError::Form { given: piece.to_owned() };
        let (name, value) = piece.split_once('=').ok_or_else(form)?;
        let (name, value) = (name.trim(), value.trim());
        // Not the last one wins: a slip in a long list would go unseen, and the run be another than was
        // meant.
        if found.iter().any(|(other, _)| *other == name) {
            return Err(ParameterError::Repeated { name: name.to_owned() });
        }
        found.push((name, value));
    }
    Ok(found)
}

/// The end of a message about an unknown name: what may have been meant, and all names.
pub fn alternatives(given: &str, known: &[&str]) -> String {
    let all = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let near: Vec<String> =
        nearest_names(given, known.iter().copied()).iter().map(|n| format!("`{n}`")).collect();
    if near.is_empty() {
        return format!("; there are: {all}");
    }
    format!("; did you mean {}? There are: {all}", near.join(" or "))
}
