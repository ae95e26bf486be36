//! The networks that searches found, as pictures: the best of each language and factor.

use std::collections::BTreeMap;

use serde_json::Value;
use wug_score::RunResult;
use wug_score::plan::Generalization;

use crate::network::NetworkPicture;
use crate::plot::Figure;
use crate::run::Run;

/// A picture for each language and factor for which a network was found.
pub(super) fn figures(runs: &[Run<'_, Generalization>]) -> Vec<Figure> {
    let mut best: BTreeMap<(&str, usize), (f64, &RunResult)> = BTreeMap::new();
    for run in runs {
        let Some(total) = run.data["found"]["total_bits"].as_f64() else { continue };
        let key = (run.subject(), run.plan.data.factor);
        // Strictly fewer bits: of equal networks the first stays, whatever the number of seeds.
        if best.get(&key).is_none_or(|(other, _)| total < *other) {
            best.insert(key, (total, run.result()));
        }
    }
    best.into_iter()
        .filter_map(|((language, factor), (_, result))| figure(language, factor, result))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn figure(language: &str, factor: usize, result: &RunResult) -> Option<Figure> {
    let found = &result.data["found"];
    let symbols: Vec<String> = found["symbols"].as_array().into_iter().flatten().map(text).collect();
    let picture = NetworkPicture::of(found, &symbols)?;
    let bits = |name: &str| found[name].as_f64().unwrap_or_default();
    let notes = vec![
        format!(
            "|G| = {:.0} bits, |D:G| = {:.2} bits. Recurrent edges, which carry the value of the step before, are dashed; + is a sum, × a product.",
            bits("grammar_bits"),
            bits("data_bits")
        ),
        "Of several runs, the one with the fewest bits.".to_owned(),
    ];
    let slug: String = language.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    Some(Figure {
        id: format!("bliss-network-{slug}-{factor}"),
        title: format!("The network found for {language}, b = {factor}"),
        notes,
        svg: picture.svg(),
    })
}
