//! `wug check`

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use wug_lab::language::{Language, NextSet, Reading, Word, registry};

use crate::exit::Exit;
use crate::options::reading;
use crate::safe::write_json;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug check parity 0110
  wug check dyck-2-3 '(0 (1 )1 )0' --next
  wug check repeat-01 0110 --distance       with a closest member
  wug sample majority | wug check majority - --prob")]
pub(crate) struct CheckArgs {
    /// NAME or NAME:key=value,…
    language: String,
    /// The string, tokens separated by spaces (single characters need none); `-` or nothing
    /// reads lines from stdin
    string: Option<String>,
    /// The next-symbol set of each prefix
    #[arg(long)]
    next: bool,
    /// The edit distance from the language and a closest member (regular languages)
    #[arg(long)]
    distance: bool,
    /// The log-probability among the strings of its length, and under the language's own distribution
    #[arg(long)]
    prob: bool,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    reading: Reading,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CheckArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let language = registry::find(&args.language)?.build(args.reading)?;
    let language = language.as_ref();
    if args.distance && language.automaton().is_none() {
        return Err(Exit::usage(format!(
            "--distance needs a regular language, which `{}` is not",
            args.language
        )));
    }
    match args.string.as_deref() {
        Some(text) if text != "-" => line(args, language, text, out),
        _ => {
            for (i, text) in io::stdin().lock().lines().enumerate() {
                // Named by its line, as one of a million may be wrong.
                let at = |message: String| Exit::usage(format!("line {}: {message}", i + 1));
                let text = text.map_err(|error| at(error.to_string()))?;
                line(args, language, &text, out).map_err(|exit| match exit {
                    Exit::Usage(message) => at(message),
                    other => other,
                })?;
            }
            Ok(())
        }
    }
}

fn line(args: &CheckArgs, language: &dyn Language, text: &str, out: &mut dyn Write) -> Result<(), Exit> {
    let word = language.alphabet().parse(text).map_err(|error| Exit::usage(error.to_string()))?;
    let mut row = json!({ "string": language.alphabet().format(&word), "member": language.contains(&word) });
    if args.next {
        let sets: Vec<Value> = language.next_sets(&word).iter().map(|set| next(set, language)).collect();
        row["next"] = Value::Array(sets);
    }
    // Refused before anything is allocated: the table has a cell for each symbol and state.
    if let Some(dfa) = language.automaton().filter(|_| args.distance) {
        dfa.check_nearest(word.len()).map_err(|error| Exit::usage(error.to_string()))?;
    }
    if let Some(near) = language.automaton().filter(|_| args.distance).and_then(|dfa| dfa.nearest(&word)) {
        row["distance"] = json!(near.distance);
        row["nearest"] = json!(language.alphabet().format(&near.word));
    }
    if args.prob {
        language.check_length(word.len()).map_err(|error| Exit::usage(error.to_string()))?;
        row["log_prob_given_length"] = json!(given_length(language, &word));
        row["log_prob"] = json!(language.natural().map(|d| d.log_prob(&word)).filter(|p| p.is_finite()));
    }
    if args.json {
        write_json(&row, out)?;
    } else {
        print(&row, out)?;
    }
    Ok(())
}

/// `None` for minus infinity, which JSON cannot represent.
fn given_length(language: &dyn Language, word: &Word) -> Option<f64> {
    let distribution = language.by_length(word.len()..=word.len()).ok()?;
    // Adding zero turns the minus zero of a certain string into zero.
    Some(distribution.log_prob(word) + 0.0).filter(|p| p.is_finite())
}

fn next(set: &NextSet, language: &dyn Language) -> Value {
    let tokens: Vec<&str> = set.symbols().map(|a| language.alphabet().token(a)).collect();
    json!({ "s": tokens.join(" "), "e": set.end() })
}

fn print(row: &Value, out: &mut dyn Write) -> io::Result<()> {
    let string = row["string"].as_str().unwrap_or_default();
    write!(out, "{}", if row["member"] == true { "member" } else { "not a member" })?;
    if let Some(distance) = row.get("distance") {
        write!(out, "\tdistance {distance} from `{}`", row["nearest"].as_str().unwrap_or_default())?;
    }
    if let Some(log_prob) = row.get("log_prob_given_length") {
        match log_prob.as_f64() {
            Some(log_prob) => write!(out, "\tlog-probability given its length {log_prob:?}")?,
            None => write!(out, "\tprobability 0")?,
        }
        if !row["log_prob"].is_null() {
            write!(out, ", of itself {}", row["log_prob"])?;
        }
    }
    writeln!(out, "\t{string}")?;
    let Some(sets) = row.get("next").and_then(Value::as_array) else { return Ok(()) };
    let tokens: Vec<&str> = string.split_whitespace().collect();
    for (i, set) in sets.iter().enumerate() {
        let mut allowed = set["s"].as_str().unwrap_or_default().to_owned();
        if set["e"] == true {
            allowed.push_str(if allowed.is_empty() { "(end)" } else { " (end)" });
        }
        writeln!(out, "  {:>4}  {:<12} then: {allowed}", i, if i == 0 { "(start)" } else { tokens[i - 1] })?;
    }
    Ok(())
}
