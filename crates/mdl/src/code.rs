//! |G|: the length of the code of a network, in bits.

use super::activation::UnitActivation;
use super::network::MdlNetwork;
use super::weight::integer_bits;

/// The parts of the length of a network's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeLength {
    /// The number of units.
    pub unit_count: u32,
    /// The number of edges that leave each unit.
    pub fanouts: u32,
    /// Whether each edge is recurrent.
    pub edge_kinds: u32,
    /// Where each edge goes.
    pub edge_targets: u32,
    pub weights: u32,
    /// Whether each unit is a sum or a product.
    pub unit_kinds: u32,
    /// The numbers of activations.
    pub activation_ids: u32,
    /// The prices of activations.
    pub activation_costs: u32,
    /// The biases, or their absence.
    pub biases: u32,
}

impl CodeLength {
    /// The length of all.
    pub fn total(self) -> u32 {
        self.unit_count
            + self.fanouts
            + self.edge_kinds
            + self.edge_targets
            + self.weights
            + self.unit_kinds
            + self.activation_ids
            + self.activation_costs
            + self.biases
    }

    /// The parts by name.
    pub fn parts(self) -> [(&'static str, u32); 9] {
        [
            ("unit_count", self.unit_count),
            ("fanouts", self.fanouts),
            ("edge_kinds", self.edge_kinds),
            ("edge_targets", self.edge_targets),
            ("weights", self.weights),
            ("unit_kinds", self.unit_kinds),
            ("activation_ids", self.activation_ids),
            ("activation_costs", self.activation_costs),
            ("biases", self.biases),
        ]
    }
}

/// ⌈log₂ n⌉: the digits that tell n things apart.
fn digits(n: usize) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

impl MdlNetwork {
    /// The length of its code if `allowed` is the number of activations that it could have.
    ///
    /// Inputs and outputs cost as much as hidden units. An activation whose number has more digits than the field takes them
    /// all, as the released code does.
    pub fn code_length(&self, allowed: usize) -> CodeLength {
        let (units, field) = (self.units.len(), digits(allowed));
        // Sources are not coded: the edges of each unit follow its fan-out, so an edge names its kind, target
        // and weight only.
        let mut length = CodeLength {
            unit_count: integer_bits(units as u32),
            edge_kinds: self.edges.len() as u32,
            edge_targets: self.edges.len() as u32 * digits(units),
            weights: self.edges.iter().map(|edge| edge.weight.bits()).sum(),
            unit_kinds: units as u32,
            ..CodeLength::default()
        };
        let forward = self.forward_count();
        let (mut i, mut j) = (0, forward);
        for (id, unit) in self.units.iter().enumerate() {
            let from = (i, j);
            while i < forward && usize::from(self.edges[i].source) == id {
                i += 1;
            }
            while j < self.edges.len() && usize::from(self.edges[j].source) == id {
                j += 1;
            }
            length.fanouts += integer_bits((i - from.0 + j - from.1) as u32);
            length.activation_ids += field.max(own_digits(unit.activation));
            length.activation_costs += unit.activation.cost() + 1;
            // Two zeros say that there is no bias.
            length.biases += unit.bias.map_or(2, super::weight::RationalWeight::bits);
        }
        length
    }

    pub fn grammar_bits(&self, allowed: usize) -> u32 {
        self.code_length(allowed).total()
    }
}

/// The digits of an activation's number; that of 0 has one.
fn own_digits(activation: UnitActivation) -> u32 {
    (u8::BITS - activation.id().leading_zeros()).max(1)
}
