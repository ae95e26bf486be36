//! Files with a checksum or a length around their content. Damage to the outside is nearly always noticed at once; so the
//! content is damaged too, and packed again.

use std::io::{Cursor, Read as _, Write as _};

use wug_lab::dataset::bliss::{Archive, PASSWORD};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// A kind of container, known by the file's name.
#[derive(Clone, Copy)]
pub(crate) enum Container {
    /// A zip archive of one file.
    Zip,
    /// The length of a header (eight bytes, little-endian), a JSON header, data: safetensors, and checkpoints of runs.
    Header,
    /// A result with its checksum.
    Sealed,
}

const FIELD: &str = ",\n  \"checksum\": \"";
const END: &str = "\n}\n";

impl Container {
    pub(crate) fn of(name: &str) -> Option<Self> {
        if name.ends_with(".zip") || name.ends_with(".npz") {
            Some(Self::Zip)
        } else if name.ends_with(".safetensors") || name.ends_with(".checkpoint") {
            Some(Self::Header)
        } else {
            name.starts_with("results/").then_some(Self::Sealed)
        }
    }

    /// The content that is damaged.
    pub(crate) fn open(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Zip => {
                let mut archive = Archive::new(Cursor::new(bytes)).ok()?;
                let mut content = Vec::new();
                archive.content(Some(PASSWORD)).ok()?.take(1 << 20).read_to_end(&mut content).ok()?;
                Some(content)
            }
            Self::Header => {
                let (length, rest) = bytes.split_first_chunk::<8>()?;
                rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?).map(<[u8]>::to_vec)
            }
            Self::Sealed => {
                let text = std::str::from_utf8(bytes).ok()?;
                Some(format!("{}{END}", text.rsplit_once(FIELD)?.0).into_bytes())
            }
        }
    }

    /// The container with another content.
    pub(crate) fn close(self, old: &[u8], content: &[u8]) -> Vec<u8> {
        match self {
            Self::Zip => {
                let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
                // Readers of several arrays know them by name.
                let name = ZipArchive::new(Cursor::new(old))
                    .ok()
                    .and_then(|mut old| Some(old.by_index(0).ok()?.name().ok()?.into_owned()));
                let name = name.unwrap_or_else(|| "data.npy".to_owned());
                zip.start_file(name, SimpleFileOptions::default()).unwrap();
                zip.write_all(content).unwrap();
                zip.finish().unwrap().into_inner()
            }
            Self::Header => {
                let rest = 8 + self.open(old).map_or(0, |content| content.len());
                [&(content.len() as u64).to_le_bytes(), content, &old[rest..]].concat()
            }
            Self::Sealed => {
                let body = content.strip_suffix(END.as_bytes()).unwrap_or(content);
                let hash = blake3::hash(content).to_hex();
                [body, FIELD.as_bytes(), hash.as_bytes(), b"\"", END.as_bytes()].concat()
            }
        }
    }
}
