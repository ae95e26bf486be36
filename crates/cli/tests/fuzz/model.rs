//! The reader of saved models: a config and weights.

use wug_lab::dataset::{MemoryFiles, Seed};
use wug_lab::language::Reading;
use wug_learner::interface::{LoadError, Model, NextSymbol as _, Recognizer as _, SavedModel, Trained};
use wug_learner::kernel::Real;
use wug_learner::model::{LanguageModel, RecognizerModel, TransducerModel};
use wug_learner::registry::{LEARNERS, NextSymbolRole, RecognizerTask, Settings, TransducerTask};

use super::Fuzzed;

fn saved<M: Model, R: Real>(spec: M::Spec) -> MemoryFiles {
    let model = M::build(spec).unwrap();
    let params = model.layout().initialise(Seed::new(1));
    let SavedModel { config, weights } = Trained::<M, R>::new(model, params).save();
    MemoryFiles([("config.json".to_owned(), config), ("model.safetensors".to_owned(), weights)].into())
}

/// Every network of the registry in each of its roles, small, in both precisions.
fn networks() -> Vec<MemoryFiles> {
    let recognized = RecognizerTask { alphabet: 2, language_modeling: true, next_symbols: true };
    let transduced = TransducerTask { inputs: 4, outputs: 4, end: 0, padding: None };
    let mut all = Vec::new();
    for learner in LEARNERS {
        let small = |settings| {
            Settings::defaults(settings, Reading::Corrected)
                .with_count("hidden", 8)
                .with_count("embedding", 8)
        };
        if let Some(role) = &learner.recognizer {
            let built = |task| (role.build)(&small(role.settings), task);
            // The head shares its weights with an embedding, which some learners do not have.
            let language_modeling = <RecognizerModel as Model>::build(built(recognized)).is_ok();
            let spec = || built(RecognizerTask { language_modeling, ..recognized });
            all.extend([saved::<RecognizerModel, f32>(spec()), saved::<RecognizerModel, f64>(spec())]);
        }
        if let Some(role) = learner.next_symbol.as_ref().and_then(NextSymbolRole::network) {
            let spec = || (role.build)(&small(role.settings), 4);
            all.extend([saved::<LanguageModel, f32>(spec()), saved::<LanguageModel, f64>(spec())]);
        }
        if let Some(role) = &learner.transducer {
            all.push(saved::<TransducerModel, f32>((role.build)(&small(role.settings), transduced)));
        }
    }
    all
}

/// Loads a model as whatever it is, and asks it.
fn ask<R: Real>(saved: &SavedModel) -> Result<(), LoadError> {
    if let Ok(mut model) = Trained::<RecognizerModel, R>::load(saved) {
        let _ = model.log_odds(&[&[], &[1, 1]]);
        return Ok(());
    }
    if Trained::<TransducerModel, R>::load(saved).is_ok() {
        return Ok(());
    }
    let _ = Trained::<LanguageModel, R>::load(saved)?.log_probs(&[0, 0]);
    Ok(())
}

pub(crate) fn model() -> Fuzzed {
    Fuzzed::new(networks(), |files| {
        let bytes = |name: &str| files.0.get(name).cloned().unwrap_or_default();
        let saved = SavedModel { config: bytes("config.json"), weights: bytes("model.safetensors") };
        ask::<f32>(&saved).is_ok() || ask::<f64>(&saved).is_ok()
    })
}
