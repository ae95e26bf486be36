use super::*;
use crate::kernel::{MemoryKind, Sinusoid};
use crate::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModelSpec, NormPlace, Output,
    Positions, RecognizerModel, RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
use crate::registry::{RecognizerTask, recognizer};
use wug_dataset::Seed;

fn recurrents() -> Vec<BodySpec> {
    let recurrent = |cell, start, embedding| {
        let (layers, hidden, biases, dropout) = (2, 6, 2, 0.1);
        BodySpec::Recurrent(RecurrentSpec { cell, layers, hidden, embedding, biases, start, dropout })
    };
    vec![
        recurrent(Cell::Rnn, Start::Zero, None),
        recurrent(Cell::ReluRnn, Start::Learned, Some(3)),
        recurrent(Cell::Lstm, Start::Learned, Some(6)),
        recurrent(Cell::Gru, Start::Zero, Some(4)),
    ]
}

/// Memories that become full on the test strings and memories that do not, with all gates.
fn augmented() -> Vec<BodySpec> {
    let annealing = Annealing { start: 0.7, rate: 1e-4, least: 0.5 };
    let gates = [Gate::Softmax, Gate::Temperature(annealing), Gate::Gumbel(annealing)];
    let mut bodies = Vec::new();
    for device in [MemoryKind::Stack, MemoryKind::BabyNtm] {
        for (cell, rows) in [(Cell::Rnn, 11), (Cell::Lstm, 200)] {
            for gate in gates {
                let spec = AugmentedSpec { cell, hidden: 6, device, rows, width: 3, gate };
                bodies.push(BodySpec::Augmented(spec));
            }
        }
    }
    bodies
}

fn all() -> impl Iterator<Item = BodySpec> {
    recurrents().into_iter().chain(augmented()).chain(transformers())
}

/// Both places of normalisation, all position encodings, and head sizes with and without a specialised kernel.
fn transformers() -> Vec<BodySpec> {
    let sinusoidal = |layout, first| Positions::Sinusoidal { layout, first };
    let positions = [
        Positions::None,
        Positions::Learned { max: 40 },
        sinusoidal(Sinusoid::Halves, 0),
        sinusoidal(Sinusoid::Interleaved, 2),
    ];
    let mut bodies = Vec::new();
    for (i, positions) in positions.into_iter().enumerate() {
        for norm in [NormPlace::Pre, NormPlace::Post] {
            for (width, heads) in [(8, 4), (8, 2), (16, 2), (12, 4), (24, 1)] {
                bodies.push(BodySpec::Transformer(TransformerSpec {
                    layers: 2,
                    width,
                    heads,
                    feedforward: 10,
                    norm,
                    final_norm: i % 2 == 0,
                    positions,
                    scale_embedding: i < 2,
                    dropout: TransformerDropout::everywhere(0.1),
                }));
            }
        }
    }
    bodies
}

fn language_model(body: BodySpec) -> LanguageModel {
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    LanguageModel::new(LanguageModelSpec { body, vocabulary: 4, output, initialization }).unwrap()
}

#[test]
fn one_symbol_at_a_time_is_the_same_as_whole_strings() {
    let string: Vec<u32> = (0..40).map(|i| i * i % 7 % 4).collect();
    for body in all() {
        let model = language_model(body.clone());
        let params: Vec<f64> = model.layout().initialise(Seed::new(2));
        let mut tape = Tape::default();
        let mut record = tape.record(&params, Mode::Eval);
        let states = model.states(&mut record, &[&string]);
        let rows: Vec<u32> = (1..=string.len()).map(|p| states.row(0, p)).collect();
        let logits = model.logits(&mut record, states, rows);
        let whole: Vec<Vec<f64>> = record.value(logits).chunks(4).map(<[f64]>::to_vec).collect();
        let mut trained = Trained::new(model, params);
        let mut state = trained.start();
        for (&symbol, mut expected) in string.iter().zip(whole) {
            trained.push(&mut state, symbol);
            crate::kernel::softmax(&mut expected);
            for (a, b) in trained.next(&state).unwrap().into_iter().zip(expected) {
                assert!((a - b).abs() < 1e-10, "{body:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_cloned_state_is_independent() {
    for body in all() {
        let model = language_model(body);
        let params: Vec<f64> = model.layout().initialise(Seed::new(2));
        let mut trained = Trained::new(model, params);
        let mut after = |string: &[u32]| {
            let mut state = trained.start();
            for &symbol in string {
                trained.push(&mut state, symbol);
            }
            state
        };
        let (mut state, left, right) = (after(&[0, 3]), after(&[0, 3, 1, 1]), after(&[0, 3, 2, 1]));
        assert_ne!(left, right);
        let mut other = state.clone();
        // Alternately, so that shared data would be seen.
        for (one, two) in [(1, 2), (1, 1)] {
            trained.push(&mut state, one);
            trained.push(&mut other, two);
        }
        assert_eq!((state, other), (left, right));
    }
}

#[test]
fn log_probs_are_those_of_the_loss() {
    let string: Vec<u32> = vec![0, 3, 1, 1, 2, 3, 0, 2];
    for body in all() {
        let model = language_model(body);
        let params: Vec<f64> = model.layout().initialise(Seed::new(2));
        let mut tape = Tape::default();
        let mut record = tape.record(&params, Mode::Eval);
        // The first symbol is the start; the others are predicted.
        let targets: Vec<(usize, usize, f64)> = (1..8).map(|p| (0, p, 1.0)).collect();
        model.loss(&mut record, &[&string], &targets);
        let whole = record.loss();
        let one_by_one = -Trained::new(model, params).log_probs(&string).unwrap()[1..].iter().sum::<f64>();
        assert!((whole - one_by_one).abs() < 1e-11, "{whole} {one_by_one}");
    }
}

#[test]
fn no_strings_give_no_outputs() {
    for family in ["rnn", "lstm", "gru", "transformer"] {
        let model =
            RecognizerModel::new(recognizer(family, 8, RecognizerTask::labels(2), 0.0).unwrap()).unwrap();
        let params: Vec<f32> = model.layout().initialise(Seed::new(2));
        let mut trained = Trained::new(model, params);
        assert!(trained.log_odds(&[]).unwrap().is_empty());
        assert_eq!(trained.log_odds(&[&[], &[]]).unwrap().len(), 2);
    }
}

#[test]
fn memory_rows_can_be_changed_and_states_hold_rows_in_use() {
    let string: Vec<u32> = (0..9).map(|i| i * i % 7 % 4).collect();
    for body in augmented() {
        let small = language_model(body);
        let params: Vec<f64> = small.layout().initialise(Seed::new(2));
        let large = small.with_memory_rows(1_000_000).unwrap();
        let ample = small.with_memory_rows(18).unwrap();
        let mut large = Trained::new(large, params.clone());
        // Both are more than nine symbols can use: the same bits.
        assert_eq!(large.log_probs(&string), Trained::new(ample, params).log_probs(&string));
        let mut state = large.start();
        large.push(&mut state, 1);
        assert!(format!("{state:?}").len() < 1000, "a state holds rows that are not in use");
    }
    let error = language_model(recurrents().remove(0)).with_memory_rows(7).unwrap_err();
    assert_eq!(error.to_string(), "7 rows of memory are asked for, but the model has no memory");
    let error = language_model(augmented().remove(0)).with_memory_rows(0).unwrap_err();
    assert_eq!(error.to_string(), "6 units and a memory of 0 x 3; all must be at least 1");
}

#[test]
fn losses_and_gradients_do_not_depend_on_padding() {
    let strings: [&[u32]; 3] = [&[0, 3, 1, 1, 2, 3, 0, 2, 1, 1], &[1, 2], &[3, 3, 0, 1, 2]];
    for body in augmented() {
        let model = language_model(body);
        let params: Vec<f64> = model.layout().initialise(Seed::new(2));
        let mut tape = Tape::default();
        let targets =
            |b: usize, string: &[u32]| (0..string.len()).map(move |p| (b, p, 1.0)).collect::<Vec<_>>();
        let mut loss = |strings: &[&[u32]]| {
            let targets: Vec<_> = strings.iter().enumerate().flat_map(|(b, s)| targets(b, s)).collect();
            let mut gradients = vec![0.0; params.len()];
            let mut record = tape.record(&params, Mode::Grad);
            model.loss(&mut record, strings, &targets);
            record.backward(&mut gradients);
            gradients.push(record.loss());
            gradients
        };
        let together = loss(&strings);
        let mut alone = vec![0.0; together.len()];
        for string in strings {
            alone.iter_mut().zip(loss(&[string])).for_each(|(sum, x)| *sum += x);
        }
        for (a, b) in together.iter().zip(&alone) {
            assert!((a - b).abs() < 1e-11, "{a} {b}");
        }
    }
}

#[test]
fn invalid_memories_are_errors() {
    let BodySpec::Augmented(spec) = augmented().remove(1) else { panic!("the second has a temperature") };
    let message = |spec| {
        let (output, initialization) = (Output::Linear, Initialization::Torch);
        let body = BodySpec::Augmented(spec);
        LanguageModel::new(LanguageModelSpec { body, vocabulary: 4, output, initialization })
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message(AugmentedSpec { cell: Cell::Gru, ..spec.clone() }),
        "a memory beside gru units; only rnn and lstm units have one"
    );
    let gate = Gate::Gumbel(Annealing { start: 0.2, rate: 0.1, least: 0.5 });
    assert_eq!(
        message(AugmentedSpec { gate, ..spec }),
        "a temperature from 0.2 down to 0.5 at a rate of 0.1; it must fall from a finite number to one more than 0, at a \
         rate of at least 0"
    );
}
