//! The card of a data set, `README.md`: what it is and how it is loaded, for people and for Hugging Face `datasets`, which
//! reads the files, columns and counts of every split from the metadata at the top.

use std::fmt::Write as _;

use wug_language::Reading;
use wug_table::{Kind, TypedColumn};

use crate::manifest::{About, FileRecord};
use crate::tabular::{DEFAULT, DatasetConfig, SplitFile};

/// The card's file name.
pub const CARD: &str = "README.md";

/// The card of one data set.
pub(crate) fn card(
    about: &About,
    files: &[FileRecord],
    configs: &[DatasetConfig],
    counts: &[(String, usize)],
) -> String {
    let title = format!("{}/{}", about.suite.name, about.written.name);
    let all: Vec<NamedConfig<'_>> =
        configs.iter().map(|config| NamedConfig::new(config.name, "", config, files)).collect();
    let mut text = metadata(&title, &all);
    let _ = write!(text, "\n# {title}\n\n{}\n\n{}\n", about.written.description, origin(about, &title));
    let notes =
        about.written.facts["notes"].as_array().into_iter().flatten().filter_map(|note| note.as_str());
    for note in notes {
        let _ = write!(text, "\n{note}\n");
    }
    text += &splits(configs, counts);
    text += &columns(configs);
    let _ = write!(text, "\n## Files\n\n{}\n\n| file | bytes |\n|---|---|\n", about.format.about());
    for file in files {
        let _ = writeln!(text, "| `{}` | {} |", file.name, file.bytes);
    }
    text += "\n`wug.json` is the manifest: the settings, and the size and the hash of every file. `wug validate` checks them, and the data against the definition.\n";
    let _ = write!(text, "\n## Load\n\nIn this folder:\n\n```python\n{}\n```\n", about.format.load(configs));
    // A member's source may say more about the paper, or be another.
    let (paper, source) = (about.suite.citation, about.written.cite);
    let cited = if source.starts_with(paper) { source.to_owned() } else { format!("{paper}\n\n{source}") };
    let _ = write!(text, "\n## Citation\n\n{cited}\n");
    text
}

/// Where the data come from: the command, the reading, the seed.
fn origin(about: &About, title: &str) -> String {
    let (reading, seed) = (about.reading, about.seed.value());
    let mut command = format!(
        "wug data {title} --out DIR --format {} --reading {reading} --seed {seed}",
        about.format.name()
    );
    for (key, value) in &about.options {
        let _ = write!(command, " --set {key}={value}");
    }
    let meaning = match reading {
        Reading::Published => "what the released code of the paper did, errors included",
        Reading::Corrected => "what the paper meant, with the errors of the released code and data corrected",
    };
    format!(
        "Part of the suite `{}`, which asks: {} It is written by wug {} with the seed {seed}, and the same command gives the same bytes on every machine:\n\n```sh\n{command}\n```\n\nThe reading is `{reading}`, {meaning}.",
        about.suite.name,
        about.suite.question,
        env!("CARGO_PKG_VERSION"),
    )
}

fn splits(configs: &[DatasetConfig], counts: &[(String, usize)]) -> String {
    let mut text = "\n## Splits\n\n".to_owned();
    if configs.is_empty() {
        text += "| split | rows |\n|---|---|\n";
        for (split, rows) in counts {
            let _ = writeln!(text, "| `{split}` | {rows} |");
        }
        return text;
    }
    text += "| config | split | rows | file |\n|---|---|---|---|\n";
    for (config, SplitFile { name, file, rows }) in
        configs.iter().flat_map(|config| config.splits.iter().map(move |split| (config.name, split)))
    {
        let _ = writeln!(text, "| `{config}` | `{}` | {rows} | `{file}` |", split_name(name));
    }
    text
}

fn columns(configs: &[DatasetConfig]) -> String {
    if configs.is_empty() {
        return String::new();
    }
    let mut text = "\n## Columns\n\n| config | column | type | meaning |\n|---|---|---|---|\n".to_owned();
    for (config, field) in
        configs.iter().flat_map(|config| config.fields.iter().map(move |field| (config.name, field)))
    {
        let TypedColumn { name, kind, list } = &field.column;
        let list = if *list { "list of " } else { "" };
        let _ = writeln!(text, "| `{config}` | `{name}` | {list}{} | {} |", feature(*kind), field.meaning);
    }
    text
}

/// The card of a folder in which every folder is a data set: a config for each of theirs.
pub fn collection(suite: &str, members: &[(String, Vec<FileRecord>, Vec<DatasetConfig>)]) -> String {
    let mut all = Vec::new();
    for (folder, files, configs) in members {
        let name = folder.trim_end_matches('/');
        for (i, config) in configs.iter().enumerate() {
            // The first config has the name of the folder, which is what users of `load_dataset` guess.
            let name = if i == 0 { name.to_owned() } else { format!("{name}-{}", config.name) };
            all.push(NamedConfig { name, ..NamedConfig::new("", folder, config, files) });
        }
    }
    let mut text = metadata(suite, &all);
    let _ = write!(
        text,
        "\n# {suite}\n\nThe data sets of the suite `{suite}`, a folder each, with a card of its own.\n\n"
    );
    for (folder, ..) in members {
        let _ = writeln!(text, "- [{folder}]({folder}{CARD})");
    }
    if let Some(first) = all.first() {
        let _ = write!(
            text,
            "\n```python\nfrom pathlib import Path\nfrom datasets import load_dataset\n\nfolder = str(Path(\".\").resolve())\ndata = load_dataset(folder, \"{}\")\nprint(data)\n```\n",
            first.name
        );
    }
    text
}

/// A config under the name by which it is loaded.
struct NamedConfig<'a> {
    name: String,
    folder: &'a str,
    config: &'a DatasetConfig,
    files: &'a [FileRecord],
}

impl<'a> NamedConfig<'a> {
    fn new(name: &str, folder: &'a str, config: &'a DatasetConfig, files: &'a [FileRecord]) -> Self {
        Self { name: name.to_owned(), folder, config, files }
    }
}

/// A file that is not there. In the layout of a paper, splits are no tables, and `datasets` would guess splits from the names of
/// files; it names this instead.
const NO_TABLES: &str = "no tables here - README.md says how to read these files - wug data writes tables with --format jsonl or parquet";

/// The metadata: which files each split is in, and their columns and numbers of rows. A column may have no value in a split;
/// then its type cannot be inferred.
fn metadata(title: &str, configs: &[NamedConfig<'_>]) -> String {
    let mut text = format!("---\npretty_name: {}\ntags:\n- formal-languages\n- wug\n", quoted(title));
    if configs.is_empty() {
        let _ = write!(text, "configs:\n- config_name: default\n  data_files: {}\n---\n", quoted(NO_TABLES));
        return text;
    }
    text += "configs:\n";
    for (i, NamedConfig { name, folder, config, .. }) in configs.iter().enumerate() {
        let _ = writeln!(text, "- config_name: {}", quoted(name));
        // In a folder of many data sets, none is the default.
        if i == 0 && folder.is_empty() && name != DEFAULT {
            text += "  default: true\n";
        }
        text += "  data_files:\n";
        for SplitFile { name, file, .. } in &config.splits {
            let _ = writeln!(
                text,
                "  - split: {}\n    path: {}",
                split_name(name),
                quoted(&format!("{folder}{file}"))
            );
        }
    }
    text += "dataset_info:\n";
    for NamedConfig { name, config, files, .. } in configs {
        let _ = writeln!(text, "- config_name: {}\n  features:", quoted(name));
        for TypedColumn { name, kind, list } in config.fields.iter().map(|field| &field.column) {
            let key = if *list { "sequence" } else { "dtype" };
            let _ = writeln!(text, "  - name: {}\n    {key}: {}", quoted(name), feature(*kind));
        }
        text += "  splits:\n";
        for SplitFile { name, file, rows } in &config.splits {
            let bytes = files.iter().find(|record| record.name == *file).map_or(0, |record| record.bytes);
            let _ = writeln!(
                text,
                "  - name: {}\n    num_bytes: {bytes}\n    num_examples: {rows}",
                split_name(name)
            );
        }
    }
    text + "---\n"
}

/// A split as `datasets` allows it to be named.
pub(crate) fn split_name(split: &str) -> String {
    match split {
        "training" => "train".to_owned(),
        other => other.replace('-', "_"),
    }
}

fn feature(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "string",
        Kind::Integer => "int64",
        Kind::Unsigned => "uint64",
        Kind::Float => "float64",
        Kind::Boolean => "bool",
    }
}

/// A string of YAML, which is one of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
