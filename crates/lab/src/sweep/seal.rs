//! Checksums: a result or a checkpoint that was damaged, edited or swapped is noticed.

use super::BUILD;

/// Checkpoints begin with this, the id of their run, and their checksum.
const MAGIC: &[u8; 8] = b"wugckpt1";
const ID: usize = 16;
const CHECKSUM: usize = blake3::OUT_LEN;
/// How long the part before the checkpoint's own bytes is.
pub(super) const PREFIX: usize = MAGIC.len() + ID + CHECKSUM;

/// The checkpoint of a run as it is written to disk.
pub(crate) fn seal_checkpoint(id: &str, bytes: &[u8]) -> Vec<u8> {
    [&MAGIC[..], id.as_bytes(), &checkpoint_checksum(id, bytes), bytes].concat()
}

/// The checkpoint's own bytes, or why they cannot be used.
pub(crate) fn open_checkpoint(id: &str, file: &[u8]) -> Result<Vec<u8>, String> {
    let (prefix, bytes) = file.split_at_checked(PREFIX).ok_or("it is cut off")?;
    let (start, checksum) = prefix.split_at(MAGIC.len() + ID);
    let (magic, its_id) = start.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err("it is no checkpoint".to_owned());
    }
    if its_id != id.as_bytes() {
        return Err(format!("it is that of run {}", String::from_utf8_lossy(its_id)));
    }
    if checksum != checkpoint_checksum(id, bytes) {
        return Err("it is damaged, or another build wrote it".to_owned());
    }
    Ok(bytes.to_vec())
}

fn checkpoint_checksum(id: &str, bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut hasher = blake3::Hasher::new_derive_key("wug 2026 checkpoint");
    // The build is part of it: another one may lay out its state otherwise, or compute other numbers.
    hasher.update(BUILD.as_bytes()).update(id.as_bytes()).update(bytes);
    *hasher.finalize().as_bytes()
}

/// How the text of a result ends, and what is put before it.
const END: &str = "\n}\n";
const FIELD: &str = ",\n  \"checksum\": \"";

/// The text of a result with the checksum of the rest as its last field.
pub(super) fn seal_result(text: &str) -> String {
    // As the last field: a sealed result is still one JSON object that any program can read.
    let body = text.strip_suffix(END).unwrap_or(text);
    format!("{body}{FIELD}{}\"{END}", blake3::hash(text.as_bytes()).to_hex())
}

/// The text of a result without its checksum, or why it cannot be used. `required` is false for sweeps that are older
/// than checksums.
pub(super) fn open_result(sealed: &str, required: bool) -> Result<String, String> {
    let Some((body, _)) = sealed.rsplit_once(FIELD) else {
        return if required {
            Err("not a result: it has no checksum, or is cut off".to_owned())
        } else {
            Ok(sealed.to_owned())
        };
    };
    let text = format!("{body}{END}");
    // Sealed again and compared whole: bytes after the checksum are noticed too.
    if seal_result(&text) == sealed {
        Ok(text)
    } else {
        Err("it does not match its checksum: it was changed after it was written".to_owned())
    }
}
