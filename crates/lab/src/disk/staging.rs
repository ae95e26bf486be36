//! Data sets on disk: all files of a data set appear together, and a data set is replaced as a whole.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wug_dataset::FileSink;
use wug_dataset::manifest::{DataManifest as Manifest, MANIFEST};

use super::collect;
use super::files::{folder_of, own_dir, sync_directory};
use super::part::{self, OLD, is_part, remove_leftovers};
use crate::LabError;

/// A directory being written. Until [`finish`](Self::finish) all files are in a temporary directory; if it is dropped
/// before, they are removed, and so are the directories that were made for it. What a killed process leaves is removed
/// by the next one that writes there.
#[derive(Debug)]
pub struct Staging {
    target: PathBuf,
    existed: bool,
    // Dropped in this order: files first, then the directories that hold them.
    stage: TempDir,
    _lock: Option<File>,
    made: Vec<PathBuf>,
}

impl Staging {
    /// Begins to write a directory, which may exist.
    pub fn begin(target: &Path) -> Result<Self, LabError> {
        // First: after a kill, the only copy may have a temporary name.
        recover(target)?;
        let existed = match fs::metadata(target) {
            Ok(meta) if meta.is_dir() => true,
            Ok(_) => return Err(LabError::Usage(format!("{} is a file, not a directory", target.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(LabError::disk(target)(error)),
        };
        let parent = folder_of(target);
        remove_leftovers(parent);
        remove_leftovers(target);
        // Where the files will be: a rename works on one file system only, and the target may be a mount.
        let folder = if existed { target } else { parent };
        let made: Vec<PathBuf> =
            folder.ancestors().take_while(|p| !p.exists()).map(Path::to_path_buf).collect();
        let (stage, lock) = fs::create_dir_all(folder)
            .and_then(|()| part::directory_in(folder))
            .map_err(LabError::disk(target))?;
        Ok(Self { target: target.to_path_buf(), existed, stage, _lock: lock, made })
    }

    /// Gives every file its own name. A file that is there already with the same content is left alone; with
    /// another content it is an error, found before anything is changed. With `force` the directory is replaced as a
    /// whole, if all that is in it belongs to the data sets that are replaced.
    pub fn finish(mut self, force: bool) -> Result<(), LabError> {
        // From here on the directories stay, even after an error: there may be files in them.
        self.made.clear();
        // Before the rename: after a power failure, the new name must not lead to files that were never written.
        sync_directories(self.stage.path());
        if !self.existed {
            fs::rename(self.stage.path(), &self.target).map_err(LabError::disk(&self.target))?;
            sync_directory(folder_of(&self.target));
            return Ok(());
        }
        let mut names = Vec::new();
        collect(self.stage.path(), "", &mut names).map_err(LabError::disk(&self.target))?;
        // Manifests come last: what they list is there.
        names.sort_unstable_by_key(|name| (name.ends_with(MANIFEST), name.clone()));
        let (mut new, mut replaced) = (Vec::new(), None);
        for name in &names {
            match self.compare(name)? {
                Found::Nothing => new.push(name),
                Found::Same => {}
                Found::Other => replaced = replaced.or(Some(name)),
            }
        }
        let former = self.former(&names);
        match replaced {
            Some(name) if !force => return Err(LabError::Exists { path: self.target.join(name) }),
            None if !force || former.iter().all(|name| names.contains(name)) => {}
            _ => return self.swap(&names, &former),
        }
        let new: Vec<(PathBuf, PathBuf)> =
            new.iter().map(|name| (self.stage.path().join(name), self.target.join(name))).collect();
        for (from, to) in &new {
            fs::create_dir_all(folder_of(to))
                .and_then(|()| fs::rename(from, to))
                .map_err(LabError::disk(to))?;
        }
        let folders: BTreeSet<&Path> = new.iter().flat_map(|(_, to)| to.ancestors().skip(1)).collect();
        folders.range(self.target.as_path()..).for_each(|folder| sync_directory(folder));
        Ok(())
    }

    /// What is in the target where a file is to be written.
    fn compare(&self, name: &str) -> Result<Found, LabError> {
        let to = self.target.join(name);
        for folder in Path::new(name).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            // Through a link, files would be written outside the directory.
            own_dir(&self.target.join(folder))?;
        }
        match to.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {
                Err(LabError::corrupt(&to, "is a directory, where a file is to be written"))
            }
            Ok(meta) if meta.is_file() => {
                let same = same_content(&self.stage.path().join(name), &to).map_err(LabError::disk(&to))?;
                Ok(if same { Found::Same } else { Found::Other })
            }
            Ok(_) => Ok(Found::Other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(LabError::disk(&to)(error)),
        }
    }

    /// The files of the data sets that would be replaced, as their manifests list them. A manifest that cannot be
    /// read lists nothing.
    fn former(&self, names: &[String]) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        for at in names.iter().map(String::as_str).chain([MANIFEST]) {
            let Some(folder) = at.strip_suffix(MANIFEST) else { continue };
            let path = self.target.join(at);
            if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let manifest =
                fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Manifest>(&text).ok());
            if let Some(manifest) = manifest {
                files.extend(manifest.files.iter().map(|file| format!("{folder}{}", file.name)));
                files.insert(at.to_owned());
            }
        }
        files
    }

    /// Puts the new directory in the place of the old one: the old one is renamed, the new one takes its name, the
    /// old one is removed. A process that is killed in between leaves one of the two, whole.
    fn swap(&self, names: &[String], former: &BTreeSet<String>) -> Result<(), LabError> {
        let error = LabError::disk;
        let target = self.target.canonicalize().map_err(error(&self.target))?;
        self.nothing_foreign_in(&target, "", names, former)?;
        if std::env::current_dir().and_then(|here| here.canonicalize()).is_ok_and(|here| here == target) {
            return Err(LabError::Usage(format!(
                "{} is the current directory, and --force replaces directories as a whole: call it from elsewhere",
                self.target.display()
            )));
        }
        let old = old_name(&target).ok_or_else(|| LabError::Usage("/ cannot be replaced".to_owned()))?;
        // Out of the target, which is renamed and removed with all that is in it.
        let stage = folder_of(&target).join(self.stage.path().file_name().unwrap_or_default());
        // Its lock tells others that the directory under the temporary name is not left over.
        let lock = File::open(&target).and_then(|folder| folder.lock().map(|()| folder)).ok();
        // Those of the old directory, which a group may share.
        let permissions = fs::metadata(&target).map_err(error(&target))?.permissions();
        fs::set_permissions(self.stage.path(), permissions).map_err(error(&target))?;
        fs::rename(self.stage.path(), &stage).map_err(error(&target))?;
        let swapped = fs::rename(&target, &old)
            .and_then(|()| fs::rename(&stage, &target).inspect_err(|_| drop(fs::rename(&old, &target))));
        if let Err(failed) = swapped {
            let _ = fs::remove_dir_all(&stage);
            return Err(error(&target)(failed));
        }
        sync_directory(folder_of(&target));
        drop(lock);
        fs::remove_dir_all(&old).map_err(error(&old))
    }

    /// Refuses to delete what does not belong to the data sets that are replaced.
    fn nothing_foreign_in(
        &self,
        folder: &Path,
        prefix: &str,
        names: &[String],
        former: &BTreeSet<String>,
    ) -> Result<(), LabError> {
        for entry in fs::read_dir(folder).map_err(LabError::disk(folder))? {
            let entry = entry.map_err(LabError::disk(folder))?;
            let kind = entry.file_type().map_err(LabError::disk(folder))?;
            let file_name = entry.file_name();
            let name = format!("{prefix}{}", file_name.to_string_lossy());
            if prefix.is_empty() && file_name.to_str().is_some_and(is_part) {
                continue;
            }
            if kind.is_dir() {
                self.nothing_foreign_in(&entry.path(), &format!("{name}/"), names, former)?;
            } else if !(names.contains(&name) || kind.is_file() && former.contains(&name)) {
                return Err(LabError::Usage(format!(
                    "{} holds `{name}`, which does not belong to the data set that would be replaced; nothing was changed. Move it away, or choose another directory",
                    self.target.display()
                )));
            }
        }
        Ok(())
    }
}

/// What is in the place of a file.
enum Found {
    Nothing,
    Same,
    Other,
}

/// The temporary name of a directory while it is replaced.
fn old_name(target: &Path) -> Option<PathBuf> {
    Some(folder_of(target).join(format!("{OLD}{}", target.file_name()?.to_string_lossy())))
}

/// Ends the replacement of a directory that a killed process began: backwards if the new directory is not in its
/// place, forwards if it is.
fn recover(target: &Path) -> Result<(), LabError> {
    let real = target.canonicalize().unwrap_or_else(|_| target.to_path_buf());
    let Some(old) = old_name(&real) else { return Ok(()) };
    if !old.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    // Another process is replacing it.
    let lock = File::open(&old);
    if !lock.as_ref().is_ok_and(|lock| lock.try_lock().is_ok()) {
        return Ok(());
    }
    if real.symlink_metadata().is_ok() {
        let _ = fs::remove_dir_all(&old);
        return Ok(());
    }
    fs::rename(&old, &real).map_err(LabError::disk(&real))
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
        fs::create_dir_all(folder_of(&path))?;
        let mut file = BufWriter::with_capacity(1 << 16, File::create(&path)?);
        write(&mut file)?;
        file.into_inner()?.sync_all()
    }
}

fn sync_directories(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sync_directories(&entry.path());
        }
    }
    sync_directory(folder);
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
        // Lengths are equal, so that `b` has as many bytes; `read` may return fewer.
        b.read_exact(&mut right[..n])?;
        if left[..n] != right[..n] {
            return Ok(false);
        }
    }
}
