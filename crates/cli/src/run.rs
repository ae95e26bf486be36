//! `wug run` and `wug worker`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use wug_lab::Keep;
use wug_lab::plan::RunPlan;
use wug_lab::spec::{Experiment, Planning, Scale};
use wug_lab::sweep::{Status, Sweep};
use wug_lab::work::{WorkSummary, WorkerOptions, work};

use crate::exit::{Exit, say};
use crate::options::{JobArgs, OutputArgs, key_value, scale};
use crate::report::report_of;
use crate::safe::{visible, write_json};
use crate::signals::Signals;
use crate::watch::Watch;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug run quickstart                                    a tour, under a minute
  wug run flare_table2 --scale quick                    an evening on two cores
  wug run flare_table2 --scale quick --set languages=parity,dyck-2-3 --set seeds=1 --out here
  wug run my.toml --plan                                the runs, without running them
  wug run my.toml --keep predictions,models             for measures of your own

The same command resumes an experiment that was killed.")]
pub(crate) struct RunArgs {
    /// The name of an experiment (`wug list experiments`) or the path of a .toml file
    experiment: String,
    /// The directory to work in [default: runs/EXPERIMENT-SCALE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    jobs: JobArgs,
    /// Which scale: smoke (seconds), quick (an evening) or paper (all of it)
    #[arg(long, default_value = "paper", value_parser = scale)]
    scale: Scale,
    /// A value of the spec, such as seeds=3, languages=parity,first or data.longest=200 (TOML; a list of
    /// names that have commas in them takes brackets and quotes)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Print the runs without running them
    #[arg(long)]
    plan: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &RunArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    // Planning starts the commands of learners: they must not outlive a signal.
    let signals = Signals::watch()?;
    let mut planning = Planning::stopped_by(signals.stop());
    let loaded = Experiment::load_with(&args.experiment, args.scale, &args.set, &mut planning);
    if let (Err(_), Some(code)) = (&loaded, signals.exit_code()) {
        say("wug: interrupted while the runs were planned");
        return Ok(code);
    }
    let experiment = loaded?;
    for line in experiment.missed_sizes() {
        say(&format!("wug: warning: {line}"));
    }
    estimate(&experiment);
    let root = args.out.clone().unwrap_or_else(|| default_directory(&experiment));
    if args.plan {
        plan(&experiment, args.output.json, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let sweep = Sweep::begin(&root, &experiment)?;
    work_on(&sweep, &args.jobs, &signals, args.output.json, out)
}

/// Says how long the runs will take, of which that is known in advance.
fn estimate(experiment: &Experiment) {
    let Some((seconds, known)) = experiment.seconds() else { return };
    let others = match experiment.runs.len() - known {
        0 => String::new(),
        others => format!("; of the other {others} that is not known in advance"),
    };
    let take = if known == 1 { "takes" } else { "take" };
    say(&format!("wug: {} {take} about {} of one core{others}", runs(known), duration(seconds)));
}

/// A time in the unit that suits it.
fn duration(seconds: f64) -> String {
    // A unit is used from one and a half or two of it on: 80 seconds say more than 1 minute.
    let (value, unit) = match seconds {
        s if s < 90.0 => (s, "seconds"),
        s if s < 5400.0 => (s / 60.0, "minutes"),
        s if s < 172_800.0 => (s / 3600.0, "hours"),
        s => (s / 86_400.0, "days"),
    };
    format!("{value:.0} {unit}")
}

/// Prints the runs of an experiment.
fn plan(experiment: &Experiment, json: bool, out: &mut dyn Write) -> Result<(), Exit> {
    if json {
        let run = |plan: &RunPlan| json!({ "id": plan.id(), "label": plan.label(), "plan": plan });
        write_json(&Value::Array(experiment.runs.iter().map(run).collect()), out)?;
        return Ok(());
    }
    for plan in &experiment.runs {
        writeln!(out, "{}\t{}", plan.id(), visible(&plan.label()))?;
    }
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct WorkerArgs {
    /// The directory of the sweep
    dir: PathBuf,
    #[command(flatten)]
    jobs: JobArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn worker(args: &WorkerArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    work_on(&Sweep::open(&args.dir)?, &args.jobs, &Signals::watch()?, args.output.json, out)
}

fn default_directory(experiment: &Experiment) -> PathBuf {
    let folder = match experiment.scale {
        Scale::Paper => experiment.name.clone(),
        scale => format!("{}-{}", experiment.name, scale.name()),
    };
    Path::new("runs").join(folder)
}

fn work_on(
    sweep: &Sweep,
    args: &JobArgs,
    signals: &Signals,
    json: bool,
    out: &mut dyn Write,
) -> Result<ExitCode, Exit> {
    let keep = args.keep.keep;
    let mut lacking = sweep.lacking(keep)?;
    // The answers of runs that `wug score` added came from outside: they cannot be asked for again.
    lacking.retain(|run| !run.added);
    if !lacking.is_empty() {
        return Err(Exit::usage(lacks(sweep, lacking.len(), keep)));
    }
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let options = WorkerOptions {
        jobs: jobs.min(sweep.runs.len()),
        checkpoint: Duration::from_secs(args.checkpoint),
        stop: signals.stop(),
        keep,
        ..WorkerOptions::new(1)
    };
    let watch = Watch::new(sweep, options.jobs);
    // The error of a worker is looked at after the lines of all workers are gone, which would hide it.
    let summary = work(sweep, options, &watch);
    watch.close();
    let summary = summary?;
    let status = sweep.status()?;
    finish(sweep, &status, summary, json, out)?;
    // A signal that came after the last run stopped nothing, and is no failure.
    if let Some(code) = signals.exit_code().filter(|_| summary.interrupted + summary.waiting > 0) {
        say(&interrupted(summary));
        return Ok(code);
    }
    let well = status.ended("failed") == 0 && summary.waiting == 0;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says what became of the runs that were stopped: those that have a checkpoint go on, the others start again.
fn interrupted(WorkSummary { interrupted, saved, .. }: WorkSummary) -> String {
    let verb = if saved == 1 { ("is", "goes") } else { ("are", "go") };
    let others = match interrupted - saved {
        0 => String::new(),
        1 => "; 1 run had saved nothing and starts again".to_owned(),
        n => format!("; {} had saved nothing and start again", runs(n)),
    };
    let saved = runs(saved);
    format!("wug: interrupted; {saved} {} saved and {} on with the same command{others}", verb.0, verb.1)
}

/// Says that results have not all beside them that is asked for, and what to do.
pub(crate) fn lacks(sweep: &Sweep, n: usize, keep: Keep) -> String {
    let (dir, names) = (sweep.root().display(), keep.names().collect::<Vec<_>>());
    let verb = if n == 1 { "is" } else { "are" };
    format!(
        "{} in {dir} {verb} done without keeping {}: `wug retry {dir} --keep {}` sets their results aside, so that `wug worker {dir} --keep {2}` does them again, with the same numbers",
        runs(n),
        names.join(" and "),
        names.join(",")
    )
}

/// Prints the tables and the path of the report, or what is still open.
fn finish(
    sweep: &Sweep,
    status: &Status,
    summary: WorkSummary,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Exit> {
    let dir = sweep.root().display();
    if json {
        let WorkSummary { done, failed, interrupted, saved, elsewhere, waiting } = summary;
        let line = json!({
            "directory": dir.to_string(), "done": done, "failed": failed, "interrupted": interrupted,
            "saved": saved, "elsewhere": elsewhere, "waiting": waiting
        });
        write_json(&line, out)?;
        return Ok(());
    }
    if summary.elsewhere > 0 {
        let verb = if summary.elsewhere == 1 { "is" } else { "are" };
        let runs = runs(summary.elsewhere);
        writeln!(out, "{runs} {verb} held by other workers; `wug status {dir}` shows them")?;
    }
    if summary.waiting > 0 {
        writeln!(out, "{} still to do; `wug worker {dir}` does them", runs(summary.waiting))?;
    }
    // Half a table misleads: whoever does the last run writes the report.
    if summary.elsewhere + summary.waiting > 0 {
        return Ok(());
    }
    let results = status.clone().results();
    let report = report_of(&results)?;
    writeln!(out, "{}", report.render(wug_report::Format::Table)?)?;
    let page = sweep.write_report(&report.render(wug_report::Format::Html)?)?;
    writeln!(out, "{} in {dir}; the report is {}", runs(results.len()), page.display())?;
    let failed = status.ended("failed");
    if failed > 0 {
        writeln!(
            out,
            "{} failed: `wug status {dir}` says why, `wug retry {dir}` sets aside what failed",
            runs(failed)
        )?;
    }
    Ok(())
}

/// A number of runs: `1 run`, `2 runs`.
pub(crate) fn runs(n: usize) -> String {
    if n == 1 { "1 run".to_owned() } else { format!("{n} runs") }
}
