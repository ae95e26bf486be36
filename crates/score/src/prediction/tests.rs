use super::*;
use wug_language::{NextSet, Symbol};

fn check(truth: &Labelled, prediction: &Prediction) -> Result<(), String> {
    let alphabet = Alphabet::new(["a", "b"]);
    Example::new(truth, prediction, &alphabet).map(drop).map_err(|e| e.to_string())
}

fn refused(truth: &Labelled, prediction: &Prediction, expected: &str) {
    assert_eq!(check(truth, prediction), Err(expected.to_owned()));
}

#[test]
fn a_prediction_that_does_not_fit_says_why() {
    let truth = Labelled::new(vec![Symbol(0)], true);
    let mut p = Prediction { recognition: Some(Verdict::Probability(1.5)), ..Prediction::default() };
    refused(&truth, &p, "1.5 was given as a probability, but probabilities are from 0 to 1");
    p = Prediction { log_probs: Some(vec![-1.0]), ..Prediction::default() };
    refused(&truth, &p, "log-probabilities for 1 prefixes, but a string of 1 symbols has 2");
    p.log_probs = Some(vec![-1.0, 0.5]);
    refused(&truth, &p, "0.5 was given as a log-probability at prefix 1, but those are at most 0");
    p = Prediction {
        next: Some(NextAnswer::Sets(vec![vec![true; 3], vec![true; 2]])),
        ..Prediction::default()
    };
    refused(&truth, &p, "2 next-symbol answers at prefix 1, but the alphabet and the end make 3");
    p.next = Some(NextAnswer::Logits(vec![]));
    refused(&truth, &p, "next-symbol answers for 0 prefixes, but a string of 1 symbols has 2");
    let broken = Labelled { next: Some(vec![NextSet::empty()]), ..truth };
    refused(
        &broken,
        &Prediction::default(),
        "the data have next-symbol sets for 1 prefixes, but the string has 2",
    );
}

#[test]
fn an_empty_prediction_fits_everything() {
    assert_eq!(check(&Labelled::new(vec![], false), &Prediction::default()), Ok(()));
}

#[test]
fn unknown_fields_are_refused() {
    assert!(serde_json::from_str::<Prediction>(r#"{"logits":[1.0]}"#).is_err());
    assert!(serde_json::from_str::<Prediction>(r#"{"recognition":{"logit":null}}"#).is_err());
}

#[test]
fn nan_is_no_verdict() {
    assert_eq!(Verdict::Logit(f64::NAN).accepts(), None);
    assert_eq!(Verdict::Logit(0.0).accepts(), Some(true));
    assert_eq!(Verdict::Logit(-0.0).accepts(), Some(true));
    assert_eq!(Verdict::Probability(0.5).accepts(), Some(true));
    assert_eq!(Verdict::Probability(0.4999).accepts(), Some(false));
}
