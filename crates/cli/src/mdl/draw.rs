//! `wug mdl draw`

use std::io::Write;
use std::path::PathBuf;

use wug_lab::dataset::corpus::vocabulary;
use wug_lab::disk::write_whole;
use wug_lab::language::{Reading, registry};
use wug_lab::mdl::read_network;
use wug_report::NetworkPicture;

use crate::exit::Exit;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DrawingFormat {
    Svg,
    Dot,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug mdl draw NET.json --out net.svg
  wug mdl draw NET.json --language an-bn --format dot | dot -Tpdf > net.pdf")]
pub(super) struct DrawArgs {
    /// The file of the network
    network: PathBuf,
    /// svg, or dot for Graphviz [default: as FILE ends, or svg]
    #[arg(long)]
    format: Option<DrawingFormat>,
    /// The language whose symbols inputs and outputs stand for
    #[arg(long, conflicts_with = "alphabet")]
    language: Option<String>,
    /// The symbols that inputs and outputs stand for, separated by commas, the boundary first
    #[arg(long, value_delimiter = ',')]
    alphabet: Vec<String>,
    /// Write to a file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &DrawArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let file = read_network(&args.network)?;
    let symbols = match &args.language {
        None if args.alphabet.is_empty() => {
            // Networks that were searched here say their symbols; those of other programs do not.
            let known = file.json["symbols"].as_array().into_iter().flatten();
            known.filter_map(|symbol| symbol.as_str().map(str::to_owned)).collect()
        }
        None => args.alphabet.clone(),
        Some(language) => {
            let language = registry::find(language)?.build(Reading::Corrected)?;
            vocabulary(language.alphabet()).tokens().to_vec()
        }
    };
    let inputs = file.network.inputs();
    if !symbols.is_empty() && symbols.len() != inputs {
        return Err(Exit::usage(format!("{} symbols, but the network has {inputs} inputs", symbols.len())));
    }
    let picture = NetworkPicture::of(&file.network.to_json(), &symbols)
        .ok_or_else(|| Exit::Failure("the network cannot be drawn".to_owned()))?;
    let is_dot =
        args.out.as_ref().and_then(|path| path.extension()).is_some_and(|end| end == "dot" || end == "gv");
    let format = args.format.unwrap_or(if is_dot { DrawingFormat::Dot } else { DrawingFormat::Svg });
    let drawing = match format {
        DrawingFormat::Svg => picture.svg(),
        DrawingFormat::Dot => picture.dot(),
    };
    match &args.out {
        Some(path) => write_whole(path, drawing.as_bytes())?,
        None => write!(out, "{drawing}")?,
    }
    Ok(())
}
