use super::*;
use crate::kernel::Sinusoid;
use crate::model::{
    BodySpec, Cell, Family, Initialization, LanguageModelSpec, NormPlace, Output, Positions, RecognizerModel,
    RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
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

/// Both places of normalisation, all kinds of positions, and heads of sizes with and without a kernel of their own.
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
fn one_symbol_at_a_time_is_the_same_as_all_at_once() {
    let string: Vec<u32> = (0..40).map(|i| i * i % 7 % 4).collect();
    for body in recurrents().into_iter().chain(transformers()) {
        let model = language_model(body.clone());
        let params: Vec<f64> = model.layout().initialise(Seed::new(2));
        let mut tape = Tape::default();
        let mut record = tape.record(&params, Mode::Judge);
        let states = model.states(&mut record, &[&string]);
        let rows: Vec<u32> = (1..=string.len()).map(|p| model.row(states, 0, p)).collect();
        let logits = model.logits(&mut record, states, rows);
        let at_once: Vec<Vec<f64>> = record.value(logits).chunks(4).map(<[f64]>::to_vec).collect();
        let mut trained = Trained::new(model, params);
        let mut state = trained.start();
        for (&symbol, mut expected) in string.iter().zip(at_once) {
            trained.push(&mut state, symbol);
            softmax(&mut expected);
            for (a, b) in trained.next(&state).into_iter().zip(expected) {
                assert!((a - b).abs() < 1e-10, "{body:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_cloned_state_goes_its_own_way() {
    for body in recurrents().into_iter().chain(transformers()) {
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
        // Turn by turn, so that one would see what the other remembers.
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
    for body in recurrents().into_iter().chain(transformers()) {
        let model = language_model(body);
        let params: Vec<f64> = model.layout().initialise(Seed::new(2));
        let mut tape = Tape::default();
        let mut record = tape.record(&params, Mode::Judge);
        // Symbol 0 begins the string and is given; the others are predicted.
        let asked: Vec<(usize, usize, f64)> = (1..8).map(|p| (0, p, 1.0)).collect();
        model.loss(&mut record, &[&string], &asked);
        let at_once = record.loss();
        let one_by_one = -Trained::new(model, params).log_probs(&string)[1..].iter().sum::<f64>();
        assert!((at_once - one_by_one).abs() < 1e-11, "{at_once} {one_by_one}");
    }
}

#[test]
fn nothing_asked_is_nothing_answered() {
    for family in [Family::Rnn, Family::Lstm, Family::Gru, Family::Transformer] {
        let model = RecognizerModel::new(family.recognizer(8, 2, (false, false), 0.0)).unwrap();
        let params: Vec<f32> = model.layout().initialise(Seed::new(2));
        let mut trained = Trained::new(model, params);
        assert!(trained.log_odds(&[]).is_empty());
        assert_eq!(trained.log_odds(&[&[], &[]]).len(), 2);
    }
}
