use super::*;
use crate::interface::{Trained, Transducer};
use crate::kernel::Sinusoid;
use crate::model::{
    CnnTransducerSpec, Initialization, LstmTransducerSpec, NormPlace, Positions, TransducerBodySpec,
    TransducerSpec, TransformerDropout, TransformerSpec,
};
use crate::optim::OptimizerSpec;
use crate::tape::{Mode, Tape};
use crate::train::{BatchSize, Schedule, TrainOutcome, TrainSpec, Trainer};
use wug_dataset::Seed;

fn model(body: TransducerBodySpec, initialization: Initialization) -> TransducerModel {
    let spec = TransducerSpec { body, inputs: 5, outputs: 6, end: 2, padding: Some(1), initialization };
    TransducerModel::new(spec).unwrap()
}

fn transformer_spec(positions: Positions, dropout: f64) -> TransformerSpec {
    TransformerSpec {
        layers: 1,
        width: 16,
        heads: 4,
        feedforward: 32,
        norm: NormPlace::Post,
        final_norm: false,
        positions,
        scale_embedding: true,
        dropout: TransformerDropout { embedding: dropout, residual: dropout, ..Default::default() },
    }
}

fn transformer(positions: Positions, dropout: f64) -> TransducerModel {
    let spec = transformer_spec(positions, dropout);
    model(TransducerBodySpec::Transformer(spec), Initialization::FindTransformer)
}

/// With and without attention, one layer and two, an output layer of another width, kernels of odd and even width.
fn models(dropout: f64) -> Vec<TransducerModel> {
    let lstm = |layers, attention, output| {
        let spec = LstmTransducerSpec { layers, hidden: 12, embedding: 6, output, attention, dropout };
        model(TransducerBodySpec::Lstm(spec), Initialization::FindLstm)
    };
    let cnn = |layers, kernel| {
        let (channels, embedding, output, positions, damped) = (12, 6, 7, 20, false);
        let spec =
            CnnTransducerSpec { layers, channels, kernel, embedding, output, positions, dropout, damped };
        model(TransducerBodySpec::Cnn(spec), Initialization::FindCnn)
    };
    let positions = Positions::Sinusoidal { layout: Sinusoid::Halves, first: 2 };
    vec![
        lstm(1, false, 12),
        lstm(2, false, 12),
        lstm(1, true, 12),
        lstm(2, true, 7),
        transformer(positions, dropout),
        model(
            TransducerBodySpec::Joint(TransformerSpec { layers: 2, ..transformer_spec(positions, dropout) }),
            Initialization::JointAttention,
        ),
        model(
            TransducerBodySpec::Prompt(transformer_spec(positions, dropout)),
            Initialization::FindTransformer,
        ),
        cnn(1, 3),
        cnn(2, 4),
    ]
}

/// Eight strings of unequal length, and each backwards with its symbols renamed.
fn strings() -> Vec<(Vec<u32>, Vec<u32>)> {
    let all: [&[u32]; 8] =
        [&[3], &[], &[4, 3], &[3, 4, 4], &[4, 4, 4, 3, 3], &[3, 3], &[4, 3, 4, 3], &[3, 4]];
    all.iter().map(|s| (s.to_vec(), s.iter().rev().map(|x| x + 1).collect())).collect()
}

fn pairs(strings: &[(Vec<u32>, Vec<u32>)]) -> Vec<Pair<'_>> {
    strings.iter().map(|(input, output)| Pair { input, output }).collect()
}

fn spec(rate: f64, max_epochs: usize) -> TrainSpec {
    TrainSpec {
        optimizer: OptimizerSpec::adam().clipped(25.0),
        schedule: Schedule::Constant { rate },
        batch: BatchSize::All,
        max_epochs,
        patience: usize::MAX,
        validations: 1,
    }
}

#[test]
fn every_transducer_overfits_eight_pairs() {
    let strings = strings();
    let pairs = pairs(&strings);
    for model in models(0.0) {
        let objective = Transduction::new(&model, &pairs, &pairs).unwrap();
        let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 600), Seed::new(1)).unwrap();
        let mut loss = f64::INFINITY;
        assert_eq!(trainer.run(|progress| loss = loss.min(progress.validation)), TrainOutcome::Finished);
        assert!(loss < 0.1, "{:?}: {loss}", model.spec());
        let params = trainer.best().to_vec();
        let mut trained = Trained::new(model.clone(), params);
        for pair in &pairs {
            assert_eq!(trained.greedy(pair.input, 0..=20).unwrap(), pair.output, "{:?}", model.spec());
        }
        assert!(!trained.greedy(&[], 1..=20).unwrap().is_empty(), "minimum length");
        assert_eq!(trained.greedy(&[4, 3, 4, 3], 0..=2).unwrap(), [4, 5], "maximum length");
    }
}

#[test]
fn losses_do_not_depend_on_the_batch() {
    let strings = strings();
    let pairs = pairs(&strings);
    for model in models(0.3) {
        let params: Vec<f64> = model.layout().initialise(Seed::new(3));
        let mut trained = Trained::new(model.clone(), params.clone());
        let together = trained.log_probs(&pairs).unwrap();
        for (pair, together) in pairs.iter().zip(&together) {
            let alone = trained.log_prob(pair.input, pair.output).unwrap();
            assert!((alone - together).abs() < 1e-11, "{alone} {together}");
        }
        let objective = Transduction::new(&model, &pairs, &pairs).unwrap();
        let loss = objective.validate(&mut Tape::default(), &params);
        assert!((loss + together.iter().sum::<f64>() / 8.0).abs() < 1e-11);
        // Gradients of parts of a batch add up to those of the whole.
        let gradient = |parts: &[&[usize]]| {
            let (mut tape, mut gradients) = (Tape::default(), vec![0.0; params.len()]);
            for part in parts {
                let mut record = tape.record(&params, Mode::Grad);
                objective.loss(&mut record, part, 8.0);
                record.backward(&mut gradients);
            }
            gradients
        };
        let (whole, apart) =
            (gradient(&[&[0, 1, 2, 3, 4, 5, 6, 7]]), gradient(&[&[6, 1], &[0], &[2, 5, 4, 7], &[3]]));
        for (a, b) in whole.iter().zip(&apart) {
            assert!((a - b).abs() < 1e-11, "{a} {b}");
        }
    }
}

#[test]
fn gradients_are_finite_differences_with_dropout() {
    let strings = strings();
    let pairs = &pairs(&strings)[2..5];
    for model in models(0.3) {
        let params: Vec<f64> = model.layout().initialise(Seed::new(3));
        let mode = Mode::Train { seed: 7 };
        let (mut tape, mut gradients) = (Tape::default(), vec![0.0; params.len()]);
        let mut record = tape.record(&params, mode);
        model.loss(&mut record, pairs, 0.5);
        record.backward_fresh(&mut gradients);
        // Every thirteenth, as there are thousands.
        let some: Vec<usize> = (0..params.len()).step_by(13).collect();
        let x: Vec<f64> = some.iter().map(|&i| params[i]).collect();
        let grads: Vec<f64> = some.iter().map(|&i| gradients[i]).collect();
        crate::kernel::testing::check_finite_differences(&x, &grads, |x| {
            let mut moved = params.clone();
            for (&i, &x) in some.iter().zip(x) {
                moved[i] = x;
            }
            let mut record = tape.record(&moved, mode);
            model.loss(&mut record, pairs, 0.5);
            record.loss()
        });
    }
}

#[test]
fn a_resumed_run_gives_the_same_bytes() {
    let strings = strings();
    let pairs = pairs(&strings);
    for model in models(0.5) {
        let objective = Transduction::new(&model, &pairs, &pairs).unwrap();
        let spec = TrainSpec { batch: BatchSize::Examples(3), ..spec(1e-3, 5) };
        let mut whole = Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).unwrap();
        whole.run(|_| ());
        let mut first = Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).unwrap();
        first.epoch();
        first.epoch();
        let mut second = Trainer::<f32, _>::resume(&objective, spec, &first.save()).unwrap();
        second.run(|_| ());
        assert_eq!(second.save(), whole.save());
    }
}

#[test]
fn a_saved_transducer_loads_as_it_was() {
    let strings = strings();
    let pairs = pairs(&strings);
    for model in models(0.1) {
        let params: Vec<f32> = model.layout().initialise(Seed::new(3));
        let mut trained = Trained::new(model, params);
        let mut loaded = Trained::<TransducerModel, f32>::load(&trained.save()).unwrap();
        assert_eq!(loaded.save(), trained.save());
        assert_eq!(loaded.log_probs(&pairs), trained.log_probs(&pairs));
    }
}

/// Untrained models seldom predict the end.
#[test]
fn outputs_are_not_longer_than_there_are_positions() {
    let mut some = models(0.0);
    some.push(transformer(Positions::Learned { max: 4 }, 0.0));
    for model in some {
        let most = model.max_len().unwrap_or(30).min(30);
        let params: Vec<f64> = model.layout().initialise(Seed::new(3));
        let written = Trained::new(model, params).greedy(&[3, 4], 30..=30).unwrap();
        assert_eq!(written.len(), most);
    }
}

#[test]
fn invalid_pairs_are_errors() {
    let model = transformer(Positions::Learned { max: 4 }, 0.0);
    let good = Pair { input: &[3], output: &[5] };
    let message = |pair| Transduction::new(&model, &[good], &[good, pair]).unwrap_err().to_string();
    let (five, six) = (Pair { input: &[5], ..good }, Pair { output: &[3, 6], ..good });
    assert_eq!(message(five), "validation pair 1: symbol 5 is in its input, but the model has only 5 there");
    assert_eq!(message(six), "validation pair 1: symbol 6 is in its output, but the model has only 6 there");
    let long = Pair { output: &[3, 3, 3, 3], ..good };
    assert_eq!(
        message(long),
        "validation pair 1: its output has 5 symbols with its end, but the model has only 4 positions"
    );
}
