//! Limits of the sizes in a config. They are far beyond any experiment here, and small enough that no product of sizes
//! overflows.

use super::SpecError;

/// Any size but the number of layers.
const LARGEST: usize = 1 << 20;
const LAYERS: usize = 1 << 10;
/// Four gigabytes in single precision; training needs several times as much.
const PARAMETERS: usize = 1 << 30;

/// An error if one of several sizes, whose names are `what`, is zero.
pub(super) fn positive(what: &str, sizes: &[usize]) -> Result<(), SpecError> {
    if sizes.contains(&0) {
        return Err(SpecError(format!("{what} of {sizes:?}; all must be at least 1")));
    }
    Ok(())
}

/// An error for the first size that is too large.
pub(super) fn bounded<const N: usize>(sizes: [(&str, usize); N]) -> Result<(), SpecError> {
    match sizes.into_iter().find(|&(_, size)| size > LARGEST) {
        Some((what, size)) => Err(SpecError(format!("{what} of {size}; at most {LARGEST} is possible"))),
        None => Ok(()),
    }
}

pub(super) fn layered(layers: usize) -> Result<(), SpecError> {
    if layers <= LAYERS {
        return Ok(());
    }
    Err(SpecError(format!("{layers} layers; at most {LAYERS} are possible")))
}

/// The number of parameters; an error if there are too many.
pub(super) fn countable(count: usize) -> Result<usize, SpecError> {
    match count {
        ..=PARAMETERS => Ok(count),
        count => Err(SpecError(format!("{count} parameters; at most {PARAMETERS} are possible"))),
    }
}

/// An error for a dropout that is not a probability below 1.
pub(super) fn probability(p: f64) -> Result<(), SpecError> {
    if (0.0..1.0).contains(&p) {
        return Ok(());
    }
    Err(SpecError(format!("a dropout of {p}; it must be in 0..1")))
}
