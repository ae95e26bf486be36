use super::*;
use crate::model::{LabelledString, LossWeights, RecognizerModel};
use crate::registry::{RecognizerTask, recognizer};

/// Parity of ones, for eight strings.
fn strings() -> Vec<Vec<u32>> {
    let all: [&[u32]; 8] =
        [&[], &[2], &[1, 2], &[2, 2, 1], &[1, 1], &[2, 1, 2, 2], &[1, 2, 2, 1, 2], &[2, 1, 1, 2]];
    all.iter().map(|s| s.to_vec()).collect()
}

fn labelled(strings: &[Vec<u32>]) -> Vec<LabelledString<'_>> {
    let odd = |s: &[u32]| s.iter().filter(|&&id| id == 2).count() % 2 == 1;
    strings.iter().map(|string| LabelledString { string, label: odd(string), next: &[] }).collect()
}

fn spec(rate: f64, max_epochs: usize) -> TrainSpec {
    TrainSpec {
        optimizer: OptimizerSpec::adam().clipped(5.0),
        schedule: Schedule::Plateau { rate, factor: 0.5, patience: 4 },
        batch: BatchSize::Symbols(16),
        max_epochs,
        patience: 1000,
        validations: 1,
    }
}

const FAMILIES: [&str; 4] = ["rnn", "lstm", "gru", "transformer"];

#[test]
fn every_family_overfits_eight_strings() {
    let strings = strings();
    let examples = labelled(&strings);
    for family in FAMILIES {
        let model = RecognizerModel::new(
            recognizer(
                family,
                16,
                RecognizerTask { alphabet: 2, language_modeling: true, next_symbols: false },
                0.0,
            )
            .unwrap(),
        )
        .unwrap();
        let objective = Recognition::new(
            &model,
            &examples,
            &examples,
            LossWeights { language_modeling: 0.01, next_symbols: 0.0 },
        );
        let schedule = Schedule::Constant { rate: 3e-3 };
        let mut trainer =
            Trainer::<f32, _>::new(&objective, TrainSpec { schedule, ..spec(0.0, 400) }, Seed::new(3))
                .unwrap();
        let mut last = f64::INFINITY;
        assert_eq!(trainer.run(|progress| last = last.min(progress.validation)), TrainOutcome::Finished);
        assert!(last < 0.1, "{family:?}: {last}");
    }
}

#[test]
fn a_run_resumed_after_any_step_gives_the_same_bytes() {
    let strings = strings();
    let examples = labelled(&strings);
    for family in FAMILIES {
        let model =
            RecognizerModel::new(recognizer(family, 8, RecognizerTask::labels(2), 0.2).unwrap()).unwrap();
        for validation in [&examples[..], &[]] {
            let objective = Recognition::new(&model, &examples, validation, LossWeights::default());
            let patience = if validation.is_empty() { usize::MAX } else { 1000 };
            let spec = TrainSpec { batch: BatchSize::Examples(3), patience, validations: 2, ..spec(1e-2, 4) };
            let mut whole = Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).unwrap();
            whole.run(|_| ());
            let mut first = Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).unwrap();
            // Three batches in each of four epochs.
            for step in 1..12 {
                assert_eq!(first.step().is_some(), step % 3 == 0);
                let saved = first.save();
                let mut second = Trainer::<f32, _>::resume(&objective, spec, &saved).unwrap();
                assert_eq!(second.save(), saved);
                second.run(|_| ());
                assert_eq!(second.save(), whole.save(), "{family} after {step} steps");
            }
        }
    }
}

#[test]
fn runs_in_threads_give_the_same_bytes_as_in_sequence() {
    let strings = strings();
    let examples = labelled(&strings);
    let run = |family: &str| {
        let model =
            RecognizerModel::new(recognizer(family, 8, RecognizerTask::labels(2), 0.2).unwrap()).unwrap();
        let objective = Recognition::new(&model, &examples, &examples, LossWeights::default());
        let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 3), Seed::new(1)).unwrap();
        trainer.run(|_| ());
        trainer.save()
    };
    let alone = FAMILIES.map(run);
    let together = std::thread::scope(|scope| {
        let run = &run;
        let handles = FAMILIES.map(|family| scope.spawn(move || run(family)));
        handles.map(|handle| handle.join().unwrap())
    });
    assert_eq!(alone, together);
}

#[test]
fn divergence_is_an_outcome() {
    let strings = strings();
    let examples = labelled(&strings);
    let model = RecognizerModel::new(recognizer("rnn", 8, RecognizerTask::labels(2), 0.0).unwrap()).unwrap();
    let objective = Recognition::new(&model, &examples, &examples, LossWeights::default());
    let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e38, 9), Seed::new(1)).unwrap();
    let TrainOutcome::Diverged { step } = trainer.run(|_| ()) else {
        panic!("a rate of 1e38 should diverge")
    };
    assert!(step >= 1);
    assert!(trainer.best().iter().all(|x| x.is_finite()));
}

#[test]
fn a_run_without_examples_or_with_empty_batches_is_an_error() {
    let strings = strings();
    let examples = labelled(&strings);
    let model = RecognizerModel::new(recognizer("rnn", 8, RecognizerTask::labels(2), 0.0).unwrap()).unwrap();
    let error = |training, validation, batch| {
        let objective = Recognition::new(&model, training, validation, LossWeights::default());
        let spec = TrainSpec { batch, ..spec(1.0, 9) };
        Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).err()
    };
    let all = BatchSize::All;
    assert_eq!(error(&[], &examples, all), Some(TrainError::NoTraining));
    assert_eq!(error(&examples, &[], all), Some(TrainError::NoValidation));
    assert_eq!(error(&examples, &examples, BatchSize::Examples(0)), Some(TrainError::NoBatch));
    assert_eq!(error(&examples, &examples, BatchSize::Symbols(0)), Some(TrainError::NoBatch));
    assert_eq!(error(&examples, &examples, BatchSize::InOrder(0)), Some(TrainError::NoBatch));
    assert_eq!(error(&examples, &examples, all), None);
}

#[test]
fn training_stops_when_validation_no_longer_improves() {
    let strings = strings();
    let examples = labelled(&strings);
    let model = RecognizerModel::new(recognizer("rnn", 8, RecognizerTask::labels(2), 0.0).unwrap()).unwrap();
    let objective = Recognition::new(&model, &examples, &examples, LossWeights::default());
    let mut trainer =
        Trainer::<f64, _>::new(&objective, TrainSpec { patience: 3, ..spec(0.0, 50) }, Seed::new(1)).unwrap();
    let mut epochs = 0;
    assert_eq!(trainer.run(|progress| epochs = progress.epoch), TrainOutcome::Stopped);
    assert_eq!(epochs, 4); // the first is the best, then three without improvement
}

#[test]
fn saved_weights_load_and_other_shapes_are_errors() {
    let model = |d| {
        RecognizerModel::new(
            recognizer(
                "gru",
                d,
                RecognizerTask { alphabet: 2, language_modeling: true, next_symbols: true },
                0.0,
            )
            .unwrap(),
        )
        .unwrap()
    };
    let (small, large) = (model(8), model(9));
    let params: Vec<f32> = small.layout().initialise(Seed::new(1));
    let bytes = save_weights(small.layout(), &params);
    assert_eq!(load_weights::<f32>(small.layout(), &bytes).unwrap(), params);
    let wide: Vec<f64> = load_weights(small.layout(), &bytes).unwrap();
    assert!(wide.iter().zip(&params).all(|(w, p)| w.to_bits() == f64::from(*p).to_bits()));
    let error = load_weights::<f32>(large.layout(), &bytes).unwrap_err();
    assert_eq!(error.to_string(), "embedding has shape [3, 8], but the model needs [3, 9]");
    let error = load_weights::<f32>(small.layout(), &bytes[..20]).unwrap_err();
    assert!(matches!(error, CheckpointError::Format(_)), "{error}");
}

#[test]
fn logits_do_not_depend_on_the_batch() {
    let strings = strings();
    for family in FAMILIES {
        let model =
            RecognizerModel::new(recognizer(family, 16, RecognizerTask::labels(2), 0.1).unwrap()).unwrap();
        let params: Vec<f64> = model.layout().initialise(Seed::new(5));
        let mut tape = Tape::default();
        let mut logits = |strings: &[&[u32]]| {
            let mut record = tape.record(&params, Mode::Eval);
            let out = model.forward(&mut record, strings);
            record.value(out).to_vec()
        };
        let together = logits(&strings.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (string, expected) in strings.iter().zip(together) {
            let alone = logits(&[string])[0];
            assert!((alone - expected).abs() < 1e-12, "{family:?} {string:?}: {alone} {expected}");
        }
    }
}

#[test]
fn checkpoints_of_another_shape_or_truncated_are_errors() {
    let strings = strings();
    let examples = labelled(&strings);
    let models = [8, 9].map(|d| {
        RecognizerModel::new(recognizer("rnn", d, RecognizerTask::labels(2), 0.0).unwrap()).unwrap()
    });
    let [small, large] =
        [0, 1].map(|m| Recognition::new(&models[m], &examples, &examples, LossWeights::default()));
    let spec = spec(1e-2, 3);
    let saved = Trainer::<f32, _>::new(&small, spec, Seed::new(1)).unwrap().save();
    let resume = |objective, spec, saved: &TrainerCheckpoint| {
        Trainer::<f32, _>::resume(objective, spec, saved).map(|_| ()).unwrap_err()
    };
    let [few, many] = [0, 1].map(|m| models[m].layout().count());
    assert_eq!(
        resume(&large, spec, &saved).to_string(),
        format!("params has shape [{few}], but the model needs [{many}]")
    );
    // SGD without momentum has no moments, Adam has two per parameter.
    let other = TrainSpec { optimizer: OptimizerSpec::sgd(), ..spec };
    assert_eq!(
        resume(&small, other, &saved).to_string(),
        format!("mean has shape [{few}], but the model needs [0]")
    );
    let truncated =
        TrainerCheckpoint { tensors: saved.tensors[..saved.tensors.len() - 1].to_vec(), ..saved.clone() };
    assert!(matches!(resume(&small, spec, &truncated), CheckpointError::Format(_)));
}

/// Each would overflow at the next step or epoch.
#[test]
fn checkpoints_with_impossible_counters_are_errors() {
    let strings = strings();
    let examples = labelled(&strings);
    let model = RecognizerModel::new(recognizer("rnn", 4, RecognizerTask::labels(2), 0.0).unwrap()).unwrap();
    let objective = Recognition::new(&model, &examples, &examples, LossWeights::default());
    let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 3), Seed::new(1)).unwrap();
    assert_eq!(trainer.step(), None);
    let saved = trainer.save();
    let state = serde_json::to_value(&saved.state).unwrap();
    for counter in ["/bad", "/rate/bad", "/optimizer_steps", "/epoch", "/partial_epoch/batches"] {
        let mut state = state.clone();
        *state.pointer_mut(counter).unwrap() = u64::MAX.into();
        let saved = TrainerCheckpoint { state: serde_json::from_value(state).unwrap(), ..saved.clone() };
        let resumed = Trainer::<f32, _>::resume(&objective, spec(1e-2, 3), &saved).map(|_| ());
        assert!(matches!(resumed, Err(CheckpointError::State(_))), "{counter}: {resumed:?}");
    }
}

#[test]
fn a_nan_loss_is_divergence_before_any_step() {
    let strings = strings();
    let examples = labelled(&strings);
    for family in FAMILIES {
        let model =
            RecognizerModel::new(recognizer(family, 8, RecognizerTask::labels(2), 0.0).unwrap()).unwrap();
        let objective = Recognition::new(&model, &examples, &examples, LossWeights::default());
        let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 3), Seed::new(1)).unwrap();
        trainer.params.fill(f32::NAN);
        assert_eq!(trainer.run(|_| ()), TrainOutcome::Diverged { step: 0 }, "{family:?}");
        assert!(trainer.best().iter().all(|x| x.is_finite()));
        // The outcome is part of the checkpoint: a resumed run does not continue.
        let saved = trainer.save();
        let mut again = Trainer::<f32, _>::resume(&objective, spec(1e-2, 3), &saved).unwrap();
        assert_eq!(again.run(|_| panic!("no epoch is left")), TrainOutcome::Diverged { step: 0 });
    }
}
