//! Figure 2, cross-entropy against edit distance; Figure 3, against length; and learning curves.

use wug_score::RunResult;
use wug_score::chance::FAIR_COIN;
use wug_score::metric::RECOGNITION_CROSS_ENTROPY;

use super::NAME;
use super::runs::{CellKey, PaperRuns, SIZE, label};
use crate::measured;
use crate::plot::{Figure, Mark, Panel, drawing};

/// The longest string of the training set, and of the long validation set.
const LONGEST: [f64; 2] = [40.0, 80.0];
const NATS: &str = "cross-entropy (nats)";

/// Every figure for which there is a run.
pub(super) fn figures(runs: &PaperRuns<'_>) -> Vec<Figure> {
    [by_distance(runs), by_length(runs), curves(runs)].into_iter().flatten().collect()
}

fn by_distance(runs: &PaperRuns<'_>) -> Option<Figure> {
    let mut not_finite = 0;
    let mut panel = |language: &'static str| {
        let mut marks = Vec::new();
        for (series, model) in models(runs, language) {
            let shown = model.strings.iter().filter(|s| s.split == "test-edit-distance" && !s.label);
            let known: Vec<_> = shown.filter_map(|s| Some((s.distance? as f64, s.cross_entropy))).collect();
            let points: Vec<_> = known.iter().filter_map(|(x, y)| Some((*x, (*y)?))).collect();
            not_finite += known.len() - points.len();
            if !points.is_empty() {
                marks.push(Mark::Points { series, points });
            }
        }
        panel(language, "edit distance from the language (edits)", marks)
    };
    let panels: Vec<Panel> = runs.languages().into_iter().filter_map(&mut panel).collect();
    let mut notes = vec![
        "Negative strings of the set test-edit-distance, one point each, for the model of each architecture with the best accuracy on the long test set among all runs with long validation. The paper shows the transformer alone.".to_owned(),
        "The dashed line is log 2: above it the answer is incorrect.".to_owned(),
    ];
    if not_finite > 0 {
        notes.push(format!("{not_finite} strings are not shown: their cross-entropy is not finite."));
    }
    figure(runs, "figure-2", "Figure 2: recognition cross-entropy against edit distance", notes, &panels)
}

fn by_length(runs: &PaperRuns<'_>) -> Option<Figure> {
    let panel = |language: &'static str| {
        let mut marks = Vec::new();
        for (series, model) in models(runs, language) {
            let windows = measured::by_length(model, &RECOGNITION_CROSS_ENTROPY.metric);
            if windows.is_empty() {
                continue;
            }
            let band = windows.iter().map(|w| (w.centre, w.value - w.spread, w.value + w.spread)).collect();
            marks.push(Mark::Band { series, points: band });
            let points = windows.iter().map(|w| (w.centre, w.value)).collect();
            marks.push(Mark::Line { series, points, thin: false });
        }
        let mut panel = panel(language, "length (symbols)", marks)?;
        panel.marks.extend(LONGEST.map(Mark::Vertical));
        Some(panel)
    };
    let panels: Vec<Panel> = runs.languages().into_iter().filter_map(panel).collect();
    let notes = vec![
        "Long test set, for the models under \"Expressivity\" in Table 2: the mean over strings of lengths n - 10 to n + 10; shaded, one population standard deviation of those strings.".to_owned(),
        "Dashed upright: the longest strings of the training set (40) and of the validation set (80). Dashed across: log 2, above which the answer is incorrect.".to_owned(),
    ];
    figure(runs, "figure-3", "Figure 3: recognition cross-entropy against length", notes, &panels)
}

/// The curves of the runs behind Table 2: under "Inductive bias" where there are any, else under "Expressivity".
fn curves(runs: &PaperRuns<'_>) -> Option<Figure> {
    let panel = |language: &'static str| {
        let mut marks = Vec::new();
        for (series, learner) in runs.learners().into_iter().enumerate() {
            for run in behind(runs, language, learner) {
                let point = |p: &wug_score::Point| Some((p.epoch as f64, p.validation?));
                let points: Vec<_> = run.curve.iter().filter_map(point).collect();
                if !points.is_empty() {
                    marks.push(Mark::Line { series, points, thin: true });
                }
            }
        }
        panel(language, "epochs", marks)
    };
    let panels: Vec<Panel> = runs.languages().into_iter().filter_map(panel).collect();
    let notes = vec![
        "The loss by which each model was chosen, recognition cross-entropy on the validation set, one line per run: the runs under \"Inductive bias\" in Table 2, or the model under \"Expressivity\" where there are none. The dashed line is log 2.".to_owned(),
    ];
    figure(runs, "curves", "Learning curves", notes, &panels)
}

fn behind<'a>(runs: &PaperRuns<'a>, language: &str, learner: &str) -> Vec<&'a RunResult> {
    match runs.inductive_bias(language, learner) {
        Some(chosen) => {
            runs.at(CellKey { language, learner, loss: chosen.loss, validation: "short", size: SIZE })
        }
        None => runs.best_model(language, learner).into_iter().collect(),
    }
}

/// The best model of each architecture, with the number of its series.
fn models<'a>(runs: &PaperRuns<'a>, language: &str) -> Vec<(usize, &'a RunResult)> {
    let learners = runs.learners().into_iter().enumerate();
    learners.filter_map(|(i, learner)| Some((i, runs.best_model(language, learner)?))).collect()
}

/// A panel that shows all of the marks and log 2; `None` without marks.
fn panel(language: &str, x: &'static str, marks: Vec<Mark>) -> Option<Panel> {
    Panel::fitted(language, (x, NATS), FAIR_COIN, FAIR_COIN, marks)
}

fn figure(
    runs: &PaperRuns<'_>,
    name: &str,
    title: &str,
    notes: Vec<String>,
    panels: &[Panel],
) -> Option<Figure> {
    let series: Vec<String> = runs.learners().into_iter().map(label).collect();
    let reading = runs.reading.name();
    let title = format!("{title} ({reading} reading)");
    (!panels.is_empty()).then(|| Figure {
        id: format!("{NAME}-{reading}-{name}"),
        svg: drawing(&title, &series, panels),
        title,
        notes,
    })
}
