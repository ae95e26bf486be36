//! Table 2, the inductive bias and the expressivity of each architecture, and Table 3, the losses behind it.

use wug_score::Reading;
use wug_score::metric::RECOGNITION_ACCURACY;
use wug_score::plan::Loss;

use super::best_of::{self, BestRow};
use super::published::{Half, printed};
use super::runs::{BestLoss, FlareRuns};
use super::{blank, shortened};
use crate::departures::PaperFigure;
use crate::parameters;
use crate::pivot::Pivot;
use crate::plan_fields::spread_note;
use crate::summary::bad_endings;
use crate::table::{BEST_OF_NOTE, BOLD_NOTE, Cell, Column, Decimals, Table, Value, set_ranks};

const INDUCTIVE_BIAS: &str = "Inductive bias";
const EXPRESSIVITY: &str = "Expressivity";
/// To how many decimals Tables 2 and 22 are shown.
pub(super) const DECIMALS: Decimals = Decimals(2);
/// What the paper's figures are of.
const PAPER: &str = "The paper's figures: inductive bias, the mean of 10 runs of the best loss; expressivity, the maximum of 10 runs of each of four losses. Where only some losses were run, the paper's are of the same losses, from its Tables 4 to 21.";

/// Table 2; `None` without runs of its size.
pub(super) fn table(runs: &FlareRuns<'_>) -> Option<Table> {
    let title = "Table 2: recognition accuracy on the long test set";
    let mut table =
        laid_out(runs, "2", title, |half, language, learner| cell(runs, half, language, learner))?;
    for row in &mut table.rows {
        let language = row.keys[0].clone();
        // Only the first half is ranked: a maximum over runs has no spread to test.
        let scores = |learner: &&str| {
            let chosen = runs.best_loss(Half::InductiveBias, &language, learner);
            chosen.map_or_else(Vec::new, |chosen| chosen.scores().to_vec())
        };
        let scores: Vec<Vec<f64>> = runs.learners().iter().map(scores).collect();
        let chance = runs.chance(Some(&language)).map(|(_, highest)| highest);
        set_ranks(&mut row.cells[..scores.len()], &scores, chance, RECOGNITION_ACCURACY.metric.better);
        row.cells.push(Cell::maybe(chance.map(|level| Value::number(level, DECIMALS))));
    }
    table.columns.push(Column::new("Chance"));
    table.notes.extend(notes(runs));
    table.notes.extend(table.interval_note());
    Some(table)
}

/// How the best runs of Table 2 compare with the best of the paper's, which are more.
pub(super) fn best_of(runs: &FlareRuns<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for language in runs.languages() {
        for learner in runs.learners() {
            let Some(ours) = runs.best_loss(Half::Expressivity, language, learner) else { continue };
            let paper = printed(Half::Expressivity, language, learner, &ours.losses()).map(|of| of.figure);
            let of = runs.of_half(Half::Expressivity, language, learner);
            rows.push(BestRow { keys: [language, learner].map(str::to_owned).to_vec(), ours, paper, of });
        }
    }
    best_of::table(runs, "2", "Table 2, expressivity: the best of how many", &["language", "learner"], &rows)
}

/// Table 2 in short.
pub(super) fn headline(runs: &FlareRuns<'_>) -> Option<Table> {
    let notes = [
        "Inductive bias: best mean over the runs of a loss, validated on lengths 0-40.",
        "Expressivity: best run of any loss, validated on lengths 0-80.",
        "Trained on lengths 0-40, tested on lengths 0-500.",
        PAPER,
    ];
    table(runs).map(|table| shortened(runs, table, &notes))
}

/// Table 3; `None` without runs of its size.
pub(super) fn losses(runs: &FlareRuns<'_>) -> Option<Table> {
    let mut table = laid_out(runs, "3", "Table 3: the losses behind Table 2", |half, language, learner| {
        let chosen = runs.best_loss(half, language, learner);
        let losses = chosen.as_ref().map_or(Loss::ALL.to_vec(), BestLoss::losses);
        let of = |loss: &str| Value::from(format!("{loss} (of {})", losses.len()));
        let paper = printed(half, language, learner, &losses).and_then(|printed| printed.loss);
        let figure = paper.map(|loss| PaperFigure { value: of(&loss), n: None });
        let ours = Cell::maybe(chosen.as_ref().map(|chosen| of(chosen.loss.name())));
        ours.with_paper(runs.of_half(half, language, learner), figure)
    })?;
    table.notes.push("R is recognition, LM language modelling, NS next-symbol prediction; in brackets, of how many losses that were run. The paper's is the best of the same losses, with 10 runs of each.".to_owned());
    table.notes.push(ties(runs.reading).to_owned());
    Some(table)
}

/// A row per language, and per learner a column in each of the two groups.
fn laid_out(
    runs: &FlareRuns<'_>,
    name: &str,
    title: &str,
    cell: impl Fn(Half, &str, &str) -> Cell,
) -> Option<Table> {
    let (main, learners, cell) = (runs.main(), runs.learners(), &cell);
    let run = |language: &&str| main.iter().any(|run| run.subject() == *language);
    let mut pivot = Pivot::new();
    for (half, group) in [(Half::InductiveBias, INDUCTIVE_BIAS), (Half::Expressivity, EXPRESSIVITY)] {
        pivot = pivot.columns(
            learners.clone(),
            |learner| Column::of(group, *learner),
            move |language: &&'static str, learner| cell(half, language, learner),
        );
    }
    let languages = runs.languages().into_iter().filter(run);
    let rows = languages.map(|language| (vec![language.to_owned()], language));
    let table = pivot.fill(blank(runs, name, title, &["language"]), rows);
    (!table.rows.is_empty()).then_some(table)
}

fn cell(runs: &FlareRuns<'_>, half: Half, language: &str, learner: &str) -> Cell {
    let chosen = runs.best_loss(half, language, learner);
    // The best of fewer losses is lower, so the paper's figure is taken over the same ones.
    let losses = chosen.as_ref().map_or(Loss::ALL.to_vec(), BestLoss::losses);
    let figure = printed(half, language, learner, &losses).map(|printed| printed.figure);
    let ours = chosen.map_or_else(Cell::default, |chosen| match half {
        Half::InductiveBias => {
            let scores = chosen.scores();
            Cell { ours: Value::mean(scores, true, DECIMALS), n: Some(scores.len()), ..Cell::default() }
        }
        Half::Expressivity => {
            let n = Some(chosen.all_scores().len());
            Cell { n, ..Cell::ours(Value::number(chosen.value, DECIMALS)) }
        }
    });
    // §5: inductive bias is a mean over runs, expressivity the maximum of all runs.
    let ours = Cell { best_of: half == Half::Expressivity, ..ours };
    ours.with_paper(runs.of_half(half, language, learner), figure)
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

fn notes(runs: &FlareRuns<'_>) -> Vec<String> {
    let main = runs.main();
    let bad = bad_endings(&main);
    let bad = if bad.is_empty() { "none diverged or failed".to_owned() } else { bad };
    let mut notes = vec![
        "Trained on lengths 0-40, tested on lengths 0-500.".to_owned(),
        "Inductive bias: validated on lengths 0-40; mean ± population standard deviation over the runs of the loss with the best mean; in brackets the number of those runs.".to_owned(),
        "Expressivity: validated on lengths 0-80; the maximum over the runs of all losses; in brackets the number of those runs.".to_owned(),
        PAPER.to_owned(),
    ];
    notes.extend(spread_note(runs.cells()));
    notes.extend([BOLD_NOTE, BEST_OF_NOTE].map(str::to_owned));
    notes.push("Chance is the accuracy of always giving the commoner answer.".to_owned());
    notes.extend(parameters::notes(&main));
    notes.push("Ours are rounded once; the paper's are as printed, where they were rounded to three decimals and then to two.".to_owned());
    notes.push(ties(runs.reading).to_owned());
    notes.push(format!("{} runs, {bad}; a diverged run counts with its best model before.", main.len()));
    notes
}
