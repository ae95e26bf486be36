//! `wug doctor`

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use wug_lab::doctor::{Check, Finding, examine};
use wug_lab::foreign::{Host, Limits, hello};
use wug_lab::learners::Role;
use wug_lab::score::plan::LearnerPlace;

use crate::exit::Exit;
use crate::options::OutputArgs;
use crate::safe::{visible, write_json};
use crate::signals::Signals;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug doctor python3 examples/process/bigram.py
  wug doctor --role recognizer python3 mine.py

The model is fitted to a task that every model can learn, and asked the same things in several ways. The exit code is 1 if a mistake is found.")]
pub(crate) struct DoctorArgs {
    /// Only this role [default: all that the model says it can play]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Seconds that the model may take to say hello, to be fitted and for each answer
    #[arg(long, default_value_t = 600, value_parser = seconds)]
    seconds: u64,
    #[command(flatten)]
    output: OutputArgs,
    /// The command of the model, with its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "MODEL")]
    model: Vec<String>,
}

fn seconds(text: &str) -> Result<u64, String> {
    const LONGEST: u64 = Limits::LONGEST;
    let n = text.parse().ok().filter(|n| (1..=LONGEST).contains(n));
    n.ok_or_else(|| format!("from 1 to {LONGEST} seconds, a year"))
}

pub(crate) fn run(args: &DoctorArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let signals = Signals::watch()?;
    let host = Host { stop: signals.stop(), ..Host::default() };
    // A signal interrupts the conversation with the model. The model is not at fault.
    examined(args, &host, out).or_else(|error| signals.exit_code().ok_or(error))
}

fn examined(args: &DoctorArgs, host: &Host, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let limit = Duration::from_secs(args.seconds);
    // One limit for fitting and for answers: an examination is to end, and tuning is for experiments.
    let limits = Limits { fit: limit, answer: limit };
    let hello = hello(&args.model, limits, host).map_err(wug_lab::LabError::from)?;
    let asked = match &args.role {
        None => None,
        Some(name) => Some(Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
            let names = Role::ALL.map(Role::name).join(", ");
            Exit::usage(format!("the doctor knows no role `{name}`; it knows: {names}"))
        })?),
    };
    let roles: Vec<Role> =
        (hello.roles.iter().copied()).filter(|role| asked.is_none_or(|asked| asked == *role)).collect();
    if roles.is_empty() {
        let asked = asked.map_or_else(String::new, |role| format!("the model is no {}; ", role.name()));
        return Err(Exit::usage(format!("{asked}{}; it was not examined", hello.can_be())));
    }
    let plan = limits.external(LearnerPlace::Command(args.model.clone()), hello.version);
    let mut checks = Vec::new();
    for role in roles {
        checks.extend(examine(role, limit.as_secs_f64(), &|| host.begin("model", &plan))?);
    }
    let mistakes = checks.iter().filter(|check| check.is_mistake()).count();
    if args.output.json {
        write_json(&json!(checks), out)?;
    } else {
        checks.iter().try_for_each(|check| line(check, out))?;
        let plural = if mistakes == 1 { "mistake" } else { "mistakes" };
        writeln!(out, "{mistakes} {plural}")?;
    }
    Ok(if mistakes == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(check: &Check, out: &mut dyn Write) -> Result<(), Exit> {
    let (mark, rest) = match &check.finding {
        Finding::Fine => ("ok      ", String::new()),
        Finding::Mistake { seen, cause } => {
            ("MISTAKE ", format!(": {}\n         Usual cause: {cause}", visible(seen)))
        }
        Finding::Unknown { why } => ("unknown ", format!(": {}", visible(why))),
    };
    writeln!(out, "{mark} {} ({}){rest}", check.name, check.role)?;
    Ok(())
}
