//! Random automata, over which properties are quantified.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::{Dfa, StateId};
use crate::{Alphabet, draw};

/// A trim automaton of up to six states over two or three symbols.
pub(crate) fn dfa(seed: u64) -> Dfa {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let alphabet = Alphabet::new(["0", "1", "2"][..draw::between(&mut rng, 2, 3)].iter().copied());
    let states = draw::between(&mut rng, 1, 6);
    let table = (0..states * alphabet.len())
        .map(|_| draw::chance(&mut rng, 0.7).then(|| StateId(draw::below(&mut rng, states) as u32)))
        .collect();
    let accepting = (0..states).map(|_| draw::chance(&mut rng, 0.4)).collect();
    Dfa { alphabet, start: StateId(0), accepting, table }.trim()
}
