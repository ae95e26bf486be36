//! Published data, which are not shipped with the project.

use std::path::{Path, PathBuf};

/// A file or directory of the shared data. With `WUG_SHARED` set to their directory it must exist; otherwise they are
/// looked for beside the project, and `None` tells the test to skip.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let given = std::env::var_os("WUG_SHARED");
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let full = given.as_ref().map_or_else(beside, PathBuf::from).join(path);
    if full.exists() {
        return Some(full);
    }
    assert!(given.is_none(), "WUG_SHARED is set, but {} does not exist", full.display());
    eprintln!("skipped: there is no {path} in the shared data");
    None
}
