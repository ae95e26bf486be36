//! The corpus of a search, laid out for evaluation: distinct strings side by side in lanes, each prefix that strings share
//! evaluated and counted once.

use super::score::ceil_log2;

/// Strings that are evaluated side by side: a register of doubles has four, and two registers hide the latency.
pub(super) const LANES: usize = 4;

/// The value of one unit for each string of a group.
pub(super) type Lanes = [f64; LANES];

/// A prefix that must predict a symbol so many times.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneTarget {
    pub(super) lane: u8,
    pub(super) symbol: u16,
    pub(super) count: f64,
}

/// A step of a group.
#[derive(Clone, Debug)]
pub(super) struct GroupStep {
    /// Where its inputs are: one-hot, a vector of lanes for each input.
    pub(super) inputs: usize,
    /// What must be predicted.
    pub(super) targets: std::ops::Range<usize>,
    /// Later groups that go on from here: the lane to copy, and where to.
    pub(super) forks: std::ops::Range<usize>,
}

/// A lane whose memory a later group starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fork {
    pub(super) lane: u8,
    pub(super) slot: u32,
}

/// Strings that are evaluated side by side.
#[derive(Clone, Debug)]
pub(super) struct LaneGroup {
    /// The fork that it starts from; none if it starts at the beginning.
    pub(super) slot: Option<u32>,
    /// How many steps were made before.
    pub(super) first: usize,
    pub(super) steps: Vec<GroupStep>,
}

/// A corpus of strings, laid out for evaluation.
#[derive(Clone, Debug)]
pub struct LaneCorpus {
    pub(super) vocabulary: usize,
    pub(super) groups: Vec<LaneGroup>,
    pub(super) targets: Vec<LaneTarget>,
    pub(super) forks: Vec<Fork>,
    pub(super) inputs: Vec<Lanes>,
    /// The steps at which the released code rejects early.
    pub(super) early: usize,
}

impl LaneCorpus {
    /// Distinct strings between boundaries, with their weights.
    pub fn new(strings: &[(Vec<u32>, f64)], vocabulary: usize) -> Self {
        let mut sorted: Vec<&(Vec<u32>, f64)> =
            strings.iter().filter(|(symbols, _)| symbols.len() > 1).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        let longest = sorted.iter().map(|(symbols, _)| symbols.len() - 1).max().unwrap_or(0);
        let mut corpus = Self {
            vocabulary,
            groups: Vec::new(),
            targets: Vec::new(),
            forks: Vec::new(),
            inputs: Vec::new(),
            early: ceil_log2(longest),
        };
        // For each step of each group, the forks that leave it.
        let mut forks: Vec<Vec<Vec<Fork>>> = Vec::new();
        // Sorted strings with a common prefix are neighbours. A group starts where all its strings have left
        // the string before it: what they share with that one is computed there and copied here.
        for (g, rows) in sorted.chunks(LANES).enumerate() {
            let first = if g == 0 { 0 } else { common(rows, &sorted[g * LANES - 1].0) };
            let slot = (first > 0).then(|| {
                let slot = forks.iter().flatten().map(Vec::len).sum::<usize>() as u32;
                // The last string before this group goes through the same prefix, in its own group or in one before.
                let mut row = g * LANES - 1;
                while corpus.groups[row / LANES].first >= first {
                    row = row / LANES * LANES - 1;
                }
                let step = first - 1 - corpus.groups[row / LANES].first;
                forks[row / LANES][step].push(Fork { lane: (row % LANES) as u8, slot });
                slot
            });
            let steps = corpus.steps(rows, first, &sorted, g * LANES);
            forks.push(vec![Vec::new(); steps.len()]);
            corpus.groups.push(LaneGroup { slot, first, steps });
        }
        for (group, forks) in corpus.groups.iter_mut().zip(forks) {
            for (step, forks) in group.steps.iter_mut().zip(forks) {
                let start = corpus.forks.len();
                corpus.forks.extend(forks);
                step.forks = start..corpus.forks.len();
            }
        }
        corpus
    }

    /// The steps of a group from a depth on.
    fn steps(
        &mut self,
        rows: &[&(Vec<u32>, f64)],
        first: usize,
        sorted: &[&(Vec<u32>, f64)],
        offset: usize,
    ) -> Vec<GroupStep> {
        let longest = rows.iter().map(|(symbols, _)| symbols.len() - 1).max().unwrap_or(0);
        let mut steps = Vec::new();
        for depth in first..longest {
            let inputs = self.inputs.len();
            self.inputs.resize(inputs + self.vocabulary, [0.0; LANES]);
            let start = self.targets.len();
            for (lane, (symbols, _)) in rows.iter().enumerate() {
                if depth + 1 >= symbols.len() {
                    continue;
                }
                self.inputs[inputs + symbols[depth] as usize][lane] = 1.0;
                let prefix = &symbols[..=depth];
                let row = offset + lane;
                // A prefix belongs to the first string that has it.
                if row > 0 && sorted[row - 1].0.starts_with(prefix) && sorted[row - 1].0.len() > depth + 1 {
                    continue;
                }
                self.add_targets(prefix, lane, &sorted[row..]);
            }
            steps.push(GroupStep { inputs, targets: start..self.targets.len(), forks: 0..0 });
        }
        steps
    }

    /// What follows a prefix, and how often.
    fn add_targets(&mut self, prefix: &[u32], lane: usize, rows: &[&(Vec<u32>, f64)]) {
        let start = self.targets.len();
        for (symbols, weight) in rows.iter().take_while(|(symbols, _)| symbols.starts_with(prefix)) {
            let Some(&next) = symbols.get(prefix.len()) else { continue };
            match self.targets[start..].iter_mut().find(|target| u32::from(target.symbol) == next) {
                Some(target) => target.count += weight,
                None => {
                    self.targets.push(LaneTarget { lane: lane as u8, symbol: next as u16, count: *weight });
                }
            }
        }
    }
}

/// How many symbols all these strings share with another, which comes before them.
fn common(rows: &[&(Vec<u32>, f64)], before: &[u32]) -> usize {
    let shared = |row: &(Vec<u32>, f64)| row.0.iter().zip(before).take_while(|(a, b)| a == b).count();
    // A last symbol is never an input.
    let inputs = before.len() - 1;
    rows.iter().map(|row| shared(row).min(row.0.len() - 1)).min().unwrap_or(0).min(inputs)
}
