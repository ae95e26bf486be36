//! The lock of a log, for a whole game: of two games that write one log, each would overwrite the answers of the other.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::LabError;
use crate::disk::{is_at, open_own};

/// A log that is ours to write, until this is dropped or the process dies.
///
/// The log itself cannot be locked: it is replaced by a new file with every answer. So the lock is on a file beside it, which is
/// removed at the end of the game. One that a killed game left is locked by nobody, and the next game takes it.
#[derive(Debug)]
pub struct LogLock {
    /// `None` where the log is no regular file: a terminal or a pipe has no answers that could be lost.
    held: Option<(File, PathBuf)>,
}

impl LogLock {
    /// Locks a log, which need not be there yet. Take it before the log is read.
    pub fn take(log: &Path) -> Result<Self, LabError> {
        let Some(path) = lock_path(log) else { return Ok(Self { held: None }) };
        loop {
            let file = open_own(&path, File::options().create(true).truncate(false).write(true))?;
            let file = file.ok_or_else(|| LabError::disk(log)(std::io::ErrorKind::NotFound.into()))?;
            match file.try_lock() {
                // A game that ends removes its lock: then this is no longer the file that others find.
                Ok(()) if is_at(&file, &path) => return Ok(Self { held: Some((file, path)) }),
                Ok(()) => {}
                // No waiting: a game lasts as long as its player likes.
                Err(TryLockError::WouldBlock) => {
                    return Err(LabError::Usage(format!(
                        "{} is the log of a game that another `wug play` is playing: end that game first, or name another log with --log; nothing was changed",
                        log.display()
                    )));
                }
                Err(TryLockError::Error(error)) => return Err(LabError::disk(&path)(error)),
            }
        }
    }
}

impl Drop for LogLock {
    fn drop(&mut self) {
        // While it is still locked: whoever opened it meanwhile sees that it is gone.
        if let Some((_file, path)) = &self.held {
            let _ = fs::remove_file(path);
        }
    }
}

/// The file that is locked for a log: the same by whatever links the log is named.
fn lock_path(log: &Path) -> Option<PathBuf> {
    let log = match log.canonicalize() {
        Ok(target) if target.is_file() => target,
        Ok(_) => return None,
        Err(_) => log.to_path_buf(),
    };
    let mut name = OsString::from(".");
    name.push(log.file_name()?);
    name.push(".lock");
    Some(log.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_locked_by_one_game_at_a_time_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.jsonl");
        let first = LogLock::take(&log).unwrap();
        let message = LogLock::take(&log).unwrap_err().to_string();
        assert!(message.contains("another `wug play` is playing"), "{message}");
        // Saved for the first time, and replaced: the lock holds.
        crate::disk::write_whole(&log, b"x").unwrap();
        assert!(LogLock::take(&log).is_err());
        drop(first);
        drop(LogLock::take(&log).unwrap());
        // One that a killed game left.
        fs::write(folder.path().join(".log.jsonl.lock"), "").unwrap();
        drop(LogLock::take(&log).unwrap());
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["log.jsonl"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_log_is_locked_under_all_of_its_names_and_a_device_under_none() {
        let folder = tempfile::tempdir().unwrap();
        let (log, link) = (folder.path().join("log"), folder.path().join("link"));
        fs::write(&log, "").unwrap();
        std::os::unix::fs::symlink(&log, &link).unwrap();
        let held = LogLock::take(&link).unwrap();
        assert!(LogLock::take(&log).is_err());
        drop(held);
        let null = Path::new("/dev/null");
        let both = [LogLock::take(null).unwrap(), LogLock::take(null).unwrap()];
        assert!(both.iter().all(|lock| lock.held.is_none()));
    }
}
