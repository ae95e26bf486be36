//! Masks as NumPy writes them: a zip archive with one packed member `data.npy`, an array of Booleans in C
//! order.
//!
//! Rows are passed on as they are unpacked, because the largest published mask has 900 million cells.

use std::io::{Read, Seek, Write};

use zip::ZipWriter;

use super::FormatError;
use super::archive::packing;
use crate::npy::{NpyError, NpyHeader, header};

/// The type of an array of Booleans.
const BOOLEAN: &str = "|b1";

/// The rows of a mask, one for each index of its first axis, read one by one. It ends at the first error.
#[derive(Debug)]
pub struct MaskReader<R> {
    input: R,
    shape: Vec<usize>,
    width: usize,
    row: usize,
    done: bool,
}

impl<R: Read> MaskReader<R> {
    /// Reads the header of an array: the content of an [`Archive`](super::Archive).
    pub fn new(mut input: R) -> Result<Self, FormatError> {
        let shape = read_shape(&mut input)?;
        let width = shape.iter().skip(1).try_fold(1, |product: usize, &n| product.checked_mul(n));
        let width = width.ok_or_else(|| FormatError::NotNpy { given: format!("shape {shape:?}") })?;
        Ok(Self { input, shape, width, row: 0, done: false })
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Makes sure of the shape.
    pub fn expect_shape(&self, expected: &[usize]) -> Result<(), FormatError> {
        if self.shape == expected {
            return Ok(());
        }
        Err(FormatError::WrongShape { given: self.shape.clone(), expected: expected.to_vec() })
    }

    /// Makes sure that a row has no more cells than the strings need.
    pub fn expect_width_within(&self, needed: usize) -> Result<(), FormatError> {
        if self.width <= needed {
            return Ok(());
        }
        Err(FormatError::TooWide { given: self.width, needed })
    }

    fn read_row(&mut self) -> Result<Option<Vec<bool>>, FormatError> {
        if self.shape.first().is_none_or(|&rows| self.row == rows) {
            // The checksum is compared when the end is read.
            return if self.input.read(&mut [0])? == 0 { Ok(None) } else { Err(FormatError::TrailingData) };
        }
        // Memory grows with what is really there, not with what a header claims.
        let mut bytes = Vec::new();
        self.input.by_ref().take(self.width as u64).read_to_end(&mut bytes)?;
        if bytes.len() < self.width {
            return Err(FormatError::Truncated);
        }
        let row = self.row;
        self.row += 1;
        if let Some(&given) = bytes.iter().find(|&&byte| byte > 1) {
            return Err(FormatError::NotBoolean { row, given });
        }
        Ok(Some(bytes.into_iter().map(|byte| byte == 1).collect()))
    }
}

impl<R: Read> Iterator for MaskReader<R> {
    type Item = Result<Vec<bool>, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let row = self.read_row();
        self.done = !matches!(row, Ok(Some(_)));
        row.transpose()
    }
}

/// Writes a mask of the given shape, row by row.
pub fn write_npz(
    out: impl Write + Seek,
    shape: &[usize],
    rows: impl IntoIterator<Item = Vec<bool>>,
) -> Result<(), FormatError> {
    let width: usize = shape.iter().skip(1).product();
    let cells = shape.iter().product::<usize>() as u64;
    let mut zip = ZipWriter::new(out);
    zip.start_file("data.npy", packing().large_file(u32::try_from(cells).is_err()))?;
    zip.write_all(&header(BOOLEAN, shape))?;
    let mut written = 0;
    let mut bytes = Vec::with_capacity(width);
    for row in rows {
        if row.len() != width || Some(&written) == shape.first() {
            let given = vec![written + 1, row.len()];
            return Err(FormatError::WrongShape { given, expected: shape.to_vec() });
        }
        bytes.clear();
        bytes.extend(row.into_iter().map(u8::from));
        zip.write_all(&bytes)?;
        written += 1;
    }
    if Some(&written) != shape.first() {
        return Err(FormatError::WrongShape { given: vec![written, width], expected: shape.to_vec() });
    }
    zip.finish()?.flush()?;
    Ok(())
}

/// The shape of a mask.
fn read_shape(input: &mut impl Read) -> Result<Vec<usize>, FormatError> {
    let not_npy = |given: String| FormatError::NotNpy { given };
    let NpyHeader { version, kind, fortran_order, shape, text } = NpyHeader::read(input)?;
    if version != [1, 0] {
        return Err(not_npy(format!(
            "it is in version {}.{} of the format; a mask is in 1.0",
            version[0], version[1]
        )));
    }
    if kind != format!("'{BOOLEAN}'") {
        return Err(FormatError::WrongType { given: kind });
    }
    // In one dimension the orders are the same.
    if shape.is_empty() || fortran_order && shape.len() > 1 {
        return Err(not_npy(format!("its header is `{text}`")));
    }
    Ok(shape)
}

impl From<NpyError> for FormatError {
    fn from(error: NpyError) -> Self {
        let given = match error {
            NpyError::Read(error) => return error.into(),
            NpyError::Magic { found } if found.len() < 8 => "it has no header".to_owned(),
            NpyError::Magic { found } => format!("it starts with `{}`", found.escape_ascii()),
            NpyError::NoField { header, .. } | NpyError::Axis { header, .. } => {
                format!("its header is `{header}`")
            }
            other @ (NpyError::TooLong { .. } | NpyError::NotText) => other.to_string(),
        };
        Self::NotNpy { given }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::bliss::Archive;

    fn rows() -> Vec<Vec<bool>> {
        (0..5).map(|i| (0..6).map(|j| (i * j) % 3 == 1).collect()).collect()
    }

    fn npz(shape: &[usize]) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        write_npz(&mut out, shape, rows()).unwrap();
        out.into_inner()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<usize>, Vec<Vec<bool>>), FormatError> {
        let mut archive = Archive::new(Cursor::new(bytes))?;
        let mask = MaskReader::new(archive.content(None)?)?;
        Ok((mask.shape().to_vec(), mask.collect::<Result<_, _>>()?))
    }

    #[test]
    fn masks_round_trip_to_the_same_bytes() {
        for shape in [&[5, 6][..], &[5, 2, 3]] {
            assert_eq!(read(&npz(shape)).unwrap(), (shape.to_vec(), rows()));
            assert_eq!(npz(shape), npz(shape));
        }
    }

    #[test]
    fn the_header_is_that_of_numpy() {
        // np.lib.format.header_data_from_array_1_0 and its padding, NumPy 1.24
        let text = "{'descr': '|b1', 'fortran_order': False, 'shape': (15000, 64, 3), }";
        assert_eq!(
            header(BOOLEAN, &[15_000, 64, 3]),
            format!("\u{93}NUMPY\u{1}\0v\0{text:117}\n").chars().map(|c| c as u8).collect::<Vec<_>>()
        );
        assert!(String::from_utf8_lossy(&header(BOOLEAN, &[7])).contains("'shape': (7,), }"));
    }

    #[test]
    fn rows_that_do_not_fit_the_shape_are_an_error() {
        for shape in [&[5, 5][..], &[4, 6], &[6, 6], &[]] {
            let written = write_npz(Cursor::new(Vec::new()), shape, rows());
            assert!(matches!(written, Err(FormatError::WrongShape { .. })), "{shape:?}");
        }
        let array = [header(BOOLEAN, &[1, 2]), vec![0, 1]].concat();
        let error = MaskReader::new(&array[..]).unwrap().expect_shape(&[2, 1]).unwrap_err();
        assert_eq!(error.to_string(), "the array has shape [1, 2]; expected [2, 1]");
    }

    fn array(text: &str, data: &[u8]) -> Result<Vec<Vec<bool>>, FormatError> {
        let length = (text.len() as u16).to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes(), data].concat();
        MaskReader::new(&bytes[..])?.collect()
    }

    #[test]
    fn other_arrays_are_refused() {
        let error = |text: &str, data: &[u8]| array(text, data).unwrap_err().to_string();
        let good = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }";
        assert_eq!(array(good, &[0, 1, 1, 0]).unwrap(), [[false, true], [true, false]]);
        assert_eq!(error(good, &[0, 1, 1]), "the file is truncated");
        assert_eq!(error(good, &[0, 1, 1, 0, 0]), "there is data after the last row");
        assert_eq!(error(good, &[0, 1, 2, 0]), "row 1 holds the byte 2; a mask holds 0 and 1");
        let floats = error(&good.replace("|b1", "<f8"), &[]);
        assert_eq!(floats, "the array has elements of type '<f8'; a mask has `|b1`");
        assert!(matches!(array(&good.replace("False", "True"), &[0; 4]), Err(FormatError::NotNpy { .. })));
        assert!(matches!(array(&good.replace("(2, 2)", "()"), &[0]), Err(FormatError::NotNpy { .. })));
        assert!(matches!(array(&good.replace("2)", "-2)"), &[]), Err(FormatError::NotNpy { .. })));
        let huge = format!("({0}, {0}, {0})", usize::MAX);
        assert!(matches!(array(&good.replace("(2, 2)", &huge), &[]), Err(FormatError::NotNpy { .. })));
        let claimed = format!("({0}, {0})", usize::MAX);
        assert!(matches!(array(&good.replace("(2, 2)", &claimed), &[1]), Err(FormatError::Truncated)));
        assert!(matches!(MaskReader::new(&b"#ab#"[..]), Err(FormatError::NotNpy { .. })));
        assert!(matches!(MaskReader::new(&b"#aaaabbbb#"[..]), Err(FormatError::NotNpy { .. })));
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let bytes = npz(&[5, 6]);
        for end in 4..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            if let Ok((_, read)) = read(&damaged) {
                assert_eq!(read, rows(), "bit {bit}");
            }
        }
    }
}
