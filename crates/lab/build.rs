//! Gives the build a name: a hash over all that results depend on, without asking git.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose code determines results; the command line and the report do not.
const CRATES: [&str; 5] = ["language", "dataset", "learner", "score", "lab"];

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let workspace = here.join("../..");
    let mut roots: Vec<PathBuf> =
        CRATES.iter().map(|name| workspace.join("crates").join(name).join("src")).collect();
    roots.push(workspace.join("Cargo.lock"));
    // A packaged crate stands alone: its own sources, and the versions of the others, are what it knows.
    if !roots.iter().all(|root| root.exists()) {
        roots = vec![here.join("src"), here.join("Cargo.toml")];
    }
    let mut hash = Fnv::default();
    for root in &roots {
        println!("cargo::rerun-if-changed={}", root.display());
        let base = root.parent().and_then(Path::parent).unwrap_or(root);
        let mut files = Vec::new();
        collect(root, &mut files);
        files.sort();
        for file in files {
            hash.update(file.strip_prefix(base).unwrap_or(&file).to_string_lossy().as_bytes());
            hash.update(&fs::read(&file).unwrap_or_default());
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=WUG_BUILD={:016x}", hash.0);
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| collect(&entry.path(), files)),
        Err(_) => files.push(path.to_path_buf()),
    }
}

/// FNV-1a of 64 bits: it tells builds apart, and a build script needs no dependency for it.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds the length too, so that the end of one text is not the beginning of the next.
    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
