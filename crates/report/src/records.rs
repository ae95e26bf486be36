//! Every measurement as a row with everything about its run, for other programs.

use wug_score::{Record, RunResult};
use wug_table::{csv_line, escaped_json};

use crate::ReportError;
use crate::columns::coordinate_names;

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
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Every measurement of these results. In a table, every coordinate of any result is a column, in the order in which they
/// first come; it is empty for results without it.
pub fn records(results: &[RunResult], format: RecordFormat) -> Result<String, ReportError> {
    let all = results.iter().flat_map(RunResult::records);
    match format {
        RecordFormat::Jsonl => {
            let mut out = String::new();
            for record in all {
                out += &escaped_json(&serde_json::to_string(&record)?);
                out.push('\n');
            }
            Ok(out)
        }
        RecordFormat::Csv => {
            let coordinates = coordinate_names(results.iter().map(|result| &result.run));
            let rows = all.map(|record| csv_line(&fields(&record, &coordinates)));
            Ok(csv_line(&head(&coordinates)) + &rows.collect::<String>())
        }
    }
}

/// The columns before the coordinates, between them and the measurement, and of the measurement.
const COLUMNS: [&[&str]; 3] = [
    &["plan", "protocol"],
    &["seed", "reading", "version", "build", "instructions", "data_hash"],
    &[
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
    ],
];

/// The head of a table with these coordinates.
fn head(coordinates: &[&str]) -> Vec<String> {
    let [run, more, measurement] = COLUMNS;
    [run, coordinates, more, measurement].concat().into_iter().map(str::to_owned).collect()
}

/// In the order of the head; what is absent is empty.
fn fields(record: &Record<'_>, coordinates: &[&str]) -> Vec<String> {
    let (run, m) = (record.run, record.measurement);
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    let mut fields = vec![run.plan.clone(), run.protocol.clone()];
    fields.extend(coordinates.iter().map(|name| run.coordinates.show(name)));
    fields.extend([
        run.seed.to_string(),
        run.reading.to_string(),
        run.version.clone(),
        run.build.clone(),
        run.instructions.clone(),
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
    ]);
    fields
}
