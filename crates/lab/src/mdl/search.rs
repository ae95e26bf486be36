//! A search on several threads, with checkpoints.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wug_dataset::Seed;
use wug_language::Reading;
use wug_learner::mdl::{Improvement, IslandTask, LaneCorpus, Search, SearchState};
use wug_learner::registry::{self, Role, Settings, search_spec};

use super::corpus::CorpusRequest;
use crate::LabError;
use crate::disk::{check_writable, write_whole};
use crate::regular::read_regular;

/// The most bytes of a checkpoint.
const LARGEST: u64 = 1 << 30;

/// What to search for, and how.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub corpus: CorpusRequest,
    /// The settings of the learner.
    pub settings: Settings,
    /// The seed of the search.
    pub seed: u64,
    /// Threads; the result is the same for any number.
    pub threads: usize,
    /// Where to save the search now and then, and to resume it from.
    pub checkpoint: Option<PathBuf>,
    pub every: Duration,
    /// When this is set, the search is saved and stops.
    pub stop: Arc<AtomicBool>,
}

/// What a search came to.
#[derive(Debug)]
pub struct Searched {
    /// The file of the best network.
    pub file: Value,
    /// Whether it was stopped before its end, and if so after which generation.
    pub interrupted: Option<usize>,
}

/// The settings of the learner, from names and values as typed.
pub fn search_settings(given: &[(String, String)]) -> Result<Settings, LabError> {
    let learner = registry::find("mdlrnn", Role::NextSymbol).map_err(LabError::usage)?;
    let all = learner.settings(Role::NextSymbol).unwrap_or_default();
    let read = given.iter().map(|(name, text)| Settings::parse(all, name, text));
    let read: Settings = read.collect::<Result<_, _>>().map_err(LabError::usage)?;
    Ok(read.completed(all, Reading::Corrected))
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

/// Searches to the end, or until it is told to stop.
pub fn search(request: &SearchRequest, event: &mut dyn FnMut(SearchEvent<'_>)) -> Result<Searched, LabError> {
    let (strings, vocabulary) = request.corpus.strings()?;
    let corpus = LaneCorpus::new(&strings, vocabulary);
    // A checkpoint of another search would give a network that is not this search's.
    let identity =
        json!({ "corpus": request.corpus.facts(), "settings": request.settings, "seed": request.seed });
    let mut search = begin(request, corpus, &identity)?;
    if search.state().generation > 0 {
        event(SearchEvent::Resumed(search.state()));
    }
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
        let ends = search.state().over.is_some() || request.stop.load(Ordering::SeqCst);
        if let Some(path) = &request.checkpoint
            && (ends || saved.elapsed() >= request.every)
        {
            write_whole(path, &pack(&search.save(), &identity))?;
            saved = Instant::now();
        }
        if ends {
            search.improvements()[told..].iter().for_each(|found| event(SearchEvent::Improved(found)));
            break;
        }
    }
    let state = search.state();
    let interrupted = state.over.is_none().then_some(state.generation);
    Ok(Searched { file: file(&search, request, interrupted.is_some()), interrupted })
}

/// A new search, or the one of a checkpoint, if there is one. One that is damaged is an error: whoever names it wants the work in
/// it.
fn begin(request: &SearchRequest, corpus: LaneCorpus, identity: &Value) -> Result<Search, LabError> {
    let spec = search_spec(&request.settings, request.corpus.reading);
    let seed = Seed::new(request.seed).derive("mdl/search");
    let Some(path) = &request.checkpoint else { return Ok(Search::new(spec, corpus, seed)) };
    // Before the search, and not after hours of it.
    check_writable(path)?;
    let saved = read_regular(path, LARGEST).map_err(LabError::disk(path))?;
    let Some(bytes) = saved else { return Ok(Search::new(spec, corpus, seed)) };
    let refused = |problem: &str| {
        LabError::Usage(format!("{} {problem}; remove it, or name another file", path.display()))
    };
    let body = unpack(&bytes, identity).ok_or_else(|| refused("is not a checkpoint of this search"))?;
    let resumed = Search::resume(spec, corpus, seed, body);
    resumed.ok_or_else(|| refused("is a checkpoint of this search, but is damaged"))
}

fn pack(search: &[u8], identity: &Value) -> Vec<u8> {
    // The identity comes first, as a line of text: `head -1` shows what a checkpoint is of.
    let identity = identity.to_string();
    [identity.as_bytes(), b"\n", search].concat()
}

fn unpack<'a>(bytes: &'a [u8], identity: &Value) -> Option<&'a [u8]> {
    let line = bytes.iter().position(|&byte| byte == b'\n')?;
    (bytes[..line] == *identity.to_string().as_bytes()).then(|| &bytes[line + 1..])
}

fn run_on_threads(tasks: &mut [IslandTask<'_>], threads: usize) {
    // Islands share nothing during a task, so that the number of threads changes no result.
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
fn file(search: &Search, request: &SearchRequest, interrupted: bool) -> Value {
    let (best, state) = (search.best(), search.state());
    let found = search.improvements().last();
    let finite = |bits: f64| bits.is_finite().then_some(bits);
    let mut file = json!({
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
    });
    // Only where it is so: the file of a search that was resumed is the same as that of one that ran through.
    if interrupted {
        file["search"]["interrupted"] = true.into();
    }
    file
}
