//! `wug list`

use std::io::Write;

use serde_json::{Value, json};
use wug_lab::language::registry::LANGUAGES;
use wug_lab::learners::{LEARNERS, Learner, Role, SizeRow, size_table};
use wug_lab::protocol::{PROTOCOLS, ProtocolEntry};
use wug_lab::score::{METRICS, Metric};
use wug_lab::spec::titles;
use wug_lab::suite::SUITES;

use crate::exit::Exit;
use crate::options::OutputArgs;
use crate::safe::write_json;

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Listing {
    Languages,
    Tasks,
    Suites,
    Learners,
    Protocols,
    Metrics,
    Experiments,
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  wug list\n  wug list tasks\n  wug list languages --json\n  wug list learners --sizes                the dimensions and true counts of some sizes"
)]
pub(crate) struct ListArgs {
    /// What to list
    #[arg(default_value = "languages")]
    what: Listing,
    /// With `learners`: what each has for some numbers of parameters
    #[arg(long)]
    sizes: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &ListArgs, out: &mut dyn Write) -> Result<(), Exit> {
    if args.sizes && !matches!(args.what, Listing::Learners) {
        return Err(Exit::Usage("`--sizes` goes with `wug list learners`".to_owned()));
    }
    let (titles, rows) = match args.what {
        Listing::Learners if args.sizes => sizes(),
        Listing::Languages => (vec!["name", "suite", "class", "summary"], languages()),
        Listing::Tasks => (vec!["name", "suite", "summary"], tasks()),
        Listing::Suites => (vec!["name", "question", "measure", "citation"], suites()),
        Listing::Learners => (vec!["name", "roles", "summary", "citation"], learners()),
        Listing::Protocols => (vec!["name", "needs a", "summary"], protocols()),
        Listing::Metrics => (vec!["name", "unit", "better", "meaning", "citation"], metrics()),
        Listing::Experiments => (vec!["name", "title"], experiments()?),
    };
    if args.output.json {
        let objects: Vec<Value> = rows
            .iter()
            .map(|row| {
                Value::Object(titles.iter().zip(row).map(|(t, v)| ((*t).to_owned(), json!(v))).collect())
            })
            .collect();
        write_json(&Value::Array(objects), out)?;
        return Ok(());
    }
    table(&titles, &rows, out)
}

fn languages() -> Vec<Vec<String>> {
    let row = |e: &wug_lab::language::registry::LanguageEntry| {
        [e.name, e.suite, e.class.abbreviation(), e.summary].map(str::to_owned).to_vec()
    };
    LANGUAGES.iter().map(row).collect()
}

fn tasks() -> Vec<Vec<String>> {
    let tasks =
        SUITES.iter().flat_map(|suite| suite.tasks().into_iter().map(move |task| (suite.name(), task)));
    tasks.map(|(suite, task)| [task.name, suite, task.summary].map(str::to_owned).to_vec()).collect()
}

fn suites() -> Vec<Vec<String>> {
    SUITES
        .iter()
        .map(|s| s.about())
        .map(|s| [s.name, s.question, s.measure, s.citation].map(str::to_owned).to_vec())
        .collect()
}

fn learners() -> Vec<Vec<String>> {
    let row = |learner: &&Learner| {
        let roles: Vec<&str> = learner.roles().map(Role::name).collect();
        vec![learner.name.to_owned(), roles.join(", "), learner.summary.to_owned(), learner.cite.to_owned()]
    };
    LEARNERS.iter().map(row).collect()
}

/// The dimensions and true counts that every learner has for some sizes.
fn sizes() -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |row: SizeRow| {
        let SizeRow { learner, task, size, parameters, dimensions } = row;
        let off = 100.0 * (parameters as f64 - size as f64) / size as f64;
        let dimensions: Vec<String> = dimensions.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let cells = [learner, &task, &size.to_string(), &parameters.to_string(), &format!("{off:+.1} %")];
        cells.into_iter().map(str::to_owned).chain([dimensions.join(", ")]).collect()
    };
    let titles = vec!["learner", "task", "asked", "has", "off", "dimensions"];
    (titles, size_table().into_iter().map(row).collect())
}

fn protocols() -> Vec<Vec<String>> {
    let row = |p: &ProtocolEntry| [p.name, p.role.name(), p.summary].map(str::to_owned).to_vec();
    PROTOCOLS.iter().map(row).collect()
}

fn metrics() -> Vec<Vec<String>> {
    let better = |higher: bool| if higher { "higher" } else { "lower" };
    let row = |m: &&Metric| {
        [m.name, m.unit.name(), better(m.higher_is_better()), m.meaning, m.cite].map(str::to_owned).to_vec()
    };
    METRICS.iter().map(row).collect()
}

fn experiments() -> Result<Vec<Vec<String>>, Exit> {
    Ok(titles()?.into_iter().map(|(name, title)| vec![name.to_owned(), title]).collect())
}

/// Columns as wide as their widest cell, two spaces apart; the last one runs free.
fn table(titles: &[&str], rows: &[Vec<String>], out: &mut dyn Write) -> Result<(), Exit> {
    let width =
        // Characters, not bytes: titles have `ⁿ`, `𝔹` and `×`.
        |c: usize| rows.iter().map(|r| r[c].chars().count()).chain([titles[c].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, w)| format!("{cell:<w$}")).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let head: Vec<String> = titles.iter().map(|t| t.to_uppercase()).collect();
    writeln!(out, "{}", line(&head))?;
    for row in rows {
        writeln!(out, "{}", line(row))?;
    }
    Ok(())
}
