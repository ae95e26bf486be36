//! Data sets as named files, wherever they are stored.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use wug_language::limit::MEMORY;

/// Writes named files. Names may hold `/`.
pub trait FileSink {
    /// Writes one file as a whole: if `write` fails, nothing of it stays.
    fn put(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()>;
}

pub trait FileSource {
    /// Opens a file; `None` if there is none of that name.
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>>;

    /// The names of all files, in order.
    fn names(&self) -> io::Result<Vec<String>>;

    /// A whole file. One that does not fit into memory is an error.
    fn bytes(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        // A byte more than may be held shows that there is more.
        file.take(MEMORY + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MEMORY {
            let message = format!("the file is larger than {MEMORY} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(Some(bytes))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFiles(pub BTreeMap<String, Vec<u8>>);

impl FileSink for MemoryFiles {
    fn put(&mut self, name: &str, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        self.0.insert(name.to_owned(), bytes);
        Ok(())
    }
}

impl FileSource for MemoryFiles {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        Ok(self.0.get(name).map(|bytes| -> Box<dyn Read> { Box::new(bytes.as_slice()) }))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }
}

/// The files whose names begin with a folder's, by the rest of their names.
pub struct Folder<'a, T: ?Sized> {
    pub files: &'a T,
    /// The folder's name, ending in `/`, or empty.
    pub prefix: String,
}

impl<T: FileSource + ?Sized> FileSource for Folder<'_, T> {
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn Read + '_>>> {
        self.files.open(&format!("{}{name}", self.prefix))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let names = self.files.names()?;
        Ok(names.iter().filter_map(|name| name.strip_prefix(&self.prefix)).map(str::to_owned).collect())
    }
}
