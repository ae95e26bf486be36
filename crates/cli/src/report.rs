//! `wug report` and `wug export`

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use wug_lab::Keep;
use wug_lab::disk::{write_whole, write_whole_with};
use wug_lab::play::Game;
use wug_lab::score::RunResult;
use wug_lab::sweep::{RunState, Sweep};
use wug_report::{Logs, RecordFormat, TableFormat, records, records_beside, render};

use crate::args::{Export, Report};
use crate::exit::{Exit, say};
use crate::run::lacks;

pub(crate) fn report(args: &Report, out: &mut dyn Write) -> Result<(), Exit> {
    let mut all = Vec::new();
    for dir in &args.dirs {
        all.extend(results(&Sweep::open(dir)?)?);
    }
    let mut seen = BTreeSet::new();
    all.retain(|result| seen.insert(result.run.plan.clone()));
    for log in &args.human {
        let game =
            Game::load(log)?.ok_or_else(|| Exit::usage(format!("there is no log {}", log.display())))?;
        all.extend(game.results());
    }
    let results = all;
    let text = render(&results, args.format)?;
    match &args.out {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(())
}

/// What can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exported {
    Records(RecordFormat),
    Predictions,
}

/// Each with its name, as it is typed.
const EXPORTED: [(&str, Exported); 4] = [
    ("scores", Exported::Records(RecordFormat::Scores)),
    ("curves", Exported::Records(RecordFormat::Curves)),
    ("strings", Exported::Records(RecordFormat::Strings)),
    ("predictions", Exported::Predictions),
];

pub(crate) fn export(args: &Export, out: &mut dyn Write) -> Result<(), Exit> {
    let format = format(args);
    if format == TableFormat::Parquet && args.out.is_none() && io::stdout().is_terminal() {
        return Err(Exit::usage("Parquet is no text to be shown in a terminal: name a file with --out"));
    }
    let sweep = Sweep::open(&args.dir)?;
    let results = results(&sweep)?;
    if args.what == Exported::Predictions {
        say_what_lacks(&sweep, &results)?;
    }
    let logged = |result: &RunResult| Some((result.run.plan.clone(), sweep.log(&result.run.plan)?));
    let logs: Logs = results.iter().filter_map(logged).collect();
    let write = |out: &mut dyn Write| match args.what {
        Exported::Records(rows) => records(&results, &logs, rows, format, out).map_err(Exit::from),
        Exported::Predictions => {
            let rows = |result: &RunResult| Ok(sweep.predictions(&result.run.plan)?.unwrap_or_default());
            records_beside(&results, &logs, &Sweep::prediction_columns(), rows, format, out)
        }
    };
    let Some(path) = &args.out else { return write(out) };
    // An error of the table is not one of the file.
    let mut ended = Ok(());
    let written = write_whole_with(path, |out| {
        ended = write(out);
        ended.as_ref().map_err(|_| io::Error::other("the table could not be written")).copied()
    });
    ended.and_then(|()| Ok(written?))
}

/// Names on stderr how many runs have no predictions; an error if none has.
fn say_what_lacks(sweep: &Sweep, results: &[RunResult]) -> Result<(), Exit> {
    let keep = Keep { predictions: true, ..Keep::default() };
    let lacking = sweep.lacking(keep)?.len();
    match lacking {
        0 => Ok(()),
        n if n == results.len() => Err(Exit::usage(lacks(sweep, n, keep))),
        n => {
            say(&format!("wug: {}", lacks(sweep, n, keep)));
            Ok(())
        }
    }
}

/// The format that was asked for, or that the name of the file has.
fn format(args: &Export) -> TableFormat {
    let extension = |path: &Path| TableFormat::named(path.extension()?.to_str()?);
    let named = || args.out.as_deref().and_then(extension);
    args.format.or_else(named).unwrap_or(TableFormat::Jsonl)
}

/// The results of a sweep so far. Broken files are named on stderr and left out.
fn results(sweep: &Sweep) -> Result<Vec<RunResult>, Exit> {
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

/// Parses `--what` of `export`.
pub(crate) fn exported(text: &str) -> Result<Exported, String> {
    let found = EXPORTED.iter().find(|(name, _)| *name == text).map(|(_, what)| *what);
    found.ok_or_else(|| format!("the tables are: {}", EXPORTED.map(|(name, _)| name).join(", ")))
}

/// Parses `--format` of `export`.
pub(crate) fn table_format(text: &str) -> Result<TableFormat, String> {
    TableFormat::named(text)
        .ok_or_else(|| format!("the formats are: {}", TableFormat::ALL.map(TableFormat::name).join(", ")))
}
