//! The whole registry against the published files, and what must hold of any task.

mod files;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wug_language::Reading;

use super::*;
use crate::{RuleTask, Seed};

pub(super) fn golden() -> Value {
    serde_json::from_str(include_str!("../../../../testdata/find_tasks.json")).unwrap()
}

fn task(name: &str) -> RuleTask {
    build(name, Seed::new(1)).unwrap()
}

pub(super) fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().unwrap().iter()
}

pub(super) fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|n| usize::try_from(n.as_u64().unwrap()).unwrap()).collect()
}

fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}

/// Every published setting and some of our own.
fn settings() -> Vec<String> {
    let own = [
        "count-or-mem:length=1",
        "add-or-mul:length=1",
        "mult-by-3:length=2",
        "hierar-or-linear:depth=1",
        "hierar-or-linear:depth=2",
        "hierar-or-linear:depth=3",
        "hierar-or-linear:depth=9",
        "comp-or-mem:primitives=2,shown=1",
        "comp-or-mem:primitives=1000,shown=10",
        "dax-compo:primitives=26",
        "scan:split=simple",
        "scan:split=turn-left",
        "scan:split=length",
    ];
    TASKS.iter().flat_map(TaskEntry::published).chain(own.map(str::to_owned)).collect()
}

#[test]
fn every_published_file_has_its_published_bytes() {
    let golden = golden();
    let mut checked = 0;
    for (name, files) in entries(&golden["files"]) {
        let made: BTreeMap<String, String> = to_text(&task(name)).into_iter().collect();
        for (file, hash) in entries(files) {
            assert_eq!(sha256(&made[file]), hash.as_str().unwrap(), "{name} {file}");
            checked += 1;
        }
    }
    // Eight settings of one letter with two or three rules, one of nesting, three of the released composition
    // task.
    assert_eq!(checked, 4 * 7 + 4 * 9 + 7 + 3 * 6);
}

#[test]
fn unary_lengths_are_the_published_ones() {
    for (name, lengths) in entries(&golden()["lengths"]) {
        let task = task(name);
        let pair = &task.train[0];
        assert_eq!([pair.input.len(), pair.output.len()], numbers(&lengths["train"])[..], "{name}");
        let inputs: Vec<usize> = task.holdout.iter().map(Vec::len).collect();
        assert_eq!(inputs, numbers(&lengths["holdout"]), "{name}");
        for (rule, outputs) in lengths["rules"].as_object().into_iter().flatten() {
            let made: Vec<usize> = task.rule(rule).unwrap().outputs.iter().map(Vec::len).collect();
            assert_eq!(made, numbers(outputs), "{name} {rule}");
        }
    }
}

#[test]
fn sizes_are_the_published_ones() {
    let golden = golden();
    for name in TASKS.iter().flat_map(TaskEntry::published) {
        let task = task(&name);
        let sizes = [task.train.len(), task.holdout.len(), task.candidate_lines(&task.rules[0]).len()];
        assert_eq!(sizes[..], numbers(&golden["sizes"][&name]), "{name}");
        assert_eq!(task.name, name);
    }
}

#[test]
fn test_targets_are_empty_lines_and_valid_is_a_copy_of_test() {
    let files: BTreeMap<String, String> = to_text(&task("hierar-or-linear")).into_iter().collect();
    assert_eq!(files["test.dst"], "\n".repeat(20));
    assert_eq!((&files["valid.src"], &files["valid.dst"]), (&files["test.src"], &files["test.dst"]));
    assert_eq!(files.len(), 10);
}

#[test]
fn python_shuffles_are_reproduced() {
    let golden = golden();
    for (seed, orders) in entries(&golden["holdout_orders"]) {
        for (name, order) in entries(orders) {
            let n = task(name).unseen().len();
            let seed = Seed::new(seed.parse().unwrap());
            assert_eq!(holdout_order(n, Reading::Published, seed), numbers(order), "{name}");
        }
    }
}

/// `random.seed(s); x = list(range(n)); random.shuffle(x)` of Python 3.11, where the key has two digits.
#[test]
fn long_python_seeds_have_two_digits() {
    assert_eq!(published_order(8, 1 << 32), PYTHON_2_TO_THE_32);
    assert_eq!(published_order(0, 0), [0_usize; 0]);
    assert_eq!(published_order(5, 0), PYTHON_0);
}

const PYTHON_2_TO_THE_32: [usize; 8] = [5, 7, 6, 4, 0, 3, 2, 1];
const PYTHON_0: [usize; 5] = [2, 1, 0, 4, 3];

#[test]
fn our_own_order_is_a_permutation_from_its_own_stream() {
    let order = holdout_order(20, Reading::Corrected, Seed::new(1));
    assert_eq!(order.iter().copied().collect::<BTreeSet<_>>().len(), 20);
    assert_ne!(order, holdout_order(20, Reading::Published, Seed::new(1)));
    assert_ne!(order, holdout_order(20, Reading::Corrected, Seed::new(2)));
}

#[test]
fn rules_agree_on_what_was_trained_and_differ_on_the_rest() {
    for name in settings() {
        let task = task(&name);
        let trained: BTreeMap<_, _> = task.train.iter().map(|p| (&p.input, &p.output)).collect();
        for rule in &task.rules {
            assert_eq!(rule.outputs.len(), task.holdout.len(), "{name}");
            for (input, output) in task.holdout.iter().zip(&rule.outputs) {
                assert!(trained.get(input).is_none_or(|&t| t == output), "{name}: {} on training", rule.name);
            }
        }
        let unseen = task.unseen();
        assert!(!unseen.is_empty(), "{name}");
        for (i, x) in task.rules.iter().enumerate() {
            for y in &task.rules[..i] {
                let differ = unseen.iter().any(|&j| x.outputs[j] != y.outputs[j]);
                assert!(differ, "{name}: {} and {}", x.name, y.name);
            }
        }
    }
}

#[test]
fn words_stay_within_their_alphabets() {
    for name in settings() {
        let task = task(&name);
        let inputs = task.train.iter().map(|p| &p.input).chain(&task.holdout);
        let outputs = task.train.iter().map(|p| &p.output).chain(task.rules.iter().flat_map(|r| &r.outputs));
        assert!(inputs.flatten().all(|s| s.index() < task.source.len()), "{name}");
        assert!(outputs.flatten().all(|s| s.index() < task.target.len()), "{name}");
    }
}

#[test]
fn names_and_aliases_are_distinct_and_found() {
    let names: Vec<&str> =
        TASKS.iter().flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied())).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for name in names {
        let entry = entry(name).unwrap();
        let built = task(name).name;
        assert!(built.starts_with(&format!("{}:", entry.name)), "{built}");
        assert!(!entry.published().is_empty());
    }
}

#[test]
fn bad_settings_say_what_was_given_and_what_is_allowed() {
    let error = |text: &str| build(text, Seed::new(1)).unwrap_err().to_string();
    let unknown = "unknown task `counting`; there are: count-or-memorization, add-or-multiply, \
                   multiply-by-3, hierarchical-or-linear, composition-or-memorization, dax-compo, scan";
    assert_eq!(error("counting"), unknown);
    assert_eq!(error("scan:jump"), "task `scan`: `jump` is not a setting; write key=value");
    assert_eq!(error("scan:l=1"), "task `scan`: there is no setting `l`; there are: split");
    assert_eq!(error("scan:split=jump,split=jump"), "task `scan`: `split` is set twice");
    let names = "task `scan`: `split` cannot be right; it must be one of simple, jump, turn-left, length";
    assert_eq!(error("scan:split=right"), names);
    let letters = "task `dax-compo`: `primitives` cannot be 27; it must be a whole number from 2 to 26";
    assert_eq!(error("dax-compo:primitives=27"), letters);
    let shown = "task `composition-or-memorization`: `shown` cannot be 36; it must be fewer than `primitives`, which is 10";
    assert_eq!(error("comp-or-mem:primitives=10"), shown);
}

#[test]
fn vocabularies_have_the_published_sizes() {
    let golden = golden();
    for (name, sizes) in entries(&golden["vocabulary"]) {
        let files: BTreeMap<String, String> = to_text(&task(name)).into_iter().collect();
        let size = |file: &str| fairseq_vocabulary(files[file].lines()).len();
        assert_eq!([size("train.src"), size("train.dst")], numbers(sizes)[..], "{name}");
    }
}

#[test]
fn prompts_hold_the_pairs_and_mask_the_continuation() {
    for name in settings() {
        let task = task(&name);
        let form = prompt_form(&task);
        assert_eq!(form.vocabulary.len(), 2 + task.source.len() + task.target.len(), "{name}");
        assert_eq!((form.train.len(), form.holdout.len()), (task.train.len(), task.holdout.len()));
        for (pair, example) in task.train.iter().zip(&form.train) {
            let answer: Vec<_> = example.answers().collect();
            assert_eq!(answer.last(), Some(&form.eos()), "{name}");
            assert_eq!(form.output(&answer).as_ref(), Some(&pair.output), "{name}");
            assert_eq!(example.word[..example.mask[0]], form.prompt(&pair.input), "{name}");
        }
        for rule in &task.rules {
            for (example, prompt) in form.candidate(&task, rule).iter().zip(&form.holdout) {
                assert!(example.word.starts_with(prompt) && example.mask[0] == prompt.len(), "{name}");
            }
        }
    }
}

#[test]
fn the_prompt_of_the_paper() {
    let task = task("count-or-mem:length=3");
    let form = prompt_form(&task);
    assert_eq!(form.train[0].show(&form.vocabulary), "<eos> a a a <sep> [b] [b] [b] [<eos>]");
    let four = form.holdout.iter().find(|prompt| prompt.len() == 6).unwrap();
    assert_eq!(form.vocabulary.format(four), "<eos> a a a a <sep>");
    assert_eq!(form.vocabulary.tokens(), ["<eos>", "<sep>", "a", "b"]);
}

proptest! {
    #[test]
    fn any_allowed_setting_builds(length in 1_usize..200, n in 2_usize..60, m in 1_usize..59) {
        for name in ["count-or-mem", "add-or-mul", "mult-by-3"] {
            let built = build(&format!("{name}:length={length}"), Seed::new(1));
            prop_assert!(built.is_ok());
        }
        let nested = build(&format!("hierar-or-linear:depth={length}"), Seed::new(1));
        prop_assert!(nested.is_ok());
        let composed = build(&format!("comp-or-mem:primitives={n},shown={m}"), Seed::new(1));
        prop_assert_eq!(composed.is_ok(), m < n);
    }

    #[test]
    fn no_text_makes_it_panic(text in "(count-or-mem|dax-compo|scan|[:=,]|length|split|[0-9]+|\\PC){0,8}") {
        let _ = build(&text, Seed::new(1));
    }

    #[test]
    fn any_python_shuffle_is_a_permutation(n in 0_usize..300, seed: u64) {
        let mut order = published_order(n, seed);
        order.sort_unstable();
        prop_assert_eq!(order, (0..n).collect::<Vec<_>>());
    }
}
