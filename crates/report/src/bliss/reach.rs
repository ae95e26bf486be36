//! Figure 3: how far strings are solved, against how many were learned from.

use std::collections::{BTreeMap, BTreeSet};

use wug_score::strata::Margin;

use super::detail::reach;
use super::group::{Group, TrialsByRow, VaryingColumns, margins};
use super::trial::Trial;
use crate::plot::{Figure, Mark, Panel, drawing};
use crate::table::{Cell, Column, Decimals, Row, Table, Value, distinct};

/// Languages whose strings are in the order of one number n, and how many symbols each n adds.
const COUNTING: [(&str, usize); 3] = [("an-bn", 2), ("an-bn-cn", 3), ("an-bn-cn-dn", 4)];
/// The row of what was learned from.
const SEEN: &str = "seen in training";

/// The trials whose tests begin with the shortest string, and the strictest margin of theirs.
fn trials<'a>(group: &Group<'a>) -> Option<(TrialsByRow<'a>, Margin)> {
    let places = group.places(|trial| trial.is_from_first() && trial.training().is_some());
    let strictest = *margins(&places).last()?;
    Some((places, strictest))
}

/// By how many strings were learned from.
fn by_size<'a>(trials: &[Trial<'a>]) -> BTreeMap<usize, Vec<Trial<'a>>> {
    let mut sizes: BTreeMap<usize, Vec<Trial<'a>>> = BTreeMap::new();
    for trial in trials {
        sizes.entry(trial.training().unwrap_or(0)).or_default().push(*trial);
    }
    sizes
}

/// The trials of each row, and of each language and setting all of them for the row of what was learned from.
fn with_seen<'a>(places: &TrialsByRow<'a>) -> TrialsByRow<'a> {
    let mut rows = places.clone();
    for (place, trials) in places {
        rows.entry(place.below_learners(SEEN)).or_default().extend(trials);
    }
    rows
}

/// The largest n that was learned from.
fn largest_seen(trials: &[Trial<'_>]) -> Option<usize> {
    let n = |trial: &Trial<'_>| {
        let (_, symbols) = COUNTING.iter().find(|(language, _)| *language == trial.result.run.language)?;
        Some(trial.longest_seen()? / symbols)
    };
    trials.iter().filter_map(n).max()
}

fn seen(trials: &[Trial<'_>]) -> Option<Value> {
    largest_seen(trials).map(|n| Value::number(n as f64, Decimals(0)))
}

/// The figure as a table; `None` without trials from the first string on.
pub(super) fn table(group: &Group<'_>) -> Option<Table> {
    let (places, margin) = trials(group)?;
    let told = VaryingColumns::of(&places);
    let sizes: BTreeSet<usize> = places.values().flat_map(|trials| by_size(trials).into_keys()).collect();
    let title = format!("{}, as a table", title(group));
    let mut table = group.blank(name(group), &title, &["language", "learner"]);
    table.keys.extend(told.names());
    table.columns = sizes.iter().map(|size| Column::of("strings learned from", size.to_string())).collect();
    table.rows = with_seen(&places)
        .into_iter()
        .map(|(place, trials)| {
            let keys = [place.language, place.learner].map(str::to_owned).into_iter();
            let by_size = by_size(&trials);
            let of = |size: &usize| by_size.get(size).map_or(&[][..], Vec::as_slice);
            let cell = |size: &usize| match place.learner {
                SEEN => Cell { ours: seen(of(size)), ..Cell::default() },
                _ => Cell { ours: reach(of(size), margin), n: Some(of(size).len()), ..Cell::default() },
            };
            Row { keys: keys.chain(told.values(&place)).collect(), cells: sizes.iter().map(cell).collect() }
        })
        .collect();
    table.notes.extend(notes(group, margin));
    table.notes.push("In brackets the number of runs, of which the best is shown.".to_owned());
    table.notes.extend(told.note());
    Some(table)
}

/// The table in short.
pub(super) fn headline(group: &Group<'_>) -> Option<Table> {
    let (_, margin) = trials(group)?;
    let table = table(group)?;
    Some(Table { notes: notes(group, margin), ..table }.compact())
}

/// The figure, a panel per language; `None` without trials from the first string on.
pub(super) fn figure(group: &Group<'_>) -> Option<Figure> {
    let (places, margin) = trials(group)?;
    let learners = distinct(places.keys().map(|place| place.learner));
    let languages = distinct(places.keys().map(|place| place.language));
    let panels: Vec<Panel> =
        languages.into_iter().filter_map(|language| panel(language, &learners, &places, margin)).collect();
    let series: Vec<String> = learners.iter().map(|&learner| learner.to_owned()).collect();
    let title = format!("{} ({} reading)", title(group), group.reading);
    let mut notes = notes(group, margin);
    notes.push("A line goes through the best run of a learner, points are its other runs. Crosses: the largest n learned from. Both axes are logarithmic; what solves no string lies at the bottom.".to_owned());
    (!panels.is_empty()).then(|| Figure {
        id: format!("{}-{}-{}-drawn", group.suite, group.reading, name(group)),
        svg: drawing(&title, &series, &panels),
        title,
        notes,
    })
}

fn panel(language: &str, learners: &[&str], places: &TrialsByRow<'_>, margin: Margin) -> Option<Panel> {
    let mut marks = Vec::new();
    let mut crosses: BTreeMap<usize, usize> = BTreeMap::new();
    for (place, trials) in places.iter().filter(|(place, _)| place.language == language) {
        let series = learners.iter().position(|learner| *learner == place.learner)?;
        let (mut line, mut points) = (Vec::new(), Vec::new());
        for (size, trials) in by_size(trials) {
            crosses.extend(largest_seen(&trials).map(|n| (size, n)));
            let mut reached: Vec<f64> = trials.iter().filter_map(|trial| trial.reach(margin)).collect();
            reached.sort_by(f64::total_cmp);
            line.extend(reached.pop().map(|most| (size as f64, most)));
            points.extend(reached.into_iter().map(|other| (size as f64, other)));
        }
        marks.push(Mark::Line { series, points: line, thin: false });
        if !points.is_empty() {
            marks.push(Mark::Points { series, points });
        }
    }
    marks.push(Mark::Crosses(crosses.into_iter().map(|(size, n)| (size as f64, n as f64)).collect()));
    Panel::logarithmic(language, ("strings learned from", "largest n solved"), marks)
}

fn name(group: &Group<'_>) -> &'static str {
    if group.of_paper { "figure-3" } else { "reach" }
}

fn title(group: &Group<'_>) -> String {
    let number = if group.of_paper { "Figure 3: largest" } else { "Largest" };
    format!("{number} n solved against the number of strings learned from")
}

fn notes(group: &Group<'_>, margin: Margin) -> Vec<String> {
    let tested = group.trials.iter().filter(|trial| trial.is_from_first());
    let farthest: BTreeSet<String> = tested.map(|trial| trial.planned("/test/strings")).collect();
    let farthest = farthest.into_iter().collect::<Vec<_>>().join(" or ");
    vec![format!(
        "How many of the language's first {farthest} strings are accepted at ε = {margin} without exception, shortest first: for aⁿbⁿ, up to which n."
    )]
}
