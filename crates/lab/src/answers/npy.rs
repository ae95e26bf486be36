//! NumPy's `.npz`: an archive of `.npy` arrays of numbers, without objects.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use wug_dataset::npy::NpyHeader;

/// The most numbers that are read.
const LARGEST: usize = 1 << 29;

/// An array of numbers, the last index varying fastest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// Says what is wrong with the shape of the array of a name. It is asked before the data are unpacked: an archive of a few bytes
/// can be inflated to any size.
pub(super) type CheckShape<'a> = dyn Fn(&str, &[usize]) -> Result<(), String> + 'a;

/// The arrays of an archive, by name.
pub(super) fn read_npz(
    file: impl Read + Seek,
    check: &CheckShape<'_>,
) -> Result<BTreeMap<String, Array>, String> {
    let mut archive = zip::ZipArchive::new(file).map_err(|error| format!("no .npz file: {error}"))?;
    let mut arrays = BTreeMap::new();
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(|error| error.to_string())?;
        let full = entry.name().map_err(|error| error.to_string())?.into_owned();
        let name = full.strip_suffix(".npy").unwrap_or(&full).to_owned();
        if arrays.contains_key(&name) {
            return Err(format!("`{name}` is there twice"));
        }
        let array = read_npy(entry, &|shape| check(&name, shape))
            .map_err(|message| format!("`{name}`: {message}"))?;
        arrays.insert(name, array);
    }
    Ok(arrays)
}

/// An array in NumPy's format. Its shape is checked first, and no more is read than it says.
fn read_npy(mut file: impl Read, check: &dyn Fn(&[usize]) -> Result<(), String>) -> Result<Array, String> {
    let NpyHeader { kind, fortran_order, shape, .. } =
        NpyHeader::read(&mut file).map_err(|error| error.to_string())?;
    let descr = kind.split('\'').nth(1).ok_or("it has no type")?;
    if fortran_order {
        return Err("it is in Fortran order; write numpy.ascontiguousarray of it".to_owned());
    }
    check(&shape)?;
    let count = shape.iter().try_fold(1_usize, |product, n| product.checked_mul(*n));
    let count = count.filter(|n| *n <= LARGEST).ok_or_else(|| format!("its shape {shape:?} is too large"))?;
    let size = match descr {
        "<f8" | "<i8" => 8,
        "<f4" | "<i4" => 4,
        other => {
            return Err(format!("its type is `{other}`; there must be float64, float32, int64 or int32"));
        }
    };
    let mut data = Vec::new();
    // One byte more than the shape says: it shows that there is too much.
    file.take((count * size) as u64 + 1).read_to_end(&mut data).map_err(|error| error.to_string())?;
    if data.len() != count * size {
        let more = if data.len() > count * size { "more than " } else { "" };
        return Err(format!("it has {more}{} numbers for the shape {shape:?}", data.len() / size));
    }
    let values = match descr {
        "<f8" => numbers(&data, f64::from_le_bytes),
        "<f4" => numbers(&data, |b| f64::from(f32::from_le_bytes(b))),
        "<i8" => numbers(&data, |b| i64::from_le_bytes(b) as f64),
        _ => numbers(&data, |b| f64::from(i32::from_le_bytes(b))),
    };
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

    /// A check that every shape passes.
    const ANY: &dyn Fn(&[usize]) -> Result<(), String> = &|_| Ok(());

    #[test]
    fn arrays_are_read_and_others_are_refused() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        let array = read_npy(&npy(header, &[0, 0, 128, 63, 0, 0, 0, 192])[..], ANY).unwrap();
        assert_eq!(array, Array { shape: vec![2], values: vec![1.0, -2.0] });
        for (header, data, expected) in [
            (header, &[0; 7][..], "1 numbers for the shape [2]"),
            (&header.replace("<f4", "|O"), &[0; 8], "its type is `|O`"),
            (&header.replace("False", "True"), &[0; 8], "Fortran order"),
            (&header.replace("(2,)", "(99999999999, 99999999999)"), &[0; 8], "too large"),
            (header, &[0; 9], "more than 2 numbers for the shape [2]"),
            ("{}", &[], "it has no type"),
        ] {
            let error = read_npy(&npy(header, data)[..], ANY).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let cut = read_npy(&b"\x93NUMPY\x01\x00\xff\xff"[..], ANY).unwrap_err();
        assert_eq!(cut, "its header is cut off");
    }

    /// Counts what is read of an array that never ends.
    struct Endless(std::rc::Rc<std::cell::Cell<usize>>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.set(self.0.get() + buffer.len());
            buffer.fill(0);
            Ok(buffer.len())
        }
    }

    #[test]
    fn no_more_is_read_than_the_shape_says() {
        let read = std::rc::Rc::new(std::cell::Cell::new(0));
        for shape in ["(2,)", "(99999999999,)"] {
            let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
            let file = npy(&header, &[]);
            assert!(read_npy((&file[..]).chain(Endless(std::rc::Rc::clone(&read))), ANY).is_err());
            assert!(read.get() < 100, "{}", read.get());
        }
    }

    /// The bomb of 972 KB that took 1.9 GB: its shape is small enough for the reader, but not the split's.
    #[test]
    fn a_shape_that_is_refused_is_not_unpacked() {
        let read = std::rc::Rc::new(std::cell::Cell::new(0));
        let file = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (250000000,), }", &[]);
        let check = |shape: &[usize]| Err(format!("{shape:?} is too much"));
        let error = read_npy((&file[..]).chain(Endless(std::rc::Rc::clone(&read))), &check).unwrap_err();
        assert_eq!((error.as_str(), read.get()), ("[250000000] is too much", 0));
    }
}
