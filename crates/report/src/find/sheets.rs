//! Which table and row of the paper a run belongs to.

use super::NAME;
use super::published::has_row;
use super::runs::PreferenceRun;
use crate::cells::PaperCells;

/// The settings that the appendix varies, each in a table of its own.
const VARIED: [(&str, &str); 4] = [("3", "layers"), ("4", "hidden"), ("5", "embedding"), ("6", "dropout")];

/// The seeds of Tables 1 and 2.
pub(super) const MAIN_SEEDS: usize = 100;

/// A family of tasks: its name, the parameter that Table 1 varies, and the letter of its tables.
struct TaskFamily {
    name: &'static str,
    parameter: &'static str,
    letter: &'static str,
}

const FAMILIES: [TaskFamily; 6] = [
    TaskFamily { name: "count-or-memorization", parameter: "length", letter: "a" },
    TaskFamily { name: "add-or-multiply", parameter: "length", letter: "b" },
    TaskFamily { name: "hierarchical-or-linear", parameter: "depth", letter: "c" },
    TaskFamily { name: "composition-or-memorization", parameter: "shown", letter: "d" },
    // These have tables to themselves.
    TaskFamily { name: "multiply-by-3", parameter: "length", letter: "" },
    TaskFamily { name: "scan", parameter: "", letter: "" },
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
            // 100 seeds and p < 10⁻³ in the main tables, 20 seeds and p < 10⁻² in the appendix.
            Self::Printed(id, _) if !["3", "4", "5", "6", "8", "C"].iter().any(|n| id.starts_with(n)) => 1e-3,
            _ => 1e-2,
        }
    }

    /// How many seeds the paper's values are of.
    pub(super) fn seeds(&self) -> usize {
        match self {
            Self::Printed(..) if self.is_accuracy() => 10,
            // Only the main tables have the stricter level, and they alone have 100 seeds.
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
pub(super) fn places(cells: &PaperCells<'_>, run: PreferenceRun<'_>) -> Vec<Place> {
    let found = printed(cells, run);
    if found.is_empty() {
        return vec![Place {
            sheet: Sheet::Other(run.task().to_owned()),
            key: "",
            value: String::new(),
            base: false,
        }];
    }
    found
}

/// The places of a run that is as in the paper: those of its recipe's table, and the tables of the appendix of which it is a base line.
fn printed(cells: &PaperCells<'_>, run: PreferenceRun<'_>) -> Vec<Place> {
    let cell = run.run.cell().filter(|cell| run.run.is_as_in_paper() && cell.learner() == run.learner());
    let Some((cell, family)) = cell.zip(FAMILIES.iter().find(|family| family.name == run.family())) else {
        return Vec::new();
    };
    if cell.table() == "figure-3" {
        let value = run.parameter("shown").unwrap_or_default().to_owned();
        return vec![Place { sheet: Sheet::Growth, key: "shown", value, base: false }];
    }
    let own = row(run, family, cell.table(), false);
    let of_appendix = |(table, _): &&(&str, &str)| {
        // Only tasks that the appendix varies: Table 1 has other lengths too.
        cell.table() == "1" && cells.has_subject(&format!("{NAME}/{table}"), run.task())
    };
    let base = VARIED.iter().filter(of_appendix).filter_map(|(table, _)| row(run, family, table, true));
    own.into_iter().chain(base).collect()
}

/// The row of a run in a table; `None` if the paper has none.
fn row(run: PreferenceRun<'_>, family: &TaskFamily, table: &str, base: bool) -> Option<Place> {
    let varied = VARIED.iter().find(|(varied, _)| *varied == table).map(|(_, setting)| *setting);
    let (key, value) = match (table, varied) {
        (_, Some(setting)) => (setting, run.setting(setting)?.to_string()),
        ("7" | "D", _) => {
            run.setting("kernel").map_or(("", "-".to_owned()), |kernel| ("kernel", kernel.to_string()))
        }
        ("8" | "C", _) => ("", "-".to_owned()),
        _ => (family.parameter, run.parameter(family.parameter)?.to_owned()),
    };
    let id = format!("{table}{}", family.letter);
    // Appendix C is in words alone.
    let is_printed = table == "C" || has_row(&id, &value, run.learner());
    is_printed.then_some(Place { sheet: Sheet::Printed(id, family.name), key, value, base })
}
