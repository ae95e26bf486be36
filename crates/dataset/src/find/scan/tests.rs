//! The splits against the figures of the published files.

mod files;

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::TransductionPair;
use crate::find::tests::{entries, golden, numbers};
use crate::shared::shared;

#[test]
fn scan_has_the_published_figures() {
    let golden = golden();
    check_scan("all", &commands(), &golden["scan"]["all"], true);
    for &split in Split::ALL {
        let parts = split.parts(Seed::new(1));
        // Which commands a random split holds out is chance; how many is not.
        let exact = split != Split::Simple;
        for (part, pairs) in [("train", &parts.train), ("test", &parts.test)] {
            let name = format!("{}/{part}", split.name());
            check_scan(&name, pairs, &golden["scan"][&name], exact);
        }
    }
}

fn check_scan(name: &str, pairs: &[TransductionPair], golden: &Value, exact: bool) {
    let count = |n: usize| Value::from(n as u64);
    assert_eq!(count(pairs.len()), golden["lines"], "{name}");
    let unique: BTreeSet<_> = pairs.iter().collect();
    assert_eq!(count(unique.len()), golden["unique"], "{name}");
    if !exact {
        return;
    }
    let range = |lengths: Vec<usize>| vec![*lengths.iter().min().unwrap(), *lengths.iter().max().unwrap()];
    let inputs = range(pairs.iter().map(|p| p.input.len()).collect());
    assert_eq!(inputs, numbers(&golden["command_length"]), "{name}");
    let outputs = range(pairs.iter().map(|p| p.output.len()).collect());
    assert_eq!(outputs, numbers(&golden["target_length"]), "{name}");
    let total: usize = pairs.iter().map(|p| p.output.len()).sum();
    let mean = total as f64 / pairs.len() as f64;
    assert!((mean - golden["mean_target"].as_f64().unwrap()).abs() <= 0.000_5, "{name}: {mean}");
    let jump = source().symbol("jump").unwrap();
    let bare = pairs.iter().filter(|p| p.input == [jump]).count();
    assert_eq!(count(bare), golden["bare_jump"], "{name}");
    let with = pairs.iter().filter(|p| p.input.contains(&jump)).count();
    assert_eq!(count(with), golden["with_jump"], "{name}");
}

#[test]
fn scan_parts_are_disjoint_and_follow_the_seed() {
    for &split in Split::ALL {
        let parts = split.parts(Seed::new(1));
        let train: BTreeSet<_> = parts.train.iter().collect();
        assert!(parts.test.iter().all(|pair| !train.contains(pair)), "{split:?}");
        assert_eq!(parts, split.parts(Seed::new(1)));
        assert_ne!(parts, split.parts(Seed::new(2)));
        let both: BTreeSet<_> = parts.train.iter().chain(&parts.test).collect();
        assert_eq!(both.len(), 20_910);
    }
}

#[test]
fn scan_lines_are_published_lines() {
    let Some(path) = shared("golden/find_golden.json") else { return };
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let jump = Split::Jump.parts(Seed::new(1));
    let all = commands();
    for (part, lines) in entries(&golden["SCAN"]["first_lines"]) {
        let pairs = match part.as_str() {
            "jump_train" => &jump.train,
            "jump_test" => &jump.test,
            _ => &all,
        };
        let ours = write_lines(pairs);
        let ours: BTreeSet<&str> = ours.lines().collect();
        for line in lines.as_array().unwrap() {
            assert!(ours.contains(line.as_str().unwrap()), "{part}: {line}");
        }
    }
}

#[test]
fn training_never_uses_the_held_out_primitive_but_alone() {
    for split in [Split::Jump, Split::TurnLeft] {
        let primitive = split.primitive().unwrap();
        let name = split.name().replace('-', " ");
        assert_eq!(source().format(&primitive.input), name);
        assert_eq!(interpret(&name).unwrap(), [target().format(&primitive.output)]);
        let text = write_lines(&split.parts(Seed::new(1)).train);
        let uses = text.lines().filter(|line| line.contains(&name));
        assert!(uses.clone().all(|line| line.starts_with(&format!("IN: {name} OUT:"))), "{split:?}");
        assert_eq!(uses.count() * 10, text.lines().count());
    }
}

/// The order of lines is ours; a change of streams or of the grammar's order must not go unseen.
#[test]
fn splits_are_the_pinned_bytes() {
    let hash =
        |pairs: &[TransductionPair]| blake3::hash(write_lines(pairs).as_bytes()).to_hex()[..16].to_owned();
    let of = |split: &Split| {
        let parts = split.parts(Seed::new(1));
        [hash(&parts.train), hash(&parts.test)]
    };
    let hashes: Vec<_> = Split::ALL.iter().map(of).collect();
    let simple = ["fa23edf15ca1b53e", "b7ef7d6e101a4f67"];
    let jump = ["a22fda9f10bfeae8", "d1d4506678b2e61e"];
    let turn_left = ["1604300dc93f7188", "b3c42e213cccb1ca"];
    let length = ["d98c590ae03dcf92", "c328ea56b6a6a923"];
    assert_eq!(hashes, [simple, jump, turn_left, length]);
}
