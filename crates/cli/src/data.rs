//! `wug data`

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use serde_json::{Value, json};
use wug_lab::data::{self, Request};
use wug_lab::language::Reading;
use wug_lab::suite::DataFormat;

use crate::exit::{Exit, say};
use crate::options::{data_format, key_value, reading};
use crate::safe::write_json;

#[derive(clap::Args)]
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
pub(crate) struct DataArgs {
    /// SUITE or SUITE/NAME; the suites are bliss, wade, flare, tse, find
    what: String,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The layout of the files: jsonl or parquet, text (bliss), or that of a paper: flare, bliss, tse, find or
    /// scan; lm-eval (tse): tasks for the lm-evaluation-harness
    /// [default: jsonl; bliss: text]
    #[arg(long, value_parser = data_format)]
    format: Option<DataFormat>,
    /// The same seed gives the same bytes [default: 0; bliss: 100]
    #[arg(long)]
    seed: Option<u64>,
    /// As published, or corrected
    #[arg(long, default_value = "corrected", value_parser = reading)]
    reading: Reading,
    /// A size or length, such as test.size=1000 (flare), train=900 (tse), n=500 (wade),
    /// sizes=100,250 or tests=stored (bliss)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, String)>,
    /// Replace existing files that differ
    #[arg(long)]
    force: bool,
    /// Print the manifests as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DataArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let mut request = Request::parse(&args.what)?;
    request.reading = args.reading;
    request.seed = args.seed;
    request.format = args.format;
    request.options = args.set.iter().cloned().collect();
    let manifests = data::write(&request, &args.out, args.force, &mut progress)?;
    if args.json {
        let list: Vec<Value> = manifests.iter().map(|m| json!(m)).collect();
        write_json(&Value::Array(list), out)?;
        return Ok(());
    }
    for manifest in &manifests {
        let bytes: u64 = manifest.files.iter().map(|f| f.bytes).sum();
        writeln!(
            out,
            "{}/{}\t{} reading\tseed {}\t{} files\t{bytes} bytes\tcontent {}",
            manifest.suite,
            manifest.name,
            manifest.reading,
            manifest.seed,
            manifest.files.len(),
            // Enough to compare two data sets by eye.
            &manifest.content[..16]
        )?;
        for note in manifest.facts["notes"].as_array().into_iter().flatten() {
            writeln!(out, "  {}", note.as_str().unwrap_or_default())?;
        }
    }
    Ok(())
}

/// Names the data set that is being written, if stderr is a terminal.
fn progress(name: &str) {
    if std::io::stderr().is_terminal() {
        say(&format!("writing {name}"));
    }
}
