//! The command line as a whole. The arguments of a command stand beside it, in its module.

use clap::{Parser, Subcommand};

use crate::check::CheckArgs;
use crate::data::DataArgs;
use crate::doctor::DoctorArgs;
use crate::export::ExportArgs;
use crate::list::ListArgs;
use crate::mdl::MdlArgs;
use crate::play::PlayArgs;
use crate::report::ReportArgs;
use crate::run::{RunArgs, WorkerArgs};
use crate::sample::SampleArgs;
use crate::score::ScoreArgs;
use crate::show::ShowArgs;
use crate::status::{RetryArgs, StatusArgs};
use crate::validate::ValidateArgs;

/// Did it learn the rule, or the data? wug measures how sequence models generalise.
#[derive(Parser)]
#[command(name = "wug", version, propagate_version = true, after_help = FIRST_STEPS)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const FIRST_STEPS: &str = "\
First steps:
  wug list                                  every language
  wug show dyck-2-3                         one of them in full
  wug sample dyck-2-3 -n 5 --length 10..20  five of its strings
  wug check parity 0110                     is this a member?
  wug data flare/parity --out parity        a data set, with its manifest
  wug validate parity                       check it against the oracle
  wug run quickstart                        train and measure: a tour, under a minute";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List languages, tasks, suites, learners, protocols, metrics or experiments
    List(ListArgs),
    /// Show one of them in full: a language with examples, a learner with its settings, an experiment as TOML
    Show(ShowArgs),
    /// Draw strings of a language (or outside it), one per line
    Sample(SampleArgs),
    /// Check strings: membership, next-symbol sets, edit distance, probability
    Check(CheckArgs),
    /// Write the data sets of a suite
    Data(DataArgs),
    /// Check a data set against the oracle
    Validate(ValidateArgs),
    /// Run an experiment: a published table by name, or a .toml file of your own
    Run(RunArgs),
    /// Show the progress of a sweep and its errors
    Status(StatusArgs),
    /// Set failed runs of a sweep aside, so that they are run again
    Retry(RetryArgs),
    /// Work on a sweep, alone or beside other workers
    Worker(WorkerArgs),
    /// Score a model of your own on a data set: a file of answers, or a saved model
    Score(ScoreArgs),
    /// Examine a model of your own for the mistakes that people make with such models
    Doctor(DoctorArgs),
    /// Report the tables and figures of a sweep, the paper's beside ours
    Report(ReportArgs),
    /// Export every measurement of a sweep as a row
    Export(ExportArgs),
    /// Play the ten tasks of wade yourself: the human baseline
    Play(PlayArgs),
    /// Search, score, show, draw and check networks of minimum description length
    Mdl(MdlArgs),
    /// Print the completions for a shell
    #[command(
        after_help = "Example:\n  wug completions bash > ~/.local/share/bash-completion/completions/wug"
    )]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  wug man | man -l -\n  wug man data | man -l -")]
    Man {
        /// The page of one command
        page: Option<String>,
    },
}
