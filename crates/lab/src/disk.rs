//! Data sets on disk. Nothing is ever half written: files are made under a temporary name, and take their own only when all of them are complete.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use wug_dataset::{Library, Shelf};

use crate::LabError;

/// A directory to read from.
#[derive(Clone, Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// A directory that exists.
    pub fn open(root: &Path) -> Result<Self, LabError> {
        let meta = fs::metadata(root).map_err(LabError::disk(root))?;
        if !meta.is_dir() {
            return Err(LabError::Usage(format!("{} is not a directory", root.display())));
        }
        Ok(Self { root: root.to_path_buf() })
    }
}

impl Library for Directory {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        match File::open(self.root.join(name)) {
            Ok(file) => Ok(Some(Box::new(BufReader::new(file)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        collect(&self.root, "", &mut names)?;
        names.sort_unstable();
        Ok(names)
    }
}

/// All files under a directory, by their names from it on with `/` between folders. Links to directories are not followed: they may lead in circles.
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let full = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{full}/"), names)?;
        } else if entry.path().is_file() {
            names.push(full);
        }
    }
    Ok(())
}

/// How the temporary names of unfinished directories begin; the number of the process follows.
const PART: &str = ".wug-part-";

/// Removes what processes that were killed left behind, where it can be told that they no longer run.
fn sweep(place: &Path) {
    let alive = |id: &str| !Path::new("/proc/self").exists() || Path::new("/proc").join(id).exists();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let stale = name.to_str().and_then(|n| n.strip_prefix(PART)).is_some_and(|id| !alive(id));
        if stale {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A directory being written. Until [`finish`](Self::finish) all files stand under a temporary name; if it is dropped before, they are removed.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    stage: PathBuf,
    existed: bool,
}

impl Staging {
    /// Begins to write a directory, which may exist.
    pub fn begin(target: &Path) -> Result<Self, LabError> {
        let existed = match fs::metadata(target) {
            Ok(meta) if meta.is_dir() => true,
            Ok(_) => return Err(LabError::Usage(format!("{} is a file, not a directory", target.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(LabError::disk(target)(error)),
        };
        let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let place = if existed { target } else { parent };
        fs::create_dir_all(place).map_err(LabError::disk(place))?;
        sweep(place);
        let stage = place.join(format!("{PART}{}", std::process::id()));
        fs::create_dir(&stage).map_err(LabError::disk(&stage))?;
        Ok(Self { target: target.to_path_buf(), stage, existed })
    }

    /// Gives every file its own name. A file that is there already with the same content is left alone; with another content it is an error,
    /// found before anything is changed, unless `force` is given.
    pub fn finish(self, force: bool) -> Result<(), LabError> {
        if !self.existed {
            return fs::rename(&self.stage, &self.target).map_err(LabError::disk(&self.target));
        }
        let mut names = Vec::new();
        collect(&self.stage, "", &mut names).map_err(LabError::disk(&self.stage))?;
        names.sort_unstable();
        let mut moves = Vec::new();
        for name in &names {
            let (from, to) = (self.stage.join(name), self.target.join(name));
            if to.exists() {
                if same_content(&from, &to).map_err(LabError::disk(&to))? {
                    continue;
                }
                if !force {
                    return Err(LabError::Exists { path: to });
                }
            }
            moves.push((from, to));
        }
        for (from, to) in moves {
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(LabError::disk(parent))?;
            }
            fs::rename(&from, &to).map_err(LabError::disk(&to))?;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After a rename there is nothing to remove; otherwise what is left is of no use to anyone.
        let _ = fs::remove_dir_all(&self.stage);
    }
}

impl Shelf for Staging {
    fn put(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let path = self.stage.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = BufWriter::with_capacity(1 << 16, File::create(&path)?);
        write(&mut file)?;
        file.flush()
    }
}

fn same_content(a: &Path, b: &Path) -> io::Result<bool> {
    if fs::metadata(a)?.len() != fs::metadata(b)?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (File::open(a)?, File::open(b)?);
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let n = a.read(&mut left)?;
        if n == 0 {
            return Ok(true);
        }
        b.read_exact(&mut right[..n])?;
        if left[..n] != right[..n] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(target: &Path, content: &str, force: bool) -> Result<(), LabError> {
        let mut stage = Staging::begin(target)?;
        stage.put("a/b.txt", &mut |out| out.write_all(content.as_bytes())).unwrap();
        stage.finish(force)
    }

    fn listing(path: &Path) -> Vec<String> {
        let mut names = Vec::new();
        collect(path, "", &mut names).unwrap();
        names
    }

    #[test]
    fn files_appear_together_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let target = root.path().join("new");
        {
            let mut stage = Staging::begin(&target).unwrap();
            stage.put("half.txt", &mut |out| out.write_all(b"half")).unwrap();
            // dropped: as if an error had ended the work
        }
        assert!(listing(root.path()).is_empty());
        write(&target, "one", false).unwrap();
        assert_eq!(listing(root.path()), ["new/a/b.txt"]);
    }

    #[test]
    fn what_a_killed_process_left_is_swept_away() {
        let root = tempfile::tempdir().unwrap();
        let stale = root.path().join(format!("{PART}4294967295"));
        fs::create_dir(&stale).unwrap();
        write(&root.path().join("new"), "one", false).unwrap();
        assert_eq!(stale.exists(), !Path::new("/proc/self").exists());
    }

    #[test]
    fn existing_files_are_kept_unless_forced() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "one", false).unwrap();
        write(root.path(), "one", false).unwrap();
        let error = write(root.path(), "two", false).unwrap_err();
        assert!(matches!(error, LabError::Exists { .. }), "{error}");
        assert_eq!(fs::read_to_string(root.path().join("a/b.txt")).unwrap(), "one");
        write(root.path(), "two", true).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("a/b.txt")).unwrap(), "two");
        assert_eq!(listing(root.path()), ["a/b.txt"]);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(Staging::begin(&file).unwrap_err().to_string().contains("is a file, not a directory"));
        assert!(Staging::begin(&file.join("below")).is_err());
        assert!(Directory::open(&root.path().join("none")).is_err());
    }
}
