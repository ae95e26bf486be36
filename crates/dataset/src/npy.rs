//! The header of NumPy's `.npy` format: a line of Python that says the type, the order and the shape of what follows.
//!
//! Whoever reads an array asks the header first, and decides by its shape whether the data are wanted: an archive of a few bytes
//! can be inflated to any size, and a shape can claim any.

use std::io::{self, Read};

use thiserror::Error;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The most bytes of a header that are read: those that NumPy writes have one or two hundred.
const LONGEST_HEADER: usize = 1 << 16;

/// What a header says of its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyHeader {
    /// The version of the format, major and minor.
    pub version: [u8; 2],
    /// The type of the elements as Python text: a name in quotes, such as `'<f8'`, or a list of fields.
    pub kind: String,
    /// Whether the first index varies fastest.
    pub fortran_order: bool,
    /// The lengths of the axes.
    pub shape: Vec<usize>,
    /// The line itself, for messages.
    pub text: String,
}

/// Bytes that do not begin with a header.
#[derive(Debug, Error)]
pub enum NpyError {
    #[error("no NumPy array")]
    Magic {
        /// What stands in place of the format's name and version.
        found: Vec<u8>,
    },
    #[error("its header is cut off")]
    Read(#[source] io::Error),
    #[error("its header has {given} bytes; at most {LONGEST_HEADER} are read")]
    TooLong { given: usize },
    #[error("its header is no text")]
    NotText,
    #[error("it has no {name}")]
    NoField { name: &'static str, header: String },
    #[error("its shape has `{axis}`")]
    Axis { axis: String, header: String },
}

impl NpyHeader {
    /// Reads the header, and no byte of the data.
    pub fn read(mut input: impl Read) -> Result<Self, NpyError> {
        let mut found = Vec::with_capacity(8);
        input.by_ref().take(8).read_to_end(&mut found).map_err(NpyError::Read)?;
        let Some(&[major, minor]) = found.strip_prefix(MAGIC) else { return Err(NpyError::Magic { found }) };
        let mut length = [0; 4];
        // Two bytes in version 1, four since, in which columns of any number can be named.
        let wide = if major == 1 { 2 } else { 4 };
        input.read_exact(&mut length[..wide]).map_err(NpyError::Read)?;
        let given = u32::from_le_bytes(length) as usize;
        // Before the buffer is made: twelve bytes could ask for four gigabytes.
        if given > LONGEST_HEADER {
            return Err(NpyError::TooLong { given });
        }
        let mut header = vec![0; given];
        input.read_exact(&mut header).map_err(NpyError::Read)?;
        let header = String::from_utf8(header).map_err(|_| NpyError::NotText)?;
        Self::parse([major, minor], &header)
    }

    /// Not a parser of Python: the format prescribes these three keys, and what is not one of the few values that readers take is
    /// refused by them.
    fn parse(version: [u8; 2], header: &str) -> Result<Self, NpyError> {
        let text = || header.trim().to_owned();
        let field = |key: &str, name: &'static str| {
            let after = header.split_once(key).map(|(_, rest)| rest.trim_start());
            after.ok_or_else(|| NpyError::NoField { name, header: text() })
        };
        let kind = field("'descr':", "type")?;
        // Up to the second quotation mark, or the end of the first field of a list.
        let kind: String = kind.split_inclusive(['\'', ']']).take(2).collect();
        let fortran_order = !field("'fortran_order':", "order")?.starts_with("False");
        let shape = field("'shape':", "shape")?;
        let axes = shape.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let missing = || NpyError::NoField { name: "shape", header: text() };
        let (axes, _) = axes.ok_or_else(missing)?;
        let length =
            |axis: &str| axis.parse().map_err(|_| NpyError::Axis { axis: axis.to_owned(), header: text() });
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let shape = axes.map(length).collect::<Result<_, _>>()?;
        Ok(Self { version, kind, fortran_order, shape, text: text() })
    }
}

/// The header of an array in C order as NumPy writes it, padded so that the data start at a multiple of 64 bytes.
pub fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    // Python's tuple of one.
    let comma = if shape.len() == 1 { "," } else { "" };
    let axes = axes.join(", ") + comma;
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({axes}), }}");
    let used = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(used.next_multiple_of(64) - used));
    text.push('\n');
    [&MAGIC[..], &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}
