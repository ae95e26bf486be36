//! Single files: written whole, and inside a sweep never through a link.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use super::part;
use crate::LabError;

/// Writes a file that the user named, whole: of several who write at once one wins. A link is followed. Temporary files of killed
/// commands beside it are removed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    write_whole_with(path, |out| out.write_all(bytes))
}

/// The same, bit by bit: for what need not be in memory as a whole.
pub fn write_whole_with(
    path: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), LabError> {
    let target = match path.canonicalize() {
        Ok(target) if target.is_file() => Some(target),
        // A terminal, a pipe or a link to nothing cannot be replaced: it is written to.
        _ if path.symlink_metadata().is_ok() => None,
        _ => Some(path.to_path_buf()),
    };
    let written = match target {
        Some(target) => {
            part::remove_leftovers(folder_of(&target));
            replace_with(&target, write)
        }
        None => File::create(path).and_then(|file| buffered(file, write)),
    };
    written.map_err(LabError::disk(path))
}

/// Whether a file can be written there, before work whose result goes to it. Leaves nothing behind, and removes what killed
/// commands left there.
pub fn check_writable(path: &Path) -> Result<(), LabError> {
    let tried = |file: &Path| {
        // Earlier commands that were killed while they wrote there.
        part::remove_leftovers(folder_of(file));
        part::file_in(folder_of(file)).map(drop)
    };
    let checked = match path.canonicalize() {
        Ok(target) if target.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(target) if target.is_file() => tried(&target),
        // A terminal or a pipe: opening it could wait, or be what its reader is waiting for.
        _ if path.symlink_metadata().is_ok() => Ok(()),
        _ => tried(path),
    };
    checked.map_err(LabError::disk(path))
}

fn buffered(file: File, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(file);
    write(&mut out)?;
    // Dropping the buffer would write too, and swallow the error of a full disk.
    out.flush()
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |out| out.write_all(bytes))
}

fn replace_with(path: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
    let folder = folder_of(path);
    let part = part::file_in(folder)?;
    buffered(part.as_file().try_clone()?, write)?;
    // Before the rename, which may reach the disk first: a crash would leave an empty file under the name.
    part.as_file().sync_all()?;
    part.persist(path).map_err(|failed| failed.error)?;
    sync_directory(folder);
    Ok(())
}

/// The folder that a path is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs the names in a directory. Not every file system can; the files themselves are synced in any case.
pub(super) fn sync_directory(path: &Path) {
    let _ = File::open(path).and_then(|folder| folder.sync_all());
}

/// Writes a file of a sweep whole; a link in its place is an error.
pub(crate) fn write_own(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    regular(path)?;
    replace(path, bytes).map_err(LabError::disk(path))
}

/// Reads a file of a sweep, if there is one; a link or a directory in its place is an error.
pub(crate) fn read_own(path: &Path) -> Result<Option<Vec<u8>>, LabError> {
    let Some(mut file) = open_own(path, File::options().read(true))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(LabError::disk(path))?;
    Ok(Some(bytes))
}

/// Opens a file of a sweep, if there is one or the options create one; a link or a directory in its place is an error.
pub(crate) fn open_own(path: &Path, options: &OpenOptions) -> Result<Option<File>, LabError> {
    regular(path)?;
    let mut options = options.clone();
    // For a link that comes to be after the look at it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabError::disk(path)(error)),
    }
}

/// Whether there is a regular file; anything else is an error.
fn regular(path: &Path) -> Result<bool, LabError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_file() => Ok(true),
        Ok(meta) => Err(irregular(path, &meta)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(LabError::disk(path)(error)),
    }
}

fn irregular(path: &Path, meta: &Metadata) -> LabError {
    let problem = if meta.is_symlink() {
        "is a link, and links inside a directory of wug are not followed: remove it, or put what it leads to in its place"
    } else if meta.is_dir() {
        "is a directory, where a file should be"
    } else {
        "is no regular file"
    };
    LabError::corrupt(path, problem)
}

/// Makes a directory of a sweep, if it is not there.
pub(crate) fn make_own_dir(path: &Path) -> Result<(), LabError> {
    if !own_dir(path)? {
        fs::create_dir_all(path).map_err(LabError::disk(path))?;
    }
    Ok(())
}

/// Whether a directory of a sweep is there; a link or a file in its place is an error.
pub(crate) fn own_dir(path: &Path) -> Result<bool, LabError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => Ok(true),
        Ok(meta) if meta.is_symlink() => Err(irregular(path, &meta)),
        Ok(_) => Err(LabError::corrupt(path, "is a file, where a directory should be")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(LabError::disk(path)(error)),
    }
}
