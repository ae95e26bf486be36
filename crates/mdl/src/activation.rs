//! The activations of units, with their numbers and their prices.

use std::f64::consts::PI;

use super::math;

/// What a unit makes of the sum or product of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum UnitActivation {
    Linear = 0,
    Relu = 1,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid = 2,
    Tanh = 3,
    Square = 4,
    Floor = 5,
    /// 1 if x > 0, else 0.
    Step = 6,
    Gaussian = 7,
    Sine = 8,
    Inverse = 9,
    Abs = 10,
    Cosine = 11,
    /// x mod 2, in [0, 2).
    Mod2 = 12,
    ShiftRight = 13,
    /// x mod 3, in [0, 3).
    Mod3 = 14,
}

use UnitActivation::{
    Abs, Cosine, Floor, Gaussian, Inverse, Linear, Mod2, Mod3, Relu, ShiftRight, Sigmoid, Sine, Square, Step,
    Tanh,
};

impl UnitActivation {
    /// All of them, by number.
    pub const ALL: [Self; 15] = [
        Linear, Relu, Sigmoid, Tanh, Square, Floor, Step, Gaussian, Sine, Inverse, Abs, Cosine, Mod2,
        ShiftRight, Mod3,
    ];

    /// Its number in the code of a network.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Linear => "linear",
            Relu => "relu",
            Sigmoid => "sigmoid",
            Tanh => "tanh",
            Square => "square",
            Floor => "floor",
            Step => "step",
            Gaussian => "gaussian",
            Sine => "sin",
            Inverse => "inverse",
            Abs => "abs",
            Cosine => "cosine",
            Mod2 => "mod2",
            ShiftRight => ">>",
            Mod3 => "mod3",
        }
    }

    /// The activation with this name; some have a second one.
    pub fn named(name: &str) -> Option<Self> {
        let name = match name {
            "sinus" | "sine" => "sin",
            "cos" => "cosine",
            "shift-right" | "shift_right" => ">>",
            "unsigned_step" | "unsigned-step" => "step",
            "modulo_2" => "mod2",
            "modulo_3" => "mod3",
            other => other,
        };
        Self::ALL.into_iter().find(|activation| activation.name() == name)
    }

    /// Its price, in bits of a unary code.
    pub fn cost(self) -> u32 {
        match self {
            // The prices of the released code: a search takes a dear function only where it saves more bits
            // of data than it costs.
            Linear => 0,
            Inverse | Abs => 1,
            Relu | Square => 2,
            Sigmoid | Floor => 4,
            Tanh | Mod2 | Mod3 | Step => 8,
            Gaussian | Sine | Cosine | ShiftRight => 16,
        }
    }

    pub fn apply(self, x: f64) -> f64 {
        let mut lane = [x];
        self.apply_lanes(&mut lane);
        lane[0]
    }

    /// The function of several numbers at a time.
    #[inline(always)]
    pub(super) fn apply_lanes<const L: usize>(self, lanes: &mut [f64; L]) {
        match self {
            Linear => {}
            // A product instead of `max`: NaN stays NaN, and there is no branch.
            Relu => map(lanes, |x| x * if x > 0.0 { 1.0 } else { 0.0 }),
            Sigmoid => map(lanes, math::sigmoid),
            Tanh => map(lanes, math::tanh),
            Square => map(lanes, |x| x * x),
            Floor => map(lanes, f64::floor),
            Step => map(lanes, |x| if x > 0.0 { 1.0 } else { 0.0 }),
            // The exponentials are our own, which compile to code for all lanes; sine and cosine are rare
            // enough for the library.
            Gaussian => map(lanes, |x| math::exp_negative(-(x * x) / 2.0)),
            Sine => map(lanes, |x| libm::sin(PI * x)),
            Inverse => map(lanes, |x| -x),
            Abs => map(lanes, f64::abs),
            Cosine => map(lanes, |x| libm::cos(PI * x)),
            Mod2 => map(lanes, |x| x.rem_euclid(2.0)),
            ShiftRight => map(lanes, |x| (x / 2.0).floor()),
            Mod3 => map(lanes, |x| x.rem_euclid(3.0)),
        }
    }

    /// The function in single precision.
    pub fn apply_f32(self, x: f32) -> f32 {
        use std::f32::consts::PI;
        match self {
            Linear => x,
            Relu => x * if x > 0.0 { 1.0 } else { 0.0 },
            Sigmoid => 1.0 / (1.0 + libm::expf(-x)),
            Tanh => libm::tanhf(x),
            Square => x * x,
            Floor => x.floor(),
            Step => f32::from(u8::from(x > 0.0)),
            Gaussian => libm::expf(-(x * x) / 2.0),
            Sine => libm::sinf(PI * x),
            Inverse => -x,
            Abs => x.abs(),
            Cosine => libm::cosf(PI * x),
            Mod2 => x.rem_euclid(2.0),
            ShiftRight => (x / 2.0).floor(),
            Mod3 => x.rem_euclid(3.0),
        }
    }
}

#[inline(always)]
fn map<const L: usize>(lanes: &mut [f64; L], f: impl Fn(f64) -> f64) {
    for x in lanes {
        *x = f(*x);
    }
}

/// A set of activations that a search may use; its size decides how many bits name one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivationSet {
    pub name: &'static str,
    /// What is in it.
    pub activations: &'static [UnitActivation],
}

pub static ACTIVATION_SETS: &[ActivationSet] = &[
    ActivationSet { name: "bliss3", activations: &[Linear, Relu, Tanh] },
    ActivationSet { name: "linear_relu_sigmoid_tanh", activations: &[Linear, Relu, Sigmoid, Tanh] },
    ActivationSet { name: "lan2022_default6", activations: &[Sigmoid, Linear, Relu, Square, Step, Floor] },
    ActivationSet {
        name: "lan2022_extended8",
        activations: &[Sigmoid, Linear, Relu, Square, Step, Floor, Mod2, Mod3],
    },
    ActivationSet { name: "tests4", activations: &[Sigmoid, Linear, Relu, Square] },
    ActivationSet { name: "all15", activations: &UnitActivation::ALL },
];

/// The activations of a set's name, or of a list of names separated by commas. The error is what is not known.
pub fn activations_named(text: &str) -> Result<Vec<UnitActivation>, String> {
    if let Some(set) = ACTIVATION_SETS.iter().find(|set| set.name == text) {
        return Ok(set.activations.to_vec());
    }
    let mut list = Vec::new();
    for name in text.split(',').map(str::trim) {
        let activation = UnitActivation::named(name).ok_or_else(|| name.to_owned())?;
        if !list.contains(&activation) {
            list.push(activation);
        }
    }
    Ok(list)
}
