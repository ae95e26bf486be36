//! Times the evaluation of LSTMs of 32 units on aⁿbⁿ, n = 21 … 10,020, one JSON line each: one that counts without limit, so that
//! all 50 million steps after the first `b` are taken, and one whose state reaches a fixed point. `generalization.py` beside it
//! times PyTorch with the same weights.
//!
//! ```text
//! cargo run --release -p wug-lab --example generalization
//! ```

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use wug_lab::dataset::corpus::test_after;
use wug_lab::generalization::{Evaluation, Until, evaluate_steps};
use wug_lab::language::registry;
use wug_learner::interface::Trained;
use wug_learner::kernel::Real;
use wug_learner::model::{
    BodySpec, Cell, Initialization, LanguageModel, LanguageModelSpec, Output, RecurrentSpec, Start,
};
use wug_score::{StepRule, correct_steps};

const HIDDEN: usize = 32;
const VOCABULARY: usize = 3;

fn main() {
    time::<f32>("counts", true, Until::End);
    time::<f32>("rests", false, Until::End);
    time::<f32>("rests", false, Until::FirstError);
    time::<f64>("rests", false, Until::End);
}

fn time<R: Real>(name: &str, counts: bool, until: Until) {
    let mut learner = lstm::<R>(counts);
    let language = registry::build("an-bn").expect("a language of the registry");
    let evaluation =
        Evaluation { until, ..Evaluation::published(&*language, StepRule::Deterministic { margin: 0.0 }) };
    let (wall, start) = (std::time::Instant::now(), cpu_time::ProcessTime::now());
    let scores = evaluate_steps(&mut learner, test_after(&*language, 40, 10_000), &evaluation)
        .expect("an LSTM reads all");
    let (cpu, wall) = (start.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    let totals = correct_steps(&scores.strings);
    println!(
        "{{\"lstm\": \"{name}\", \"numbers\": \"{}\", \"until\": \"{until:?}\", \"cpu_seconds\": {cpu:.3}, \
         \"wall_seconds\": {wall:.3}, \"steps\": {}, \"strings\": {}, \"right\": {}, \"scored\": {}}}",
        R::NAME,
        scores.taken,
        totals.n,
        totals.numerator,
        totals.denominator,
    );
}

/// Weights that another program can compute too: sines, and in the counting LSTM a unit whose cell goes up by one at `a` and
/// down by one at `b`, which decides between `b` and the end.
fn lstm<R: Real>(counts: bool) -> Trained<LanguageModel, R> {
    let body = BodySpec::Recurrent(RecurrentSpec {
        cell: Cell::Lstm,
        layers: 1,
        hidden: HIDDEN,
        embedding: None,
        biases: 1,
        start: Start::Zero,
        dropout: 0.0,
    });
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    let spec = LanguageModelSpec { body, vocabulary: VOCABULARY, output, initialization };
    let model = LanguageModel::new(spec).expect("a sound spec");
    let mut params = vec![R::ZERO; model.layout().count()];
    let mut fill = |name: &str, scale: f64, special: &dyn Fn(usize) -> Option<f64>| {
        let param = model.layout().find(name).expect("a parameter of an LSTM").param;
        for (i, value) in param.of_mut(&mut params).iter_mut().enumerate() {
            let wave = scale * libm::sin((i * i % 1009) as f64);
            *value = R::of(special(i).filter(|_| counts).unwrap_or(wave));
        }
    };
    // Gates i, f, g, o of unit 0 are rows 0, 32, 64 and 96.
    let of_counter = |row: usize| row.is_multiple_of(HIDDEN);
    let candidate = 2 * HIDDEN;
    fill("layers.0.weight_ih", 0.3, &|i| {
        let (row, symbol) = (i / VOCABULARY, i % VOCABULARY);
        of_counter(row).then(|| if row == candidate { [0.0, 20.0, -20.0][symbol] } else { 0.0 })
    });
    fill("layers.0.weight_hh", 0.3, &|i| of_counter(i / HIDDEN).then_some(0.0));
    fill("layers.0.bias_ih", 0.3, &|row| {
        of_counter(row).then_some(if row == candidate { 0.0 } else { 30.0 })
    });
    fill("output.weight", 0.01, &|i| (i % HIDDEN == 0).then(|| [0.0, 0.0, 20.0][i / HIDDEN]));
    fill("output.bias", 0.01, &|symbol| Some([8.0, -40.0, 0.0][symbol]));
    Trained::new(model, params)
}
