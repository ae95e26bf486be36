use super::*;
use crate::interface::{NextSymbol, Sets, Trained};
use crate::kernel::MemoryKind;
use crate::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModelSpec, Output,
};
use crate::optim::OptimizerSpec;
use crate::tape::{Mode, Tape};
use crate::train::{BatchSize, Schedule, TrainSpec, Trainer};
use wug_dataset::Seed;

fn model(cell: Cell, device: MemoryKind, gate: Gate) -> LanguageModel {
    let body = BodySpec::Augmented(AugmentedSpec { cell, hidden: 8, device, rows: 12, width: 3, gate });
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    LanguageModel::new(LanguageModelSpec { body, vocabulary: 4, output, initialization }).unwrap()
}

const ANNEALING: Annealing = Annealing { start: 1.0, rate: 1e-2, least: 0.5 };

fn models() -> Vec<LanguageModel> {
    let mut models = Vec::new();
    for (cell, device) in
        [(Cell::Rnn, MemoryKind::Stack), (Cell::Lstm, MemoryKind::Stack), (Cell::Rnn, MemoryKind::BabyNtm)]
    {
        for gate in [Gate::Softmax, Gate::Temperature(ANNEALING), Gate::Gumbel(ANNEALING)] {
            models.push(model(cell, device, gate));
        }
    }
    models
}

/// A string of Dyck-2, with `(`, `)`, `[`, `]` as 0 to 3, and its next-symbol sets: both opening brackets, and the one that
/// closes the innermost open bracket.
fn dyck(string: &str) -> (Vec<u32>, Vec<u64>) {
    let mut open = Vec::new();
    let read = |c: char| {
        let symbol = "()[]".find(c).unwrap() as u32;
        if symbol.is_multiple_of(2) {
            open.push(symbol + 1);
        } else {
            assert_eq!(open.pop(), Some(symbol));
        }
        (symbol, 0b0101 | open.last().map_or(0, |close| 1 << close))
    };
    string.chars().map(read).unzip()
}

fn spec(rate: f64, max_epochs: usize) -> TrainSpec {
    TrainSpec {
        optimizer: OptimizerSpec::adam(),
        schedule: Schedule::Constant { rate },
        batch: BatchSize::Symbols(8),
        max_epochs,
        patience: usize::MAX,
        validations: 1,
    }
}

fn strings() -> Vec<(Vec<u32>, Vec<u64>)> {
    ["()", "[]", "([])", "[()]", "[[]()]", "()[]", "(())[]"].map(dyck).into()
}

fn examples(strings: &[(Vec<u32>, Vec<u64>)]) -> Vec<NextSetString<'_>> {
    strings.iter().map(|(symbols, next)| NextSetString { symbols, next, weight: 1.0 }).collect()
}

#[test]
fn memory_augmented_networks_fit_next_sets() {
    let strings = strings();
    let all = examples(&strings);
    for model in models() {
        let name = format!("{:?}", model.spec().body);
        let objective = NextSets::new(&model, &all, &all).unwrap();
        let mut trainer = Trainer::<f64, _>::new(&objective, spec(2e-2, 150), Seed::new(1)).unwrap();
        trainer.run(|_| ());
        let params = trainer.best().to_vec();
        let mut trained = Sets(Trained::new(model, params));
        for example in &all {
            let mut state = trained.start();
            for (&symbol, set) in example.symbols.iter().zip(example.next) {
                trained.push(&mut state, symbol);
                let may: u64 =
                    trained.next(&state).unwrap().iter().rev().fold(0, |s, &p| 2 * s + u64::from(p > 0.5));
                assert_eq!(may, *set, "{name}");
            }
        }
    }
}

#[test]
fn a_resumed_run_gives_the_same_bytes() {
    let strings = strings();
    let all = examples(&strings);
    for model in models() {
        let objective = NextSets::new(&model, &all, &all).unwrap();
        let run = |stop: usize| {
            let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 5), Seed::new(3)).unwrap();
            for _ in 0..stop {
                trainer.epoch();
            }
            let saved = trainer.save();
            let mut trainer = Trainer::<f32, _>::resume(&objective, spec(1e-2, 5), &saved).unwrap();
            trainer.run(|_| ());
            (trainer.save(), trainer.params().to_vec())
        };
        let ((bytes, params), again) = (run(0), run(3));
        assert_eq!((&bytes, &params), (&again.0, &again.1));
        if let Some(entry) = model.layout().find("temperature") {
            // Seven strings, five times.
            assert_eq!(entry.param.of(&params), [ANNEALING.after(35) as f32]);
        }
    }
}

#[test]
fn the_loss_is_the_mean_squared_error_of_the_outputs() {
    let strings = strings();
    let all = examples(&strings);
    let model = model(Cell::Lstm, MemoryKind::BabyNtm, Gate::Temperature(ANNEALING));
    let params: Vec<f64> = model.layout().initialise(Seed::new(4));
    let objective = NextSets::new(&model, &all, &all).unwrap();
    let mut trained = Sets(Trained::new(model.clone(), params.clone()));
    let (mut sum, mut count) = (0.0, 0.0);
    for example in &all {
        let mut state = trained.start();
        for (&symbol, set) in example.symbols.iter().zip(example.next) {
            trained.push(&mut state, symbol);
            for (s, p) in trained.next(&state).unwrap().into_iter().enumerate() {
                sum += (p - (set >> s & 1) as f64) * (p - (set >> s & 1) as f64);
                count += 1.0;
            }
        }
    }
    let mut tape = Tape::default();
    let validated = objective.validate(&mut tape, &params);
    assert!((validated - sum / count).abs() < 1e-13, "{validated} {}", sum / count);
    let indices: Vec<usize> = (0..all.len()).collect();
    let mut record = tape.record(&params, Mode::Grad);
    objective.loss(&mut record, &indices, Objective::<f64>::size(&objective, &indices));
    assert!((record.loss() - validated).abs() < 1e-13);
}

#[test]
fn invalid_strings_are_errors() {
    let model = model(Cell::Rnn, MemoryKind::Stack, Gate::Softmax);
    let message = |symbols: &[u32], next: &[u64]| {
        NextSets::new(&model, &[], &[NextSetString { symbols, next, weight: 1.0 }]).unwrap_err().to_string()
    };
    for (symbols, next, expected) in [
        (&[0, 4][..], &[1, 1][..], "symbol 4 is given, but the model has only 4"),
        (&[0], &[0b10_0000], "symbol 5 is given, but the model has only 4"),
        (&[0], &[1, 1], "2 sets of next symbols are given, but there must be one after each of 1 symbols"),
        (&[], &[], "none of its symbols is predicted; at least one must be"),
    ] {
        assert_eq!(message(symbols, next), format!("validation string 0: {expected}"));
    }
}

#[test]
fn a_weight_is_equivalent_to_copies() {
    let strings = strings();
    let few = examples(&strings);
    let many = [&few[..], &few[1..2], &few[1..2]].concat();
    let mut merged = few.clone();
    merged[1].weight = 3.0;
    for model in models() {
        let traced = |all: &[NextSetString<'_>]| {
            let objective = NextSets::new(&model, all, all).unwrap();
            let params: Vec<f64> = model.layout().initialise(Seed::new(4));
            let indices: Vec<usize> = (0..all.len()).collect();
            let (mut tape, mut gradients) = (Tape::default(), vec![0.0; params.len()]);
            let mut record = tape.record(&params, Mode::Grad);
            objective.loss(&mut record, &indices, Objective::<f64>::size(&objective, &indices));
            record.backward(&mut gradients);
            gradients.extend([record.loss(), objective.validate(&mut Tape::default(), &params)]);
            gradients
        };
        assert!(traced(&merged).iter().zip(traced(&many)).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
