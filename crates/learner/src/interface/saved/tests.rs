use super::*;
use crate::interface::{NextSymbol, Recognizer};
use crate::kernel::MemoryKind;
use crate::model::{
    Annealing, AugmentedSpec, BodySpec, Cell, Gate, Initialization, Output, RecurrentSpec, Start,
};
use crate::registry;
use wug_dataset::Seed;

fn recognizer(family: &str, d: usize) -> Trained<RecognizerModel, f32> {
    let model = RecognizerModel::new(
        registry::recognizer(
            family,
            d,
            registry::RecognizerTask { alphabet: 2, language_modeling: true, next_symbols: true },
            0.1,
        )
        .unwrap(),
    )
    .unwrap();
    let params = model.layout().initialise(Seed::new(1));
    Trained::new(model, params)
}

fn language_model() -> Trained<LanguageModel, f64> {
    let recurrent = RecurrentSpec {
        cell: Cell::Lstm,
        layers: 1,
        hidden: 3,
        embedding: None,
        biases: 2,
        start: Start::Zero,
        dropout: 0.0,
    };
    of_body(BodySpec::Recurrent(recurrent))
}

fn of_body(body: BodySpec) -> Trained<LanguageModel, f64> {
    let output = Output::Linear;
    let spec = LanguageModelSpec { body, vocabulary: 4, output, initialization: Initialization::Torch };
    let model = LanguageModel::new(spec).unwrap();
    let params = model.layout().initialise(Seed::new(1));
    Trained::new(model, params)
}

/// The saved language model with an edited config.
fn edited(from: &str, to: &str) -> SavedModel {
    let saved = language_model().save();
    let config = String::from_utf8(saved.config).unwrap();
    assert!(config.contains(from), "{config}");
    SavedModel { config: config.replace(from, to).into_bytes(), weights: saved.weights }
}

fn message_of(saved: &SavedModel) -> String {
    Trained::<LanguageModel, f64>::load(saved).unwrap_err().to_string()
}

#[test]
fn a_saved_model_loads_as_it_was() {
    let strings: [&[u32]; 3] = [&[], &[1, 2, 2], &[2]];
    for family in ["rnn", "lstm", "gru", "transformer"] {
        let mut model = recognizer(family, 8);
        let mut loaded = Trained::<RecognizerModel, f32>::load(&model.save()).unwrap();
        assert_eq!(loaded.model().spec(), model.model().spec());
        assert_eq!((loaded.params(), loaded.save()), (model.params(), model.save()));
        assert_eq!(loaded.log_odds(&strings), model.log_odds(&strings));
    }
    let gate = Gate::Temperature(Annealing { start: 0.9, rate: 1e-4, least: 0.5 });
    let (cell, device) = (Cell::Lstm, MemoryKind::BabyNtm);
    let augmented = AugmentedSpec { cell, hidden: 3, device, rows: 5, width: 2, gate };
    for mut model in [language_model(), of_body(BodySpec::Augmented(augmented))] {
        let mut loaded = Trained::<LanguageModel, f64>::load(&model.save()).unwrap();
        assert_eq!(loaded.save(), model.save());
        assert_eq!(loaded.log_probs(&[0, 3, 1]), model.log_probs(&[0, 3, 1]));
    }
}

#[test]
fn the_config_has_kind_version_precision_and_spec() {
    let config: Value = serde_json::from_slice(&language_model().save().config).unwrap();
    let known = ["kind", "version", "dtype"].map(|key| config[key].as_str().unwrap());
    assert_eq!(known, ["language-model", env!("CARGO_PKG_VERSION"), "F64"]);
    assert_eq!(config["spec"]["body"]["cell"], "lstm");
}

#[test]
fn another_kind_or_precision_is_an_error() {
    let error = Trained::<LanguageModel, f32>::load(&recognizer("rnn", 8).save()).unwrap_err();
    assert_eq!(error, LoadError::Kind { found: "recognizer".to_owned(), needed: "language-model" });
    let error = Trained::<RecognizerModel, f64>::load(&language_model().save()).unwrap_err();
    assert_eq!(error.to_string(), "the config is that of a language-model, but a recognizer is needed");
    let error = Trained::<LanguageModel, f32>::load(&language_model().save()).unwrap_err();
    assert_eq!(error.to_string(), "the config says F64 values, but F32 are needed");
    // The config and the weights may disagree.
    let error = Trained::<LanguageModel, f32>::load(&edited("F64", "F32")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the weights are not those of the config: layers.0.weight_ih has F64 values, but F32 are needed"
    );
}

#[test]
fn unknown_missing_and_invalid_fields_are_errors() {
    for (from, to, parts) in [
        ("\"version\"", "\"virsion\"", ["unknown field `virsion`", "expected one of `kind`, `version`"]),
        ("\"layers\"", "\"leyers\"", ["unknown field `leyers`", "expected one of `cell`, `layers`"]),
        ("\"output\"", "\"out\"", ["unknown field `out`", "`output`"]),
        ("\"lstm\"", "\"lstn\"", ["unknown variant `lstn`", "expected one of `rnn`"]),
        ("\"biases\": 2", "\"biases\": 3", ["3 biases", "0, 1 or 2 are possible"]),
        (
            "\"hidden\": 3",
            "\"hidden\": 9999999999999999999",
            ["a hidden size of 9999999999999999999", "at most 1048576"],
        ),
        ("\"layers\": 1", "\"layers\": 99999999999", ["99999999999 layers", "at most 1024 are possible"]),
        (
            "\"vocabulary\": 4",
            "\"vocabulary\": 99999999999",
            ["a vocabulary of 99999999999", "at most 1048576"],
        ),
        ("\"hidden\": 3", "\"hidden\": 1048576", ["parameters", "at most 1073741824 are possible"]),
    ] {
        let message = message_of(&edited(from, to));
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

#[test]
fn weights_of_another_shape_are_an_error() {
    assert_eq!(
        message_of(&edited("\"hidden\": 3", "\"hidden\": 5")),
        "the weights are not those of the config: layers.0.weight_ih has shape [12, 4], but the model needs [20, 4]"
    );
    assert_eq!(
        message_of(&edited("\"layers\": 1", "\"layers\": 2")),
        "the weights are not those of the config: the checkpoint has no tensor layers.1.weight_ih"
    );
    assert_eq!(
        message_of(&edited("\"output\": \"linear\"", "\"output\": \"no-bias\"")),
        "the weights are not those of the config: the checkpoint has a tensor output.bias, but the model has none"
    );
}

#[test]
fn truncated_bytes_are_an_error() {
    let whole = language_model().save();
    // The last byte of the config ends its last line.
    for end in 0..whole.config.len() - 1 {
        let error = message_of(&SavedModel { config: whole.config[..end].to_vec(), ..whole.clone() });
        assert!(error.starts_with("not the config of a language-model: EOF while parsing"), "{end}: {error}");
    }
    for end in 0..whole.weights.len() {
        let saved = SavedModel { weights: whole.weights[..end].to_vec(), ..whole.clone() };
        let error = Trained::<LanguageModel, f64>::load(&saved).unwrap_err();
        assert!(matches!(error, LoadError::Weights(CheckpointError::Format(_))), "{end}: {error}");
    }
    let missing = whole.weights.len() - 1;
    let error = message_of(&SavedModel { weights: whole.weights[..missing].to_vec(), ..whole });
    assert_eq!(
        error,
        "the weights are not those of the config: not a safetensors file: output.bias is bytes 960..992 of 991"
    );
}
