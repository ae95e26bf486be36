//! The experiments that come with wug.

use super::file::ExperimentFile;
use crate::LabError;

/// The experiments that come with wug: name and text.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("quickstart", include_str!("../../../../experiments/quickstart.toml")),
    ("flare_table2", include_str!("../../../../experiments/flare_table2.toml")),
    ("flare_table22", include_str!("../../../../experiments/flare_table22.toml")),
    ("bliss_table2", include_str!("../../../../experiments/bliss_table2.toml")),
    ("bliss_figure3", include_str!("../../../../experiments/bliss_figure3.toml")),
    ("wade_table4", include_str!("../../../../experiments/wade_table4.toml")),
    ("wade_table5", include_str!("../../../../experiments/wade_table5.toml")),
    ("wade_figure3", include_str!("../../../../experiments/wade_figure3.toml")),
    ("wade_table2", include_str!("../../../../experiments/wade_table2.toml")),
    ("wade_rules", include_str!("../../../../experiments/wade_rules.toml")),
    ("find_table1", include_str!("../../../../experiments/find_table1.toml")),
    ("find_table2", include_str!("../../../../experiments/find_table2.toml")),
    ("find_tables3to6", include_str!("../../../../experiments/find_tables3to6.toml")),
    ("find_table7", include_str!("../../../../experiments/find_table7.toml")),
    ("find_table8", include_str!("../../../../experiments/find_table8.toml")),
    ("find_figure3", include_str!("../../../../experiments/find_figure3.toml")),
    ("find_appendix_c", include_str!("../../../../experiments/find_appendix_c.toml")),
    ("find_appendix_d", include_str!("../../../../experiments/find_appendix_d.toml")),
    ("tse_table3", include_str!("../../../../experiments/tse_table3.toml")),
    ("tse_table3_normal", include_str!("../../../../experiments/tse_table3_normal.toml")),
    ("tse_table3_sgd", include_str!("../../../../experiments/tse_table3_sgd.toml")),
];

/// The name and text of the built-in experiment of that name, with hyphens or underscores.
pub fn built_in(name: &str) -> Option<(&'static str, &'static str)> {
    BUILT_IN.iter().copied().find(|(built_in, _)| *built_in == name.replace('-', "_"))
}

/// The names and titles of the experiments that come with wug.
pub fn titles() -> Result<Vec<(&'static str, String)>, LabError> {
    BUILT_IN.iter().map(|(name, text)| Ok((*name, introduction(name, text)?.0))).collect()
}

/// The title of an experiment, and what to know before running it. Nothing is planned.
pub fn introduction(name: &str, text: &str) -> Result<(String, String), LabError> {
    let file = ExperimentFile::read(name, text)?;
    Ok((file.title, file.about))
}

/// What an experiment needs beside its file, from fixtures: one is about reviews that the user has.
#[cfg(test)]
pub(crate) fn fixtures(name: &str) -> Vec<(String, String)> {
    let reviews = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/reviews.csv");
    let needed = (name == "wade_table2").then(|| ("corpus.path".to_owned(), reviews.to_owned()));
    needed.into_iter().collect()
}
