//! `wug validate`

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use wug_lab::dataset::validation::Validation;
use wug_lab::validate::{Request, validate};

use crate::args::Validate;
use crate::exit::Exit;

pub(crate) fn run(args: &Validate, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let request = Request { format: args.format, language: args.language.clone(), reading: args.reading };
    let reports = validate(&args.dir, &request)?;
    let errors: usize = reports.iter().map(|report| report.errors).sum();
    if args.json {
        // One data set is one object; a directory of many is a list.
        match reports.as_slice() {
            [report] => writeln!(out, "{}", json!(report))?,
            many => writeln!(out, "{}", json!(many))?,
        }
    } else {
        reports.iter().try_for_each(|report| print(report, out))?;
    }
    Ok(if errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(report: &Validation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} as {}, {} reading", report.language, report.format, report.reading)?;
    let manifest = report.manifest.as_ref().map(|findings| ("manifest", findings));
    for (split, findings) in report.splits.iter().map(|(k, v)| (k.as_str(), v)).chain(manifest) {
        writeln!(out, "{split}")?;
        for (name, value) in findings.as_object().into_iter().flatten() {
            match value {
                Value::Array(samples) => {
                    for sample in samples {
                        writeln!(out, "    {}", sample.as_str().unwrap_or_default())?;
                    }
                }
                other => writeln!(out, "  {name}: {other}")?,
            }
        }
    }
    for note in &report.notes {
        writeln!(out, "note: {note}")?;
    }
    let verdict =
        if report.errors == 0 { "no errors".to_owned() } else { format!("{} errors", report.errors) };
    writeln!(out, "{verdict}")
}
