//! Networks in exact rational arithmetic, for those whose activations allow it: a proof for the strings that are tried, whatever
//! the rounding of floating-point numbers.
//!
//! Outputs that feed no other unit may also be sigmoid or tanh, of which only order and sign are needed.

use std::cmp::Ordering;

use super::activation::Activation;
use super::network::{Network, UnitKind};
use super::program::{LIMIT, Program};
use super::step::NOTHING;
use super::weight::Weight;

/// A fraction in lowest terms; the denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self::whole(0);
    const ONE: Self = Self::whole(1);
    const LIMIT: Self = Self::whole(LIMIT as i128);
    /// A sum of outputs that counts as zero, as [`NOTHING`] is.
    const NOTHING: Self = Self { numerator: 1, denominator: 100_000_000 };

    const fn whole(numerator: i128) -> Self {
        Self { numerator, denominator: 1 }
    }

    fn new(numerator: i128, denominator: i128) -> Self {
        let common = gcd(numerator, denominator).max(1);
        Self { numerator: numerator / common, denominator: denominator / common }
    }

    fn of(weight: Weight) -> Self {
        let numerator = i128::from(weight.numerator);
        Self::new(if weight.negative { -numerator } else { numerator }, i128::from(weight.denominator))
    }

    /// None if the numbers become too large.
    fn plus(self, other: Self) -> Option<Self> {
        let a = self.numerator.checked_mul(other.denominator)?;
        let b = other.numerator.checked_mul(self.denominator)?;
        Some(Self::new(a.checked_add(b)?, self.denominator.checked_mul(other.denominator)?))
    }

    fn times(self, other: Self) -> Option<Self> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        Some(Self::new(numerator, self.denominator.checked_mul(other.denominator)?))
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        let a = self.numerator.checked_mul(other.denominator)?;
        Some(a.cmp(&other.numerator.checked_mul(self.denominator)?))
    }

    fn minus(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    fn floor(self) -> Self {
        Self::whole(self.numerator.div_euclid(self.denominator))
    }

    /// Not beyond the limit.
    fn clipped(self) -> Option<Self> {
        if self.compare(Self::LIMIT)? == Ordering::Greater {
            return Some(Self::LIMIT);
        }
        if self.compare(Self::LIMIT.minus())? == Ordering::Less {
            return Some(Self::LIMIT.minus());
        }
        Some(self)
    }

    /// The remainder in [0, n).
    fn modulo(self, n: i128) -> Option<Self> {
        let times = Self::new(self.numerator, self.denominator.checked_mul(n)?).floor();
        self.plus(times.times(Self::whole(-n))?)
    }

    fn approximate(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// The value of an output: a fraction, or a function of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactOutput {
    /// A fraction.
    Ratio(Ratio),
    /// Its hyperbolic tangent.
    Tanh(Ratio),
    /// Its sigmoid.
    Sigmoid(Ratio),
}

/// Two approximations this close are not told apart.
const UNCERTAIN: f64 = 1e-9;

impl ExactOutput {
    /// Whether it is above zero, so that it has a probability.
    pub fn is_positive(self) -> bool {
        match self {
            Self::Ratio(x) | Self::Tanh(x) => x.numerator > 0,
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
            (Self::Ratio(a), Self::Ratio(b))
            | (Self::Tanh(a), Self::Tanh(b))
            | (Self::Sigmoid(a), Self::Sigmoid(b)) => a.compare(b),
            // Tanh and sigmoid stay below one.
            (Self::Ratio(a), _) if a.compare(Ratio::ONE)? != Ordering::Less => Some(Ordering::Greater),
            (_, Self::Ratio(b)) if b.compare(Ratio::ONE)? != Ordering::Less => Some(Ordering::Less),
            _ => {
                let (a, b) = (self.approximate(), other.approximate());
                if (a - b).abs() < UNCERTAIN { None } else { a.partial_cmp(&b) }
            }
        }
    }

    fn approximate(self) -> f64 {
        match self {
            Self::Ratio(x) => x.approximate(),
            Self::Tanh(x) => libm::tanh(x.approximate()),
            Self::Sigmoid(x) => 1.0 / (1.0 + libm::exp(-x.approximate())),
        }
    }
}

/// Outputs as [`Outputs::Normalized`](super::Outputs::Normalized) takes them: all equal if the sum of the positive ones counts
/// as zero. Only their order and signs are those of the probabilities.
pub fn normalized(mut outputs: Vec<ExactOutput>) -> Result<Vec<ExactOutput>, Inexact> {
    if sum_is_nothing(&outputs).ok_or(Inexact::Sum)? {
        outputs.fill(ExactOutput::Ratio(Ratio::ONE));
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
    let mut exact = Ratio::ZERO;
    for output in positive() {
        let ExactOutput::Ratio(x) = output else {
            let sum: f64 = positive().map(|output| output.approximate()).sum();
            return ((sum - NOTHING).abs() > NOTHING * UNCERTAIN).then_some(sum < NOTHING);
        };
        exact = exact.plus(*x)?;
    }
    Some(exact.compare(Ratio::NOTHING)? != Ordering::Greater)
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
    activation: Activation,
    bias: Option<Ratio>,
    forward: Vec<(u16, Ratio)>,
    recurrent: Vec<(u16, Ratio)>,
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
pub type ExactMemory = Option<Vec<Ratio>>;

impl ExactNetwork {
    /// Refuses networks in which a value that is used again is not rational.
    pub fn new(network: &Network) -> Result<Self, Inexact> {
        let program = Program::of(network);
        let ignored = &program.order().ignored;
        let mut instructions = Vec::new();
        for instruction in &program.instructions {
            let unit = instruction.unit;
            let edges = network.edges.iter().enumerate().filter(|(_, edge)| edge.target == unit);
            let kept = edges.filter(|(i, _)| !ignored.get(*i).copied().unwrap_or(false));
            let (recurrent, forward): (Vec<_>, Vec<_>) =
                kept.map(|(_, edge)| edge).partition(|edge| edge.recurrent);
            let terms = |edges: Vec<&super::network::Edge>| {
                edges.into_iter().map(|edge| (edge.source, Ratio::of(edge.weight))).collect()
            };
            instructions.push(ExactInstruction {
                unit,
                kind: instruction.kind,
                activation: instruction.activation,
                bias: network.units[usize::from(unit)].bias.map(Ratio::of),
                forward: terms(forward),
                recurrent: terms(recurrent),
            });
        }
        let feeds = |unit: u16| program.terms.iter().any(|term| term.source == unit);
        for instruction in &instructions {
            let smooth = matches!(instruction.activation, Activation::Tanh | Activation::Sigmoid);
            let irrational = matches!(
                instruction.activation,
                Activation::Gaussian | Activation::Sine | Activation::Cosine
            );
            if irrational || (smooth && feeds(instruction.unit)) {
                return Err(Inexact::Activation(instruction.unit, instruction.activation.name()));
            }
        }
        let Program { inputs, outputs, units, memory, .. } = program;
        Ok(Self { inputs, outputs, units, instructions, memory })
    }

    /// Reads a symbol: the memory after it, and the outputs.
    pub fn step(
        &self,
        memory: &ExactMemory,
        symbol: usize,
    ) -> Result<(ExactMemory, Vec<ExactOutput>), Inexact> {
        let mut previous = vec![Ratio::ZERO; self.units];
        for (&unit, &value) in self.memory.iter().zip(memory.iter().flatten()) {
            previous[usize::from(unit)] = value;
        }
        let mut current = vec![Ratio::ZERO; self.units];
        current[symbol] = Ratio::ONE;
        let mut outputs = vec![ExactOutput::Ratio(Ratio::ZERO); self.outputs];
        for instruction in &self.instructions {
            let unit = usize::from(instruction.unit);
            let value = instruction.value(&current, &previous, memory.is_some(), unit < self.inputs);
            let value = value.ok_or(Inexact::Digits(instruction.unit))?;
            let output = match instruction.activation {
                Activation::Tanh => ExactOutput::Tanh(value),
                Activation::Sigmoid => ExactOutput::Sigmoid(value),
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
    fn value(&self, current: &[Ratio], previous: &[Ratio], started: bool, is_input: bool) -> Option<Ratio> {
        let unit = usize::from(self.unit);
        let join = |a: Ratio, b: Ratio| match self.kind {
            UnitKind::Sum => a.plus(b),
            UnitKind::Product => a.times(b),
        };
        let combined = |terms: &[(u16, Ratio)], values: &[Ratio]| -> Option<Ratio> {
            let mut all = terms.iter().map(|(source, weight)| weight.times(values[usize::from(*source)]));
            let first = all.next()??;
            all.try_fold(first, |sum, term| join(sum, term?))
        };
        let mut value = if is_input { current[unit] } else { Ratio::ZERO };
        if !self.forward.is_empty() {
            let incoming = combined(&self.forward, current)?;
            value = if is_input { join(value, incoming)? } else { incoming };
        }
        if started && !self.recurrent.is_empty() {
            value = join(value, combined(&self.recurrent, previous)?)?;
        }
        if let Some(bias) = self.bias {
            value = value.plus(bias)?;
        }
        value.clipped()
    }
}

fn activated(activation: Activation, x: Ratio) -> Option<Ratio> {
    let positive = x.numerator > 0;
    Some(match activation {
        Activation::Relu if !positive => Ratio::ZERO,
        Activation::Square => x.times(x)?,
        Activation::Floor => x.floor(),
        Activation::Step => {
            if positive {
                Ratio::ONE
            } else {
                Ratio::ZERO
            }
        }
        Activation::Inverse => x.minus(),
        Activation::Abs => {
            if positive {
                x
            } else {
                x.minus()
            }
        }
        Activation::Mod2 => x.modulo(2)?,
        Activation::Mod3 => x.modulo(3)?,
        Activation::ShiftRight => Ratio::new(x.numerator, x.denominator.checked_mul(2)?).floor(),
        // Linear and positive relu; the others have no exact values and do not get here.
        _ => x,
    })
}
