//! `wug validate`

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use wug_lab::dataset::validation::Validation;
use wug_lab::language::Reading;
use wug_lab::suite::DataFormat;
use wug_lab::validate::{Request, validate};

use crate::exit::Exit;
use crate::options::{OutputArgs, data_format, reading};
use crate::safe::{visible, write_json};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug validate parity --format flare --language parity --json
  wug validate stack-manipulation --reading published
  wug validate scan --format scan

Prints for each split how many examples it has, the errors by name (label_errors, next_errors, …) and other facts (duplicates, overlap with training, …).
The exit code is 1 if there are errors.")]
pub(crate) struct ValidateArgs {
    /// The directory
    dir: PathBuf,
    /// The layout of the files: jsonl, parquet, text, flare, bliss, tse, lm-eval, find or scan
    /// (detected if not given)
    #[arg(long, value_parser = data_format)]
    format: Option<DataFormat>,
    /// The language or task (the manifest's or the directory's name if not given)
    #[arg(long)]
    language: Option<String>,
    /// The reading to check against (the manifest's, or corrected, if not given)
    #[arg(long, value_parser = reading)]
    reading: Option<Reading>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ValidateArgs, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let request = Request { format: args.format, language: args.language.clone(), reading: args.reading };
    let reports = validate(&args.dir, &request)?;
    // What could not be checked is no error: notes tell it, and the exit code does not.
    let correct = reports.iter().all(|report| report.errors == 0);
    if args.output.json {
        // One data set is one object; a directory of many is a list.
        match reports.as_slice() {
            [report] => write_json(&json!(report), out)?,
            many => write_json(&json!(many), out)?,
        }
    } else {
        reports.iter().try_for_each(|report| print(report, out))?;
    }
    Ok(if correct { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(report: &Validation, out: &mut dyn Write) -> io::Result<()> {
    let (language, reading) = (visible(&report.language), visible(&report.reading));
    writeln!(out, "{language} as {}, {reading} reading", report.format)?;
    let manifest = report.manifest.as_ref().map(|findings| ("manifest", findings));
    for (split, findings) in report.splits.iter().map(|(k, v)| (k.as_str(), v)).chain(manifest) {
        writeln!(out, "{}", visible(split))?;
        for (name, value) in findings.as_object().into_iter().flatten() {
            match value {
                Value::Array(samples) => {
                    let head = if name == "not_checked" { "not checked: " } else { "" };
                    for sample in samples {
                        writeln!(out, "    {head}{}", visible(sample.as_str().unwrap_or_default()))?;
                    }
                }
                other => writeln!(out, "  {}: {}", visible(name), visible(&other.to_string()))?,
            }
        }
    }
    for note in &report.notes {
        writeln!(out, "note: {}", visible(note))?;
    }
    let errors = match report.errors {
        0 => "no errors".to_owned(),
        errors => format!("{errors} errors"),
    };
    match report.not_checked {
        0 => writeln!(out, "{errors}"),
        1 => writeln!(out, "{errors} in what was checked; 1 thing was not checked"),
        more => writeln!(out, "{errors} in what was checked; {more} things were not checked"),
    }
}
