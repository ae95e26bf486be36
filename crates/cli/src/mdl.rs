//! `wug mdl`: networks of minimum description length.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wug_lab::disk::{check_writable, write_whole};
use wug_lab::language::Reading;
use wug_lab::mdl::{
    CorpusRequest, FactorScore, MdlNetwork, MdlObjective, NetworkModel, Outputs, SearchEvent, SearchRequest,
    Searched, activations_named, certify, read_network, score, score_in, search, search_settings,
    test_factors,
};
use wug_report::NetworkPicture;

use crate::exit::{Exit, say};
use crate::mdl_args::{
    Drawing, Mdl, MdlCertify, MdlCommand, MdlCorpus, MdlDraw, MdlOutputs, MdlPrecision, MdlScore, MdlSearch,
    MdlShow,
};
use crate::safe::write_json;
use crate::signals::Signals;

pub(crate) fn run(args: &Mdl, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    match &args.command {
        MdlCommand::Search(args) => return run_search(args, out),
        MdlCommand::Score(args) => run_score(args, out)?,
        MdlCommand::Show(args) => run_show(args, out)?,
        MdlCommand::Draw(args) => run_draw(args, out)?,
        MdlCommand::Certify(args) => return run_certify(args, out),
    }
    Ok(ExitCode::SUCCESS)
}

impl MdlCorpus {
    fn request(&self, language: &str) -> CorpusRequest {
        CorpusRequest {
            language: language.to_owned(),
            training: self.training,
            reading: self.reading,
            seed: self.data_seed,
        }
    }
}

/// How often checkpoints are written.
const CHECKPOINTS: Duration = Duration::from_secs(20);
/// How often progress is told.
const PROGRESS: Duration = Duration::from_secs(10);

fn run_search(args: &MdlSearch, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    // Now, and not when hours of work are to be written.
    args.out.as_deref().map_or(Ok(()), check_writable)?;
    let signals = Signals::watch()?;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let request = SearchRequest {
        corpus: args.corpus.request(&args.language),
        settings: search_settings(&args.set)?,
        seed: args.seed,
        threads: args.jobs.unwrap_or(processors),
        checkpoint: args.checkpoint.clone(),
        every: CHECKPOINTS,
        stop: signals.stop(),
    };
    let (begun, mut told) = (Instant::now(), Instant::now());
    let mut broken = None;
    // Caches are not saved, so what was scored before does not count.
    let mut scored_before = 0;
    let Searched { file, interrupted } = search(&request, &mut |event| match event {
        SearchEvent::Resumed(state) => {
            scored_before = state.evaluations;
            say(&format!("resumed at generation {}", state.generation));
        }
        SearchEvent::Improved(found) => {
            if args.json {
                let line = serde_json::to_string(found).unwrap_or_default();
                broken = write_json(&line, out).and_then(|()| out.flush()).err().or(broken.take());
            }
        }
        SearchEvent::Advanced(state) => {
            if told.elapsed() >= PROGRESS || state.over.is_some() {
                told = Instant::now();
                let seconds = begun.elapsed().as_secs_f64();
                let scored = state.evaluations.saturating_sub(scored_before);
                let cached = 100.0 * state.cached as f64 / scored.max(1) as f64;
                say(&format!(
                    "generation {}, {:.1} million networks ({cached:.0} % known before), best {:.2} bits, {seconds:.0} s",
                    state.generation,
                    state.evaluations as f64 / 1e6,
                    state.best
                ));
            }
        }
    })?;
    if let Some(error) = broken {
        return Err(error.into());
    }
    match &args.out {
        Some(path) => write_whole(path, format!("{file:#}\n").as_bytes())?,
        None if args.json => write_json(&file, out)?,
        None => write_json(&format!("{file:#}"), out)?,
    }
    let code = interrupted.and_then(|generation| Some((generation, signals.exit_code()?)));
    let Some((generation, code)) = code else { return Ok(ExitCode::SUCCESS) };
    let written = args.out.as_ref().map_or("on stdout".to_owned(), |path| format!("in {}", path.display()));
    let goes_on = match args.checkpoint {
        Some(_) => "; the search goes on with the same command",
        None => "; without --checkpoint the search begins anew",
    };
    say(&format!(
        "wug: interrupted after generation {generation}; the best network so far is {written}{goes_on}"
    ));
    Ok(code)
}

/// The number of activations that a network could have had; it must be one of those that it has.
fn allowed(text: &str) -> Result<usize, Exit> {
    let known = activations_named(text).map_err(|unknown| {
        let sets: Vec<&str> = wug_lab::mdl::ACTIVATION_SETS.iter().map(|set| set.name).collect();
        let names = wug_lab::mdl::UnitActivation::ALL.map(wug_lab::mdl::UnitActivation::name);
        Exit::usage(format!(
            "unknown activation `{unknown}`; the sets are: {}; the activations are: {}",
            sets.join(", "),
            names.join(", ")
        ))
    })?;
    Ok(known.len())
}

fn run_score(args: &MdlScore, out: &mut dyn Write) -> Result<(), Exit> {
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
    if args.json {
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

fn tests(network: &MdlNetwork, request: &CorpusRequest, args: &MdlScore) -> Result<Vec<FactorScore>, Exit> {
    let (network, outputs) = (network.clone(), args.outputs.into());
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

fn run_show(args: &MdlShow, out: &mut dyn Write) -> Result<(), Exit> {
    let file = read_network(&args.network)?;
    let network = &file.network;
    let length = network.code_length(allowed(&args.activations)?);
    if args.json {
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
        let role = if id < network.inputs() {
            "input"
        } else if id < network.inputs() + network.outputs() {
            "output"
        } else {
            "hidden"
        };
        let bias = unit.bias.map_or(String::new(), |bias| format!(", bias {bias}"));
        let kind = match unit.kind {
            wug_lab::mdl::UnitKind::Sum => "sum",
            wug_lab::mdl::UnitKind::Product => "product",
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

fn run_draw(args: &MdlDraw, out: &mut dyn Write) -> Result<(), Exit> {
    let file = read_network(&args.network)?;
    let symbols = match &args.language {
        None if args.alphabet.is_empty() => {
            let known = file.json["symbols"].as_array().into_iter().flatten();
            known.filter_map(|symbol| symbol.as_str().map(str::to_owned)).collect()
        }
        None => args.alphabet.clone(),
        Some(language) => {
            let language = wug_lab::language::registry::find(language)?.build(Reading::Corrected)?;
            wug_lab::dataset::corpus::vocabulary(language.alphabet()).tokens().to_vec()
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
    let format = args.format.unwrap_or(if is_dot { Drawing::Dot } else { Drawing::Svg });
    let drawing = match format {
        Drawing::Svg => picture.svg(),
        Drawing::Dot => picture.dot(),
    };
    match &args.out {
        Some(path) => write_whole(path, drawing.as_bytes())?,
        None => write!(out, "{drawing}")?,
    }
    Ok(())
}

fn run_certify(args: &MdlCertify, out: &mut dyn Write) -> Result<ExitCode, Exit> {
    let network = read_network(&args.network)?.network;
    let found = certify(&network, &args.language, args.up_to)?;
    let code = if found.holds_up_to < found.asked { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if args.json {
        let row = json!({
            "claim": found.claim, "bound_of": found.bound_of, "holds_up_to": found.holds_up_to, "asked": found.asked,
            "failure": found.failure, "steps": found.steps,
        });
        write_json(&row, out)?;
        return Ok(code);
    }
    match found.holds_up_to {
        0 => writeln!(out, "not shown for any {}: {}", found.bound_of, found.claim)?,
        bound => writeln!(
            out,
            "shown by exact arithmetic in {} steps, for every {} up to {bound}: {}",
            found.steps, found.bound_of, found.claim
        )?,
    }
    if let Some(failure) = found.failure {
        writeln!(out, "not beyond: {failure}")?;
    }
    Ok(code)
}
