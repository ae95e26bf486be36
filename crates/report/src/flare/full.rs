//! Tables 4-21: everything about one language.

use wug_score::metric::{RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY};
use wug_score::{Aggregate, RunResult};

use super::blank;
use super::published::{FULL, RUNS, languages};
use super::runs::{CellKey, LOSSES, PaperRuns, SIZE, VALIDATIONS, selected};
use crate::measured::accuracies;
use crate::parameters;
use crate::plan_fields::spread_note;
use crate::summary::bad_endings;
use crate::table::{Cell, Column, Decimals, Row, Table, Value, range};

/// The columns of the selected model: head, column in print, split and metric.
const SELECTED: [(&str, &str, &str, &str); 5] = [
    ("Train", "train_acc", "training", RECOGNITION_ACCURACY.metric.name),
    ("Val. CE ↓", "val_ce", "validation", RECOGNITION_CROSS_ENTROPY.metric.name),
    ("Val.", "val_acc", "validation", RECOGNITION_ACCURACY.metric.name),
    ("S. Test", "short_test_acc", "test-short-held-out", RECOGNITION_ACCURACY.metric.name),
    ("L. Test", "long_test_acc", "test", RECOGNITION_ACCURACY.metric.name),
];

const DECIMALS: Decimals = Decimals(3);

/// One table per language that was run.
pub(super) fn tables(runs: &PaperRuns<'_>) -> Vec<Table> {
    let numbered = (4..).zip(languages());
    numbered.filter_map(|(number, language)| table(runs, number, language)).collect()
}

fn table(runs: &PaperRuns<'_>, number: usize, language: &str) -> Option<Table> {
    let own = runs.of_language(language);
    if own.is_empty() {
        return None;
    }
    let title = format!("Table {number}: full results on {language}");
    let mut table = blank(runs, &number.to_string(), &title, &["learner", "loss", "validation"]);
    table.about.insert("language".to_owned(), language.to_owned());
    let heads =
        SELECTED.map(|(head, ..)| head).into_iter().chain(["L. Test (mean)", "L. Test (max)", "runs"]);
    table.columns = heads.map(Column::new).collect();
    for learner in runs.learners() {
        for loss in LOSSES {
            for validation in VALIDATIONS {
                table.rows.extend(row(runs, CellKey { language, learner, loss, validation, size: SIZE }));
            }
        }
    }
    table.notes.extend(notes(runs, language, &own));
    table.notes.extend(table.interval_note());
    Some(table)
}

/// The row of a setting; `None` if it was neither run nor printed.
fn row(runs: &PaperRuns<'_>, at: CellKey<'_>) -> Option<Row> {
    let own = runs.at(at);
    let key = [at.language, at.learner, at.loss, at.validation];
    if own.is_empty() && FULL.text(&key, "long_test_mean").is_none() {
        return None;
    }
    let model = selected(&own);
    let mut cells: Vec<Cell> = SELECTED
        .iter()
        .map(|(_, printed, split, metric)| Cell {
            ours: model.and_then(|model| measured(model, split, metric)),
            paper: FULL.number(&key, printed),
            ..Cell::default()
        })
        .collect();
    let scores = accuracies(&own);
    let counts = Cell { n: Some(scores.len()), paper_n: Some(RUNS), ..Cell::default() };
    cells.push(Cell {
        ours: Value::mean(&scores, true, DECIMALS),
        paper: FULL.mean(&key, "long_test_mean", "long_test_std"),
        ..counts.clone()
    });
    cells.push(Cell {
        ours: Aggregate::Max.of(&scores).map(|max| Value::number(max, DECIMALS)),
        paper: FULL.number(&key, "long_test_max"),
        best_of: true,
        ..counts
    });
    cells.push(counted(&own, scores.len()));
    let keys = vec![at.learner.to_owned(), at.loss.to_owned(), at.validation.to_owned()];
    Some(Row { keys, cells })
}

/// A metric on a split; the validation set is the one of the run.
fn measured(model: &RunResult, split: &str, metric: &str) -> Option<Value> {
    let measured = match (split, model.run.coordinates.text("validation")) {
        ("validation", Some(which)) => model.whole(&format!("validation-{which}"), metric),
        _ => model.whole(split, metric),
    };
    Value::of_runs(&[measured?], DECIMALS)
}

/// How many runs were scored, and how many diverged or failed.
fn counted(runs: &[&RunResult], scored: usize) -> Cell {
    if runs.is_empty() {
        return Cell::default();
    }
    let bad = bad_endings(runs);
    Cell::ours(if bad.is_empty() { scored.to_string() } else { format!("{scored} ({bad})") })
}

fn notes(runs: &PaperRuns<'_>, language: &str, own: &[&RunResult]) -> Vec<String> {
    let mut notes = vec![
        "Train, Val., S. Test and L. Test: recognition accuracy, and Val. CE cross-entropy in nats, of the run with the lowest Val. CE.".to_owned(),
        "Mean ± population standard deviation and maximum of L. Test are over all runs; the last column counts those that were scored. The paper's are of 10 runs in each row.".to_owned(),
        "Lengths: training and short validation 0-40, long validation 0-80, S. Test 0-40 without strings seen in training, L. Test 0-500.".to_owned(),
    ];
    let cells = runs.cells().filter(|cell| cell.iter().all(|run| run.run.language() == language));
    notes.extend(spread_note(cells));
    notes.extend(parameters::notes(own));
    if let Some((lowest, highest)) = runs.chance(Some(language)) {
        let level = range(lowest, highest);
        notes.push(format!("Chance on L. Test, the accuracy of always giving the commoner answer: {level}."));
    }
    let bad = bad_endings(own);
    if !bad.is_empty() {
        notes
            .push(format!("Of {} runs, {bad}; a diverged run counts with its best model before.", own.len()));
    }
    notes
}
