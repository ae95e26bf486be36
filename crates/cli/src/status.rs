//! `wug status` and `wug retry`

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use wug_lab::Keep;
use wug_lab::score::Ending;
use wug_lab::sweep::{RunState, Status, Sweep};

use crate::exit::Exit;
use crate::options::{OutputArgs, keep};
use crate::run::runs;
use crate::safe::{visible, visible_lines, write_json};

#[derive(clap::Args)]
pub(crate) struct StatusArgs {
    /// The directory of the sweep
    dir: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug retry runs/quickstart
  wug retry runs/quickstart --keep predictions          also what is done and has no predictions")]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    status: StatusArgs,
    /// Set aside too what is done and has none of these beside it: predictions, models, or both, separated by a comma
    #[arg(long, value_name = "WHAT", value_parser = keep, default_value = "", hide_default_value = true)]
    keep: Keep,
}

pub(crate) fn run(args: &StatusArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let sweep = Sweep::open(&args.dir)?;
    let status = sweep.status()?;
    let counts = counts(&status);
    if args.output.json {
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
        // Of runs that wait or are done there may be thousands: those are only counted.
        } else if matches!(state, RunState::Running | RunState::Interrupted) {
            writeln!(out, "  {} {}: {}", run.id, visible(&run.plan.label()), name(state))?;
        }
    }
    Ok(())
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

pub(crate) fn retry(args: &RetryArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let StatusArgs { dir, output } = &args.status;
    let sweep = Sweep::open(dir)?;
    let again = sweep.retry_keeping(args.keep)?;
    if output.json {
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
