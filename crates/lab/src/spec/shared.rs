//! The fields that sections of all protocols share.

use wug_parameter::{Constant, Key, Matching, Parameter};
use wug_score::plan::Precision;

use super::draft::Fields;
use super::{Problem, Reading, declared};
use crate::protocol::{Defaults, Protocol};

pub(super) const READINGS: Key<Vec<Reading>> = Key::choice(
    "reading",
    "as the released code did it, or with its errors corrected; a list of both runs both",
    "corrected",
)
.formerly(&["readings"])
.list(Constant::Name("corrected"));

pub(super) const SIZES: Key<Vec<usize>> = Key::count(
    "sizes",
    "numbers of parameters that every learner is to have; its settings decide if none is given",
    1_000..=100_000_000,
    64_000,
)
.list(Constant::Derived("the learners' settings decide"));

pub(super) const MATCHING: Key<Matching> =
    Key::choice("matching", "how dimensions are found from `sizes`", Matching::Nearest.name());

pub(super) const PRECISION: Key<Precision> =
    Key::choice("precision", "floating-point precision of training and evaluation", Precision::F32.name());

pub(super) const SEEDS: Key<usize> =
    Key::count("seeds", "runs of each cell, each with a seed of its own", 1..=u64::MAX, 1);

pub(super) const FIRST_SEED: Key<u64> =
    Key::whole("first_seed", "the seed of the first run", 0..=u64::MAX, 0);

/// Which table of which paper a section is: its runs are what the paper's figures stand beside.
pub(super) const PAPER: Key<Option<String>> =
    Key::text("paper", "the table that the section is, such as `tse/3`");
pub(super) const VERSION: Key<Option<String>> =
    Key::text("version", "what the section is called among several of one table");

/// How the names of the things that a section is about are called.
pub(crate) const LANGUAGES: &str = "languages";
pub(crate) const LEARNERS: &str = "learners";

/// The shared fields with the defaults of a protocol.
pub(super) fn parameters<P: Protocol>() -> [Parameter; 8] {
    let Defaults { seeds, first_seed, .. } = P::DEFAULTS;
    [
        READINGS.parameter(),
        SIZES.parameter(),
        MATCHING.parameter(),
        SEEDS.or(Constant::Count(seeds)).parameter(),
        FIRST_SEED.or(Constant::Count(first_seed)).parameter(),
        PRECISION.parameter(),
        PAPER.parameter(),
        VERSION.parameter(),
    ]
}

/// The readings that a section asks for, each once.
pub(super) fn readings(fields: &Fields) -> Result<Vec<Reading>, Problem> {
    // From a copy: each reading takes all fields again, with defaults of its own.
    let given = declared::take(&mut fields.clone(), &[READINGS.parameter()], Reading::default())?;
    let mut readings = Vec::new();
    for reading in given.get(&READINGS) {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    Ok(readings)
}
