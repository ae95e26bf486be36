//! Data sets on disk. Nothing is ever half written: files are made under a temporary name, and take their own
//! only when all of them are complete.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wug_dataset::manifest::{MANIFEST, Manifest};
use wug_dataset::{FileSink, FileSource};

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

impl FileSource for Directory {
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

/// All files under a directory, by their names from it on with `/` between folders. Links to directories are
/// not followed: they may lead in circles.
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

/// How the temporary names of unfinished directories begin. They are nobody's data: reading passes them over.
const PART: &str = ".wug-part-";

pub(crate) fn is_part(name: &str) -> bool {
    name.starts_with(PART)
}

/// A directory being written. Until [`finish`](Self::finish) all files stand under a temporary name of their
/// own; if it is dropped before, they are removed, and so are the directories that were made for it. A
/// process that is killed leaves its temporary directory and nothing else.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    existed: bool,
    // Removed in this order when dropped: files first, then the directories that hold them.
    stage: TempDir,
    made: Vec<PathBuf>,
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
        let made: Vec<PathBuf> =
            place.ancestors().take_while(|p| !p.exists()).map(Path::to_path_buf).collect();
        let stage = fs::create_dir_all(place)
            .and_then(|()| tempfile::Builder::new().prefix(PART).tempdir_in(place))
            .map_err(LabError::disk(target))?;
        Ok(Self { target: target.to_path_buf(), existed, stage, made })
    }

    /// Gives every file its own name. A file that is there already with the same content is left alone; with
    /// another content it is an error, found before anything is changed. With `force` it is replaced, and
    /// what the manifest of the data set before lists beside it is removed, so that no two data sets mix. The
    /// manifest comes last.
    pub fn finish(mut self, force: bool) -> Result<(), LabError> {
        self.made.clear();
        if !self.existed {
            return fs::rename(self.stage.path(), &self.target).map_err(LabError::disk(&self.target));
        }
        let mut names = Vec::new();
        collect(self.stage.path(), "", &mut names).map_err(LabError::disk(&self.target))?;
        names.sort_unstable_by_key(|name| (name.ends_with(MANIFEST), name.clone()));
        let mut moves = Vec::new();
        for name in &names {
            let (from, to) = (self.stage.path().join(name), self.target.join(name));
            if to.is_dir() {
                return Err(LabError::Usage(format!(
                    "{} is a directory, where a file is to be written",
                    to.display()
                )));
            }
            if to.exists() && same_content(&from, &to).map_err(LabError::disk(&to))? {
                continue;
            }
            if to.exists() && !force {
                return Err(LabError::Exists { path: to });
            }
            moves.push((from, to));
        }
        if force {
            self.remove_former(&names)?;
        }
        for (from, to) in moves {
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(LabError::disk(parent))?;
            }
            fs::rename(&from, &to).map_err(LabError::disk(&to))?;
        }
        Ok(())
    }

    /// Removes the files that the manifest in the target lists and that are not about to be replaced.
    fn remove_former(&self, names: &[String]) -> Result<(), LabError> {
        let Ok(text) = fs::read(self.target.join(MANIFEST)) else { return Ok(()) };
        let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else { return Ok(()) };
        for file in manifest.files.iter().filter(|file| !names.contains(&file.name)) {
            let path = self.target.join(&file.name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(LabError::disk(&path)(error));
                }
                _ => {}
            }
            // The folder goes too if that was its last file.
            path.parent().filter(|p| *p != self.target).map(fs::remove_dir);
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.stage.path());
        // Innermost first; one that holds something else stays.
        self.made.iter().take_while(|path| fs::remove_dir(path).is_ok()).for_each(drop);
    }
}

impl FileSink for Staging {
    fn put(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let path = self.stage.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = BufWriter::with_capacity(1 << 16, File::create(&path)?);
        write(&mut file)?;
        file.flush()
    }
}

/// Writes a file whole: under a temporary name of its own first, so that nobody ever sees half of it, and of several who
/// write at once one wins. A link is followed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let written = match path.canonicalize() {
        Ok(target) if target.is_file() => replace(&target, bytes),
        // A terminal, a pipe, a link that leads nowhere yet: what is there keeps its place.
        _ if path.symlink_metadata().is_ok() => fs::write(path, bytes),
        _ => replace(path, bytes),
    };
    written.map_err(LabError::disk(path))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(PART);
    // As any file is made; temporary ones are their owner's alone otherwise.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut part = builder.tempfile_in(folder)?;
    part.write_all(bytes)?;
    part.as_file().sync_all()?;
    part.persist(path).map(drop).map_err(|failed| failed.error)
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
    fn what_a_killed_process_left_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join(format!("{PART}x"))).unwrap();
        fs::write(root.path().join(format!("{PART}x/half.txt")), "half").unwrap();
        write(root.path(), "one", false).unwrap();
        assert_eq!(Directory::open(root.path()).unwrap().names().unwrap(), ["a/b.txt"]);
    }

    #[test]
    fn directories_made_in_vain_are_removed() {
        let root = tempfile::tempdir().unwrap();
        drop(Staging::begin(&root.path().join("x/y/z")).unwrap());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        fs::create_dir_all(root.path().join("t/a/b.txt")).unwrap();
        let error = write(&root.path().join("t"), "one", true).unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
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

    #[cfg(unix)]
    #[test]
    fn a_file_is_written_whole_where_its_link_leads_with_ordinary_permissions() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::write(at("ordinary"), "x").unwrap();
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
        write_whole(&at("new"), b"one").unwrap();
        assert_eq!(mode("new"), mode("ordinary"));
        symlink(at("new"), at("link")).unwrap();
        symlink(at("later"), at("dangling")).unwrap();
        write_whole(&at("link"), b"two").unwrap();
        write_whole(&at("dangling"), b"three").unwrap();
        assert!(at("link").is_symlink() && at("dangling").is_symlink());
        assert_eq!(fs::read(at("new")).unwrap(), b"two");
        assert_eq!(fs::read(at("later")).unwrap(), b"three");
        write_whole(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(!Path::new("/dev/null").is_file());
        assert!(write_whole(root.path(), b"x").is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 5);
    }

    #[test]
    fn of_two_who_write_one_file_at_once_one_wins() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("page");
        let texts = [vec![b'a'; 50_000], vec![b'b'; 70_000]];
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..20).for_each(|_| write_whole(&path, text).unwrap()));
            }
        });
        assert!(texts.contains(&fs::read(&path).unwrap()));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
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
