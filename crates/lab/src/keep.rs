//! What a run keeps beside its result when it is asked to: predictions string by string, and the trained model. Measures of
//! one's own are computed from these without training again. Results do not depend on it.

use wug_dataset::Labelled;
use wug_language::{NextSet, Symbol};
use wug_learner::interface::SavedModel;
use wug_score::strata::NegativeKind;
use wug_table::{ColumnValue as Value, Kind, TableFormat, TableWriter, TypedColumn as Column};

use crate::LabError;
use crate::context::RunContext;

/// The file of the predictions.
pub(crate) const PREDICTIONS: &str = "predictions.parquet";
/// The files of a model.
const MODEL: [&str; 2] = ["config.json", "model.safetensors"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The predictions for every string that was evaluated.
    pub predictions: bool,
    pub models: bool,
}

impl Keep {
    /// The names of what can be kept.
    pub const NAMES: [&'static str; 2] = ["predictions", "models"];

    /// What these names ask for; the first that is none.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let mut keep = Self::default();
        for name in names {
            match name {
                "predictions" => keep.predictions = true,
                "models" => keep.models = true,
                other => return Err(other),
            }
        }
        Ok(keep)
    }

    /// The names of what is to be kept.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let asked = [self.predictions, self.models];
        Self::NAMES.into_iter().zip(asked).filter_map(|(name, asked)| asked.then_some(name))
    }
}

/// The predictions for a string; what a protocol does not have is absent.
#[derive(Debug, Default)]
pub(crate) struct Predicted<'a> {
    /// The split that it is from.
    pub(crate) split: &'a str,
    /// Its tokens, or its runs if it is long.
    pub(crate) string: String,
    /// How many symbols it has.
    pub(crate) length: usize,
    /// Whether it is a member, and how it was made.
    pub(crate) truth: Option<&'a Labelled>,
    /// How often it is in the split, where equal strings are one row.
    pub(crate) count: Option<usize>,
    /// How a negative was made.
    pub(crate) kind: Option<NegativeKind>,
    pub(crate) pair: Option<PairMember>,
    /// The block, from 1 on, that a transducer's output is sent in.
    pub(crate) block: Option<usize>,
    /// What it became, of a transducer.
    pub(crate) output: Option<String>,
    /// What it should have become.
    pub(crate) target: Option<String>,
    /// The log-odds that it is a member.
    pub(crate) log_odds: Option<f64>,
    /// The log-probability of each symbol, and of the end.
    pub(crate) log_probs: Option<&'a [f64]>,
    /// Their sum, from a learner that tells no more.
    pub(crate) log_prob: Option<f64>,
    /// The exact log-probability with which it was drawn.
    pub(crate) sampler_log_prob: Option<f64>,
    /// How many things may come next: the symbols of the alphabet and the end.
    pub(crate) choices: Option<usize>,
    /// What may come after each prefix, and the log-odds that it may.
    pub(crate) next: Option<NextSymbols<'a>>,
    /// The margin at which steps were scored.
    pub(crate) margin: Option<f64>,
    /// How many steps were scored, and how many of them are correct.
    pub(crate) steps: Option<(usize, usize)>,
}

/// One string of a minimal pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairMember {
    /// The number of the pair in its split, from 0 on.
    pub(crate) number: usize,
    /// Whether it is the good string.
    pub(crate) good: bool,
    /// How far apart the two ends of the broken dependency are.
    pub(crate) dependency: Option<usize>,
}

/// The sets of next symbols after each prefix: the truth, and log-odds for every symbol and then the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextSymbols<'a> {
    pub(crate) allowed: &'a [NextSet],
    pub(crate) log_odds: &'a [Vec<f64>],
}

impl NextSymbols<'_> {
    fn allowed(self) -> Value<'static> {
        let rows = self.allowed.iter().zip(self.log_odds);
        rows.flat_map(|(set, row)| {
            // The end is last, after the symbols: readers of the table know the alphabet and not our ids.
            let end = row.len().saturating_sub(1);
            let may = move |i: usize| if i == end { set.end() } else { set.contains(Symbol(i as u16)) };
            (0..row.len()).map(may)
        })
        .collect()
    }
}

/// The columns of predictions.
pub(crate) fn columns() -> Vec<Column> {
    let lists = ["log_probs", "next_log_odds", "next_allowed"];
    let column = |(name, kind): (&str, Kind)| {
        if lists.contains(&name) { Column::list(name, kind) } else { Column::new(name, kind) }
    };
    // Names and kinds stay as they are: predictions that earlier builds kept are read by them.
    let all = [
        ("split", Kind::Text),
        ("string", Kind::Text),
        ("length", Kind::Integer),
        ("count", Kind::Integer),
        ("label", Kind::Boolean),
        ("kind", Kind::Text),
        ("edits", Kind::Integer),
        ("distance", Kind::Integer),
        ("pair", Kind::Integer),
        ("role", Kind::Text),
        ("dependency", Kind::Integer),
        ("block", Kind::Integer),
        ("log_odds", Kind::Float),
        ("probability", Kind::Float),
        ("log_prob", Kind::Float),
        ("sampler_log_prob", Kind::Float),
        ("log_probs", Kind::Float),
        ("choices", Kind::Integer),
        ("next_log_odds", Kind::Float),
        ("next_allowed", Kind::Boolean),
        ("margin", Kind::Float),
        ("steps_scored", Kind::Integer),
        ("steps_correct", Kind::Integer),
        ("output", Kind::Text),
        ("target", Kind::Text),
    ];
    all.into_iter().map(column).collect()
}

impl Predicted<'_> {
    /// The values of the columns.
    fn row(&self) -> Vec<Value<'_>> {
        let (truth, pair, next) = (self.truth, self.pair, self.next);
        let log_prob = self.log_probs.map(|logs| logs.iter().sum::<f64>()).or(self.log_prob);
        vec![
            self.split.into(),
            self.string.as_str().into(),
            self.length.into(),
            self.count.into(),
            truth.map(|truth| truth.label).into(),
            self.kind.map(NegativeKind::name).into(),
            truth.and_then(|truth| truth.edits).into(),
            truth.and_then(|truth| truth.distance).into(),
            pair.map(|pair| pair.number).into(),
            pair.map(|pair| if pair.good { "good" } else { "bad" }).into(),
            pair.and_then(|pair| pair.dependency).into(),
            self.block.into(),
            self.log_odds.into(),
            self.log_odds.map(|z| 1.0 / (1.0 + libm::exp(-z))).into(),
            log_prob.into(),
            self.sampler_log_prob.into(),
            self.log_probs.map_or(Value::Null, |logs| logs.iter().copied().collect()),
            self.choices.into(),
            next.map_or(Value::Null, |next| next.log_odds.iter().flatten().copied().collect()),
            next.map_or(Value::Null, NextSymbols::allowed),
            self.margin.into(),
            self.steps.map(|(scored, _)| scored).into(),
            self.steps.map(|(_, correct)| correct).into(),
            self.output.as_deref().into(),
            self.target.as_deref().into(),
        ]
    }
}

/// The predictions of a run, if they are to be kept.
pub(crate) struct Predictions(Option<TableWriter<Vec<u8>>>);

impl Predictions {
    /// A table without rows, or nothing if predictions are not to be kept.
    pub(crate) fn begin(keep: Keep) -> Result<Self, LabError> {
        // In memory: a file is written whole or not at all, and a killed run leaves none.
        let begin =
            || TableWriter::new(Vec::new(), TableFormat::Parquet, columns()).map_err(LabError::internal);
        Ok(Self(keep.predictions.then(begin).transpose()?))
    }

    /// Whether rows are wanted.
    pub(crate) fn wanted(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn add(&mut self, string: &Predicted<'_>) -> Result<(), LabError> {
        let Some(table) = &mut self.0 else { return Ok(()) };
        table.row(&string.row()).map_err(LabError::internal)
    }

    /// Keeps the table, if there is one.
    pub(crate) fn finish(self, context: &mut dyn RunContext) -> Result<(), LabError> {
        let Some(table) = self.0 else { return Ok(()) };
        context.keep(PREDICTIONS, &table.finish().map_err(LabError::internal)?)
    }
}

/// The file of a model that a search found.
const FOUND: &str = "network.json";

/// Whether there is a model among files that are kept.
pub(crate) fn has_model<'f>(mut files: impl Iterator<Item = &'f String>) -> bool {
    files.any(|file| file == FOUND || MODEL.contains(&file.as_str()))
}

/// Keeps what a search found, if models are to be kept.
pub(crate) fn keep_found(context: &mut dyn RunContext, file: &serde_json::Value) -> Result<(), LabError> {
    if context.keeps().models {
        context.keep(FOUND, format!("{file:#}\n").as_bytes())?;
    }
    Ok(())
}

/// Keeps a trained model.
pub(crate) fn keep_model(context: &mut dyn RunContext, saved: &SavedModel) -> Result<(), LabError> {
    context.keep(MODEL[0], &saved.config)?;
    context.keep(MODEL[1], &saved.weights)
}
