//! Dropout whose mask is a function of (seed, index of the element), so that it is never stored: the backward pass, a resumed
//! run and another machine all compute the same one, and a layer can apply it to its inputs as it reads them.

use std::ops::Range;

use pulp::Simd;

use super::Real;
use super::simd::{V, dispatch};

/// Which elements are kept: a stream of bits, indexed by 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropoutMask {
    keys: [u32; 2],
    /// An element is dropped if its sixteen random bits are below this.
    threshold: u32,
}

impl DropoutMask {
    pub const NONE: Self = Self { keys: [0, 0], threshold: 0 };

    /// Drops about a third.
    #[cfg(test)]
    pub(crate) const THIRD: Self = Self { keys: [0x1234_5678, 0x9abc_def0], threshold: 22_000 };

    /// A mask, drawn from `seed`, that drops each element with `probability`, rounded to a multiple of 1/65,536.
    ///
    /// # Panics
    /// If the probability is not in `0.0..1.0`.
    pub fn new(seed: u64, probability: f64) -> Self {
        assert!((0.0..1.0).contains(&probability), "a dropout of {probability} is not in 0..1");
        #[expect(clippy::cast_sign_loss, reason = "a probability is not negative")]
        let threshold = (probability * DRAWS).round().min(DRAWS - 1.0) as u32;
        // Mixed, since the key that is added to indices would only shift the stream.
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

    /// What kept elements are multiplied by: one over the probability of being kept.
    pub fn scale(self) -> f64 {
        1.0 / (1.0 - f64::from(self.threshold) / DRAWS)
    }

    /// The factor of element `i`: 0 or [`DropoutMask::scale`].
    #[inline(always)]
    pub(super) fn factor<R: Real>(self, i: u32, scale: R) -> R {
        let random = self.random(i / (2 * GROUP) * GROUP + i % GROUP);
        let random = if (i / GROUP).is_multiple_of(2) { random & 0xffff } else { random >> 16 };
        if random < self.threshold { R::ZERO } else { scale }
    }

    /// Writes the factors of elements `start`, `start + stride`, …
    #[inline(always)]
    pub(super) fn factors<R: Real>(self, factors: &mut [R], start: u32, stride: u32, scale: R) {
        for (l, factor) in factors.iter_mut().enumerate() {
            *factor = self.factor(start.wrapping_add(stride.wrapping_mul(l as u32)), scale);
        }
    }

    /// The factors of two groups of elements, the first of which is element `i`.
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

    /// The `i`-th 32 random bits. The keys are well mixed, so one more bijection is enough.
    #[inline(always)]
    fn random(self, i: u32) -> u32 {
        // 2³²/φ, an odd factor, takes neighbouring indices far apart before the last mixing.
        mix(i.wrapping_add(self.keys[1]).wrapping_mul(0x9e37_79b1) ^ self.keys[0])
    }
}

/// Values of sixteen random bits.
const DRAWS: f64 = 65_536.0;

/// Elements of a group. Each 32 random bits serve two elements: the group takes the lower halves, the next group the upper.
const GROUP: u32 = 8;

/// Elements of two groups.
const BOTH: usize = 2 * GROUP as usize;

/// A bijection of 32 bits in which every input bit flips every output bit about half of the time.
#[inline(always)]
fn mix(mut x: u32) -> u32 {
    // The constants of `lowbias32` (C. Wellons), found by a search for the least bias of this form.
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// A slice to which dropout is applied as it is read.
#[derive(Clone, Copy, Debug)]
pub struct MaskedSlice<'a, R> {
    /// The values before dropout.
    pub values: &'a [R],
    /// Its element 0 is that of the first value.
    pub mask: DropoutMask,
}

impl<'a, R> From<&'a [R]> for MaskedSlice<'a, R> {
    fn from(values: &'a [R]) -> Self {
        Self { values, mask: DropoutMask::NONE }
    }
}

impl<'a, R: Real> MaskedSlice<'a, R> {
    /// A range of the values after dropout: in `workspace`, or in place if the mask drops nothing.
    pub(super) fn read<'b>(self, range: Range<usize>, workspace: &'b mut [R]) -> &'b [R]
    where
        'a: 'b,
    {
        let values = &self.values[range.clone()];
        if self.mask.keeps_all() {
            return values;
        }
        let dropped = &mut workspace[..values.len()];
        dropout(dropped, values, self.mask, range.start);
        dropped
    }
}

/// `out = mask · inp / (1 − p)`, where `first` is the index of the first element in the mask. The backward pass is the
/// same function on gradients.
pub fn dropout<R: Real>(out: &mut [R], inp: &[R], mask: DropoutMask, first: usize) {
    assert_eq!(out.len(), inp.len(), "as many elements out of a mask as into it");
    dispatch!(body(out, Some(inp), mask, first as u32));
}

/// The same in place.
pub fn drop_in_place<R: Real>(values: &mut [R], mask: DropoutMask, first: usize) {
    if !mask.keeps_all() {
        dispatch!(body(values, None, mask, first as u32));
    }
}

#[inline(always)]
fn body<R: Real, S: Simd>(s: S, out: &mut [R], inp: Option<&[R]>, mask: DropoutMask, first: u32) {
    let scale = R::of(mask.scale());
    // Two groups share their random words. A part that begins inside them is first brought to a boundary,
    // element by element; then whole groups are registers.
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
            let values = V::at(s, inp.map_or(&*out, |inp| &inp[i]), l);
            (values * V::at(s, &factors, l)).put(out, l);
        }
        at = at.wrapping_add(BOTH as u32);
    }
    singly(rest, inp_rest, mask, at, scale);
}

#[inline(always)]
fn singly<R: Real>(out: &mut [R], inp: Option<&[R]>, mask: DropoutMask, first: u32, scale: R) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = inp.map_or(*out, |inp| inp[i]) * mask.factor(first.wrapping_add(i as u32), scale);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::simd::PORTABLE;
    use super::super::testing::{near, random, size_or_none, values, wide};
    use super::*;

    /// One element at a time.
    fn naive(inp: &[f64], mask: DropoutMask, first: usize) -> Vec<f64> {
        let factor = |i: usize| mask.factor::<f64>((first + i) as u32, mask.scale());
        inp.iter().enumerate().map(|(i, x)| factor(i) * x).collect()
    }

    fn check<R: Real>(n: usize, first: usize, mask: DropoutMask) {
        let inp = random::<R>(n as u64, n);
        let expected = naive(&wide(&inp), mask, first);
        let (mut out, mut same) = (vec![R::of(9.0); n], inp.clone());
        dropout(&mut out, &inp, mask, first);
        near(&out, &expected, 1);
        drop_in_place(&mut same, mask, first);
        near(&same, &expected, 1);
    }

    proptest! {
        #[test]
        fn any_part_equals_the_naive_twin(
            n in prop_oneof![size_or_none(), 40usize..200],
            first in 0usize..100,
            p in prop_oneof![Just(0.0), 0.01..0.99],
        ) {
            check::<f32>(n, first, DropoutMask::new(7, p));
            check::<f64>(n, first, DropoutMask::new(7, p));
        }
    }

    #[test]
    fn the_share_of_kept_elements_is_one_minus_p_and_so_is_one_over_their_factor() {
        let inp = vec![1.0f32; 100_003];
        for p in [0.1, 0.5, 0.9] {
            let mut out = vec![0.0; inp.len()];
            dropout(&mut out, &inp, DropoutMask::new(7, p), 0);
            let kept = out.iter().filter(|&&x| x.abs() > 1e-9).count() as f64 / inp.len() as f64;
            assert!((kept - (1.0 - p)).abs() < 0.006, "{kept}");
            let factor = DropoutMask::new(7, p).scale();
            assert!((factor * (1.0 - p) - 1.0).abs() < 1e-4, "{factor}");
            assert!(out.iter().all(|&x| x.abs() < 1e-9 || (f64::from(x) - factor).abs() < 1e-5));
        }
    }

    #[test]
    fn masks_depend_on_seed_and_index_and_not_on_the_machine() {
        let inp = vec![1.0f64; 1000];
        let run = |mask: DropoutMask| {
            let mut out = vec![0.0; inp.len()];
            dropout(&mut out, &inp, mask, 0);
            out
        };
        let mask = DropoutMask::new(7, 0.5);
        assert_eq!(run(mask), run(mask));
        for other in [
            DropoutMask::new(8, 0.5),
            mask.nth(1),
            DropoutMask::new(7 << 32, 0.5),
            DropoutMask::new(7 | 1 << 32, 0.5),
        ] {
            // Nor is one mask a shifted copy of the other.
            for shift in [0, 1, 8, 16] {
                let pairs = run(mask).into_iter().skip(shift).zip(run(other)).take(900);
                let agree = pairs.filter(|(a, b)| (a - b).abs() < 1e-9).count();
                assert!((380..520).contains(&agree), "{agree}");
            }
        }
        let mut portable = vec![0.0; inp.len()];
        body(PORTABLE, &mut portable, Some(&inp), mask, 0);
        assert_eq!(portable, run(mask));
        assert_eq!(run(DropoutMask::new(7, 0.0)), inp);
        assert_eq!(run(mask), naive(&inp, mask, 0));
    }

    #[test]
    fn a_part_is_masked_as_it_is_in_the_whole() {
        let (inp, mask) = (values(1, 200), DropoutMask::new(7, 0.3));
        let mut whole = inp.clone();
        drop_in_place(&mut whole, mask, 0);
        let (masked, mut workspace) = (MaskedSlice { values: &inp, mask }, vec![9.0; inp.len()]);
        for (from, to) in [(0, 200), (0, 5), (3, 9), (7, 16), (16, 32), (5, 100), (33, 33), (40, 200)] {
            assert_eq!(masked.read(from..to, &mut workspace), &whole[from..to], "{from}..{to}");
            let mut part = inp[from..to].to_vec();
            drop_in_place(&mut part, mask, from);
            assert_eq!(part, whole[from..to], "{from}..{to}");
        }
        let all = MaskedSlice { values: &inp, mask: DropoutMask::NONE };
        assert_eq!(all.read(3..9, &mut []), &inp[3..9]);
    }
}
