//! The middle symbol, or the symbol at a fixed position?

use wug_language::{Alphabet, Symbol, Word};
use wug_parameter::Key;

use super::RuleFunction;
use super::registry::TaskEntry;
use super::setting::{Setting, TaskError};
use crate::{RuleTask, Seed};

/// How far the hold-out depths reach on either side of the training depth.
const REACH: usize = 2;

/// Does a learner see nesting, or positions?
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("hierarchical-or-linear:depth=4", Seed::new(1)).unwrap();
/// // Depth 2 comes first; its second input wraps an a in two pairs of b. The fifth symbol is the last.
/// assert_eq!(task.source.format(&task.holdout[1]), "b b a b b");
/// assert_eq!(task.target.format(&task.rule("hierar").unwrap().outputs[1]), "a");
/// assert_eq!(task.target.format(&task.rule("linear").unwrap().outputs[1]), "b");
/// ```
///
/// The linear rule needs inputs longer than `d`, so shallow settings leave out the depths below `d / 2`:
///
/// ```
/// # use wug_dataset::{Seed, find};
/// let task = find::build("hierar-or-linear:depth=3", Seed::new(1)).unwrap();
/// assert_eq!(task.source.format(&task.holdout[1]), "b b a b b"); // depth 2, not depth 1
/// assert_eq!(task.target.format(&task.rule("linear").unwrap().outputs[1]), "b"); // the fourth symbol
/// ```
pub(super) const HIERARCHICAL_OR_LINEAR: TaskEntry = TaskEntry {
    name: "hierarchical-or-linear",
    aliases: &["hierar-or-linear"],
    summary: "four pairs x^d y x^d -> y: the middle symbol, or the one at place d+1?",
    definition: "Train x^d y x^d -> y for x, y in a, b. Hold-out x^m y x^m for m in d-2..d+2 (not below \
                 d/2), d included. hierar: the middle symbol. linear: symbol d+1 of the input.",
    cite: super::CITE,
    parameters: &[DEPTH.parameter()],
    published: &["depth=4"],
    make: |setting, _: Seed| hierarchical_or_linear(setting),
};

const DEPTH: Key<usize> = Key::count("depth", "d, the nesting depth of the training inputs", 1..=10_000, 4);

fn hierarchical_or_linear(setting: &Setting) -> Result<RuleTask, TaskError> {
    let d = setting.get(&DEPTH);
    let letters = Alphabet::new(["a", "b"]);
    // An input of depth m has 2m + 1 symbols: below d/2 there is no symbol d + 1.
    let shallowest = d.saturating_sub(REACH).max(d.div_ceil(2));
    let holdout = (shallowest..=d + REACH).flat_map(nested).collect();
    let middle = |input: &[Symbol]| vec![input[input.len() / 2]];
    let fixed = |input: &[Symbol]| vec![input[d]];
    let alphabets = (letters.clone(), letters);
    let rules: [(&str, RuleFunction<'_>); 2] = [("hierar", &middle), ("linear", &fixed)];
    Ok(RuleTask::from_rules(setting.full_name(), alphabets, nested(d), holdout, &rules, 4)?)
}

/// The four inputs of one depth in published order: the centre changes slowest.
fn nested(depth: usize) -> Vec<Word> {
    let letters = [Symbol(0), Symbol(1)];
    let mut words = Vec::with_capacity(4);
    for centre in letters {
        for wrapper in letters {
            let mut word = vec![wrapper; 2 * depth + 1];
            word[depth] = centre;
            words.push(word);
        }
    }
    words
}
