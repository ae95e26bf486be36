//! How much memory a request may take. Sizes come from names, options and files, so they are estimated before anything is
//! allocated.

use thiserror::Error;

/// The memory that one request may take: 2 GiB.
pub const MEMORY: u64 = 2 << 30;

/// A request that would take more memory than [`MEMORY`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{what} would take about {}; the limit is {}", bytes_text(*.bytes), bytes_text(MEMORY.into()))]
pub struct TooLarge {
    what: String,
    bytes: u128,
}

/// An error if an estimate is above [`MEMORY`]; `what` begins the message.
///
/// ```
/// use wug_language::limit::check_memory;
/// assert!(check_memory(1e9, || unreachable!()).is_ok());
/// let error = check_memory(3e12, || "a trillion strings".to_owned()).unwrap_err();
/// assert_eq!(error.to_string(), "a trillion strings would take about 2.7 TiB; the limit is 2.0 GiB");
/// ```
pub fn check_memory(bytes: f64, what: impl FnOnce() -> String) -> Result<(), TooLarge> {
    if bytes <= MEMORY as f64 {
        return Ok(());
    }
    Err(TooLarge { what: what(), bytes: bytes as u128 })
}

fn bytes_text(bytes: u128) -> String {
    let mut value = bytes as f64;
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    format!("{value:.1} {unit}")
}
