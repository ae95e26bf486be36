//! The `wug` command line: it parses arguments, calls the lab, and prints. Data go to stdout, messages to stderr.

mod args;
mod check;
mod data;
mod doctor;
mod exit;
mod export;
mod list;
mod mdl;
mod options;
mod play;
mod report;
mod run;
mod safe;
mod sample;
mod score;
mod show;
mod signals;
mod status;
mod validate;
mod watch;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};
use exit::Exit;

fn main() -> ExitCode {
    let args = Args::parse();
    // Buffered, as commands print line by line; flushed below, where an error can still be told.
    let mut out = BufWriter::new(io::stdout().lock());
    let result = run(args, &mut out).and_then(|code| out.flush().map(|()| code).map_err(Exit::from));
    match result {
        Ok(code) => code,
        Err(exit) => exit.report(),
    }
}

fn run(args: Args, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    match args.command {
        Command::List(list) => list::run(&list, out)?,
        Command::Show(show) => show::run(&show, out)?,
        Command::Sample(sample) => sample::run(&sample, out)?,
        Command::Check(check) => check::run(&check, out)?,
        Command::Data(data) => data::run(&data, out)?,
        Command::Validate(validate) => return validate::run(&validate, out),
        Command::Run(args) => return run::run(&args, out),
        Command::Worker(args) => return run::worker(&args, out),
        Command::Status(args) => status::run(&args, out)?,
        Command::Doctor(args) => return doctor::run(&args, out),
        Command::Score(args) => return score::run(&args, out),
        Command::Report(args) => report::run(&args, out)?,
        Command::Export(args) => export::run(&args, out)?,
        Command::Play(args) => play::run(&args, out)?,
        Command::Retry(args) => status::retry(&args, out)?,
        Command::Mdl(args) => return mdl::run(&args, out),
        Command::Completions { shell } => {
            // Into memory first: the generator panics if the pipe is closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "wug", &mut script);
            out.write_all(&script)?;
        }
        Command::Man { page } => manual(page.as_deref(), out)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The manual page of wug, or of one of its commands.
fn manual(page: Option<&str>, out: &mut dyn Write) -> Result<(), Exit> {
    let root = Args::command();
    let command = match page {
        None => root,
        Some(name) => {
            let found = root.get_subcommands().find(|c| c.get_name() == name).cloned();
            let names: Vec<&str> = root.get_subcommands().map(clap::Command::get_name).collect();
            found
                .ok_or_else(|| {
                    Exit::usage(format!("there is no command `{name}`; there are: {}", names.join(", ")))
                })?
                .display_name(format!("wug-{name}"))
        }
    };
    clap_mangen::Man::new(command).render(out)?;
    Ok(())
}
