//! `wug sample`

use std::io::Write;

use serde_json::json;
use wug_lab::data::parse_lengths;
use wug_lab::dataset::{DataError, Seed};
use wug_lab::language::negative::{Coin, Negatives};
use wug_lab::language::{Distribution, Language, LengthRange, Reading, registry};

use crate::exit::Exit;
use crate::options::reading;
use crate::safe::write_json;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug sample parity
  wug sample dyck-2-3 -n 5 --length 10..20
  wug sample majority --negative --json     with the number of edits made to a member
  wug sample an-bn:prior=0.1 --natural      lengths as the language's own grammar has them")]
pub(crate) struct SampleArgs {
    /// NAME or NAME:key=value,…
    language: String,
    /// How many strings
    #[arg(short, default_value_t = 10)]
    n: usize,
    /// Lengths A..B, both included
    #[arg(long, value_name = "A..B", default_value = "0..40", value_parser = lengths)]
    length: LengthRange,
    /// Strings outside the language
    #[arg(long)]
    negative: bool,
    /// Draw from the language's own distribution instead of by length
    #[arg(long, conflicts_with_all = ["length", "negative"])]
    natural: bool,
    /// The same seed gives the same strings
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    reading: Reading,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

fn lengths(text: &str) -> Result<LengthRange, String> {
    parse_lengths(text)
        .ok_or_else(|| "lengths are written A..B, both included, A not above B, B up to 1000000".to_owned())
}

pub(crate) fn run(args: &SampleArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let language = registry::find(&args.language)?.build(args.reading)?;
    let language = language.as_ref();
    if args.negative {
        return negatives(args, language, out);
    }
    let distribution = if args.natural {
        language.natural().ok_or_else(|| {
            Exit::usage(format!("`{}` has no distribution of its own; leave --natural out", args.language))
        })?
    } else {
        language.by_length(args.length.clone()).map_err(DataError::from)?
    };
    positives(args, language, distribution.as_ref(), out)
}

fn positives(
    args: &SampleArgs,
    language: &dyn Language,
    distribution: &dyn Distribution,
    out: &mut dyn Write,
) -> Result<(), Exit> {
    // The names of the two streams are shared with `Language.sample` in Python: one seed, the same strings.
    let mut rng = Seed::new(args.seed).derive("sample").rng();
    for _ in 0..args.n {
        let word = distribution.sample(&mut rng);
        let text = language.alphabet().format(&word);
        if args.json {
            let row =
                json!({ "string": text, "length": word.len(), "log_prob": distribution.log_prob(&word) });
            write_json(&row, out)?;
        } else {
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}

fn negatives(args: &SampleArgs, language: &dyn Language, out: &mut dyn Write) -> Result<(), Exit> {
    let coin = Coin::of(args.reading);
    let negatives = Negatives::new(language, args.length.clone(), coin).map_err(DataError::from)?;
    let mut rng = Seed::new(args.seed).derive("sample/negative").rng();
    for _ in 0..args.n {
        let negative = negatives.sample(&mut rng).map_err(|error| Exit::usage(error.to_string()))?;
        let text = language.alphabet().format(&negative.word);
        if args.json {
            let row = json!({ "string": text, "length": negative.word.len(), "edits": negative.edits });
            write_json(&row, out)?;
        } else {
            writeln!(out, "{text}")?;
        }
    }
    Ok(())
}
