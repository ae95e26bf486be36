//! `wug score`: answers that were given elsewhere, or a saved model, in the same tables as every learner.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use wug_lab::answers::{Request, Source, experiment};
use wug_lab::plan::RunPlan;
use wug_lab::score::Ending;
use wug_lab::sweep::{RunState, Sweep};
use wug_lab::work::{WorkerOptions, work};

use crate::exit::Exit;
use crate::options::{OutputArgs, key_value};
use crate::report::report_of;
use crate::safe::write_json;
use crate::signals::Signals;
use crate::watch::Watch;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug data flare/parity --out parity                    what is to be answered
  wug score parity answers.jsonl --learner mine --seed 3 --out runs/mine
  wug score parity answers.npz --learner mine --out runs/flare_table2-quick
  gunzip -c answers.jsonl.gz | wug score parity - --learner mine
  wug score parity --model runs/quickstart/kept/0123456789abcdef --learner mine

A line of answers about strings to recognise: {\"string\": \"0 1 1\", \"log_odds\": 1.5}. About what comes next: {\"string\": \"a b\", \"next\": [[0.1, 0.9, 0], …]},
a row after each prefix, the end of the string in the first column. docs/models.md has the whole contract.")]
pub(crate) struct ScoreArgs {
    /// The data set: a directory that `wug data` wrote
    data: PathBuf,
    /// The answers, in any order: JSON lines (`-` reads them from stdin), or arrays in an .npz file
    #[arg(required_unless_present = "model")]
    answers: Option<PathBuf>,
    /// A saved model (config.json and model.safetensors) in place of answers
    #[arg(long, value_name = "DIR", conflicts_with = "answers")]
    model: Option<PathBuf>,
    /// What tables call the learner
    #[arg(long, value_name = "NAME")]
    learner: String,
    /// The seed that the model was trained with: models of several seeds are averaged in tables
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The sweep that the results are written to, a new one or one with other runs [default: runs/score-NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A value of the experiment, such as validation=long or factors=1,2
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ScoreArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
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
    // A sweep may have other runs that wait; they are not what was asked for.
    let only = Some(ids.clone());
    let options = WorkerOptions { stop: signals.stop(), learners, only, ..WorkerOptions::new(1) };
    let watch = Watch::new(&sweep, options.jobs);
    // By the same road as every learner: answers are read from the file where a model would give them.
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
    if args.output.json {
        let ids: Vec<&String> = ids.iter().collect();
        write_json(&json!({ "directory": dir.to_string(), "runs": ids }), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{}", report_of(&results)?.render(wug_report::Format::Table)?)?;
    writeln!(out, "written to {dir}; `wug report {dir}` shows it beside the other runs there")?;
    Ok(ExitCode::SUCCESS)
}
