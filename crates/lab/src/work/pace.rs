//! How far a sweep has come, and about how long the rest will take.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Progress;
use crate::LabError;
use crate::sweep::{PlannedRun, Sweep};

/// What there was to do when work began, and what this process has done since.
pub(super) struct Pace {
    begun: Instant,
    open: f64,
    own: Mutex<OwnRuns>,
}

/// The runs of this process.
#[derive(Default)]
struct OwnRuns {
    /// Cost and seconds of finished runs, summed.
    cost: f64,
    seconds: f64,
    /// Runs in progress by worker: their cost and when they began.
    running: BTreeMap<usize, (f64, Instant)>,
}

impl OwnRuns {
    /// A worker's run has ended.
    fn run_ended(&mut self, worker: usize, now: Instant) {
        if let Some((cost, begun)) = self.running.remove(&worker) {
            self.cost += cost;
            self.seconds += now.duration_since(begun).as_secs_f64();
        }
    }

    /// About how much of the cost of the runs in progress is done, if they are as fast as the finished ones.
    fn partly_done(&self, now: Instant) -> f64 {
        let rate = self.cost / self.seconds.max(f64::MIN_POSITIVE);
        let done = |(cost, begun): &(f64, Instant)| cost.min(rate * now.duration_since(*begun).as_secs_f64());
        self.running.values().map(done).sum()
    }
}

impl Pace {
    pub(super) fn begin(sweep: &Sweep) -> Result<Self, LabError> {
        Ok(Self { begun: Instant::now(), open: open(sweep)?.1, own: Mutex::default() })
    }

    /// A worker begins a run.
    pub(super) fn run_begins(&self, worker: usize, run: &PlannedRun) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.running.insert(worker, (run.plan.cost(), Instant::now()));
    }

    /// A worker's run has ended. Gives how far all workers on the sweep have come together.
    pub(super) fn run_ended(&self, worker: usize, sweep: &Sweep) -> Result<Progress, LabError> {
        let (runs, open) = open(sweep)?;
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        own.run_ended(worker, now);
        let left = left(now.duration_since(self.begun), self.open - open, own.partly_done(now), open);
        let total = sweep.runs.len();
        Ok(Progress { done: total - runs, total, left })
    }
}

/// How many runs have no result yet, and what they cost.
fn open(sweep: &Sweep) -> Result<(usize, f64), LabError> {
    let ended = sweep.ended()?;
    let open = sweep.runs.iter().filter(|run| !ended.contains(&run.id));
    Ok(open.fold((0, 0.0), |(runs, cost), run| (runs + 1, cost + run.plan.cost())))
}

/// How long the `open` cost takes, of which `partly` is done already, if the work so far took so long. Without `partly`, the
/// first of several runs at a time to end would announce as many times the true rest.
fn left(elapsed: Duration, done: f64, partly: f64, open: f64) -> Duration {
    let done = (done + partly).max(f64::MIN_POSITIVE);
    let left = elapsed.as_secs_f64() * (open - partly).max(0.0) / done;
    Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_in_progress_count_as_far_as_they_are() {
        let hour = Duration::from_hours(1);
        // Two of eight equal runs at a time, each an hour. The first ends just before the second: three more hours.
        assert_eq!(left(hour, 1.0, 1.0, 7.0), 3 * hour);
        // The same with one at a time: seven more.
        assert_eq!(left(hour, 1.0, 0.0, 7.0), 7 * hour);
        // The last is nearly done.
        assert_eq!(left(4 * hour, 7.0, 1.0, 1.0), Duration::ZERO);
        // Another process finished a run that was open here.
        assert_eq!(left(hour, 0.0, 2.0, 1.0), Duration::ZERO);
        assert_eq!(left(hour, 0.0, 0.0, 1.0), Duration::MAX);
    }

    #[test]
    fn runs_in_progress_are_as_fast_as_finished_ones_and_never_more_than_done() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut own = OwnRuns::default();
        for (worker, cost) in [6.0, 5.0, 90.0].into_iter().enumerate() {
            own.running.insert(worker, (cost, begun));
        }
        let partly_done = |own: &OwnRuns, seconds, expected: f64| {
            let found = own.partly_done(after(seconds));
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        };
        partly_done(&own, 3, 0.0);
        own.run_ended(0, after(3));
        partly_done(&own, 3, 5.0 + 6.0);
        partly_done(&own, 10, 5.0 + 20.0);
        // A worker without a run ends none.
        own.run_ended(0, after(10));
        partly_done(&own, 10, 5.0 + 20.0);
    }
}
