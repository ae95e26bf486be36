//! `wug mdl certify`

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use wug_lab::mdl::{certify, read_network};

use crate::exit::Exit;
use crate::options::OutputArgs;
use crate::safe::write_json;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug mdl certify anbn.json --language an-bn --up-to 100000
  wug mdl certify dyck.json --language dyck-1 --up-to 500 --json

What is checked is printed. It is about normalized outputs (negative ones are 0, the rest is divided by the sum) in exact arithmetic; softmax outputs are not covered. Exit code 1 if the bound is not reached.")]
pub(super) struct CertifyArgs {
    /// The file of the network
    network: PathBuf,
    /// an-bn, an-bn-cn, an-bn-cn-dn, an-bm-cn-plus-m, dyck-1 or dyck-2
    #[arg(long)]
    language: String,
    /// Up to which n (and m), or up to which depth of brackets
    #[arg(long, default_value_t = 10_000)]
    up_to: usize,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &CertifyArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let network = read_network(&args.network)?.network;
    let found = certify(&network, &args.language, args.up_to)?;
    let code = if found.holds_up_to < found.asked { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.output.json {
        let row = json!({
            "claim": found.claim, "bound_of": found.bound_of, "holds_up_to": found.holds_up_to, "asked": found.asked,
            "failure": found.failure, "steps": found.steps,
        });
        write_json(&row, out)?;
        return Ok(code);
    }
    match found.holds_up_to {
        0 => writeln!(out, "not shown for any {}: {}", found.bound_of, found.claim)?,
        bound => writeln!(
            out,
            "shown by exact arithmetic in {} steps, for every {} up to {bound}: {}",
            found.steps, found.bound_of, found.claim
        )?,
    }
    if let Some(failure) = found.failure {
        writeln!(out, "not beyond: {failure}")?;
    }
    Ok(code)
}
