//! The reader of saved models: a config and weights.

use wug_lab::dataset::{MemoryFiles, Seed};
use wug_learner::interface::{Model, NextSymbol as _, Recognizer as _, SavedModel, Trained};
use wug_learner::model::{Initialization, LanguageModel, LanguageModelSpec, Output, RecognizerModel};
use wug_learner::registry::recognizer;

use super::Fuzzed;

fn saved<M: Model>(spec: M::Spec) -> MemoryFiles {
    let model = M::build(spec).unwrap();
    let params = model.layout().initialise(Seed::new(1));
    let SavedModel { config, weights } = Trained::<M, f32>::new(model, params).save();
    MemoryFiles([("config.json".to_owned(), config), ("model.safetensors".to_owned(), weights)].into())
}

pub(crate) fn model() -> Fuzzed {
    let families = ["rnn", "lstm", "gru", "transformer"];
    let recognizers =
        families.map(|family| saved::<RecognizerModel>(recognizer(family, 8, 2, (true, true), 0.1).unwrap()));
    let models = families.map(|family| {
        let body = recognizer(family, 8, 2, (false, false), 0.0).unwrap().body;
        let (output, initialization) = (Output::Linear, Initialization::Torch);
        saved::<LanguageModel>(LanguageModelSpec { body, vocabulary: 4, output, initialization })
    });
    Fuzzed::new(recognizers.into_iter().chain(models).collect(), |files| {
        let bytes = |name: &str| files.0.get(name).cloned().unwrap_or_default();
        let saved = SavedModel { config: bytes("config.json"), weights: bytes("model.safetensors") };
        if let Ok(mut model) = Trained::<RecognizerModel, f32>::load(&saved) {
            model.log_odds(&[&[], &[0, 0]]);
            return true;
        }
        let Ok(mut model) = Trained::<LanguageModel, f32>::load(&saved) else { return false };
        model.log_probs(&[0, 0]);
        true
    })
}
