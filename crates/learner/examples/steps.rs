//! Times one full training step (forward, backward, clip, Adam) of six reference cases, one JSON line each:
//! `{"case": …, "ms": median CPU milliseconds, "params": …}`.
//!
//! ```text
//! cargo run --release -p wug-learner --example steps [CASE …]
//! ```

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::{Duration, Instant};

use wug_dataset::Seed;
use wug_learner::model::{
    BodySpec, Cell, Initialization, Labelled, LanguageModel, LanguageModelSpec, LossWeights,
    LstmTransducerSpec, NormPlace, Output, Pair, Positions, RecognizerModel, RecognizerSpec, RecurrentSpec,
    Start, TransducerBodySpec, TransducerModel, TransducerSpec, TransformerDropout, TransformerSpec,
};
use wug_learner::optim::{Optimizer, OptimizerSpec};
use wug_learner::params::Layout;
use wug_learner::tape::{Mode, Record, Tape};

const ALPHABET: usize = 32;
const BATCH: usize = 100;
const STEPS: usize = 40;

/// Symbols below `v` from a formula.
fn symbols(n: usize, v: usize, salt: usize) -> Vec<u32> {
    (0..n).map(|i| ((i * 7919 + salt * 104_729) / 3 % v) as u32).collect()
}

/// Runs steps for two seconds and prints the median.
fn time(
    case: &str,
    layout: &Layout,
    spec: OptimizerSpec,
    parts: usize,
    mut loss: impl FnMut(&mut Record<'_, f32>, usize),
) {
    let mut params: Vec<f32> = layout.initialise(Seed::new(0));
    let mut gradients = vec![0.0; params.len()];
    let mut optimizer = Optimizer::new(spec, params.len());
    let mut tape = Tape::default();
    let mut step = || {
        for part in 0..parts {
            let mut t = tape.record(&params, Mode::Trace);
            loss(&mut t, part);
            if part == 0 {
                t.backward_fresh(&mut gradients);
            } else {
                t.backward(&mut gradients);
            }
        }
        optimizer.step(&mut params, &gradients, 1e-3, 1.0).expect("these cases do not diverge");
    };
    for _ in 0..3 {
        step();
    }
    let (mut times, start) = (Vec::new(), Instant::now());
    while start.elapsed() < Duration::from_secs(2) || times.len() < 5 {
        let begin = cpu_time();
        step();
        times.push(cpu_time() - begin);
    }
    times.sort_by(f64::total_cmp);
    let (ms, least, params) = (times[times.len() / 2] * 1e3, times[0] * 1e3, layout.count());
    println!("{{\"case\": \"{case}\", \"ms\": {ms}, \"least\": {least}, \"params\": {params}}}");
}

/// Seconds of CPU this process has used: the clock of the PyTorch side, fair on a busy machine.
fn cpu_time() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64()
}

fn recurrent(cell: Cell, layers: usize, hidden: usize, embedding: Option<usize>) -> BodySpec {
    let spec = RecurrentSpec { cell, layers, hidden, embedding, biases: 2, start: Start::Zero, dropout: 0.0 };
    BodySpec::Recurrent(spec)
}

/// 64k-parameter recognizers on a batch of 100 strings of 40 symbols.
fn flare(case: &str, body: BodySpec) {
    // A transformer reads its start symbol first, so its strings are one shorter.
    let bos = usize::from(matches!(body, BodySpec::Transformer(_)));
    let spec = RecognizerSpec {
        body,
        alphabet: ALPHABET - bos,
        language_modeling: false,
        next_symbols: false,
        initialization: Initialization::Torch,
    };
    let model = RecognizerModel::new(spec).expect("a sound spec");
    let text = symbols(BATCH * (STEPS - bos), ALPHABET - bos, 1);
    let batch: Vec<Labelled<'_>> = text
        .chunks(STEPS - bos)
        .enumerate()
        .map(|(i, string)| Labelled { string, label: i % 3 == 0, next: &[] })
        .collect();
    let parts: Vec<&[Labelled<'_>]> = batch.chunks(model.strings_at_once(STEPS - bos)).collect();
    time(case, model.layout(), OptimizerSpec::adam().clipped(5.0), parts.len(), |t, part| {
        model.loss(t, parts[part], LossWeights::default(), BATCH);
    });
}

fn transformer() -> BodySpec {
    BodySpec::Transformer(TransformerSpec {
        layers: 5,
        width: 32,
        heads: 8,
        feedforward: 128,
        norm: NormPlace::Pre,
        final_norm: true,
        positions: Positions::Learned { max: STEPS },
        scale_embedding: false,
        dropout: TransformerDropout::default(),
    })
}

/// An encoder and a decoder of 512 units, one pair of strings of 40 symbols and their ends.
fn find(case: &str, attention: bool) {
    let body =
        LstmTransducerSpec { layers: 1, hidden: 512, embedding: 16, output: 512, attention, dropout: 0.5 };
    let spec = TransducerSpec {
        body: TransducerBodySpec::Lstm(body),
        inputs: 8,
        outputs: 8,
        end: 2,
        padding: Some(1),
        initialization: Initialization::FindLstm,
    };
    let model = TransducerModel::new(spec).expect("a sound spec");
    let pair = Pair { input: &symbols(40, 8, 2), output: &symbols(40, 8, 3) };
    time(case, model.layout(), OptimizerSpec::adam().clipped(25.0), 1, |t, _| {
        model.loss(t, &[pair], 1.0);
    });
}

/// A one-hot RNN of 200 units, one string of 20 symbols, four answers.
fn wade(case: &str) {
    let spec = LanguageModelSpec {
        body: recurrent(Cell::Rnn, 1, 200, None),
        vocabulary: 20,
        output: Output::Linear,
        initialization: Initialization::Torch,
    };
    let model = LanguageModel::new(spec).expect("a sound spec");
    let string = symbols(21, 20, 5);
    let asked = [17, 18, 19, 20].map(|position| (0, position, 0.25));
    time(case, model.layout(), OptimizerSpec::adam(), 1, |t, _| {
        model.loss(t, &[&string], &asked);
    });
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    for case in
        ["flare-lstm", "flare-rnn", "flare-transformer", "find-lstm", "find-lstm-attention", "wade-rnn"]
    {
        if !asked.is_empty() && !asked.iter().any(|a| a == case) {
            continue;
        }
        match case {
            "flare-lstm" => flare(case, recurrent(Cell::Lstm, 5, 40, Some(40))),
            "flare-rnn" => flare(case, recurrent(Cell::Rnn, 5, 79, Some(79))),
            "flare-transformer" => flare(case, transformer()),
            "find-lstm" => find(case, false),
            "find-lstm-attention" => find(case, true),
            _ => wade(case),
        }
    }
}
