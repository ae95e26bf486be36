//! Regular files, and what else may be in their place: a named pipe would block whoever opens it.

use std::fs::{self, File, FileType};
use std::io::{self, Read as _};
use std::path::Path;

use crate::disk::is_part;

/// Opens a regular file to read, if there is one; anything else in its place is an error, and does not block.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let mut options = File::options();
    options.read(true);
    // Opening a pipe without a writer would wait for ever. Looking at its type first would leave a gap between the two.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A socket cannot be opened at all.
        Err(error) => {
            return Err(fs::metadata(path)
                .ok()
                .and_then(|meta| irregular(meta.file_type()))
                .unwrap_or(error));
        }
    };
    // The type of what was opened, and not of what the path leads to by now.
    match irregular(file.metadata()?.file_type()) {
        None => Ok(Some(file)),
        Some(error) => Err(error),
    }
}

/// Reads a regular file of at most so many bytes, if there is one.
pub(crate) fn read_regular(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open_regular(path)? else { return Ok(None) };
    let too_large = |size: String| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("this file has {size} bytes; at most {most} are read"),
        )
    };
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(size.to_string()));
    }
    let mut bytes = Vec::new();
    // Files of the system claim no size, and a file may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(format!("more than {most}"))) } else { Ok(Some(bytes)) }
}

/// The same; that there is no file is an error too.
pub(crate) fn read_present(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_regular(path, most)?.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "there is no such file"))
}

fn irregular(kind: FileType) -> Option<io::Error> {
    let message = || format!("this is {}, where a regular file should be", kind_name(kind));
    (!kind.is_file()).then(|| io::Error::new(io::ErrorKind::InvalidInput, message()))
}

fn kind_name(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a named pipe";
        } else if kind.is_socket() {
            return "a socket";
        } else if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a directory" } else { "no file" }
}

/// What a directory holds besides regular files, by name: nobody reads it, so somebody must say so.
pub(crate) fn skipped(
    folder: &Path,
    prefix: &str,
    found: &mut Vec<(String, &'static str)>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            found.push((
                format!("{prefix}{}", entry.file_name().to_string_lossy()),
                "a name that is not valid UTF-8",
            ));
            continue;
        };
        // Temporary files of a writer at work are no finding.
        if is_part(&name) {
            continue;
        }
        let full = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if fs::read_dir(entry.path())?.next().is_none() {
                found.push((full, "an empty directory"));
            } else {
                skipped(&entry.path(), &format!("{full}/"), found)?;
            }
        } else if !entry.path().is_file() {
            let target = fs::metadata(entry.path()).map(|meta| meta.file_type());
            let what = match target {
                Err(_) => "a link that leads nowhere",
                Ok(target) if kind.is_symlink() && target.is_dir() => "a link to a directory",
                Ok(target) => kind_name(target),
            };
            found.push((full, what));
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn special_files_are_errors_that_do_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).unwrap();
        assert!(open_regular(&at("file")).unwrap().is_some());
        assert!(open_regular(&at("absent")).unwrap().is_none());
        for (name, what) in [
            ("folder", "a directory"),
            ("pipe", "a named pipe"),
            ("socket", "a socket"),
            ("device", "a device"),
        ] {
            let message = open_regular(&at(name)).unwrap_err().to_string();
            assert_eq!(message, format!("this is {what}, where a regular file should be"));
        }
        assert_eq!(read_regular(&at("file"), 4).unwrap().unwrap(), b"text");
        assert!(read_regular(&at("absent"), 4).unwrap().is_none());
        assert_eq!(read_present(&at("absent"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
        let message = read_regular(&at("file"), 3).unwrap_err().to_string();
        assert_eq!(message, "this file has 4 bytes; at most 3 are read");
        // It claims to have no bytes.
        let message = read_regular(Path::new("/proc/self/status"), 3).unwrap_err().to_string();
        assert_eq!(message, "this file has more than 3 bytes; at most 3 are read");
        let mut found = Vec::new();
        skipped(dir.path(), "", &mut found).unwrap();
        found.sort_unstable();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["dangling", "device", "folder", "pipe", "socket"]);
    }
}
