//! The operators that change a network at random, as in Lan et al. 2022. One is chosen with equal probability among those that are
//! possible.

use rand_core::Rng;
use wug_language::draw::{below, choose, coin, unit};

use super::activation::UnitActivation;
use super::network::{MdlNetwork, NetworkEdge, NetworkUnit, UnitKind};
use super::weight::RationalWeight;

/// What a search may build networks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchSpace {
    /// The activations of outputs and hidden units.
    pub activations: Vec<UnitActivation>,
    /// Whether units may be products.
    pub products: bool,
    pub max_units: usize,
    /// Whether the first networks have sigmoid outputs only.
    pub start_smooth: bool,
}

/// A change of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mutation {
    AddUnit,
    RemoveUnit,
    ChangeActivation,
    ChangeKind,
    AddEdge,
    RemoveEdge,
    AddBias,
    RemoveBias,
    ChangeWeight,
}

/// A sign, and numerator and denominator that are each one more than the number of heads before the first tails.
pub(super) fn random_weight(rng: &mut dyn Rng) -> RationalWeight {
    let bits = rng.next_u64();
    // Geometric with ½, as released (1 + ⌊−log₂ u⌋), without a logarithm: the number of leading zeros of
    // random bits.
    let heads = |half: u32| half.leading_zeros() + 1;
    RationalWeight {
        negative: coin(rng),
        numerator: heads((bits >> 32) as u32),
        denominator: heads(bits as u32),
    }
}

impl MdlNetwork {
    /// A network without hidden units: each output has an edge from one input.
    pub(super) fn random(inputs: usize, outputs: usize, alphabet: &SearchSpace, rng: &mut dyn Rng) -> Self {
        let mut units = vec![NetworkUnit::sum(UnitActivation::Linear); inputs];
        let mut edges = Vec::with_capacity(2 * outputs);
        for output in 0..outputs {
            let source = below(rng, inputs) as u16;
            let weight = random_weight(rng);
            edges.push(NetworkEdge { recurrent: false, source, target: (inputs + output) as u16, weight });
            let activation = if alphabet.start_smooth {
                UnitActivation::Sigmoid
            } else {
                *choose(rng, &alphabet.activations)
            };
            units.push(NetworkUnit::sum(activation));
        }
        edges.sort_unstable();
        Self { inputs: inputs as u16, outputs: outputs as u16, units, edges }
    }

    /// Changes the network by one operator.
    pub(super) fn mutate(&mut self, alphabet: &SearchSpace, rng: &mut dyn Rng) {
        let mut possible = [Mutation::AddUnit; 9];
        let mut count = 0;
        let mut offer = |operator, is_possible: bool| {
            if is_possible {
                possible[count] = operator;
                count += 1;
            }
        };
        let (edges, biases, hidden) = (self.edges.len(), self.biases(), self.hidden());
        let changeable = hidden + self.outputs();
        // Only what is possible is drawn, and with equal probability: no operator is drawn in vain.
        offer(Mutation::AddUnit, self.units.len() < alphabet.max_units && edges > 0);
        offer(Mutation::RemoveUnit, hidden > 0);
        offer(Mutation::ChangeActivation, alphabet.activations.len() > 1);
        offer(Mutation::ChangeKind, alphabet.products);
        offer(Mutation::AddEdge, edges < self.possible_edges(false) + self.possible_edges(true));
        offer(Mutation::RemoveEdge, edges > 0);
        offer(Mutation::AddBias, biases < changeable);
        offer(Mutation::RemoveBias, biases > 0);
        offer(Mutation::ChangeWeight, edges + biases > 0);
        self.apply(possible[below(rng, count)], alphabet, rng);
    }

    fn apply(&mut self, operator: Mutation, alphabet: &SearchSpace, rng: &mut dyn Rng) {
        let first = self.inputs();
        match operator {
            Mutation::AddUnit => {
                let kind = if alphabet.products && coin(rng) { UnitKind::Product } else { UnitKind::Sum };
                let activation = *choose(rng, &alphabet.activations);
                let edge = below(rng, self.edges.len());
                self.split_edge(edge, NetworkUnit { activation, kind, bias: None });
            }
            Mutation::RemoveUnit => {
                let unit = first + self.outputs() + below(rng, self.hidden());
                self.remove_unit(unit as u16);
            }
            Mutation::ChangeActivation => {
                let at = first + below(rng, self.units.len() - first);
                let old = self.units[at].activation;
                let others = alphabet.activations.iter().filter(|&&other| other != old);
                let chosen = below(rng, others.clone().count());
                if let Some(&new) = others.clone().nth(chosen) {
                    self.units[at].activation = new;
                }
            }
            Mutation::ChangeKind => {
                let at = first + below(rng, self.units.len() - first);
                self.units[at].kind = match self.units[at].kind {
                    UnitKind::Sum => UnitKind::Product,
                    UnitKind::Product => UnitKind::Sum,
                };
            }
            Mutation::AddEdge => self.add_random_edge(rng),
            Mutation::RemoveEdge => {
                let edge = below(rng, self.edges.len());
                self.edges.remove(edge);
            }
            Mutation::AddBias => {
                let without = self.units.len() - first - self.biases_from(first);
                let chosen = below(rng, without);
                let weight = random_weight(rng);
                let mut free = self.units[first..].iter_mut().filter(|unit| unit.bias.is_none());
                if let Some(unit) = free.nth(chosen) {
                    unit.bias = Some(weight);
                }
            }
            Mutation::RemoveBias => {
                let chosen = below(rng, self.biases());
                let mut with = self.units.iter_mut().filter(|unit| unit.bias.is_some());
                if let Some(unit) = with.nth(chosen) {
                    unit.bias = None;
                }
            }
            Mutation::ChangeWeight => {
                let chosen = below(rng, self.parameters());
                if let Some(weight) = self.weight_mut(chosen) {
                    *weight = perturbed(*weight, rng);
                }
            }
        }
    }

    fn biases_from(&self, first: usize) -> usize {
        self.units[first..].iter().filter(|unit| unit.bias.is_some()).count()
    }

    /// The `i`-th weight: edges first, then biases.
    pub(super) fn weight_mut(&mut self, i: usize) -> Option<&mut RationalWeight> {
        let edges = self.edges.len();
        if i < edges {
            return Some(&mut self.edges[i].weight);
        }
        self.units.iter_mut().filter_map(|unit| unit.bias.as_mut()).nth(i - edges)
    }

    /// How many edges of a kind there can be: none into inputs, none out of outputs, no forward one from a unit to itself.
    fn possible_edges(&self, recurrent: bool) -> usize {
        let (hidden, outputs) = (self.hidden(), self.outputs());
        let from_hidden = if recurrent { hidden + outputs } else { (hidden + outputs).saturating_sub(1) };
        self.inputs() * (hidden + outputs) + hidden * from_hidden
    }

    /// The kind is drawn among those that can still be added, then the source among units with a free target, then the target.
    fn add_random_edge(&mut self, rng: &mut dyn Rng) {
        let forward = self.forward_count();
        let addable =
            [forward < self.possible_edges(false), self.edges.len() - forward < self.possible_edges(true)];
        let recurrent = if addable[0] && addable[1] { coin(rng) } else { addable[1] };
        let of_kind = if recurrent { &self.edges[forward..] } else { &self.edges[..forward] };
        let (inputs, units) = (self.inputs, self.units.len() as u16);
        let hidden = inputs + self.outputs;
        let targets = usize::from(units - inputs);
        let free = |source: u16| {
            let from = of_kind.partition_point(|edge| edge.source < source);
            let taken = of_kind[from..].iter().take_while(|edge| edge.source == source);
            // Edges into inputs, which a network from elsewhere may have, take no target away.
            let taken = taken.filter(|edge| edge.target >= inputs).count();
            targets - taken - usize::from(!recurrent && source >= hidden)
        };
        let sources = (0..inputs).chain(hidden..units).filter(|&source| free(source) > 0);
        let count = sources.clone().count();
        if count == 0 {
            return;
        }
        let chosen = below(rng, count);
        let Some(source) = sources.clone().nth(chosen) else { return };
        let nth = below(rng, free(source));
        let is_free = |target: &u16| {
            let itself = !recurrent && *target == source;
            let key = (recurrent, source, *target);
            !itself && self.edges.binary_search_by_key(&key, NetworkEdge::key).is_err()
        };
        let Some(target) = (inputs..units).filter(is_free).nth(nth) else { return };
        let weight = random_weight(rng);
        self.insert_edge(NetworkEdge { recurrent, source, target, weight });
    }

    /// Adds a unit that remembers: a hidden unit that keeps its value from step to step, with one to three inputs that add the same
    /// amount or take it away, and one or two edges out. Of its parts none is of use without the others, so that to find
    /// them one by one takes long.
    pub(super) fn add_memory(&mut self, alphabet: &SearchSpace, rng: &mut dyn Rng) {
        // Ours, for annealing; Lan et al. have no such operator.
        if self.units.len() >= alphabet.max_units {
            return;
        }
        let (inputs, new) = (self.inputs(), self.units.len() as u16);
        self.units.push(NetworkUnit::sum(*choose(rng, &alphabet.activations)));
        self.insert_edge(NetworkEdge {
            recurrent: true,
            source: new,
            target: new,
            weight: RationalWeight::ONE,
        });
        let amount = random_weight(rng);
        for _ in 0..=below(rng, 3) {
            let (source, weight) =
                (below(rng, inputs) as u16, RationalWeight { negative: coin(rng), ..amount });
            self.insert_edge(NetworkEdge { recurrent: false, source, target: new, weight });
        }
        for _ in 0..=below(rng, 2) {
            // To an output or another hidden unit.
            let target = (inputs + below(rng, usize::from(new) - inputs)) as u16;
            self.insert_edge(NetworkEdge {
                recurrent: coin(rng),
                source: new,
                target,
                weight: random_weight(rng),
            });
        }
    }

    /// Inserts an edge that is not there.
    pub(super) fn insert_edge(&mut self, edge: NetworkEdge) {
        if let Err(at) = self.edges.binary_search_by_key(&edge.key(), NetworkEdge::key) {
            self.edges.insert(at, edge);
        }
    }

    /// Puts a new unit into an edge. What comes in keeps the kind and weight of the edge; what goes out is forward, with weight 1.
    pub(super) fn split_edge(&mut self, at: usize, unit: NetworkUnit) {
        let new = self.units.len() as u16;
        let edge = self.edges.remove(at);
        self.units.push(unit);
        self.insert_edge(NetworkEdge { target: new, ..edge });
        self.insert_edge(NetworkEdge {
            recurrent: false,
            source: new,
            target: edge.target,
            weight: RationalWeight::ONE,
        });
    }

    /// Removes a hidden unit. Its sources are linked to its targets, with the weights of the edges that came in; the last
    /// unit gets its number.
    pub(super) fn remove_unit(&mut self, unit: u16) {
        let find = |edges: &[NetworkEdge], recurrent, source, target| {
            let found = edges.binary_search_by_key(&(recurrent, source, target), NetworkEdge::key);
            found.ok().map(|at| edges[at].weight)
        };
        let units = self.units.len() as u16;
        let own = self.edges.len();
        // Bridges go to the end of the list, which is sorted again below; what is looked up is the part that was there.
        for source in (0..units).filter(|&source| source != unit) {
            let old = &self.edges[..own];
            let (forward_in, recurrent_in) = (find(old, false, source, unit), find(old, true, source, unit));
            if forward_in.is_none() && recurrent_in.is_none() {
                continue;
            }
            for target in (0..units).filter(|&target| target != unit) {
                let old = &self.edges[..own];
                let forward_out = find(old, false, unit, target).is_some();
                let recurrent_out = find(old, true, unit, target).is_some();
                if !forward_out && !recurrent_out {
                    continue;
                }
                let has_forward = find(old, false, source, target).is_some();
                let has_recurrent = find(old, true, source, target).is_some();
                // As released: a bridge is recurrent if either half was, and has the weight of the edge that
                // came in.
                if (recurrent_in.is_some() || recurrent_out)
                    && !has_recurrent
                    && let Some(weight) = recurrent_in.or(forward_in)
                {
                    self.edges.push(NetworkEdge { recurrent: true, source, target, weight });
                }
                if let Some(weight) = forward_in
                    && (forward_out || recurrent_in.is_some())
                    && !has_forward
                    && source != target
                {
                    self.edges.push(NetworkEdge { recurrent: false, source, target, weight });
                }
            }
        }
        self.edges.retain(|edge| edge.source != unit && edge.target != unit);
        let last = units - 1;
        if last != unit {
            for edge in &mut self.edges {
                for end in [&mut edge.source, &mut edge.target] {
                    if *end == last {
                        *end = unit;
                    }
                }
            }
        }
        self.units.swap_remove(usize::from(unit));
        self.edges.sort_unstable();
    }
}

/// A weight next to this one: another sign (the more often, the smaller it is), or numerator or denominator one more or less.
pub(super) fn perturbed(mut weight: RationalWeight, rng: &mut dyn Rng) -> RationalWeight {
    let flip = (1.0 - f64::from(weight.numerator) / f64::from(weight.denominator)).max(0.0);
    // Three changes with weights max(0, 1 − |w|), 1 and 1, as released: small weights cross zero by their
    // sign, since numerators stay positive.
    let drawn = unit(rng) * (flip + 2.0);
    if drawn < flip {
        weight.negative = !weight.negative;
        return weight;
    }
    let value = if drawn < flip + 1.0 { &mut weight.numerator } else { &mut weight.denominator };
    let down = *value > 1 && coin(rng);
    *value = if down { *value - 1 } else { value.saturating_add(1) };
    weight
}
