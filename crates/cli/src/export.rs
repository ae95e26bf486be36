//! `wug export`

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use wug_lab::Keep;
use wug_lab::disk::write_whole_with;
use wug_lab::score::RunResult;
use wug_lab::spec::recipes;
use wug_lab::sweep::Sweep;
use wug_report::{Logs, RecordFormat, TableFormat, records, records_beside};

use crate::exit::{Exit, say};
use crate::report::results;
use crate::run::lacks;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug export runs/quickstart --out scores.parquet
  wug export runs/quickstart --what curves --out curves.csv
  wug export runs/quickstart --what strings --format jsonl
  wug export runs/quickstart --what predictions --out predictions.parquet   (after `wug run --keep predictions`)

Every coordinate and every setting of a run is a column, under its name in the plan (`data.training`, `settings.hidden`).
Rows with derived = true are made of several runs, such as the index of BLISS; what differs between those is empty.")]
pub(crate) struct ExportArgs {
    /// The directory of the sweep
    dir: PathBuf,
    /// What the rows are: scores, curves (points of learning curves), strings (those that results list with their
    /// scores) or predictions (for every string that was evaluated, where they were kept)
    #[arg(long, default_value = "scores", value_parser = exported)]
    what: Exported,
    /// csv, jsonl or parquet [default: as FILE ends, or jsonl]
    #[arg(long, value_parser = table_format)]
    format: Option<TableFormat>,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What can be exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exported {
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

pub(crate) fn run(args: &ExportArgs, out: &mut dyn Write) -> Result<(), Exit> {
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
        Exported::Records(rows) => {
            records(&results, &recipes()?, &logs, rows, format, out).map_err(Exit::from)
        }
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
fn format(args: &ExportArgs) -> TableFormat {
    let extension = |path: &Path| TableFormat::named(path.extension()?.to_str()?);
    let named = || args.out.as_deref().and_then(extension);
    args.format.or_else(named).unwrap_or(TableFormat::Jsonl)
}

/// Parses `--what` of `export`.
fn exported(text: &str) -> Result<Exported, String> {
    let found = EXPORTED.iter().find(|(name, _)| *name == text).map(|(_, what)| *what);
    found.ok_or_else(|| format!("the tables are: {}", EXPORTED.map(|(name, _)| name).join(", ")))
}

/// Parses `--format` of `export`.
fn table_format(text: &str) -> Result<TableFormat, String> {
    TableFormat::named(text)
        .ok_or_else(|| format!("the formats are: {}", TableFormat::ALL.map(TableFormat::name).join(", ")))
}
