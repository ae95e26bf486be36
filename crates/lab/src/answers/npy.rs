//! NumPy's `.npz`: an archive of `.npy` arrays of numbers, without objects.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

/// The most numbers that are read.
const LARGEST: usize = 1 << 29;

/// An array of numbers, the last index varying fastest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// The arrays of an archive, by name.
pub(super) fn read_npz(file: File) -> Result<BTreeMap<String, Array>, String> {
    let mut archive = zip::ZipArchive::new(file).map_err(|error| format!("no .npz file: {error}"))?;
    let mut arrays = BTreeMap::new();
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(|error| error.to_string())?;
        let full = entry.name().map_err(|error| error.to_string())?.into_owned();
        let name = full.strip_suffix(".npy").unwrap_or(&full).to_owned();
        let mut bytes = Vec::new();
        let limit = (LARGEST * 8) as u64;
        entry.take(limit).read_to_end(&mut bytes).map_err(|error| format!("`{name}`: {error}"))?;
        let array = read_npy(&bytes).map_err(|message| format!("`{name}`: {message}"))?;
        arrays.insert(name, array);
    }
    Ok(arrays)
}

/// An array in NumPy's format.
fn read_npy(bytes: &[u8]) -> Result<Array, String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("no NumPy array")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or("no NumPy array")?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk::<2>().map(|(n, rest)| (usize::from(u16::from_le_bytes(*n)), rest)),
        _ => rest.split_first_chunk::<4>().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest)),
    }
    .ok_or("its header is cut off")?;
    let (header, data) = rest.split_at_checked(length).ok_or("its header is cut off")?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is no text")?;
    let field = |name: &str| {
        let at = header.find(&format!("'{name}':"))?;
        Some(header[at + name.len() + 3..].trim_start())
    };
    let descr = field("descr").and_then(|text| text.split('\'').nth(1)).ok_or("it has no type")?;
    if field("fortran_order").is_none_or(|text| !text.starts_with("False")) {
        return Err("it is in Fortran order; write numpy.ascontiguousarray of it".to_owned());
    }
    let shape = field("shape").and_then(|text| text.strip_prefix('(')?.split(')').next());
    let shape = shape.ok_or("it has no shape")?;
    let shape: Vec<usize> = (shape.split(',').map(str::trim).filter(|n| !n.is_empty()))
        .map(|n| n.parse().map_err(|_| format!("its shape has `{n}`")))
        .collect::<Result<_, _>>()?;
    let count = shape.iter().try_fold(1_usize, |product, n| product.checked_mul(*n));
    let count = count.filter(|n| *n <= LARGEST).ok_or_else(|| format!("its shape {shape:?} is too large"))?;
    let values = match descr {
        "<f8" => numbers(data, f64::from_le_bytes),
        "<f4" => numbers(data, |b| f64::from(f32::from_le_bytes(b))),
        "<i8" => numbers(data, |b| i64::from_le_bytes(b) as f64),
        "<i4" => numbers(data, |b| f64::from(i32::from_le_bytes(b))),
        other => {
            return Err(format!("its type is `{other}`; there must be float64, float32, int64 or int32"));
        }
    };
    if values.len() != count {
        return Err(format!("it has {} numbers for the shape {shape:?}", values.len()));
    }
    Ok(Array { shape, values })
}

fn numbers<const N: usize>(data: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    data.as_chunks::<N>().0.iter().map(|bytes| number(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    #[test]
    fn arrays_are_read_and_others_are_refused() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        let array = read_npy(&npy(header, &[0, 0, 128, 63, 0, 0, 0, 192])).unwrap();
        assert_eq!(array, Array { shape: vec![2], values: vec![1.0, -2.0] });
        for (header, data, expected) in [
            (header, &[0; 7][..], "1 numbers for the shape [2]"),
            (&header.replace("<f4", "|O"), &[0; 8], "its type is `|O`"),
            (&header.replace("False", "True"), &[0; 8], "Fortran order"),
            (&header.replace("(2,)", "(99999999999, 99999999999)"), &[0; 8], "too large"),
            ("{}", &[], "it has no type"),
        ] {
            let error = read_npy(&npy(header, data)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(read_npy(b"\x93NUMPY\x01\x00\xff\xff").unwrap_err(), "its header is cut off");
    }
}
