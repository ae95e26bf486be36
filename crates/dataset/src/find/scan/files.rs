//! The published files of SCAN.

use wug_table::Kind;

use super::{Split, commands, write_lines};
use crate::manifest::Recorder;
use crate::tabular::{DescribedColumn, SplitFile};
use crate::{DataError, Seed};

/// Which part of which split a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    All,
    /// What is trained on.
    Train(Split),
    /// What is held out.
    Test(Split),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    /// Its folder, ending in `/`, or empty.
    pub(super) folder: &'static str,
    /// Its name, which no other published file has.
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    /// How many lines it has.
    pub(super) lines: usize,
}

/// The files that are written and recognised.
pub(super) const FILES: [File; 9] = [
    file("", "tasks.txt", Holds::All, 20_910),
    file("simple_split/", "tasks_train_simple.txt", Holds::Train(Split::Simple), 16_728),
    file("simple_split/", "tasks_test_simple.txt", Holds::Test(Split::Simple), 4_182),
    file("add_prim_split/", "tasks_train_addprim_jump.txt", Holds::Train(Split::Jump), 14_670),
    file("add_prim_split/", "tasks_test_addprim_jump.txt", Holds::Test(Split::Jump), 7_706),
    file("add_prim_split/", "tasks_train_addprim_turn_left.txt", Holds::Train(Split::TurnLeft), 21_890),
    file("add_prim_split/", "tasks_test_addprim_turn_left.txt", Holds::Test(Split::TurnLeft), 1_208),
    file("length_split/", "tasks_train_length.txt", Holds::Train(Split::Length), 16_990),
    file("length_split/", "tasks_test_length.txt", Holds::Test(Split::Length), 3_920),
];

const fn file(folder: &'static str, name: &'static str, holds: Holds, lines: usize) -> File {
    File { folder, name, holds, lines }
}

/// Writes all commands and the four splits under their published names. `tasks.txt` is in the order of
/// [`commands`], the splits in orders drawn from the seed.
///
/// ```
/// use wug_dataset::{MemoryFiles, Seed, find::scan, manifest::Recorder};
/// let mut memory = MemoryFiles::default();
/// scan::write_scan(Seed::new(1), &mut Recorder::new(&mut memory, "")).unwrap();
/// assert_eq!(memory.0.len(), 9);
/// assert_eq!(scan::validate_scan(&memory).unwrap().errors, 0);
/// ```
pub fn write_scan(seed: Seed, out: &mut Recorder<'_>) -> Result<(), DataError> {
    let fields =
        [DescribedColumn::new("text", Kind::Text, "`IN: ` and the command, ` OUT: ` and its actions")];
    let mut splits = Vec::new();
    for File { folder, name, holds, .. } in FILES {
        let pairs = match holds {
            Holds::All => commands(),
            Holds::Train(split) => split.parts(seed).train,
            Holds::Test(split) => split.parts(seed).test,
        };
        let file = format!("{folder}{name}");
        out.put_text(&file, &write_lines(&pairs))?;
        let (config, split) = match holds {
            Holds::All => ("all", "train"),
            Holds::Train(split) => (split.name(), "train"),
            Holds::Test(split) => (split.name(), "test"),
        };
        splits.push((config, SplitFile { name: split.to_owned(), file, rows: pairs.len() }));
    }
    // The first config is loaded if none is named: the split of the paper.
    splits.sort_by_key(|(config, _)| *config != Split::Jump.name());
    splits.into_iter().for_each(|(config, split)| out.split(config, &fields, split));
    Ok(())
}
