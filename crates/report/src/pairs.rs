//! Minimal pairs of any language: what was measured of a run, and an overview of the runs that no suite claims.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use wug_score::metric::{PAIR_ACCURACY_SUM, PAIR_CEILING, PAIR_CEILING_HALF_TIES};
use wug_score::strata::Window;
use wug_score::{Measurement, Metric, Reading, RunResult, Stratum};

use crate::columns::VaryingColumns;
use crate::generic::by_protocol;
use crate::parameters;
use crate::plan_fields::{data_note, spread_note};
use crate::plot::{Figure, Mark, Panel, SPREAD_NOTE, drawing};
use crate::suite::SUITES;
use crate::table::{Cell, Column, Decimals, MEAN_NOTE, Row, Scope, Table, Value, distinct};

pub(crate) const PROTOCOL: &str = "pairs";

/// The pairs at the lengths of training, and at greater ones.
pub(crate) const SPLITS: [&str; 2] = ["test", "out-of-distribution"];

const DECIMALS: Decimals = Decimals(3);

/// Whether a run has been asked about pairs.
pub(crate) fn shows(result: &RunResult) -> bool {
    result.run.protocol == PROTOCOL && SPLITS.iter().any(|s| result.whole(s, PAIR_CEILING.name).is_some())
}

/// The greatest length of training.
pub(crate) fn longest_trained(run: &RunResult) -> Option<f64> {
    run.plan.pointer("/data/lengths/1").and_then(Json::as_f64)
}

/// A metric on both splits by the middle of a stratum, from low to high.
pub(crate) fn over(run: &RunResult, metric: &Metric, of: fn(&Stratum) -> Option<Window>) -> Vec<(f64, f64)> {
    let point = |m: &Measurement| Some((of(&m.stratum)?.centre(), m.numerator?, m.denominator?));
    // A window at the border of both splits has pairs of both.
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for (x, numerator, denominator) in run.scores.iter().filter(|m| m.metric == metric.name).filter_map(point)
    {
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

fn groups<'a>(results: &[&'a RunResult]) -> BTreeMap<(&'a str, Reading), Vec<&'a RunResult>> {
    let shown: Vec<&RunResult> = results.iter().copied().filter(|result| shows(result)).collect();
    by_protocol(&shown)
}

/// One table per reading: a row per language and split, a column per learner.
pub(crate) fn tables(results: &[&RunResult]) -> Vec<Table> {
    let mut tables = each(results, MEAN_NOTE);
    tables.iter_mut().for_each(|table| table.notes.extend(table.interval_note()));
    tables
}

/// The same in short.
pub(crate) fn headline(results: &[&RunResult]) -> Vec<Table> {
    each(results, "Mean over runs.").into_iter().map(Table::compact).collect()
}

fn each(results: &[&RunResult], values: &str) -> Vec<Table> {
    let of = |((_, reading), runs): ((&str, Reading), Vec<&RunResult>)| table(reading, &runs, values);
    groups(results).into_iter().map(of).collect()
}

/// What an experiment lists several values of: sizes, and settings that runs of a section differ in.
struct ListedSettings {
    names: Vec<String>,
    columns: VaryingColumns,
}

impl ListedSettings {
    fn of(runs: &[&RunResult]) -> Self {
        let varied = |run: &&RunResult| run.plan.get("varied").and_then(Json::as_array).cloned();
        let varied = runs.iter().filter_map(varied).flatten();
        let varied = varied.filter_map(|name| name.as_str().map(str::to_owned));
        // A coordinate tells runs apart whether or not a section lists it.
        let coordinates = runs.iter().flat_map(|run| run.run.coordinates.iter()).map(|(name, _)| name);
        let coordinates = coordinates.filter(|name| !["language", "learner"].contains(name));
        let names = std::iter::once("size").chain(coordinates).map(str::to_owned);
        let names = distinct(names.chain(varied));
        let rows: Vec<Vec<String>> = runs.iter().map(|run| values(run, &names)).collect();
        let columns = VaryingColumns::of(&names, rows.iter().map(Vec::as_slice));
        Self { names, columns }
    }

    /// The values that a run has of what differs.
    fn values(&self, run: &RunResult) -> Vec<String> {
        self.columns.values(&values(run, &self.names)).collect()
    }
}

/// The values of a run, empty where it has none.
fn values(run: &RunResult, names: &[String]) -> Vec<String> {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let of = |name: &String| run.plan.get(name).or_else(|| run.plan.get("settings")?.get(name)).map(text);
    names.iter().map(|name| of(name).unwrap_or_default()).collect()
}

fn table(reading: Reading, runs: &[&RunResult], values: &str) -> Table {
    let learners = distinct(runs.iter().map(|run| run.run.learner()));
    let listed = ListedSettings::of(runs);
    let mut rows = Vec::new();
    let keys = distinct(runs.iter().map(|run| (run.run.language(), listed.values(run))));
    let at = |language: &str, key: &[String]| -> Vec<&RunResult> {
        let own = |run: &&&RunResult| run.run.language() == language && listed.values(run) == key;
        runs.iter().filter(own).copied().collect()
    };
    for (language, key) in &keys {
        let own = at(language, key);
        for split in SPLITS {
            let known = |metric: &Metric| own.iter().find_map(|run| run.whole(split, metric.name));
            let number = |x: Option<f64>| Cell::maybe(x.map(|x| Value::number(x, DECIMALS)));
            let mut cells: Vec<Cell> =
                learners.iter().map(|learner| cell(&of(&own, language, learner), split)).collect();
            cells.extend(
                [&PAIR_CEILING, &PAIR_CEILING_HALF_TIES].map(|m| number(known(m).and_then(|m| m.value))),
            );
            cells.push(number(known(&PAIR_ACCURACY_SUM).and_then(|m| m.chance)));
            let keys = std::iter::once((*language).to_owned()).chain(key.iter().cloned());
            rows.push(Row { keys: keys.chain([split.to_owned()]).collect(), cells });
        }
    }
    let mut notes = vec![
        format!(
            "{}. Ceiling and chance are those of these very pairs, on the average over models.",
            capital(PAIR_ACCURACY_SUM.meaning)
        ),
        values.to_owned(),
    ];
    let cells = keys.iter().flat_map(|(language, key)| {
        let own = at(language, key);
        learners.iter().map(|learner| of(&own, language, learner)).collect::<Vec<_>>()
    });
    notes.extend(spread_note(cells));
    notes.extend(SUITES.iter().filter_map(|suite| suite.not_comparable(runs)));
    notes.extend(parameters::notes(runs));
    notes.extend(data_note(runs));
    let title = "pairs: the grammatical string is preferred";
    let mut table = Table {
        notes,
        columns: learners
            .into_iter()
            .chain(["ceiling", "ceiling, half ties", "chance"])
            .map(Column::new)
            .collect(),
        rows,
        ..Table::blank(Scope::Protocol(PROTOCOL), reading, "overview", title, &["language"])
    };
    table.keys.extend(listed.columns.names().chain(["split".to_owned()]));
    table
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn of<'a>(runs: &[&'a RunResult], language: &str, learner: &str) -> Vec<&'a RunResult> {
    runs.iter().copied().filter(|r| r.run.language() == language && r.run.learner() == learner).collect()
}

fn cell(runs: &[&RunResult], split: &str) -> Cell {
    let measured: Vec<_> = runs.iter().filter_map(|run| run.whole(split, PAIR_ACCURACY_SUM.name)).collect();
    Cell::of_runs(&measured, DECIMALS)
}

/// Accuracy against length, a panel per language: of each learner every run, and their mean.
pub(crate) fn figures(results: &[&RunResult]) -> Vec<Figure> {
    let figure = |((_, reading), runs): ((&str, Reading), Vec<&RunResult>)| {
        let listed = ListedSettings::of(&runs);
        let lines = distinct(runs.iter().map(|run| (run.run.learner(), listed.values(run))));
        let of_line = |learner: &str, key: &[String]| -> Vec<&RunResult> {
            let own = |run: &&&RunResult| run.run.learner() == learner && listed.values(run) == key;
            runs.iter().filter(own).copied().collect()
        };
        let panel = |language: &str| {
            let mut marks = Vec::new();
            for (i, (learner, key)) in lines.iter().enumerate() {
                let own = of(&of_line(learner, key), language, learner);
                let own = own.iter().map(|run| over(run, &PAIR_ACCURACY_SUM, length)).collect();
                marks.extend(Mark::of_runs(i, own));
            }
            let own: Vec<&RunResult> =
                runs.iter().copied().filter(|run| run.run.language() == language).collect();
            marks.extend(own.first().and_then(|run| longest_trained(run)).map(Mark::Vertical));
            panel(language, "length (symbols)", chance(&own, &PAIR_ACCURACY_SUM), marks)
        };
        let panels: Vec<Panel> =
            distinct(runs.iter().map(|run| run.run.language())).into_iter().filter_map(panel).collect();
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
    };
    groups(results).into_iter().filter_map(figure).collect()
}

/// How the lines across a panel are read.
pub(crate) const FIGURE_NOTE: &str = "Dashed upright: the longest training string. Dashed across: chance on these very pairs, a fair coin on all pairs of two different strings.";

/// A panel of accuracies; `None` without marks.
pub(crate) fn panel(title: &str, x: &'static str, chance: f64, marks: Vec<Mark>) -> Option<Panel> {
    Panel::fitted(title, (x, "accuracy"), 1.0, chance, marks)
}

/// The chance level of the pairs of some runs, both splits together; one half if it is not known.
pub(crate) fn chance(runs: &[&RunResult], metric: &Metric) -> f64 {
    let of = |run: &&RunResult| {
        let all = SPLITS.map(|split| run.whole(split, metric.name));
        let known = all.into_iter().flatten().filter_map(|m| Some((m.chance?, m.denominator?)));
        let (sum, pairs) = known.fold((0.0, 0.0), |(sum, all), (chance, n)| (sum + chance * n, all + n));
        (pairs > 0.0).then(|| sum / pairs)
    };
    runs.iter().find_map(of).unwrap_or(0.5)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wug_score::metric::pair_accuracy;
    use wug_score::pairs::{PairComparison as Comparison, Ties};
    use wug_score::{Coordinates, Ending, Run, Totals};

    use super::*;

    fn run(learner: &str, size: Option<usize>, rate: Option<f64>, accuracy: f64) -> RunResult {
        let totals = |x: f64| Totals { numerator: x, denominator: 1.0, n: 1 };
        let metric = pair_accuracy(Comparison::Sum, Ties::Wrong);
        let measured = |split: &str| {
            [metric.measured(totals(accuracy), Some(7.0 / 15.0)), PAIR_CEILING.measured(totals(0.8), None)]
                .map(|score| Measurement::new(split, Stratum::All, &score))
        };
        let mut plan = json!({ "settings": {} });
        if let Some(size) = size {
            plan["size"] = size.into();
        }
        if let Some(rate) = rate {
            plan["settings"]["learning_rate"] = rate.into();
            plan["varied"] = json!(["learning_rate"]);
        }
        RunResult {
            format: wug_score::FORMAT,
            run: Run {
                plan: format!("{learner}{size:?}{rate:?}"),
                protocol: PROTOCOL.to_owned(),
                coordinates: Coordinates::default()
                    .with("language", "parity")
                    .with("learner", learner)
                    .with_some("size", size),
                seed: 0,
                reading: Reading::Corrected,
                version: String::new(),
                build: String::new(),
                instructions: String::new(),
                data_hash: String::new(),
            },
            plan,
            ending: Ending::Finished,
            parameters: size,
            data: Json::Null,
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
        let all: Vec<&RunResult> = all.iter().collect();
        let table = &tables(&all)[0];
        assert_eq!(table.keys, ["language", "size", "learning_rate", "split"]);
        let keys: Vec<String> = table.rows.iter().map(|row| row.keys[1..3].join(" ")).collect();
        assert_eq!(
            keys,
            ["4000 0.1", "4000 0.1", "16000 0.1", "16000 0.1", "16000 0.2", "16000 0.2", " ", " "]
        );
        assert!((chance(&all, &PAIR_ACCURACY_SUM) - 7.0 / 15.0).abs() < 1e-12);
    }
}
