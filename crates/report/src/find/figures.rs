//! Figures: which rule is followed, by learner; and Figure 3 of the paper.

use std::collections::BTreeMap;

use super::NAME;
use super::group::{SheetRow, SheetRuns};
use super::sheets::Sheet;
use super::tables::per_example;
use crate::plot::{AxisLabels, Figure, Mark, Panel, SPREAD_NOTE, drawing};
use crate::table::distinct;

/// The figure of a group, if it has one.
pub(super) fn figure(group: &SheetRuns<'_>) -> Option<Figure> {
    match group.sheet {
        Sheet::Growth => growth(group),
        _ => preferences(group),
    }
}

/// Where a row is drawn: at its value, or at its place if that is no number.
fn across(rows: &[&SheetRow<'_>], i: usize) -> f64 {
    rows[i].values.first().and_then(|value| value.parse().ok()).unwrap_or(i as f64 + 1.0)
}

/// The share of seeds that agree with each rule, a panel per learner.
fn preferences(group: &SheetRuns<'_>) -> Option<Figure> {
    // With one setting there is nothing to draw against: the table says it all.
    let settings = distinct(group.rows.iter().map(|row| &row.values));
    if settings.len() < 2 {
        return None;
    }
    let mut panels = Vec::new();
    for learner in distinct(group.rows.iter().map(|row| row.learner)) {
        let rows: Vec<&SheetRow<'_>> = group.rows.iter().filter(|row| row.learner == learner).collect();
        let mut marks = Vec::new();
        for (series, rule) in group.rules.iter().enumerate() {
            let points: Vec<(f64, f64)> = (0..rows.len())
                .filter_map(|i| {
                    // Over all seeds, so that shares and "no rule" add up to one at each setting.
                    let known = rows[i].runs.iter().filter_map(|run| run.agrees(rule));
                    let known: Vec<bool> = known.collect();
                    let agreeing = known.iter().filter(|agrees| **agrees).count();
                    (!known.is_empty()).then(|| (across(&rows, i), agreeing as f64 / known.len() as f64))
                })
                .collect();
            // One point has no line, and an empty path would still make an entry of the legend.
            if points.len() > 1 {
                marks.push(Mark::Line { series, points: points.clone(), thin: true });
            }
            if !points.is_empty() {
                marks.push(Mark::Points { series, points });
            }
        }
        panels.extend(Panel::fitted(
            learner,
            AxisLabels { x: axis(group), y: "share of seeds" },
            1.0,
            1.0,
            marks,
        ));
    }
    let title = format!("{}, which rule is followed ({} reading)", group.sheet.name(), group.reading);
    let series: Vec<String> = group.rules.iter().map(|&rule| rule.to_owned()).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("{NAME}-{}-{}", group.reading, group.sheet.id()),
        svg: drawing(&title, &series, &panels),
        title,
        notes: vec!["The share of all seeds whose outputs are those of the rule throughout. What is missing to one agrees with no rule.".to_owned()],
    })
}

fn axis(group: &SheetRuns<'_>) -> &'static str {
    match group.keys.first().map(String::as_str) {
        Some("length") => "training length l",
        Some("shown") => "examples shown M",
        Some("depth") => "depth d",
        Some("layers") => "layers",
        Some("hidden") => "hidden size",
        Some("embedding") => "embedding size",
        Some("dropout") => "dropout",
        Some("kernel") => "kernel width",
        _ => "setting",
    }
}

/// Nats per example against the number of composed examples that are shown: a line per seed, and their mean.
fn growth(group: &SheetRuns<'_>) -> Option<Figure> {
    let learners = distinct(group.rows.iter().map(|row| row.learner));
    let mut panels = Vec::new();
    for rule in &group.rules {
        let mut marks = Vec::new();
        for (series, learner) in learners.iter().enumerate() {
            let mut seeds: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
            for row in group.rows.iter().filter(|row| row.learner == *learner) {
                let Some(x) = row.values.first().and_then(|value| value.parse().ok()) else { continue };
                for run in &row.runs {
                    if let Some(y) = per_example(*run, rule) {
                        seeds.entry(run.run.plan.seed).or_default().push((x, y));
                    }
                }
            }
            marks.extend(Mark::of_runs(series, seeds.into_values().collect()));
        }
        let labels = AxisLabels { x: "composed examples shown, M", y: "nats per example" };
        panels.extend(Panel::fitted(rule, labels, 1.0, 0.0, marks));
    }
    let title = format!("{} ({} reading)", group.sheet.name(), group.reading);
    let series: Vec<String> = learners.iter().map(|&learner| learner.to_owned()).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("{NAME}-{}-{}", group.reading, group.sheet.id()),
        svg: drawing(&title, &series, &panels),
        title,
        notes: vec![SPREAD_NOTE.to_owned()],
    })
}
