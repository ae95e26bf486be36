//! What is known of networks that were evaluated before, by what they compute.

use super::program::NetworkProgram;

/// A table of |D:G| by the hash of a program. An entry is replaced by the next with the same place: what is in it changes
/// no result, only the time.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    entries: Vec<(u64, f64)>,
    pub(super) hits: u64,
}

impl Cache {
    pub(super) fn new(log_entries: u32) -> Self {
        // Direct-mapped: a look-up is one read. Mutants repeat those of a few generations ago, so the newest
        // entry is the right one to keep. (The released code keeps the last million networks, by hash as
        // well.)
        Self { entries: vec![(0, f64::NAN); 1 << log_entries], hits: 0 }
    }

    fn place(&self, key: u64) -> usize {
        (key >> 32) as usize & (self.entries.len() - 1)
    }

    pub(super) fn get(&mut self, key: u64) -> Option<f64> {
        let (known, bits) = self.entries[self.place(key)];
        let found = known == key && !bits.is_nan();
        self.hits += u64::from(found);
        found.then_some(bits)
    }

    pub(super) fn put(&mut self, key: u64, bits: f64) {
        let place = self.place(key);
        self.entries[place] = (key, bits);
    }
}

/// A product of twice the width, folded: every bit of both words counts.
#[inline(always)]
fn mix(hash: u64, word: u64) -> u64 {
    // The multipliers of wyhash.
    let wide = u128::from(hash ^ 0xA076_1D64_78BD_642F) * u128::from(word ^ 0xE703_7ED1_A0B4_28DB);
    wide as u64 ^ (wide >> 64) as u64
}

impl NetworkProgram {
    /// The hash of what it computes. Hidden units are counted in the order of evaluation, whatever their numbers; fractions with
    /// the same value are the same.
    pub(super) fn key(&self) -> u64 {
        // By what is computed rather than by the network: other numbers, dead units and 2/2 for 1/1 change
        // |G|, which is cheap, but not |D:G|.
        let ends = self.inputs + self.outputs;
        let mut places = [0_u16; super::network::MAX_UNITS];
        let mut hidden = ends as u16;
        for instruction in &self.instructions {
            if usize::from(instruction.unit) >= ends {
                places[usize::from(instruction.unit)] = hidden;
                hidden += 1;
            } else {
                places[usize::from(instruction.unit)] = instruction.unit;
            }
        }
        let mut hash = self.instructions.len() as u64;
        for instruction in &self.instructions {
            let place = u64::from(places[usize::from(instruction.unit)]);
            let (kind, activation) = (instruction.kind as u64, u64::from(instruction.activation.id()));
            let counts = u64::from(instruction.middle - instruction.start) << 16
                | u64::from(instruction.end - instruction.middle);
            hash = mix(hash, place << 48 | counts << 8 | activation << 1 | kind);
            hash = mix(hash, instruction.bias.map_or(1, f64::to_bits));
            for term in &self.terms[instruction.start as usize..instruction.end as usize] {
                hash = mix(hash, term.weight.to_bits());
                hash = mix(hash, u64::from(places[usize::from(term.source)]));
            }
        }
        mix(hash, 0)
    }
}
