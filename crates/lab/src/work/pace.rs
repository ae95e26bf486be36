//! How far a sweep has come, and about how long the rest will take.
//!
//! Costs of runs can be compared within a protocol only, so each protocol has a rate of its own: seconds per cost, as measured in the
//! runs that this process has finished.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Progress, TimeLeft};
use crate::LabError;
use crate::sweep::{PlannedRun, Sweep};

/// What runs cost, summed by protocol.
type Costs = BTreeMap<&'static str, f64>;

/// What there was to do when work began, and what this process has done since.
pub(super) struct Pace {
    begun: Instant,
    open: Costs,
    own: Mutex<OwnRuns>,
}

/// The runs of this process.
#[derive(Default)]
struct OwnRuns {
    /// Cost and seconds of finished runs, summed by protocol.
    finished: BTreeMap<&'static str, (f64, f64)>,
    /// Runs in progress by worker, and when they began.
    running: BTreeMap<usize, (Priced, Instant)>,
}

/// A run with its cost.
#[derive(Clone, Debug)]
struct Priced {
    id: String,
    protocol: &'static str,
    cost: f64,
}

impl Priced {
    fn of(run: &PlannedRun) -> Self {
        Self { id: run.id.clone(), protocol: run.plan.protocol(), cost: run.plan.estimate.cost }
    }
}

/// The costs of runs, summed by protocol.
fn costs(runs: &[Priced]) -> Costs {
    let mut costs = Costs::new();
    for run in runs {
        *costs.entry(run.protocol).or_default() += run.cost;
    }
    costs
}

impl OwnRuns {
    /// A worker's run has ended.
    fn run_ended(&mut self, worker: usize, now: Instant) {
        if let Some((run, begun)) = self.running.remove(&worker) {
            let (costs, seconds) = self.finished.entry(run.protocol).or_default();
            *costs += run.cost;
            *seconds += seconds_since(begun, now);
        }
    }

    /// Seconds of one worker per cost, once a run of the protocol is finished.
    fn rate(&self, protocol: &str) -> Option<f64> {
        let &(cost, seconds) = self.finished.get(protocol)?;
        (cost > 0.0).then(|| seconds / cost)
    }

    /// About how many seconds runs of these costs take, without those of protocols of which no run is finished.
    fn seconds(&self, costs: &Costs) -> f64 {
        costs.iter().filter_map(|(protocol, cost)| Some(cost * self.rate(protocol)?)).sum()
    }

    /// About how many seconds a run takes, if it is as fast as the finished ones of its protocol.
    fn takes(&self, run: &Priced) -> Option<f64> {
        Some(run.cost * self.rate(run.protocol)?)
    }

    /// About how many seconds of the runs in progress are done, no more than they take.
    fn partly_done(&self, now: Instant) -> f64 {
        let done = |(run, begun): &(Priced, Instant)| Some(self.takes(run)?.min(seconds_since(*begun, now)));
        self.running.values().filter_map(done).sum()
    }

    /// About how many seconds the longest of these runs has before it: no number of workers is done sooner.
    fn longest(&self, open: &[Priced], now: Instant) -> f64 {
        let spent = |run: &Priced| {
            let running = self.running.values().find(|(running, _)| running.id == run.id);
            running.map_or(0.0, |(_, begun)| seconds_since(*begun, now))
        };
        open.iter().filter_map(|run| Some(self.takes(run)? - spent(run))).fold(0.0, f64::max)
    }

    /// How long the open runs take, if those of the cost `done` took so long.
    fn left(&self, elapsed: Duration, done: &Costs, open: &[Priced], now: Instant) -> TimeLeft {
        let work = left(elapsed, self.seconds(done), self.partly_done(now), self.seconds(&costs(open)));
        let time = work.max(Duration::try_from_secs_f64(self.longest(open, now)).unwrap_or(Duration::MAX));
        TimeLeft { time, at_least: open.iter().any(|run| self.rate(run.protocol).is_none()) }
    }
}

impl Pace {
    pub(super) fn begin(sweep: &Sweep) -> Result<Self, LabError> {
        Ok(Self { begun: Instant::now(), open: costs(&open(sweep)?), own: Mutex::default() })
    }

    /// A worker begins a run.
    pub(super) fn run_begins(&self, worker: usize, run: &PlannedRun) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.running.insert(worker, (Priced::of(run), Instant::now()));
    }

    /// A worker's run has ended. Gives how far all workers on the sweep have come together.
    pub(super) fn run_ended(&self, worker: usize, sweep: &Sweep) -> Result<Progress, LabError> {
        // From the directory, because other processes finish runs too; before the lock, because listing it takes a while.
        let open = open(sweep)?;
        let still = costs(&open);
        let done =
            |(&protocol, cost): (&&'static str, &f64)| (protocol, cost - still.get(protocol).unwrap_or(&0.0));
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        own.run_ended(worker, now);
        let left =
            own.left(now.duration_since(self.begun), &self.open.iter().map(done).collect(), &open, now);
        let total = sweep.runs.len();
        Ok(Progress { done: total - open.len(), total, left })
    }
}

fn seconds_since(begun: Instant, now: Instant) -> f64 {
    now.duration_since(begun).as_secs_f64()
}

/// The runs that have no result yet.
fn open(sweep: &Sweep) -> Result<Vec<Priced>, LabError> {
    let ended = sweep.ended()?;
    Ok(sweep.runs.iter().filter(|run| !ended.contains(&run.id)).map(Priced::of).collect())
}

/// How long `open` seconds of work take, of which `partly` are done already, if `done` seconds of it took so long: several workers,
/// here and in other processes, work at the same time. Without `partly`, the first of several runs at a time to end would announce as
/// many times the true rest.
fn left(elapsed: Duration, done: f64, partly: f64, open: f64) -> Duration {
    // With nothing done yet, the quotient is huge and not 0/0.
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

    fn priced(id: &str, protocol: &'static str, cost: f64) -> Priced {
        Priced { id: id.to_owned(), protocol, cost }
    }

    #[test]
    fn runs_in_progress_are_as_fast_as_finished_ones_and_never_more_than_done() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut own = OwnRuns::default();
        for (worker, cost) in [6.0, 5.0, 90.0].into_iter().enumerate() {
            own.running.insert(worker, (priced("", "pairs", cost), begun));
        }
        own.running.insert(3, (priced("", "speed", 1.0), begun));
        let partly_done = |own: &OwnRuns, seconds, expected: f64| {
            let found = own.partly_done(after(seconds));
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        };
        partly_done(&own, 3, 0.0);
        // A cost of 6 in 3 seconds: that of 5 takes 2.5, that of 90 takes 45. Nothing is known of the other protocol.
        own.run_ended(0, after(3));
        partly_done(&own, 3, 2.5 + 3.0);
        partly_done(&own, 10, 2.5 + 10.0);
        // A worker without a run ends none.
        own.run_ended(0, after(10));
        partly_done(&own, 10, 2.5 + 10.0);
    }

    /// The estimate after so many seconds since `begun`, rounded.
    fn left_after(
        own: &OwnRuns,
        begun: Instant,
        seconds: u64,
        done: &[(&'static str, f64)],
        open: &[Priced],
    ) -> (f64, bool) {
        let elapsed = Duration::from_secs(seconds);
        let done = done.iter().copied().collect();
        let TimeLeft { time, at_least } = own.left(elapsed, &done, open, begun + elapsed);
        (time.as_secs_f64().round(), at_least)
    }

    /// What a protocol calls a cost of a million may take another a second: each has a rate of its own.
    #[test]
    fn protocols_have_rates_of_their_own() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut own = OwnRuns::default();
        own.running.insert(0, (priced("a", "recognition", 1e6), begun));
        own.run_ended(0, after(10));
        let [b, c] = ["b", "c"].map(|id| priced(id, "recognition", 1e6));
        let [d, e, f] = ["d", "e", "f"].map(|id| priced(id, "pairs", 10.0));
        // Two more of ten seconds; how long the others take is not known.
        let open = [b.clone(), c.clone(), d.clone(), e.clone(), f.clone()];
        assert_eq!(left_after(&own, begun, 10, &[("recognition", 1e6)], &open), (20.0, true));
        own.running.insert(0, (d, after(10)));
        own.run_ended(0, after(15));
        let done = [("recognition", 1e6), ("pairs", 10.0)];
        assert_eq!(left_after(&own, begun, 15, &done, &[b, c, e.clone(), f.clone()]), (30.0, false));
        // All of one protocol are over.
        let done = [("recognition", 3e6), ("pairs", 10.0)];
        assert_eq!(left_after(&own, begun, 35, &done, &[e, f]), (10.0, false));
    }

    /// Two runs at a time, each 40 seconds: the third alone takes 40 more, and 30 when it has run for ten.
    #[test]
    fn the_rest_takes_as_long_as_the_longest_run() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut own = OwnRuns::default();
        let [a, b, c] = ["a", "b", "c"].map(|id| priced(id, "pairs", 7.0));
        own.running.extend([(0, (a, begun)), (1, (b, begun))]);
        own.run_ended(0, after(40));
        own.run_ended(1, after(40));
        let open = [c.clone()];
        assert_eq!(left_after(&own, begun, 40, &[("pairs", 14.0)], &open), (40.0, false));
        own.running.insert(0, (c, after(40)));
        assert_eq!(left_after(&own, begun, 50, &[("pairs", 14.0)], &open), (30.0, false));
    }
}
