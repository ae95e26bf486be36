//! Accuracy against length, and against the distance of the dependency that is broken.

use wug_score::Stratum;
use wug_score::strata::Window;

use super::NAME;
use super::runs::{TseCell, TseRun, TseRuns, Version, comparison};
use super::{suffix, title as title_of};
use crate::pairs::{FIGURE_NOTE, chance, dependency, length, longest_trained, over, panel};
use crate::plot::{Figure, Mark, Panel, SPREAD_NOTE, drawing};

/// What a figure is drawn against.
struct Against {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    of: fn(&Stratum) -> Option<Window>,
    upright: bool,
}

const LENGTH: Against = Against {
    name: "lengths",
    title: "Accuracy against length",
    axis: "length (symbols)",
    of: length,
    upright: true,
};
const DEPENDENCY: Against = Against {
    name: "dependencies",
    title: "Accuracy against the distance of the broken dependency",
    axis: "distance (symbols)",
    of: dependency,
    upright: false,
};

/// Every figure for which there is a run.
pub(super) fn figures(runs: &TseRuns<'_>) -> Vec<Figure> {
    let of = |version: Version<'_>| [figure(runs, version, &LENGTH), figure(runs, version, &DEPENDENCY)];
    runs.versions().into_iter().flat_map(of).flatten().collect()
}

fn figure(runs: &TseRuns<'_>, version: Version<'_>, against: &Against) -> Option<Figure> {
    let learners = runs.learners();
    let draw = |(language, terminals): (&'static str, usize)| -> Option<Panel> {
        let metric = comparison(language, version.reading);
        let own =
            |learner: &String| runs.at(&TseCell { language, terminals, learner: learner.clone(), version });
        let line = |run: &TseRun<'_>| over(run, metric, against.of);
        let mut marks = Vec::new();
        for (series, learner) in learners.iter().enumerate() {
            let lines: Vec<_> = own(learner).iter().map(line).filter(|line| !line.is_empty()).collect();
            marks.extend(Mark::of_runs(series, lines));
        }
        let trained = runs.all().first().map(|run| longest_trained(*run)).filter(|_| against.upright);
        marks.extend(trained.map(Mark::Vertical));
        let all = learners.iter().flat_map(own).collect::<Vec<_>>();
        panel(&format!("{language}, T = {terminals}"), against.axis, chance(&all, metric), marks)
    };
    let panels: Vec<Panel> = runs.rows().into_iter().filter_map(draw).collect();
    let title = format!("{} ({})", against.title, version.name);
    let title = if runs.table == "3" { title } else { format!("{}: {title}", title_of(runs.table)) };
    let series: Vec<String> = learners.iter().map(|learner| runs.label(learner)).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("{NAME}-{}-{}{}", version.id(), against.name, suffix(runs)),
        svg: drawing(&title, &series, &panels),
        title,
        notes: vec![
            "The share of pairs whose good string is preferred: all runs of a cell, whatever their learning rate.".to_owned(),
            SPREAD_NOTE.to_owned(),
            FIGURE_NOTE.to_owned(),
        ],
    })
}
