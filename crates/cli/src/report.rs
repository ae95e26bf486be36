//! `wug report`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use wug_lab::disk::write_whole;
use wug_lab::play::Game;
use wug_lab::score::RunResult;
use wug_lab::spec::recipes;
use wug_lab::sweep::{RunState, Sweep};
use wug_report::{Format, Report};

use crate::exit::{Exit, say};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug report runs/quickstart
  wug report runs/flare_table2-quick --format markdown
  wug report runs/flare_table2-quick --format html --out page.html
  wug report runs/flare_table2-quick runs/mine          several sweeps in the same tables")]
pub(crate) struct ReportArgs {
    /// The directory of the sweep, or several
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// table (for a terminal), markdown, csv, json or html (one page with tables and figures)
    #[arg(long, default_value = "table", value_parser = report_format)]
    format: Format,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A log of `wug play`, whose scores are shown beside the learners'
    #[arg(long, value_name = "LOG")]
    human: Vec<PathBuf>,
}

fn report_format(text: &str) -> Result<wug_report::Format, String> {
    Format::named(text)
        .ok_or_else(|| format!("the formats are: {}", Format::ALL.map(Format::name).join(", ")))
}

pub(crate) fn run(args: &ReportArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let mut all = Vec::new();
    for dir in &args.dirs {
        all.extend(results(&Sweep::open(dir)?)?);
    }
    // Two directories may hold the same run: it counts once, or a mean would lean towards it.
    let mut seen = BTreeSet::new();
    all.retain(|result| seen.insert(result.run.plan.clone()));
    for log in &args.human {
        let game =
            Game::load(log)?.ok_or_else(|| Exit::usage(format!("there is no log {}", log.display())))?;
        all.extend(game.results());
    }
    let results = all;
    let text = report_of(&results)?.render(args.format)?;
    match &args.out {
        Some(path) => write_whole(path, text.as_bytes())?,
        None => out.write_all(text.as_bytes())?,
    }
    Ok(())
}

/// The report of some results, with the papers' figures beside runs that are as in the papers.
pub(crate) fn report_of(results: &[RunResult]) -> Result<Report, Exit> {
    Ok(Report::new(results, &recipes()?)?)
}

/// The results of a sweep so far. Broken files are named on stderr and left out.
pub(crate) fn results(sweep: &Sweep) -> Result<Vec<RunResult>, Exit> {
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
