use super::*;
use crate::kernel::{MemoryKind, Sinusoid};
use crate::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModelSpec, NormPlace, Output,
    Positions, RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
use crate::optim::OptimizerSpec;
use crate::tape::{Mode, Tape};
use crate::train::{BatchSize, Schedule, TrainError, TrainOutcome, TrainSpec, Trainer, parts};
use wug_dataset::Seed;

/// Symbol 0 for both ends.
const ENDS: Boundaries = Boundaries { start: Some(0), end: Some(0) };

fn model(cell: Option<Cell>, dropout: f64) -> LanguageModel {
    let body = match cell {
        Some(cell) => BodySpec::Recurrent(RecurrentSpec {
            cell,
            layers: 1,
            hidden: 12,
            embedding: None,
            biases: 2,
            start: Start::Zero,
            dropout,
        }),
        None => BodySpec::Transformer(TransformerSpec {
            layers: 2,
            width: 16,
            heads: 4,
            feedforward: 32,
            norm: NormPlace::Post,
            final_norm: false,
            positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 0 },
            scale_embedding: false,
            dropout: TransformerDropout::everywhere(dropout),
        }),
    };
    of_body(body)
}

fn of_body(body: BodySpec) -> LanguageModel {
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    LanguageModel::new(LanguageModelSpec { body, vocabulary: 3, output, initialization }).unwrap()
}

/// With a memory, and noise instead of dropout.
fn augmented(cell: Cell, device: MemoryKind, noise: bool) -> LanguageModel {
    let gate =
        if noise { Gate::Gumbel(Annealing { start: 1.0, rate: 1e-2, least: 0.5 }) } else { Gate::Softmax };
    of_body(BodySpec::Augmented(AugmentedSpec { cell, hidden: 12, device, rows: 9, width: 4, gate }))
}

fn models(dropout: f64) -> Vec<LanguageModel> {
    let plain = [Some(Cell::Rnn), Some(Cell::Lstm), Some(Cell::Gru), None].map(|cell| model(cell, dropout));
    let augmented =
        [(Cell::Rnn, MemoryKind::Stack), (Cell::Lstm, MemoryKind::Stack), (Cell::Rnn, MemoryKind::BabyNtm)]
            .map(|(cell, device)| augmented(cell, device, dropout > 0.0));
    plain.into_iter().chain(augmented).collect()
}

fn spec(rate: f64, max_epochs: usize) -> TrainSpec {
    TrainSpec {
        optimizer: OptimizerSpec::adam(),
        schedule: Schedule::Constant { rate },
        batch: BatchSize::All,
        max_epochs,
        patience: usize::MAX,
        validations: 1,
    }
}

fn strings(counts: &[usize]) -> Vec<Vec<u32>> {
    counts.iter().map(|&n| [vec![1; n], vec![2; n]].concat()).collect()
}

fn weighted(strings: &[Vec<u32>]) -> Vec<WeightedString<'_>> {
    strings.iter().map(|s| WeightedString::new(s)).collect()
}

/// Loss and gradients of all examples in one batch.
fn traced(
    model: &LanguageModel,
    examples: &[WeightedString<'_>],
    ends: Boundaries,
    average: Average,
) -> (f64, Vec<f64>) {
    let objective = LanguageModeling::new(model, examples, &[], ends, average).unwrap();
    let params: Vec<f64> = model.layout().initialise(Seed::new(4));
    let all: Vec<usize> = (0..examples.len()).collect();
    let (mut tape, mut gradients) = (Tape::default(), vec![0.0; params.len()]);
    let mut record = tape.record(&params, Mode::Grad);
    let size = Objective::<f64>::size(&objective, &all);
    objective.loss(&mut record, &all, size);
    record.backward(&mut gradients);
    (record.loss(), gradients)
}

/// The cross-entropy of each symbol of one string alone.
fn each(model: &LanguageModel, string: &[u32], ends: Boundaries) -> Vec<f64> {
    let positions = string.len() + usize::from(ends.end.is_some());
    let one = |p: usize| {
        let mask = [p];
        let string = WeightedString { mask: Some(&mask), ..WeightedString::new(string) };
        traced(model, &[string], ends, Average::Symbols).0
    };
    (0..positions).map(one).collect()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn the_gradient_of_a_batch_in_parts_is_that_of_the_whole() {
    let strings = strings(&(0..300).map(|i| i * 7 % 12).collect::<Vec<_>>());
    let examples = weighted(&strings);
    let all: Vec<usize> = (0..strings.len()).collect();
    for model in models(0.0) {
        let objective = LanguageModeling::new(&model, &examples, &[], ENDS, Average::Symbols).unwrap();
        let lengths = &Objective::<f64>::lengths(&objective)[0];
        assert!(parts(&all, lengths, |max_len| model.max_batch_strings(max_len)).len() > 1);
        let mut trainer = Trainer::<f64, _>::new(&objective, spec(1e-3, 1), Seed::new(4)).unwrap();
        trainer.params = model.layout().initialise(Seed::new(4)).into();
        let loss = trainer.update(&all, Objective::<f64>::size(&objective, &all)).unwrap();
        let (whole, gradients) = traced(&model, &examples, ENDS, Average::Symbols);
        close(loss, whole);
        for (part, whole) in trainer.gradients.iter().zip(gradients) {
            close(*part, whole);
        }
    }
}

#[test]
fn losses_are_averaged_over_symbols_or_over_examples() {
    let strings = strings(&[0, 1, 3]);
    for model in models(0.0) {
        let mut examples = weighted(&strings);
        examples[1].weight = 4.0;
        let mask = [5, 2];
        examples[2].mask = Some(&mask);
        let sums: Vec<Vec<f64>> = strings.iter().map(|s| each(&model, s, ENDS)).collect();
        let [a, b, c] = [sums[0][0], sums[1].iter().sum(), sums[2][5] + sums[2][2]];
        close(traced(&model, &examples, ENDS, Average::Symbols).0, (a + 4.0 * b + c) / (1.0 + 12.0 + 2.0));
        close(traced(&model, &examples, ENDS, Average::Examples).0, (a + 4.0 * b / 3.0 + c / 2.0) / 6.0);
        let objective = LanguageModeling::new(&model, &[], &examples, ENDS, Average::Examples).unwrap();
        let params: Vec<f64> = model.layout().initialise(Seed::new(4));
        close(objective.validate(&mut Tape::default(), &params), (a + 4.0 * b + c) / 15.0);
    }
}

#[test]
fn a_weight_is_equivalent_to_copies() {
    let few = strings(&[2, 1]);
    let many = strings(&[2, 1, 2, 2]);
    for model in models(0.0) {
        for average in [Average::Symbols, Average::Examples] {
            let mut merged = weighted(&few);
            merged[0].weight = 3.0;
            let (one, two) =
                (traced(&model, &merged, ENDS, average), traced(&model, &weighted(&many), ENDS, average));
            close(one.0, two.0);
            for (a, b) in one.1.iter().zip(&two.1) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
        }
    }
}

#[test]
fn a_recurrent_network_predicts_before_input() {
    let (nothing, some) = (vec![], vec![1, 2]);
    let ends = Boundaries { start: None, end: Some(0) };
    let model = model(Some(Cell::Lstm), 0.0);
    let alone = each(&model, &nothing, ends)[0] + each(&model, &some, ends).iter().sum::<f64>();
    let (loss, gradients) =
        traced(&model, &[WeightedString::new(&nothing), WeightedString::new(&some)], ends, Average::Symbols);
    close(loss, alone / 4.0);
    assert!(gradients.iter().all(|g| g.is_finite()));
}

#[test]
fn every_model_reaches_the_entropy_of_a_few_strings() {
    let strings = strings(&[1, 2, 3, 4]);
    let examples = weighted(&strings);
    // Only how many a's there are is uncertain: one of four, and 24 symbols are predicted.
    let least = 4.0 * 4f64.ln() / 24.0;
    for model in models(0.0) {
        let objective = LanguageModeling::new(&model, &examples, &examples, ENDS, Average::Symbols).unwrap();
        let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 500), Seed::new(1)).unwrap();
        let (mut loss, mut steps) = (f64::INFINITY, 0);
        let outcome = trainer.run(|progress| (loss, steps) = (loss.min(progress.validation), progress.steps));
        assert_eq!((outcome, steps), (TrainOutcome::Finished, 500), "one step per epoch: one batch");
        assert!(loss > least - 1e-6 && loss < least + 0.02, "{loss}, at best {least}");
    }
}

#[test]
fn a_run_gives_the_same_bytes_resumed_and_in_threads() {
    let strings = strings(&[1, 2, 3, 4, 0]);
    let examples = weighted(&strings);
    let spec = TrainSpec { batch: BatchSize::Symbols(8), ..spec(1e-2, 6) };
    let run = |model: &LanguageModel, stop: usize| {
        let objective = LanguageModeling::new(model, &examples, &examples, ENDS, Average::Examples).unwrap();
        let mut trainer = Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).unwrap();
        for _ in 0..stop {
            trainer.epoch();
        }
        let saved = trainer.save();
        drop(trainer);
        let mut trainer = Trainer::<f32, _>::resume(&objective, spec, &saved).unwrap();
        trainer.run(|_| ());
        trainer.save()
    };
    let models = models(0.2);
    let alone: Vec<_> = models.iter().map(|model| run(model, 0)).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = models.iter().map(|model| scope.spawn(move || run(model, 3))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}

#[test]
fn invalid_strings_are_errors() {
    let (recurrent, transformer) = (model(Some(Cell::Gru), 0.0), model(None, 0.0));
    let message = |model: &LanguageModel, string: WeightedString<'_>, ends: Boundaries| {
        let good = WeightedString::new(&[1]);
        LanguageModeling::new(model, &[good, string], &[], ends, Average::Symbols).unwrap_err().to_string()
    };
    let string = WeightedString::new(&[1, 2]);
    let masked = |mask| WeightedString { mask: Some(mask), ..string };
    for (string, expected) in [
        (WeightedString::new(&[1, 3]), "symbol 3 is given, but the model has only 3"),
        (masked(&[3]), "position 3 is masked, but there are only 3 (the end included, if it has a symbol)"),
        (
            masked(&[1, 0, 1]),
            "position 1 is masked twice; use a weight for a string that counts more than once",
        ),
        (masked(&[]), "none of its symbols is predicted; at least one must be"),
        (
            WeightedString { weight: f64::NAN, ..string },
            "its weight is NaN; it must be finite and more than 0",
        ),
        (WeightedString { weight: 0.0, ..string }, "its weight is 0; it must be finite and more than 0"),
    ] {
        assert_eq!(message(&recurrent, string, ENDS), format!("training string 1: {expected}"));
    }
    let bare = Boundaries::default();
    let error = LanguageModeling::new(&transformer, &[], &[string], bare, Average::Symbols).unwrap_err();
    assert_eq!((error.corpus, error.index, error.problem), ("validation", 0, StringProblem::First));
    let rest = [masked(&[1])];
    assert!(LanguageModeling::new(&transformer, &rest, &rest, bare, Average::Symbols).is_ok());
    for (training, validation, error) in
        [(&[][..], &[string][..], TrainError::NoTraining), (&[string], &[], TrainError::NoValidation)]
    {
        let some = LanguageModeling::new(&recurrent, training, validation, ENDS, Average::Symbols).unwrap();
        let spec = TrainSpec { patience: 3, ..spec(0.1, 1) };
        assert_eq!(Trainer::<f32, _>::new(&some, spec, Seed::new(1)).err(), Some(error));
    }
}

#[test]
fn a_string_longer_than_the_trained_positions_is_an_error() {
    let LanguageModelSpec { body: BodySpec::Transformer(body), vocabulary, output, initialization } =
        model(None, 0.0).spec().clone()
    else {
        panic!("a transformer is expected")
    };
    let body = BodySpec::Transformer(TransformerSpec { positions: Positions::Learned { max: 3 }, ..body });
    let model = LanguageModel::new(LanguageModelSpec { body, vocabulary, output, initialization }).unwrap();
    let new = |string| LanguageModeling::new(&model, &[string], &[], ENDS, Average::Symbols).map(|_| ());
    assert_eq!(new(WeightedString::new(&[1, 2])), Ok(()));
    let problem = new(WeightedString::new(&[1, 2, 1])).unwrap_err().problem;
    assert_eq!(problem, StringProblem::Long { length: 4, max: 3 });
}

#[test]
fn divergence_is_an_outcome() {
    let strings = strings(&[1, 2]);
    let model = model(Some(Cell::Rnn), 0.0);
    let examples = weighted(&strings);
    let objective = LanguageModeling::new(&model, &examples, &examples, ENDS, Average::Symbols).unwrap();
    let mut trainer = Trainer::<f32, _>::new(&objective, spec(f64::NAN, 9), Seed::new(1)).unwrap();
    assert_eq!(trainer.run(|_| ()), TrainOutcome::Diverged { step: 1 });
    assert!(trainer.best().iter().all(|x| x.is_finite()));
}

#[test]
fn merged_duplicates_train_as_their_copies_do() {
    let many = strings(&[1, 1, 1, 2, 2, 4]);
    let few = strings(&[1, 2, 4]);
    let model = model(Some(Cell::Lstm), 0.0);
    let mut merged = weighted(&few);
    (merged[0].weight, merged[1].weight) = (3.0, 2.0);
    let trained = |examples: &[WeightedString<'_>], validation: &[WeightedString<'_>]| {
        let objective = LanguageModeling::new(&model, examples, validation, ENDS, Average::Symbols).unwrap();
        let spec =
            TrainSpec { optimizer: OptimizerSpec { l1: 0.01, ..OptimizerSpec::adam() }, ..spec(1e-2, 40) };
        let mut trainer = Trainer::<f64, _>::new(&objective, spec, Seed::new(1)).unwrap();
        let mut losses = Vec::new();
        assert_eq!(trainer.run(|progress| losses.push(progress.training)), TrainOutcome::Finished);
        (trainer.params().to_vec(), losses)
    };
    let copies = trained(&weighted(&many), &[]);
    let (params, losses) = trained(&merged, &[]);
    assert!(losses[39] < 0.9 * losses[0]);
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near(&params, &copies.0) && near(&losses, &copies.1));
    // Validation changes the best parameters only.
    assert_eq!(trained(&merged, &merged), (params, losses));
}
