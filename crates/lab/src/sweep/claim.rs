//! Claiming a run, and keeping what came out of it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wug_score::RunResult;

use super::{PLAN, Sweep, seal};
use crate::LabError;
use crate::disk::{is_at, make_own_dir, open_own, write_own};

/// A run that is ours to do, until this is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct Claim {
    _lock: File,
}

impl Sweep {
    pub(crate) fn result_path(&self, id: &str) -> PathBuf {
        self.root.join("results").join(format!("{id}.json"))
    }

    pub(crate) fn checkpoint_path(&self, id: &str) -> PathBuf {
        self.root.join("checkpoints").join(id)
    }

    /// Where the time that an unfinished run has taken is noted.
    pub(crate) fn spent_path(&self, id: &str) -> PathBuf {
        self.root.join("checkpoints").join(format!("{id}.spent"))
    }

    pub(crate) fn log_path(&self, id: &str) -> PathBuf {
        self.root.join("logs").join(format!("{id}.json"))
    }

    /// What a learner that is another process wrote to its stderr.
    pub(crate) fn stderr_path(&self, id: &str) -> PathBuf {
        self.root.join("logs").join(format!("{id}.stderr"))
    }

    pub(super) fn claim_path(&self, id: &str) -> PathBuf {
        self.root.join("claims").join(id)
    }

    /// Claims a run, if no other worker holds it and it is not done.
    pub(crate) fn claim(&self, id: &str) -> Result<Option<Claim>, LabError> {
        // Without the lock first: in a sweep that is nearly done, thousands of files need not be opened.
        if is_there(&self.result_path(id)) {
            return Ok(None);
        }
        let path = self.claim_path(id);
        let mut lock = open_lock(&path)?;
        if !locked(&lock, true).map_err(LabError::disk(&path))? {
            return Ok(None);
        }
        // Who held it before may have finished the run and removed the claim.
        if is_there(&self.result_path(id)) || !is_at(&lock, &path) {
            return Ok(None);
        }
        // For those who look at the directory; the lock is what counts.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "process {}", std::process::id()));
        Ok(Some(Claim { _lock: lock }))
    }

    /// Writes a result, and removes what only an unfinished run needs.
    pub(crate) fn keep(&self, result: &RunResult, log: &serde_json::Value) -> Result<(), LabError> {
        let id = &result.run.plan;
        let text = result.to_text().map_err(LabError::internal)?;
        // The log before the result: a run with a result has a log, whenever it is killed.
        write_own(&self.log_path(id), format!("{log:#}\n").as_bytes())?;
        write_own(&self.result_path(id), seal::seal_result(&text).as_bytes())?;
        // The claim last: once its name is free, another worker may lock a new file, and must find the result.
        for path in
            [self.checkpoint_path(id), self.spent_path(id), self.attempts_path(id), self.claim_path(id)]
        {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// Writes the report of the sweep beside its plan, and returns where.
    pub fn write_report(&self, html: &str) -> Result<PathBuf, LabError> {
        let path = self.root.join("report.html");
        write_own(&path, html.as_bytes())?;
        Ok(path)
    }

    /// Moves a file, a link or a directory to `aside/` under a name that is free, and returns it.
    pub(crate) fn set_aside(&self, from: &Path, name: &str, extension: &str) -> Result<PathBuf, LabError> {
        let aside = self.root.join("aside");
        make_own_dir(&aside)?;
        let mut to = aside.join(format!("{name}.{extension}"));
        // Never over an earlier one: a run may fail several times, each time for another reason.
        for n in 1.. {
            if !is_there(&to) {
                break;
            }
            to = aside.join(format!("{name}.{n}.{extension}"));
        }
        fs::rename(from, &to).map_err(LabError::disk(from))?;
        Ok(to)
    }
}

/// How long a process waits for others that begin the same sweep or add to it. Each of them reads and writes a list of runs, which
/// takes a second or two for the longest.
const PATIENCE: Duration = Duration::from_mins(2);

/// Processes that begin the same sweep or add to it at once take turns: the file whose lock they wait for.
pub(super) fn begin_lock(root: &Path) -> Result<File, LabError> {
    let path = root.join("claims").join(PLAN.trim_end_matches(".json"));
    let lock = open_lock(&path)?;
    let begun = Instant::now();
    while !locked(&lock, true).map_err(LabError::disk(&path))? {
        if begun.elapsed() > PATIENCE {
            let problem = format!(
                "has been locked by another process for {} seconds: end that one if it is stopped, and try again",
                PATIENCE.as_secs()
            );
            return Err(LabError::corrupt(&path, problem));
        }
    }
    Ok(lock)
}

/// The lock of a run that has a result; none if a worker holds it or the result is gone.
pub(super) fn lock_done(root: &Path, id: &str) -> Result<Option<File>, LabError> {
    let path = root.join("claims").join(id);
    let lock = open_lock(&path)?;
    let result = root.join("results").join(format!("{id}.json"));
    let ours = locked(&lock, true).map_err(LabError::disk(&path))? && is_at(&lock, &path);
    Ok((ours && is_there(&result)).then_some(lock))
}

fn open_lock(path: &Path) -> Result<File, LabError> {
    let file = open_own(path, File::options().create(true).truncate(false).write(true))?;
    file.ok_or_else(|| LabError::disk(path)(io::ErrorKind::NotFound.into()))
}

/// Whether anything has this name, a link to nothing too.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Whether a lock could be taken, alone or shared. `wug status` holds it for an instant, so it is tried a few times.
pub(super) fn locked(file: &File, alone: bool) -> io::Result<bool> {
    for _ in 0..5 {
        match if alone { file.try_lock() } else { file.try_lock_shared() } {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}
