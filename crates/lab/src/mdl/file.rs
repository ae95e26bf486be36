//! Files of networks.

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use wug_learner::mdl::MdlNetwork;

use crate::LabError;
use crate::regular::open_regular;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 26;

/// A file of a network.
#[derive(Clone, Debug)]
pub struct NetworkFile {
    pub network: MdlNetwork,
    /// All that the file says.
    pub json: Value,
}

/// Reads a network: JSON as `wug mdl search` writes it, the network alone, or any object that has it as `net`.
pub fn read_network(path: &Path) -> Result<NetworkFile, LabError> {
    let missing = || LabError::Usage(format!("{}: there is no such file", path.display()));
    let file = open_regular(path).map_err(LabError::disk(path))?.ok_or_else(missing)?;
    let mut text = Vec::new();
    // One byte more than allowed shows that a file is too large; without it, the file would be cut off.
    file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(LabError::disk(path))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(LabError::Usage(format!("{}: larger than {MAX_BYTES} bytes", path.display())));
    }
    let wrong = |problem: String| LabError::Usage(format!("{}: {problem}", path.display()));
    let json: Value = serde_json::from_slice(&text).map_err(|error| wrong(format!("not JSON: {error}")))?;
    let network = MdlNetwork::from_json(&json).map_err(|error| wrong(error.to_string()))?;
    Ok(NetworkFile { network, json })
}
