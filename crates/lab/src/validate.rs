//! Checking directories of data: against the oracle, and against their own manifest.

use std::path::Path;

use wug_dataset::card::CARD;
use wug_dataset::manifest::{DataManifest as Manifest, MANIFEST};
use wug_dataset::suite::{DataFormat as Format, ValidationSubject as Subject};
use wug_dataset::validation::{Findings, Validation};
use wug_dataset::{DataError, FileSource, Folder};
use wug_language::Reading;
use wug_language::registry;

use crate::LabError;
use crate::data::{canonical, folder_name};
use crate::disk::Directory;
use crate::regular;

#[derive(Clone, Debug)]
pub struct Request {
    /// How the files are laid out; found out from the manifest if none is given.
    pub format: Option<Format>,
    /// The language or task; found out from the manifest or the directory's name if none is given.
    pub language: Option<String>,
    /// The reading to check against; the manifest's, or corrected, if none is given.
    pub reading: Option<Reading>,
}

/// Checks a data set, or every one that stands in a folder of the directory.
pub fn validate(path: &Path, request: &Request) -> Result<Vec<Validation>, LabError> {
    let directory = Directory::open(path)?;
    let names = directory.names().map_err(io("."))?;
    let wanted = request.language.as_deref().map(canonical);
    let sets = data_sets(&names, wanted.as_deref());
    let mut skipped = Vec::new();
    regular::skipped(path, "", &mut skipped).map_err(io("."))?;
    if sets.is_empty() {
        let others = list(skipped.iter().map(|(name, what)| (name.as_str(), *what)));
        return Err(LabError::Usage(format!("{} holds no data set{others}", path.display())));
    }
    sets.into_iter()
        .map(|prefix| {
            let folder = if prefix.is_empty() { path.to_path_buf() } else { path.join(&prefix) };
            let inside =
                || skipped.iter().filter_map(|(name, what)| Some((name.strip_prefix(&prefix)?, *what)));
            let checked = one(&Folder { files: &directory, prefix: prefix.clone() }, &folder, request);
            let mut report = checked.map_err(|error| match error {
                LabError::Data(DataError::Missing { file, hint }) => {
                    LabError::Data(DataError::Missing { file, hint: hint + &list(inside()) })
                }
                other => other,
            })?;
            report_skipped(&mut report, inside());
            Ok(report)
        })
        .collect()
}

/// What is no regular file, as the end of a message.
fn list<'a>(skipped: impl Iterator<Item = (&'a str, &'static str)>) -> String {
    let each: Vec<String> = skipped.map(|(name, what)| format!("; `{name}` is {what}")).collect();
    each.concat()
}

/// What is no regular file was not checked; that is an error unless it is only a folder.
fn report_skipped<'a>(report: &mut Validation, skipped: impl Iterator<Item = (&'a str, &'static str)>) {
    for (name, what) in skipped {
        let message = format!("{name} is {what}, and was not read");
        if what.ends_with("directory") {
            report.unchecked(message);
            continue;
        }
        let mut findings = Findings::default();
        findings.error("unreadable_files", 1);
        findings.unchecked(message);
        report.add(name, findings);
    }
}

fn io(file: &str) -> impl FnOnce(std::io::Error) -> LabError + '_ {
    |source| LabError::Data(DataError::io(file)(source))
}

/// The folders that hold a data set: the directory itself, or those inside it (of the language that is
/// wanted, if one is).
fn data_sets(names: &[String], wanted: Option<&str>) -> Vec<String> {
    let inner = Format::ALL.map(Format::folders).concat();
    let here = |name: &String| !name.contains('/') || inner.iter().any(|folder| name.starts_with(folder));
    // The card of a folder of data sets is no data set.
    if names.iter().any(|name| name != CARD && here(name)) {
        return vec![String::new()];
    }
    let mut folders: Vec<&str> = names.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
    // Names are sorted, so that the files of a folder stand together.
    folders.dedup();
    // Aliases of a language are the same. A task is no language and is compared by name.
    let same = |a: &str, b: &str| match (registry::find(a), registry::find(b)) {
        (Ok(a), Ok(b)) => a.spelled() == b.spelled(),
        _ => canonical(a) == folder_name(b),
    };
    folders.retain(|folder| wanted.is_none_or(|wanted| same(folder, wanted)));
    folders.into_iter().map(|folder| format!("{folder}/")).collect()
}

fn one(files: &Folder<'_, Directory>, path: &Path, request: &Request) -> Result<Validation, LabError> {
    let names = files.names().map_err(io("."))?;
    let manifest = read_manifest(files)?;
    let written = manifest.as_ref().and_then(|m| Format::named(m.spec["format"].as_str()?));
    let format = request.format.or(written).or_else(|| Format::detect(&names)).ok_or_else(|| {
        let formats = Format::ALL.map(Format::name).join(", ");
        LabError::Usage(format!(
            "cannot tell the format of {}; give --format, one of: {formats}",
            path.display()
        ))
    })?;
    let stated = manifest.as_ref().and_then(|m| m.reading.parse().ok());
    // The request comes before the manifest: people check data against the reading that they doubt.
    let reading = request.reading.or(stated).unwrap_or_default();
    let name =
        request.language.as_deref().map(canonical).or_else(|| manifest.as_ref().map(|m| m.name.clone()));
    let name = name.or_else(|| directory_name(path)).unwrap_or_default();
    let subject = Subject { format, name: &name, reading, manifest: manifest.as_ref() };
    let mut report = subject.validate(files)?;
    report.reading = reading.to_string();
    if let Some(manifest) = &manifest {
        report.add_manifest(against_manifest(files, path, &names, manifest)?);
    }
    Ok(report)
}

/// Whether the files are those that the manifest lists.
fn against_manifest(
    files: &Folder<'_, Directory>,
    path: &Path,
    names: &[String],
    manifest: &Manifest,
) -> Result<Findings, LabError> {
    let mut findings = Findings::default();
    let (mut missing, mut changed) = (0, 0);
    for file in &manifest.files {
        // A file of another size need not be read.
        let length = std::fs::metadata(path.join(&file.name))
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|meta| meta.len());
        let hash = match length {
            // No hash is empty: the file counts as changed.
            Some(length) if length != file.bytes => Some(String::new()),
            Some(_) => wug_dataset::manifest::hash(files, &file.name)?,
            None => None,
        };
        match hash {
            None => {
                missing += 1;
                findings.sample(|| format!("{} is listed but not there", file.name));
            }
            Some(hash) if hash != file.blake3 => {
                changed += 1;
                findings.sample(|| format!("{} is not what it was when it was written", file.name));
            }
            Some(_) => {}
        }
    }
    let listed = |name: &String| name == MANIFEST || manifest.files.iter().any(|file| file.name == *name);
    findings.fact("files", manifest.files.len());
    findings.error("missing_files", missing);
    findings.error("changed_files", changed);
    findings.fact("unlisted_files", names.iter().filter(|name| !listed(name)).count());
    Ok(findings)
}

fn read_manifest(files: &Folder<'_, Directory>) -> Result<Option<Manifest>, LabError> {
    let Some(bytes) = files.bytes(MANIFEST).map_err(io(MANIFEST))? else { return Ok(None) };
    let manifest = serde_json::from_slice(&bytes);
    manifest.map(Some).map_err(|error| LabError::Data(DataError::file(MANIFEST, error.to_string())))
}

fn directory_name(path: &Path) -> Option<String> {
    let full = path.canonicalize().ok()?;
    full.file_name()?.to_str().map(canonical)
}
