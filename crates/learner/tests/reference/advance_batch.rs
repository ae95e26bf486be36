//! Reading strings as a batch gives the same bits as reading them one at a time.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use wug_dataset::Seed;
use wug_learner::interface::{NextSymbol, Trained};
use wug_learner::kernel::{Real, Sinusoid};
use wug_learner::model::{
    BodySpec, Cell, Initialization, LanguageModel, LanguageModelSpec, NormPlace, Output, Positions,
    RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};

const VOCABULARY: usize = 4;

fn bodies() -> Vec<BodySpec> {
    let recurrent = |cell, layers, hidden, embedding, start| {
        BodySpec::Recurrent(RecurrentSpec { cell, layers, hidden, embedding, biases: 2, start, dropout: 0.1 })
    };
    vec![
        recurrent(Cell::Lstm, 1, 32, None, Start::Zero),
        recurrent(Cell::Lstm, 1, 64, None, Start::Zero),
        recurrent(Cell::Gru, 1, 70, Some(5), Start::Zero),
        recurrent(Cell::Lstm, 2, 6, Some(3), Start::Learned),
        recurrent(Cell::Gru, 2, 7, None, Start::Learned),
        recurrent(Cell::Rnn, 1, 19, Some(4), Start::Zero),
        recurrent(Cell::ReluRnn, 1, 9, None, Start::Zero),
        BodySpec::Transformer(TransformerSpec {
            layers: 2,
            width: 8,
            heads: 2,
            feedforward: 10,
            norm: NormPlace::Pre,
            final_norm: true,
            positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 0 },
            scale_embedding: true,
            dropout: TransformerDropout::everywhere(0.1),
        }),
    ]
}

fn trained<R: Real>(body: BodySpec) -> Trained<LanguageModel, R> {
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    let spec = LanguageModelSpec { body, vocabulary: VOCABULARY, output, initialization };
    let model = LanguageModel::new(spec).unwrap();
    let params: Vec<R> = model.layout().initialise(Seed::new(3));
    Trained::new(model, params)
}

fn symbol(t: usize, b: usize) -> u32 {
    ((t * t + 3 * b + t * b) % 7 % VOCABULARY) as u32
}

fn agrees<R: Real>(body: &BodySpec) {
    let mut learner = trained::<R>(body.clone());
    for (batch, steps) in [(1, 5), (2, 3), (3, 4), (5, 1), (40, 9), (201, 2)] {
        // The states differ to begin with.
        let mut states: Vec<_> = (0..batch).map(|_| learner.start()).collect();
        for (b, state) in states.iter_mut().enumerate() {
            (0..b % 6).for_each(|t| learner.push(state, symbol(t, b + 1)));
        }
        let mut alone = states.clone();
        let pieces: Vec<Vec<u32>> = (0..batch).map(|b| (0..steps).map(|t| symbol(t, b)).collect()).collect();
        let pieces: Vec<&[u32]> = pieces.iter().map(Vec::as_slice).collect();
        let together = learner.advance_batch(&mut states, &pieces).unwrap();
        assert_eq!(together.len(), steps * batch * VOCABULARY);
        for (i, outputs) in together.chunks(VOCABULARY).enumerate() {
            let (b, t) = (i / steps, i % steps);
            learner.push(&mut alone[b], pieces[b][t]);
            assert_eq!(learner.next(&alone[b]).unwrap(), outputs, "{body:?}, {batch} strings, step {t}");
        }
        assert_eq!(states, alone);
        assert!(states.iter().zip(&alone).all(|(a, b)| learner.same(a, b)));
    }
    assert!(learner.advance_batch(&mut [], &[]).unwrap().is_empty());
}

#[test]
fn results_do_not_depend_on_the_batch() {
    for body in bodies() {
        agrees::<f32>(&body);
        agrees::<f64>(&body);
    }
}

#[test]
fn different_states_are_not_the_same() {
    for body in bodies() {
        let mut learner = trained::<f32>(body);
        let (mut left, mut right) = (learner.start(), learner.start());
        assert!(learner.same(&left, &right));
        learner.push(&mut left, 1);
        learner.push(&mut right, 2);
        assert!(!learner.same(&left, &right));
    }
}
