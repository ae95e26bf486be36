//! Checking a directory of data against the oracle.

use std::path::Path;

use wug_dataset::manifest::{MANIFEST, Manifest};
use wug_dataset::validation::Validation;
use wug_dataset::{Folder, Library, Seed, bliss, find, flare, tse, wade};
use wug_language::Reading;
use wug_language::registry;

use crate::LabError;
use crate::disk::Directory;
use crate::suite::Format;

/// What to check.
#[derive(Clone, Debug)]
pub struct Request {
    /// How the files are laid out; found out from the manifest if none is given.
    pub format: Option<Format>,
    /// The language or task; found out from the manifest or the directory's name if none is given.
    pub language: Option<String>,
    /// The reading to check against; the manifest's, or corrected, if none is given.
    pub reading: Option<Reading>,
}

/// Checks a directory.
pub fn validate(path: &Path, request: &Request) -> Result<Validation, LabError> {
    let directory = Directory::open(path)?;
    let manifest = read_manifest(&directory)?;
    let suite = manifest.as_ref().map(|m| m.suite.as_str());
    let format = request.format.or_else(|| detect(&directory, manifest.as_ref())).ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        LabError::Usage(format!(
            "cannot tell the format of {}; give --format, one of: {names}",
            path.display()
        ))
    })?;
    let reading = request
        .reading
        .unwrap_or_else(|| manifest.as_ref().and_then(|m| m.reading.parse().ok()).unwrap_or_default());
    if format == Format::Scan {
        return Ok(find::scan::validate_scan(&directory)?);
    }
    let name = request
        .language
        .clone()
        .or_else(|| manifest.as_ref().map(|m| m.name.clone()))
        .or_else(|| directory_name(path))
        .ok_or_else(|| LabError::Usage("give --language: the directory's name is none".to_owned()))?;
    // A directory of many languages: take the one asked for.
    let prefix = if request.language.is_some() && !is_set(&directory)? {
        sub_folder(&directory, &name)?
    } else {
        String::new()
    };
    let library = Folder { place: &directory, prefix };
    match (format, suite) {
        (Format::Jsonl, Some("wade")) => Ok(wade::validate(&library, wade::task(base(&name))?, reading)?),
        (Format::Find, _) | (Format::Jsonl, Some("find")) => {
            let seed = Seed::new(manifest.as_ref().map_or(0, |m| m.seed));
            Ok(find::validate(&library, &name, seed)?)
        }
        (Format::Jsonl, None) => Err(LabError::Usage(format!(
            "{} has no {MANIFEST}, which says what its rows are",
            path.display()
        ))),
        _ => {
            let named = registry::find(&name)?;
            let language = named.build(reading)?;
            let language = language.as_ref();
            match (format, suite) {
                (Format::Jsonl, Some("flare")) => {
                    Ok(flare::validate_jsonl(&library, &name, language, reading)?)
                }
                (Format::Jsonl, Some("tse")) | (Format::Tse, _) => {
                    Ok(tse::validate(&library, &name, language, reading)?)
                }
                (Format::Flare, _) => Ok(flare::validate(&library, &name, language, reading)?),
                _ => Ok(bliss::validate(&library, &named, language, reading)?),
            }
        }
    }
}

fn read_manifest(directory: &Directory) -> Result<Option<Manifest>, LabError> {
    let read = |source| LabError::Data(wug_dataset::DataError::io(MANIFEST)(source));
    let Some(bytes) = directory.bytes(MANIFEST).map_err(read)? else { return Ok(None) };
    let manifest = serde_json::from_slice(&bytes)
        .map_err(|error| LabError::Data(wug_dataset::DataError::file(MANIFEST, error.to_string())))?;
    Ok(Some(manifest))
}

/// The format, from the manifest or from a file that only one format has.
fn detect(directory: &Directory, manifest: Option<&Manifest>) -> Option<Format> {
    let written = manifest.and_then(|m| Format::named(m.spec["format"].as_str()?));
    let names = directory.names().ok()?;
    let has = |test: &dyn Fn(&str) -> bool| names.iter().any(|name| test(name));
    written
        .or_else(|| has(&|n| n.ends_with("main.tok")).then_some(Format::Flare))
        .or_else(|| has(&|n| n.starts_with("train_") && n.ends_with(".txt.zip")).then_some(Format::Bliss))
        .or_else(|| has(&|n| n.starts_with("train_") && n.ends_with(".txt")).then_some(Format::Text))
        .or_else(|| has(&|n| n == "tasks.txt" || n.contains("tasks_train_")).then_some(Format::Scan))
        .or_else(|| has(&|n| n == "test_pair.jsonl").then_some(Format::Tse))
        .or_else(|| has(&|n| n.ends_with(".src")).then_some(Format::Find))
}

/// Whether the directory itself holds a data set, and not one per folder.
fn is_set(directory: &Directory) -> Result<bool, LabError> {
    let names =
        directory.names().map_err(|source| LabError::Data(wug_dataset::DataError::io(".")(source)))?;
    Ok(names.iter().any(|name| !name.contains('/') || name.starts_with("datasets/")))
}

fn sub_folder(directory: &Directory, name: &str) -> Result<String, LabError> {
    let names =
        directory.names().map_err(|source| LabError::Data(wug_dataset::DataError::io(".")(source)))?;
    let wanted = registry::find(name).map(|named| named.entry.name).ok();
    let folder = names.iter().filter_map(|n| n.split_once('/')).map(|(folder, _)| folder).find(|folder| {
        *folder == name || (wanted.is_some() && registry::find(folder).map(|n| n.entry.name).ok() == wanted)
    });
    Ok(folder.map_or(String::new(), |folder| format!("{folder}/")))
}

fn directory_name(path: &Path) -> Option<String> {
    let full = path.canonicalize().ok()?;
    full.file_name()?.to_str().map(str::to_owned)
}

fn base(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}
