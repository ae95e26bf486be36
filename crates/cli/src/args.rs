//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use wug_lab::Keep;
use wug_lab::data::parse_lengths;
use wug_lab::foreign::Limits;
use wug_lab::language::{LengthRange, Reading};
use wug_lab::spec::Scale;
use wug_lab::suite::Format;

use crate::report::Exported;

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
    List(List),
    /// Show one of them in full: a language with examples, a learner with its settings, an experiment as TOML
    Show(Show),
    /// Draw strings of a language (or outside it), one per line
    Sample(Sample),
    /// Check strings: membership, next-symbol sets, edit distance, probability
    Check(Check),
    /// Write the data sets of a suite
    Data(Data),
    /// Check a data set against the oracle
    Validate(Validate),
    /// Run an experiment: a published table by name, or a .toml file of your own
    Run(Run),
    /// Show the progress of a sweep and its errors
    Status(StatusArgs),
    /// Set failed runs of a sweep aside, so that they are run again
    Retry(Retry),
    /// Work on a sweep, alone or beside other workers
    Worker(Worker),
    /// Score a model of your own on a data set: a file of answers, or a saved model
    Score(Score),
    /// Examine a model of your own for the mistakes that people make with such models
    Doctor(Doctor),
    /// Report the tables and figures of a sweep, the paper's beside ours
    Report(Report),
    /// Export every measurement of a sweep as a row
    Export(Export),
    /// Play the ten tasks of wade yourself: the human baseline
    Play(Play),
    /// Search, score, show, draw and check networks of minimum description length
    Mdl(crate::mdl_args::Mdl),
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

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Listing {
    Languages,
    Tasks,
    Suites,
    Learners,
    Protocols,
    Metrics,
    Experiments,
}

#[derive(ClapArgs)]
#[command(
    after_help = "Examples:\n  wug list\n  wug list tasks\n  wug list languages --json\n  wug list learners --sizes                the dimensions and true counts of some sizes"
)]
pub(crate) struct List {
    /// What to list
    #[arg(default_value = "languages")]
    pub(crate) what: Listing,
    /// With `learners`: what each has for some numbers of parameters
    #[arg(long)]
    pub(crate) sizes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug show stack-manipulation
  wug show nested:terminals=5,classes=3
  wug show qa                              a task of wade
  wug show lstm                            a learner: its roles and settings
  wug show flare_table2                    an experiment: its TOML
  wug show cycle-navigation --dot | dot -Tsvg > cycle.svg")]
pub(crate) struct Show {
    /// A language (NAME or NAME:key=value,…), task, suite, learner, protocol, metric or experiment
    pub(crate) name: String,
    /// Print the automaton as a Graphviz drawing
    #[arg(long)]
    pub(crate) dot: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug sample parity
  wug sample dyck-2-3 -n 5 --length 10..20
  wug sample majority --negative --json     with the number of edits made to a member
  wug sample an-bn:prior=0.1 --natural      lengths as the language's own grammar has them")]
pub(crate) struct Sample {
    /// NAME or NAME:key=value,…
    pub(crate) language: String,
    /// How many strings
    #[arg(short, default_value_t = 10)]
    pub(crate) n: usize,
    /// Lengths A..B, both included
    #[arg(long, value_name = "A..B", default_value = "0..40", value_parser = lengths)]
    pub(crate) length: LengthRange,
    /// Strings outside the language
    #[arg(long)]
    pub(crate) negative: bool,
    /// Draw from the language's own distribution instead of by length
    #[arg(long, conflicts_with_all = ["length", "negative"])]
    pub(crate) natural: bool,
    /// The same seed gives the same strings
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    pub(crate) reading: Reading,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug check parity 0110
  wug check dyck-2-3 '(0 (1 )1 )0' --next
  wug check repeat-01 0110 --distance       with a closest member
  wug sample majority | wug check majority - --prob")]
pub(crate) struct Check {
    /// NAME or NAME:key=value,…
    pub(crate) language: String,
    /// The string, tokens separated by spaces (single characters need none); `-` or nothing reads lines from
    /// stdin
    pub(crate) string: Option<String>,
    /// The next-symbol set of each prefix
    #[arg(long)]
    pub(crate) next: bool,
    /// The edit distance from the language and a closest member (regular languages)
    #[arg(long)]
    pub(crate) distance: bool,
    /// The log-probability among the strings of its length, and under the language's own distribution
    #[arg(long)]
    pub(crate) prob: bool,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    pub(crate) reading: Reading,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug data flare/parity --out parity
  wug data flare --out flare --seed 7                     all 18 languages, a folder each
  wug data flare/dyck-3-4 --out d --set test.size=1000 --set test.lengths=0..200
  wug data flare/parity --out parity --format parquet
  wug data bliss/an-bn --reading published --out anbn --format bliss
  wug data bliss/dyck-1 --out dyck-1 --set sizes=500 --set tests=stored
  wug data tse/nested:terminals=5 --out nested
  wug data wade/qa --out qa --set n=500
  wug data find/count-or-memorization:length=10 --out count
  wug data find/scan --format scan --out scan

Every folder has a card, README.md, with which Hugging Face `datasets` loads it, and a manifest, wug.json: what it is, its seed and reading, and a hash of its content.")]
pub(crate) struct Data {
    /// SUITE or SUITE/NAME; the suites are bliss, wade, flare, tse, find
    pub(crate) what: String,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The layout of the files: jsonl or parquet, text (bliss), or that of a paper: flare, bliss, tse, find or
    /// scan; lm-eval (tse): tasks for the lm-evaluation-harness
    /// [default: jsonl; bliss: text]
    #[arg(long, value_parser = format)]
    pub(crate) format: Option<Format>,
    /// The same seed gives the same bytes [default: 0; bliss: 100]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    pub(crate) reading: Reading,
    /// A size or length, such as test.size=1000 (flare), train=900 (tse), n=500 (wade), sizes=100,250 or
    /// tests=stored (bliss)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Replace existing files that differ
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the manifests as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug validate parity --format flare --language parity --json
  wug validate stack-manipulation --reading published
  wug validate scan --format scan

Prints for each split how many examples it has, the errors by name (label_errors, next_errors, …) and other facts (duplicates, overlap with training, …).
The exit code is 1 if there are errors.")]
pub(crate) struct Validate {
    /// The directory
    pub(crate) dir: PathBuf,
    /// The layout of the files: jsonl, parquet, text, flare, bliss, tse, lm-eval, find or scan (detected if not
    /// given)
    #[arg(long, value_parser = format)]
    pub(crate) format: Option<Format>,
    /// The language or task (the manifest's or the directory's name if not given)
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// The reading to check against (the manifest's, or corrected, if not given)
    #[arg(long, value_parser = reading)]
    pub(crate) reading: Option<Reading>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug run quickstart                                    a tour, under a minute
  wug run flare_table2 --scale quick                    an evening on two cores
  wug run flare_table2 --scale quick --set languages=parity,dyck-2-3 --set seeds=1 --out here
  wug run my.toml --plan                                the runs, without running them
  wug run my.toml --keep predictions,models             for measures of your own

The same command resumes an experiment that was killed.")]
pub(crate) struct Run {
    /// The name of an experiment (`wug list experiments`) or the path of a .toml file
    pub(crate) experiment: String,
    /// The directory to work in [default: runs/EXPERIMENT-SCALE]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    /// Which scale: smoke (seconds), quick (an evening) or paper (all of it)
    #[arg(long, default_value = "paper", value_parser = scale)]
    pub(crate) scale: Scale,
    /// A value of the spec, such as seeds=3, languages=parity,first or data.longest=200 (TOML; a list of
    /// names that have commas in them takes brackets and quotes)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Print the runs without running them
    #[arg(long)]
    pub(crate) plan: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug data flare/parity --out parity                    what is to be answered
  wug score parity answers.jsonl --learner mine --seed 3 --out runs/mine
  wug score parity answers.npz --learner mine --out runs/flare_table2-quick
  gunzip -c answers.jsonl.gz | wug score parity - --learner mine
  wug score parity --model runs/quickstart/kept/0123456789abcdef --learner mine

A line of answers about strings to recognise: {\"string\": \"0 1 1\", \"log_odds\": 1.5}. About what comes next: {\"string\": \"a b\", \"next\": [[0.1, 0.9, 0], …]},
a row after each prefix, the end of the string in the first column. docs/models.md has the whole contract.")]
pub(crate) struct Score {
    /// The data set: a directory that `wug data` wrote
    pub(crate) data: PathBuf,
    /// The answers, in any order: JSON lines (`-` reads them from stdin), or arrays in an .npz file
    #[arg(required_unless_present = "model")]
    pub(crate) answers: Option<PathBuf>,
    /// A saved model (config.json and model.safetensors) in place of answers
    #[arg(long, value_name = "DIR", conflicts_with = "answers")]
    pub(crate) model: Option<PathBuf>,
    /// What tables call the learner
    #[arg(long, value_name = "NAME")]
    pub(crate) learner: String,
    /// The seed that the model was trained with: models of several seeds are averaged in tables
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// The sweep that the results are written to, a new one or one with other runs [default: runs/score-NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// A value of the experiment, such as validation=long or factors=1,2
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug doctor python3 examples/process/bigram.py
  wug doctor --role recognizer python3 mine.py

The model is fitted to a task that every model can learn, and asked the same things in several ways. The exit code is 1 if a mistake is found.")]
pub(crate) struct Doctor {
    /// Only this role [default: all that the model says it can play]
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Seconds that the model may take to say hello, to be fitted and for each answer
    #[arg(long, default_value_t = 600, value_parser = seconds)]
    pub(crate) seconds: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The command of the model, with its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "MODEL")]
    pub(crate) model: Vec<String>,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug report runs/quickstart
  wug report runs/flare_table2-quick --format markdown
  wug report runs/flare_table2-quick --format html --out page.html
  wug report runs/flare_table2-quick runs/mine          several sweeps in the same tables")]
pub(crate) struct Report {
    /// The directory of the sweep, or several
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// table (for a terminal), markdown, csv, json or html (one page with tables and figures)
    #[arg(long, default_value = "table", value_parser = report_format)]
    pub(crate) format: wug_report::Format,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// A log of `wug play`, whose scores are shown beside the learners'
    #[arg(long, value_name = "LOG")]
    pub(crate) human: Vec<PathBuf>,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug play                                 all ten tasks, in random order
  wug play qa --log me.jsonl               one of them; the same command goes on where it was stopped
  wug report runs/wade_table4-quick --human me.jsonl

Ten right answers in a row end a task. A row of k right answers is an accuracy of k/10 at its first answer, so that ten
from the start score 1.")]
pub(crate) struct Play {
    /// The name or number of a task (`wug list tasks`)
    pub(crate) task: Option<String>,
    /// Where answers are logged, and from where the game goes on
    #[arg(long, value_name = "FILE", default_value = "wug-play.jsonl")]
    pub(crate) log: PathBuf,
    /// The same seed gives the same game [default: a new one]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// As published, or corrected [default: corrected]
    #[arg(long, value_parser = reading)]
    pub(crate) reading: Option<Reading>,
    /// Print the scores as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug export runs/quickstart --out scores.parquet
  wug export runs/quickstart --what curves --out curves.csv
  wug export runs/quickstart --what strings --format jsonl
  wug export runs/quickstart --what predictions --out predictions.parquet   (after `wug run --keep predictions`)

Every coordinate and every setting of a run is a column, under its name in the plan (`data.training`, `settings.hidden`).
Rows with derived = true are made of several runs, such as the index of BLISS; what differs between those is empty.")]
pub(crate) struct Export {
    /// The directory of the sweep
    pub(crate) dir: PathBuf,
    /// What the rows are: scores, curves (points of learning curves), strings (those that results list with their
    /// scores) or predictions (for every string that was evaluated, where they were kept)
    #[arg(long, default_value = "scores", value_parser = crate::report::exported)]
    pub(crate) what: Exported,
    /// csv, jsonl or parquet [default: as FILE ends, or jsonl]
    #[arg(long, value_parser = crate::report::table_format)]
    pub(crate) format: Option<wug_report::TableFormat>,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

fn report_format(text: &str) -> Result<wug_report::Format, String> {
    use wug_report::Format;
    Format::named(text)
        .ok_or_else(|| format!("the formats are: {}", Format::ALL.map(Format::name).join(", ")))
}

#[derive(ClapArgs)]
pub(crate) struct WorkerArgs {
    /// Runs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,
    /// Save checkpoints of unfinished runs every so many seconds, to resume from if killed
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) checkpoint: u64,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

#[derive(ClapArgs)]
pub(crate) struct KeepArgs {
    /// Keep beside each result in kept/: predictions (for every string that was evaluated), models (config.json and
    /// model.safetensors), or both, separated by a comma
    #[arg(long, value_name = "WHAT", value_parser = keep, default_value = "", hide_default_value = true)]
    pub(crate) keep: Keep,
}

#[derive(ClapArgs)]
pub(crate) struct StatusArgs {
    /// The directory of the sweep
    pub(crate) dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  wug retry runs/quickstart
  wug retry runs/quickstart --keep predictions          also what is done and has no predictions")]
pub(crate) struct Retry {
    #[command(flatten)]
    pub(crate) status: StatusArgs,
    /// Set aside too what is done and has none of these beside it: predictions, models, or both, separated by a comma
    #[arg(long, value_name = "WHAT", value_parser = keep, default_value = "", hide_default_value = true)]
    pub(crate) keep: Keep,
}

#[derive(ClapArgs)]
pub(crate) struct Worker {
    /// The directory of the sweep
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn keep(text: &str) -> Result<Keep, String> {
    let names = text.split(',').filter(|_| !text.is_empty());
    Keep::named(names).map_err(|_| format!("what can be kept is: {}", Keep::NAMES.join(", ")))
}

fn scale(text: &str) -> Result<Scale, String> {
    Scale::named(text).ok_or_else(|| format!("the scales are: {}", Scale::ALL.map(Scale::name).join(", ")))
}

fn jobs(text: &str) -> Result<usize, String> {
    let n = text.parse().ok().filter(|n| (1..=1024).contains(n));
    n.ok_or_else(|| "from 1 to 1024 runs at a time".to_owned())
}

fn seconds(text: &str) -> Result<u64, String> {
    const LONGEST: u64 = Limits::LONGEST;
    let n = text.parse().ok().filter(|n| (1..=LONGEST).contains(n));
    n.ok_or_else(|| format!("from 1 to {LONGEST} seconds, a year"))
}

fn lengths(text: &str) -> Result<LengthRange, String> {
    parse_lengths(text)
        .ok_or_else(|| "lengths are written A..B, both included, A not above B, B up to 1000000".to_owned())
}

pub(crate) fn reading(text: &str) -> Result<Reading, String> {
    text.parse().map_err(|error: wug_lab::language::UnknownReading| error.to_string())
}

fn format(text: &str) -> Result<Format, String> {
    Format::named(text)
        .ok_or_else(|| format!("the formats are: {}", Format::ALL.map(Format::name).join(", ")))
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
