//! Which table and row of the paper a run belongs to.

use serde_json::{Value as Json, json};
use wug_score::Reading;

use super::published::has_row;
use super::runs::PreferenceRun;

/// The learners of the main tables.
const LEARNERS: [&str; 4] = ["lstm", "lstm-attention", "cnn", "transformer"];
/// The settings that the appendix varies, each in a table of its own, with their values everywhere else.
const VARIED: [(&str, &str, f64); 4] =
    [("layers", "3", 1.0), ("hidden", "4", 512.0), ("embedding", "5", 16.0), ("dropout", "6", 0.5)];
/// Settings that are the same in all of these tables, where a learner has them.
const FIXED: [(&str, f64); 2] = [("updates", 3000.0), ("kernel", 3.0)];
/// Settings that are the same in these tables and in those of SCAN.
const FIXED_IN_ALL: [(&str, f64); 5] = [
    ("learning_rate", 1e-3),
    ("initial_learning_rate", 1e-5),
    ("warmup", 1000.0),
    ("clip", 25.0),
    ("heads", 8.0),
];

/// The seeds of Tables 1 and 2.
pub(super) const MAIN_SEEDS: usize = 100;
/// The most symbols of an output.
const MAX_OUTPUT: usize = 200;

/// A family of tasks: its name, what it varies, the letter of its tables, its value in the appendix and the size of its blocks.
struct Family {
    name: &'static str,
    parameter: &'static str,
    letter: &'static str,
    base: &'static str,
    block: f64,
}

const FAMILIES: [Family; 4] = [
    Family { name: "count-or-memorization", parameter: "length", letter: "a", base: "40", block: 1.0 },
    Family { name: "add-or-multiply", parameter: "length", letter: "b", base: "20", block: 1.0 },
    Family { name: "hierarchical-or-linear", parameter: "depth", letter: "c", base: "4", block: 4.0 },
    Family { name: "composition-or-memorization", parameter: "shown", letter: "d", base: "36", block: 1.0 },
];

/// A table of the paper, or of runs that are not as in the paper.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sheet {
    /// One of the paper, by its number and letter, such as `1a`, of a family of tasks; `Ca` to `Cd` and `D` are what Appendices C (SGD)
    /// and D (random splits of SCAN) say in words.
    Printed(String, &'static str),
    Growth,
    /// Any other run of a task.
    Other(String),
}

/// Where a run belongs: the table, and what its row varies with the value there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) sheet: Sheet,
    pub(super) key: &'static str,
    pub(super) value: String,
    /// Whether the row is a base line that other tables have as well.
    pub(super) base: bool,
}

impl Sheet {
    /// The level of the paper's tests: less strict in the appendix, which has fewer seeds.
    pub(super) fn level(&self) -> f64 {
        match self {
            Self::Printed(id, _) if !["3", "4", "5", "6", "8", "C"].iter().any(|n| id.starts_with(n)) => 1e-3,
            _ => 1e-2,
        }
    }

    /// How many seeds the paper's values are of.
    pub(super) fn seeds(&self) -> usize {
        match self {
            Self::Printed(..) if self.is_accuracy() => 10,
            _ if self.level() < 5e-3 => MAIN_SEEDS,
            _ => 20,
        }
    }

    /// Whether its values are accuracies, not shares of seeds.
    pub(super) fn is_accuracy(&self) -> bool {
        matches!(self, Self::Printed(id, _) if id == "7" || id == "D")
    }

    /// What to know of the paper's values.
    pub(super) fn caveats(&self) -> Vec<&'static str> {
        let Self::Printed(id, _) = self else { return Vec::new() };
        let mut caveats = Vec::new();
        if id == "6c" {
            caveats.push("The paper's L in this table are a quarter of the right values: where Table 1c has the same setting, it has four times as much (the mean of a block of four was not multiplied by its size).");
        }
        if ["3", "4", "5", "6"].iter().any(|n| id.starts_with(n)) {
            caveats.push("The paper's rows with the settings of Table 1 are that table's, of 100 seeds; all others are of 20.");
        }
        if id.starts_with('C') {
            caveats.push("The paper has no table of these runs. It says that the transformer and the convolutional network learned the training pairs of count-or-memorization and add-or-multiply with more than 70 % of seeds and then followed `mem` throughout, that no other learner did, and that most settings were not learned. Beside its optimiser it names no setting; ours are those of Table 1.");
        }
        if id == "D" {
            caveats.push("The paper's values are from its text, which does not say whether its LSTM has attention. Its random split is the published one; ours is drawn.");
        }
        caveats
    }

    /// What the paper calls it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Printed(id, family) if id.starts_with('C') => format!("Appendix C, SGD: {family}"),
            Self::Printed(id, family) if id == "D" => format!("Appendix D, i.i.d.: {family}"),
            Self::Printed(id, family) => format!("Table {id}: {family}"),
            Self::Growth => "Figure 3: nats per example as more examples are shown".to_owned(),
            Self::Other(task) => format!("Preferences in {task}"),
        }
    }

    /// The end of the ids of its tables, fit for an address.
    pub(super) fn id(&self) -> String {
        match self {
            Self::Printed(id, _) => id.clone(),
            Self::Growth => "figure3".to_owned(),
            Self::Other(task) => format!("of-{}", task.replace(|c: char| !c.is_ascii_alphanumeric(), "-")),
        }
    }
}

/// All places of a run, at least one.
pub(super) fn places(run: PreferenceRun<'_>) -> Vec<Place> {
    let found = printed(run);
    if !found.is_empty() {
        return found;
    }
    if is_growth(run) {
        let value = run.parameter("shown").unwrap_or_default().to_owned();
        return vec![Place { sheet: Sheet::Growth, key: "shown", value, base: false }];
    }
    let sheet = Sheet::Other(run.task().to_owned());
    vec![Place { sheet, key: "", value: String::new(), base: false }]
}

/// Composition of 1,000 primitives, all that is held out sent in one block, with the settings of Appendix F.
fn is_growth(run: PreferenceRun<'_>) -> bool {
    const PRIMITIVES: f64 = 1000.0;
    let count = |name: &str| run.parameter(name).and_then(|text| text.parse::<f64>().ok());
    let task = run.family() == "composition-or-memorization" && is(count("primitives"), PRIMITIVES);
    let one_block = count("shown").is_some_and(|shown| is(run.planned("block_size"), PRIMITIVES - shown));
    let layers = if run.learner() == "transformer" { 2.0 } else { 1.0 };
    let sizes = [("layers", layers), ("hidden", 512.0), ("embedding", 64.0), ("dropout", 0.5)];
    let sized = sizes.iter().all(|&(name, value)| is(run.number(name), value));
    task && one_block
        && sized
        && LEARNERS.contains(&run.learner())
        && trained_as_published(run)
        && is_by_adam(run)
}

/// Plans do not say it where it is Adam.
fn is_by_adam(run: PreferenceRun<'_>) -> bool {
    run.setting("optimizer").is_none_or(|name| *name == "adam")
}

/// Whether settings have these values, where the learner has them.
fn has(run: PreferenceRun<'_>, values: &[(&str, f64)]) -> bool {
    values.iter().all(|&(name, value)| run.setting(name).is_none() || is(run.number(name), value))
}

/// Whether all that the tables have in common beside sizes and the optimiser is theirs: how a learner is trained, and what the reading
/// decides.
fn trained_as_published(run: PreferenceRun<'_>) -> bool {
    let all = run.setting("batch").and_then(Json::as_str) == Some("all");
    has(run, &FIXED) && has(run, &FIXED_IN_ALL) && all && output_is_published(run) && is_of_reading(run)
}

/// Whether a run has what its reading decides, with the precision and the data of the tables.
fn is_of_reading(run: PreferenceRun<'_>) -> bool {
    let published = run.result.run.reading == Reading::Published;
    let (state, shortest) = if published { ("carried", 1) } else { ("reset", 0) };
    let plan = &run.result.plan;
    plan["optimizer_state"] == state
        && plan["precision"] == "f32"
        && plan["output"] == json!([shortest, MAX_OUTPUT])
        && plan["data_seed"] == 0
        && run.setting("damped").is_none_or(|damped| *damped == published)
        && run.setting("cross_self_attention").is_none_or(|on| *on == false)
}

fn is(x: Option<f64>, value: f64) -> bool {
    x.is_some_and(|x| (x - value).abs() < 1e-12)
}

fn printed(run: PreferenceRun<'_>) -> Vec<Place> {
    if run.family() == "scan" {
        return scan(run).filter(|_| is_of_reading(run) && is_by_adam(run)).into_iter().collect();
    }
    if !trained_as_published(run) {
        return Vec::new();
    }
    let departures: Vec<(&'static str, &str)> = VARIED
        .iter()
        .filter(|(name, _, value)| !is(run.number(name), *value))
        .map(|&(name, table, _)| (name, table))
        .collect();
    if run.family() == "multiply-by-3" {
        let plain = departures.is_empty() && is(run.planned("block_size"), 1.0) && is_by_adam(run);
        return plain
            .then(|| of(run, "2".to_owned(), "multiply-by-3", "length"))
            .flatten()
            .into_iter()
            .collect();
    }
    let Some(family) = FAMILIES.iter().find(|family| family.name == run.family()) else { return Vec::new() };
    let forty = run.parameter("primitives").is_none_or(|primitives| primitives == "40");
    if !is(run.planned("block_size"), family.block) || !forty {
        return Vec::new();
    }
    let (base, letter) = (run.parameter(family.parameter) == Some(family.base), family.letter);
    let varied = |name: &'static str, table: &str, base: bool| {
        let value = run.number(name)?.to_string();
        let id = format!("{table}{letter}");
        has_row(&id, &value, run.learner()).then(|| {
            let sheet = Sheet::Printed(id, family.name);
            Place { sheet, key: name, value, base }
        })
    };
    match departures[..] {
        // Appendix C has the tasks of the tables of the appendix and the settings of Table 1.
        _ if !is_by_adam(run) => {
            let as_there = departures.is_empty() && base && LEARNERS.contains(&run.learner());
            let sheet = Sheet::Printed(format!("C{letter}"), family.name);
            let place = Place { sheet, key: "", value: "-".to_owned(), base: false };
            as_there.then_some(place).into_iter().collect()
        }
        [("embedding", _)] if run.learner() == "joint-attention" => {
            let as_printed = base && is(run.number("embedding"), 64.0);
            let sheet = Sheet::Printed(format!("8{letter}"), family.name);
            let place = Place { sheet, key: "", value: "-".to_owned(), base: false };
            as_printed.then_some(place).into_iter().collect()
        }
        [] if LEARNERS.contains(&run.learner()) => {
            let main = of(run, format!("1{letter}"), family.name, family.parameter);
            let appendix =
                VARIED.iter().filter(|_| base).filter_map(|&(name, table, _)| varied(name, table, true));
            main.into_iter().chain(appendix).collect()
        }
        [(name, table)] if base => varied(name, table, false).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn of(run: PreferenceRun<'_>, id: String, family: &'static str, parameter: &'static str) -> Option<Place> {
    let value = run.parameter(parameter)?.to_owned();
    has_row(&id, &value, run.learner()).then(|| {
        let sheet = Sheet::Printed(id, family);
        Place { sheet, key: parameter, value, base: false }
    })
}

/// In fairseq, the output layer of an LSTM reads 512 elements and that of a convolutional network 256, whatever the hidden size.
fn output_is_published(run: PreferenceRun<'_>) -> bool {
    match run.learner() {
        "cnn" => is(run.number("output"), 256.0),
        "lstm" | "lstm-attention" => {
            is(run.number("output"), 512.0)
                || (run.number("output").is_none() && is(run.number("hidden"), 512.0))
        }
        _ => true,
    }
}

/// Table 7, and the random split of Appendix D.
fn scan(run: PreferenceRun<'_>) -> Option<Place> {
    const TRAINED: [(&str, f64); 2] = [("updates", 10_000.0), ("dropout", 0.5)];
    let sizes: &[(&str, f64)] = match run.learner() {
        "lstm" | "lstm-attention" => {
            &[("layers", 2.0), ("hidden", 200.0), ("embedding", 32.0), ("batch", 16.0)]
        }
        "cnn" => &[("layers", 5.0), ("embedding", 128.0), ("batch", 16.0)],
        "transformer" => &[("layers", 4.0), ("hidden", 256.0), ("embedding", 64.0), ("batch", 256.0)],
        _ => return None,
    };
    let id = match run.parameter("split")? {
        "jump" => "7",
        "simple" => "D",
        _ => return None,
    };
    let trained = has(run, &TRAINED) && has(run, &FIXED_IN_ALL) && is(run.planned("block_size"), 1024.0);
    let same = sizes.iter().all(|&(name, value)| is(run.number(name), value));
    let kernel = run.number("kernel").map(|kernel| kernel.to_string());
    let (key, value) = kernel.map_or(("", "-".to_owned()), |kernel| ("kernel", kernel));
    let here = trained && same && has_row(id, &value, run.learner());
    here.then(|| Place { sheet: Sheet::Printed(id.to_owned(), "scan"), key, value, base: false })
}
