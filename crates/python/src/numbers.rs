//! Arrays as bytes in the order of this machine, as `ndarray.tobytes` and `numpy.frombuffer` have them.

use pyo3::prelude::*;
use wug_lab::language::{Alphabet, Symbol, Word};

use crate::errors::usage;

pub(crate) fn whole(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| i64::from_ne_bytes(*chunk)).collect()
}

pub(crate) fn reals(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect()
}

pub(crate) fn whole_bytes(numbers: impl IntoIterator<Item = i64>) -> Vec<u8> {
    numbers.into_iter().flat_map(i64::to_ne_bytes).collect()
}

pub(crate) fn real_bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

/// Strings that lie one after the other, as slices of ids.
pub(crate) fn split<'i, T>(ids: &'i [T], lengths: &[i64]) -> PyResult<Vec<&'i [T]>> {
    let mut rest = ids;
    let mut strings = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let length = usize::try_from(length).map_err(|_| usage("a length is negative"))?;
        let (string, others) = rest
            .split_at_checked(length)
            .ok_or_else(|| usage("lengths add up to more than there are ids"))?;
        strings.push(string);
        rest = others;
    }
    if rest.is_empty() { Ok(strings) } else { Err(usage("lengths add up to less than there are ids")) }
}

/// The words of ids from 1 on.
pub(crate) fn words(ids: &[u8], lengths: &[u8], alphabet: &Alphabet) -> PyResult<Vec<Word>> {
    let (ids, lengths) = (whole(ids), whole(lengths));
    let symbol = |&id: &i64| {
        let known = usize::try_from(id).ok().filter(|id| (1..=alphabet.len()).contains(id));
        let known = known.ok_or_else(|| {
            usage(format!("{id} is no symbol: symbols are numbered from 1 to {}", alphabet.len()))
        });
        known.map(|id| Symbol(id as u16 - 1))
    };
    split(&ids, &lengths)?.into_iter().map(|string| string.iter().map(symbol).collect()).collect()
}

/// Words as ids from 1 on and lengths.
pub(crate) fn word_bytes<'w>(words: impl IntoIterator<Item = &'w [Symbol]>) -> (Vec<u8>, Vec<u8>) {
    let (mut ids, mut lengths) = (Vec::new(), Vec::new());
    for word in words {
        ids.extend(word.iter().map(|symbol| i64::from(symbol.0) + 1));
        lengths.push(word.len() as i64);
    }
    (whole_bytes(ids), whole_bytes(lengths))
}
