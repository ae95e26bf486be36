//! Binary Addition: `x+y=z` in binary, least significant bit first, with any number of zeros at the end of
//! each number.
//!
//! ```
//! let language = wug_language::registry::build("binary-addition").unwrap();
//! let parse = |text: &str| language.alphabet().parse(text).unwrap();
//! assert!(language.contains(&parse("110+01=10100"))); // 3 + 2 = 5
//! assert!(!language.contains(&parse("001+1=011"))); // 4 + 1 is not 6
//! ```

use super::binary_operation::{BinaryOperation, BinaryOperator};
use super::number::CUT;
use crate::registry::{Class, FLARE, LanguageEntry};

pub(crate) const ENTRY: LanguageEntry = LanguageEntry {
    name: "binary-addition",
    aliases: &[],
    suite: "flare",
    class: Class::ContextSensitive,
    summary: "x+y=z in binary, least significant bit first",
    definition: "{ <x>0^i + <y>0^j = <x+y>0^k | x, y, i, j, k >= 0 }, <n> the binary digits of n, lowest first",
    citation: FLARE,
    parameters: &[CUT.parameter()],
    members: &["0 + 0 = 0", "0 0 1 + 1 = 1 0 1", "1 + 1 1 = 0 0 1"],
    nonmembers: &["", "+ =", "0 0 1 + 1 = 0 1 1", "1 0 0 + 1 = 1 0 1", "0 0 1 1 1 0 1"],
    build: |settings| Ok(BinaryOperation::boxed(BinaryOperator::Plus, settings)),
};
