//! Reservoir cellular automata (Yilmaz 2014): an elementary cellular automaton on a ring, which the input flips cells of.

use wug_dataset::Seed;
use wug_language::draw;

use super::Reservoir;
use super::features::BitRows;
use crate::interface::Sequence;
use crate::kernel::Real;

/// An elementary rule on a ring of cells, 64 cells to a word.
///
/// ```
/// use wug_learner::reservoir::automaton::Ring;
/// // Rule 110 on twelve cells, one of which is on.
/// let (ring, mut state) = (Ring::new(110, 12), vec![1 << 3]);
/// ring.step(&mut state);
/// assert_eq!(state, [0b1100]); // cells 2 and 3
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    cells: usize,
    /// Of each neighbourhood, `4·left + 2·centre + right`, all ones if the cell comes on.
    outcomes: [u64; 8],
}

impl Ring {
    /// A rule in Wolfram's numbering on a ring.
    pub fn new(rule: u8, cells: usize) -> Self {
        let outcomes = std::array::from_fn(|k| if rule >> k & 1 == 1 { u64::MAX } else { 0 });
        Self { cells, outcomes }
    }

    /// Words of a state.
    pub fn words(&self) -> usize {
        self.cells.div_ceil(64)
    }

    /// One step. Bits past the last cell are zero before and after.
    pub fn step(&self, state: &mut [u64]) {
        let last = self.cells - 1;
        let (first_cell, last_cell) = (state[0] & 1, state[last / 64] >> (last % 64) & 1);
        let mut before = last_cell << 63;
        let words = state.len();
        for w in 0..words {
            let centre = state[w];
            let after = if w + 1 < words { state[w + 1] << 63 } else { 0 };
            // 64 cells at once: the neighbours of all of them are the word shifted by one, with a bit of the word beside it
            // or, where the ring closes, of its other end.
            let left = centre << 1 | before >> 63;
            let mut right = centre >> 1 | after;
            if w == last / 64 {
                right |= first_cell << (last % 64);
            }
            before = centre;
            state[w] = self.outcome(left, centre, right);
        }
        state[last / 64] &= u64::MAX >> (63 - last % 64);
    }

    #[inline]
    fn outcome(&self, left: u64, centre: u64, right: u64) -> u64 {
        // The rule as a tree of selections: eight outcomes, by the right cell, the centre and the left one.
        let by_right = |k: usize| self.outcomes[k] & !right | self.outcomes[k + 1] & right;
        let by_centre = |k: usize| by_right(k) & !centre | by_right(k + 2) & centre;
        by_centre(0) & !left | by_centre(4) & left
    }
}

/// The size of a reservoir, as settings say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutomatonSpec {
    /// The rule, in Wolfram's numbering.
    pub rule: u8,
    /// Segments of the ring; a symbol flips one cell of each.
    pub redundancy: usize,
    pub projection: usize,
    /// Steps per symbol; the states after each are features.
    pub iterations: usize,
}

impl AutomatonSpec {
    /// Cells of the ring.
    pub fn cells(&self) -> usize {
        self.redundancy * self.projection
    }

    pub fn width(&self) -> usize {
        self.cells() * self.iterations
    }
}

/// A cellular automaton with its input map.
#[derive(Clone, Debug)]
pub struct Automaton {
    spec: AutomatonSpec,
    ring: Ring,
    /// Of each symbol, the words and bits that it flips.
    flips: Vec<Vec<(usize, u64)>>,
    states: Vec<u64>,
}

impl Automaton {
    /// With an input map that is drawn: in each segment, every symbol gets one cell, whether another symbol has it or not.
    pub fn new(spec: AutomatonSpec, vocabulary: usize, seed: Seed) -> Self {
        let mut rng = seed.derive("reservoir/input").rng();
        let mut cell = |segment: usize| segment * spec.projection + draw::below(&mut rng, spec.projection);
        let map: Vec<Vec<usize>> =
            (0..vocabulary).map(|_| (0..spec.redundancy).map(&mut cell).collect()).collect();
        Self::with_map(spec, &map)
    }

    /// With a given input map: the cells that each symbol flips.
    pub fn with_map(spec: AutomatonSpec, map: &[Vec<usize>]) -> Self {
        let ring = Ring::new(spec.rule, spec.cells());
        let flips = |cells: &Vec<usize>| cells.iter().map(|cell| (cell / 64, 1 << (cell % 64))).collect();
        let states = vec![0; ring.words() * (spec.iterations + 1)];
        Self { spec, ring, flips: map.iter().map(flips).collect(), states }
    }

    fn reset(&mut self) {
        self.states.fill(0);
    }

    /// Reads a symbol: flips its cells and steps. Gives the states after each step, side by side.
    fn read(&mut self, symbol: u32) -> &[u64] {
        let words = self.ring.words();
        // The last state goes on.
        let last = self.states.len() - words;
        self.states.copy_within(last.., 0);
        for &(word, bit) in &self.flips[symbol as usize] {
            self.states[word] ^= bit;
        }
        for k in 0..self.spec.iterations {
            self.states.copy_within(k * words..(k + 1) * words, (k + 1) * words);
            self.ring.step(&mut self.states[(k + 1) * words..(k + 2) * words]);
        }
        &self.states[words..]
    }
}

impl<R: Real> Reservoir<R> for Automaton {
    type Rows = BitRows;

    fn width(&self) -> usize {
        self.spec.width()
    }

    fn run(&mut self, sequences: &[Sequence<'_>]) -> BitRows {
        let cells = self.spec.cells();
        let mut rows = BitRows::new(self.spec.width());
        for sequence in sequences {
            self.reset();
            let mut answers = sequence.answers.iter().peekable();
            for (i, &symbol) in sequence.symbols.iter().enumerate() {
                if answers.peek().is_none() {
                    break;
                }
                self.read(symbol);
                while answers.next_if_eq(&&(i + 1)).is_some() {
                    rows.push(&self.states[self.ring.words()..], cells);
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::FeatureRows;
    use super::*;

    fn shown(state: u64, cells: usize) -> String {
        (0..cells).map(|i| if state >> i & 1 == 1 { '1' } else { '0' }).collect()
    }

    /// Rule 110 on a ring of twelve cells; symbol 0 flips cell 3, symbol 1 cell 0, symbol 2 cell 5.
    #[test]
    fn the_trace_of_the_released_code() {
        let spec = AutomatonSpec { rule: 110, redundancy: 1, projection: 12, iterations: 2 };
        let mut automaton = Automaton::with_map(spec, &[vec![3], vec![0], vec![5]]);
        automaton.reset();
        for (symbol, expected) in [
            (0, ["001100000000", "011100000000"]),
            (1, ["100100000001", "101100000011"]),
            (2, ["111111000110", "100001001111"]),
            (1, ["000011011001", "000111111011"]),
        ] {
            let states = automaton.read(symbol);
            assert_eq!([shown(states[0], 12), shown(states[1], 12)], expected);
        }
    }

    /// Every rule on rings that end inside a word, at its end, and in the next one, against the definition.
    #[test]
    fn every_rule_on_every_kind_of_ring() {
        for rule in 0..=u8::MAX {
            for cells in [3, 64, 65, 100] {
                let ring = Ring::new(rule, cells);
                let mut cell: Vec<u8> = (0..cells).map(|i| u8::from(i * i % 7 < 3)).collect();
                let mut state = vec![0_u64; ring.words()];
                (0..cells).filter(|&i| cell[i] == 1).for_each(|i| state[i / 64] |= 1 << (i % 64));
                for _ in 0..3 {
                    let at = |i: usize| cell[i % cells];
                    cell = (0..cells)
                        .map(|i| rule >> (4 * at(i + cells - 1) + 2 * at(i) + at(i + 1)) & 1)
                        .collect();
                    ring.step(&mut state);
                    for (i, cell) in cell.iter().enumerate() {
                        assert_eq!(
                            (state[i / 64] >> (i % 64) & 1) as u8,
                            *cell,
                            "rule {rule}, {cells} cells"
                        );
                    }
                    let unused = 64 * state.len() - cells;
                    assert!(unused == 0 || state[state.len() - 1] >> (64 - unused) == 0);
                }
            }
        }
    }

    #[test]
    fn features_are_those_of_the_released_code() {
        let golden: Value =
            serde_json::from_str(include_str!("../../../../testdata/learner/reservoirs.json")).unwrap();
        let golden = &golden["reca"];
        let numbers = |value: &Value| -> Vec<usize> {
            value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as usize).collect()
        };
        let map: Vec<Vec<usize>> = golden["token_to_cells"].as_array().unwrap().iter().map(numbers).collect();
        let mut compared = 0;
        for (rule, expected) in golden["features_hex"].as_object().unwrap() {
            let rule = rule.parse().unwrap();
            let spec = AutomatonSpec { rule, redundancy: 15, projection: 60, iterations: 2 };
            let mut automaton = Automaton::with_map(spec, &map);
            for (symbols, expected) in
                golden["sequences"].as_array().unwrap().iter().zip(expected.as_array().unwrap())
            {
                let mut symbols: Vec<u32> = numbers(symbols).iter().map(|&x| x as u32).collect();
                let answers: Vec<usize> = (1..=symbols.len()).collect();
                symbols.push(0);
                let sequence = Sequence { symbols: &symbols, answers: &answers };
                let rows = Reservoir::<f64>::run(&mut automaton, &[sequence]);
                let mut row = vec![0.0; spec.width()];
                for (i, expected) in expected.as_array().unwrap().iter().enumerate() {
                    rows.read(i, &mut row);
                    let digit = |bits: &[f64]| {
                        let value = bits.iter().fold(0, |n, bit| 2 * n + u32::from(*bit > 0.5));
                        char::from_digit(value, 16).unwrap()
                    };
                    let hex: String = row.chunks(4).map(digit).collect();
                    assert_eq!(hex, expected.as_str().unwrap(), "rule {rule}, symbol {i}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
