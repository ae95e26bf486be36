//! Files on disk. They are written under a temporary name, synced, and take their own name only when they are
//! complete; so no reader ever sees half a file, whatever is killed when.

mod files;
mod part;
mod staging;

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use wug_dataset::FileSource;
use wug_dataset::manifest::{DataManifest as Manifest, MANIFEST};

use crate::LabError;
use crate::regular::{open_regular, read_regular};

pub use files::{check_writable, write_whole, write_whole_with};
pub(crate) use files::{make_own_dir, open_own, own_dir, read_own, write_own};
pub(crate) use part::{is_at, is_part, remove_leftovers};
pub use staging::Staging;

/// The most bytes of a manifest.
const LARGEST_MANIFEST: u64 = 256 << 20;

/// The manifest of a data set, if the directory has one.
pub(crate) fn read_manifest(directory: &Path) -> Result<Option<Manifest>, LabError> {
    let path = directory.join(MANIFEST);
    let Some(text) = read_regular(&path, LARGEST_MANIFEST).map_err(LabError::disk(&path))? else {
        return Ok(None);
    };
    let damaged = |error| LabError::corrupt(&path, format!("cannot be read: {error}"));
    serde_json::from_slice(&text).map(Some).map_err(damaged)
}

/// A directory to read from.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// A directory that exists.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let meta = fs::metadata(root).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => LabError::Usage(format!("there is no directory {}", root.display())),
            _ => LabError::disk(root)(error),
        })?;
        if !meta.is_dir() {
            return Err(LabError::Usage(format!("{} is not a directory", root.display())));
        }
        Ok(Self { root: root.to_path_buf() })
    }
}

impl FileSource for Directory {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        let file = open_regular(&self.root.join(name))?;
        Ok(file.map(|file| -> Box<dyn Read> { Box::new(BufReader::new(file)) }))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        collect(&self.root, "", &mut names)?;
        // The order of `read_dir` differs between file systems; what is read must not.
        names.sort_unstable();
        Ok(names)
    }
}

/// All files under a directory, by their names from it on with `/` between folders. Temporary names are passed
/// over; links to directories are not followed: they may lead in circles.
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if is_part(&name) {
            continue;
        }
        let full = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{full}/"), names)?;
        } else if entry.path().is_file() {
            names.push(full);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
