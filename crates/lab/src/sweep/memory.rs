//! Whether the runs of a sweep fit into the memory of this machine, by their own estimates.

use std::fs;

use super::PlannedRun;
use crate::LabError;

/// The share of the memory that one run may ask for: estimates are right to a small factor, and others need some too.
const SHARE: f64 = 0.9;

/// Refuses a sweep with a run that needs more memory than there is, and says how much.
pub(super) fn must_fit(runs: &[PlannedRun], available: Option<f64>) -> Result<(), LabError> {
    let Some(available) = available else { return Ok(()) };
    // Only the largest run: how many will run at a time is not known here, and fewer workers can do them all.
    let largest = runs.iter().max_by(|a, b| a.plan.estimate.memory.total_cmp(&b.plan.estimate.memory));
    match largest {
        Some(run) if run.plan.estimate.memory > SHARE * available => Err(LabError::Usage(format!(
            "{} needs about {} of memory, but this machine has {}: make its sizes smaller",
            run.plan.label(),
            shown(run.plan.estimate.memory),
            shown(available)
        ))),
        _ => Ok(()),
    }
}

/// The memory of this machine, or of the control group that the process is confined to; unknown where the system does not
/// say.
pub(super) fn available() -> Option<f64> {
    let number = |text: &str| text.split_whitespace().find_map(|word| word.parse::<f64>().ok());
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        Some(1024.0 * number(line)?)
    });
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| number(&text));
    // In a container, the machine has more memory than the process may use.
    [total, group].into_iter().flatten().reduce(f64::min)
}

fn shown(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{BUILT_IN, Experiment, Scale, fixtures};

    fn planned(name: &str, text: &str, scale: Scale) -> Vec<PlannedRun> {
        let runs = Experiment::read(name, "x.toml", text, scale, &fixtures(name)).unwrap().runs;
        runs.iter().map(PlannedRun::new).collect()
    }

    #[test]
    fn a_run_that_needs_more_memory_than_there_is_is_refused_with_the_numbers() {
        for (section, label) in [
            (
                "[[generalization]]\nlanguages = \"an-bn\"\nlearners = \"lstm\"\nhidden = [8, 11000]",
                "an-bn lstm (484,",
            ),
            (
                "[[recognition]]\nlanguages = \"parity\"\ndata.training = 10000000\ndata.short = 4000\ndata.long = 4000\ndata.longest = 4000",
                "parity ",
            ),
        ] {
            let runs = planned("x", &format!("title = \"x\"\n{section}"), Scale::Paper);
            let error = must_fit(&runs, Some(24e9)).unwrap_err().to_string();
            assert!(error.starts_with(label) && error.contains("this machine has 24.0 GB"), "{error}");
            assert!(must_fit(&runs, None).is_ok());
        }
    }

    #[test]
    fn the_built_in_experiments_fit_into_four_gigabytes() {
        for (name, text) in BUILT_IN {
            for scale in Scale::ALL {
                assert!(must_fit(&planned(name, text, scale), Some(4e9)).is_ok(), "{name} {}", scale.name());
            }
        }
    }
}
