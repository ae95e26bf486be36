//! Parameters: named tensors, laid out in one flat vector.
//!
//! A [`Layout`] has names, shapes and initial distributions; the values are a slice of the same length. Gradients and the
//! optimiser's moments have the same layout, so that an update is one pass over memory.

use wug_dataset::Seed;
use wug_language::draw;

use crate::kernel::{Real, norm};

/// The range of one parameter in the flat vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    start: usize,
    len: usize,
}

impl Param {
    pub fn of<R>(self, all: &[R]) -> &[R] {
        &all[self.start..self.start + self.len]
    }

    pub fn of_mut<R>(self, all: &mut [R]) -> &mut [R] {
        &mut all[self.start..self.start + self.len]
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }

    /// A part of it, as when an output layer shares rows of an embedding.
    ///
    /// # Panics
    /// If the part is not inside.
    #[must_use]
    pub fn part(self, start: usize, len: usize) -> Self {
        assert!(start + len <= self.len, "elements {start}..{} of {}", start + len, self.len);
        Self { start: self.start + start, len }
    }

    /// The number of elements.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// How a parameter is initialised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Init {
    /// Every element the same.
    Constant(f64),
    Uniform(f64),
    /// Normal with mean zero and this standard deviation.
    Normal(f64),
    /// The norms of the rows of a parameter that was added before.
    Lengths(Param),
}

impl Init {
    /// Glorot and Bengio's uniform bound for a matrix `[fan_out, fan_in]`.
    pub fn xavier(fan_in: usize, fan_out: usize, gain: f64) -> Self {
        Self::Uniform(gain * libm::sqrt(6.0 / (fan_in + fan_out) as f64))
    }

    fn fill<R: Real>(self, param: Param, all: &mut [R], seed: Seed) {
        let (before, values) = all.split_at_mut(param.start);
        let (values, mut rng) = (&mut values[..param.len], seed.rng());
        for (i, x) in values.iter_mut().enumerate() {
            *x = R::of(match self {
                Self::Constant(c) => c,
                Self::Uniform(bound) => bound * (2.0 * draw::unit(&mut rng) - 1.0),
                Self::Normal(deviation) => {
                    let (u, v) = (1.0 - draw::unit(&mut rng), draw::unit(&mut rng));
                    let radius = libm::sqrt(-2.0 * libm::log(u));
                    deviation * radius * libm::cos(2.0 * std::f64::consts::PI * v)
                }
                Self::Lengths(of) => {
                    let width = of.len / param.len;
                    norm(&of.of(before)[i * width..(i + 1) * width]).wide()
                }
            });
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ParamEntry {
    /// The name in checkpoints, such as `layers.0.weight_ih`.
    pub name: String,
    pub shape: Vec<usize>,
    /// How it is initialised.
    pub init: Init,
    pub param: Param,
}

/// All parameters of a model, in the order they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    entries: Vec<ParamEntry>,
    total: usize,
}

impl Layout {
    /// Adds a tensor behind those that are there.
    ///
    /// # Panics
    /// If there is a tensor of that name: names are unique in a checkpoint.
    pub fn add(&mut self, name: impl Into<String>, shape: &[usize], init: Init) -> Param {
        let name = name.into();
        assert!(self.find(&name).is_none(), "two parameters are called {name}");
        let param = Param { start: self.total, len: shape.iter().product() };
        self.total += param.len;
        self.entries.push(ParamEntry { name, shape: shape.to_vec(), init, param });
        param
    }

    pub fn entries(&self) -> &[ParamEntry] {
        &self.entries
    }

    /// The tensor of that name.
    pub fn find(&self, name: &str) -> Option<&ParamEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The number of elements of all tensors.
    pub fn count(&self) -> usize {
        self.total
    }

    /// Initial values. Each tensor is drawn from a random stream of its own name, so that a new one changes no other.
    pub fn initialise<R: Real>(&self, seed: Seed) -> Vec<R> {
        let mut all = vec![R::ZERO; self.total];
        for entry in &self.entries {
            entry.init.fill(entry.param, &mut all, seed.derive(&entry.name));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_drawn_from_their_own_streams() {
        let mut layout = Layout::default();
        let a = layout.add("a", &[2, 300], Init::Uniform(0.1));
        let one: Vec<f64> = layout.initialise(Seed::new(1));
        let b = layout.add("b", &[50_000], Init::Normal(2.0));
        let c = layout.add("c", &[3], Init::Constant(1.0));
        let d = layout.add("d", &[2], Init::Lengths(a));
        let two: Vec<f64> = layout.initialise(Seed::new(1));
        assert_eq!(a.of(&one), a.of(&two));
        assert!(a.of(&one).iter().all(|x| x.abs() <= 0.1));
        assert_eq!(c.of(&two), [1.0; 3]);
        for (row, length) in a.of(&two).chunks(300).zip(d.of(&two)) {
            let squares: f64 = row.iter().map(|x| x * x).sum();
            assert!((length * length - squares).abs() < 1e-12);
        }
        let mean = b.of(&two).iter().sum::<f64>() / 5e4;
        let variance = b.of(&two).iter().map(|x| x * x).sum::<f64>() / 5e4;
        assert!(mean.abs() < 0.05 && (variance - 4.0).abs() < 0.1, "{mean} {variance}");
    }
}
