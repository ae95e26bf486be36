//! Tables 4-21: everything about one language.

use wug_score::Aggregate;
use wug_score::metric::{RECOGNITION_ACCURACY, RECOGNITION_CROSS_ENTROPY};
use wug_score::plan::{Loss, Validation};

use super::blank;
use super::published::{FULL, RUNS, languages};
use super::runs::{FlareCell, FlareRun, FlareRuns, SIZE, selected};
use crate::departures::PaperFigure;
use crate::measured::{TEST, accuracies};
use crate::parameters;
use crate::pivot::Pivot;
use crate::plan_fields::spread_note;
use crate::summary::bad_endings;
use crate::table::{Cell, Column, Decimals, Table, Value, range};

/// A column of the selected model.
struct ModelColumn {
    head: &'static str,
    /// The column in print.
    printed: &'static str,
    /// `validation` stands for the validation set of the run.
    split: &'static str,
    metric: &'static str,
}

const ACCURACY: &str = RECOGNITION_ACCURACY.metric.name;
const SELECTED: [ModelColumn; 5] = [
    ModelColumn { head: "Train", printed: "train_acc", split: "training", metric: ACCURACY },
    ModelColumn {
        head: "Val. CE ↓",
        printed: "val_ce",
        split: VALIDATION,
        metric: RECOGNITION_CROSS_ENTROPY.metric.name,
    },
    ModelColumn { head: "Val.", printed: "val_acc", split: VALIDATION, metric: ACCURACY },
    ModelColumn {
        head: "S. Test",
        printed: "short_test_acc",
        split: "test-short-held-out",
        metric: ACCURACY,
    },
    ModelColumn { head: "L. Test", printed: "long_test_acc", split: TEST, metric: ACCURACY },
];
const VALIDATION: &str = "validation";

const DECIMALS: Decimals = Decimals(3);

/// One table per language that was run.
pub(super) fn tables(runs: &FlareRuns<'_>) -> Vec<Table> {
    // Appendix G has the languages in the order of Table 2, one table each from 4 on.
    let numbered = (4..).zip(languages());
    numbered.filter_map(|(number, language)| table(runs, number, language)).collect()
}

fn table(runs: &FlareRuns<'_>, number: usize, language: &str) -> Option<Table> {
    let own = runs.of_language(language);
    if own.is_empty() {
        return None;
    }
    let title = format!("Table {number}: full results on {language}");
    let blank = blank(runs, &number.to_string(), &title, &["learner", "loss", "validation"]);
    let figure = |value: Option<Value>, n| value.map(|value| PaperFigure { value, n });
    let tested = |row: &FullRow<'_>, ours: Option<Value>, paper: Option<Value>| {
        let cell = Cell { ours, n: Some(accuracies(&row.runs).len()), ..Cell::default() };
        cell.with_paper(row.runs.iter().copied(), figure(paper, Some(RUNS)))
    };
    let mut table = Pivot::new()
        .columns(
            SELECTED,
            |of| Column::new(of.head),
            |row: &FullRow<'_>, of| {
                // Appendix G: the scores are of the model with the lowest validation cross-entropy.
                let ours = selected(&row.runs).and_then(|model| measured(model, of.split, of.metric));
                Cell::maybe(ours).with_paper(
                    row.runs.iter().copied(),
                    figure(FULL.number(&row.printed(), of.printed), None),
                )
            },
        )
        .column(Column::new("L. Test (mean)"), |row| {
            let ours = Value::mean(&accuracies(&row.runs), true, DECIMALS);
            tested(row, ours, FULL.mean(&row.printed(), "long_test_mean", "long_test_std"))
        })
        .column(Column::new("L. Test (max)"), |row| {
            let ours = Aggregate::Max.of(&accuracies(&row.runs)).map(|max| Value::number(max, DECIMALS));
            Cell { best_of: true, ..tested(row, ours, FULL.number(&row.printed(), "long_test_max")) }
        })
        .column(Column::new("runs"), |row| counted(&row.runs))
        .fill(
            blank,
            rows(runs, language)
                .map(|row| (row.printed()[1..].iter().map(|&key| key.to_owned()).collect(), row)),
        );
    table.about.insert("language".to_owned(), language.to_owned());
    table.notes.extend(notes(runs, language, &own));
    table.notes.extend(table.interval_note());
    Some(table)
}

/// The runs of a setting.
struct FullRow<'r> {
    at: FlareCell<'r>,
    runs: Vec<FlareRun<'r>>,
}

impl<'r> FullRow<'r> {
    /// The names of the printed row.
    fn printed(&self) -> [&'r str; 4] {
        [self.at.language, self.at.learner, self.at.loss.name(), self.at.validation.name()]
    }
}

/// Every setting that was run or printed.
fn rows<'p>(runs: &'p FlareRuns<'_>, language: &'p str) -> impl Iterator<Item = FullRow<'p>> {
    let settings = runs.learners().into_iter().flat_map(move |learner| {
        let losses = Loss::ALL.iter().flat_map(|loss| Validation::ALL.iter().map(move |of| (*loss, *of)));
        losses.map(move |(loss, validation)| FlareCell { language, learner, loss, validation, size: SIZE })
    });
    let row = |at: FlareCell<'p>| FullRow { at, runs: runs.at(at) };
    settings
        .map(row)
        // A printed row without a run of ours is kept, visibly empty.
        .filter(|row| !row.runs.is_empty() || FULL.text(&row.printed(), "long_test_mean").is_some())
}

/// A metric on a split; the validation set is the one of the run.
fn measured(model: FlareRun<'_>, split: &str, metric: &str) -> Option<Value> {
    let split = if split == VALIDATION { model.plan.measure.validation.split() } else { split };
    Value::of_runs(&[model.whole(split, metric)?], DECIMALS)
}

/// How many runs were scored, and how many diverged or failed.
fn counted(runs: &[FlareRun<'_>]) -> Cell {
    if runs.is_empty() {
        return Cell::default();
    }
    let (scored, bad) = (accuracies(runs).len(), bad_endings(runs));
    Cell::ours(if bad.is_empty() { scored.to_string() } else { format!("{scored} ({bad})") })
}

fn notes(runs: &FlareRuns<'_>, language: &str, own: &[FlareRun<'_>]) -> Vec<String> {
    let mut notes = vec![
        "Train, Val., S. Test and L. Test: recognition accuracy, and Val. CE cross-entropy in nats, of the run with the lowest Val. CE.".to_owned(),
        "Mean ± population standard deviation and maximum of L. Test are over all runs; the last column counts those that were scored. The paper's are of 10 runs in each row.".to_owned(),
        "Lengths: training and short validation 0-40, long validation 0-80, S. Test 0-40 without strings seen in training, L. Test 0-500.".to_owned(),
    ];
    let cells = runs.cells().filter(|cell| cell.iter().all(|run| run.subject() == language));
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
