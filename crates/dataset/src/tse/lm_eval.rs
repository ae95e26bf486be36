//! Pairs as tasks of the lm-evaluation-harness, so that any language model can be asked: multiple choice between the good and the bad
//! string, without a prompt.
//!
//! A tokenizer cuts numbers and runs of letters into pieces of its own, so terminals are spelled by symbols that are one token each in
//! the vocabulary of GPT-2, with the space before them: letters and digits, or words where there are more than 62 terminals. Strings end
//! in a full stop, because the end of a string is part of what a model is asked about.

use serde_json::{Map, Value as Json};
use wug_language::{Alphabet, Symbol, Word, draw};
use wug_table::{ColumnValue, Kind, TableFormat};

use crate::manifest::Recorder;
use crate::pairs::MinimalPairData;
use crate::suite::DataFormat;
use crate::tabular::{DescribedColumn, SplitTable};
use crate::{DataError, MinimalPair, Seed};

/// Tasks of the lm-evaluation-harness.
pub const LM_EVAL: DataFormat = DataFormat {
    name: "lm-eval",
    folders: &[],
    has: |file| file.ends_with(".yaml"),
    about: "Tasks of the lm-evaluation-harness: multiple choice between `good` and `bad`, without a prompt; `target` says which choice is `good`, drawn by a coin; `acc` compares the \
            probabilities of whole strings. In this folder (paths in the tasks are relative to it): `lm_eval --include_path . --tasks \
            NAME`, where NAME is `task` of one of the YAML files or the `group` of all of them. `symbols.json` says which symbol \
            spells which terminal: each is one token of GPT-2's tokenizer with the space before it. Tasks that end in `_terminals` have \
            the terminals themselves, which tokenizers may cut. `train.jsonl` and `validation.jsonl` are corpora of grammatical \
            strings, to train or fine-tune on.",
    load: "",
};

/// Words that are one token each in GPT-2's vocabulary, commonest first.
const WORDS: &str = include_str!("gpt2_words.txt");

/// The symbol at the end of a string, one token too.
const END: &str = ".";

/// The symbols that spell so many terminals; `None` if there are not enough.
fn symbols(terminals: usize) -> Option<Vec<String>> {
    let letters: Vec<String> = ('a'..='z').chain('A'..='Z').chain('0'..='9').map(String::from).collect();
    let words = || WORDS.split_whitespace().map(str::to_owned).collect();
    let all: Vec<String> = if terminals <= letters.len() { letters } else { words() };
    (terminals <= all.len()).then(|| all.into_iter().take(terminals).collect())
}

/// A string as a model reads it: a space before each symbol, the end included.
fn spelled(word: &Word, name: impl Fn(Symbol) -> String) -> String {
    let symbols: Vec<String> = word.iter().map(|&symbol| name(symbol)).chain([END.to_owned()]).collect();
    // The space before the first symbol too: without it GPT-2 has another token for it.
    format!(" {}", symbols.join(" "))
}

/// Writes tasks, pairs, corpora and the map of symbols. `name` is that of the language with its settings and of the reading.
///
/// The harness takes the first of choices that are equally likely. So the good string is the first or the second choice by a coin,
/// and a model that finds all strings equal is right half of the time.
pub(super) fn write(
    data: &MinimalPairData,
    name: &str,
    seed: Seed,
    alphabet: &Alphabet,
    out: &mut Recorder<'_>,
) -> Result<(), DataError> {
    let symbols = symbols(alphabet.len()).ok_or_else(|| {
        let most = WORDS.split_whitespace().count();
        DataError::Request(format!(
            "{} terminals cannot be spelled; there are {most} symbols",
            alphabet.len()
        ))
    })?;
    let by_symbol = |word: &Word| spelled(word, |symbol| symbols[symbol.index()].clone());
    let by_terminal = |word: &Word| spelled(word, |symbol| alphabet.token(symbol).to_owned());
    let text = |name: &'static str, meaning: &'static str| DescribedColumn::new(name, Kind::Text, meaning);
    let fields = vec![
        text("good", "a grammatical string, spelled by symbols"),
        text("bad", "its near miss, spelled by symbols, which a model should find less likely"),
        text("good_terminals", "the grammatical string, spelled by its terminals"),
        text("bad_terminals", "its near miss, spelled by its terminals"),
        DescribedColumn::new(
            "target",
            Kind::Integer,
            "which choice the good string is: 0, the first, or 1, the second",
        ),
    ];
    let pairs = SplitTable { format: TableFormat::Jsonl, config: "pairs", fields };
    let fields = vec![
        text("text", "a grammatical string, spelled by symbols"),
        text("terminals", "the same, spelled by its terminals"),
    ];
    let corpora = SplitTable { format: TableFormat::Jsonl, config: "corpora", fields };
    let base = format!("wug_tse_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
    let mut tasks = Vec::new();
    for (split, own) in [("test", &data.test), ("out-of-distribution", &data.out_of_distribution)] {
        let mut coins = seed.derive("tse/lm-eval").derive(split).rng();
        let row = |MinimalPair { good, bad }: &MinimalPair| -> Vec<ColumnValue<'static>> {
            vec![
                by_symbol(good).into(),
                by_symbol(bad).into(),
                by_terminal(good).into(),
                by_terminal(bad).into(),
                ColumnValue::from(i64::from(draw::coin(&mut coins))),
            ]
        };
        pairs.put(out, split, split, own.iter().map(row))?;
        for (ending, columns) in [("", ["good", "bad"]), ("_terminals", ["good_terminals", "bad_terminals"])]
        {
            let task = format!("{base}_{}{ending}", split.replace('-', "_"));
            out.put_text(&format!("{task}.yaml"), &self::task(&task, split, columns))?;
            if ending.is_empty() {
                tasks.push(task);
            }
        }
    }
    for (split, words) in [("train", &data.train), ("validation", &data.validation)] {
        let rows = words.iter().map(|word| vec![by_symbol(word).into(), by_terminal(word).into()]);
        corpora.put(out, split, split, rows)?;
    }
    out.put_text(&format!("{base}.yaml"), &group(&base, &tasks))?;
    let map: Map<String, Json> = alphabet
        .tokens()
        .iter()
        .zip(&symbols)
        .map(|(terminal, symbol)| (terminal.clone(), symbol.as_str().into()))
        .collect();
    let map = serde_json::json!({ "tokenizer": "gpt2", "end": END, "symbols": map });
    out.put_text("symbols.json", &format!("{map}\n"))
}

/// A task, as the harness reads it. The delimiter before a choice would be a space, which strings have themselves.
fn task(name: &str, split: &str, [good, bad]: [&str; 2]) -> String {
    let metric =
        |name: &str| format!("  - metric: {name}\n    aggregation: mean\n    higher_is_better: true\n");
    let metrics: String = ["acc", "acc_norm", "acc_bytes"].map(metric).concat();
    format!(
        "task: {name}\ntag: wug_tse\ndataset_path: json\ndataset_kwargs:\n  data_files:\n    test: {split}.jsonl\ntest_split: test\n\
         output_type: multiple_choice\ndoc_to_text: \"\"\ndoc_to_choice: \"{{{{[{good}, {bad}] if target == 0 else [{bad}, {good}]}}}}\"\ndoc_to_target: target\ntarget_delimiter: \"\"\n\
         num_fewshot: 0\nmetric_list:\n{metrics}metadata:\n  version: 2.0\n"
    )
}

/// The group of tasks.
fn group(name: &str, tasks: &[String]) -> String {
    let tasks = tasks.join("\n  - ");
    format!(
        "group: {name}\ntask:\n  - {tasks}\naggregate_metric_list:\n  - metric: acc\n    aggregation: mean\n    weight_by_size: true\nmetadata:\n  version: 1.0\n"
    )
}

/// The terminals of an exported string, without its end.
pub(super) fn without_end(text: &str) -> Result<&str, String> {
    text.strip_suffix(END).ok_or_else(|| format!("`{text}` does not end in `{END}`"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn symbols_are_distinct_and_enough_for_the_largest_vocabulary() {
        for terminals in [10, 60, 62, 63, 1000, 3000] {
            let symbols = symbols(terminals).unwrap();
            assert_eq!(symbols.iter().collect::<BTreeSet<_>>().len(), terminals);
            assert!(
                symbols
                    .iter()
                    .all(|symbol| symbol != END && symbol.chars().all(|c| c.is_ascii_alphanumeric()))
            );
        }
        assert_eq!(symbols(3001), None);
    }

    #[test]
    fn a_task_has_the_fields_that_the_harness_reads() {
        let text = task("x", "test", ["good", "bad"]);
        for line in [
            "dataset_path: json",
            "    test: test.jsonl",
            "test_split: test",
            "output_type: multiple_choice",
            "doc_to_text: \"\"",
            "doc_to_choice: \"{{[good, bad] if target == 0 else [bad, good]}}\"",
            "doc_to_target: target",
            "target_delimiter: \"\"",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }
}
