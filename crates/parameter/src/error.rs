//! Why something cannot be set.

use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParameterError {
    #[error("`{given}` is not a setting; write key=value")]
    Form { given: String },
    #[error("`{name}` is set twice")]
    Repeated { name: String },
    #[error("there is no setting `{given}`{}", crate::text::alternatives(.given, .known))]
    Unknown { given: String, known: Vec<&'static str> },
    #[error("`{name}` cannot be {}; it must be {allowed}", if .given.is_empty() { "empty" } else { .given })]
    Value { name: String, given: String, allowed: String },
}
