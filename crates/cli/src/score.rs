//! `wug score`: answers that were given elsewhere, or a saved model, in the same tables as every learner.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use wug_lab::answers::{Request, Source, experiment};
use wug_lab::plan::RunPlan;
use wug_lab::score::Ending;
use wug_lab::sweep::{RunState, Sweep};
use wug_lab::work::{WorkerOptions, work};

use crate::args::Score;
use crate::exit::Exit;
use crate::safe::write_json;
use crate::signals::Signals;
use crate::watch::Watch;

pub(crate) fn run(args: &Score, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let request = Request {
        data: args.data.clone(),
        learner: args.learner.clone(),
        seed: args.seed,
        sets: args.set.clone(),
    };
    let source = match (&args.answers, &args.model) {
        (Some(answers), _) => Source::Answers(answers),
        (None, Some(model)) => Source::Model(model),
        (None, None) => return Err(Exit::usage("give a file of answers, or --model")),
    };
    let (experiment, learners) = experiment(&request, &source)?;
    let ids: BTreeSet<String> = experiment.runs.iter().map(RunPlan::id).collect();
    let default = Path::new("runs").join(format!("score-{}", args.learner));
    let sweep = Sweep::add(args.out.as_deref().unwrap_or(&default), &experiment)?;
    let signals = Signals::watch()?;
    let only = Some(ids.clone());
    let options = WorkerOptions { stop: signals.stop(), learners, only, ..WorkerOptions::new(1) };
    let watch = Watch::new(&sweep, options.jobs);
    let worked = work(&sweep, options, &watch);
    watch.close();
    worked?;
    let mut results = Vec::new();
    for (run, state) in sweep.status()?.runs {
        match state {
            RunState::Done(result) if ids.contains(&run.id) => results.push(*result),
            _ => {}
        }
    }
    let failed = results.iter().find_map(|result| match &result.ending {
        Ending::Failed { message } => Some(message.clone()),
        _ => None,
    });
    if let Some(message) = failed {
        return Err(Exit::Failure(message));
    }
    let dir = sweep.root().display();
    if args.json {
        let ids: Vec<&String> = ids.iter().collect();
        write_json(&json!({ "directory": dir.to_string(), "runs": ids }), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{}", wug_report::render(&results, wug_report::Format::Table)?)?;
    writeln!(out, "written to {dir}; `wug report {dir}` shows it beside the other runs there")?;
    Ok(ExitCode::SUCCESS)
}
