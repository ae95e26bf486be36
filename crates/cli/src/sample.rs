//! `wug sample`

use std::io::Write;

use serde_json::json;
use wug_lab::dataset::{DataError, Seed};
use wug_lab::language::negative::{Coin, Negatives};
use wug_lab::language::{Distribution, Language, registry};

use crate::args::Sample;
use crate::exit::Exit;
use crate::safe::write_json;

pub(crate) fn run(args: &Sample, out: &mut dyn Write) -> Result<(), Exit> {
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
    args: &Sample,
    language: &dyn Language,
    distribution: &dyn Distribution,
    out: &mut dyn Write,
) -> Result<(), Exit> {
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

fn negatives(args: &Sample, language: &dyn Language, out: &mut dyn Write) -> Result<(), Exit> {
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
