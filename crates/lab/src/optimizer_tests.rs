//! `optimizer` in every protocol: what is not said changes no plan, and a run by any rule resumes to the same bytes.

use wug_learner::registry::UpdateRule;

use crate::LabError;
use crate::context::RunContext;
use crate::plan::{DataCache, RunPlan};
use crate::protocol::PROTOCOLS;
use crate::spec::{Experiment, Scale};

/// A section of each protocol whose runs take a moment, and whether its runs are saved while they learn.
const SECTIONS: [(&str, &str, bool); 5] = [
    (
        "recognition",
        r#"languages = "parity"
        learners = "rnn"
        hidden = 4
        layers = 1
        losses = "R"
        validation = "short"
        max_epochs = 3
        data = { training = 40, validation = 10, test = 20, held_out = 10, distances = 5, longest = 60 }"#,
        true,
    ),
    (
        "generalization",
        r#"languages = "an-bn"
        learners = "lstm"
        hidden = 4
        order = 2
        factors = 1
        epochs = 5"#,
        true,
    ),
    (
        "speed",
        r#"languages = "periodic"
        learners = ["rnn", "esn"]
        hidden = 8
        units = 20
        sequences = 30"#,
        false,
    ),
    (
        "preference",
        r#"tasks = ["add-or-multiply:length=3"]
        learners = "transformer"
        embedding = 8
        heads = 2
        hidden = 8
        updates = 5
        warmup = 2
        optimizer_state = "carried""#,
        true,
    ),
    (
        "pairs",
        r#"languages = "np-vp:terminals=5"
        learners = "lstm"
        hidden = 8
        epochs = 3
        data = { training = 40, validation = 10, test = 10, out_of_distribution = 10 }"#,
        true,
    ),
];

/// Saves the checkpoint of one call, and resumes from it.
#[derive(Default)]
struct Context {
    calls: usize,
    save_at: usize,
    saved: Option<Vec<u8>>,
}

impl RunContext for Context {
    fn load_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.saved.take()
    }
    fn checkpoint(&mut self, bytes: &mut dyn FnMut() -> Vec<u8>) -> Result<(), LabError> {
        self.calls += 1;
        if self.calls == self.save_at {
            self.saved = Some(bytes());
        }
        Ok(())
    }
    fn epoch(&mut self, _: usize, _: f64) {}
    fn evaluating(&mut self, _: &str) -> Result<(), LabError> {
        Ok(())
    }
}

fn read(protocol: &str, section: &str, optimizer: &str) -> Result<Vec<RunPlan>, LabError> {
    let text = format!("title = \"x\"\n[[{protocol}]]\nseeds = 1\n{section}\n{optimizer}");
    Ok(Experiment::read("x", "x.toml", &text, Scale::Paper, &[])?.runs)
}

fn ids(plans: &[RunPlan]) -> Vec<String> {
    plans.iter().map(RunPlan::id).collect()
}

#[test]
fn every_protocol_has_an_optimizer_which_tells_runs_apart() {
    assert_eq!(PROTOCOLS.len(), SECTIONS.len());
    for (protocol, section, _) in SECTIONS {
        let unsaid = read(protocol, section, "").unwrap();
        let both = read(protocol, section, "optimizer = [\"adam\", \"sgd\"]").unwrap();
        assert_eq!(both.len(), 2 * unsaid.len(), "{protocol}");
        assert!(ids(&unsaid).iter().all(|id| ids(&both).contains(id)), "{protocol}");
        for (plan, name) in both.iter().zip(["adam", "sgd"].iter().cycle()) {
            // As a coordinate it is always there, so that tables have a row of each.
            assert_eq!(plan.coordinates().text("optimizer"), Some(*name), "{protocol}");
            assert!(plan.label().contains(&format!("optimizer {name}")), "{}", plan.label());
        }
        for plan in unsaid {
            let usual = if plan.learner().name == "esn" { "sgd" } else { "adam" };
            assert_eq!(plan.learner().settings.text("optimizer"), Some(usual), "{protocol}");
        }
        for plan in read(protocol, section, "optimizer = \"sgd\"").unwrap() {
            let said = ["generalization", "pairs"].contains(&protocol) || plan.learner().name == "esn";
            let told = plan.coordinates().text("optimizer").map(str::to_owned);
            assert_eq!(told, (!said).then(|| "sgd".to_owned()), "{protocol}");
        }
        let error = read(protocol, section, "optimizer = \"adagrad\"").unwrap_err().to_string();
        let message = "`optimizer`: cannot be adagrad; it must be one of adam, sgd";
        assert!(error.contains(message), "{protocol}: {error}");
    }
}

#[test]
fn runs_of_every_protocol_resume_to_the_same_bytes_with_every_optimizer() {
    for (protocol, section, is_saved) in SECTIONS {
        for rule in UpdateRule::ALL {
            let optimizer = format!("optimizer = \"{}\"", rule.name());
            for plan in read(protocol, section, &optimizer).unwrap() {
                let run = |context: &mut Context| {
                    plan.execute(&mut DataCache::default(), context).unwrap().to_text().unwrap()
                };
                let mut context = Context { save_at: 3, ..Context::default() };
                let whole = run(&mut context);
                assert_eq!(context.saved.is_some(), is_saved, "{}", plan.label());
                assert_eq!(whole, run(&mut context), "{}", plan.label());
            }
        }
    }
}
