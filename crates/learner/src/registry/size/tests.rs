//! Every learner with a size, in each of its roles and tasks, over alphabets and sizes.

use std::fmt::Debug;

use super::super::*;
use super::*;
use crate::model::{LanguageModel, RecognizerModel, TransducerModel};

const ALPHABETS: [usize; 7] = [2, 3, 5, 10, 26, 63, 100];

/// From 4,000 to ten million, eleven per decade.
fn sizes() -> impl Iterator<Item = usize> {
    let fine = (0..38).map(|i| (4000.0 * libm::pow(10.0, f64::from(i) / 11.0)) as usize);
    fine.take_while(|size| *size < 10_000_000).chain([8_000, 16_000, 64_000, 256_000, 1_000_000, 10_000_000])
}

/// The settings of a size, given some settings and the names of those that stay.
type MatchSize<'a> = &'a dyn Fn(&Settings, &[&str], usize) -> Matched;
/// The number of parameters of the built model.
type CountBuilt<'a> = &'a dyn Fn(&Settings) -> usize;
type Check<'a> = &'a mut dyn FnMut(&str, MatchSize<'_>, CountBuilt<'_>);

/// Calls a function with every network in every task that it can be built for, and what builds it and counts.
fn each(check: Check<'_>) {
    fn one<T: Copy + Debug, S: Counted>(
        name: &str,
        network: &Network<T, S>,
        task: T,
        built: impl Fn(S) -> usize,
        check: Check<'_>,
    ) {
        let defaults = Settings::defaults(network.settings, Reading::Corrected);
        if network.parameters(&defaults, task).is_err() {
            return;
        }
        let matched = |settings: &Settings, given: &[&str], size: usize| {
            let settings =
                settings.iter().fold(defaults.clone(), |s, (name, value)| s.with(name, value.clone()));
            let given = given.iter().map(|&name| name.to_owned()).collect();
            network.matched(&settings, &given, size, task, Matching::Nearest).unwrap()
        };
        check(&format!("{name} {task:?}"), &matched, &|settings| built((network.build)(settings, task)));
    }
    for learner in LEARNERS {
        for alphabet in ALPHABETS {
            for (language_modeling, next_symbols) in
                [(false, false), (true, false), (false, true), (true, true)]
            {
                let task = RecognizerTask { alphabet, language_modeling, next_symbols };
                if let Some(role) = &learner.recognizer {
                    let built = |spec| RecognizerModel::new(spec).unwrap().layout().count();
                    one(learner.name, role, task, built, check);
                }
            }
            if let Some(role) = learner.next_symbol.as_ref().and_then(NextSymbolRole::network) {
                let built = |spec| LanguageModel::new(spec).unwrap().layout().count();
                one(learner.name, role, alphabet + 1, built, check);
            }
            if let Some(role) = &learner.transducer {
                let task =
                    TransducerTask { inputs: alphabet + 2, outputs: alphabet + 2, end: 0, padding: None };
                let built = |spec| TransducerModel::new(spec).unwrap().layout().count();
                one(learner.name, role, task, built, check);
            }
        }
    }
}

#[test]
fn every_size_is_met_by_every_network_and_the_formula_counts_what_is_built() {
    let (mut networks, mut missed) = (0, Vec::new());
    each(&mut |name, matched, built| {
        networks += 1;
        for size in sizes() {
            let Matched { settings, parameters } = matched(&Settings::default(), &[], size);
            assert_eq!(parameters, built(&settings), "{name} {settings:?}");
            if !is_met(size, parameters) {
                missed.push(format!("{name}: {parameters} for {size}"));
            }
        }
    });
    // Three recurrent networks and the transformer with four losses, four memory networks with two; next-symbol sets have
    // at most 63 symbols. As incremental learners, two reservoirs.
    assert_eq!(networks, 4 * (7 * 2 + 6 * 2) + 4 * (7 + 6) + 8 * 7 + 7 * 4 + 2 * 7);
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

/// The usual shape is kept if it meets the size, and the width is then the nearest of all.
#[test]
fn the_usual_shape_is_preferred() {
    each(&mut |name, matched, built| {
        for size in [64_000, 300_000] {
            let Matched { settings, parameters } = matched(&Settings::default(), &[], size);
            let others: Vec<&str> =
                settings.iter().map(|(name, _)| name).filter(|n| *n != "hidden").collect();
            let usual = matched(&Settings::default(), &others, size);
            if !is_met(size, usual.parameters) {
                continue;
            }
            assert_eq!(usual.settings, settings, "{name}");
            let width = settings.count("hidden").unwrap();
            let unit =
                settings.count("heads").filter(|_| settings.count("feedforward").is_some()).unwrap_or(1);
            for other in [width - unit, width + unit] {
                let count = built(&settings.clone().with_count("hidden", other));
                assert!(parameters.abs_diff(size) <= count.abs_diff(size), "{name}: {width}, not {other}");
            }
        }
    });
}

#[test]
fn what_is_given_stays_and_the_rest_is_searched() {
    let task = RecognizerTask { alphabet: 2, language_modeling: false, next_symbols: false };
    let role = find("transformer", Role::Recognizer).unwrap().recognizer.as_ref().unwrap();
    let matched = |given: &[(&str, usize)], size: usize| {
        let settings =
            given.iter().fold(Settings::defaults(role.settings, Reading::Corrected), |s, (name, n)| {
                s.with_count(name, *n)
            });
        let names = given.iter().map(|(name, _)| (*name).to_owned()).collect();
        role.matched(&settings, &names, size, task, Matching::Nearest).unwrap()
    };
    for given in
        [&[("layers", 2)][..], &[("hidden", 16)], &[("heads", 3), ("layers", 1)], &[("feedforward", 2)]]
    {
        let found = matched(given, 8000);
        assert!(is_met(8000, found.parameters), "{given:?}: {}", found.parameters);
        for (name, n) in given {
            assert_eq!(found.settings.count(name), Some(*n));
        }
    }
    // With nothing left to change, the nearest that can be had.
    let found = matched(&[("layers", 5), ("heads", 8), ("feedforward", 4)], 8000);
    assert_eq!((found.settings.count("hidden"), found.parameters), (Some(8), 4409));
}

#[test]
fn steps_begin_with_the_usual_value() {
    assert_eq!(Steps::Around.of(5), [5, 4, 6, 3, 7, 2, 8, 1, 9, 10]);
    assert_eq!(Steps::Around.of(1), [1, 2, 3, 4, 5]);
    assert_eq!(Steps::Halves.of(8), [8, 4, 2, 1]);
    assert_eq!(Steps::Doubles.of(2), [2, 4, 8, 16, 32, 64, 128, 1]);
}
