//! Times networks with a memory of 2,050 rows, one JSON line each: microseconds of CPU per symbol for evaluating 10,000
//! symbols one by one (each followed by the distribution of the next), and for a training step on 100 strings of the lengths
//! that BLISS trains on and on one string that fills the memory.
//!
//! ```text
//! cargo run --release -p wug-learner --example memory
//! ```

#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use wug_dataset::Seed;
use wug_learner::interface::{NextSymbol, Trained};
use wug_learner::kernel::{MemoryKind, Real};
use wug_learner::model::{
    AugmentedSpec, BodySpec, Cell, Gate, Initialization, LanguageModel, LanguageModelSpec, Output,
};
use wug_learner::optim::{Optimizer, OptimizerSpec};
use wug_learner::tape::{Mode, Tape};

const ROWS: usize = 2050;

fn model(cell: Cell, device: MemoryKind) -> LanguageModel {
    let spec = AugmentedSpec { cell, hidden: 8, device, rows: ROWS, width: 5, gate: Gate::Softmax };
    LanguageModel::new(LanguageModelSpec {
        body: BodySpec::Augmented(spec),
        vocabulary: 3,
        output: Output::Linear,
        initialization: Initialization::Torch,
    })
    .expect("a sound spec")
}

/// `#aⁿbⁿ#`
fn string(n: usize) -> Vec<u32> {
    [vec![0], vec![1; n], vec![2; n], vec![0]].concat()
}

/// Microseconds of CPU per symbol, the minimum of three runs.
fn per_symbol(symbols: usize, mut work: impl FnMut()) -> f64 {
    let once = |_| {
        let start = cpu_time::ProcessTime::now();
        work();
        start.elapsed().as_secs_f64() * 1e6 / symbols as f64
    };
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

fn evaluate<R: Real>(model: &LanguageModel) -> f64 {
    let (string, params) = (string(5000), model.layout().initialise::<R>(Seed::new(0)));
    let mut trained = Trained::new(model.clone(), params);
    per_symbol(string.len(), || {
        assert!(trained.log_probs(&string).expect("networks do not fail").iter().all(|x| x.is_finite()));
    })
}

fn train<R: Real>(model: &LanguageModel, strings: &[Vec<u32>]) -> f64 {
    let strings: Vec<&[u32]> = strings.iter().map(Vec::as_slice).collect();
    let asked: Vec<(usize, usize, f64)> =
        strings.iter().enumerate().flat_map(|(b, s)| (1..s.len()).map(move |p| (b, p, 1e-3))).collect();
    let mut params: Vec<R> = model.layout().initialise(Seed::new(0));
    let mut gradients = vec![R::ZERO; params.len()];
    let mut optimizer = Optimizer::new(OptimizerSpec::adam(), params.len());
    let mut tape = Tape::default();
    per_symbol(asked.len(), || {
        let mut record = tape.record(&params, Mode::Grad);
        model.loss(&mut record, &strings, &asked);
        record.backward_fresh(&mut gradients);
        optimizer.step(&mut params, &gradients, 1e-3, 1.0).expect("this does not diverge");
    })
}

fn time<R: Real>(name: &str, model: &LanguageModel) {
    let short: Vec<Vec<u32>> = (0..100).map(|i| string(i % 24 + 1)).collect();
    let (read, short, long) =
        (evaluate::<R>(model), train::<R>(model, &short), train::<R>(model, &[string(ROWS)]));
    let precision = R::NAME;
    println!(
        "{{\"model\": \"{name}\", \"precision\": \"{precision}\", \"read\": {read:.2}, \"train\": {short:.2}, \
         \"train_full\": {long:.2}}}"
    );
}

fn main() {
    for (name, cell, device) in [
        ("stack-rnn", Cell::Rnn, MemoryKind::Stack),
        ("stack-lstm", Cell::Lstm, MemoryKind::Stack),
        ("baby-ntm", Cell::Rnn, MemoryKind::BabyNtm),
    ] {
        let model = model(cell, device);
        time::<f32>(name, &model);
        time::<f64>(name, &model);
    }
}
