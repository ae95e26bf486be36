//! Every learner that is trained by gradient descent, in each of its roles and with each update rule.

use wug_dataset::Seed;

use wug_parameter::ValueLimits as Limits;

use super::*;
use crate::interface::Sequence;
use crate::model::{LabelledString, LanguageModel, LossWeights, Pair, RecognizerModel, TransducerModel};
use crate::optim::OptimizerRule;
use crate::train::{
    Average, BatchSize, Boundaries, LanguageModeling, Objective, Recognition, Schedule, TrainSpec, Trainer,
    TrainerCheckpoint, Transduction, WeightedString,
};

const OPTIMIZER: &str = "optimizer";
const RATE: f64 = 0.01;

/// What has a step size takes steps along a gradient.
fn gradient_learners(role: Role) -> impl Iterator<Item = (&'static Learner, &'static [Parameter])> {
    let settings = move |learner: &'static Learner| Some((learner, learner.settings(role)?));
    let all = LEARNERS.iter().copied().filter_map(settings);
    all.filter(|(_, settings)| settings.iter().any(|setting| setting.name == "learning_rate"))
}

fn settings(all: &[Parameter], rule: UpdateRule) -> Settings {
    Settings::defaults(all, Reading::Corrected)
        .with("learning_rate", SettingValue::Real(RATE))
        .with(OPTIMIZER, SettingValue::Name(rule.name().to_owned()))
}

fn take_steps(count: usize, trainer: &mut Trainer<'_, f32, impl Objective<f32>>) {
    for _ in 0..count {
        trainer.step();
    }
}

/// The checkpoint after five steps. Saved and resumed after the third, within an epoch, it must be the same bytes.
fn five_steps(objective: &impl Objective<f32>, spec: TrainSpec, name: &str) -> TrainerCheckpoint {
    let mut whole = Trainer::new(objective, spec, Seed::new(3)).unwrap();
    take_steps(3, &mut whole);
    let saved = whole.save();
    let mut resumed = Trainer::resume(objective, spec, &saved).unwrap();
    take_steps(2, &mut whole);
    take_steps(2, &mut resumed);
    let whole = whole.save();
    assert_eq!(whole, resumed.save(), "{name}: {:?}", spec.optimizer);
    assert_ne!(whole.tensors, saved.tensors, "{name}: nothing was learned");
    whole
}

/// Checks that each rule leads elsewhere, and is what the training spec has.
fn compare(name: &str, objective: &impl Objective<f32>, spec: impl Fn(UpdateRule) -> TrainSpec) {
    let [adam, sgd] = [UpdateRule::Adam, UpdateRule::Sgd].map(|rule| {
        let spec = TrainSpec { batch: BatchSize::Examples(1), max_epochs: 3, ..spec(rule) };
        let is_sgd = matches!(spec.optimizer.rule, OptimizerRule::Sgd { .. });
        assert_eq!(is_sgd, rule == UpdateRule::Sgd, "{name}");
        five_steps(objective, spec, name)
    });
    assert_ne!(adam.tensors, sgd.tensors, "{name}");
}

#[test]
fn every_gradient_learner_has_an_optimizer_in_every_role() {
    let mut count = [0; 4];
    for (role, count) in Role::ALL.into_iter().zip(&mut count) {
        for (learner, all) in gradient_learners(role) {
            let name = format!("{} as {}", learner.name, role.name());
            let setting = all.iter().find(|setting| setting.name == OPTIMIZER);
            let setting = setting.unwrap_or_else(|| panic!("{name} has no optimizer"));
            let Limits::Names(names) = setting.limits else { panic!("{name}") };
            assert_eq!(names, <UpdateRule as wug_parameter::Choice>::NAMES, "{name}");
            // Tables of next-symbol models tell optimisers apart in ways of their own.
            assert_eq!(setting.telling, role != Role::NextSymbol, "{name}");
            *count += 1;
        }
    }
    assert!(count.iter().all(|&learners| learners > 2), "{count:?}");
}

#[test]
fn recognizers_resume_to_the_same_bytes_with_every_optimizer() {
    let strings: [&[u32]; 3] = [&[1, 2, 2], &[2], &[1, 2, 1, 2]];
    let examples = strings.map(|string| LabelledString { string, label: string.len() > 1, next: &[] });
    let task = RecognizerTask { alphabet: 2, language_modeling: false, next_symbols: false };
    for (learner, all) in gradient_learners(Role::Recognizer) {
        let role = learner.recognizer.as_ref().unwrap();
        let model =
            RecognizerModel::new((role.build)(&Settings::defaults(all, Reading::Corrected), task)).unwrap();
        let objective = Recognition::new(&model, &examples, &[], LossWeights::default());
        compare(learner.name, &objective, |rule| TrainSpec {
            optimizer: optimizer_spec(&settings(all, rule)),
            schedule: Schedule::Constant { rate: RATE },
            ..train_spec(&Settings::default())
        });
    }
}

#[test]
fn next_symbol_models_resume_to_the_same_bytes_with_every_optimizer() {
    let strings: [&[u32]; 3] = [&[1, 2, 2], &[2], &[1, 2, 1, 2]];
    let weighted = strings.map(WeightedString::new);
    let ends = Boundaries { start: Some(0), end: Some(0) };
    for (learner, all) in gradient_learners(Role::NextSymbol) {
        let role = learner.next_symbol.as_ref().unwrap().network().unwrap();
        let model =
            LanguageModel::new((role.build)(&Settings::defaults(all, Reading::Corrected), 3)).unwrap();
        let objective = LanguageModeling::new(&model, &weighted, &[], ends, Average::Symbols).unwrap();
        compare(learner.name, &objective, |rule| train_spec(&settings(all, rule)));
    }
}

#[test]
fn transducers_resume_to_the_same_bytes_with_every_optimizer() {
    let pairs: [(&[u32], &[u32]); 3] = [(&[3, 4], &[4, 3, 3]), (&[4], &[3]), (&[3], &[4])];
    let pairs = pairs.map(|(input, output)| Pair { input, output });
    let task = TransducerTask { inputs: 5, outputs: 5, end: 2, padding: Some(1) };
    for (learner, all) in gradient_learners(Role::Transducer) {
        let role = learner.transducer.as_ref().unwrap();
        let model =
            TransducerModel::new((role.build)(&Settings::defaults(all, Reading::Corrected), task)).unwrap();
        let objective = Transduction::new(&model, &pairs, &[]).unwrap();
        compare(learner.name, &objective, |rule| transduction_spec(&settings(all, rule)));
    }
}

/// Incremental learners are not saved: a run that is interrupted starts again, and gets to the same scores.
#[test]
fn incremental_learners_start_again_to_the_same_scores_with_every_optimizer() {
    let strings: Vec<Vec<u32>> = (0..8_u32).map(|i| vec![5, 5 + i % 3, 3 + i % 2, 1 + i % 2, 5]).collect();
    let sequences: Vec<Sequence<'_>> =
        strings.iter().map(|symbols| Sequence { symbols, answers: &[3] }).collect();
    let task = IncrementalTask { vocabulary: 7, answers: 2, double: false };
    for (learner, all) in gradient_learners(Role::Incremental) {
        let role = learner.incremental.as_ref().unwrap();
        let run = |settings: &Settings| {
            let mut one = (role.build)(settings, task, Seed::new(4)).unwrap();
            one.prepare(&sequences).unwrap();
            sequences.chunks(2).for_each(|batch| one.observe(batch).unwrap());
            one.scores(&sequences).unwrap().unwrap()
        };
        let [adam, sgd] = [UpdateRule::Adam, UpdateRule::Sgd].map(|rule| {
            let settings = settings(all, rule);
            let scores = run(&settings);
            assert_eq!(scores, run(&settings), "{}", learner.name);
            scores
        });
        assert_ne!(adam, sgd, "{}", learner.name);
        let rate = SettingValue::Real(RATE);
        let unsaid = run(&Settings::defaults(all, Reading::Corrected).with("learning_rate", rate));
        // Decoders of reservoirs have always learned by stochastic gradient descent, networks by Adam.
        let is_reservoir = all.iter().any(|setting| setting.name == "decoder");
        assert_eq!(unsaid, if is_reservoir { sgd } else { adam }, "{}", learner.name);
    }
}
