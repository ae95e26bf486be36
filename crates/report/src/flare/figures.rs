//! Figure 2, cross-entropy against edit distance; Figure 3, against length; and learning curves.

use std::collections::BTreeSet;

use wug_score::chance::FAIR_COIN;
use wug_score::metric::RECOGNITION_CROSS_ENTROPY;

use super::NAME;
use super::published::Half;
use super::runs::{FlareRun, FlareRuns};
use crate::measured::over_lengths;
use crate::parameters;
use crate::plot::{AxisLabels, Figure, Mark, Panel, SPREAD_NOTE, drawing};

/// The longest string of the training set, and of the long validation set.
const LONGEST: [f64; 2] = [40.0, 80.0];
const NATS: &str = "cross-entropy (nats)";

/// Every figure for which there is a run.
pub(super) fn figures(runs: &FlareRuns<'_>) -> Vec<Figure> {
    [by_distance(runs), by_length(runs), curves(runs)].into_iter().flatten().collect()
}

fn by_distance(runs: &FlareRuns<'_>) -> Option<Figure> {
    let mut not_finite = 0;
    let mut panel = |language: &'static str| {
        let mut marks = Vec::new();
        for (series, model) in models(runs, language) {
            let shown = model.strings.iter().filter(|s| s.split == "test-edit-distance" && !s.label);
            let known: Vec<_> = shown.filter_map(|s| Some((s.distance? as f64, s.cross_entropy))).collect();
            let points: Vec<_> = known.iter().filter_map(|(x, y)| Some((*x, (*y)?))).collect();
            // An infinite cross-entropy has no place on the axis, so that the notes count it.
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

fn by_length(runs: &FlareRuns<'_>) -> Option<Figure> {
    let panel = |language: &'static str| {
        let mut marks = Vec::new();
        for (series, learner) in runs.learners().into_iter().enumerate() {
            // All runs, not the best alone: the best of 40 was chosen on the very test set that is shown.
            let points = over_lengths(
                &runs.of_half(Half::Expressivity, language, learner),
                &RECOGNITION_CROSS_ENTROPY.metric,
            );
            marks.extend(Mark::of_runs(series, points));
        }
        let mut panel = panel(language, "length (symbols)", marks)?;
        panel.marks.extend(LONGEST.map(Mark::Vertical));
        Some(panel)
    };
    let panels: Vec<Panel> = runs.languages().into_iter().filter_map(panel).collect();
    let notes = vec![
        "Long test set, strings of lengths n - 10 to n + 10: all runs with long validation, whatever the loss. The paper shows the best of them alone, with the deviation among its strings.".to_owned(),
        SPREAD_NOTE.to_owned(),
        "Dashed upright: the longest strings of the training set (40) and of the validation set (80). Dashed across: log 2, above which the answer is incorrect.".to_owned(),
    ];
    figure(runs, "figure-3", "Figure 3: recognition cross-entropy against length", notes, &panels)
}

/// The curves of the runs behind Table 2: under "Inductive bias" where there are any, else under "Expressivity".
fn curves(runs: &FlareRuns<'_>) -> Option<Figure> {
    let panel = |language: &'static str| {
        let mut marks = Vec::new();
        for (series, learner) in runs.learners().into_iter().enumerate() {
            let point = |p: &wug_score::Point| Some((p.epoch as f64, p.validation?));
            let curve = |run: &FlareRun<'_>| run.curve.iter().filter_map(point).collect();
            let own = behind(runs, language, learner);
            let curves = own.iter().map(curve).filter(|points: &Vec<_>| !points.is_empty()).collect();
            marks.extend(of_curves(series, curves));
        }
        panel(language, "epochs", marks)
    };
    let panels: Vec<Panel> = runs.languages().into_iter().filter_map(panel).collect();
    let notes = vec![
        "The loss by which each model was chosen, recognition cross-entropy on the validation set: the runs under \"Inductive bias\" in Table 2, or those under \"Expressivity\" where there are none. The dashed line is log 2.".to_owned(),
        format!("{SPREAD_NOTE} In the mean, a run that has ended keeps its last value."),
    ];
    figure(runs, "curves", "Learning curves", notes, &panels)
}

/// A line for each curve, and over several of them the mean with its spread, each continued at its last value.
fn of_curves(series: usize, curves: Vec<Vec<(f64, f64)>>) -> Vec<Mark> {
    let epochs: BTreeSet<usize> = curves.iter().flatten().map(|(epoch, _)| *epoch as usize).collect();
    let held = |curve: &Vec<(f64, f64)>| {
        let mut held = curve.clone();
        if let Some((end, last)) = curve.last().copied() {
            held.extend(
                epochs
                    .iter()
                    .map(|epoch| *epoch as f64)
                    .filter(|epoch| *epoch > end)
                    .map(|epoch| (epoch, last)),
            );
        }
        held
    };
    // Held at the last value: a mean over surviving runs alone would jump as others stop early.
    let spread = Mark::spread(series, &curves.iter().map(held).collect::<Vec<_>>());
    let thin = !spread.is_empty();
    let lines = curves.into_iter().map(|points| Mark::Line { series, points, thin });
    lines.chain(spread).collect()
}

fn behind<'r>(runs: &FlareRuns<'r>, language: &str, learner: &str) -> Vec<FlareRun<'r>> {
    match runs.best_loss(Half::InductiveBias, language, learner) {
        Some(chosen) => runs.at(Half::InductiveBias.cell(language, learner, chosen.loss)),
        None => runs.of_half(Half::Expressivity, language, learner),
    }
}

/// The best model of each architecture, with the number of its series.
fn models<'r>(runs: &FlareRuns<'r>, language: &str) -> Vec<(usize, FlareRun<'r>)> {
    let learners = runs.learners().into_iter().enumerate();
    learners.filter_map(|(i, learner)| Some((i, runs.best_model(language, learner)?))).collect()
}

/// A panel that shows all of the marks and log 2; `None` without marks.
fn panel(language: &str, x: &'static str, marks: Vec<Mark>) -> Option<Panel> {
    Panel::fitted(language, AxisLabels { x, y: NATS }, FAIR_COIN, FAIR_COIN, marks)
}

fn figure(
    runs: &FlareRuns<'_>,
    name: &str,
    title: &str,
    notes: Vec<String>,
    panels: &[Panel],
) -> Option<Figure> {
    let series: Vec<String> =
        runs.learners().into_iter().map(|learner| parameters::labelled(learner, runs.main())).collect();
    let reading = runs.reading.name();
    let title = format!("{title} ({reading} reading)");
    (!panels.is_empty()).then(|| Figure {
        id: format!("{NAME}-{reading}-{name}"),
        svg: drawing(&title, &series, panels),
        title,
        notes,
    })
}
