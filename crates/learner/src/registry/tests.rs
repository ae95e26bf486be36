//! Every entry in each of its roles: it is built from its defaults, trained for a few steps, saved, loaded, and gives the
//! same answers.

use std::collections::BTreeSet;

use wug_dataset::Seed;
use wug_language::registry as languages;

use super::*;
use crate::interface::{Model, NextSymbol, Recognizer, Sequence, Trained, Transducer};
use crate::model::{LabelledString, LanguageModel, LossWeights, Pair, RecognizerModel, TransducerModel};
use crate::optim::OptimizerSpec;
use crate::train::{
    Average, BatchSize, Boundaries, LanguageModeling, NextSetString, NextSets, Objective, Recognition,
    Schedule, TrainSpec, Trainer, Transduction, WeightedString,
};

fn few_steps() -> TrainSpec {
    TrainSpec {
        optimizer: OptimizerSpec::adam(),
        schedule: Schedule::Constant { rate: 0.01 },
        batch: BatchSize::Examples(2),
        max_epochs: 3,
        patience: usize::MAX,
        validations: 1,
    }
}

/// Trains a model and reads it back from its bytes: the trained one and the loaded one.
fn trained<M: Model + Clone>(model: &M, objective: &impl Objective<f32>) -> [Trained<M, f32>; 2] {
    let mut trainer = Trainer::new(objective, few_steps(), Seed::new(3)).unwrap();
    let before = trainer.params().to_vec();
    trainer.run(|_| ());
    assert_ne!(trainer.params(), before, "nothing was learned");
    let trained = Trained::new(model.clone(), trainer.params().to_vec());
    let loaded = Trained::load(&trained.save()).unwrap();
    [trained, loaded]
}

const STRINGS: [&[u32]; 3] = [&[1, 2, 2], &[2], &[1, 2, 1, 2]];

#[test]
fn entries_are_complete_and_names_are_unique() {
    let names: BTreeSet<&str> = LEARNERS.iter().map(|learner| learner.name).collect();
    assert_eq!(names.len(), LEARNERS.len());
    for learner in LEARNERS {
        assert!(!learner.summary.is_empty() && !learner.cite.is_empty(), "{}", learner.name);
        assert!(learner.roles().next().is_some(), "{} plays no role", learner.name);
        for role in learner.roles() {
            let settings = learner.settings(role).unwrap();
            let names: BTreeSet<&str> = settings.iter().map(|setting| setting.name).collect();
            assert_eq!(names.len(), settings.len(), "{}", learner.name);
            for setting in settings {
                for reading in Reading::ALL {
                    setting.check(setting.default_in(reading).value().unwrap()).unwrap();
                }
                assert!(!setting.meaning.is_empty(), "{}: {}", learner.name, setting.name);
            }
        }
    }
}

#[test]
fn recognizers_are_built_trained_saved_and_loaded() {
    for learner in with_role(Role::Recognizer) {
        let role = learner.recognizer.as_ref().unwrap();
        let settings = Settings::defaults(role.settings, Reading::Corrected);
        let task = RecognizerTask { alphabet: 2, language_modeling: false, next_symbols: true };
        let model = RecognizerModel::new((role.build)(&settings, task)).unwrap();
        let next = [0b111; 5];
        let examples: Vec<LabelledString<'_>> = STRINGS
            .iter()
            .enumerate()
            .map(|(i, &string)| LabelledString { string, label: i > 0, next: &next[..=string.len()] })
            .collect();
        let weights = LossWeights { language_modeling: 0.0, next_symbols: 1.0 };
        let objective = Recognition::new(&model, &examples, &[], weights);
        let [mut trained, mut loaded] = trained(&model, &objective);
        let outputs = trained.predict(&STRINGS, &|_| true).unwrap();
        assert!(outputs.iter().all(|output| output.log_odds.is_finite()), "{}", learner.name);
        assert_eq!(outputs, loaded.predict(&STRINGS, &|_| true).unwrap(), "{}", learner.name);
    }
}

#[test]
fn next_symbol_networks_are_built_trained_saved_and_loaded() {
    let strings: Vec<Vec<u32>> = STRINGS.iter().map(|s| s.to_vec()).collect();
    let ends = Boundaries { start: Some(0), end: Some(0) };
    for learner in with_role(Role::NextSymbol) {
        let Some(role) = learner.next_symbol.as_ref().unwrap().network() else { continue };
        let model =
            LanguageModel::new((role.build)(&Settings::defaults(role.settings, Reading::Corrected), 3))
                .unwrap();
        let weighted: Vec<WeightedString<'_>> = strings.iter().map(|s| WeightedString::new(s)).collect();
        let objective = LanguageModeling::new(&model, &weighted, &[], ends, Average::Symbols).unwrap();
        let [mut one, mut other] = trained(&model, &objective);
        let string = [0, 1, 2, 2, 0];
        let log_probs = one.log_probs(&string).unwrap();
        assert!(log_probs[1..].iter().all(|p| *p < 0.0 && p.is_finite()), "{}", learner.name);
        assert_eq!(log_probs, other.log_probs(&string).unwrap(), "{}", learner.name);
        // With its type forgotten it says the same.
        assert_eq!(log_probs, AnyNextSymbol::new(one).log_probs(&string).unwrap(), "{}", learner.name);

        let with_start: Vec<Vec<u32>> = strings.iter().map(|s| [&[0], &s[..]].concat()).collect();
        let next = [0b101; 5];
        let sets: Vec<NextSetString<'_>> = with_start
            .iter()
            .map(|s| NextSetString { symbols: s, next: &next[..s.len()], weight: 1.0 })
            .collect();
        let objective = NextSets::new(&model, &sets, &[]).unwrap();
        let [one, other] = trained(&model, &objective);
        assert_eq!(one.params(), other.params(), "{}", learner.name);
    }
}

#[test]
fn baselines_predict_a_distribution_at_every_prefix() {
    let language = languages::build("an-bn").unwrap();
    for learner in with_role(Role::NextSymbol) {
        let Some(NextSymbolRole::Baseline(build)) = learner.next_symbol else { continue };
        assert!(learner.is_deterministic());
        let strings = vec![vec![0, 1, 2, 0], vec![0, 1, 1, 2, 2, 0]];
        let grammar = Grammar::of(&*language);
        let mut model = build(&Knowledge { vocabulary: 3, strings, grammar, seed: Seed::new(0) });
        let mut states = vec![model.start(), model.start()];
        let rows = model.advance_batch(&mut states, &[&[0, 1, 2], &[0, 1, 1]]).unwrap();
        for row in rows.chunks(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{}: {row:?}", learner.name);
        }
        assert_eq!(model.next(&states[0]).unwrap(), rows[6..9], "{}", learner.name);
        let copy = states[1].clone();
        model.push(&mut states[1], 2);
        assert_eq!(model.next(&copy).unwrap(), rows[15..], "{}", learner.name);
    }
}

#[test]
fn transducers_are_built_trained_saved_and_loaded() {
    let pairs = [(vec![3, 4], vec![4, 3, 3]), (vec![4], vec![3])];
    let pairs: Vec<Pair<'_>> = pairs.iter().map(|(input, output)| Pair { input, output }).collect();
    for learner in with_role(Role::Transducer) {
        let role = learner.transducer.as_ref().unwrap();
        let task = TransducerTask { inputs: 5, outputs: 5, end: 2, padding: Some(1) };
        let model =
            TransducerModel::new((role.build)(&Settings::defaults(role.settings, Reading::Corrected), task))
                .unwrap();
        let objective = Transduction::new(&model, &pairs, &[]).unwrap();
        let [mut one, mut other] = trained(&model, &objective);
        assert_eq!(one.log_probs(&pairs), other.log_probs(&pairs), "{}", learner.name);
        assert_eq!(one.greedy(&[3, 4], 1..=6), other.greedy(&[3, 4], 1..=6), "{}", learner.name);
    }
}

/// Before it has seen anything, after some batches, and the same again with the same seed: an incremental learner gives an answer
/// to each question that does not depend on the answer itself, and learns what the last symbol tells.
#[test]
fn incremental_learners_are_built_observe_and_answer() {
    // The ids 3 and 4 are followed by the answers 1 and 2.
    let strings: Vec<Vec<u32>> = (0..24_u32).map(|i| vec![5, 5 + i % 3, 3 + i % 2, 1 + i % 2, 5]).collect();
    let sequences: Vec<Sequence<'_>> =
        strings.iter().map(|symbols| Sequence { symbols, answers: &[3] }).collect();
    let changed: Vec<Vec<u32>> = strings.iter().map(|s| vec![s[0], s[1], s[2], 3 - s[3], 7]).collect();
    let changed: Vec<Sequence<'_>> =
        changed.iter().map(|symbols| Sequence { symbols, answers: &[3] }).collect();
    for learner in with_role(Role::Incremental) {
        let role = learner.incremental.as_ref().unwrap();
        for double in [false, true] {
            let task = IncrementalTask { vocabulary: 7, answers: 2, double };
            let settings = Settings::defaults(role.settings, Reading::Corrected)
                .with("learning_rate", SettingValue::Real(0.02))
                .with_count("units", 100);
            let run = || {
                let mut one = (role.build)(&settings, task, Seed::new(4)).unwrap();
                let before = one.predict(&sequences).unwrap();
                assert!(
                    before.len() == sequences.len() && before.iter().all(|a| [1, 2].contains(a)),
                    "{}",
                    learner.name
                );
                one.prepare(&sequences).unwrap();
                for _ in 0..20 {
                    sequences.chunks(4).for_each(|batch| one.observe(batch).unwrap());
                }
                assert_eq!(one.predict(&sequences), one.predict(&changed), "{}", learner.name);
                one.predict(&sequences).unwrap()
            };
            let predicted = run();
            assert_eq!(predicted, run(), "{}", learner.name);
            let right = predicted.iter().zip(&strings).filter(|(p, s)| **p == s[3]).count();
            assert!(right >= 22, "{} ({double}): {right} of 24", learner.name);
            let parameters = (role.parameters)(&settings, task).unwrap();
            assert!(parameters > 0);
        }
    }
}
