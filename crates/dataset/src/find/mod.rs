//! The ambiguous transduction tasks of Kharitonov and Chaabouni (2021), and SCAN.
//!
//! Each task shows a learner a few pairs that several rules explain equally well, then asks which rule it
//! took. Every task stands in [`TASKS`] and is made by [`build`] from a name such as
//! `count-or-memorization:length=40`.
//!
//! The data has one reading only, except for the order in which the description length transmits the hold-out
//! ([`holdout_order`]). Where paper and released code disagree about the task itself, both are tasks of their
//! own: `composition-or-memorization` is the paper's (its published numbers are of this one) and `dax-compo`
//! is the code's.
//!
//! ```
//! use wug_dataset::{Seed, find};
//! let task = find::build("add-or-mul:length=5", Seed::new(1)).unwrap(); // published names are understood
//! assert_eq!(task.name, "add-or-multiply:length=5");
//! let add = task.rule("add").unwrap();
//! assert_eq!(task.holdout[0].len(), 2); // aa
//! assert_eq!(add.outputs[0].len(), 7); // 2 + 5
//! ```

mod composition;
mod files;
mod nesting;
mod prompt;
mod python_shuffle;
mod registry;
pub mod scan;
mod setting;
mod suite;
mod text;
mod unary;
mod validate;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use files::{read_prompts, read_rows, read_text, write_rows, write_text};
pub use prompt::{PromptForm, prompt_form};
pub use python_shuffle::{holdout_order, published_order};
pub use registry::{TASKS, TaskEntry, build, entry};
pub use setting::TaskError;
pub use suite::{FORMAT, Find, SCAN_FORMAT};
pub use text::to_text;
pub use validate::validate;
pub use vocabulary::fairseq_vocabulary;

pub use crate::transduction::{RuleDisagrees, RuleFunction};

/// The paper behind all tasks but SCAN.
const CITE: &str = "Kharitonov & Chaabouni (2021), What they do when in doubt, ICLR";
