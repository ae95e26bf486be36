//! `kept/<id>/`: what runs keep beside their results, and `kept.json`, which says what it is and carries its checksums. All of it
//! is written before the result, so that a run that is done has what it was asked to keep.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use wug_score::Ending;
use wug_table::{Column, TableError, Value, read_parquet};

use super::{BUILD, PlannedRun, RunState, Sweep, seal};
use crate::LabError;
use crate::disk::{make_own_dir, read_own, remove_leftovers, write_own};
use crate::keep::{Keep, PREDICTIONS, columns};

/// The folder of all that is kept.
pub(super) const FOLDER: &str = "kept";
const MANIFEST: &str = "kept.json";

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// The run.
    run: String,
    /// The build that did it.
    build: String,
    /// What was asked for: a learner without parameters has no model.
    kept: BTreeSet<String>,
    /// The files and their checksums.
    files: BTreeMap<String, String>,
}

/// The predictions of a run: a row per string.
pub type PredictionRows = Vec<Vec<Value<'static>>>;

impl Sweep {
    fn kept_path(&self, id: &str, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(id).join(name)
    }

    /// Writes a file beside the result that is to come; its checksum.
    pub(crate) fn write_kept(&self, id: &str, name: &str, bytes: &[u8]) -> Result<String, LabError> {
        make_own_dir(&self.root.join(FOLDER))?;
        make_own_dir(&self.root.join(FOLDER).join(id))?;
        write_own(&self.kept_path(id, name), bytes)?;
        Ok(checksum(id, name, bytes))
    }

    /// Says what is kept of a run. What was kept of it before, by the same build, is still there.
    pub(crate) fn seal_kept(
        &self,
        id: &str,
        keep: Keep,
        files: BTreeMap<String, String>,
    ) -> Result<(), LabError> {
        let mut manifest = self.manifest(id).ok().flatten().unwrap_or_else(|| Manifest {
            run: id.to_owned(),
            build: BUILD.to_owned(),
            kept: BTreeSet::new(),
            files: BTreeMap::new(),
        });
        manifest.kept.extend(keep.names().map(str::to_owned));
        manifest.files.extend(files);
        let text = serde_json::to_string_pretty(&manifest).map_err(LabError::internal)? + "\n";
        make_own_dir(&self.root.join(FOLDER))?;
        make_own_dir(&self.root.join(FOLDER).join(id))?;
        write_own(&self.kept_path(id, MANIFEST), seal::seal_result(&text).as_bytes())
    }

    /// What is kept of a run; `None` if nothing is, or another build kept it.
    fn manifest(&self, id: &str) -> Result<Option<Manifest>, LabError> {
        let path = self.kept_path(id, MANIFEST);
        let Some(bytes) = read_own(&path)? else { return Ok(None) };
        let broken = |problem: String| LabError::corrupt(&path, format!("cannot be used: {problem}"));
        let sealed = String::from_utf8(bytes).map_err(|error| broken(error.to_string()))?;
        let text = seal::open_result(&sealed, true).map_err(broken)?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        if manifest.run != id {
            return Err(broken(format!("it is that of run {}", manifest.run)));
        }
        Ok(Some(manifest).filter(|manifest| manifest.build == self.header.build))
    }

    /// The runs that have a result, but not all of this beside it. Failed runs have nothing to keep.
    pub fn lacking(&self, keep: Keep) -> Result<Vec<PlannedRun>, LabError> {
        let mut lacking = Vec::new();
        for (run, state) in self.status()?.runs {
            let done =
                matches!(state, RunState::Done(result) if !matches!(result.ending, Ending::Failed { .. }));
            if done && !self.has_kept(&run.id, keep) {
                lacking.push(run);
            }
        }
        Ok(lacking)
    }

    fn has_kept(&self, id: &str, keep: Keep) -> bool {
        if keep == Keep::default() {
            return true;
        }
        let Ok(Some(manifest)) = self.manifest(id) else { return false };
        let there =
            |name: &String| self.kept_path(id, name).symlink_metadata().is_ok_and(|meta| meta.is_file());
        keep.names().all(|name| manifest.kept.contains(name)) && manifest.files.keys().all(there)
    }

    /// The columns of predictions.
    pub fn prediction_columns() -> Vec<Column> {
        columns()
    }

    /// The predictions of a run; `None` if it kept none.
    pub fn predictions(&self, id: &str) -> Result<Option<PredictionRows>, LabError> {
        let Some(manifest) = self.manifest(id)? else { return Ok(None) };
        let Some(expected) = manifest.files.get(PREDICTIONS) else { return Ok(None) };
        let path = self.kept_path(id, PREDICTIONS);
        let bytes = read_own(&path)?.ok_or_else(|| LabError::corrupt(&path, "is missing"))?;
        if checksum(id, PREDICTIONS, &bytes) != *expected {
            let problem = "does not match its checksum: it was changed after it was written";
            return Err(LabError::corrupt(&path, problem));
        }
        let rows = rows(bytes).map_err(|problem| LabError::corrupt(&path, problem))?;
        Ok(Some(rows))
    }
}

/// Removes the temporary files of killed processes.
pub(super) fn tidy(root: &std::path::Path) {
    let Ok(entries) = fs::read_dir(root.join(FOLDER)) else { return };
    entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).for_each(|entry| {
        remove_leftovers(&entry.path());
    });
}

/// The rows of a file. A checksum is no signature: a file that was made to break the reader is an error like any other.
fn rows(bytes: Vec<u8>) -> Result<PredictionRows, String> {
    let read = || {
        let (found, rows) = read_parquet(bytes)?;
        Ok((found, rows.collect::<Result<PredictionRows, _>>()?))
    };
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok((found, rows))) if found == columns() => Ok(rows),
        Ok(Ok(_)) => Err("has other columns than predictions have".to_owned()),
        Ok(Err(error)) => Err(TableError::to_string(&error)),
        Err(_) => Err("is no Parquet file that can be read".to_owned()),
    }
}

fn checksum(id: &str, name: &str, bytes: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("wug 2026 kept file");
    for part in [id.as_bytes(), name.as_bytes(), bytes] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
}
