//! `wug validate`

use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};
use wug_lab::validate::{Request, validate};

use crate::args::Validate;
use crate::exit::Exit;

pub(crate) fn run(args: &Validate, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let request = Request { format: args.format, language: args.language.clone(), reading: args.reading };
    let report = validate(&args.dir, &request)?;
    if args.json {
        writeln!(out, "{}", json!(report))?;
    } else {
        writeln!(out, "{} as {}, {} reading", report.language, report.format, report.reading)?;
        for (split, findings) in &report.splits {
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
        writeln!(out, "{verdict}")?;
    }
    Ok(if report.errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
