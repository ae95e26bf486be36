//! `wug mdl search`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wug_lab::disk::{check_writable, write_whole};
use wug_lab::mdl::{SearchEvent, SearchRequest, Searched, search, search_settings};

use super::CorpusArgs;
use crate::exit::{Exit, say};
use crate::options::key_value;
use crate::safe::write_json;
use crate::signals::Signals;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug mdl search an-bn --training 100 --reading published --out anbn.json
  wug mdl search dyck-1 --seed 3 --set islands=8 --set generations=5000 --jobs 2 --checkpoint dyck.checkpoint
  wug mdl search an-bn-cn --set activations=lan2022_default6 --json         every improvement as a line of JSON

The settings are those of the learner (wug show mdlrnn). The result is the same for any number of jobs, and after any interruption. A first SIGINT (Ctrl-C), SIGTERM or SIGHUP ends the search: the best network so far is written, marked as interrupted, and the checkpoint is saved.")]
pub(super) struct SearchArgs {
    /// NAME or NAME:key=value,…
    language: String,
    #[command(flatten)]
    corpus: CorpusArgs,
    /// The seed of the search
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A setting of the learner, such as islands=8 or generations=5000
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Threads [default: the number of processors]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Save the search to this file now and then, and resume it from there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write the network to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print every improvement as a line of JSON
    #[arg(long)]
    json: bool,
}

/// How often checkpoints are written.
const CHECKPOINTS: Duration = Duration::from_secs(20);
/// How often progress is told.
const PROGRESS: Duration = Duration::from_secs(10);

pub(super) fn run(args: &SearchArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    // Now, and not when hours of work are to be written.
    args.out.as_deref().map_or(Ok(()), check_writable)?;
    let signals = Signals::watch()?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let request = SearchRequest {
        corpus: args.corpus.request(&args.language),
        settings: search_settings(&args.set)?,
        seed: args.seed,
        threads: args.jobs.unwrap_or(processors),
        checkpoint: args.checkpoint.clone(),
        every: CHECKPOINTS,
        stop: signals.stop(),
    };
    let (begun, mut told) = (Instant::now(), Instant::now());
    let mut broken = None;
    // Caches are not saved, so what was scored before does not count.
    let mut scored_before = 0;
    let Searched { file, interrupted } = search(&request, &mut |event| match event {
        SearchEvent::Resumed(state) => {
            scored_before = state.evaluations;
            say(&format!("resumed at generation {}", state.generation));
        }
        SearchEvent::Improved(found) => {
            if args.json {
                let line = serde_json::to_string(found).unwrap_or_default();
                // An observer cannot end the search: a closed pipe is told when it is over.
                broken = write_json(&line, out).and_then(|()| out.flush()).err().or(broken.take());
            }
        }
        SearchEvent::Advanced(state) => {
            if told.elapsed() >= PROGRESS || state.over.is_some() {
                told = Instant::now();
                let seconds = begun.elapsed().as_secs_f64();
                let scored = state.evaluations.saturating_sub(scored_before);
                let cached = 100.0 * state.cached as f64 / scored.max(1) as f64;
                say(&format!(
                    "generation {}, {:.1} million networks ({cached:.0} % known before), best {:.2} bits, {seconds:.0} s",
                    state.generation,
                    state.evaluations as f64 / 1e6,
                    state.best
                ));
            }
        }
    })?;
    if let Some(error) = broken {
        return Err(error.into());
    }
    match &args.out {
        Some(path) => write_whole(path, format!("{file:#}\n").as_bytes())?,
        None if args.json => write_json(&file, out)?,
        None => write_json(&format!("{file:#}"), out)?,
    }
    let code = interrupted.and_then(|generation| Some((generation, signals.exit_code()?)));
    let Some((generation, code)) = code else { return Ok(ExitCode::SUCCESS) };
    let written = args.out.as_ref().map_or("on stdout".to_owned(), |path| format!("in {}", path.display()));
    let goes_on = match args.checkpoint {
        Some(_) => "; the search goes on with the same command",
        None => "; without --checkpoint the search begins anew",
    };
    say(&format!(
        "wug: interrupted after generation {generation}; the best network so far is {written}{goes_on}"
    ));
    Ok(code)
}
