//! A search on several threads, with checkpoints.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wug_dataset::Seed;
use wug_learner::mdl::{Improvement, IslandTask, LaneCorpus, Search, SearchState};
use wug_learner::registry::{self, Given, Role, SettingValue, Settings, search_spec};

use super::corpus::CorpusRequest;
use crate::LabError;
use crate::disk::write_whole;
use crate::regular::read_regular;

/// The most bytes of a checkpoint.
const LARGEST: u64 = 1 << 30;

/// What to search for, and how.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The training strings.
    pub corpus: CorpusRequest,
    /// The settings of the learner.
    pub settings: Settings,
    /// The seed of the search.
    pub seed: u64,
    /// Threads; the result is the same for any number.
    pub threads: usize,
    /// Where to save the search now and then, and to resume it from.
    pub checkpoint: Option<PathBuf>,
    /// How often.
    pub every: Duration,
}

/// The settings of the learner, from names and values as typed.
pub fn search_settings(given: &[(String, String)]) -> Result<Settings, LabError> {
    let learner = registry::find("mdlrnn", Role::NextSymbol).map_err(LabError::usage)?;
    let all = learner.settings(Role::NextSymbol).unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, text) in given {
        if !all.iter().any(|setting| setting.name == name) {
            let names: Vec<&str> = all.iter().map(|setting| setting.name).collect();
            return Err(LabError::Usage(format!(
                "there is no setting `{name}`; there are: {}",
                names.join(", ")
            )));
        }
        values.insert(name.clone(), Given::Values(vec![value(text)]));
    }
    let grid = Settings::grid(all, &values).map_err(LabError::usage)?;
    grid.into_iter().next().ok_or_else(|| LabError::Internal("a grid without settings".to_owned()))
}

fn value(text: &str) -> SettingValue {
    if let Ok(count) = text.parse() {
        return SettingValue::Count(count);
    }
    if let Ok(real) = text.parse() {
        return SettingValue::Real(real);
    }
    match text {
        "true" => SettingValue::Switch(true),
        "false" => SettingValue::Switch(false),
        name => SettingValue::Name(name.to_owned()),
    }
}

/// What happens during a search.
#[derive(Debug)]
pub enum SearchEvent<'a> {
    /// It goes on from a checkpoint.
    Resumed(SearchState),
    /// Some generations are done.
    Advanced(SearchState),
    /// The best network is a better one.
    Improved(&'a Improvement),
}

/// Searches to the end. Gives the file of the best network.
pub fn search(request: &SearchRequest, event: &mut dyn FnMut(SearchEvent<'_>)) -> Result<Value, LabError> {
    let (strings, vocabulary) = request.corpus.strings()?;
    let spec = search_spec(&request.settings, request.corpus.reading);
    let corpus = LaneCorpus::new(&strings, vocabulary);
    let seed = Seed::new(request.seed).derive("mdl/search");
    // A checkpoint of another search would give a network that is not this search's.
    let identity =
        json!({ "corpus": request.corpus.facts(), "settings": request.settings, "seed": request.seed });
    let read = |path: &PathBuf| read_regular(path, LARGEST).map_err(LabError::disk(path));
    let saved = request.checkpoint.as_ref().map(read).transpose()?.flatten();
    let resumed = match saved {
        None => None,
        Some(bytes) => Some(unpack(&bytes, &identity).ok_or_else(|| {
            let path = request.checkpoint.as_ref().map_or(String::new(), |path| path.display().to_string());
            LabError::Usage(format!(
                "{path} is not a checkpoint of this search; remove it, or name another file"
            ))
        })?),
    };
    let mut search =
        match resumed.and_then(|bytes| Search::resume(spec.clone(), corpus.clone(), seed, &bytes)) {
            Some(search) => {
                event(SearchEvent::Resumed(search.state()));
                search
            }
            None => Search::new(spec, corpus, seed),
        };
    let mut told = 0;
    let mut saved = Instant::now();
    let each = |tasks: &mut [IslandTask<'_>]| run_on_threads(tasks, request.threads);
    loop {
        search.improvements()[told..].iter().for_each(|found| event(SearchEvent::Improved(found)));
        told = search.improvements().len();
        if search.state().over.is_some() {
            break;
        }
        search.advance(&each);
        event(SearchEvent::Advanced(search.state()));
        let over = search.state().over.is_some();
        if let Some(path) = &request.checkpoint
            && (over || saved.elapsed() >= request.every)
        {
            write_whole(path, &pack(&search.save(), &identity))?;
            saved = Instant::now();
        }
    }
    Ok(file(&search, request))
}

fn pack(search: &[u8], identity: &Value) -> Vec<u8> {
    let identity = identity.to_string();
    [identity.as_bytes(), b"\n", search].concat()
}

fn unpack(bytes: &[u8], identity: &Value) -> Option<Vec<u8>> {
    let line = bytes.iter().position(|&byte| byte == b'\n')?;
    (bytes[..line] == *identity.to_string().as_bytes()).then(|| bytes[line + 1..].to_vec())
}

fn run_on_threads(tasks: &mut [IslandTask<'_>], threads: usize) {
    let share = tasks.len().div_ceil(threads.max(1));
    if share >= tasks.len() {
        tasks.iter_mut().for_each(IslandTask::run);
        return;
    }
    std::thread::scope(|scope| {
        for part in tasks.chunks_mut(share) {
            scope.spawn(|| part.iter_mut().for_each(IslandTask::run));
        }
    });
}

/// The best network with what produced it.
fn file(search: &Search, request: &SearchRequest) -> Value {
    let (best, state) = (search.best(), search.state());
    let found = search.improvements().last();
    let finite = |bits: f64| bits.is_finite().then_some(bits);
    json!({
        "format": "wug-mdlrnn",
        "version": 1,
        "net": best.network.to_json(),
        "grammar_bits": best.grammar_bits,
        "data_bits": finite(best.data_bits),
        "total_bits": finite(best.total()),
        "training": request.corpus.facts(),
        "search": {
            "settings": request.settings,
            "seed": request.seed,
            "generation": found.map(|found| found.generation),
            "evaluations": found.map(|found| found.evaluations),
            "generations": state.generation,
            "all_evaluations": state.evaluations,
        },
    })
}
