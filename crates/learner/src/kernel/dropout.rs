//! Dropout whose mask is a function of (seed, position), so that it is never stored: the way back, a resumed run and
//! another machine all see the same one.

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Which numbers survive: an unlimited stream of yes and no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    keys: [u32; 2],
    /// A number is dropped if its sixteen random bits are below this.
    threshold: u32,
}

impl Mask {
    /// A mask that drops each number with `probability`, to the nearest of 65,536 parts, drawn from `seed`.
    ///
    /// # Panics
    /// If the probability is not in `0.0..1.0`.
    pub fn new(seed: u64, probability: f64) -> Self {
        assert!((0.0..1.0).contains(&probability), "a dropout of {probability} is not in 0..1");
        #[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
        let threshold = (probability * DRAWS).round().min(DRAWS - 1.0) as u32;
        Self { keys: [seed as u32, (seed >> 32) as u32], threshold }
    }

    /// True if nothing is ever dropped.
    pub fn keeps_all(self) -> bool {
        self.threshold == 0
    }

    /// The mask of the `index`-th of many tensors that share a seed.
    #[must_use]
    pub fn nth(self, index: usize) -> Self {
        let [a, b] = self.keys;
        let index = index as u32;
        Self { keys: [mix(a ^ mix(index.wrapping_add(0x9e37_79b9))), mix(b.wrapping_add(index))], ..self }
    }

    /// What the survivors are multiplied by: one over the probability of survival.
    pub fn scale(self) -> f64 {
        1.0 / (1.0 - f64::from(self.threshold) / DRAWS)
    }

    /// The factor of number `i`: 0 or [`Mask::scale`].
    #[inline(always)]
    pub(super) fn factor<R: Real>(self, i: u32, scale: R) -> R {
        let random = self.random(i / (2 * GROUP) * GROUP + i % GROUP);
        let random = if (i / GROUP).is_multiple_of(2) { random & 0xffff } else { random >> 16 };
        if random < self.threshold { R::ZERO } else { scale }
    }

    /// The factors of numbers `start`, `start + stride`, … into `factors`.
    #[inline(always)]
    pub(super) fn factors<R: Real>(self, factors: &mut [R], start: u32, stride: u32, scale: R) {
        for (l, factor) in factors.iter_mut().enumerate() {
            *factor = self.factor(start.wrapping_add(stride.wrapping_mul(l as u32)), scale);
        }
    }

    /// The factors of the `g`-th two groups of numbers.
    #[inline(always)]
    fn groups<R: Real>(self, g: u32, scale: R) -> [R; 2 * GROUP as usize] {
        let mut factors = [R::ZERO; 2 * GROUP as usize];
        for l in 0..GROUP as usize {
            let random = self.random(g * GROUP + l as u32);
            factors[l] = if random & 0xffff < self.threshold { R::ZERO } else { scale };
            factors[l + GROUP as usize] = if random >> 16 < self.threshold { R::ZERO } else { scale };
        }
        factors
    }

    /// The `i`-th 32 random bits.
    #[inline(always)]
    fn random(self, i: u32) -> u32 {
        mix(mix(i.wrapping_mul(0x9e37_79b1) ^ self.keys[0]).wrapping_add(self.keys[1]))
    }
}

/// Values of sixteen random bits.
const DRAWS: f64 = 65_536.0;

/// Numbers that take the lower halves of their random bits; as many after them take the upper halves.
const GROUP: u32 = 8;

/// A bijection of 32 bits in which every input bit flips every output bit about half of the time.
#[inline(always)]
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// `out = mask · inp / (1 − p)`. The way back is the same function on gradients.
pub fn dropout<R: Real>(out: &mut [R], inp: &[R], mask: Mask) {
    dispatch!(body(out, inp, mask));
}

#[inline(always)]
fn body<R: Real, S: Simd>(s: S, out: &mut [R], inp: &[R], mask: Mask) {
    let (lanes, scale) = (V::<R, S>::lanes(), R::of(mask.scale()));
    let groups = out.chunks_mut(2 * GROUP as usize).zip(inp.chunks(2 * GROUP as usize));
    for (g, (out, inp)) in groups.enumerate() {
        let factors = mask.groups(g as u32, scale);
        for i in (0..inp.len()).step_by(lanes) {
            (V::at(s, inp, i) * V::at(s, &factors, i)).put(out, i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::PORTABLE;
    use super::*;

    #[test]
    fn survivors_are_as_many_as_asked_and_make_up_for_the_dead() {
        let inp = vec![1.0f32; 100_003];
        for p in [0.1, 0.5, 0.9] {
            let mut out = vec![0.0; inp.len()];
            dropout(&mut out, &inp, Mask::new(7, p));
            let kept = out.iter().filter(|&&x| x.abs() > 1e-9).count() as f64 / inp.len() as f64;
            assert!((kept - (1.0 - p)).abs() < 0.006, "{kept}");
            let factor = Mask::new(7, p).scale();
            assert!((factor * (1.0 - p) - 1.0).abs() < 1e-4, "{factor}");
            assert!(out.iter().all(|&x| x.abs() < 1e-9 || (f64::from(x) - factor).abs() < 1e-5));
        }
    }

    #[test]
    fn masks_depend_on_seed_and_index_and_not_on_the_machine() {
        let inp = vec![1.0f64; 1000];
        let run = |mask: Mask| {
            let mut out = vec![0.0; inp.len()];
            dropout(&mut out, &inp, mask);
            out
        };
        let mask = Mask::new(7, 0.5);
        assert_eq!(run(mask), run(mask));
        for other in [Mask::new(8, 0.5), mask.nth(1), Mask::new(7 << 32, 0.5)] {
            let agree = run(mask).iter().zip(run(other)).filter(|(a, b)| (*a - b).abs() < 1e-9).count();
            assert!((400..600).contains(&agree), "{agree}");
        }
        let mut portable = vec![0.0; inp.len()];
        body(PORTABLE, &mut portable, &inp, mask);
        assert_eq!(portable, run(mask));
        assert_eq!(run(Mask::new(7, 0.0)), inp);
        let single: Vec<f64> = (0..1000).map(|i| mask.factor(i, mask.scale())).collect();
        assert_eq!(run(mask), single);
    }
}
