//! Absurd sizes are refused, or are quick: every language of the registry comes back.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use wug_language::LengthError;
use wug_language::negative::{Coin, Negatives};
use wug_language::registry::{self, LANGUAGES};

#[test]
fn long_strings_are_sampled_or_refused_with_an_estimate() {
    let more = ["dyck-8-5", "dyck-64-2", "dyck-1-2000", "nested:classes=1000", "adj-np:terminals=32767"];
    for name in LANGUAGES.iter().map(|entry| entry.name).chain(more) {
        let language = registry::build(name).unwrap();
        match language.by_length(0..=1_000_000) {
            Ok(strings) => drop(strings.sample(&mut ChaCha8Rng::seed_from_u64(1))),
            Err(error) => {
                let text = error.to_string();
                assert!(matches!(error, LengthError::TooLarge(_)), "{name}: {text}");
                assert!(text.contains("would take about") && text.contains("the limit is 2.0 GiB"), "{text}");
                assert!(more.contains(&name), "{name}: {text}");
            }
        }
    }
    let language = registry::build("dyck-8-5").unwrap();
    assert!(language.by_length(0..=100_000).is_err());
    assert!(language.automaton().unwrap().check_nearest(100_000).is_err());
}

#[test]
fn settings_beyond_all_bounds_are_refused() {
    const ABSURD: &str = "99999999999";
    for entry in LANGUAGES {
        for parameter in entry.parameters {
            let name = format!("{}:{}={ABSURD}", entry.name, parameter.name);
            assert!(registry::build(&name).is_err(), "{name}");
        }
    }
    for name in ["dyck-99999999999-2", "dyck-2-99999999999", "dyck-64-64", "dyck-8-2000"] {
        assert!(registry::build(name).is_err(), "{name}");
    }
}

#[test]
fn a_negative_that_hardly_exists_is_given_up_in_time() {
    let language = registry::build("first").unwrap();
    let negatives = Negatives::new(language.as_ref(), 999_000..=1_000_000, Coin::PerExample).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // Half of the negatives are perturbed members, whose first symbol is hit once in a million edits.
    let error = (0..20).find_map(|_| negatives.sample(&mut rng).err()).unwrap();
    assert!(error.to_string().starts_with("500 proposals"), "{error}");
}

#[test]
fn probabilities_of_long_strings_are_quick() {
    let language = registry::build("dyck-2").unwrap();
    let strings = language.by_length(200_000..=200_000).unwrap();
    let word = strings.sample(&mut ChaCha8Rng::seed_from_u64(1));
    assert!(strings.log_prob(&word) < -200_000.0);
}

#[test]
fn the_edit_distance_of_a_long_string_is_linear_in_its_length() {
    let language = registry::build("even-pairs").unwrap();
    let word = language.alphabet().parse(&"01".repeat(100_000)).unwrap();
    assert_eq!(language.automaton().unwrap().nearest(&word).unwrap().distance, 1);
}
