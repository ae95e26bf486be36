//! Options that several commands have, and how their values are read.

use wug_lab::Keep;
use wug_lab::language::{Reading, UnknownReading};
use wug_lab::spec::Scale;
use wug_lab::suite::DataFormat;

#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct JobArgs {
    /// Runs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,
    /// Save checkpoints of unfinished runs every so many seconds, to resume from if killed
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) checkpoint: u64,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
}

#[derive(clap::Args)]
pub(crate) struct KeepArgs {
    /// Keep beside each result in kept/: predictions (for every string that was evaluated), models (config.json and
    /// model.safetensors), or both, separated by a comma
    #[arg(long, value_name = "WHAT", value_parser = keep, default_value = "", hide_default_value = true)]
    pub(crate) keep: Keep,
}

pub(crate) fn keep(text: &str) -> Result<Keep, String> {
    // An empty text is the default, nothing; split alone would make a name of it.
    let names = text.split(',').filter(|_| !text.is_empty());
    Keep::named(names).map_err(|_| format!("what can be kept is: {}", Keep::NAMES.join(", ")))
}

fn jobs(text: &str) -> Result<usize, String> {
    let n = text.parse().ok().filter(|n| (1..=1024).contains(n));
    n.ok_or_else(|| "from 1 to 1024 runs at a time".to_owned())
}

pub(crate) fn scale(text: &str) -> Result<Scale, String> {
    Scale::named(text).ok_or_else(|| format!("the scales are: {}", Scale::ALL.map(Scale::name).join(", ")))
}

pub(crate) fn reading(text: &str) -> Result<Reading, String> {
    text.parse().map_err(|error: UnknownReading| error.to_string())
}

pub(crate) fn data_format(text: &str) -> Result<DataFormat, String> {
    DataFormat::named(text)
        .ok_or_else(|| format!("the formats are: {}", DataFormat::ALL.map(DataFormat::name).join(", ")))
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
