//! Every measurement as a row that is complete in itself, for other programs.

use wug_score::{Record, RunResult};

use crate::ReportError;
use crate::write::csv_line;

/// What rows can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// One JSON object per line.
    Jsonl,
    /// A table with a head.
    Csv,
}

impl RecordFormat {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Jsonl, Self::Csv];

    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
        }
    }

    /// The format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rows| rows.name() == name)
    }
}

/// Every measurement of these results.
pub fn records(results: &[RunResult], rows: RecordFormat) -> Result<String, ReportError> {
    let all = results.iter().flat_map(RunResult::records);
    match rows {
        RecordFormat::Jsonl => {
            let mut out = String::new();
            for record in all {
                out += &serde_json::to_string(&record)?;
                out.push('\n');
            }
            Ok(out)
        }
        RecordFormat::Csv => {
            Ok(csv_line(&HEAD.map(str::to_owned)) + &all.map(|r| csv_line(&fields(&r))).collect::<String>())
        }
    }
}

const HEAD: [&str; 24] = [
    "plan",
    "suite",
    "language",
    "learner",
    "size",
    "loss",
    "validation",
    "seed",
    "reading",
    "version",
    "data_hash",
    "split",
    "stratum",
    "metric",
    "unit",
    "value",
    "numerator",
    "denominator",
    "n",
    "spread",
    "chance",
    "interval_low",
    "interval_high",
    "interval_level",
];

/// In the order of the head; what is absent is empty.
fn fields(record: &Record<'_>) -> [String; 24] {
    let (run, m) = (record.run, record.measurement);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    [
        run.plan.clone(),
        run.suite.clone(),
        run.language.clone(),
        run.learner.clone(),
        run.size.map_or_else(String::new, |size| size.to_string()),
        text(&run.loss),
        text(&run.validation),
        run.seed.to_string(),
        run.reading.to_string(),
        run.version.clone(),
        run.data_hash.clone(),
        m.split.clone(),
        m.stratum.to_string(),
        m.metric.clone(),
        m.unit.name().to_owned(),
        number(m.value),
        number(m.numerator),
        number(m.denominator),
        m.n.to_string(),
        number(m.spread),
        number(m.chance),
        number(m.interval.map(|i| i.low)),
        number(m.interval.map(|i| i.high)),
        number(m.interval.map(|i| i.level)),
    ]
}
