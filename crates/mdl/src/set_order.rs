//! The order in which Python walks through a set of small integers.
//!
//! If forward edges form a cycle, one of them is ignored, and which one depends on the order in which the released code visits
//! the sources of a unit. They are in Python sets of unit numbers, whose order is that of an open-addressing hash table. The
//! table is imitated here, so that networks with cycles mean the same. It matters only from unit 8 on: smaller numbers
//! are in ascending order.

/// Probes in a row before the next jump.
const LINEAR_PROBES: usize = 9;
const PERTURB_SHIFT: u32 = 5;
/// The least size of a table.
const SMALLEST: usize = 8;

/// A set of numbers below `FREE`, as Python stores it.
#[derive(Clone, Debug, Default)]
struct PythonSet {
    slots: Vec<u16>,
    used: usize,
}

const FREE: u16 = u16::MAX;

impl PythonSet {
    fn new() -> Self {
        Self { slots: vec![FREE; SMALLEST], used: 0 }
    }

    fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.slots.iter().copied().filter(|&slot| slot != FREE)
    }

    fn insert(&mut self, number: u16) {
        let mask = self.slots.len() - 1;
        let (mut perturb, mut i) = (usize::from(number), usize::from(number) & mask);
        loop {
            // As `set_add_entry` of CPython: nine neighbours if they are inside the table, then a jump that
            // mixes in higher bits.
            let probes = if i + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            for slot in &mut self.slots[i..=i + probes] {
                if *slot == number {
                    return;
                }
                if *slot == FREE {
                    *slot = number;
                    self.used += 1;
                    return;
                }
            }
            perturb >>= PERTURB_SHIFT;
            i = (i * 5 + 1 + perturb) & mask;
        }
    }

    /// A table of the least size above `minimum`.
    fn resize(&mut self, minimum: usize) {
        let mut size = SMALLEST;
        while size <= minimum {
            size *= 2;
        }
        let old = std::mem::replace(&mut self.slots, vec![FREE; size]);
        self.used = 0;
        old.into_iter().filter(|&slot| slot != FREE).for_each(|number| self.insert(number));
    }

    /// Whether a table of this size with so many entries is too full.
    fn crowded(&self, entries: usize) -> bool {
        entries * 5 >= (self.slots.len() - 1) * 3
    }

    fn add(&mut self, number: u16) {
        self.insert(number);
        if self.crowded(self.used) {
            // Small sets grow fourfold.
            self.resize(self.used * 4);
        }
    }

    /// `set.update` with a set of `others`, in their order.
    fn merge(&mut self, others: impl Iterator<Item = u16>, count: usize) {
        if self.crowded(self.used + count) {
            self.resize((self.used + count) * 2);
        }
        others.for_each(|number| self.insert(number));
    }

    fn with(&self, number: u16) -> Self {
        // `set | {number}` copies into a table of its own size, and so may lay out the same numbers
        // differently from a set that grew.
        let mut copy = Self::new();
        if copy.crowded(self.used) {
            copy.resize(self.used * 2);
        }
        if copy.slots.len() == self.slots.len() {
            copy.clone_from(self);
        } else {
            self.iter().for_each(|number| copy.insert(number));
        }
        copy.merge(std::iter::once(number), 1);
        copy
    }
}

/// Up to this many numbers below 8 are in ascending order, however they came to be in a set.
const PLAIN: usize = 4;

/// Whether distinct numbers are already as a set has them.
fn is_plain(numbers: &[u16]) -> bool {
    let small = numbers.iter().all(|&number| usize::from(number) < SMALLEST);
    numbers.len() <= PLAIN && small && numbers.is_sorted()
}

/// Puts numbers, which came to a set one by one, `set | {number}`, into its order.
pub(super) fn order_of_unions(numbers: &mut [u16]) {
    if !is_plain(numbers) {
        let table = numbers.iter().fold(PythonSet::new(), |table, &number| table.with(number));
        numbers.iter_mut().zip(table.iter()).for_each(|(to, number)| *to = number);
    }
}

/// The order of `frozenset(numbers)`.
pub(super) fn order_of_set(numbers: &mut [u16]) {
    if !is_plain(numbers) {
        let mut table = PythonSet::new();
        numbers.iter().for_each(|&number| table.add(number));
        numbers.iter_mut().zip(table.iter()).for_each(|(to, number)| *to = number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unions(numbers: &[u16]) -> Vec<u16> {
        let mut numbers = numbers.to_vec();
        order_of_unions(&mut numbers);
        numbers
    }

    fn set(numbers: &[u16]) -> Vec<u16> {
        let mut numbers = numbers.to_vec();
        order_of_set(&mut numbers);
        numbers
    }

    /// Computed with Python 3.11.
    #[test]
    fn orders_are_those_of_cpython() {
        assert_eq!(
            (unions(&[1, 3, 10, 15, 29, 33]), set(&[1, 3, 10, 15, 29, 33])),
            (vec![1, 33, 3, 10, 29, 15], vec![1, 33, 3, 10, 15, 29])
        );
        assert_eq!((unions(&[15, 24, 30]), set(&[15, 24, 30])), (vec![24, 30, 15], vec![24, 30, 15]));
        assert_eq!((unions(&[0, 6, 13]), set(&[0, 6, 13])), (vec![0, 13, 6], vec![0, 13, 6]));
        assert_eq!(
            (unions(&[2, 4, 5, 12, 14, 17]), set(&[2, 4, 5, 12, 14, 17])),
            (vec![17, 2, 4, 5, 12, 14], vec![2, 4, 5, 12, 14, 17])
        );
        assert_eq!((unions(&[0, 2, 3, 10]), set(&[0, 2, 3, 10])), (vec![0, 10, 2, 3], vec![0, 10, 2, 3]));
        assert_eq!(
            (unions(&[12, 13, 20, 34]), set(&[12, 13, 20, 34])),
            (vec![20, 34, 12, 13], vec![20, 34, 12, 13])
        );
        assert_eq!((unions(&[0, 9, 11, 12]), set(&[0, 9, 11, 12])), (vec![0, 9, 11, 12], vec![0, 9, 11, 12]));
        assert_eq!(
            (unions(&[0, 2, 4, 8, 9, 10, 13, 14, 15]), set(&[0, 2, 4, 8, 9, 10, 13, 14, 15])),
            (vec![0, 2, 4, 8, 9, 10, 13, 14, 15], vec![0, 2, 4, 8, 9, 10, 13, 14, 15])
        );
        assert_eq!(
            (unions(&[1, 3, 4, 5, 7, 8, 10, 11]), set(&[1, 3, 4, 5, 7, 8, 10, 11])),
            (vec![1, 3, 4, 5, 7, 8, 10, 11], vec![1, 3, 4, 5, 7, 8, 10, 11])
        );
        assert_eq!((unions(&[0, 4, 5, 6]), set(&[0, 4, 5, 6])), (vec![0, 4, 5, 6], vec![0, 4, 5, 6]));
        assert_eq!((unions(&[46, 48]), set(&[46, 48])), (vec![48, 46], vec![48, 46]));
        assert_eq!((unions(&[5, 90]), set(&[5, 90])), (vec![90, 5], vec![90, 5]));
        assert_eq!((unions(&[3, 7, 11, 14]), set(&[3, 7, 11, 14])), (vec![11, 3, 14, 7], vec![11, 3, 14, 7]));
        assert_eq!(
            (unions(&[2, 5, 6, 18, 23, 27, 29, 37]), set(&[2, 5, 6, 18, 23, 27, 29, 37])),
            (vec![2, 18, 5, 6, 23, 37, 27, 29], vec![2, 5, 6, 37, 18, 23, 27, 29])
        );
    }
}
