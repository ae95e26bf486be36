//! Dropout whose mask is a function of (seed, position), so that it is never stored: the way back, a resumed run and
//! another machine all see the same one, and a layer may apply it to its inputs as it reads them.

use std::ops::Range;

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Which numbers survive: a stream of yes and no, of as many places as 32 bits can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    keys: [u32; 2],
    /// A number is dropped if its sixteen random bits are below this.
    threshold: u32,
}

impl Mask {
    /// Drops nothing.
    pub const NONE: Self = Self { keys: [0, 0], threshold: 0 };

    /// Drops about a third.
    #[cfg(test)]
    pub(crate) const THIRD: Self = Self { keys: [0x1234_5678, 0x9abc_def0], threshold: 22_000 };

    /// A mask that drops each number with `probability`, to the nearest of 65,536 parts, drawn from `seed`.
    ///
    /// # Panics
    /// If the probability is not in `0.0..1.0`.
    pub fn new(seed: u64, probability: f64) -> Self {
        assert!((0.0..1.0).contains(&probability), "a dropout of {probability} is not in 0..1");
        #[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
        let threshold = (probability * DRAWS).round().min(DRAWS - 1.0) as u32;
        // Mixed, since the key that is added to places only shifts the stream.
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        Self { keys: [mix(low ^ mix(high.wrapping_add(0x9e37_79b9))), mix(high ^ mix(low))], threshold }
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

    /// The factors of two groups of numbers, the first of which is number `i`.
    #[inline(always)]
    fn groups<R: Real>(self, i: u32, scale: R) -> [R; BOTH] {
        let factor = |random: u32| if random < self.threshold { R::ZERO } else { scale };
        let mut factors = [R::ZERO; BOTH];
        for l in 0..GROUP as usize {
            let random = self.random(i / 2 + l as u32);
            factors[l] = factor(random & 0xffff);
            factors[l + GROUP as usize] = factor(random >> 16);
        }
        factors
    }

    /// The `i`-th 32 random bits. The keys are well mixed, so that one bijection more will do.
    #[inline(always)]
    fn random(self, i: u32) -> u32 {
        mix(i.wrapping_add(self.keys[1]).wrapping_mul(0x9e37_79b1) ^ self.keys[0])
    }
}

/// Values of sixteen random bits.
const DRAWS: f64 = 65_536.0;

/// Numbers that take the lower halves of their random bits; as many after them take the upper halves.
const GROUP: u32 = 8;

/// Numbers in both.
const BOTH: usize = 2 * GROUP as usize;

/// A bijection of 32 bits in which every input bit flips every output bit about half of the time.
#[inline(always)]
fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Numbers seen through a mask.
#[derive(Clone, Copy, Debug)]
pub struct Masked<'a, R> {
    /// All of them, the dropped ones too.
    pub numbers: &'a [R],
    /// Its first number is theirs.
    pub mask: Mask,
}

impl<'a, R> From<&'a [R]> for Masked<'a, R> {
    fn from(numbers: &'a [R]) -> Self {
        Self { numbers, mask: Mask::NONE }
    }
}

impl<'a, R: Real> Masked<'a, R> {
    /// Some of them as they are seen, in `room` if any may be dropped.
    pub(super) fn see<'b>(self, range: Range<usize>, workspace: &'b mut [R]) -> &'b [R]
    where
        'a: 'b,
    {
        let numbers = &self.numbers[range.clone()];
        if self.mask.keeps_all() {
            return numbers;
        }
        let seen = &mut workspace[..numbers.len()];
        dropout(seen, numbers, self.mask, range.start);
        seen
    }
}

/// `out = mask · inp / (1 − p)`, where `first` is the place of the first number in the mask. The way back is the same
/// function on gradients.
pub fn dropout<R: Real>(out: &mut [R], inp: &[R], mask: Mask, first: usize) {
    assert_eq!(out.len(), inp.len(), "as many numbers out of a mask as into it");
    dispatch!(body(out, Some(inp), mask, first as u32));
}

/// The same in place.
pub fn drop_in_place<R: Real>(numbers: &mut [R], mask: Mask, first: usize) {
    if !mask.keeps_all() {
        dispatch!(body(numbers, None, mask, first as u32));
    }
}

#[inline(always)]
fn body<R: Real, S: Simd>(s: S, out: &mut [R], inp: Option<&[R]>, mask: Mask, first: u32) {
    let scale = R::of(mask.scale());
    let before = first.wrapping_neg() as usize % BOTH;
    let (front, out) = out.split_at_mut(before.min(out.len()));
    let (inp_front, inp) = inp.map(|inp| inp.split_at(front.len())).unzip();
    singly(front, inp_front, mask, first, scale);
    let (whole, rest) = out.as_chunks_mut::<BOTH>();
    let (inp, inp_rest) = inp.map(<[R]>::as_chunks::<BOTH>).unzip();
    let mut at = first.wrapping_add(before as u32);
    for (i, out) in whole.iter_mut().enumerate() {
        let factors = mask.groups(at, scale);
        for l in (0..BOTH).step_by(V::<R, S>::lanes()) {
            let numbers = V::at(s, inp.map_or(&*out, |inp| &inp[i]), l);
            (numbers * V::at(s, &factors, l)).put(out, l);
        }
        at = at.wrapping_add(BOTH as u32);
    }
    singly(rest, inp_rest, mask, at, scale);
}

#[inline(always)]
fn singly<R: Real>(out: &mut [R], inp: Option<&[R]>, mask: Mask, first: u32, scale: R) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = inp.map_or(*out, |inp| inp[i]) * mask.factor(first.wrapping_add(i as u32), scale);
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::PORTABLE;
    use super::super::testing::numbers;
    use super::*;

    #[test]
    fn survivors_are_as_many_as_asked_and_make_up_for_the_dead() {
        let inp = vec![1.0f32; 100_003];
        for p in [0.1, 0.5, 0.9] {
            let mut out = vec![0.0; inp.len()];
            dropout(&mut out, &inp, Mask::new(7, p), 0);
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
            dropout(&mut out, &inp, mask, 0);
            out
        };
        let mask = Mask::new(7, 0.5);
        assert_eq!(run(mask), run(mask));
        for other in [Mask::new(8, 0.5), mask.nth(1), Mask::new(7 << 32, 0.5), Mask::new(7 | 1 << 32, 0.5)] {
            // Nor is one the other further on.
            for shift in [0, 1, 8, 16] {
                let pairs = run(mask).into_iter().skip(shift).zip(run(other)).take(900);
                let agree = pairs.filter(|(a, b)| (a - b).abs() < 1e-9).count();
                assert!((380..520).contains(&agree), "{agree}");
            }
        }
        let mut portable = vec![0.0; inp.len()];
        body(PORTABLE, &mut portable, Some(&inp), mask, 0);
        assert_eq!(portable, run(mask));
        assert_eq!(run(Mask::new(7, 0.0)), inp);
        let single: Vec<f64> = (0..1000).map(|i| mask.factor(i, mask.scale())).collect();
        assert_eq!(run(mask), single);
    }

    #[test]
    fn a_part_sees_its_part_of_the_mask() {
        let (inp, mask) = (numbers(1, 200), Mask::new(7, 0.3));
        let mut whole = inp.clone();
        drop_in_place(&mut whole, mask, 0);
        let (seen, mut workspace) = (Masked { numbers: &inp, mask }, vec![9.0; inp.len()]);
        for (from, to) in [(0, 200), (0, 5), (3, 9), (7, 16), (16, 32), (5, 100), (33, 33), (40, 200)] {
            assert_eq!(seen.see(from..to, &mut workspace), &whole[from..to], "{from}..{to}");
            let mut part = inp[from..to].to_vec();
            drop_in_place(&mut part, mask, from);
            assert_eq!(part, whole[from..to], "{from}..{to}");
        }
        let all = Masked { numbers: &inp, mask: Mask::NONE };
        assert_eq!(all.see(3..9, &mut []), &inp[3..9]);
    }
}
