//! One step of a network, one string at a time, in single or double precision. This is the definition; the search has a
//! faster evaluator, which is tested against it.

use super::activation::UnitActivation;
use super::network::UnitKind;
use super::program::{LIMIT, NetworkProgram};
use wug_parameter::choices;

/// A floating-point type that networks can be evaluated in.
pub trait Float: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
    #[must_use]
    fn plus(self, other: Self) -> Self;
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// Not beyond the limit.
    #[must_use]
    fn clipped(self) -> Self;
    /// The value of an activation.
    #[must_use]
    fn activated(self, activation: UnitActivation) -> Self;
}

impl Float for f64 {
    fn of(x: f64) -> Self {
        x
    }

    fn wide(self) -> f64 {
        self
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn clipped(self) -> Self {
        self.clamp(-LIMIT, LIMIT)
    }

    fn activated(self, activation: UnitActivation) -> Self {
        activation.apply(self)
    }
}

impl Float for f32 {
    fn of(x: f64) -> Self {
        x as f32
    }

    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn clipped(self) -> Self {
        self.clamp(-LIMIT as f32, LIMIT as f32)
    }

    fn activated(self, activation: UnitActivation) -> Self {
        activation.apply_f32(self)
    }
}

/// The values of all units at one step.
#[derive(Clone, Debug)]
pub struct UnitValues<R> {
    current: Vec<R>,
    previous: Vec<R>,
    started: bool,
}

impl<R: Float> UnitValues<R> {
    /// Before the first step.
    pub fn new(program: &NetworkProgram) -> Self {
        let zeros = vec![R::of(0.0); program.units];
        Self { current: zeros.clone(), previous: zeros, started: false }
    }

    /// Reads the values of the inputs. Gives those of the outputs, before they become probabilities.
    pub fn step(&mut self, program: &NetworkProgram, inputs: &[R]) -> &[R] {
        std::mem::swap(&mut self.current, &mut self.previous);
        self.current[..program.inputs].copy_from_slice(inputs);
        for instruction in &program.instructions {
            let unit = usize::from(instruction.unit);
            let terms = |from: u32, to: u32| &program.terms[from as usize..to as usize];
            let (forward, recurrent) =
                (terms(instruction.start, instruction.middle), terms(instruction.middle, instruction.end));
            let combined = |terms: &[super::program::Term], values: &[R]| {
                let mut weighted =
                    terms.iter().map(|term| R::of(term.weight).times(values[usize::from(term.source)]));
                let first = weighted.next()?;
                Some(match instruction.kind {
                    UnitKind::Sum => weighted.fold(first, R::plus),
                    UnitKind::Product => weighted.fold(first, R::times),
                })
            };
            let join = |a: R, b: R| match instruction.kind {
                UnitKind::Sum => a.plus(b),
                UnitKind::Product => a.times(b),
            };
            let start = if instruction.is_input { inputs[unit] } else { R::of(0.0) };
            let mut value = start;
            let mut is_new = false;
            if let Some(incoming) = combined(forward, &self.current) {
                value = if instruction.is_input { join(start, incoming) } else { incoming };
                is_new = true;
            }
            // Before the second step there is nothing to carry: recurrent edges are absent, not zero, which a
            // product would notice.
            if self.started
                && let Some(incoming) = combined(recurrent, &self.previous)
            {
                value = join(value, incoming);
                is_new = true;
            }
            if let Some(bias) = instruction.bias {
                // Added to products too, as the released evaluation does.
                value = value.plus(R::of(bias));
                is_new = true;
            }
            // Input values as they come are not clipped.
            let value = if is_new { value.clipped() } else { value };
            self.current[unit] = value.activated(instruction.activation);
        }
        self.started = true;
        &self.current[program.inputs..program.inputs + program.outputs]
    }

    /// The values that the next step depends on, in the order of the program's memory.
    pub(super) fn memory<'a>(&'a self, program: &'a NetworkProgram) -> impl Iterator<Item = R> + 'a {
        program.memory.iter().map(|&unit| self.current[usize::from(unit)])
    }

    /// Sets what the next step depends on.
    pub(super) fn restore(&mut self, program: &NetworkProgram, memory: &[R], started: bool) {
        for (&unit, &value) in program.memory.iter().zip(memory) {
            self.current[usize::from(unit)] = value;
        }
        self.started = started;
    }
}

choices! {
    /// How outputs become probabilities.
    pub enum Outputs {
        /// Negative ones are zero, and all are divided by their sum; if that is nothing, all are equal. A single output is clipped
        /// to [0, 1] and is the probability of 1.
        Normalized = "normalized",
        /// Softmax. A single output is clipped.
        Softmax = "softmax",
    }
}

/// A sum that counts as zero.
pub(super) const NOTHING: f64 = 1e-8;

impl Outputs {
    /// Turns the values of the outputs into probabilities.
    pub fn probabilities(self, row: &mut [f64]) {
        if let [single] = row {
            *single = single.clamp(0.0, 1.0);
            return;
        }
        match self {
            Self::Normalized => {
                for x in row.iter_mut().filter(|x| **x < 0.0) {
                    *x = 0.0;
                }
                let sum: f64 = row.iter().sum();
                if sum.abs() <= NOTHING {
                    let share = 1.0 / row.len() as f64;
                    row.fill(share);
                } else {
                    row.iter_mut().for_each(|x| *x /= sum);
                }
            }
            Self::Softmax => {
                let greatest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter_mut().for_each(|x| *x = libm::exp(*x - greatest));
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= sum);
            }
        }
    }
}
