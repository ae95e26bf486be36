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
/// The last bytes of a file: the length of its metadata, and what it is.
const FOOTER: u64 = 8;

pub(super) struct Bounded {
    bytes: Bytes,
    /// Where readers began at what is no header of a page that can be. It is an error unless the page itself is asked for there: what
    /// is read ahead is asked for once more by its contents, which may look like anything.
    refused: Mutex<BTreeSet<u64>>,
}

impl Bounded {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: Bytes::from(bytes), refused: Mutex::default() }
    }

    /// Whether a page can begin here, or the end of the file.
    fn is_possible(&self, start: u64) -> bool {
        let header = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..));
        let most = self.len().saturating_mul(RATIO).saturating_add(SMALL);
        start.saturating_add(FOOTER) >= self.len()
            || header.and_then(decompressed_size).is_some_and(|size| size <= most)
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

/// A number in groups of seven bits, the lowest first. Its own lowest bit is the sign; sizes have none. More bytes than a number of
/// 32 bits has are no number: the library would read on and leave bits out.
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
        if !self.is_possible(start) {
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(start);
        }
        self.bytes.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.remove(&start);
        if let Some(header) = refused.first() {
            return Err(ParquetError::General(format!(
                "at byte {header} is no page, or one that says that it is larger than it can be"
            )));
        }
        drop(refused);
        self.bytes.get_bytes(start, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_too_large_is_an_error_and_its_contents_are_none() {
        // A data page of 2^30 bytes; the same in a form that has bits to leave out; fields in another order.
        let large = [0x15, 0x00, 0x15, 0x80, 0x80, 0x80, 0x80, 0x08];
        assert_eq!(decompressed_size(&large), Some(1 << 30));
        let overlong = [0x15, 0x04, 0x15, 0xf0, 0x9f, 0x98, 0x80, 0xaa, 0x01];
        let elsewhere = [0x25, 0x80, 0x80, 0x80, 0x80, 0x08];
        for header in [&large[..], &overlong, &elsewhere] {
            let bytes = [header, &[0; 100]].concat();
            let ahead = Bounded::new(bytes.clone());
            let _ = ahead.get_read(0).unwrap();
            assert!(ahead.get_bytes(20, 5).unwrap_err().to_string().contains("at byte 0"), "{header:?}");
            // The same bytes as the contents of a page: they are asked for where the reader began.
            let contents = Bounded::new(bytes);
            let _ = contents.get_read(0).unwrap();
            assert_eq!(contents.get_bytes(0, 2).unwrap().len(), 2);
        }
    }

    #[test]
    fn a_page_that_can_be_is_read() {
        let bytes = [&[0x15, 0x00, 0x15, 0x80, 0x08][..], &[0; 100]].concat();
        let small = Bounded::new(bytes);
        let _ = small.get_read(0).unwrap();
        assert_eq!(small.get_bytes(20, 5).unwrap().len(), 5);
    }
}
