//! A network as a next-symbol model.
//!
//! A network that counts is in the same state again and again: after aⁿbᵏ it is where it was after aⁿ⁻¹bᵏ⁻¹. So states are
//! numbered, and what follows a state and a symbol is computed once. Results are the same as step by step.

use std::collections::BTreeMap;

use super::network::MdlNetwork;
use super::program::NetworkProgram;
use super::step::{Float, Outputs, UnitValues};

/// The most states that are numbered; later ones are carried as they are.
const MAX_STATES: usize = 1 << 17;

/// What is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// A network that predicts the next symbol, in single or double precision.
#[derive(Clone, Debug)]
pub struct NetworkModel<R> {
    network: MdlNetwork,
    program: NetworkProgram,
    outputs: Outputs,
    values: UnitValues<R>,
    /// The memory of each state, one after the other. State 0 is before the first symbol.
    memories: Vec<R>,
    /// The state after each state and symbol.
    next: Vec<u32>,
    /// The probabilities after each state and symbol: an index of a row.
    rows: Vec<u32>,
    /// Rows of probabilities, without duplicates.
    probabilities: Vec<f64>,
    known_memories: BTreeMap<Vec<u64>, u32>,
    known_rows: BTreeMap<Vec<u64>, u32>,
}

/// Where a network is after a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkState<R> {
    at: At<R>,
    /// The probabilities after the last symbol: the index of a row, or the row itself.
    row: StateRow,
}

#[derive(Clone, Debug, PartialEq)]
enum At<R> {
    Numbered(u32),
    Carried(Box<[R]>),
}

#[derive(Clone, Debug, PartialEq)]
enum StateRow {
    Known(u32),
    Own(Box<[f64]>),
}

impl<R: Float> NetworkModel<R> {
    /// A network with one input and one output for each symbol.
    pub fn new(network: MdlNetwork, outputs: Outputs) -> Self {
        let program = NetworkProgram::of(&network);
        let v = program.inputs;
        let mut model = Self {
            values: UnitValues::new(&program),
            outputs,
            memories: vec![R::of(0.0); program.memory_len()],
            next: vec![UNKNOWN; v],
            rows: vec![UNKNOWN; v],
            probabilities: Vec::new(),
            known_memories: BTreeMap::new(),
            known_rows: BTreeMap::new(),
            network,
            program,
        };
        let uniform = vec![1.0 / v as f64; v];
        model.row(&uniform);
        model
    }

    pub fn network(&self) -> &MdlNetwork {
        &self.network
    }

    /// The number of a row of probabilities; none if there are too many.
    fn row(&mut self, row: &[f64]) -> Option<u32> {
        let key: Vec<u64> = row.iter().map(|x| x.to_bits()).collect();
        let count = self.known_rows.len() as u32;
        if let Some(&known) = self.known_rows.get(&key) {
            return Some(known);
        }
        if self.known_rows.len() == MAX_STATES {
            return None;
        }
        self.known_rows.insert(key, count);
        self.probabilities.extend_from_slice(row);
        Some(count)
    }

    /// The number of a state that is not the first; none if there are too many.
    fn number(&mut self, memory: &[R]) -> Option<u32> {
        // As bits: what follows from equal memories is equal to the last digit.
        let key: Vec<u64> = memory.iter().map(|x| x.wide().to_bits()).collect();
        if let Some(&known) = self.known_memories.get(&key) {
            return Some(known);
        }
        let states = self.next.len() / self.program.inputs;
        if states == MAX_STATES {
            return None;
        }
        self.known_memories.insert(key, states as u32);
        self.memories.extend_from_slice(memory);
        self.next.resize(self.next.len() + self.program.inputs, UNKNOWN);
        self.rows.resize(self.rows.len() + self.program.inputs, UNKNOWN);
        Some(states as u32)
    }

    /// Computes a step from a memory.
    fn compute(&mut self, memory: &[R], started: bool, symbol: u32) -> (Vec<R>, Vec<f64>) {
        let mut inputs = vec![R::of(0.0); self.program.inputs];
        inputs[symbol as usize] = R::of(1.0);
        self.values.restore(&self.program, memory, started);
        let mut row: Vec<f64> = self.values.step(&self.program, &inputs).iter().map(|x| x.wide()).collect();
        self.outputs.probabilities(&mut row);
        (self.values.memory(&self.program).collect(), row)
    }

    /// Reads a symbol where it is not known yet what follows.
    #[cold]
    fn discover(&mut self, state: &mut NetworkState<R>, symbol: u32) {
        let width = self.program.memory_len();
        let (memory, started, from) = match &state.at {
            At::Numbered(n) => {
                let at = *n as usize;
                (self.memories[at * width..(at + 1) * width].to_vec(), *n > 0, Some(at))
            }
            At::Carried(memory) => (memory.to_vec(), true, None),
        };
        let (memory, row) = self.compute(&memory, started, symbol);
        let (number, known) = (self.number(&memory), self.row(&row));
        // Remembered only between numbered states; a network that never repeats itself is computed step by
        // step.
        if let (Some(from), Some(number), Some(known)) = (from, number, known) {
            self.next[from * self.program.inputs + symbol as usize] = number;
            self.rows[from * self.program.inputs + symbol as usize] = known;
        }
        state.at = number.map_or_else(|| At::Carried(memory.into()), At::Numbered);
        state.row = known.map_or_else(|| StateRow::Own(row.into()), StateRow::Known);
    }

    fn probabilities(&self, row: u32) -> &[f64] {
        &self.probabilities[row as usize * self.program.outputs..][..self.program.outputs]
    }

    /// What follows a numbered state and a symbol, if it is known.
    fn known(&self, state: u32, symbol: u32) -> Option<(u32, u32)> {
        let at = state as usize * self.program.inputs + symbol as usize;
        let row = self.rows[at];
        (row != UNKNOWN).then(|| (self.next[at], row))
    }
}

/// The questions of a next-symbol model.
impl<R: Float> NetworkModel<R> {
    pub fn start(&self) -> NetworkState<R> {
        NetworkState { at: At::Numbered(0), row: StateRow::Known(0) }
    }

    pub fn push(&mut self, state: &mut NetworkState<R>, symbol: u32) {
        if let At::Numbered(number) = state.at
            && let Some((next, row)) = self.known(number, symbol)
        {
            (state.at, state.row) = (At::Numbered(next), StateRow::Known(row));
            return;
        }
        self.discover(state, symbol);
    }

    /// The probabilities of what comes next.
    pub fn next(&self, state: &NetworkState<R>) -> Vec<f64> {
        match &state.row {
            StateRow::Known(row) => self.probabilities(*row).to_vec(),
            StateRow::Own(row) => row.to_vec(),
        }
    }

    /// Reads a piece from each state; the probabilities after every symbol of every piece.
    pub fn advance_batch(&mut self, states: &mut [NetworkState<R>], pieces: &[&[u32]]) -> Vec<f64> {
        let steps: usize = pieces.iter().map(|piece| piece.len()).sum();
        let mut all = Vec::with_capacity(steps * self.program.outputs);
        for (state, piece) in states.iter_mut().zip(pieces) {
            for &symbol in *piece {
                self.push(state, symbol);
                match &state.row {
                    StateRow::Known(row) => all.extend_from_slice(self.probabilities(*row)),
                    StateRow::Own(row) => all.extend_from_slice(row),
                }
            }
        }
        all
    }

    /// What follows depends on the memory alone, not on the last prediction.
    pub fn same(&self, a: &NetworkState<R>, b: &NetworkState<R>) -> bool {
        a.at == b.at
    }
}
