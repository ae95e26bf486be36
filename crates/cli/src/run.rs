//! `wug run`, `wug worker`, `wug status` and `wug retry`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use wug_lab::Keep;
use wug_lab::foreign::planning_stops_with;
use wug_lab::plan::RunPlan;
use wug_lab::spec::{Experiment, Scale};
use wug_lab::sweep::{RunState, Status, Sweep};
use wug_lab::work::{WorkSummary, WorkerOptions, work};

use crate::args::{Retry, Run, StatusArgs, Worker, WorkerArgs};
use crate::exit::{Exit, say};
use crate::safe::{visible, visible_lines, write_json};
use crate::signals::Signals;
use crate::watch::Watch;

pub(crate) fn run(args: &Run, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    // Planning starts the commands of learners: they must not outlive a signal.
    let signals = Signals::watch()?;
    planning_stops_with(&signals.stop());
    let loaded = Experiment::load(&args.experiment, args.scale, &args.set);
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
        plan(&experiment, args.json, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let sweep = Sweep::begin(&root, &experiment)?;
    work_on(&sweep, &args.workers, &signals, args.json, out)
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

pub(crate) fn worker(args: &Worker, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    work_on(&Sweep::open(&args.dir)?, &args.workers, &Signals::watch()?, args.json, out)
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
    workers: &WorkerArgs,
    signals: &Signals,
    json: bool,
    out: &mut dyn Write,
) -> Result<ExitCode, Exit> {
    let keep = workers.keep.keep;
    let mut lacking = sweep.lacking(keep)?;
    lacking.retain(|run| !run.added);
    if !lacking.is_empty() {
        return Err(Exit::usage(lacks(sweep, lacking.len(), keep)));
    }
    let jobs = workers.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let options = WorkerOptions {
        jobs: jobs.min(sweep.runs.len()),
        checkpoint: Duration::from_secs(workers.checkpoint),
        stop: signals.stop(),
        keep,
        ..WorkerOptions::new(1)
    };
    let watch = Watch::new(sweep, options.jobs);
    let summary = work(sweep, options, &watch);
    watch.close();
    let summary = summary?;
    let status = sweep.status()?;
    finish(sweep, &status, summary, json, out)?;
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
    if summary.elsewhere + summary.waiting > 0 {
        return Ok(());
    }
    let results = status.clone().results();
    writeln!(out, "{}", wug_report::render(&results, wug_report::Format::Table)?)?;
    let page = sweep.write_report(&wug_report::render(&results, wug_report::Format::Html)?)?;
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

pub(crate) fn status(args: &StatusArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let sweep = Sweep::open(&args.dir)?;
    let status = sweep.status()?;
    let counts = counts(&status);
    if args.json {
        let runs: Vec<Value> = status.runs.iter().map(|(run, state)| {
            json!({ "id": run.id, "label": run.plan.label(), "state": name(state), "problem": problem(state) })
        }).collect();
        let counts: serde_json::Map<String, Value> =
            counts.into_iter().map(|(name, n)| (name.to_owned(), json!(n))).collect();
        write_json(&json!({ "plan": sweep.header, "counts": counts, "runs": runs }), out)?;
        return Ok(());
    }
    let made_by = sweep.header.made_by();
    let (title, scale) = (visible(&sweep.header.title), visible(&sweep.header.scale));
    writeln!(out, "{title} (scale {scale}, {})", visible(&made_by))?;
    for line in sweep.header.lines() {
        writeln!(out, "{}", visible_lines(&line))?;
    }
    let parts: Vec<String> =
        counts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
    writeln!(out, "{}: {}", runs(status.runs.len()), parts.join(", "))?;
    for (run, state) in &status.runs {
        if let Some(problem) = problem(state) {
            writeln!(
                out,
                "  {} {}: {} ({})",
                run.id,
                visible(&run.plan.label()),
                name(state),
                visible(&problem)
            )?;
        } else if matches!(state, RunState::Running | RunState::Interrupted) {
            writeln!(out, "  {} {}: {}", run.id, visible(&run.plan.label()), name(state))?;
        }
    }
    Ok(())
}

/// A number of runs: `1 run`, `2 runs`.
pub(crate) fn runs(n: usize) -> String {
    if n == 1 { "1 run".to_owned() } else { format!("{n} runs") }
}

fn counts(status: &Status) -> Vec<(&'static str, usize)> {
    let ended = ["finished", "stopped", "diverged", "failed"].map(|name| (name, status.ended(name)));
    let others = [
        ("broken", status.count(|s| matches!(s, RunState::Broken(_)))),
        ("running", status.count(|s| matches!(s, RunState::Running))),
        ("interrupted", status.count(|s| matches!(s, RunState::Interrupted))),
        ("waiting", status.count(|s| matches!(s, RunState::Waiting))),
    ];
    ended.into_iter().chain(others).collect()
}

fn name(state: &RunState) -> &'static str {
    match state {
        RunState::Done(result) => result.ending.name(),
        RunState::Broken(_) => "broken",
        RunState::Running => "running",
        RunState::Interrupted => "interrupted",
        RunState::Waiting => "waiting",
    }
}

fn problem(state: &RunState) -> Option<String> {
    use wug_lab::score::Ending;
    match state {
        RunState::Broken(message) => Some(message.clone()),
        RunState::Done(result) => match &result.ending {
            Ending::Failed { message } => Some(message.clone()),
            Ending::Diverged { step } => Some(format!("after {step} updates")),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn retry(args: &Retry, out: &mut dyn Write) -> Result<(), Exit> {
    let StatusArgs { dir, json } = &args.status;
    let sweep = Sweep::open(dir)?;
    let again = sweep.retry_keeping(args.keep)?;
    if *json {
        let ids: Vec<&str> = again.iter().map(|run| run.id.as_str()).collect();
        write_json(&json!({ "set_aside": ids }), out)?;
        return Ok(());
    }
    for run in &again {
        writeln!(out, "set aside {} {}", run.id, visible(&run.plan.label()))?;
    }
    let dir = dir.display();
    let names = args.keep.names().collect::<Vec<_>>().join(",");
    let keep = if names.is_empty() { names } else { format!(" --keep {names}") };
    if again.is_empty() {
        writeln!(out, "nothing in {dir} has failed")?;
    } else {
        writeln!(out, "`wug worker {dir}{keep}` runs them again; the old files are in {dir}/aside")?;
    }
    Ok(())
}

impl From<wug_report::ReportError> for Exit {
    fn from(error: wug_report::ReportError) -> Self {
        match error {
            wug_report::ReportError::Empty => Self::Usage(error.to_string()),
            wug_report::ReportError::Table(wug_report::TableError::Io(error)) => error.into(),
            wug_report::ReportError::Json(_) | wug_report::ReportError::Table(_) => {
                Self::Failure(error.to_string())
            }
        }
    }
}
