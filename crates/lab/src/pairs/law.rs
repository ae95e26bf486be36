//! The law that the strings of a split were drawn from: a length, then a string of that length.

use std::collections::BTreeMap;

use wug_dataset::Seed;
use wug_language::{Distribution, Language, LengthRange, Symbol, Word};

use crate::LabError;

/// The logarithm of the probability of each length.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(BTreeMap<usize, f64>);

/// How often each length comes among some strings. Strings of which none is drawn twice have no other law of lengths than this one,
/// because there are few short ones.
pub(super) fn counted(words: &[&Word]) -> Shares {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word.len()).or_default() += 1;
    }
    let share = |(length, count)| (length, libm::log(count as f64 / words.len() as f64));
    Shares(counts.into_iter().map(share).collect())
}

/// The probabilities of the strings of a split.
pub(super) struct Law<'a> {
    language: &'a dyn Language,
    strings: Box<dyn Distribution + 'a>,
    /// How likely lengths are by the language itself.
    own: Shares,
    /// How likely they are in the split.
    shares: Shares,
}

impl<'a> Law<'a> {
    /// Of strings of these lengths; the language itself says how likely lengths are where nothing is counted.
    pub(super) fn of(
        language: &'a dyn Language,
        lengths: &LengthRange,
        counted: Option<&Shares>,
    ) -> Result<Self, LabError> {
        let law = |lengths: LengthRange| {
            language.by_length(lengths).map_err(|error| LabError::Usage(error.to_string()))
        };
        let strings = law(lengths.clone())?;
        let mut rng = Seed::new(0).derive("pairs/law").rng();
        let mut own = Shares::default();
        for length in language.lengths(lengths.clone()) {
            // Any string of this length shows how likely the length is.
            let alone = law(length..=length)?;
            let word = alone.sample(&mut rng);
            own.0.insert(length, strings.log_prob(&word) - alone.log_prob(&word));
        }
        let shares = counted.unwrap_or(&own).clone();
        Ok(Self { language, strings, own, shares })
    }

    fn share(&self, length: usize) -> f64 {
        self.shares.0.get(&length).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The logarithm of the probability of a string.
    pub(super) fn log_prob(&self, word: &[Symbol]) -> f64 {
        let own = self.own.0.get(&word.len()).copied();
        own.map_or(f64::NEG_INFINITY, |own| self.strings.log_prob(word) - own + self.share(word.len()))
    }

    /// The logarithms of the probabilities of its symbols and its end, each after what comes before it. Their sum is that of the
    /// string. Where the language does not know how likely prefixes are, the symbols of a string share its probability evenly.
    pub(super) fn log_probs(&self, word: &[Symbol]) -> Vec<f64> {
        let whole = self.log_prob(word);
        let Some(mut prefixes) = self.strings.log_prefixes(word, &|length| self.share(length)) else {
            return self.evenly(word, whole);
        };
        prefixes.push(whole);
        // Behind a prefix that is impossible, the difference would be NaN.
        let step =
            |&[before, after]: &[f64; 2]| if after > f64::NEG_INFINITY { after - before } else { after };
        prefixes.array_windows().map(step).collect()
    }

    /// Nothing can follow what no string of the language begins with; before that, all that can is equally likely.
    fn evenly(&self, word: &[Symbol], whole: f64) -> Vec<f64> {
        if whole > f64::NEG_INFINITY {
            return vec![whole / (word.len() + 1) as f64; word.len() + 1];
        }
        let sets = self.language.next_sets(word);
        let step = |(i, next): (usize, &wug_language::NextSet)| {
            let comes = word.get(i).map_or_else(|| next.end(), |&symbol| next.contains(symbol));
            if comes { -libm::log(next.size() as f64) } else { f64::NEG_INFINITY }
        };
        let mut logs: Vec<f64> = sets.iter().enumerate().map(step).collect();
        // A string of the language that is never drawn, because its length is not.
        if logs.iter().all(|log| log.is_finite()) {
            logs[word.len()] = f64::NEG_INFINITY;
        }
        logs
    }
}
