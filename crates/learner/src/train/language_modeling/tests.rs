use super::*;
use crate::kernel::{MemoryKind, Sinusoid};
use crate::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModelSpec, NormPlace, Output,
    Positions, RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
use crate::optim::OptimizerSpec;
use crate::train::{BatchSize, Outcome, Schedule, TrainError, TrainSpec, Trainer};
use wug_dataset::Seed;

/// Over three symbols, 0 for both ends.
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

/// With a memory, and noise in the place of dropout.
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
    }
}

/// aⁿbⁿ.
fn strings(counts: &[usize]) -> Vec<Vec<u32>> {
    counts.iter().map(|&n| [vec![1; n], vec![2; n]].concat()).collect()
}

fn texts(strings: &[Vec<u32>]) -> Vec<Text<'_>> {
    strings.iter().map(|s| Text::new(s)).collect()
}

/// Loss and gradients of all examples in one batch.
fn traced(model: &LanguageModel, texts: &[Text<'_>], ends: Boundaries, average: Average) -> (f64, Vec<f64>) {
    let objective = LanguageModeling::new(model, texts, &[], ends, average).unwrap();
    let params: Vec<f64> = model.layout().initialise(Seed::new(4));
    let all: Vec<usize> = (0..texts.len()).collect();
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
        let text = Text { mask: Some(&mask), ..Text::new(string) };
        traced(model, &[text], ends, Average::Symbols).0
    };
    (0..positions).map(one).collect()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn averages_are_over_what_they_are_named_after() {
    let strings = strings(&[0, 1, 3]);
    for model in models(0.0) {
        let mut texts = texts(&strings);
        texts[1].weight = 4.0;
        let mask = [5, 2];
        texts[2].mask = Some(&mask);
        let sums: Vec<Vec<f64>> = strings.iter().map(|s| each(&model, s, ENDS)).collect();
        let [a, b, c] = [sums[0][0], sums[1].iter().sum(), sums[2][5] + sums[2][2]];
        close(traced(&model, &texts, ENDS, Average::Symbols).0, (a + 4.0 * b + c) / (1.0 + 12.0 + 2.0));
        close(traced(&model, &texts, ENDS, Average::Examples).0, (a + 4.0 * b / 3.0 + c / 2.0) / 6.0);
        let objective = LanguageModeling::new(&model, &[], &texts, ENDS, Average::Examples).unwrap();
        let params: Vec<f64> = model.layout().initialise(Seed::new(4));
        close(objective.validate(&mut Tape::default(), &params), (a + 4.0 * b + c) / 15.0);
    }
}

#[test]
fn a_weight_is_as_good_as_a_copy() {
    let few = strings(&[2, 1]);
    let many = strings(&[2, 1, 2, 2]);
    for model in models(0.0) {
        for average in [Average::Symbols, Average::Examples] {
            let mut weighed = texts(&few);
            weighed[0].weight = 3.0;
            let (one, two) =
                (traced(&model, &weighed, ENDS, average), traced(&model, &texts(&many), ENDS, average));
            close(one.0, two.0);
            for (a, b) in one.1.iter().zip(&two.1) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
        }
    }
}

#[test]
fn a_recurrent_network_speaks_before_it_reads() {
    let (nothing, some) = (vec![], vec![1, 2]);
    let ends = Boundaries { start: None, end: Some(0) };
    let model = model(Some(Cell::Lstm), 0.0);
    let alone = each(&model, &nothing, ends)[0] + each(&model, &some, ends).iter().sum::<f64>();
    let (loss, gradients) = traced(&model, &[Text::new(&nothing), Text::new(&some)], ends, Average::Symbols);
    close(loss, alone / 4.0);
    assert!(gradients.iter().all(|g| g.is_finite()));
}

#[test]
fn every_model_learns_a_few_strings_as_well_as_they_can_be_learned() {
    let strings = strings(&[1, 2, 3, 4]);
    let texts = texts(&strings);
    // Only how many a's there are is uncertain: one of four, and 24 symbols are predicted.
    let least = 4.0 * 4f64.ln() / 24.0;
    for model in models(0.0) {
        let objective = LanguageModeling::new(&model, &texts, &texts, ENDS, Average::Symbols).unwrap();
        let mut trainer = Trainer::<f32, _>::new(&objective, spec(1e-2, 500), Seed::new(1)).unwrap();
        let (mut loss, mut steps) = (f64::INFINITY, 0);
        let outcome = trainer.run(|progress| (loss, steps) = (loss.min(progress.validation), progress.steps));
        assert_eq!((outcome, steps), (Outcome::Finished, 500), "one step per epoch: one batch");
        assert!(loss > least - 1e-6 && loss < least + 0.02, "{loss}, at best {least}");
    }
}

#[test]
fn a_run_gives_the_same_bytes_taken_up_again_and_beside_others() {
    let strings = strings(&[1, 2, 3, 4, 0]);
    let texts = texts(&strings);
    let spec = TrainSpec { batch: BatchSize::Symbols(8), ..spec(1e-2, 6) };
    let run = |model: &LanguageModel, stop: usize| {
        let objective = LanguageModeling::new(model, &texts, &texts, ENDS, Average::Examples).unwrap();
        let mut trainer = Trainer::<f32, _>::new(&objective, spec, Seed::new(1)).unwrap();
        for _ in 0..stop {
            trainer.epoch();
        }
        // As after a kill: nothing is left but the bytes.
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
fn what_cannot_be_learned_from_is_named() {
    let (recurrent, transformer) = (model(Some(Cell::Gru), 0.0), model(None, 0.0));
    let said = |model: &LanguageModel, text: Text<'_>, ends: Boundaries| {
        let good = Text::new(&[1]);
        LanguageModeling::new(model, &[good, text], &[], ends, Average::Symbols).unwrap_err().to_string()
    };
    let text = Text::new(&[1, 2]);
    let masked = |mask| Text { mask: Some(mask), ..text };
    for (text, message) in [
        (Text::new(&[1, 3]), "symbol 3 is given, but the model has only 3"),
        (masked(&[3]), "position 3 is masked, but there are only 3 (the end included, if it has a symbol)"),
        (masked(&[1, 0, 1]), "position 1 is masked twice; a weight says how often a string counts"),
        (masked(&[]), "none of its symbols is predicted; at least one must be"),
        (Text { weight: f64::NAN, ..text }, "its weight is NaN; it must be finite and more than 0"),
        (Text { weight: 0.0, ..text }, "its weight is 0; it must be finite and more than 0"),
    ] {
        assert_eq!(said(&recurrent, text, ENDS), format!("training string 1: {message}"));
    }
    let bare = Boundaries::default();
    let error = LanguageModeling::new(&transformer, &[], &[text], bare, Average::Symbols).unwrap_err();
    assert_eq!((error.corpus, error.index, error.problem), ("validation", 0, TextProblem::First));
    let rest = [masked(&[1])];
    assert!(LanguageModeling::new(&transformer, &rest, &rest, bare, Average::Symbols).is_ok());
    for (training, validation, error) in
        [(&[][..], &[text][..], TrainError::NoTraining), (&[text], &[], TrainError::NoValidation)]
    {
        let some = LanguageModeling::new(&recurrent, training, validation, ENDS, Average::Symbols).unwrap();
        let spec = TrainSpec { patience: 3, ..spec(0.1, 1) };
        assert_eq!(Trainer::<f32, _>::new(&some, spec, Seed::new(1)).err(), Some(error));
    }
}

#[test]
fn a_string_longer_than_the_learned_positions_is_named() {
    let LanguageModelSpec { body: BodySpec::Transformer(body), vocabulary, output, initialization } =
        model(None, 0.0).spec().clone()
    else {
        panic!("a transformer was asked for")
    };
    let body = BodySpec::Transformer(TransformerSpec { positions: Positions::Learned { max: 3 }, ..body });
    let model = LanguageModel::new(LanguageModelSpec { body, vocabulary, output, initialization }).unwrap();
    let new = |text| LanguageModeling::new(&model, &[text], &[], ENDS, Average::Symbols).map(|_| ());
    assert_eq!(new(Text::new(&[1, 2])), Ok(()));
    let problem = new(Text::new(&[1, 2, 1])).unwrap_err().problem;
    assert_eq!(problem, TextProblem::Long { length: 4, max: 3 });
}

#[test]
fn divergence_is_an_outcome() {
    let strings = strings(&[1, 2]);
    let model = model(Some(Cell::Rnn), 0.0);
    let texts = texts(&strings);
    let objective = LanguageModeling::new(&model, &texts, &texts, ENDS, Average::Symbols).unwrap();
    let mut trainer = Trainer::<f32, _>::new(&objective, spec(f64::NAN, 9), Seed::new(1)).unwrap();
    assert_eq!(trainer.run(|_| ()), Outcome::Diverged { step: 1 });
    assert!(trainer.best().iter().all(|x| x.is_finite()));
}

#[test]
fn whole_batches_of_distinct_strings_train_as_their_copies_do() {
    let many = strings(&[1, 1, 1, 2, 2, 4]);
    let few = strings(&[1, 2, 4]);
    let model = model(Some(Cell::Lstm), 0.0);
    let mut weighed = texts(&few);
    (weighed[0].weight, weighed[1].weight) = (3.0, 2.0);
    let trained = |texts: &[Text<'_>], validation: &[Text<'_>]| {
        let objective = LanguageModeling::new(&model, texts, validation, ENDS, Average::Symbols).unwrap();
        let spec =
            TrainSpec { optimizer: OptimizerSpec { l1: 0.01, ..OptimizerSpec::adam() }, ..spec(1e-2, 40) };
        let mut trainer = Trainer::<f64, _>::new(&objective, spec, Seed::new(1)).unwrap();
        let mut losses = Vec::new();
        assert_eq!(trainer.run(|progress| losses.push(progress.training)), Outcome::Finished);
        (trainer.params().to_vec(), losses)
    };
    let copies = trained(&texts(&many), &[]);
    let (params, losses) = trained(&weighed, &[]);
    assert!(losses[39] < 0.9 * losses[0]);
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near(&params, &copies.0) && near(&losses, &copies.1));
    // What is validated on changes nothing but what is best.
    assert_eq!(trained(&weighed, &weighed), (params, losses));
}
