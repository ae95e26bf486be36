//! `wug mdl show`

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wug_lab::mdl::{UnitKind, read_network};

use super::allowed;
use crate::exit::Exit;
use crate::options::OutputArgs;
use crate::safe::write_json;

#[derive(clap::Args)]
pub(super) struct MdlShowArgs {
    /// The file of the network
    network: PathBuf,
    /// The activations that it could have had, as in `wug mdl score`
    #[arg(long, default_value = "bliss3")]
    activations: String,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &MdlShowArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let file = read_network(&args.network)?;
    let network = &file.network;
    let length = network.code_length(allowed(&args.activations)?);
    if args.output.json {
        let parts: serde_json::Map<String, Value> =
            length.parts().into_iter().map(|(name, bits)| (name.to_owned(), json!(bits))).collect();
        let row = json!({ "net": network.to_json(), "grammar_bits": length.total(), "parts": parts });
        write_json(&format!("{row:#}"), out)?;
        return Ok(());
    }
    writeln!(out, "{}: {} bits", name_of(&args.network), length.total())?;
    let parts: Vec<String> =
        length.parts().iter().map(|(name, bits)| format!("{} {bits}", name.replace('_', " "))).collect();
    writeln!(out, "  {}", parts.join(", "))?;
    for (id, unit) in network.units().iter().enumerate() {
        // Units are numbered inputs first, then outputs, then hidden ones.
        let role = if id < network.inputs() {
            "input"
        } else if id < network.inputs() + network.outputs() {
            "output"
        } else {
            "hidden"
        };
        let bias = unit.bias.map_or(String::new(), |bias| format!(", bias {bias}"));
        let kind = match unit.kind {
            UnitKind::Sum => "sum",
            UnitKind::Product => "product",
        };
        writeln!(out, "unit {id}: {role}, {kind}, {}{bias}", unit.activation.name())?;
        let into = network.edges().iter().filter(|edge| usize::from(edge.target) == id);
        for edge in into {
            let kind = if edge.recurrent { " (of the step before)" } else { "" };
            writeln!(out, "  {} × unit {}{kind}", edge.weight, edge.source)?;
        }
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
