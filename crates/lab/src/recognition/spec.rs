//! A grid of runs as somebody wrote it. What is left out is as in the paper.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use wug_dataset::Seed;
use wug_language::registry::{self, BuildError, LANGUAGES, Named};
use wug_language::{Reading, draw, nearest_names};
use wug_learner::model::LossWeights;

use super::data::Data;
use super::plan::{DataPlan, Learner, Loss, Match, Plan, Precision, Source, Validation};
use crate::spec::Problem;

/// `[[recognition]]` in an experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    reading: String,
    #[serde(deserialize_with = "one_or_more")]
    languages: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    learners: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    losses: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    validation: Vec<String>,
    #[serde(deserialize_with = "one_or_more")]
    sizes: Vec<usize>,
    matching: String,
    seeds: u64,
    first_seed: u64,
    learning_rate: Choice,
    batch_symbols: Choice,
    loss_weight: Choice,
    dropout: f64,
    clip: f64,
    decay: f64,
    decay_patience: usize,
    patience: usize,
    max_epochs: usize,
    precision: String,
    data: DataSpec,
}

/// `[recognition.data]`: sizes and lengths, or a directory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSpec {
    seed: u64,
    directory: Option<PathBuf>,
    training: usize,
    validation: usize,
    test: usize,
    held_out: usize,
    distances: usize,
    short: usize,
    long: usize,
    longest: usize,
}

/// A list, or a single thing in its place.
fn one_or_more<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "one or a list")]
    enum OneOrMore<T> {
        More(Vec<T>),
        One(T),
    }
    Ok(match OneOrMore::deserialize(from)? {
        OneOrMore::More(all) => all,
        OneOrMore::One(one) => vec![one],
    })
}

/// A number, or a range from which each run draws its own.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a number or a range [from, to]")]
pub enum Choice {
    /// The same in every run.
    Fixed(f64),
    /// Drawn, both ends included.
    Between([f64; 2]),
}

impl Default for Spec {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            reading: Reading::default().name().to_owned(),
            languages: names(&["all"]),
            learners: names(&["transformer", "rnn", "lstm"]),
            losses: Loss::ALL.iter().map(|l| l.name().to_owned()).collect(),
            validation: names(&["short", "long"]),
            sizes: vec![64_000],
            matching: "published".to_owned(),
            seeds: 10,
            first_seed: 0,
            learning_rate: Choice::Between([1e-4, 1e-2]),
            batch_symbols: Choice::Between([128.0, 4096.0]),
            loss_weight: Choice::Between([0.01, 10.0]),
            dropout: 0.1,
            clip: 5.0,
            decay: 0.5,
            decay_patience: 4,
            patience: 10,
            max_epochs: 1000,
            precision: "f32".to_owned(),
            data: DataSpec::default(),
        }
    }
}

impl Default for DataSpec {
    fn default() -> Self {
        Self {
            seed: 0,
            directory: None,
            training: 10_000,
            validation: 1_000,
            test: 5_010,
            held_out: 1_000,
            distances: 50,
            short: 40,
            long: 80,
            longest: 500,
        }
    }
}

/// The thing of a name.
fn named<T: Copy>(field: &str, given: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, Problem> {
    let names = || all.iter().map(|&x| name(x));
    all.iter()
        .copied()
        .find(|&x| name(x) == given)
        .ok_or_else(|| Problem::unknown(field, given, &nearest_names(given, names()), names()))
}

fn each<T: Copy>(
    field: &str,
    given: &[String],
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, Problem> {
    if given.is_empty() {
        return Err(Problem::new(field, "[]", "is empty; at least one is needed".to_owned()));
    }
    given.iter().map(|text| named(field, text, all, name)).collect()
}

/// The language of a cell, and where its strings come from.
struct Subject {
    spelled: String,
    alphabet: usize,
    source: Source,
}

/// One cell of the grid, beside its language.
#[derive(Clone, Copy)]
struct Cell {
    size: usize,
    learner: Learner,
    loss: Loss,
    validation: Validation,
    seed: u64,
}

/// The names in a spec, understood.
struct Names {
    reading: Reading,
    languages: Vec<Named>,
    learners: Vec<Learner>,
    losses: Vec<Loss>,
    validations: Vec<Validation>,
    matching: Match,
    precision: Precision,
}

impl Spec {
    /// Whether names and numbers are what they may be.
    pub fn check(&self) -> Result<(), Problem> {
        self.check_numbers()?;
        self.names().map(|_| ())
    }

    /// Every cell of the grid, seeds outermost, so that a sweep that is cut short has a little of everything.
    pub fn plans(&self) -> Result<Vec<Plan>, Problem> {
        self.check_numbers()?;
        let names = self.names()?;
        let subjects: Vec<Subject> = names
            .languages
            .iter()
            .map(|named| self.subject(named, names.reading))
            .collect::<Result<_, _>>()?;
        let mut plans = Vec::new();
        for seed in (0..self.seeds).map(|i| self.first_seed + i) {
            for subject in &subjects {
                for &size in &self.sizes {
                    for &learner in &names.learners {
                        for &loss in &names.losses {
                            for &validation in &names.validations {
                                let cell = Cell { size, learner, loss, validation, seed };
                                plans.push(self.plan(&names, subject, cell)?);
                            }
                        }
                    }
                }
            }
        }
        Ok(plans)
    }

    fn names(&self) -> Result<Names, Problem> {
        Ok(Names {
            reading: named("reading", &self.reading, &Reading::ALL, Reading::name)?,
            languages: self.languages()?,
            learners: each("learners", &self.learners, Learner::ALL, Learner::name)?,
            losses: each("losses", &self.losses, Loss::ALL, Loss::name)?,
            validations: each("validation", &self.validation, Validation::ALL, Validation::name)?,
            matching: named("matching", &self.matching, Match::ALL, Match::name)?,
            precision: named("precision", &self.precision, Precision::ALL, Precision::name)?,
        })
    }

    fn plan(&self, names: &Names, subject: &Subject, cell: Cell) -> Result<Plan, Problem> {
        let mut plan = Plan {
            language: subject.spelled.clone(),
            reading: names.reading,
            data: self.data.plan(subject.source.clone()),
            learner: cell.learner,
            size: cell.size,
            matching: names.matching,
            loss: cell.loss,
            validation: cell.validation,
            seed: cell.seed,
            learning_rate: 0.0,
            batch_symbols: 0,
            weights: LossWeights::default(),
            dropout: self.dropout,
            clip: self.clip,
            decay: self.decay,
            decay_patience: self.decay_patience,
            patience: self.patience,
            max_epochs: self.max_epochs,
            precision: names.precision,
        };
        self.draw(&mut plan);
        match plan.model(subject.alphabet) {
            Ok(_) => Ok(plan),
            Err(error) => {
                let message = format!("on {}: {error}", plan.language);
                Err(Problem::new("losses", cell.loss.name(), message))
            }
        }
    }

    /// Each hyperparameter from a stream of its own name.
    fn draw(&self, plan: &mut Plan) {
        let seed = plan.root().derive("hyperparameters");
        plan.learning_rate = self.learning_rate.log_uniform(seed.derive("learning-rate"));
        plan.batch_symbols = self.batch_symbols.integer(seed.derive("batch-symbols"));
        let (lm, ns) = plan.loss.heads();
        let weight = |head: bool, name: &str| {
            if head { self.loss_weight.log_uniform(seed.derive(name)) } else { 0.0 }
        };
        plan.weights =
            LossWeights { language_modeling: weight(lm, "weight/lm"), next_symbols: weight(ns, "weight/ns") };
    }

    fn check_numbers(&self) -> Result<(), Problem> {
        self.learning_rate.check("learning_rate")?;
        self.batch_symbols.check("batch_symbols")?;
        self.loss_weight.check("loss_weight")?;
        let number = |ok: bool, field: &str, given: &dyn std::fmt::Display, allowed: &str| {
            if ok { Ok(()) } else { Err(Problem::value(field, &given.to_string(), allowed)) }
        };
        number((0.0..1.0).contains(&self.dropout), "dropout", &self.dropout, "from 0 to below 1")?;
        number(self.clip > 0.0, "clip", &self.clip, "above 0")?;
        number(self.decay > 0.0 && self.decay <= 1.0, "decay", &self.decay, "above 0, up to 1")?;
        number(self.patience > 0, "patience", &self.patience, "at least 1")?;
        number(self.max_epochs > 0, "max_epochs", &self.max_epochs, "at least 1")?;
        number(self.seeds > 0, "seeds", &self.seeds, "at least 1")?;
        number(!self.sizes.is_empty(), "sizes", &"[]", "at least one number of parameters")?;
        for size in &self.sizes {
            let allowed = "from 1000 to 100000000 parameters";
            number((1_000..=100_000_000).contains(size), "sizes", size, allowed)?;
        }
        let data = &self.data;
        for (field, size) in
            [("training", data.training), ("validation", data.validation), ("test", data.test)]
        {
            number(size > 0, field, &size, "at least 1 string")?;
        }
        number(data.longest <= crate::data::LONGEST, "longest", &data.longest, "a length up to 1000000")?;
        number(data.long <= crate::data::LONGEST, "long", &data.long, "a length up to 1000000")?;
        number(data.short <= data.long, "short", &data.short, "at most `long`")
    }

    fn languages(&self) -> Result<Vec<Named>, Problem> {
        let mut found = Vec::new();
        for name in &self.languages {
            let all = LANGUAGES.iter().filter(|entry| name == "all" && entry.suite == "flare");
            found.extend(all.map(|entry| Named { entry, settings: BTreeMap::new() }));
            if name != "all" {
                let problem = |error: BuildError| Problem::new("languages", name, error.to_string());
                found.push(registry::find(name).map_err(problem)?);
            }
        }
        if found.is_empty() {
            return Err(Problem::new("languages", "[]", "is empty; at least one is needed".to_owned()));
        }
        Ok(found)
    }

    fn subject(&self, named: &Named, reading: Reading) -> Result<Subject, Problem> {
        let problem = |message: String| Problem::new("languages", named.entry.name, message);
        let language = named.build(reading).map_err(|error| problem(error.to_string()))?;
        let source = match &self.data.directory {
            None => {
                for length in [self.data.short, self.data.long, self.data.longest] {
                    language.by_length(0..=length).map_err(|error| problem(error.to_string()))?;
                }
                Source::Drawn { seed: self.data.seed }
            }
            Some(directory) => {
                let problem =
                    |message: String| Problem::new("directory", &directory.display().to_string(), message);
                let path = Data::find(directory, named).map_err(problem)?;
                let files =
                    Data::read(&path, language.as_ref()).map_err(|error| problem(error.to_string()))?;
                Source::Directory { path, hash: files.hash }
            }
        };
        Ok(Subject { spelled: named.spelled(), alphabet: language.alphabet().len(), source })
    }
}

impl DataSpec {
    fn plan(&self, source: Source) -> DataPlan {
        DataPlan {
            source,
            training: self.training,
            validation: self.validation,
            test: self.test,
            held_out: self.held_out,
            distances: self.distances,
            short: self.short,
            long: self.long,
            longest: self.longest,
        }
    }
}

impl Choice {
    fn check(self, field: &str) -> Result<(), Problem> {
        let [from, to] = self.ends();
        if from > 0.0 && from <= to && to.is_finite() {
            return Ok(());
        }
        let given = match self {
            Self::Fixed(x) => x.to_string(),
            Self::Between([from, to]) => format!("[{from}, {to}]"),
        };
        Err(Problem::value(field, &given, "a number above 0 or a range [from, to] of such numbers"))
    }

    fn ends(self) -> [f64; 2] {
        match self {
            Self::Fixed(x) => [x, x],
            Self::Between(ends) => ends,
        }
    }

    /// Its logarithm is uniform.
    fn log_uniform(self, seed: Seed) -> f64 {
        let [from, to] = self.ends();
        let share = draw::unit(&mut seed.rng());
        libm::exp(libm::log(from) + share * (libm::log(to) - libm::log(from))).clamp(from, to)
    }

    /// Uniform over whole numbers, both ends included.
    fn integer(self, seed: Seed) -> usize {
        let [from, to] = self.ends().map(|x| (x as usize).max(1));
        from + draw::below(&mut seed.rng(), to - from + 1)
    }
}
