//! Zip archives of one file, encrypted so that crawlers do not feed test data to language models.
//!
//! Reading is the `zip` crate's. Writing packs with it and encrypts here: the crate fills the head of the
//! encrypted data from the system's randomness, and the same data set should be the same bytes wherever it is
//! made. `ZipCrypto` keeps no secrets anyway, least of all with a published password.

use std::io::{self, Cursor, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::FormatError;

/// The password of the released archives.
pub const PASSWORD: &str = "1234";

const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";
const CENTRAL_HEADER: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

/// An archive that holds one file.
#[derive(Debug)]
pub struct Archive<R> {
    zip: ZipArchive<R>,
}

impl<R: Read + Seek> Archive<R> {
    /// Opens an archive that starts where the reader starts.
    pub fn new(mut reader: R) -> Result<Self, FormatError> {
        let mut magic = Vec::new();
        reader.by_ref().take(4).read_to_end(&mut magic)?;
        reader.rewind()?;
        match ZipArchive::new(reader) {
            Ok(zip) if zip.len() == 1 => Ok(Self { zip }),
            Ok(zip) => Err(FormatError::Members { given: zip.len() }),
            Err(zip::result::ZipError::Io(error)) if error.kind() != io::ErrorKind::UnexpectedEof => {
                Err(error.into())
            }
            // The directory stands at the end, so an archive that was cut off has none.
            Err(_) if magic == LOCAL_HEADER => Err(FormatError::Truncated),
            Err(_) => Err(FormatError::NotAZip),
        }
    }

    /// The name of the file inside.
    pub fn name(&self) -> Result<String, FormatError> {
        Ok(self.zip.by_index_data(0)?.name()?.into_owned())
    }

    /// The size of the file inside, as the archive declares it.
    pub fn size(&self) -> Result<u64, FormatError> {
        Ok(self.zip.by_index_data(0)?.size())
    }

    /// The content of the file inside, unpacked as it is read. A password is not looked at if the file is not
    /// encrypted. More bytes than the archive declares are an error.
    pub fn content(&mut self, password: Option<&str>) -> Result<impl Read + '_, FormatError> {
        Ok(match password {
            Some(password) => self.zip.by_index_decrypt(0, password.as_bytes())?,
            None => self.zip.by_index(0)?,
        })
    }
}

/// How every archive packs its file: nothing of the clock or the machine goes in.
pub(super) fn packing() -> SimpleFileOptions {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    options.last_modified_time(DateTime::DEFAULT).unix_permissions(0o644)
}

/// Writes an encrypted archive of one file, whose content is what `write` writes.
///
/// The content is packed while it is written; only the packed bytes are held in memory.
pub fn write_zip(
    mut out: impl Write,
    name: &str,
    password: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FormatError> {
    let (mut packed, crc, size) = pack(name, write)?;
    let mut head = [0; 12];
    // Decryption throws twelve bytes away, which should be random. The last is the top byte of the
    // checksum, by which readers notice a wrong password.
    head[11] = (crc >> 24) as u8;
    packed.splice(0..0, head);
    Keys::new(password).encrypt(&mut packed);

    let entry = ZipEntry { crc, packed: narrow(packed.len() as u64)?, size: narrow(size)?, name };
    let local = entry.local_header();
    let directory = entry.central_header();
    let start = narrow(local.len() as u64 + packed.len() as u64)?;
    for part in [&local, &packed, &directory, &end_of_directory(directory.len() as u32, start)] {
        out.write_all(part)?;
    }
    out.flush()?;
    Ok(())
}

/// The deflated content, its checksum and its size.
fn pack(
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(Vec<u8>, u32, u64), FormatError> {
    let mut plain = ZipWriter::new(Cursor::new(Vec::new()));
    plain.start_file(name, packing())?;
    write(&mut plain)?;
    let mut plain = plain.finish_into_readable()?;
    let mut file = plain.by_index_raw(0)?;
    let mut packed = Vec::new();
    file.read_to_end(&mut packed)?;
    Ok((packed, file.crc32(), file.size()))
}

fn narrow(size: u64) -> Result<u32, FormatError> {
    u32::try_from(size).map_err(|_| FormatError::TooLarge { given: size })
}

struct ZipEntry<'a> {
    crc: u32,
    packed: u32,
    size: u32,
    name: &'a str,
}

impl ZipEntry<'_> {
    fn local_header(&self) -> Vec<u8> {
        [&LOCAL_HEADER[..], &self.shared(), self.name.as_bytes()].concat()
    }

    fn central_header(&self) -> Vec<u8> {
        let made_by: u16 = 0x0314; // on Unix, version 2.0
        let attributes: u32 = 0o100_644 << 16;
        let mut header = [&CENTRAL_HEADER[..], &made_by.to_le_bytes(), &self.shared()].concat();
        header.extend([0; 6]); // no comment, first disk, no internal attributes
        header.extend(attributes.to_le_bytes());
        header.extend([0; 4]); // the local header starts the file
        header.extend(self.name.as_bytes());
        header
    }

    /// The fields that both headers have.
    fn shared(&self) -> Vec<u8> {
        // Bit 0 says that the content is encrypted, bit 11 that the name is UTF-8.
        let flags = if self.name.is_ascii() { 1 } else { 0x0801 };
        // Version needed, flags, method "deflated", midnight of 1 January 1980.
        let mut fields: Vec<u8> = [20u16, flags, 8, 0, 0x21].into_iter().flat_map(u16::to_le_bytes).collect();
        fields.extend([self.crc, self.packed, self.size].into_iter().flat_map(u32::to_le_bytes));
        fields.extend((self.name.len() as u16).to_le_bytes());
        fields.extend([0; 2]); // no extra field
        fields
    }
}

fn end_of_directory(length: u32, start: u32) -> Vec<u8> {
    let mut end = END.to_vec();
    end.extend([0u16, 0, 1, 1].into_iter().flat_map(u16::to_le_bytes)); // one disk, one file
    end.extend([length, start].into_iter().flat_map(u32::to_le_bytes));
    end.extend([0; 2]); // no comment
    end
}

/// The state of the stream cipher of section 6.1 of PKWARE's APPNOTE.
struct Keys([u32; 3]);

impl Keys {
    fn new(password: &str) -> Self {
        let mut keys = Self([0x1234_5678, 0x2345_6789, 0x3456_7890]);
        password.bytes().for_each(|byte| keys.update(byte));
        keys
    }

    fn update(&mut self, plain: u8) {
        let [a, b, c] = &mut self.0;
        *a = crc_step(*a, plain);
        *b = b.wrapping_add(*a & 0xff).wrapping_mul(134_775_813).wrapping_add(1);
        *c = crc_step(*c, (*b >> 24) as u8);
    }

    fn encrypt(mut self, bytes: &mut [u8]) {
        for byte in bytes {
            let plain = *byte;
            // `decrypt_byte` of that section. The low 16 bits of the key count, so that the product fits
            // 32.
            let mask = (self.0[2] & 0xffff) | 2;
            *byte ^= (mask.wrapping_mul(mask ^ 1) >> 8) as u8;
            self.update(plain);
        }
    }
}

/// One byte into CRC-32, bit by bit: archives are small once they are packed.
fn crc_step(crc: u32, byte: u8) -> u32 {
    let mut crc = crc ^ u32::from(byte);
    for _ in 0..8 {
        crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_zip(&mut bytes, "test.txt", PASSWORD, |out| out.write_all(content)).unwrap();
        bytes
    }

    fn read(bytes: &[u8], password: Option<&str>) -> Result<Vec<u8>, FormatError> {
        let mut content = Vec::new();
        Archive::new(Cursor::new(bytes))?.content(password)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn archives_round_trip_to_the_same_bytes() {
        for content in [&b""[..], b"##", &b"#aabb#\n".repeat(10_000)] {
            let bytes = archive(content);
            assert_eq!(read(&bytes, Some(PASSWORD)).unwrap(), content);
            assert_eq!(bytes, archive(content));
            assert_eq!(Archive::new(Cursor::new(bytes)).unwrap().name().unwrap(), "test.txt");
        }
    }

    #[test]
    fn a_wrong_password_is_an_error_even_if_its_check_byte_fits() {
        let bytes = archive(b"#ab#\n#aabb#");
        assert!(matches!(read(&bytes, None), Err(FormatError::WrongPassword)));
        let errors: Vec<FormatError> =
            (2000..4000).map(|p| read(&bytes, Some(&p.to_string())).unwrap_err()).collect();
        assert!(errors.iter().any(|error| matches!(error, FormatError::WrongPassword)));
        assert!(errors.iter().any(|error| matches!(error, FormatError::Damaged(_) | FormatError::Truncated)));
    }

    #[test]
    fn what_is_cut_off_or_no_archive_is_an_error() {
        let bytes = archive(&b"#aabb#\n#()[]#\n".repeat(50));
        for end in 4..bytes.len() {
            assert!(matches!(read(&bytes[..end], Some(PASSWORD)), Err(FormatError::Truncated)), "{end}");
        }
        assert!(matches!(read(b"", None), Err(FormatError::NotAZip)));
        assert!(matches!(read(b"#ab#\n#aabb#", None), Err(FormatError::NotAZip)));
    }

    /// An archive that declares another size than it unpacks to.
    fn declaring(content: &[u8], size: u32) -> Vec<u8> {
        let mut bytes = archive(content);
        let central = bytes.windows(4).rposition(|start| start == CENTRAL_HEADER).unwrap();
        for at in [22, central + 24] {
            bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_bomb_is_read_no_further_than_it_declares() {
        let content = b"##\n".repeat(1_000_000);
        let bomb = declaring(&content, 100);
        let mut archive = Archive::new(Cursor::new(bomb)).unwrap();
        assert_eq!(archive.size().unwrap(), 100);
        let mut unpacked = Vec::new();
        // As readers of text and masks do: by parts.
        let mut content = archive.content(Some(PASSWORD)).unwrap().take(1 << 40);
        let error = content.read_to_end(&mut unpacked).unwrap_err();
        assert!(
            unpacked.len() < 100_000 && error.to_string().contains("larger than its declared"),
            "{error}"
        );
    }

    #[test]
    fn a_flipped_bit_never_panics() {
        let content = b"#aabb#\n#()[]#\n".repeat(20);
        let bytes = archive(&content);
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = read(&damaged, Some(PASSWORD)) {
                assert_eq!(read, content, "bit {bit}");
            }
        }
    }

    #[test]
    fn two_files_are_one_too_many() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a", packing()).unwrap();
        zip.start_file("b", packing()).unwrap();
        let archive = Archive::new(zip.finish().unwrap());
        assert_eq!(archive.unwrap_err().to_string(), "the archive holds 2 files; it should hold 1");
    }
}
