//! Writing the data of a suite: `SUITE/NAME` and a few options in, a directory with a manifest out.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use wug_dataset::manifest::{About, Manifest, Recorder};
use wug_dataset::{FileSink, Seed, bliss, find, flare, tse, wade};
use wug_language::registry::{self, Named};
use wug_language::{LengthRange, Reading};

use crate::LabError;
use crate::disk::Staging;
use crate::suite::{Format, SUITES, Suite};

/// What to write.
#[derive(Clone, Debug)]
pub struct Request {
    /// The suite.
    pub suite: &'static Suite,
    /// One language or task, with settings after a colon; all of the paper's if none is named.
    pub name: Option<String>,
    /// The reading.
    pub reading: Reading,
    /// The seed; a suite's own default if none is given.
    pub seed: Option<u64>,
    /// The format; the suite's first if none is given.
    pub format: Option<Format>,
    /// Sizes and lengths, by name.
    pub options: BTreeMap<String, String>,
}

impl Request {
    /// Takes `SUITE` or `SUITE/NAME` apart.
    pub fn parse(text: &str) -> Result<Self, LabError> {
        let (suite, name) = text.split_once('/').map_or((text, None), |(s, n)| (s, Some(n)));
        let suite = Suite::named(&suite.to_lowercase()).ok_or_else(|| {
            let known = SUITES.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
            LabError::Usage(format!("unknown suite `{suite}`; there are: {known}"))
        })?;
        let name = name.filter(|n| !n.is_empty()).map(canonical);
        Ok(Self {
            suite,
            name,
            reading: Reading::default(),
            seed: None,
            format: None,
            options: BTreeMap::new(),
        })
    }

    /// The formats that this request can be written in; the first is the default.
    fn formats(&self) -> Vec<Format> {
        let scan = self.name.as_deref().is_some_and(|n| n.split(':').next() == Some("scan"));
        match self.suite.name {
            "find" if scan => vec![Format::Scan, Format::Find, Format::Jsonl],
            "find" => vec![Format::Find, Format::Jsonl],
            _ => self.suite.formats.to_vec(),
        }
    }

    fn resolved_format(&self) -> Result<Format, LabError> {
        let allowed = self.formats();
        match self.format {
            None => Ok(allowed[0]),
            Some(format) if allowed.contains(&format) => Ok(format),
            Some(format) => {
                let names = allowed.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
                let what = self
                    .name
                    .as_ref()
                    .map_or(self.suite.name.to_owned(), |n| format!("{}/{n}", self.suite.name));
                Err(LabError::Usage(format!(
                    "{what} is not written as `{}`; it can be: {names}",
                    format.name()
                )))
            }
        }
    }
}

/// Writes data sets to a directory, all or nothing. `progress` is told the name of each language or task
/// before it is made.
pub fn write(
    request: &Request,
    target: &Path,
    force: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Manifest>, LabError> {
    // Most mistakes in a request are found here, before the disk is touched; what only shows while data are
    // drawn leaves nothing behind either, because the stage is removed with all that was made for it.
    let jobs = plan(request)?;
    let mut stage = Staging::begin(target)?;
    let mut manifests = Vec::new();
    for job in &jobs {
        progress(&job.name);
        manifests.push(job.write(&mut stage).map_err(|error| at(target, error))?);
    }
    stage.finish(force)?;
    Ok(manifests)
}

/// Disk errors inside a data set name the file alone; say where it was to go.
fn at(target: &Path, error: LabError) -> LabError {
    match error {
        LabError::Data(wug_dataset::DataError::Io { file, source }) => {
            LabError::Disk { path: target.join(file), source }
        }
        other => other,
    }
}

/// One data set to be written.
struct Job {
    name: String,
    folder: String,
    format: Format,
    reading: Reading,
    seed: Option<u64>,
    kind: Kind,
}

enum Kind {
    Flare { named: Named, splits: Vec<flare::SplitSpec> },
    Bliss { named: Named, sizes: Vec<usize>, store_tests: bool },
    Tse { named: Named, sizes: tse::Sizes },
    Wade { settings: wade::Settings, task: &'static wade::Task, count: usize },
    Find { task: String },
}

fn plan(request: &Request) -> Result<Vec<Job>, LabError> {
    let format = request.resolved_format()?;
    let names: Vec<String> = match &request.name {
        Some(name) => vec![name.clone()],
        None => request.suite.published(),
    };
    let alone = request.name.is_some();
    let mut options = Options { given: request.options.clone(), known: Vec::new() };
    let mut jobs = Vec::new();
    for name in names {
        options.known.clear();
        let kind = kind(request, &name, &mut options)?;
        options.all_known(request.suite.name)?;
        let folder = if alone { String::new() } else { format!("{}/", name.replace([':', '=', ','], "-")) };
        let format = if !alone && name.starts_with("scan") && request.format.is_none() {
            Format::Scan
        } else {
            format
        };
        jobs.push(Job { name, folder, format, reading: request.reading, seed: request.seed, kind });
    }
    Ok(jobs)
}

fn kind(request: &Request, name: &str, options: &mut Options) -> Result<Kind, LabError> {
    let reading = request.reading;
    Ok(match request.suite.name {
        "flare" => {
            let named = registry::find(name)?;
            named.build(reading)?;
            let mut splits = flare::published_splits();
            for split in &mut splits {
                split.size = options.count(&format!("{}.size", split.name), split.size)?;
                split.lengths = options.lengths(&format!("{}.lengths", split.name), split.lengths.clone())?;
            }
            Kind::Flare { named, splits }
        }
        "bliss" => {
            let named = registry::find(name)?;
            named.build(reading)?;
            let mut sizes = options.counts("sizes", &bliss::SIZES)?;
            sizes.dedup();
            if let Some(size) = sizes.iter().find(|size| !(50..=1_000_000).contains(*size)) {
                return Err(bad(
                    "sizes",
                    &size.to_string(),
                    "counts from 50 to 1000000, as 100,250,500,1000",
                ));
            }
            let store_tests = match options.value("tests") {
                None | Some("described") => false,
                Some("stored") => true,
                Some(other) => return Err(bad("tests", other, "`described` or `stored`")),
            };
            Kind::Bliss { named, sizes, store_tests }
        }
        "tse" => {
            let named = registry::find(name)?;
            let language = named.build(reading)?;
            tse::Kind::of(&named, language.as_ref())?;
            let paper = tse::Sizes::default();
            let sizes = tse::Sizes {
                train: options.count("train", paper.train)?,
                validation: options.count("validation", paper.validation)?,
                test: options.count("test", paper.test)?,
                out_of_distribution: options.count("ood", paper.out_of_distribution)?,
                lengths: options.lengths("lengths", paper.lengths)?,
                greater_lengths: options.lengths("ood.lengths", paper.greater_lengths)?,
            };
            Kind::Tse { named, sizes }
        }
        "wade" => {
            let (name, rest) = name.split_once(':').unwrap_or((name, ""));
            let task = wade::task(name)?;
            let mut settings = task.settings(reading);
            for setting in rest.split(',').filter(|s| !s.is_empty()) {
                settings = settings.with(setting)?;
            }
            Kind::Wade { settings, task, count: options.count("n", 1_200)? }
        }
        _ => {
            find::build(name, Seed::new(0))?;
            Kind::Find { task: name.to_owned() }
        }
    })
}

impl Job {
    fn write(&self, sink: &mut dyn FileSink) -> Result<Manifest, LabError> {
        let mut out = Recorder::new(sink, &self.folder);
        let seed = Seed::new(self.seed.unwrap_or(0));
        let about = |suite: &'static str, name: String, spec: Value, facts: Value| About {
            suite,
            name,
            reading: self.reading,
            seed,
            spec: json!({ "format": self.format.name(), "data": spec }),
            facts,
        };
        let about = match &self.kind {
            Kind::Flare { named, splits } => {
                let language = named.build(self.reading)?;
                let data = flare::generate(language.as_ref(), splits, self.reading, seed)?;
                match self.format {
                    Format::Jsonl => flare::write_jsonl(&data.splits, language.alphabet(), &mut out)?,
                    _ => flare::write(&data.splits, language.as_ref(), &mut out)?,
                }
                let spec = splits.iter().map(|s| {
                    let lengths = format!("{}..{}", s.lengths.start(), s.lengths.end());
                    (s.name.clone(), json!({ "size": s.size, "lengths": lengths }))
                });
                about("flare", named.spelled(), Value::Object(spec.collect()), data.facts())
            }
            Kind::Bliss { named, sizes, store_tests } => {
                let layout = match self.format {
                    Format::Text => bliss::Layout::Text,
                    Format::Jsonl => bliss::Layout::Rows,
                    _ => bliss::Layout::Archives,
                };
                let seed = self.seed.unwrap_or(u64::from(bliss::SEED));
                let facts = bliss::write(named, sizes, self.reading, seed, layout, *store_tests, &mut out)?;
                let about = about("bliss", named.spelled(), json!({ "sizes": sizes }), facts);
                About { seed: Seed::new(seed), ..about }
            }
            Kind::Tse { named, sizes } => {
                let language = named.build(self.reading)?;
                let data = tse::generate(named, sizes, self.reading, seed)?;
                match self.format {
                    Format::Jsonl => tse::write_jsonl(&data, language.alphabet(), &mut out)?,
                    _ => tse::write(&data, language.alphabet(), &mut out)?,
                }
                let range = |r: &LengthRange| format!("{}..{}", r.start(), r.end());
                let spec = json!({
                    "train": sizes.train, "validation": sizes.validation, "test": sizes.test,
                    "ood": sizes.out_of_distribution,
                    "lengths": range(&sizes.lengths), "ood.lengths": range(&sizes.greater_lengths),
                });
                about("tse", named.spelled(), spec, data.facts(language.as_ref()))
            }
            Kind::Wade { settings, task, count } => {
                let data = wade::dataset_with(task, settings, *count, seed);
                wade::write(&data, &mut out)?;
                let facts = json!({
                    "drawn": data.drawn, "distinct": data.sequences.len(), "missing": data.missing(),
                    "train": data.train.len(), "test": data.test.len(),
                });
                let spec = json!({ "n": count, "settings": settings.to_string() });
                about("wade", task.name.to_owned(), spec, facts)
            }
            Kind::Find { task } if self.format == Format::Scan => {
                find::scan::write_scan(seed, &mut out)?;
                about("find", task.clone(), Value::Null, Value::Null)
            }
            Kind::Find { task } => {
                let task = find::build(task, seed)?;
                match self.format {
                    Format::Jsonl => find::write_jsonl(&task, &mut out)?,
                    _ => find::write_text(&task, &mut out)?,
                }
                let facts = json!({ "train": task.train.len(), "holdout": task.holdout.len() });
                about("find", task.name.clone(), Value::Null, facts)
            }
        };
        Ok(out.finish(about)?)
    }
}

/// Options as typed, `key=value`, and the keys that were asked for.
struct Options {
    given: BTreeMap<String, String>,
    known: Vec<String>,
}

impl Options {
    fn value(&mut self, key: &str) -> Option<&str> {
        self.known.push(key.to_owned());
        self.given.get(key).map(String::as_str)
    }

    fn count(&mut self, key: &str, default: usize) -> Result<usize, LabError> {
        match self.value(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| bad(key, text, "a count such as 1000")),
        }
    }

    fn counts(&mut self, key: &str, default: &[usize]) -> Result<Vec<usize>, LabError> {
        let Some(text) = self.value(key) else { return Ok(default.to_vec()) };
        let counts: Option<Vec<usize>> =
            text.split(',').map(|n| n.trim().parse().ok().filter(|n| *n > 0)).collect();
        counts.ok_or_else(|| bad(key, text, "counts such as 100,250"))
    }

    fn lengths(&mut self, key: &str, default: LengthRange) -> Result<LengthRange, LabError> {
        let Some(text) = self.value(key) else { return Ok(default) };
        parse_lengths(text).ok_or_else(|| {
            bad(key, text, "a range such as 0..40, the first not above the second, up to 1000000")
        })
    }

    fn all_known(&self, suite: &str) -> Result<(), LabError> {
        match self.given.keys().find(|key| !self.known.contains(key)) {
            None => Ok(()),
            Some(key) => {
                let known = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
                Err(LabError::Usage(format!("`{suite}` has no option `{key}`; it has: {known}")))
            }
        }
    }
}

fn bad(key: &str, given: &str, allowed: &str) -> LabError {
    LabError::Usage(format!("`{key}` cannot be `{given}`; it must be {allowed}"))
}

/// Lower case, with hyphens, before the colon; settings are left as they are.
pub fn canonical(name: &str) -> String {
    let (base, settings) = name.split_once(':').map_or((name, None), |(b, s)| (b, Some(s)));
    let base = base.to_lowercase().replace(['_', ' '], "-");
    settings.map_or(base.clone(), |settings| format!("{base}:{settings}"))
}

/// The longest strings that can be asked for: far beyond any experiment, and within any machine's memory.
pub const LONGEST: usize = 1_000_000;

/// Reads `A..B`, inclusive at both ends, or a single length.
pub fn parse_lengths(text: &str) -> Option<LengthRange> {
    let (lo, hi) = text.split_once("..").unwrap_or((text, text));
    let (lo, hi) = (lo.trim().parse().ok()?, hi.trim().trim_start_matches('=').parse().ok()?);
    (lo <= hi && hi <= LONGEST).then_some(lo..=hi)
}
