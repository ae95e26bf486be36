//! Checking directories of data: against the oracle, and against their own manifest.

use std::path::Path;

use wug_dataset::manifest::{MANIFEST, Manifest};
use wug_dataset::validation::{Findings, Validation};
use wug_dataset::{DataError, FileSource, Folder, Seed, bliss, find, flare, tse, wade};
use wug_language::Reading;
use wug_language::registry;

use crate::LabError;
use crate::data::{canonical, parse_lengths};
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

/// Checks a data set, or every one that stands in a folder of the directory.
pub fn validate(path: &Path, request: &Request) -> Result<Vec<Validation>, LabError> {
    let directory = Directory::open(path)?;
    let names = directory.names().map_err(io("."))?;
    let wanted = request.language.as_deref().map(canonical);
    let sets = data_sets(&names, wanted.as_deref());
    if sets.is_empty() {
        return Err(LabError::Usage(format!("{} holds no data set", path.display())));
    }
    sets.into_iter()
        .map(|prefix| {
            let folder = if prefix.is_empty() { path.to_path_buf() } else { path.join(&prefix) };
            one(&Folder { place: &directory, prefix }, &folder, request)
        })
        .collect()
}

fn io(file: &str) -> impl FnOnce(std::io::Error) -> LabError + '_ {
    |source| LabError::Data(DataError::io(file)(source))
}

/// The folders that hold a data set: the directory itself, or those inside it (of the language that is
/// wanted, if one is).
fn data_sets(names: &[String], wanted: Option<&str>) -> Vec<String> {
    let here = names.iter().any(|name| !name.contains('/') || name.starts_with("datasets/"));
    let layouts = ["simple_split/", "add_prim_split/", "length_split/"];
    if here || names.iter().any(|name| layouts.iter().any(|folder| name.starts_with(folder))) {
        return vec![String::new()];
    }
    let mut folders: Vec<&str> = names.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
    folders.dedup();
    let same = |a: &str, b: &str| match (registry::find(a), registry::find(b)) {
        (Ok(a), Ok(b)) => a.spelled() == b.spelled(),
        _ => canonical(a) == b.replace([':', '=', ','], "-"),
    };
    folders.retain(|folder| wanted.is_none_or(|wanted| same(folder, wanted)));
    folders.into_iter().map(|folder| format!("{folder}/")).collect()
}

fn one(library: &Folder<'_, Directory>, path: &Path, request: &Request) -> Result<Validation, LabError> {
    let names = library.names().map_err(io("."))?;
    let manifest = read_manifest(library)?;
    let format = request.format.or_else(|| detect(&names, manifest.as_ref())).ok_or_else(|| {
        let formats = Format::ALL.map(Format::name).join(", ");
        LabError::Usage(format!(
            "cannot tell the format of {}; give --format, one of: {formats}",
            path.display()
        ))
    })?;
    let stated = manifest.as_ref().and_then(|m| m.reading.parse().ok());
    let reading = request.reading.or(stated).unwrap_or_default();
    let name =
        request.language.as_deref().map(canonical).or_else(|| manifest.as_ref().map(|m| m.name.clone()));
    let name = name.or_else(|| directory_name(path)).unwrap_or_default();
    let mut report = against_oracle(library, format, &name, reading, manifest.as_ref())?;
    report.reading = reading.to_string();
    if let Some(manifest) = &manifest {
        report.add_manifest(against_manifest(library, &names, manifest)?);
    }
    Ok(report)
}

fn against_oracle(
    library: &Folder<'_, Directory>,
    format: Format,
    name: &str,
    reading: Reading,
    manifest: Option<&Manifest>,
) -> Result<Validation, LabError> {
    let base = name.split(':').next().unwrap_or(name);
    if format == Format::Scan {
        if base != "scan" && find::entry(base).is_ok() | registry::find(base).is_ok() {
            return Err(LabError::Usage(format!("`{name}` is not laid out as scan; only `scan` is")));
        }
        return Ok(find::scan::validate_scan(library)?);
    }
    // Without a manifest, rows are those of the suite that has a language or task of this name.
    let suite = manifest.map(|m| m.suite.as_str()).or_else(|| {
        let language = registry::find(name).ok().map(|named| named.entry.suite);
        language
            .or_else(|| wade::task(base).ok().map(|_| "wade"))
            .or_else(|| find::entry(base).ok().map(|_| "find"))
    });
    match (format, suite) {
        (Format::Jsonl, Some("wade")) => return Ok(wade::validate(library, wade::task(base)?, reading)?),
        (Format::Find, _) | (Format::Jsonl, Some("find")) => {
            let seed = Seed::new(manifest.map_or(0, |m| m.seed));
            return Ok(find::validate(library, name, seed)?);
        }
        _ => {}
    }
    let named = registry::find(name)?;
    let language = named.build(reading)?;
    let language = language.as_ref();
    let ranges = ranges(manifest);
    match (format, suite) {
        (Format::Flare, _) => Ok(flare::validate(library, name, language, reading, &ranges)?),
        (Format::Jsonl, Some("flare")) => {
            Ok(flare::validate_jsonl(library, name, language, reading, &ranges)?)
        }
        (Format::Tse, _) | (Format::Jsonl, Some("tse")) => {
            Ok(tse::validate(library, name, language, reading)?)
        }
        _ => Ok(bliss::validate(library, &named, language, reading)?),
    }
}

/// The length ranges of the splits, as the manifest has them.
fn ranges(manifest: Option<&Manifest>) -> flare::Ranges {
    let splits = manifest.and_then(|m| m.spec["data"].as_object());
    let range = |(name, split): (&String, &serde_json::Value)| {
        Some((name.clone(), parse_lengths(split["lengths"].as_str()?)?))
    };
    splits.into_iter().flatten().filter_map(range).collect()
}

/// Whether the files are those that the manifest lists.
fn against_manifest(
    library: &Folder<'_, Directory>,
    names: &[String],
    manifest: &Manifest,
) -> Result<Findings, LabError> {
    let mut findings = Findings::default();
    let (mut missing, mut changed) = (0, 0);
    for file in &manifest.files {
        match wug_dataset::manifest::hash(library, &file.name)? {
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

fn read_manifest(library: &Folder<'_, Directory>) -> Result<Option<Manifest>, LabError> {
    let Some(bytes) = library.bytes(MANIFEST).map_err(io(MANIFEST))? else { return Ok(None) };
    let manifest = serde_json::from_slice(&bytes);
    manifest.map(Some).map_err(|error| LabError::Data(DataError::file(MANIFEST, error.to_string())))
}

/// The format, from the manifest or from a file that only one format has.
fn detect(names: &[String], manifest: Option<&Manifest>) -> Option<Format> {
    let written = manifest.and_then(|m| Format::named(m.spec["format"].as_str()?));
    let has = |test: &dyn Fn(&str) -> bool| names.iter().any(|name| test(name));
    written
        .or_else(|| has(&|n| n.ends_with("main.tok")).then_some(Format::Flare))
        .or_else(|| has(&|n| n.starts_with("train_") && n.ends_with(".txt.zip")).then_some(Format::Bliss))
        .or_else(|| has(&|n| n.starts_with("train_") && n.ends_with(".txt")).then_some(Format::Text))
        .or_else(|| has(&|n| n == "tasks.txt" || n.contains("tasks_train_")).then_some(Format::Scan))
        .or_else(|| has(&|n| n == "test_pair.jsonl").then_some(Format::Tse))
        .or_else(|| has(&|n| n.ends_with(".src")).then_some(Format::Find))
        .or_else(|| has(&|n| n.ends_with(".jsonl")).then_some(Format::Jsonl))
}

fn directory_name(path: &Path) -> Option<String> {
    let full = path.canonicalize().ok()?;
    full.file_name()?.to_str().map(canonical)
}
