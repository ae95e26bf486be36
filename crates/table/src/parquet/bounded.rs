//! A Parquet file whose pages are no larger than its bytes can hold.
//!
//! The header of a page says how large it is once it is decompressed, and the library allocates as much, up to 2 GiB, before it
//! decompresses anything. A damaged header must be an error and no allocation.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use bytes::buf::Reader;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Snappy writes at least one byte for 32.
const RATIO: u64 = 64;
/// A page of a small file.
const SMALL: u64 = 1 << 16;

pub(super) struct Bounded {
    bytes: Bytes,
    /// Where readers began at what looks like the header of a page that is too large. It is one unless the page itself is asked for
    /// there: what is read ahead is asked for once more by its contents, which may look like anything.
    too_large: Mutex<BTreeSet<u64>>,
}

impl Bounded {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: Bytes::from(bytes), too_large: Mutex::default() }
    }

    fn is_too_large(&self, start: u64) -> bool {
        let header = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..));
        let most = self.len().saturating_mul(RATIO).saturating_add(SMALL);
        header.and_then(decompressed_size).is_some_and(|size| size > most)
    }
}

/// The size that a page header says: its first two fields, as thrift's compact protocol writes them, are a type and a size.
fn decompressed_size(header: &[u8]) -> Option<u64> {
    // One more than the field before it, a whole number of 32 bits.
    const FIELD: u8 = 0x15;
    let rest = header.strip_prefix(&[FIELD])?;
    let (_, rest) = number(rest)?;
    let (size, _) = number(rest.strip_prefix(&[FIELD])?)?;
    Some(size)
}

/// A number in groups of seven bits, the lowest first. Its own lowest bit is the sign; sizes have none.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value >> 1, &bytes[i + 1..]));
        }
    }
    None
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl ChunkReader for Bounded {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        if self.is_too_large(start) {
            self.too_large.lock().unwrap_or_else(PoisonError::into_inner).insert(start);
        }
        self.bytes.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut too_large = self.too_large.lock().unwrap_or_else(PoisonError::into_inner);
        too_large.remove(&start);
        if let Some(header) = too_large.first() {
            return Err(ParquetError::General(format!(
                "the page at byte {header} says that it is larger than it can be"
            )));
        }
        drop(too_large);
        self.bytes.get_bytes(start, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_too_large_is_an_error_and_its_contents_are_none() {
        // A data page of 2^30 bytes, and then something else.
        let mut bytes = vec![0x15, 0x00, 0x15, 0x80, 0x80, 0x80, 0x80, 0x08];
        assert_eq!(decompressed_size(&bytes), Some(1 << 30));
        bytes.extend([0; 100]);
        let ahead = Bounded::new(bytes.clone());
        let _ = ahead.get_read(0).unwrap();
        assert!(ahead.get_bytes(20, 5).unwrap_err().to_string().contains("the page at byte 0"));
        // The same bytes as the contents of a page: they are asked for where the reader began.
        let contents = Bounded::new(bytes);
        let _ = contents.get_read(0).unwrap();
        assert_eq!(contents.get_bytes(0, 2).unwrap().len(), 2);
    }
}
