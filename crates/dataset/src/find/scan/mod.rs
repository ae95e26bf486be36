//! SCAN (Lake and Baroni 2018): commands such as `jump left twice`, and the actions they ask for.
//!
//! The commands are made from the grammar, not shipped; their order and that of every split comes from a
//! seed, so the sets are the published ones and the line order is not.

mod files;
mod grammar;
mod interpret;
mod lines;
mod split;
#[cfg(test)]
mod tests;
mod validate;

use wug_language::{Alphabet, Word};
use wug_parameter::Key;

pub use files::write_scan;
pub use grammar::commands;
pub use interpret::{NotACommand, interpret};
pub use lines::{LineError, read_lines, write_lines};
pub use split::{Parts, Split};
pub use validate::validate_scan;

use super::registry::TaskEntry;
use super::setting::Setting;
use crate::{CandidateRule, RuleTask, Seed};

pub(super) const NAME: &str = "scan";

/// What the published description length transmits at a time.
const BLOCK_SIZE: usize = 1024;

/// Does a learner use a primitive in new combinations, or answer with the primitive alone?
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("scan:split=jump", Seed::new(1)).unwrap();
/// assert_eq!((task.train.len(), task.holdout.len()), (14_670, 7_706));
/// let i = task.holdout.iter().position(|w| task.source.format(w) == "jump left twice").unwrap();
/// let answer = |rule| task.target.format(&task.rule(rule).unwrap().outputs[i]);
/// assert_eq!(answer("comp"), "I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP");
/// assert_eq!(answer("mem"), "I_JUMP");
/// ```
///
/// Splits that hold out no primitive have the gold answers as their only rule:
///
/// ```
/// # use wug_dataset::{Seed, find};
/// let task = find::build("scan:split=length", Seed::new(1)).unwrap();
/// assert_eq!(task.rules.len(), 1);
/// assert!(task.rules[0].outputs.iter().all(|actions| actions.len() >= 24));
/// ```
pub(super) const SCAN: TaskEntry = TaskEntry {
    name: NAME,
    aliases: &[],
    summary: "commands to actions: is a primitive that was seen alone used in new combinations?",
    definition: "All 20,910 commands of the grammar, split: simple (random 80/20), jump and turn-left (every \
                 use but the bare command held out, the bare command a tenth of training), length (more than \
                 22 actions held out). comp: the gold actions. mem, for jump and turn-left: the primitive's \
                 action alone (for turn-left our analogy).",
    cite: "Lake & Baroni (2018), Generalization without systematicity, ICML; as a rule task: Kharitonov & \
           Chaabouni (2021), appendix D (no released code)",
    parameters: &[SPLIT.parameter()],
    published: &["split=jump"],
    make: |setting, seed| Ok(rule_task(setting, seed)),
};

const SPLIT: Key<Split> = Key::choice("split", "what is held out", "jump");

/// The 13 words of commands.
pub fn source() -> Alphabet {
    Alphabet::new([
        "and", "after", "twice", "thrice", "opposite", "around", "left", "right", "turn", "walk", "look",
        "run", "jump",
    ])
}

pub fn target() -> Alphabet {
    Alphabet::new(["I_TURN_LEFT", "I_TURN_RIGHT", "I_WALK", "I_LOOK", "I_RUN", "I_JUMP"])
}

fn rule_task(setting: &Setting, seed: Seed) -> RuleTask {
    let split = setting.get(&SPLIT);
    let Parts { train, test } = split.parts(seed);
    let (holdout, gold): (Vec<Word>, Vec<Word>) = test.into_iter().map(|p| (p.input, p.output)).unzip();
    let alone = split.primitive().map(|primitive| vec![primitive.output; gold.len()]);
    let mut rules = vec![CandidateRule { name: "comp".to_owned(), outputs: gold }];
    rules.extend(alone.map(|outputs| CandidateRule { name: "mem".to_owned(), outputs }));
    let (source, target) = (source(), target());
    RuleTask { name: setting.full_name(), source, target, train, holdout, rules, block_size: BLOCK_SIZE }
}
