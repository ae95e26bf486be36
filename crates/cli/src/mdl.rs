//! `wug mdl`: networks of minimum description length.

mod certify;
mod draw;
mod score;
mod search;
mod show;

use std::io::Write;
use std::process::ExitCode;

use wug_lab::language::Reading;
use wug_lab::mdl::{ACTIVATION_SETS, CorpusRequest, UnitActivation, activations_named};

use crate::exit::Exit;
use crate::options::reading;
use certify::CertifyArgs;
use draw::DrawArgs;
use score::MdlScoreArgs;
use search::SearchArgs;
use show::MdlShowArgs;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug mdl search an-bn --training 100 --out anbn.json
  wug mdl score anbn.json --language an-bn --training 100 --reading published --activations bliss3
  wug mdl score anbn.json --language an-bn --tests
  wug mdl show anbn.json
  wug mdl draw anbn.json --language an-bn --out anbn.svg
  wug mdl certify anbn.json --language an-bn --up-to 100000

In experiments this is the learner `mdlrnn` (wug show mdlrnn).")]
pub(crate) struct MdlArgs {
    #[command(subcommand)]
    command: MdlCommand,
}

#[derive(clap::Subcommand)]
enum MdlCommand {
    /// Search for the network of minimum description length
    Search(SearchArgs),
    /// Score a network: the bits of the network, the bits of the data given the network
    Score(MdlScoreArgs),
    /// Show a network: its units, edges, and the length of its code in parts
    Show(MdlShowArgs),
    /// Draw a network as SVG or Graphviz
    Draw(DrawArgs),
    /// Check by exact arithmetic up to where a network is correct
    Certify(CertifyArgs),
}

#[derive(clap::Args)]
struct CorpusArgs {
    /// How many training strings
    #[arg(long, default_value_t = 100)]
    training: usize,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    reading: Reading,
    /// The seed of the training strings
    #[arg(long, default_value_t = 100)]
    data_seed: u64,
}

pub(crate) fn run(args: &MdlArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    match &args.command {
        MdlCommand::Search(args) => return search::run(args, out),
        MdlCommand::Score(args) => score::run(args, out)?,
        MdlCommand::Show(args) => show::run(args, out)?,
        MdlCommand::Draw(args) => draw::run(args, out)?,
        MdlCommand::Certify(args) => return certify::run(args, out),
    }
    Ok(ExitCode::SUCCESS)
}

impl CorpusArgs {
    fn request(&self, language: &str) -> CorpusRequest {
        CorpusRequest {
            language: language.to_owned(),
            training: self.training,
            reading: self.reading,
            seed: self.data_seed,
        }
    }
}

/// The number of activations that a network could have had; it must be one of those that it has.
fn allowed(text: &str) -> Result<usize, Exit> {
    // The search may choose among all activations of a set, so that the bits of one depend on how many
    // there are.
    let known = activations_named(text).map_err(|unknown| {
        let sets: Vec<&str> = ACTIVATION_SETS.iter().map(|set| set.name).collect();
        let names = UnitActivation::ALL.map(UnitActivation::name);
        Exit::usage(format!(
            "unknown activation `{unknown}`; the sets are: {}; the activations are: {}",
            sets.join(", "),
            names.join(", ")
        ))
    })?;
    Ok(known.len())
}
