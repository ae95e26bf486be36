//! `kept/<id>/`: what runs keep beside their results, and `kept.json`, which says what it is and carries its checksums. All of it
//! is written before the result, so that a run that is done has what it was asked to keep.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wug_score::Ending;
use wug_table::{ColumnValue as Value, TableError, TypedColumn as Column, read_parquet};

use super::{BUILD, PlannedRun, RunState, Sweep, seal};
use crate::LabError;
use crate::disk::{make_own_dir, own_dir, read_own, remove_leftovers, write_own};
use crate::keep::{Keep, PREDICTIONS, columns};
use crate::regular::read_regular;

/// The folder of all that is kept.
pub(super) const FOLDER: &str = "kept";
const MANIFEST: &str = "kept.json";
/// The most bytes of it.
const LARGEST: u64 = 1 << 20;

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
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
        // One that is damaged, or of another build, is replaced: it says nothing about the files that this run wrote.
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
        // Neither folder may be a link: what it leads to is not this sweep's.
        let folder = self.root.join(FOLDER);
        if !own_dir(&folder)? || !own_dir(&folder.join(id))? {
            return Ok(None);
        }
        let path = self.kept_path(id, MANIFEST);
        let Some(bytes) = read_own(&path)? else { return Ok(None) };
        let manifest = parsed(&path, bytes)?;
        if manifest.run != id {
            return Err(unusable(&path, &format!("it is that of run {}", manifest.run)));
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

    pub(super) fn has_kept(&self, id: &str, keep: Keep) -> bool {
        if keep == Keep::default() {
            return true;
        }
        let Ok(Some(manifest)) = self.manifest(id) else { return false };
        // Only whether files are there: models can be large, and checksums are compared when a file is read.
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
        if !manifest.files.contains_key(PREDICTIONS) {
            return Ok(None);
        }
        let path = self.kept_path(id, PREDICTIONS);
        let bytes = read_own(&path)?.ok_or_else(|| LabError::corrupt(&path, "is missing"))?;
        matches_checksum(id, &path, &bytes, &manifest)?;
        let rows = rows(bytes).map_err(|problem| LabError::corrupt(&path, problem))?;
        Ok(Some(rows))
    }
}

fn unusable(path: &Path, problem: &dyn std::fmt::Display) -> LabError {
    LabError::corrupt(path, format!("cannot be used: {problem}"))
}

fn parsed(path: &Path, bytes: Vec<u8>) -> Result<Manifest, LabError> {
    let sealed = String::from_utf8(bytes).map_err(|error| unusable(path, &error))?;
    let text = seal::open_result(&sealed, true).map_err(|problem| unusable(path, &problem))?;
    serde_json::from_str(&text).map_err(|error| unusable(path, &error))
}

fn matches_checksum(id: &str, path: &Path, bytes: &[u8], manifest: &Manifest) -> Result<(), LabError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let problem = match manifest.files.get(name) {
        None => format!("is not listed in {MANIFEST} beside it"),
        Some(expected) if checksum(id, name, bytes) != *expected => {
            "does not match its checksum: it was changed after it was written".to_owned()
        }
        Some(_) => return Ok(()),
    };
    Err(LabError::corrupt(path, problem))
}

/// Refuses files of a directory that were changed after a run kept them. A directory without `kept.json` is from elsewhere:
/// there is nothing to compare with.
pub(crate) fn check_kept(directory: &Path, files: &[(&str, &[u8])]) -> Result<(), LabError> {
    let path = directory.join(MANIFEST);
    let Some(bytes) = read_regular(&path, LARGEST).map_err(LabError::disk(&path))? else { return Ok(()) };
    let manifest = parsed(&path, bytes)?;
    files.iter().try_for_each(|(name, bytes)| {
        matches_checksum(&manifest.run, &directory.join(name), bytes, &manifest)
    })
}

/// Removes the temporary files of killed processes.
pub(super) fn tidy(root: &Path) {
    let folder = root.join(FOLDER);
    if !own_dir(&folder).unwrap_or(false) {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
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
        Ok(Ok((found, rows))) => in_columns(&columns(), &found, rows),
        Ok(Err(error)) => Err(TableError::to_string(&error)),
        Err(_) => Err("is no Parquet file that can be read".to_owned()),
    }
}

/// Rows with these columns. An earlier build kept fewer: what it did not keep is absent.
fn in_columns(columns: &[Column], found: &[Column], rows: PredictionRows) -> Result<PredictionRows, String> {
    if found.is_empty() || !found.iter().all(|column| columns.contains(column)) {
        return Err("has other columns than predictions have".to_owned());
    }
    let at: Vec<Option<usize>> =
        columns.iter().map(|column| found.iter().position(|other| other == column)).collect();
    let moved = |mut row: Vec<Value<'static>>| {
        at.iter().map(|at| at.map_or(Value::Null, |at| std::mem::take(&mut row[at]))).collect()
    };
    Ok(rows.into_iter().map(moved).collect())
}

fn checksum(id: &str, name: &str, bytes: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("wug 2026 kept file");
    // Each part after its length: otherwise bytes could move from a name to its content unnoticed.
    for part in [id.as_bytes(), name.as_bytes(), bytes] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_table::{Kind, TableFormat, TableWriter};

    fn parquet(columns: Vec<Column>, row: &[Value<'_>]) -> Vec<u8> {
        let mut table = TableWriter::new(Vec::new(), TableFormat::Parquet, columns).unwrap();
        table.row(row).unwrap();
        table.finish().unwrap()
    }

    #[test]
    fn predictions_of_earlier_builds_have_absent_values_in_new_columns() {
        let few = vec![Column::new("length", Kind::Integer), Column::new("split", Kind::Text)];
        let read = rows(parquet(few, &[3_usize.into(), "test".into()])).unwrap();
        let named = columns().into_iter().zip(read[0].clone());
        for (column, value) in named {
            match column.name.as_str() {
                "split" => assert_eq!(value, "test".into()),
                "length" => assert_eq!(value, 3_usize.into()),
                _ => assert_eq!(value, Value::Null),
            }
        }
        let foreign = vec![Column::new("length", Kind::Text)];
        assert_eq!(
            rows(parquet(foreign, &["x".into()])).unwrap_err(),
            "has other columns than predictions have"
        );
    }
}
