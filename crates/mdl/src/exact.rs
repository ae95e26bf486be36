//! Networks in exact rational arithmetic, for those whose activations allow it: a proof for the strings that are tried, whatever
//! the rounding of floating-point numbers.
//!
//! Outputs that feed no other unit may also be sigmoid or tanh, of which only order and sign are needed.

use std::cmp::Ordering;

use num_traits::{CheckedAdd as _, CheckedDiv as _, CheckedMul as _, CheckedSub as _, Signed as _};

use super::activation::UnitActivation;
use super::network::{MdlNetwork, UnitKind};
use super::program::{LIMIT, NetworkProgram};
use super::step::NOTHING;
use super::weight::RationalWeight;

/// A fraction. Sums and products are checked: numbers that become too large end a proof.
pub type ExactRatio = num_rational::Ratio<i128>;

/// A sum of outputs that counts as zero, as [`NOTHING`] is.
fn nothing() -> ExactRatio {
    ExactRatio::new_raw(1, 100_000_000)
}

fn ratio(weight: RationalWeight) -> ExactRatio {
    let numerator = i128::from(weight.numerator);
    ExactRatio::new(if weight.negative { -numerator } else { numerator }, i128::from(weight.denominator))
}

/// Not beyond the limit.
fn clipped(x: ExactRatio) -> ExactRatio {
    let limit = ExactRatio::from_integer(LIMIT as i128);
    x.clamp(-limit, limit)
}

/// The remainder in [0, n); none if the numbers become too large.
fn modulo(x: ExactRatio, n: i128) -> Option<ExactRatio> {
    let times = x.checked_div(&ExactRatio::from_integer(n))?.floor();
    x.checked_sub(&times.checked_mul(&ExactRatio::from_integer(n))?)
}

fn approximation(x: ExactRatio) -> f64 {
    *x.numer() as f64 / *x.denom() as f64
}

/// The value of an output: a fraction, or a function of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactOutput {
    Ratio(ExactRatio),
    Tanh(ExactRatio),
    Sigmoid(ExactRatio),
}

/// Two approximations this close are not told apart.
const UNCERTAIN: f64 = 1e-9;

impl ExactOutput {
    /// Whether it is above zero, so that it has a probability.
    pub fn is_positive(self) -> bool {
        match self {
            Self::Ratio(x) | Self::Tanh(x) => x.is_positive(),
            Self::Sigmoid(_) => true,
        }
    }

    /// The order of two outputs, negative ones counting as zero; none if it is not known.
    pub fn compare(self, other: Self) -> Option<Ordering> {
        match (self.is_positive(), other.is_positive()) {
            (true, false) => return Some(Ordering::Greater),
            (false, true) => return Some(Ordering::Less),
            (false, false) => return Some(Ordering::Equal),
            (true, true) => {}
        }
        match (self, other) {
            // Both functions are increasing: their arguments decide.
            (Self::Ratio(a), Self::Ratio(b))
            | (Self::Tanh(a), Self::Tanh(b))
            | (Self::Sigmoid(a), Self::Sigmoid(b)) => Some(a.cmp(&b)),
            // Tanh and sigmoid stay below one.
            (Self::Ratio(a), _) if a >= ExactRatio::ONE => Some(Ordering::Greater),
            (_, Self::Ratio(b)) if b >= ExactRatio::ONE => Some(Ordering::Less),
            _ => {
                let (a, b) = (self.approximate(), other.approximate());
                if (a - b).abs() < UNCERTAIN { None } else { a.partial_cmp(&b) }
            }
        }
    }

    fn approximate(self) -> f64 {
        match self {
            Self::Ratio(x) => approximation(x),
            Self::Tanh(x) => libm::tanh(approximation(x)),
            Self::Sigmoid(x) => 1.0 / (1.0 + libm::exp(-approximation(x))),
        }
    }
}

/// Outputs as [`Outputs::Normalized`](super::Outputs::Normalized) takes them: all equal if the sum of the positive ones counts
/// as zero. Only their order and signs are those of the probabilities.
pub fn normalized(mut outputs: Vec<ExactOutput>) -> Result<Vec<ExactOutput>, Inexact> {
    if sum_is_nothing(&outputs).ok_or(Inexact::Sum)? {
        outputs.fill(ExactOutput::Ratio(ExactRatio::ONE));
    }
    Ok(outputs)
}

/// None if it is not known.
fn sum_is_nothing(outputs: &[ExactOutput]) -> Option<bool> {
    let positive = || outputs.iter().filter(|output| output.is_positive());
    // One that is large enough decides, however many digits the sum would have.
    if positive().any(|output| output.approximate() > 2.0 * NOTHING) {
        return Some(false);
    }
    let mut exact = ExactRatio::ZERO;
    for output in positive() {
        let ExactOutput::Ratio(x) = output else {
            let sum: f64 = positive().map(|output| output.approximate()).sum();
            return ((sum - NOTHING).abs() > NOTHING * UNCERTAIN).then_some(sum < NOTHING);
        };
        exact = exact.checked_add(x)?;
    }
    Some(exact <= nothing())
}

/// Why exact arithmetic cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inexact {
    /// An activation without exact values.
    #[error("unit {0} has the activation {1}, whose values are not rational")]
    Activation(u16, &'static str),
    /// Numbers with too many digits.
    #[error("a value of unit {0} has too many digits")]
    Digits(u16),
    /// A sum of outputs about as small as what counts as zero.
    #[error("whether the sum of the outputs is above {NOTHING:e} cannot be told")]
    Sum,
}

struct ExactInstruction {
    unit: u16,
    kind: UnitKind,
    activation: UnitActivation,
    bias: Option<ExactRatio>,
    forward: Vec<(u16, ExactRatio)>,
    recurrent: Vec<(u16, ExactRatio)>,
}

/// A network that is evaluated exactly.
pub struct ExactNetwork {
    inputs: usize,
    outputs: usize,
    units: usize,
    instructions: Vec<ExactInstruction>,
    memory: Vec<u16>,
}

impl std::fmt::Debug for ExactNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExactNetwork").field("units", &self.units).finish_non_exhaustive()
    }
}

/// What the next step depends on; none before the first.
pub type ExactMemory = Option<Vec<ExactRatio>>;

impl ExactNetwork {
    /// Refuses networks in which a value that is used again is not rational.
    // From the network and not from the terms of the program, whose weights are rounded already. Order and
    // ignored edges are the program's, so that both compute the same.
    pub fn new(network: &MdlNetwork) -> Result<Self, Inexact> {
        let program = NetworkProgram::of(network);
        let ignored = &program.order().ignored;
        let mut instructions = Vec::new();
        for instruction in &program.instructions {
            let unit = instruction.unit;
            let edges = network.edges.iter().enumerate().filter(|(_, edge)| edge.target == unit);
            let kept = edges.filter(|(i, _)| !ignored.get(*i).copied().unwrap_or(false));
            let (recurrent, forward): (Vec<_>, Vec<_>) =
                kept.map(|(_, edge)| edge).partition(|edge| edge.recurrent);
            let terms = |edges: Vec<&super::network::NetworkEdge>| {
                edges.into_iter().map(|edge| (edge.source, ratio(edge.weight))).collect()
            };
            instructions.push(ExactInstruction {
                unit,
                kind: instruction.kind,
                activation: instruction.activation,
                bias: network.units[usize::from(unit)].bias.map(ratio),
                forward: terms(forward),
                recurrent: terms(recurrent),
            });
        }
        let feeds = |unit: u16| program.terms.iter().any(|term| term.source == unit);
        for instruction in &instructions {
            let smooth = matches!(instruction.activation, UnitActivation::Tanh | UnitActivation::Sigmoid);
            let irrational = matches!(
                instruction.activation,
                UnitActivation::Gaussian | UnitActivation::Sine | UnitActivation::Cosine
            );
            if irrational || (smooth && feeds(instruction.unit)) {
                return Err(Inexact::Activation(instruction.unit, instruction.activation.name()));
            }
        }
        let NetworkProgram { inputs, outputs, units, memory, .. } = program;
        Ok(Self { inputs, outputs, units, instructions, memory })
    }

    /// Reads a symbol: the memory after it, and the outputs.
    pub fn step(
        &self,
        memory: &ExactMemory,
        symbol: usize,
    ) -> Result<(ExactMemory, Vec<ExactOutput>), Inexact> {
        let mut previous = vec![ExactRatio::ZERO; self.units];
        for (&unit, &value) in self.memory.iter().zip(memory.iter().flatten()) {
            previous[usize::from(unit)] = value;
        }
        let mut current = vec![ExactRatio::ZERO; self.units];
        current[symbol] = ExactRatio::ONE;
        let mut outputs = vec![ExactOutput::Ratio(ExactRatio::ZERO); self.outputs];
        for instruction in &self.instructions {
            let unit = usize::from(instruction.unit);
            let value = instruction.value(&current, &previous, memory.is_some(), unit < self.inputs);
            let value = value.ok_or(Inexact::Digits(instruction.unit))?;
            let output = match instruction.activation {
                UnitActivation::Tanh => ExactOutput::Tanh(value),
                UnitActivation::Sigmoid => ExactOutput::Sigmoid(value),
                other => {
                    let activated = activated(other, value).ok_or(Inexact::Digits(instruction.unit))?;
                    current[unit] = activated;
                    ExactOutput::Ratio(activated)
                }
            };
            if let Some(slot) = unit.checked_sub(self.inputs).and_then(|i| outputs.get_mut(i)) {
                *slot = output;
            }
        }
        Ok((Some(self.memory.iter().map(|&unit| current[usize::from(unit)]).collect()), outputs))
    }
}

impl ExactInstruction {
    fn value(
        &self,
        current: &[ExactRatio],
        previous: &[ExactRatio],
        started: bool,
        is_input: bool,
    ) -> Option<ExactRatio> {
        let unit = usize::from(self.unit);
        let join = |a: ExactRatio, b: ExactRatio| match self.kind {
            UnitKind::Sum => a.checked_add(&b),
            UnitKind::Product => a.checked_mul(&b),
        };
        let combined = |terms: &[(u16, ExactRatio)], values: &[ExactRatio]| -> Option<ExactRatio> {
            let mut all =
                terms.iter().map(|(source, weight)| weight.checked_mul(&values[usize::from(*source)]));
            let first = all.next()??;
            all.try_fold(first, |sum, term| join(sum, term?))
        };
        let mut value = if is_input { current[unit] } else { ExactRatio::ZERO };
        if !self.forward.is_empty() {
            let incoming = combined(&self.forward, current)?;
            value = if is_input { join(value, incoming)? } else { incoming };
        }
        if started && !self.recurrent.is_empty() {
            value = join(value, combined(&self.recurrent, previous)?)?;
        }
        if let Some(bias) = self.bias {
            value = value.checked_add(&bias)?;
        }
        Some(clipped(value))
    }
}

fn activated(activation: UnitActivation, x: ExactRatio) -> Option<ExactRatio> {
    let positive = x.is_positive();
    Some(match activation {
        UnitActivation::Relu if !positive => ExactRatio::ZERO,
        UnitActivation::Square => x.checked_mul(&x)?,
        UnitActivation::Floor => x.floor(),
        UnitActivation::Step => {
            if positive {
                ExactRatio::ONE
            } else {
                ExactRatio::ZERO
            }
        }
        UnitActivation::Inverse => -x,
        UnitActivation::Abs => {
            if positive {
                x
            } else {
                -x
            }
        }
        UnitActivation::Mod2 => modulo(x, 2)?,
        UnitActivation::Mod3 => modulo(x, 3)?,
        UnitActivation::ShiftRight => x.checked_div(&ExactRatio::from_integer(2))?.floor(),
        // Linear and positive relu; the others have no exact values and do not get here.
        _ => x,
    })
}
