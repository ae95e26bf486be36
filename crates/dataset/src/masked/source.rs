//! Where masked sequences come from: tasks, and any language.

use wug_language::registry::{self, Named};
use wug_language::{Language, LengthRange, Reading, draw};

use super::MaskedSequence;
use crate::wade;
use crate::{DataError, Seed};

/// A sequence as a learner sees it, and what counts as a correct answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedExample {
    /// All symbols, answers included.
    pub symbols: Vec<u32>,
    /// The positions of answers, ascending; never the first.
    pub answers: Vec<usize>,
    /// For each answer, the symbols that are correct, if there are others than the one that is there.
    pub accepted: Option<Vec<Vec<u32>>>,
}

impl MaskedExample {
    /// Whether a symbol is correct as the `k`-th answer.
    pub fn accepts(&self, k: usize, symbol: u32) -> bool {
        match &self.accepted {
            Some(accepted) => accepted[k].contains(&symbol),
            None => self.symbols[self.answers[k]] == symbol,
        }
    }
}

impl From<&MaskedSequence> for MaskedExample {
    fn from(sequence: &MaskedSequence) -> Self {
        let symbols = sequence.word.iter().map(|symbol| u32::from(symbol.0)).collect();
        Self { symbols, answers: sequence.mask.clone(), accepted: None }
    }
}

/// Examples, no two with the same symbols, split at random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedData {
    /// Four fifths, in random order.
    pub train: Vec<MaskedExample>,
    /// The rest, in random order.
    pub test: Vec<MaskedExample>,
    /// How many draws were made, repetitions included.
    pub drawn: usize,
}

/// What draws masked sequences.
pub trait MaskedSource: Send + Sync {
    /// Its name with its settings, in one spelling.
    fn spelled(&self) -> String;

    fn vocabulary(&self) -> usize;

    /// Symbols as they are shown.
    fn token(&self, symbol: u32) -> String;

    /// Draws `n` distinct sequences, or as many as are found in five times as many draws, and splits them.
    fn draw(&self, n: usize, seed: Seed) -> Result<MaskedData, DataError>;

    /// The mean number of answers of 500 fresh and distinct sequences: by it the released notebook of the ten tasks turns answers into sequences.
    fn answers_per_sequence(&self, seed: Seed) -> f64;
}

/// Everything that is listed under a name: `wade/*` for the ten tasks, `SUITE/*` for all languages of a suite, a task or a language,
/// each with settings or without. Lengths are those of the strings of languages.
pub fn find(
    name: &str,
    reading: Reading,
    lengths: &LengthRange,
) -> Result<Vec<Box<dyn MaskedSource>>, DataError> {
    if name == "wade/*" {
        let each = |task: &wade::WadeTask| find(task.name, reading, lengths);
        return wade::TASKS
            .iter()
            .map(each)
            .collect::<Result<Vec<_>, _>>()
            .map(|all| all.into_iter().flatten().collect());
    }
    if let Some(suite) = name.strip_suffix("/*") {
        let all: Vec<_> = registry::LANGUAGES.iter().filter(|entry| entry.suite == suite).collect();
        if all.is_empty() {
            return Err(DataError::request(format!("there is no suite `{suite}` of tasks or languages")));
        }
        return all
            .into_iter()
            .map(|entry| find(entry.name, reading, lengths))
            .collect::<Result<Vec<_>, _>>()
            .map(|all| all.into_iter().flatten().collect());
    }
    let (base, rest) = name.split_once(':').unwrap_or((name, ""));
    if let Ok(task) = wade::task(base) {
        let settings = task.settings_with(reading, rest).map_err(DataError::request)?;
        return Ok(vec![Box::new(TaskSource { task, settings })]);
    }
    let named = registry::find(name).map_err(|error| {
        let tasks: Vec<&str> = wade::TASKS.iter().map(|task| task.name).collect();
        DataError::request(format!("{error}; or a task: {}", tasks.join(", ")))
    })?;
    let language = named.build(reading).map_err(DataError::request)?;
    language.check_length(*lengths.end()).map_err(DataError::too_large)?;
    language.some_lengths(lengths).map_err(DataError::from)?;
    Ok(vec![Box::new(LanguageSource { named, language, lengths: lengths.clone() })])
}

struct TaskSource {
    task: &'static wade::WadeTask,
    settings: wade::TaskSettings,
}

/// How many fresh sequences a mean is taken over.
const FRESH: usize = 500;

impl MaskedSource for TaskSource {
    fn spelled(&self) -> String {
        if self.settings == self.task.settings(self.settings.reading) {
            return self.task.name.to_owned();
        }
        format!("{}:{}", self.task.name, self.task.spelled(&self.settings, ","))
    }

    fn vocabulary(&self) -> usize {
        self.task.vocabulary().len()
    }

    fn token(&self, symbol: u32) -> String {
        self.task.vocabulary().tokens().get(symbol as usize).cloned().unwrap_or_default()
    }

    fn draw(&self, n: usize, seed: Seed) -> Result<MaskedData, DataError> {
        wade::check_size(self.task, &self.settings, n).map_err(DataError::too_large)?;
        let data = wade::dataset_with(self.task, &self.settings, n, seed);
        let [train, test] = [data.train().map(Into::into).collect(), data.test().map(Into::into).collect()];
        Ok(MaskedData { train, test, drawn: data.drawn })
    }

    /// Of the task as its class is by default, which is not how the first task is run.
    fn answers_per_sequence(&self, seed: Seed) -> f64 {
        let settings = match self.task.name {
            "periodic" => self.task.settings(Reading::Corrected),
            _ => self.settings.clone(),
        };
        let data = wade::dataset_with(self.task, &settings, FRESH, seed.derive("masked/answers"));
        let counts: Vec<usize> = data.train().chain(data.test()).map(|example| example.mask.len()).collect();
        counts.iter().sum::<usize>() as f64 / counts.len().max(1) as f64
    }
}

/// The strings of a language between boundaries; every symbol and the end are answers, and what may come next is correct.
struct LanguageSource {
    named: Named,
    language: Box<dyn Language>,
    lengths: LengthRange,
}

/// How many draws are made at most for each sequence that is wanted.
const DRAWS_PER_SEQUENCE: usize = 5;

impl LanguageSource {
    /// The boundary comes after all symbols of the alphabet.
    fn example(&self, word: &[wug_language::Symbol]) -> MaskedExample {
        let boundary = self.language.alphabet().len() as u32;
        let inner = word.iter().map(|symbol| u32::from(symbol.0));
        let symbols: Vec<u32> = std::iter::once(boundary).chain(inner).chain([boundary]).collect();
        let next = |set: &wug_language::NextSet| {
            let symbols = set.symbols().map(|symbol| symbol.index() as u32);
            symbols.chain(set.end().then_some(boundary)).collect()
        };
        let accepted = self.language.next_sets(word).iter().map(next).collect();
        MaskedExample { answers: (1..symbols.len()).collect(), symbols, accepted: Some(accepted) }
    }
}

impl MaskedSource for LanguageSource {
    fn spelled(&self) -> String {
        self.named.spelled()
    }

    fn vocabulary(&self) -> usize {
        self.language.alphabet().len() + 1
    }

    fn token(&self, symbol: u32) -> String {
        self.language.alphabet().tokens().get(symbol as usize).cloned().unwrap_or_else(|| "#".to_owned())
    }

    fn draw(&self, n: usize, seed: Seed) -> Result<MaskedData, DataError> {
        let sampler = self.language.by_length(self.lengths.clone()).map_err(DataError::from)?;
        let mut rng = seed.derive("masked/draw").rng();
        let (mut known, mut words, mut drawn) = (std::collections::BTreeSet::new(), Vec::new(), 0);
        // A language may have fewer strings of these lengths than are wanted.
        while words.len() < n && drawn < n.saturating_mul(DRAWS_PER_SEQUENCE) {
            let word = sampler.sample(&mut rng);
            drawn += 1;
            if known.insert(word.clone()) {
                words.push(self.example(&word));
            }
        }
        draw::shuffle(&mut seed.derive("masked/split").rng(), &mut words);
        let test = words.split_off(words.len() * 4 / 5);
        Ok(MaskedData { train: words, test, drawn })
    }

    fn answers_per_sequence(&self, seed: Seed) -> f64 {
        let Ok(sampler) = self.language.by_length(self.lengths.clone()) else { return 1.0 };
        let mut rng = seed.derive("masked/answers").rng();
        // Every symbol is an answer, and the end.
        (0..FRESH).map(|_| sampler.sample(&mut rng).len() + 1).sum::<usize>() as f64 / FRESH as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, reading: Reading) -> Box<dyn MaskedSource> {
        find(name, reading, &(1..=8)).unwrap().remove(0)
    }

    #[test]
    fn tasks_and_languages_are_found_by_name_and_spelled_in_one_way() {
        assert_eq!(find("wade/*", Reading::Corrected, &(1..=8)).unwrap().len(), 10);
        assert_eq!(one("5", Reading::Published).spelled(), "qa");
        assert_eq!(
            one("periodic:pattern=2..3", Reading::Published).spelled(),
            "periodic:pattern=2..3,length=100"
        );
        assert_eq!(one("parity", Reading::Corrected).vocabulary(), 3);
        let error = find("nothing", Reading::Corrected, &(1..=8)).err().unwrap().to_string();
        assert!(error.contains("nothing") && error.contains("adj-qa"), "{error}");
    }

    #[test]
    fn every_source_draws_distinct_examples_and_splits_them() {
        for source in
            ["wade/*", "flare/*"].iter().flat_map(|name| find(name, Reading::Corrected, &(1..=8)).unwrap())
        {
            let data = source.draw(60, Seed::new(1)).unwrap();
            let all: Vec<&MaskedExample> = data.train.iter().chain(&data.test).collect();
            let distinct: std::collections::BTreeSet<&[u32]> = all.iter().map(|e| &e.symbols[..]).collect();
            assert_eq!(distinct.len(), all.len(), "{}", source.spelled());
            assert!(!data.train.is_empty() && !data.test.is_empty(), "{}", source.spelled());
            for example in all {
                assert!(!example.answers.is_empty() && example.answers[0] > 0 && example.answers.is_sorted());
                assert!(example.symbols.iter().all(|&symbol| (symbol as usize) < source.vocabulary()));
                for (k, &answer) in example.answers.iter().enumerate() {
                    assert!(example.accepts(k, example.symbols[answer]), "{}", source.spelled());
                }
            }
        }
    }

    #[test]
    fn the_first_task_is_converted_by_its_default_class() {
        let mean = one("periodic", Reading::Published).answers_per_sequence(Seed::new(1));
        assert!((77.0..82.0).contains(&mean), "{mean}");
        let single = one("qa", Reading::Published).answers_per_sequence(Seed::new(1));
        assert!((single - 1.0).abs() < 1e-12);
    }
}
