//! Figure 3: learning curves.

use wug_score::Aggregate;

use super::NAME;
use super::runs::{WadeRuns, mean_curve};
use crate::plot::{AxisLabels, Figure, Mark, Panel, drawing};

/// Points of a curve, at most; they are spread evenly over the logarithm of the sequences seen.
const POINTS: f64 = 60.0;

/// The figure; `None` without curves.
pub(super) fn figure(runs: &WadeRuns<'_>) -> Option<Figure> {
    let columns: Vec<String> = runs.columns().into_iter().filter(|column| column != "human").collect();
    let panel = |task: &str| {
        let mut marks = Vec::new();
        for (series, column) in columns.iter().enumerate() {
            marks.extend(curve(series, &mean_curve(runs.cell(task, column))));
        }
        Panel::by_logarithm(task, AxisLabels { x: "sequences seen", y: "accuracy" }, 1.0, marks)
    };
    let panels: Vec<Panel> = runs.tasks().into_iter().filter_map(panel).collect();
    let reading = runs.reading.name();
    let title = format!("Figure 3: learning curves ({reading} reading)");
    let notes = vec![
        "Thick: the mean over the runs; shaded: one standard deviation around it. Evaluations before training are left out: the axis is logarithmic.".to_owned(),
        "Sequences seen by every learner, repetitions included. Where curves differ in length, all are cut to the shortest.".to_owned(),
    ];
    (!panels.is_empty()).then(|| Figure {
        id: format!("{NAME}-{reading}-figure-3"),
        svg: drawing(&title, &columns, &panels),
        title,
        notes,
    })
}

fn curve(series: usize, points: &[(f64, Vec<f64>)]) -> Vec<Mark> {
    let shown: Vec<&(f64, Vec<f64>)> = thinned(points);
    let several = shown.first().is_some_and(|(_, accuracies)| accuracies.len() > 1);
    let (mut line, mut band) = (Vec::new(), Vec::new());
    for (seen, accuracies) in shown {
        let Some(mean) = Aggregate::Mean.of(accuracies) else { continue };
        let spread = Aggregate::PopulationStd.of(accuracies).unwrap_or(0.0);
        line.push((*seen, mean));
        band.push((*seen, mean - spread, mean + spread));
    }
    if line.is_empty() {
        return Vec::new();
    }
    let band = several.then_some(Mark::Band { series, points: band });
    band.into_iter().chain([Mark::Line { series, points: line, thin: false }]).collect()
}

/// Those that lie apart on a logarithmic axis, and the last.
fn thinned(points: &[(f64, Vec<f64>)]) -> Vec<&(f64, Vec<f64>)> {
    let after: Vec<&(f64, Vec<f64>)> = points.iter().filter(|(seen, _)| *seen > 0.0).collect();
    let (Some(first), Some(last)) = (after.first(), after.last()) else { return Vec::new() };
    // Evenly over the logarithm, as the axis is; the last point must stay, because Table 5 is about it.
    let apart = ((last.0 / first.0).ln() / POINTS).max(0.0);
    let mut next = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for (i, point) in after.iter().enumerate() {
        if point.0.ln() >= next || i + 1 == after.len() {
            shown.push(*point);
            next = point.0.ln() + apart;
        }
    }
    shown
}
