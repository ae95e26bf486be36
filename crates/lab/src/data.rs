//! Writing the data of a suite: `SUITE/NAME` and a few options in, a directory with a manifest out.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use wug_dataset::card::{CARD, collection};
use wug_dataset::find::prompt_form;
use wug_dataset::manifest::{About, DataManifest as Manifest, Recorder};
use wug_dataset::suite::{self, DataFormat as Format, PlannedData, SUITES, Suite, options};
use wug_dataset::tabular::DatasetConfig as Config;
use wug_dataset::{FileSink, Seed, masked, transduction};
use wug_language::{Reading, registry};

use crate::LabError;
use crate::disk::Staging;

pub use wug_dataset::suite::{LONGEST, parse_lengths};

#[derive(Clone, Debug)]
pub struct Request {
    pub suite: &'static dyn Suite,
    /// One language or task, with settings after a colon; all of the paper's if none is named.
    pub name: Option<String>,
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
        let suite = suite::named(&suite.to_lowercase()).ok_or_else(|| {
            let known = SUITES.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
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

    fn check_format(&self) -> Result<(), LabError> {
        let allowed = self.suite.formats_of(self.name.as_deref());
        match self.format {
            Some(format) if !allowed.contains(&format) => {
                let names = allowed.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
                let suite = self.suite.name();
                let what = self.name.as_ref().map_or(suite.to_owned(), |n| format!("{suite}/{n}"));
                Err(LabError::Usage(format!(
                    "{what} is not written as `{}`; it can be: {names}",
                    format.name()
                )))
            }
            _ => Ok(()),
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
    let (mut manifests, mut members) = (Vec::new(), Vec::new());
    for job in &jobs {
        progress(&job.name);
        let (manifest, configs) = job.write(request, &mut stage).map_err(|error| at(target, error))?;
        members.push((job.folder.clone(), manifest.files.clone(), configs));
        manifests.push(manifest);
    }
    // A single data set has a card of its own. Only a folder of several needs another.
    if request.name.is_none() {
        let card = collection(request.suite.name(), &members);
        stage.put(CARD, &mut |out| out.write_all(card.as_bytes())).map_err(LabError::disk(target))?;
    }
    stage.finish(force)?;
    Ok(manifests)
}

/// The files of data sets, in memory, by name.
pub fn in_memory(request: &Request) -> Result<BTreeMap<String, Vec<u8>>, LabError> {
    struct Files(BTreeMap<String, Vec<u8>>);
    impl FileSink for Files {
        fn put(
            &mut self,
            name: &str,
            write: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>,
        ) -> io::Result<()> {
            let mut bytes = Vec::new();
            write(&mut bytes)?;
            self.0.insert(name.to_owned(), bytes);
            Ok(())
        }
    }
    let mut files = Files(BTreeMap::new());
    for job in plan(request)? {
        job.write(request, &mut files)?;
    }
    Ok(files.0)
}

/// The symbols of a data set, in the order in which learners have them: the first is id 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Of strings, of texts, or of inputs.
    pub symbols: Vec<String>,
    /// Of outputs, where these are others.
    pub outputs: Option<Vec<String>>,
    /// Of prompts, where there are some.
    pub prompts: Option<Vec<String>>,
}

/// The symbols of the member that a request names.
pub fn tokens(request: &Request) -> Result<Tokens, LabError> {
    let name = request.name.as_deref().unwrap_or_default();
    if request.suite.tasks().is_empty() {
        let language = registry::find(name)?.build(request.reading)?;
        let symbols = language.alphabet().tokens().to_vec();
        return Ok(Tokens { symbols, outputs: None, prompts: None });
    }
    // Lengths are those of the strings of languages: a task has none.
    if let Ok([source]) = masked::find(name, request.reading, &(0..=0)).as_deref() {
        let symbols = (0..source.vocabulary() as u32).map(|symbol| source.token(symbol)).collect();
        return Ok(Tokens { symbols, outputs: None, prompts: None });
    }
    let seed = request.seed.unwrap_or(request.suite.about().seed);
    let task = transduction::build(name, Seed::new(seed)).map_err(LabError::usage)?;
    Ok(Tokens {
        symbols: task.source.tokens().to_vec(),
        outputs: Some(task.target.tokens().to_vec()),
        prompts: Some(prompt_form(&task).vocabulary.tokens().to_vec()),
    })
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
    data: Box<dyn PlannedData>,
}

fn plan(request: &Request) -> Result<Vec<Job>, LabError> {
    request.check_format()?;
    let suite = request.suite;
    let names: Vec<String> = match &request.name {
        Some(name) => vec![name.clone()],
        None => suite.published_members(),
    };
    let settings = options(suite, request.reading, &request.options)?;
    let mut jobs = Vec::new();
    for name in names {
        let data = suite.plan(&name, request.reading, &settings)?;
        let folder = match request.name {
            Some(_) => String::new(),
            None => format!("{}/", folder_name(&name)),
        };
        let format = request.format.unwrap_or_else(|| suite.formats_of(Some(&name))[0]);
        jobs.push(Job { name, folder, format, data });
    }
    Ok(jobs)
}

impl Job {
    fn write(&self, request: &Request, sink: &mut dyn FileSink) -> Result<(Manifest, Vec<Config>), LabError> {
        let mut out = Recorder::new(sink, &self.folder);
        let seed = request.seed.unwrap_or_else(|| request.suite.about().seed);
        let written = self.data.write(self.format, seed, &mut out)?;
        let (suite, format, reading, seed) =
            (request.suite.about(), self.format, request.reading, Seed::new(seed));
        Ok(out.finish(About { suite, format, reading, seed, options: request.options.clone(), written })?)
    }
}

/// The name of a member's folder, where a directory holds several.
pub(crate) fn folder_name(member: &str) -> String {
    // Windows allows no colons in file names, and shells treat the others specially.
    member.replace([':', '=', ','], "-")
}

/// Lower case, with hyphens, before the colon; settings are left as they are.
pub fn canonical(name: &str) -> String {
    let (base, settings) = name.split_once(':').map_or((name, None), |(b, s)| (b, Some(s)));
    let base = base.to_lowercase().replace(['_', ' '], "-");
    settings.map_or(base.clone(), |settings| format!("{base}:{settings}"))
}
