//! Minimal pairs of any language: what was measured of a run, and an overview of the runs that no suite claims.

use std::collections::BTreeMap;
use std::ops::Deref;

use wug_score::metric::{PAIR_ACCURACY_SUM, PAIR_CEILING, PAIR_CEILING_HALF_TIES};
use wug_score::plan::{Pairs, PlanKind};
use wug_score::strata::Window;
use wug_score::{Measurement, Metric, Reading, RunResult, Stratum};

use crate::columns::{VaryingColumns, coordinate_names};
use crate::generic::by_protocol;
use crate::parameters;
use crate::pivot::Pivot;
use crate::plan_fields::{data_note, spread_note};
use crate::plot::{AxisLabels, Figure, Mark, Panel, SPREAD_NOTE, drawing};
use crate::run::{AnyRun, Run};
use crate::suite::{Contents, not_comparable};
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Scope, Table, Value, distinct};

const PROTOCOL: &str = Pairs::PROTOCOL;

/// The pairs at the lengths of training, and at greater ones.
pub(crate) const SPLITS: [&str; 2] = ["test", "out-of-distribution"];

const DECIMALS: Decimals = Decimals(3);

/// Whether a run has been asked about pairs.
pub(crate) fn shows(result: &RunResult) -> bool {
    result.run.protocol == PROTOCOL && SPLITS.iter().any(|s| result.whole(s, PAIR_CEILING.name).is_some())
}

/// The greatest length of training.
pub(crate) fn longest_trained(run: Run<'_, Pairs>) -> f64 {
    run.plan.data.lengths.last as f64
}

/// A metric on both splits by the middle of a stratum, from low to high.
pub(crate) fn over(run: &RunResult, metric: &Metric, of: fn(&Stratum) -> Option<Window>) -> Vec<(f64, f64)> {
    let point = |m: &Measurement| Some((of(&m.stratum)?.centre(), m.numerator?, m.denominator?));
    // A window at the border of both splits has pairs of both.
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (x, numerator, denominator) in run.scores.iter().filter(|m| m.metric == metric.name).filter_map(point)
    {
        // Bits of lengths, which are not negative, sort as the numbers do.
        let sum = sums.entry(x.to_bits()).or_default();
        *sum = (sum.0 + numerator, sum.1 + denominator);
    }
    sums.into_iter()
        .map(|(x, (numerator, denominator))| (f64::from_bits(x), numerator / denominator))
        .collect()
}

/// The lengths of a stratum.
pub(crate) fn length(stratum: &Stratum) -> Option<Window> {
    if let Stratum::Length(window) = stratum { Some(*window) } else { None }
}

/// The distances of a stratum.
pub(crate) fn dependency(stratum: &Stratum) -> Option<Window> {
    if let Stratum::Dependency(window) = stratum { Some(*window) } else { None }
}

/// Tables and figures of each reading.
pub(crate) fn contents(runs: &[AnyRun<'_>]) -> Contents {
    let shown: Vec<AnyRun<'_>> = runs.iter().copied().filter(|run| shows(run)).collect();
    let mut contents = Contents::default();
    for ((_, reading), runs) in by_protocol(&shown) {
        let mut full = table(reading, &runs, MEAN_NOTE);
        full.notes.extend(full.interval_note());
        contents.tables.push(full);
        contents.headline.push(table(reading, &runs, "Mean over runs.").compact());
        contents.figures.extend(figure(reading, &runs));
    }
    contents
}

/// What an experiment lists several values of: every coordinate beside language and learner.
struct ListedSettings<'r> {
    names: Vec<&'r str>,
    columns: VaryingColumns,
}

impl<'r> ListedSettings<'r> {
    fn of(runs: &[AnyRun<'r>]) -> Self {
        let names = coordinate_names(runs.iter().map(|run| &run.result().run));
        let names: Vec<&str> =
            names.into_iter().filter(|name| !["language", "learner"].contains(name)).collect();
        let rows: Vec<Vec<String>> = runs.iter().map(|run| shown(*run, &names)).collect();
        let columns = VaryingColumns::of(&names, rows.iter().map(Vec::as_slice));
        Self { names, columns }
    }

    /// The values that a run has of what differs.
    fn values(&self, run: AnyRun<'_>) -> Vec<String> {
        self.columns.values(&shown(run, &self.names)).collect()
    }
}

fn shown(run: AnyRun<'_>, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| run.run.coordinates.show(name)).collect()
}

/// A split with the runs of a row.
type SplitRow<'p, 'r> = (&'static str, &'p Vec<AnyRun<'r>>);

fn table(reading: Reading, runs: &[AnyRun<'_>], values: &str) -> Table {
    let learners = distinct(runs.iter().map(|run| run.result().run.learner()));
    let listed = ListedSettings::of(runs);
    let keys = distinct(runs.iter().map(|run| (run.result().run.language(), listed.values(*run))));
    let groups: Vec<(Vec<String>, Vec<AnyRun<'_>>)> = keys
        .into_iter()
        .map(|(language, key)| {
            let own = |run: &AnyRun<'_>| run.run.language() == language && listed.values(*run) == key;
            let names = std::iter::once(language.to_owned()).chain(key.clone()).collect();
            (names, runs.iter().copied().filter(own).collect())
        })
        .collect();
    let rows = groups.iter().flat_map(|(names, own)| {
        SPLITS.map(|split| (names.iter().cloned().chain([split.to_owned()]).collect(), (split, own)))
    });
    let known = |&(split, own): &SplitRow<'_, '_>, of: fn(&Measurement) -> Option<f64>, metric: &Metric| {
        let measured = own.iter().find_map(|run| run.whole(split, metric.name));
        Cell::maybe(measured.and_then(of).map(|x| Value::number(x, DECIMALS)))
    };
    let blank = Table::blank(
        Scope::Protocol(PROTOCOL),
        reading,
        "overview",
        "pairs: the grammatical string is preferred",
        &["language"],
    );
    let mut table = Pivot::new()
        .columns(
            learners.clone(),
            |learner| Column::new(*learner),
            |(split, own): &SplitRow<'_, '_>, learner| cell(&of(own, learner), split),
        )
        .column(Column::new("ceiling"), |row| known(row, |m| m.value, &PAIR_CEILING))
        .column(Column::new("ceiling, half ties"), |row| known(row, |m| m.value, &PAIR_CEILING_HALF_TIES))
        .column(Column::new("chance"), |row| known(row, |m| m.chance, &PAIR_ACCURACY_SUM))
        .fill(blank, rows);
    table.keys.extend(listed.columns.names().chain(["split".to_owned()]));
    table.notes = vec![
        format!(
            "{}. Ceiling and chance are those of these very pairs, on the average over models.",
            capital(PAIR_ACCURACY_SUM.meaning)
        ),
        values.to_owned(),
    ];
    let cells = groups.iter().flat_map(|(_, own)| learners.iter().map(move |learner| of(own, learner)));
    table.notes.extend(spread_note(cells));
    table.notes.extend(not_comparable(runs));
    table.notes.extend(parameters::notes(runs));
    table.notes.extend(data_note(runs));
    table
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn of<'r>(runs: &[AnyRun<'r>], learner: &str) -> Vec<AnyRun<'r>> {
    runs.iter().copied().filter(|run| run.run.learner() == learner).collect()
}

fn cell(runs: &[AnyRun<'_>], split: &str) -> Cell {
    let measured: Vec<_> = runs.iter().filter_map(|run| run.whole(split, PAIR_ACCURACY_SUM.name)).collect();
    Cell::of_runs(&measured, DECIMALS)
}

/// Accuracy against length, a panel per language: of each learner every run, and their mean.
fn figure(reading: Reading, runs: &[AnyRun<'_>]) -> Option<Figure> {
    let listed = ListedSettings::of(runs);
    let lines = distinct(runs.iter().map(|run| (run.result().run.learner(), listed.values(*run))));
    let of_line = |learner: &str, key: &[String]| -> Vec<AnyRun<'_>> {
        of(runs, learner).into_iter().filter(|run| listed.values(*run) == key).collect()
    };
    let draw = |language: &str| {
        let is_here = |run: &AnyRun<'_>| run.run.language() == language;
        let mut marks = Vec::new();
        for (i, (learner, key)) in lines.iter().enumerate() {
            let own = of_line(learner, key).into_iter().filter(is_here);
            marks.extend(Mark::of_runs(i, own.map(|run| over(&run, &PAIR_ACCURACY_SUM, length)).collect()));
        }
        let own: Vec<AnyRun<'_>> = runs.iter().copied().filter(is_here).collect();
        let trained = own.first().and_then(|run| run.of()).map(longest_trained);
        marks.extend(trained.map(Mark::Vertical));
        panel(language, "length (symbols)", chance(&own, &PAIR_ACCURACY_SUM), marks)
    };
    let languages = distinct(runs.iter().map(|run| run.result().run.language()));
    let panels: Vec<Panel> = languages.into_iter().filter_map(draw).collect();
    let title = format!("pairs: accuracy against length ({reading} reading)");
    let name = |(learner, key): &(&str, Vec<String>)| {
        let label = parameters::labelled(learner, of_line(learner, key));
        let with = listed.columns.names().zip(key).filter(|(_, value)| !value.is_empty());
        with.fold(label, |label, (name, value)| format!("{label} {name} {value}"))
    };
    let series: Vec<String> = lines.iter().map(name).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("{PROTOCOL}-{reading}-lengths"),
        svg: drawing(&title, &series, &panels),
        title,
        notes: vec![
            "The share of pairs whose good string has a strictly higher probability, by the length of that string."
                .to_owned(),
            SPREAD_NOTE.to_owned(),
            FIGURE_NOTE.to_owned(),
        ],
    })
}

/// How the lines across a panel are read.
pub(crate) const FIGURE_NOTE: &str = "Dashed upright: the longest training string. Dashed across: chance on these very pairs, a fair coin on all pairs of two different strings.";

/// A panel of accuracies; `None` without marks.
pub(crate) fn panel(title: &str, x: &'static str, chance: f64, marks: Vec<Mark>) -> Option<Panel> {
    Panel::fitted(title, AxisLabels { x, y: "accuracy" }, 1.0, chance, marks)
}

/// The chance level of the pairs of some runs, both splits together; one half if it is not known.
pub(crate) fn chance(runs: &[impl Deref<Target = RunResult>], metric: &Metric) -> f64 {
    let of = |run: &RunResult| {
        let all = SPLITS.map(|split| run.whole(split, metric.name));
        let known = all.into_iter().flatten().filter_map(|m| Some((m.chance?, m.denominator?)));
        // Weighted by pairs, as the accuracies of both splits together are.
        let (sum, pairs) = known.fold((0.0, 0.0), |(sum, all), (chance, n)| (sum + chance * n, all + n));
        (pairs > 0.0).then(|| sum / pairs)
    };
    // All runs saw the same pairs. Ties lower chance below a half, because a tie is wrong.
    runs.iter().find_map(|run| of(run)).unwrap_or(0.5)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wug_score::metric::pair_accuracy;
    use wug_score::pairs::{PairComparison as Comparison, Ties};
    use wug_score::{Coordinates, Ending, Run, Totals};

    use super::*;
    use crate::run::ReportedRun;

    fn run(learner: &str, size: Option<usize>, rate: Option<f64>, accuracy: f64) -> RunResult {
        let totals = |x: f64| Totals { numerator: x, denominator: 1.0, n: 1 };
        let metric = pair_accuracy(Comparison::Sum, Ties::Wrong);
        let measured = |split: &str| {
            [metric.measured(totals(accuracy), Some(7.0 / 15.0)), PAIR_CEILING.measured(totals(0.8), None)]
                .map(|score| Measurement::new(split, Stratum::All, &score))
        };
        let plan = json!({
            "subject": "parity", "reading": "corrected", "learner": { "name": learner },
            "data": null, "measure": null, "seed": 0, "precision": "f32",
        });
        RunResult {
            format: wug_score::FORMAT,
            run: Run {
                plan: format!("{learner}{size:?}{rate:?}"),
                protocol: PROTOCOL.to_owned(),
                coordinates: Coordinates::default()
                    .with("language", "parity")
                    .with("learner", learner)
                    .with_some("size", size)
                    .with_some("learning_rate", rate),
                seed: 0,
                reading: Reading::Corrected,
                version: String::new(),
                build: String::new(),
                instructions: String::new(),
                data_hash: String::new(),
            },
            plan: serde_json::from_value(plan).unwrap(),
            ending: Ending::Finished,
            parameters: size,
            data: serde_json::Value::Null,
            curve: Vec::new(),
            scores: SPLITS.iter().flat_map(|split| measured(split)).collect(),
            hardest: Vec::new(),
            strings: Vec::new(),
        }
    }

    /// Sizes and listed settings are rows of their own: a mean over them would be of no model.
    #[test]
    fn what_is_listed_tells_rows_apart() {
        let all = [
            run("lstm", Some(4000), Some(0.1), 0.5),
            run("lstm", Some(16000), Some(0.1), 0.7),
            run("lstm", Some(16000), Some(0.2), 0.9),
            run("uniform", None, None, 0.0),
        ];
        let all: Vec<ReportedRun<'_>> = all.iter().map(|result| ReportedRun::new(result, None)).collect();
        let all: Vec<AnyRun<'_>> = all.iter().map(ReportedRun::any).collect();
        let table = &contents(&all).tables[0];
        assert_eq!(table.keys, ["language", "size", "learning_rate", "split"]);
        let keys: Vec<String> = table.rows.iter().map(|row| row.keys[1..3].join(" ")).collect();
        assert_eq!(
            keys,
            ["4000 0.1", "4000 0.1", "16000 0.1", "16000 0.1", "16000 0.2", "16000 0.2", " ", " "]
        );
        assert!((chance(&all, &PAIR_ACCURACY_SUM) - 7.0 / 15.0).abs() < 1e-12);
    }
}
