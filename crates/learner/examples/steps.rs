//! Times one full training step (forward, backward, clip, Adam) of five reference cases, one JSON line each:
//! `{"case": …, "ms": median CPU milliseconds, "least": the minimum, "params": …}`.
//!
//! ```text
//! cargo run --release -p wug-learner --example steps [CASE …]
//! ```

#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use std::time::{Duration, Instant};

use wug_dataset::Seed;
use wug_learner::Aligned;
use wug_learner::kernel::{Activation, Recurrence, Sinusoid};
use wug_learner::model::{
    BodySpec, Cell, CnnTransducerSpec, Initialization, LabelledString, LanguageModel, LanguageModelSpec,
    LossWeights, LstmTransducerSpec, NormPlace, Output, Pair, Positions, RecognizerModel, RecognizerSpec,
    RecurrentSpec, StackRnnSpec, Start, TransducerBodySpec, TransducerModel, TransducerSpec,
    TransformerDropout, TransformerSpec,
};
use wug_learner::optim::{Optimizer, OptimizerSpec};
use wug_learner::params::{Init, Layout};
use wug_learner::tape::{Layer, Mode, Recording, Tape};
use wug_learner::train::parts;

const ALPHABET: usize = 32;
const BATCH: usize = 100;
const STEPS: usize = 40;

/// Symbols below `v` from a formula.
fn symbols(n: usize, v: usize, salt: usize) -> Vec<u32> {
    (0..n).map(|i| ((i * 7919 + salt * 104_729) / 3 % v) as u32).collect()
}

/// Runs steps for two seconds and prints the median and the minimum.
fn time(
    case: &str,
    layout: &Layout,
    spec: OptimizerSpec,
    parts: usize,
    loss: impl FnMut(&mut Recording<'_, f32>, usize),
) {
    time_in(case, Mode::Grad, layout, spec, parts, loss);
}

/// The same in another mode.
fn time_in(
    case: &str,
    mode: Mode,
    layout: &Layout,
    spec: OptimizerSpec,
    parts: usize,
    mut loss: impl FnMut(&mut Recording<'_, f32>, usize),
) {
    let mut params = Aligned::from(layout.initialise::<f32>(Seed::new(0)));
    let mut gradients = vec![0.0; params.len()];
    let mut optimizer = Optimizer::new(spec, params.len());
    let mut tape = Tape::default();
    let mut step = || {
        for part in 0..parts {
            let mut t = tape.record(&params, mode);
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
    // A transformer has a start symbol in front, so its strings are one shorter.
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
    let text: Vec<u32> = text.into_iter().map(|symbol| symbol + 1).collect();
    let batch: Vec<LabelledString<'_>> = text
        .chunks(STEPS - bos)
        .enumerate()
        .map(|(i, string)| LabelledString { string, label: i % 3 == 0, next: &[] })
        .collect();
    let parts: Vec<&[LabelledString<'_>]> = batch.chunks(model.max_batch_strings(STEPS - bos)).collect();
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

/// An encoder and a decoder of 512 units, one pair of strings of 41 symbols.
fn find(case: &str) {
    let (v, d, h, steps) = (8, 16, 512, 41);
    let mut layout = Layout::default();
    let mut add = |name: &str, shape: &[usize], bound: f64| layout.add(name, shape, Init::Uniform(bound));
    let tables = ["source", "target"].map(|name| add(name, &[v, d], 1.0));
    let layers = ["encoder", "decoder"].map(|name| Layer {
        input: add(&format!("{name}.weight_ih"), &[4 * h, d], 0.04),
        hidden: add(&format!("{name}.weight_hh"), &[4 * h, h], 0.04),
        bias: Some(add(&format!("{name}.bias_ih"), &[4 * h], 0.04)),
        second_bias: Some(add(&format!("{name}.bias_hh"), &[4 * h], 0.04)),
    });
    let (weight, bias) = (add("output.weight", &[v, h], 0.04), add("output.bias", &[v], 0.04));
    let (x, y, targets) = (symbols(steps, v, 2), symbols(steps, v, 3), symbols(steps, v, 4));
    let n = Recurrence { steps, batch: 1, input: d, hidden: h };
    time(case, &layout, OptimizerSpec::adam().clipped(25.0), 1, |t, _| {
        let source = t.embedding(tables[0], x.iter().copied(), d, 1.0);
        let (states, cell) = t.lstm(source, None, layers[0], n);
        let last = t.part(states, steps * h, h);
        let target = t.embedding(tables[1], y.iter().copied(), d, 1.0);
        let (states, _) = t.lstm(target, Some((last, cell)), layers[1], n);
        let states = t.part(states, h, steps * h);
        let logits = t.linear(states, weight, Some(bias), h, Activation::Identity);
        t.softmax_loss(logits, v, targets.iter().map(|&s| (s, 1.0 / steps as f64)));
    });
}

/// A published encoder and decoder on one pair of strings of 40 symbols.
fn transducer(case: &str, body: TransducerBodySpec) {
    let spec = TransducerSpec {
        body,
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

/// An RNN of 200 units over one-hot inputs, one string of 20 symbols, a loss at four positions.
fn wade(case: &str) {
    let spec = LanguageModelSpec {
        body: recurrent(Cell::Rnn, 1, 200, None),
        vocabulary: 20,
        output: Output::Linear,
        initialization: Initialization::Torch,
    };
    let model = LanguageModel::new(spec).expect("a sound spec");
    let string = symbols(21, 20, 5);
    let positions = [17, 18, 19, 20].map(|position| (0, position, 0.25));
    time(case, model.layout(), OptimizerSpec::adam(), 1, |t, _| {
        model.loss(t, &[&string], &positions);
    });
}

/// Language models on 512 strings of even lengths from 4 to 30 over 30 terminals, between boundaries, with dropout where a body has it.
fn tse(case: &str, body: BodySpec, optimizer: OptimizerSpec) {
    let spec = LanguageModelSpec {
        body,
        vocabulary: 31,
        output: Output::Linear,
        initialization: Initialization::Torch,
    };
    let model = LanguageModel::new(spec).expect("a sound spec");
    let string = |i: usize| {
        let inner = symbols(4 + 2 * (i * 5 % 14), 30, i).into_iter().map(|symbol| symbol + 1);
        std::iter::once(0).chain(inner).chain([0]).collect::<Vec<u32>>()
    };
    let strings: Vec<Vec<u32>> = (0..512).map(string).collect();
    let targets = strings.iter().map(|string| string.len() - 1).sum::<usize>() as f64;
    let lengths: Vec<usize> = strings.iter().map(Vec::len).collect();
    let batch: Vec<usize> = (0..strings.len()).collect();
    let parts: Vec<Vec<&[u32]>> = parts(&batch, &lengths, |max_len| model.max_batch_strings(max_len))
        .into_iter()
        .map(|part| part.into_iter().map(|i| &strings[i][..]).collect())
        .collect();
    time_in(case, Mode::Train { seed: 1 }, model.layout(), optimizer, parts.len(), |t, part| {
        let of = |(b, string): (usize, &&[u32])| {
            (1..string.len()).map(move |p| (b, p, 1.0 / targets)).collect::<Vec<_>>()
        };
        let predicted: Vec<(usize, usize, f64)> = parts[part].iter().enumerate().flat_map(of).collect();
        model.loss(t, &parts[part], &predicted);
    });
}

/// The three published language models.
fn tse_case(case: &str) {
    let adamw = OptimizerSpec { weight_decay: 0.01, ..OptimizerSpec::adam() };
    match case {
        "tse-lstm" => tse(case, recurrent(Cell::Lstm, 2, 256, Some(256)), OptimizerSpec::sgd()),
        "tse-stack-rnn" => {
            let spec = StackRnnSpec { hidden: 256, embedding: Some(256), rows: 150, width: 8 };
            tse(case, BodySpec::StackRnn(spec), adamw);
        }
        _ => {
            let body = TransformerSpec {
                layers: 5,
                width: 128,
                heads: 4,
                feedforward: 512,
                norm: NormPlace::Post,
                final_norm: false,
                positions: Positions::Sinusoidal { layout: Sinusoid::Halves, first: 0 },
                scale_embedding: false,
                dropout: TransformerDropout { embedding: 0.0, ..TransformerDropout::everywhere(0.1) },
            };
            tse(case, BodySpec::Transformer(body), adamw);
        }
    }
}

/// The cases of the comparison with PyTorch; the others are timed if they are named.
const COMPARED: [&str; 5] = ["flare-lstm", "flare-rnn", "flare-transformer", "find-lstm", "wade-rnn"];

fn main() {
    let lstm = |attention| TransducerBodySpec::Lstm(LstmTransducerSpec::published(attention));
    let named: Vec<String> = std::env::args().skip(1).collect();
    let cases = if named.is_empty() { COMPARED.map(str::to_owned).to_vec() } else { named };
    for case in &cases {
        match case.as_str() {
            "flare-lstm" => flare(case, recurrent(Cell::Lstm, 5, 40, Some(40))),
            "flare-rnn" => flare(case, recurrent(Cell::Rnn, 5, 79, Some(79))),
            "flare-transformer" => flare(case, transformer()),
            "find-lstm" => find(case),
            "find-transducer" => transducer(case, lstm(false)),
            "find-transducer-attention" => transducer(case, lstm(true)),
            "find-cnn" => transducer(case, TransducerBodySpec::Cnn(CnnTransducerSpec::published())),
            "wade-rnn" => wade(case),
            "tse-lstm" | "tse-transformer" | "tse-stack-rnn" => tse_case(case),
            other => panic!(
                "unknown case {other}; there are: {COMPARED:?}, find-transducer, find-transducer-attention, find-cnn, tse-lstm, tse-transformer, tse-stack-rnn"
            ),
        }
    }
}
