//! `wug report` and `wug export`

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use wug_lab::disk::{write_whole, write_whole_with};
use wug_lab::score::RunResult;
use wug_lab::sweep::{RunState, Sweep};
use wug_report::{Logs, Rows, TableFormat, records, render};

use crate::args::{Export, Report};
use crate::exit::{Exit, say};

pub(crate) fn report(args: &Report, out: &mut dyn Write) -> Result<(), Exit> {
    let results = results(&Sweep::open(&args.dir)?)?;
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
    Rows(Rows),
}

/// Each with its name, as it is typed.
const EXPORTED: [(&str, Exported); 3] = [
    ("scores", Exported::Rows(Rows::Scores)),
    ("curves", Exported::Rows(Rows::Curves)),
    ("strings", Exported::Rows(Rows::Strings)),
];

pub(crate) fn export(args: &Export, out: &mut dyn Write) -> Result<(), Exit> {
    let format = format(args);
    if format == TableFormat::Parquet && args.out.is_none() && io::stdout().is_terminal() {
        return Err(Exit::usage("Parquet is no text to be shown in a terminal: name a file with --out"));
    }
    let sweep = Sweep::open(&args.dir)?;
    let results = results(&sweep)?;
    let logs: Logs =
        results.iter().filter_map(|r| Some((r.run.plan.clone(), sweep.log(&r.run.plan)?))).collect();
    let Exported::Rows(rows) = args.what;
    match &args.out {
        Some(path) => write_whole_with(path, |out| {
            records(&results, &logs, rows, format, out).map_err(io::Error::other)
        })?,
        None => records(&results, &logs, rows, format, out)?,
    }
    Ok(())
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
