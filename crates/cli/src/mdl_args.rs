//! The arguments of `wug mdl`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use wug_lab::language::Reading;

use crate::args::{key_value, reading};

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug mdl search an-bn --training 100 --out anbn.json
  wug mdl score anbn.json --language an-bn --training 100 --reading published --activations bliss3
  wug mdl score anbn.json --language an-bn --tests
  wug mdl show anbn.json
  wug mdl draw anbn.json --language an-bn --out anbn.svg
  wug mdl certify anbn.json --language an-bn --up-to 100000

In experiments this is the learner `mdlrnn` (wug show mdlrnn).")]
pub(crate) struct Mdl {
    #[command(subcommand)]
    pub(crate) command: MdlCommand,
}

#[derive(Subcommand)]
pub(crate) enum MdlCommand {
    /// Search for the network of minimum description length
    Search(MdlSearch),
    /// Score a network: the bits of the network, the bits of the data given the network
    Score(MdlScore),
    /// Show a network: its units, edges, and the length of its code in parts
    Show(MdlShow),
    /// Draw a network as SVG or Graphviz
    Draw(MdlDraw),
    /// Check by exact arithmetic up to where a network is correct
    Certify(MdlCertify),
}

#[derive(ClapArgs)]
pub(crate) struct MdlCorpus {
    /// How many training strings
    #[arg(long, default_value_t = 100)]
    pub(crate) training: usize,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    pub(crate) reading: Reading,
    /// The seed of the training strings
    #[arg(long, default_value_t = 100)]
    pub(crate) data_seed: u64,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug mdl search an-bn --training 100 --reading published --out anbn.json
  wug mdl search dyck-1 --seed 3 --set islands=8 --set generations=5000 --jobs 2 --checkpoint dyck.checkpoint
  wug mdl search an-bn-cn --set activations=lan2022_default6 --json         every improvement as a line of JSON

The settings are those of the learner (wug show mdlrnn). The result is the same for any number of jobs, and after any interruption. A first SIGINT (Ctrl-C), SIGTERM or SIGHUP ends the search: the best network so far is written, marked as interrupted, and the checkpoint is saved.")]
pub(crate) struct MdlSearch {
    /// NAME or NAME:key=value,…
    pub(crate) language: String,
    #[command(flatten)]
    pub(crate) corpus: MdlCorpus,
    /// The seed of the search
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// A setting of the learner, such as islands=8 or generations=5000
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Threads [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Save the search to this file now and then, and resume it from there
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Write the network to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print every improvement as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MdlPrecision {
    F32,
    F64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MdlOutputs {
    Normalized,
    Softmax,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug mdl score NET.json --language an-bn --training 100 --reading published --activations lan2022_extended8 --json
  wug mdl score NET.json --language an-bn --reading published --tests       the tests of the index, for b = 1, 2, 4 and 10

Prints grammar_bits, data_bits (null if infinite), total_bits and accuracy (the share of steps at which the most probable symbol is right, over distinct strings).")]
pub(crate) struct MdlScore {
    /// The file of the network
    pub(crate) network: PathBuf,
    /// NAME or NAME:key=value,…
    #[arg(long)]
    pub(crate) language: String,
    #[command(flatten)]
    pub(crate) corpus: MdlCorpus,
    /// The activations that the network could have had: a set (`bliss3`, `linear_relu_sigmoid_tanh`, `lan2022_default6`,
    /// `lan2022_extended8`, `tests4`, `all15`) or names separated by commas
    #[arg(long, default_value = "bliss3")]
    pub(crate) activations: String,
    /// How outputs become probabilities
    #[arg(long, default_value = "normalized")]
    pub(crate) outputs: MdlOutputs,
    /// What the bits of the network are multiplied by
    #[arg(long, default_value_t = 1.0)]
    pub(crate) grammar_multiplier: f64,
    /// What the bits of the data are multiplied by
    #[arg(long, default_value_t = 1.0)]
    pub(crate) data_multiplier: f64,
    /// Floating-point precision
    #[arg(long, default_value = "f64")]
    pub(crate) precision: MdlPrecision,
    /// Also evaluate it on the strings after the longest training string, for each b
    #[arg(long)]
    pub(crate) tests: bool,
    /// With --tests: the factors b
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 10])]
    pub(crate) factors: Vec<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
pub(crate) struct MdlShow {
    /// The file of the network
    pub(crate) network: PathBuf,
    /// The activations that it could have had, as in `wug mdl score`
    #[arg(long, default_value = "bliss3")]
    pub(crate) activations: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawing {
    Svg,
    Dot,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug mdl draw NET.json --out net.svg
  wug mdl draw NET.json --language an-bn --format dot | dot -Tpdf > net.pdf")]
pub(crate) struct MdlDraw {
    /// The file of the network
    pub(crate) network: PathBuf,
    /// svg, or dot for Graphviz [default: as FILE ends, or svg]
    #[arg(long)]
    pub(crate) format: Option<Drawing>,
    /// The language whose symbols inputs and outputs stand for
    #[arg(long, conflicts_with = "alphabet")]
    pub(crate) language: Option<String>,
    /// The symbols that inputs and outputs stand for, separated by commas, the boundary first
    #[arg(long, value_delimiter = ',')]
    pub(crate) alphabet: Vec<String>,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug mdl certify anbn.json --language an-bn --up-to 100000
  wug mdl certify dyck.json --language dyck-1 --up-to 500 --json

What is checked is printed. It is about normalized outputs (negative ones are 0, the rest is divided by the sum) in exact arithmetic; softmax outputs are not covered. Exit code 1 if the bound is not reached.")]
pub(crate) struct MdlCertify {
    /// The file of the network
    pub(crate) network: PathBuf,
    /// an-bn, an-bn-cn, an-bn-cn-dn, an-bm-cn-plus-m, dyck-1 or dyck-2
    #[arg(long)]
    pub(crate) language: String,
    /// Up to which n (and m), or up to which depth of brackets
    #[arg(long, default_value_t = 10_000)]
    pub(crate) up_to: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
