//! Properties of the tasks and their readings, quantified over the registry.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::oracle::{self, OracleAnswer};
use super::super::{
    ADJ_QA, ADJ_QA_CT, HARD_QA, HARD_SYM_CT, INC_PER, QA, Reading, SYM_CT, TASKS, WadeTask, dataset,
    dataset_with, task,
};
use crate::{MaskedSequence, Seed};

/// `n` raw draws with the settings of a reading.
pub(super) fn draws(task: &WadeTask, reading: Reading, n: usize) -> Vec<MaskedSequence> {
    let mut rng = Seed::new(12305).derive(task.name).rng();
    let settings = task.settings(reading);
    (0..n).map(|_| task.generate_with(&settings, &mut rng)).collect()
}

pub(super) fn tokens(task: &WadeTask, sequence: &MaskedSequence) -> Vec<String> {
    let vocabulary = task.vocabulary();
    sequence.word.iter().map(|&symbol| vocabulary.token(symbol).to_owned()).collect()
}

fn answers(task: &WadeTask, sequence: &MaskedSequence) -> Vec<OracleAnswer> {
    oracle::answers(task.number, &tokens(task, sequence), &sequence.mask).unwrap()
}

#[test]
fn the_registry_is_in_order_and_finds_names_and_numbers() {
    for (i, entry) in TASKS.iter().enumerate() {
        assert_eq!(usize::from(entry.number), i + 1);
        assert_eq!(task(entry.name).unwrap().number, entry.number);
        assert_eq!(task(&entry.number.to_string()).unwrap().name, entry.name);
    }
    for bad in ["", "0", "11", "QA", "periodic "] {
        assert_eq!(task(bad).unwrap_err().given, bad);
    }
}

#[test]
fn the_examples_are_right() {
    for task in TASKS {
        let example = task.parse(task.example).unwrap();
        assert_eq!(task.check(&example), Ok(vec![]), "{}", task.name);
        assert_eq!(example.show(&task.vocabulary()), task.example);
    }
}

#[test]
fn the_oracle_agrees_with_the_corrected_reading() {
    for task in TASKS {
        for sequence in draws(task, Reading::Corrected, 10_000) {
            assert_eq!(task.check(&sequence), Ok(vec![]), "{}", sequence.show(&task.vocabulary()));
            assert!(answers(task, &sequence).iter().all(|answer| answer.stated));
        }
    }
}

#[test]
fn the_oracle_reads_all_published_texts_and_disputes_task_4_alone() {
    for task in TASKS.iter().filter(|task| task.number != HARD_SYM_CT.number) {
        for sequence in draws(task, Reading::Published, 10_000) {
            assert_eq!(task.check(&sequence), Ok(vec![]), "{}", sequence.show(&task.vocabulary()));
        }
    }
}

#[test]
fn the_oracle_does_not_see_the_answers() {
    for task in TASKS {
        for sequence in draws(task, Reading::Corrected, 200) {
            let mut blank = tokens(task, &sequence);
            sequence.mask.iter().for_each(|&i| blank[i] = "nonsense".to_owned());
            let seen = oracle::answers(task.number, &tokens(task, &sequence), &sequence.mask);
            assert_eq!(oracle::answers(task.number, &blank, &sequence.mask), seen);
            assert_eq!(
                oracle::check(task.number, &blank, &sequence.mask).unwrap().len(),
                sequence.mask.len()
            );
        }
    }
}

#[test]
fn masks_ascend_and_are_never_empty() {
    for task in TASKS {
        for reading in Reading::ALL {
            for sequence in draws(task, reading, 1000) {
                assert!(!sequence.mask.is_empty() && sequence.mask.is_sorted_by(|a, b| a < b));
                assert!(sequence.mask.iter().all(|&i| i < sequence.word.len()));
            }
        }
    }
}

#[test]
fn counts_of_two_digits_are_masked_in_ascending_order() {
    let settings = SYM_CT.settings_with(Reading::Published, "prompt=60").unwrap();
    let data = dataset_with(&SYM_CT, &settings, 500, Seed::new(3));
    for sequence in &data.sequences {
        assert_eq!(SYM_CT.check(sequence), Ok(vec![]));
        assert!(sequence.mask.is_sorted());
    }
    assert!(
        data.sequences.iter().any(|sequence| sequence.mask.windows(2).any(|pair| pair[0] + 1 == pair[1]))
    );
}

#[test]
fn the_same_seed_gives_the_same_data_and_another_seed_other_data() {
    for task in TASKS {
        let data = |seed| dataset(task, Reading::Corrected, 100, Seed::new(seed));
        assert_eq!(data(1), data(1));
        assert_ne!(data(1).sequences, data(2).sequences);
    }
}

/// Data sets are the same bytes on every machine and for ever. If a change of the generators is meant, so is
/// a change of these numbers.
#[test]
fn data_are_the_same_bytes_for_ever() {
    let digest = |reading| {
        let mut hasher = blake3::Hasher::new();
        for task in TASKS {
            let data = dataset(task, reading, 200, Seed::new(1));
            for sequence in data.train().chain(data.test()) {
                hasher.update(sequence.show(&task.vocabulary()).as_bytes());
                hasher.update(b"\n");
            }
        }
        hasher.finalize().to_hex()[..16].to_owned()
    };
    assert_eq!(Reading::ALL.map(digest), ["a0d09b6ad6f00186", "19f9f12eae3a8b34"]);
}

#[test]
fn a_text_that_is_not_in_the_vocabulary_is_named() {
    let error = QA.parse("I SEE [MARY]").unwrap_err().to_string();
    assert!(error.starts_with("not a text of task `qa`: unknown token `MARY` at position 2"), "{error}");
}

#[test]
fn splits_are_disjoint_and_texts_distinct() {
    for task in TASKS {
        let data = dataset(task, Reading::Corrected, 300, Seed::new(5));
        let all: BTreeSet<usize> = data.train.iter().chain(&data.test).copied().collect();
        assert_eq!((data.train.len(), data.test.len(), all.len()), (240, 60, 300));
        assert_eq!(data.sequences.iter().map(|sequence| &sequence.word).collect::<BTreeSet<_>>().len(), 300);
        assert_eq!((data.missing(), data.wanted), (0, 300));
        assert_eq!((data.train().len(), data.test().len()), (240, 60));
        assert!((300..=1500).contains(&data.drawn));
    }
    assert_eq!(dataset(&QA, Reading::Corrected, 0, Seed::new(5)).drawn, 0);
}

/// The most things that a statement-making task mentions in one of many draws.
fn most_mentioned(task: &WadeTask, reading: Reading, nouns: usize) -> usize {
    let noun = |sequence: &MaskedSequence| {
        let nouns = |symbol: &&wug_language::Symbol| symbol.index() < nouns;
        sequence.word.iter().filter(nouns).collect::<BTreeSet<_>>().len()
    };
    draws(task, reading, 2000).iter().map(noun).max().unwrap()
}

#[test]
fn the_readings_differ_in_how_many_names_a_prompt_has() {
    let most = |task, nouns| Reading::ALL.map(|reading| most_mentioned(task, reading, nouns));
    assert_eq!(most(&QA, 5), [4, 5]);
    assert_eq!(most(&HARD_QA, 11), [10, 5]);
    assert_eq!(most(task("qa-world-def").unwrap(), 13), [12, 12]);
    assert_eq!(most(task("qa-world-def-ct").unwrap(), 13), [12, 12]);
}

#[test]
fn only_the_published_reading_asks_about_things_never_mentioned() {
    for (task, at_least) in [(ADJ_QA, 5), (ADJ_QA_CT, 5)] {
        let unmentioned = |reading| {
            let sequences = draws(&task, reading, 10_000);
            sequences
                .iter()
                .flat_map(|sequence| answers(&task, sequence))
                .filter(|answer| !answer.stated)
                .count()
        };
        assert!(unmentioned(Reading::Published) >= at_least);
        assert_eq!(unmentioned(Reading::Corrected), 0);
    }
}

#[test]
fn task_10_asks_up_to_eight_questions_when_corrected() {
    let most = |reading| draws(&ADJ_QA_CT, reading, 50_000).iter().map(|sequence| sequence.mask.len()).max();
    assert_eq!(Reading::ALL.map(most), [Some(7), Some(8)]);
}

#[test]
fn settings_change_what_is_drawn() {
    let settings = INC_PER.settings_with(Reading::Corrected, "pattern=2,length=120").unwrap();
    let data = dataset_with(&INC_PER, &settings, 10, Seed::new(1));
    assert_eq!((data.sequences.len(), data.drawn, data.missing()), (4, 50, 6));
    assert!(data.sequences.iter().all(|sequence| sequence.word.len() == 120));
}

#[test]
fn symbols_outside_the_vocabulary_are_malformed() {
    for task in TASKS {
        let word = vec![wug_language::Symbol(60_000); 3];
        assert!(task.check(&MaskedSequence { word, mask: vec![2] }).is_err());
    }
}

proptest! {
    #[test]
    fn the_oracle_never_panics(
        number in 0u8..12,
        picks in prop::collection::vec(0usize..60, 0..40),
        mask in prop::collection::vec(0usize..45, 0..6),
    ) {
        let vocabulary = TASKS[usize::from(number) % 10].vocabulary();
        let token = |&pick: &usize| vocabulary.tokens().get(pick).map_or("junk", String::as_str);
        let text: Vec<&str> = picks.iter().map(token).collect();
        let _ = oracle::check(number, &text, &mask);
    }

    #[test]
    fn the_oracle_survives_damaged_texts(
        seed: u64,
        which in 0usize..10,
        at: usize,
        to: u16,
        cut: usize,
        slip: bool,
    ) {
        let task = &TASKS[which];
        let mut sequence = task.generate(Reading::Published, &mut Seed::new(seed).rng());
        let length = sequence.word.len();
        sequence.word[at % length] = wug_language::Symbol(to % (task.vocabulary().len() as u16 + 1));
        if slip {
            sequence.word.truncate(cut % length);
        }
        let _ = task.check(&sequence);
    }
}
