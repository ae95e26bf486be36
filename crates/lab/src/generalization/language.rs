//! A language with a prior: what a learner is trained on.

use wug_dataset::corpus::{released, test_from_first};
use wug_language::registry::keys::PRIOR;
use wug_language::registry::{self, Named};
use wug_language::{Language, NextSet, Reading, Word};

use super::Criterion;
use super::grid::with_prior;
use crate::spec::Problem;

/// A language with one of its priors.
#[derive(Clone)]
pub(super) struct LanguageWithPrior {
    /// The language without its prior.
    pub(super) spelled: String,
    pub(super) prior: f64,
    /// The number of symbols, the boundary included.
    pub(super) vocabulary: usize,
    pub(super) criterion: Criterion,
}

impl LanguageWithPrior {
    /// A language with the prior in its name, or with each of `priors`; with this criterion, or with the one that fits it.
    pub(super) fn each(
        named: &Named,
        priors: &[f64],
        reading: Reading,
        criterion: Option<Criterion>,
    ) -> Result<Vec<Self>, Problem> {
        let priors = named.settings.find(&PRIOR).map_or_else(|| priors.to_vec(), |prior| vec![prior]);
        let mut bare = named.clone();
        bare.settings.take(PRIOR.name());
        priors.into_iter().map(|prior| Self::of(&bare, prior, reading, criterion)).collect()
    }

    fn of(bare: &Named, prior: f64, reading: Reading, criterion: Option<Criterion>) -> Result<Self, Problem> {
        let (name, spelled) = (bare.entry.name, bare.spelled());
        let problem = |message: String| Problem::new("languages", name, message);
        if !has_distribution(bare.entry) {
            let message = "has no distribution over strings of any length to draw training strings from";
            return Err(problem(format!("{spelled} {message}; those that have: {}", with_distribution())));
        }
        if reading == Reading::Published {
            released(name).map_err(|error| problem(error.to_string()))?;
        }
        let in_priors = |message: String| Problem::new("priors", &prior.to_string(), message);
        let built = registry::find(&with_prior(&spelled, prior)).and_then(|named| named.build(reading));
        let language = built.map_err(|error| in_priors(error.to_string()))?;
        let vocabulary = language.alphabet().len() + 1;
        let criterion = criterion.unwrap_or_else(|| fitting_measure(language.as_ref()));
        Ok(Self { spelled, prior, vocabulary, criterion })
    }
}

/// Whether strings of any length can be drawn: then there is a prior to draw them with.
fn has_distribution(entry: &registry::LanguageEntry) -> bool {
    entry.parameters.iter().any(|parameter| parameter.name == PRIOR.name())
}

fn with_distribution() -> String {
    let names = registry::LANGUAGES.iter().filter(|entry| has_distribution(entry)).map(|entry| entry.name);
    names.collect::<Vec<_>>().join(", ")
}

/// Deterministic where a language has steps with one possible symbol, the first apart; categorical where it has none.
pub(crate) fn fitting_measure(language: &dyn Language) -> Criterion {
    // In aⁿbⁿ the first symbol is certain too, but the released masks never score it.
    let determined = |word: Word| language.next_sets(&word).iter().skip(1).map(NextSet::size).any(|n| n == 1);
    let deterministic = test_from_first(language, 20).any(determined);
    if deterministic { Criterion::Deterministic } else { Criterion::Categorical }
}

#[cfg(test)]
mod tests {
    use wug_dataset::corpus::{MaskKind, all_released};

    use super::*;

    #[test]
    fn languages_have_a_prior_if_and_only_if_they_have_a_distribution() {
        for entry in registry::LANGUAGES {
            let language = entry.build(Reading::Corrected).unwrap();
            assert_eq!(language.natural().is_some(), has_distribution(entry), "{}", entry.name);
        }
    }

    #[test]
    fn the_measure_is_that_of_the_paper() {
        for released in all_released() {
            let language = registry::build(released.name()).unwrap();
            let deterministic = released.mask_kind() == MaskKind::Deterministic;
            assert_eq!(
                fitting_measure(&*language) == Criterion::Deterministic,
                deterministic,
                "{released:?}"
            );
        }
    }
}
