//! `wug report` and `wug export`

use std::io::Write;

use wug_lab::disk::write_whole;
use wug_lab::sweep::{RunState, Sweep};
use wug_report::{RecordFormat, records, render};

use crate::args::{Export, Report};
use crate::exit::{Exit, say};

pub(crate) fn report(args: &Report, out: &mut dyn Write) -> Result<(), Exit> {
    let results = results(&args.dir)?;
    let text = render(&results, args.format)?;
    match &args.out {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(())
}

pub(crate) fn export(args: &Export, out: &mut dyn Write) -> Result<(), Exit> {
    let results = results(&args.dir)?;
    let text = records(&results, args.format)?;
    match &args.out {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(())
}

/// The results of a sweep so far. Broken files are named on stderr and left out.
fn results(dir: &std::path::Path) -> Result<Vec<wug_lab::score::RunResult>, Exit> {
    let sweep = Sweep::open(dir)?;
    let status = sweep.status()?;
    for (_, state) in &status.runs {
        if let RunState::Broken(message) = state {
            say(&format!("wug: left out: {message}"));
        }
    }
    let open = status.count(|state| !matches!(state, RunState::Done(_)));
    if open > 0 {
        say(&format!("wug: {open} of {} runs are not done yet", status.runs.len()));
    }
    Ok(status.results())
}

/// Parses `--format` of `export`.
pub(crate) fn record_format(text: &str) -> Result<RecordFormat, String> {
    RecordFormat::named(text)
        .ok_or_else(|| format!("the formats are: {}", RecordFormat::ALL.map(RecordFormat::name).join(", ")))
}
