//! A network: units, and the edges between them.

use super::activation::UnitActivation;
use super::weight::RationalWeight;

/// How a unit combines its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// The sum of weighted inputs.
    Sum,
    /// The product of weighted inputs.
    Product,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkUnit {
    pub activation: UnitActivation,
    pub kind: UnitKind,
    /// What is added before the activation.
    pub bias: Option<RationalWeight>,
}

impl NetworkUnit {
    /// A sum without bias.
    pub fn sum(activation: UnitActivation) -> Self {
        Self { activation, kind: UnitKind::Sum, bias: None }
    }
}

/// An edge between units. Edges are ordered: forward ones first, then by source and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NetworkEdge {
    /// Whether it carries the source's value of the step before.
    pub recurrent: bool,
    /// Where it comes from.
    pub source: u16,
    pub target: u16,
    pub weight: RationalWeight,
}

impl NetworkEdge {
    /// What tells edges apart: there is at most one of each kind between two units.
    pub(super) fn key(&self) -> (bool, u16, u16) {
        (self.recurrent, self.source, self.target)
    }
}

/// The most units of a network.
pub const MAX_UNITS: usize = 1024;

/// A network. Units are numbered: inputs, then outputs, then hidden ones.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MdlNetwork {
    pub(super) inputs: u16,
    pub(super) outputs: u16,
    pub(super) units: Vec<NetworkUnit>,
    pub(super) edges: Vec<NetworkEdge>,
}

impl Clone for MdlNetwork {
    fn clone(&self) -> Self {
        Self {
            inputs: self.inputs,
            outputs: self.outputs,
            units: self.units.clone(),
            edges: self.edges.clone(),
        }
    }

    /// Keeps the memory that is there.
    fn clone_from(&mut self, other: &Self) {
        (self.inputs, self.outputs) = (other.inputs, other.outputs);
        self.units.clone_from(&other.units);
        self.edges.clone_from(&other.edges);
    }
}

/// Units and edges that are no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// None, or too many.
    #[error("a network has {0} units, but from 2 to {MAX_UNITS} are allowed")]
    Units(usize),
    /// Inputs or outputs are missing, or more than all units.
    #[error("a network of {units} units cannot have {inputs} inputs and {outputs} outputs")]
    InputsOutputs { units: usize, inputs: usize, outputs: usize },
    /// An edge from or to a unit that is not there.
    #[error("an edge goes from unit {0} to unit {1}, but the units are 0 to {2}")]
    Edge(usize, usize, usize),
    /// The same edge twice.
    #[error("there are two {0} edges from unit {1} to unit {2}")]
    Twice(&'static str, u16, u16),
    /// A fraction with denominator zero.
    #[error("a weight has the denominator 0")]
    Denominator,
}

impl MdlNetwork {
    /// Checks units and edges, which may be in any order.
    pub fn new(
        inputs: usize,
        outputs: usize,
        units: Vec<NetworkUnit>,
        mut edges: Vec<NetworkEdge>,
    ) -> Result<Self, NetworkError> {
        let n = units.len();
        if !(2..=MAX_UNITS).contains(&n) {
            return Err(NetworkError::Units(n));
        }
        if inputs == 0 || outputs == 0 || inputs.saturating_add(outputs) > n {
            return Err(NetworkError::InputsOutputs { units: n, inputs, outputs });
        }
        // Sorted once and kept so: an edge is found by bisection, and networks that are the same compare as
        // equal.
        edges.sort_unstable();
        for pair in edges.windows(2) {
            if pair[0].key() == pair[1].key() {
                let kind = if pair[0].recurrent { "recurrent" } else { "forward" };
                return Err(NetworkError::Twice(kind, pair[0].source, pair[0].target));
            }
        }
        for edge in &edges {
            let (source, target) = (usize::from(edge.source), usize::from(edge.target));
            if source >= n || target >= n {
                return Err(NetworkError::Edge(source, target, n - 1));
            }
        }
        let mut weights =
            edges.iter().map(|edge| edge.weight).chain(units.iter().filter_map(|unit| unit.bias));
        if weights.any(|weight| weight.denominator == 0) {
            return Err(NetworkError::Denominator);
        }
        Ok(Self { inputs: inputs as u16, outputs: outputs as u16, units, edges })
    }

    /// The number of inputs; they are the first units.
    pub fn inputs(&self) -> usize {
        usize::from(self.inputs)
    }

    /// The number of outputs; they follow the inputs.
    pub fn outputs(&self) -> usize {
        usize::from(self.outputs)
    }

    /// The number of units that are neither.
    pub fn hidden(&self) -> usize {
        self.units.len() - self.inputs() - self.outputs()
    }

    /// All units, by number.
    pub fn units(&self) -> &[NetworkUnit] {
        &self.units
    }

    /// All edges: forward ones first, by source and target.
    pub fn edges(&self) -> &[NetworkEdge] {
        &self.edges
    }

    pub fn forward(&self) -> &[NetworkEdge] {
        &self.edges[..self.forward_count()]
    }

    pub fn recurrent(&self) -> &[NetworkEdge] {
        &self.edges[self.forward_count()..]
    }

    pub(super) fn forward_count(&self) -> usize {
        self.edges.partition_point(|edge| !edge.recurrent)
    }

    /// The number of biases.
    pub(super) fn biases(&self) -> usize {
        self.units.iter().filter(|unit| unit.bias.is_some()).count()
    }

    /// The number of weights and biases: what can be changed by degrees.
    pub fn parameters(&self) -> usize {
        self.edges.len() + self.biases()
    }
}
