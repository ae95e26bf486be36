//! `wug mdl score`

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use wug_lab::language::Reading;
use wug_lab::mdl::{
    CorpusRequest, FactorScore, MdlNetwork, MdlObjective, NetworkModel, Outputs, read_network, score,
    score_in, test_factors,
};

use super::{CorpusArgs, allowed};
use crate::exit::Exit;
use crate::options::OutputArgs;
use crate::safe::write_json;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MdlPrecision {
    F32,
    F64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MdlOutputs {
    Normalized,
    Softmax,
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug mdl score NET.json --language an-bn --training 100 --reading published --activations lan2022_extended8 --json
  wug mdl score NET.json --language an-bn --reading published --tests       the tests of the index, for b = 1, 2, 4 and 10

Prints grammar_bits, data_bits (null if infinite), total_bits and accuracy (the share of steps at which the most probable symbol is right, over distinct strings).")]
pub(super) struct MdlScoreArgs {
    /// The file of the network
    network: PathBuf,
    /// NAME or NAME:key=value,…
    #[arg(long)]
    language: String,
    #[command(flatten)]
    corpus: CorpusArgs,
    /// The activations that the network could have had: a set (`bliss3`, `linear_relu_sigmoid_tanh`, `lan2022_default6`,
    /// `lan2022_extended8`, `tests4`, `all15`) or names separated by commas
    #[arg(long, default_value = "bliss3")]
    activations: String,
    /// How outputs become probabilities
    #[arg(long, default_value = "normalized")]
    outputs: MdlOutputs,
    /// What the bits of the network are multiplied by
    #[arg(long, default_value_t = 1.0)]
    grammar_multiplier: f64,
    /// What the bits of the data are multiplied by
    #[arg(long, default_value_t = 1.0)]
    data_multiplier: f64,
    /// Floating-point precision
    #[arg(long, default_value = "f64")]
    precision: MdlPrecision,
    /// Also evaluate it on the strings after the longest training string, for each b
    #[arg(long)]
    tests: bool,
    /// With --tests: the factors b
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 10])]
    factors: Vec<usize>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &MdlScoreArgs, out: &mut dyn Write) -> Result<(), Exit> {
    let network = read_network(&args.network)?.network;
    for (name, multiplier) in [("grammar", args.grammar_multiplier), ("data", args.data_multiplier)] {
        if !(multiplier.is_finite() && multiplier >= 0.0) {
            return Err(Exit::usage(format!(
                "--{name}-multiplier cannot be {multiplier}; it is a number from 0 on"
            )));
        }
    }
    let request = args.corpus.request(&args.language);
    let objective = MdlObjective {
        outputs: args.outputs.into(),
        grammar_multiplier: args.grammar_multiplier,
        data_multiplier: args.data_multiplier,
        // The released evaluation gives a network up early by its raw values, and rejects some whose score
        // is finite.
        early_rejection: request.reading == Reading::Published,
        ..MdlObjective::new(allowed(&args.activations)?)
    };
    let corpus = request.sequences(&network)?;
    let found = match args.precision {
        MdlPrecision::F64 => score(&network, &corpus, &objective),
        MdlPrecision::F32 => score_in::<f32>(&network, &corpus, &objective),
    };
    let finite = |x: f64| x.is_finite().then_some(x);
    let mut row = json!({
        "grammar_bits": number(found.grammar_bits),
        "data_bits": finite(found.data_bits),
        "total_bits": finite(found.total()),
        "accuracy": found.accuracy,
    });
    if args.tests {
        row["tests"] = tests(&network, &request, args)?.iter().map(test_row).collect();
    }
    if args.output.json {
        write_json(&row, out)?;
        return Ok(());
    }
    let bits = |x: f64| if x.is_finite() { format!("{x:.2}") } else { "infinite".to_owned() };
    writeln!(
        out,
        "|G| {}, |D:G| {}, in all {} bits",
        bits(found.grammar_bits),
        bits(found.data_bits),
        bits(found.total())
    )?;
    writeln!(out, "the most probable symbol is right at {:.4} of the steps", found.accuracy)?;
    for test in row["tests"].as_array().into_iter().flatten() {
        writeln!(
            out,
            "b = {} at margin {}: {} of {} steps correct, {} of {} strings",
            test["factor"],
            test["margin"],
            test["correct"],
            test["scored"],
            test["accepted"],
            test["strings"]
        )?;
    }
    Ok(())
}

/// A whole number as one.
fn number(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e15 { json!(x as i64) } else { json!(x) }
}

fn tests(
    network: &MdlNetwork,
    request: &CorpusRequest,
    args: &MdlScoreArgs,
) -> Result<Vec<FactorScore>, Exit> {
    let (network, outputs) = (network.clone(), args.outputs.into());
    // The two margins ε of Lan et al. 2023: Table 2 has 0.005.
    let margins = [0.0, 0.005];
    Ok(match args.precision {
        MdlPrecision::F64 => {
            test_factors(&mut NetworkModel::<f64>::new(network, outputs), request, &args.factors, &margins)?
        }
        MdlPrecision::F32 => {
            test_factors(&mut NetworkModel::<f32>::new(network, outputs), request, &args.factors, &margins)?
        }
    })
}

fn test_row(test: &FactorScore) -> Value {
    json!({
        "factor": test.factor, "margin": test.margin, "strings": test.strings, "accepted": test.accepted,
        "scored": test.scored, "correct": test.correct,
    })
}

impl From<MdlOutputs> for Outputs {
    fn from(outputs: MdlOutputs) -> Self {
        match outputs {
            MdlOutputs::Normalized => Self::Normalized,
            MdlOutputs::Softmax => Self::Softmax,
        }
    }
}
