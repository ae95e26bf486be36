//! Table 2, the inductive bias and the expressivity of each architecture, and Table 3, the losses behind it.

use wug_score::Reading;
use wug_score::metric::RECOGNITION_ACCURACY;

use super::published::{BEST_LOSS, MAIN};
use super::runs::{BestLoss, PaperRuns, label};
use super::{blank, shortened};
use crate::summary::bad_endings;
use crate::table::{Cell, Column, Decimals, Row, Table, Value, set_best};

const INDUCTIVE_BIAS: &str = "Inductive bias";
const EXPRESSIVITY: &str = "Expressivity";
/// To how many decimals Tables 2 and 22 are shown.
pub(super) const DECIMALS: Decimals = Decimals(2);
/// What the paper's figures are of.
const PAPER: &str =
    "The paper's figures: inductive bias, the mean of 10 runs; expressivity, the maximum of 40 runs.";

/// Table 2; `None` without runs of its size.
pub(super) fn table(runs: &PaperRuns<'_>) -> Option<Table> {
    let title = "Table 2: recognition accuracy on the long test set";
    let mut table = laid_out(runs, "2", title, |runs, language, learner| {
        let paper = paper_column(learner);
        let (mean, std) = (format!("ib_{paper}_mean"), format!("ib_{paper}_std"));
        [
            cell(runs.inductive_bias(language, learner), MAIN.mean(&[language], &mean, &std)),
            cell(runs.expressivity(language, learner), MAIN.number(&[language], &format!("ex_{paper}"))),
        ]
    })?;
    for row in &mut table.rows {
        let half = row.cells.len() / 2;
        let (bias, expressivity) = row.cells.split_at_mut(half);
        set_best(bias, RECOGNITION_ACCURACY.metric.better);
        set_best(expressivity, RECOGNITION_ACCURACY.metric.better);
        row.cells.push(chance(runs, &row.keys[0]));
    }
    table.columns.push(Column::new("Chance"));
    table.notes.extend(notes(runs));
    Some(table)
}

/// Table 2 in short.
pub(super) fn headline(runs: &PaperRuns<'_>) -> Option<Table> {
    let notes = [
        "Inductive bias: best mean over the runs of a loss, validated on lengths 0-40.",
        "Expressivity: best run of any loss, validated on lengths 0-80.",
        "Trained on lengths 0-40, tested on lengths 0-500.",
        PAPER,
    ];
    table(runs).map(|table| shortened(runs, table, &notes))
}

/// Table 3; `None` without runs of its size.
pub(super) fn losses(runs: &PaperRuns<'_>) -> Option<Table> {
    let mut table = laid_out(runs, "3", "Table 3: the losses behind Table 2", |runs, language, learner| {
        let paper = |prefix: &str| {
            BEST_LOSS.text(&[language], &format!("{prefix}_{}", paper_column(learner))).map(Value::from)
        };
        let ours = |chosen: Option<BestLoss>| {
            chosen.map(|chosen| Value::from(format!("{} (of {})", chosen.loss, chosen.losses)))
        };
        let cell = |chosen, prefix| Cell { ours: ours(chosen), paper: paper(prefix), ..Cell::default() };
        [cell(runs.inductive_bias(language, learner), "ib"), cell(runs.expressivity(language, learner), "ex")]
    })?;
    table.notes.push("R is recognition, LM language modelling, NS next-symbol prediction; in brackets, of how many losses that were run. The paper chose among four, with 10 runs of each.".to_owned());
    table.notes.push(ties(runs.reading).to_owned());
    Some(table)
}

/// A row per language, and per learner a column in each of the two groups.
fn laid_out(
    runs: &PaperRuns<'_>,
    name: &str,
    title: &str,
    cells: impl Fn(&PaperRuns<'_>, &str, &str) -> [Cell; 2],
) -> Option<Table> {
    let (main, learners) = (runs.main(), runs.learners());
    let run = |language: &&str| main.iter().any(|run| run.run.language() == *language);
    let row = |language: &str| {
        let (bias, expressivity): (Vec<Cell>, Vec<Cell>) =
            learners.iter().map(|learner| cells(runs, language, learner).into()).unzip();
        Row { keys: vec![language.to_owned()], cells: bias.into_iter().chain(expressivity).collect() }
    };
    let heads = |group: &'static str| learners.iter().map(move |learner| Column::of(group, label(learner)));
    let mut table = blank(runs, name, title, &["language"]);
    table.columns = heads(INDUCTIVE_BIAS).chain(heads(EXPRESSIVITY)).collect();
    table.rows = runs.languages().into_iter().filter(run).map(row).collect();
    (!table.rows.is_empty()).then_some(table)
}

fn cell(chosen: Option<BestLoss>, paper: Option<Value>) -> Cell {
    let n = chosen.as_ref().map(|chosen| chosen.n);
    let ours = chosen.map(|BestLoss { value, std, .. }| Value::with_std(value, std, DECIMALS));
    Cell { ours, paper, n, best: false }
}

/// The paper's name for a learner in the heads of its columns.
pub(super) fn paper_column(learner: &str) -> &str {
    if learner == "transformer" { "tf" } else { learner }
}

fn chance(runs: &PaperRuns<'_>, language: &str) -> Cell {
    let level = runs.chance(Some(language));
    Cell { ours: level.map(|(_, highest)| Value::number(highest, Decimals(2))), ..Cell::default() }
}

fn ties(reading: Reading) -> &'static str {
    match reading {
        Reading::Published => {
            "As published, losses are compared after rounding to three decimals; of equals the first in the order R, R+LM, R+NS, R+LM+NS is taken."
        }
        Reading::Corrected => {
            "Losses are compared without rounding; of equals the first in the order R, R+LM, R+NS, R+LM+NS is taken."
        }
    }
}

fn notes(runs: &PaperRuns<'_>) -> Vec<String> {
    let main = runs.main();
    let bad = bad_endings(&main);
    let bad = if bad.is_empty() { "none diverged or failed".to_owned() } else { bad };
    vec![
        "Trained on lengths 0-40, tested on lengths 0-500; models of about 64k parameters.".to_owned(),
        "Inductive bias: validated on lengths 0-40; mean ± population standard deviation over the runs of the loss with the best mean; in brackets the number of those runs.".to_owned(),
        "Expressivity: validated on lengths 0-80; the maximum over the runs of all losses; in brackets the number of those runs.".to_owned(),
        PAPER.to_owned(),
        "The best architecture is in bold. Chance is the accuracy of always giving the commoner answer.".to_owned(),
        "Ours are rounded once; the paper's are as printed, where they were rounded to three decimals and then to two.".to_owned(),
        ties(runs.reading).to_owned(),
        format!("{} runs, {bad}; a diverged run counts with its best model before.", main.len()),
    ]
}
