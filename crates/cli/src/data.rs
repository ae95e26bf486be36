//! `wug data`

use std::io::{IsTerminal, Write};

use serde_json::{Value, json};
use wug_lab::data::{self, Request};

use crate::args::Data;
use crate::exit::{Exit, say};
use crate::safe::write_json;

pub(crate) fn run(args: &Data, out: &mut dyn Write) -> Result<(), Exit> {
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
