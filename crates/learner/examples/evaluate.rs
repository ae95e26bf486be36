//! Times the evaluation of 5,010 strings of up to 500 symbols by the three 64k-parameter recognizers, one JSON line each.
//!
//! ```text
//! cargo run --release -p wug-learner --example evaluate
//! ```

#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use wug_dataset::Seed;
use wug_learner::interface::{Recognizer, Trained};
use wug_learner::model::RecognizerModel;
use wug_learner::registry::{RecognizerTask, recognizer};

fn main() {
    let text: Vec<u32> = (0..500u32).map(|i| i * i / 7 % 2 + 1).collect();
    let strings: Vec<&[u32]> = (0..5010).map(|i| &text[..i % 501]).collect();
    let symbols: usize = strings.iter().map(|s| s.len()).sum();
    for (name, d) in [("rnn", 79), ("lstm", 40), ("transformer", 32)] {
        let model = RecognizerModel::new(
            recognizer(name, d, RecognizerTask::labels(2), 0.1).expect("a known learner"),
        )
        .expect("a sound spec");
        let params: Vec<f32> = model.layout().initialise(Seed::new(0));
        let mut trained = Trained::new(model, params);
        let start = cpu_time::ProcessTime::now();
        let sum: f64 = trained.log_odds(&strings).expect("networks do not fail").iter().sum();
        let seconds = start.elapsed().as_secs_f64();
        println!("{{\"model\": \"{name}\", \"symbols\": {symbols}, \"seconds\": {seconds}, \"sum\": {sum}}}");
    }
}
