//! The order in which units are evaluated, and the forward edges that are ignored because they close a cycle.

use super::network::MdlNetwork;
use super::set_order::{order_of_set, order_of_unions};

/// The order of evaluation. Units that neither reach an output nor feed a recurrent edge are not in it.
#[derive(Clone, Debug, Default)]
pub struct EvaluationOrder {
    /// The units, each after its sources.
    pub units: Vec<u16>,
    /// For each forward edge, whether it is ignored.
    pub ignored: Vec<bool>,
    scratch: Scratch,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Sources by target, in the order in which they are visited: `sources[starts[u]..starts[u + 1]]`.
    sources: Vec<u16>,
    starts: Vec<u32>,
    /// The edge from each source to its target.
    edges: Vec<u32>,
    marks: Vec<VisitMark>,
    stack: Vec<(u16, u32)>,
    roots: Vec<u16>,
    order: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VisitMark {
    Unseen,
    /// Its sources are being visited.
    Open,
    Done,
}

impl EvaluationOrder {
    /// The order of a network.
    pub fn of(network: &MdlNetwork) -> Self {
        let mut order = Self::default();
        order.find(network);
        order
    }

    /// The same in memory that is there already.
    pub(super) fn find(&mut self, network: &MdlNetwork) {
        self.units.clear();
        self.ignored.clear();
        self.ignored.resize(network.forward_count(), false);
        self.scratch.list_sources(network);
        let s = &mut self.scratch;
        // From the outputs.
        s.roots.clear();
        s.roots.extend(network.inputs..network.inputs + network.outputs);
        order_of_set(&mut s.roots);
        s.visit(network.units.len(), &mut self.ignored);
        self.units.extend_from_slice(&s.order);
        // From the units that feed recurrent edges and are not evaluated yet. The search starts anew: it may go through units
        // that are evaluated, and find other edges to ignore.
        s.roots.clear();
        for edge in network.recurrent() {
            if s.roots.last() != Some(&edge.source) {
                s.roots.push(edge.source);
            }
        }
        order_of_set(&mut s.roots);
        let marks = &s.marks;
        s.roots.retain(|&unit| marks[usize::from(unit)] == VisitMark::Unseen);
        if s.roots.is_empty() {
            return;
        }
        // A difference of sets, a list, and a set again.
        order_of_set(&mut s.roots);
        order_of_set(&mut s.roots);
        s.visit(network.units.len(), &mut self.ignored);
        for &unit in &s.order {
            if !self.units.contains(&unit) {
                self.units.push(unit);
            }
        }
    }
}

impl Scratch {
    fn list_sources(&mut self, network: &MdlNetwork) {
        let (units, forward) = (network.units.len(), network.forward());
        self.starts.clear();
        self.starts.resize(units + 2, 0);
        for edge in forward {
            self.starts[usize::from(edge.target) + 2] += 1;
        }
        for u in 2..units + 2 {
            self.starts[u] += self.starts[u - 1];
        }
        self.sources.clear();
        self.sources.resize(forward.len(), 0);
        self.edges.clear();
        self.edges.resize(forward.len(), 0);
        // Edges are sorted by source, so the sources of each target are in ascending order.
        for (i, edge) in forward.iter().enumerate() {
            let at = &mut self.starts[usize::from(edge.target) + 1];
            self.sources[*at as usize] = edge.source;
            self.edges[*at as usize] = i as u32;
            *at += 1;
        }
        for unit in 0..units {
            let range = self.starts[unit] as usize..self.starts[unit + 1] as usize;
            if unit < network.inputs() && !range.is_empty() {
                // The sources of inputs are in one set with a node that stands for what is outside.
                let mut with_outside = self.sources[range.clone()].to_vec();
                with_outside.push(units as u16 + 1);
                order_of_unions(&mut with_outside);
                with_outside.retain(|&source| usize::from(source) < units);
                self.sources[range.clone()].copy_from_slice(&with_outside);
            } else {
                order_of_unions(&mut self.sources[range.clone()]);
            }
            for i in range {
                let source = self.sources[i];
                let edge = forward.binary_search_by_key(&(source, unit as u16), |e| (e.source, e.target));
                self.edges[i] = edge.unwrap_or(0) as u32;
            }
        }
    }

    /// Depth first from the roots, against the edges.
    fn visit(&mut self, units: usize, ignored: &mut [bool]) {
        self.marks.clear();
        self.marks.resize(units, VisitMark::Unseen);
        self.order.clear();
        for i in 0..self.roots.len() {
            let root = self.roots[i];
            if self.marks[usize::from(root)] != VisitMark::Unseen {
                continue;
            }
            self.marks[usize::from(root)] = VisitMark::Open;
            self.stack.push((root, self.starts[usize::from(root)]));
            while let Some((unit, next)) = self.stack.last_mut() {
                let (unit, at) = (*unit, *next as usize);
                if at == self.starts[usize::from(unit) + 1] as usize {
                    self.marks[usize::from(unit)] = VisitMark::Done;
                    self.order.push(unit);
                    self.stack.pop();
                    continue;
                }
                *next += 1;
                let source = self.sources[at];
                match self.marks[usize::from(source)] {
                    VisitMark::Done => {}
                    VisitMark::Open => ignored[self.edges[at] as usize] = true,
                    VisitMark::Unseen => {
                        self.marks[usize::from(source)] = VisitMark::Open;
                        self.stack.push((source, self.starts[usize::from(source)]));
                    }
                }
            }
        }
    }
}
