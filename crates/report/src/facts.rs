//! What results know of their data and plans do not: how much there was. It is compared like the fields of plans.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_score::RunResult;
use wug_score::plan::{PlanKind, Recipe, Recognition, Speed};

/// The reviews of IMDB, for training and for testing: what WADE's Table 2 is of.
const REVIEWS: usize = 25_000;
const TRAINING_REVIEWS: &str = "data.reviews.training";
const TEST_REVIEWS: &str = "data.reviews.test";

/// The fields of a result's plan with what there was in place of what was asked for: a directory may have more or fewer strings than
/// a plan would draw.
pub(crate) fn of_result(result: &RunResult, mut fields: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let data = &result.data;
    if result.run.protocol == Recognition::PROTOCOL {
        // A run without any data failed; one that lacks a set is not of these data.
        if let Some(splits) = data.get("splits") {
            let validation = fields.get("measure.validation").and_then(Value::as_str).unwrap_or_default();
            let validation = format!("validation-{validation}");
            for (path, split) in
                [("data.training", "training"), ("data.validation", &validation), ("data.test", "test")]
            {
                replace(&mut fields, path, splits.get(split).and_then(|split| split.get("examples")));
            }
        }
    } else if let Some(strings) = data.get("evaluated").and_then(|evaluated| evaluated.get("of")) {
        replace(&mut fields, "data.test.strings", Some(strings));
    } else if is_of_reviews(&result.run.protocol, &fields) {
        replace(&mut fields, TRAINING_REVIEWS, data.get("train"));
        replace(&mut fields, TEST_REVIEWS, data.get("test"));
    }
    fields
}

/// The fields of a recipe with what there is in the paper's data.
pub(crate) fn of_recipe(recipe: &Recipe, mut fields: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    if is_of_reviews(&recipe.protocol, &fields) {
        for path in [TRAINING_REVIEWS, TEST_REVIEWS] {
            fields.insert(path.to_owned(), REVIEWS.into());
        }
    }
    fields
}

fn is_of_reviews(protocol: &str, fields: &BTreeMap<String, Value>) -> bool {
    protocol == Speed::PROTOCOL && fields.contains_key("data.corpus.pieces")
}

fn replace(fields: &mut BTreeMap<String, Value>, path: &str, value: Option<&Value>) {
    match value {
        // A removed field counts as a departure; an old one would claim data that were not there.
        Some(value) if !value.is_null() => drop(fields.insert(path.to_owned(), value.clone())),
        _ => drop(fields.remove(path)),
    }
}
