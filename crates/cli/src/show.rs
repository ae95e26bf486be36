//! `wug show`

mod lab;

use std::io::Write;

use serde_json::{Value, json};
use wug_lab::data::canonical;
use wug_lab::dataset::{Seed, find, wade};
use wug_lab::language::negative::{Coin, Negatives};
use wug_lab::language::registry::{self, BuildError, Named};
use wug_lab::language::{Language, Reading, nearest_names};
use wug_lab::learners::LEARNERS;
use wug_lab::parameter::Parameter;
use wug_lab::protocol::PROTOCOLS;
use wug_lab::score::METRICS;
use wug_lab::spec::{BUILT_IN, built_in};
use wug_lab::suite;

use crate::exit::Exit;
use crate::options::OutputArgs;
use crate::safe::write_json;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wug show stack-manipulation
  wug show nested:terminals=5,classes=3
  wug show qa                              a task of wade
  wug show lstm                            a learner: its roles and settings
  wug show flare_table2                    an experiment: its TOML
  wug show cycle-navigation --dot | dot -Tsvg > cycle.svg")]
pub(crate) struct ShowArgs {
    /// A language (NAME or NAME:key=value,…), task, suite, learner, protocol, metric or experiment
    name: String,
    /// Print the automaton as a Graphviz drawing
    #[arg(long)]
    dot: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ShowArgs, out: &mut dyn Write) -> Result<(), Exit> {
    if args.dot {
        let language = registry::build(&args.name)?;
        let dfa = language.automaton().ok_or_else(|| {
            Exit::usage(format!("`{}` is not regular, so it has no automaton to draw", args.name))
        })?;
        write!(out, "{}", dfa.to_dot())?;
        return Ok(());
    }
    let experiment = built_in(&args.name);
    if let Some((_, text)) = experiment
        && !args.output.json
    {
        write!(out, "{text}")?;
        return Ok(());
    }
    let facts = match experiment {
        Some((name, text)) => lab::experiment_facts(name, text)?,
        None => describe(&args.name)?,
    };
    if args.output.json {
        let object: serde_json::Map<String, Value> =
            facts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        write_json(&Value::Object(object), out)?;
        return Ok(());
    }
    for (key, value) in facts {
        print(key, &value, out)?;
    }
    Ok(())
}

type Facts = Vec<(&'static str, Value)>;

fn describe(name: &str) -> Result<Facts, Exit> {
    let unknown = match registry::find(name) {
        Ok(named) => return language(&named),
        // It names the nearest languages, and is reported if nothing else has the name either.
        Err(unknown) => unknown,
    };
    let name = &canonical(name);
    let base = name.split(':').next().unwrap_or(name);
    if base != name && wade::task(base).is_ok() {
        return Err(Exit::usage(format!(
            "`wug show` takes no settings of `{base}`; `wug data wade/{name}` does"
        )));
    }
    if let Ok(task) = wade::task(base) {
        return Ok(wade_task(task));
    }
    if find::entry(base).is_ok() {
        return find_task(name);
    }
    if let Some(suite) = suite::named(base) {
        return Ok(vec![
            ("name", json!(suite.name())),
            ("question", json!(suite.about().question)),
            ("measure", json!(suite.about().measure)),
            ("citation", json!(suite.about().citation)),
            ("members", json!(suite.members())),
        ]);
    }
    match lab::describe(base) {
        Some(facts) => Ok(facts),
        None => Err(unknown_name(base, unknown)),
    }
}

/// A name that nothing has, of whatever kind.
fn unknown_name(given: &str, unknown: BuildError) -> Exit {
    let Some(languages) = unknown.nearest() else { return unknown.into() };
    let others = suite::SUITES.iter().map(|suite| suite.name()).chain(BUILT_IN.iter().map(|(name, _)| *name));
    let others = others
        .chain(LEARNERS.iter().map(|learner| learner.name))
        .chain(PROTOCOLS.iter().map(|protocol| protocol.name))
        .chain(METRICS.iter().map(|metric| metric.name));
    let others = nearest_names(given, others);
    let nearest: Vec<String> =
        languages.iter().chain(&others).take(3).map(|name| format!("`{name}`")).collect();
    let nearest = nearest.join(" or ");
    let meant = if nearest.is_empty() { nearest } else { format!("; did you mean {nearest}?") };
    Exit::usage(format!(
        "nothing is called `{given}`: no language, task, suite, learner, protocol, metric or experiment{meant}; `wug list` shows languages, `wug list --help` says what else"
    ))
}

fn language(named: &Named) -> Result<Facts, Exit> {
    let entry = named.entry;
    let language = named.build(Reading::Corrected)?;
    let value = |p: &Parameter| {
        named.settings.get_value(p.name).map_or_else(|| p.default.to_string(), ToString::to_string)
    };
    let parameters: Vec<String> =
        entry.parameters.iter().map(|p| format!("{}={}: {}", p.name, value(p), p.meaning)).collect();
    let published = entry.parameters.iter().filter_map(|p| Some(format!("{}={}", p.name, p.published?)));
    let published: Vec<String> = published.collect();
    let alphabet = language.alphabet().tokens();
    let (members, nonmembers) = examples(named, language.as_ref());
    let mut facts = vec![
        ("name", json!(named.spelled())),
        ("aliases", json!(entry.aliases)),
        ("suite", json!(entry.suite)),
        ("class", json!(entry.class.to_string())),
        ("summary", json!(named.summary())),
        ("definition", json!(entry.definition)),
        ("citation", json!(entry.citation)),
        ("parameters", json!(parameters)),
        ("published reading", json!(published)),
        ("alphabet", json!(alphabet)),
        ("lengths", json!(lengths(language.as_ref()))),
        ("members", json!(members)),
        ("nonmembers", json!(nonmembers)),
    ];
    if let Some(dfa) = language.automaton() {
        facts.push(("automaton", json!(format!("{} states, {} transitions", dfa.states(), dfa.size()))));
    }
    facts.retain(|(_, value)| !matches!(value, Value::Array(list) if list.is_empty()));
    Ok(facts)
}

/// The entry's worked examples or, with settings other than the defaults, strings drawn from the language.
fn examples(named: &Named, language: &dyn Language) -> (Vec<String>, Vec<String>) {
    let owned = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
    if named.settings.is_empty() {
        return (owned(named.entry.members), owned(named.entry.nonmembers));
    }
    // A fixed seed: the same name shows the same strings each time.
    let mut rng = Seed::new(0).derive("show").rng();
    let text = |word: &[wug_lab::language::Symbol]| language.alphabet().format(word);
    let members = language.by_length(0..=8).map(|d| (0..3).map(|_| text(&d.sample(&mut rng))).collect());
    let negatives = Negatives::new(language, 0..=8, Coin::PerExample);
    let nonmembers =
        negatives.map(|n| (0..3).filter_map(|_| n.sample(&mut rng).ok()).map(|n| text(&n.word)).collect());
    (members.unwrap_or_default(), nonmembers.unwrap_or_default())
}

/// The number of strings of the first few lengths.
fn lengths(language: &dyn Language) -> Vec<String> {
    // Languages without a formula count their members one by one, up to as many as there are strings.
    let small = language.alphabet().len().pow(4) <= 10_000;
    let most = if small { 8 } else { 4 };
    (0..=most).map(|n| format!("{n}: {}", language.count(n))).collect()
}

fn wade_task(task: &wade::WadeTask) -> Facts {
    let settings = |reading| task.spelled(&task.settings(reading), " ");
    vec![
        ("name", json!(task.name)),
        ("suite", json!("wade")),
        ("number", json!(task.number)),
        ("title", json!(task.title)),
        ("summary", json!(task.summary)),
        ("definition", json!(task.definition)),
        ("citation", json!(task.citation())),
        ("parameters", json!(settings(Reading::Corrected))),
        ("published reading", json!(settings(Reading::Published))),
        ("vocabulary", json!(task.vocabulary().tokens())),
        ("example", json!(task.example)),
    ]
}

fn find_task(name: &str) -> Result<Facts, Exit> {
    let usage = |error: find::TaskError| Exit::usage(error.to_string());
    let entry = find::entry(name.split(':').next().unwrap_or(name)).map_err(usage)?;
    let task = find::build(name, Seed::new(0)).map_err(usage)?;
    let parameter = |p: &Parameter| format!("{}={}: {} ({})", p.name, p.default, p.meaning, p.limits);
    let parameters: Vec<String> = entry.parameters.iter().map(parameter).collect();
    let show = |input: &str, output: &str| format!("{input} -> {output}");
    let train = task
        .train
        .iter()
        .take(3)
        .map(|p| show(&task.source.format(&p.input), &task.target.format(&p.output)))
        .collect::<Vec<_>>();
    let last = task.holdout.len() - 1;
    let rules: Vec<String> = task
        .rules
        .iter()
        .map(|r| {
            format!(
                "{}: {}",
                r.name,
                show(&task.source.format(&task.holdout[last]), &task.target.format(&r.outputs[last]))
            )
        })
        .collect();
    Ok(vec![
        ("name", json!(task.name)),
        ("aliases", json!(entry.aliases)),
        ("suite", json!("find")),
        ("summary", json!(entry.summary)),
        ("definition", json!(entry.definition)),
        ("citation", json!(entry.cite)),
        ("parameters", json!(parameters)),
        ("training pairs", json!(task.train.len())),
        ("hold-out inputs", json!(task.holdout.len())),
        ("first training pairs", json!(train)),
        ("the rules' answers to the last input", json!(rules)),
    ])
}

fn print(key: &str, value: &Value, out: &mut dyn Write) -> Result<(), Exit> {
    let text = |v: &Value| match v {
        Value::String(s) if s.is_empty() => "(the empty string)".to_owned(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Array(items) if matches!(key, "alphabet" | "vocabulary" | "aliases" | "published reading") => {
            // The alphabets of TSE have up to 3,000 tokens.
            let shown: Vec<String> = items.iter().take(60).map(text).collect();
            let more =
                if items.len() > 60 { format!(" … ({} in all)", items.len()) } else { String::new() };
            writeln!(out, "{key}: {}{more}", shown.join(" "))?;
        }
        Value::Array(items) if key == "lengths" => {
            let shown: Vec<String> = items.iter().map(text).collect();
            writeln!(out, "strings of length {}, …", shown.join(", "))?;
        }
        Value::Array(items) => {
            writeln!(out, "{key}:")?;
            for item in items {
                writeln!(out, "  {}", text(item))?;
            }
        }
        other => writeln!(out, "{key}: {}", text(other))?,
    }
    Ok(())
}
