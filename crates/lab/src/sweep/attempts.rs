//! How often a run was begun without getting anywhere. A run that takes its process down each time, for want of memory
//! for instance, must not do so for ever.
//!
//! `attempts/<id>` is written when a run begins and removed when it ends. What stands there when a run is begun again
//! was left by a process that died. A newer checkpoint starts the count again, so that a long run may be killed any
//! number of times. The file belongs to whoever holds the run's claim; so all workers agree on it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::seal::PREFIX;
use super::{Sweep, locked};
use crate::LabError;
use crate::disk::{open_own, read_own};

/// So many deaths without progress, and a run has failed.
pub(crate) const MAX_DEATHS: u32 = 3;

/// The file that is locked by every run, shared; and alone by a run that is about to die for the last time.
const ALONE: &str = "alone";

#[derive(Serialize, Deserialize)]
struct Attempts {
    /// Attempts since the last progress.
    begun: u32,
    /// The checkpoint that the run began from.
    checkpoint: String,
}

/// A run that has begun. Others may run beside it, unless it has nearly used up its attempts: then it runs alone, so
/// that it does not take runs with it that are sound.
#[derive(Debug)]
pub(crate) struct Attempt {
    path: PathBuf,
    before: Option<Vec<u8>>,
    _beside: File,
}

impl Attempt {
    /// Takes the attempt back: the run was stopped, its process did not die.
    pub(crate) fn undo(&self) {
        let _ = match &self.before {
            Some(bytes) => note(&self.path, bytes).is_ok(),
            None => fs::remove_file(&self.path).is_ok(),
        };
    }
}

/// Writes without a sync, which would cost more than a short run: what is lost is a count.
fn note(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let file = open_own(path, File::options().create(true).truncate(true).write(true))?;
    file.map_or(Ok(()), |mut file| file.write_all(bytes)).map_err(LabError::disk(path))
}

impl Sweep {
    pub(super) fn attempts_path(&self, id: &str) -> PathBuf {
        self.root.join("attempts").join(id)
    }

    /// How often each run died since it last made progress; runs that never did are not in it.
    pub(crate) fn deaths(&self) -> Result<BTreeMap<String, u32>, LabError> {
        let folder = self.root.join("attempts");
        let mut deaths = BTreeMap::new();
        for entry in fs::read_dir(&folder).map_err(LabError::disk(&folder))? {
            let name = entry.map_err(LabError::disk(&folder))?.file_name();
            let Some(id) = name.to_str().filter(|name| *name != ALONE) else { continue };
            match self.deaths_of(id) {
                0 => {}
                n => drop(deaths.insert(id.to_owned(), n)),
            }
        }
        Ok(deaths)
    }

    /// How often a run died since it last made progress.
    pub(crate) fn deaths_of(&self, id: &str) -> u32 {
        let bytes = read_own(&self.attempts_path(id)).ok().flatten();
        let attempts = bytes.and_then(|bytes| serde_json::from_slice::<Attempts>(&bytes).ok());
        attempts.filter(|attempts| attempts.checkpoint == self.checkpoint_digest(id)).map_or(0, |a| a.begun)
    }

    /// Tells checkpoints of a run from each other; empty if there is none.
    fn checkpoint_digest(&self, id: &str) -> String {
        let file = open_own(&self.checkpoint_path(id), File::options().read(true)).ok().flatten();
        // The prefix has a checksum of the rest: a checkpoint of hundreds of megabytes need not be read.
        let mut prefix = Vec::new();
        let read = file.and_then(|file| file.take(PREFIX as u64).read_to_end(&mut prefix).ok());
        read.map_or_else(String::new, |_| blake3::hash(&prefix).to_hex().to_string())
    }

    /// Counts an attempt at a run that is claimed; `None` if it must run alone and others are running, or the other way
    /// round.
    pub(crate) fn attempt(&self, id: &str) -> Result<Option<Attempt>, LabError> {
        let deaths = self.deaths_of(id);
        let folder = self.root.join("attempts");
        let lock = folder.join(ALONE);
        let beside = open_own(&lock, File::options().create(true).truncate(false).write(true).read(true))?
            .ok_or_else(|| LabError::corrupt(&folder, "is missing"))?;
        // Shared by most runs, exclusive for a last attempt: memory may have run out because of other runs alone.
        if !locked(&beside, deaths + 1 >= MAX_DEATHS).map_err(LabError::disk(&lock))? {
            return Ok(None);
        }
        let path = self.attempts_path(id);
        // For `undo`: a stop leaves the count as it was.
        let before = read_own(&path)?;
        let attempts = Attempts { begun: deaths + 1, checkpoint: self.checkpoint_digest(id) };
        let bytes = serde_json::to_vec(&attempts).map_err(LabError::internal)?;
        note(&path, &bytes)?;
        Ok(Some(Attempt { path, before, _beside: beside }))
    }
}
