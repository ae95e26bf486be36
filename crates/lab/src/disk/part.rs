//! Temporary names. A process that writes under one holds a lock on it, which the system releases when the process dies:
//! what is not locked was left by a killed process, and the next command removes it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::{NamedTempFile, TempDir};

/// How temporary names begin.
const PART: &str = ".wug-part-";

/// How the name of a directory begins that is being replaced.
pub(super) const OLD: &str = ".wug-old-";

/// Whether a name is temporary: reading passes it over.
pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with(PART) || name.starts_with(OLD)
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PART);
    builder
}

/// A new temporary file in a folder, locked, with the permissions of any new file.
pub(super) fn file_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = builder();
    // The default of `tempfile` is 0600. Results are for whoever may read the directory, as the umask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let part = builder.tempfile_in(folder)?;
        if hold(part.as_file(), part.path()) {
            return Ok(part);
        }
    }
}

/// A new temporary directory in a folder, with its lock (where the system can lock directories).
pub(super) fn directory_in(folder: &Path) -> io::Result<(TempDir, Option<File>)> {
    let mut builder = builder();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    loop {
        let part = builder.tempdir_in(folder)?;
        let lock = File::open(part.path()).ok();
        if lock.as_ref().is_none_or(|lock| hold(lock, part.path())) {
            return Ok((part, lock));
        }
    }
}

/// Locks a new file; false if it was removed as a leftover before it was locked. Where files cannot be locked, nothing
/// is removed as a leftover.
fn hold(file: &File, path: &Path) -> bool {
    file.lock().is_err() || is_at(file, path)
}

/// Whether an open file is still the one at a path.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.symlink_metadata()) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (open.dev(), open.ino()) == (there.dev(), there.ino())
    }
    #[cfg(not(unix))]
    {
        open.is_file() == there.is_file()
    }
}

/// Removes what killed processes left in a folder under temporary names. What cannot be removed stays: readers
/// pass it over.
pub(crate) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let Ok(kind) = entry.file_type() else { continue };
        if !name.to_str().is_some_and(|name| name.starts_with(PART)) {
            continue;
        }
        // Locks over a network need a file that is open for writing.
        let file = match (kind.is_dir(), kind.is_file()) {
            (true, _) => File::open(&path),
            (_, true) => File::options().write(true).open(&path),
            _ => continue,
        };
        // The lock is held until the file is gone: whoever begins to write it meanwhile waits, and makes another.
        let Ok(file) = file else { continue };
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let _ = if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}
