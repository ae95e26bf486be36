//! Readers of what is typed: names of languages with their settings, strings, and whole command lines.

use std::process::{Command, Stdio};

use wug_lab::dataset::{MemoryFiles, Seed};
use wug_lab::language::registry::{self, LANGUAGES};
use wug_lab::language::{Language, Reading};

use super::{Fuzzed, file, text};

/// Every language, plain and with its settings.
fn names() -> Vec<String> {
    let with = |entry: &registry::LanguageEntry| {
        let settings: Vec<String> =
            entry.parameters.iter().map(|p| format!("{}={}", p.name, p.default)).collect();
        format!("{}:{}", entry.name, settings.join(","))
    };
    let plain = LANGUAGES.iter().map(|entry| entry.name.to_owned());
    plain.chain(LANGUAGES.iter().filter(|entry| !entry.parameters.is_empty()).map(with)).collect()
}

fn built(name: &str, reading: Reading) -> Option<Box<dyn Language>> {
    registry::find(name).and_then(|named| named.build(reading)).ok()
}

pub(crate) fn name() -> Fuzzed {
    let corpus = names().iter().map(|name| file("name", name.as_bytes())).collect();
    Fuzzed::new(corpus, |files| {
        let name = text(files, "name");
        let readings = [Reading::Corrected, Reading::Published];
        readings
            .into_iter()
            .filter_map(|reading| built(&name, reading))
            .map(|language| look(language.as_ref()))
            .count()
            > 0
    })
}

/// Cheap uses of a language.
fn look(language: &dyn Language) {
    let mut rng = Seed::new(0).rng();
    for word in language.members(4).take(20) {
        assert!(language.contains(&word), "{}", language.alphabet().format(&word));
    }
    if let Ok(distribution) = language.by_length(0..=12) {
        let word = distribution.sample(&mut rng);
        assert!(language.contains(&word), "{}", language.alphabet().format(&word));
        assert!(distribution.log_prob(&word) <= 1e-9);
    }
    if let Some(natural) = language.natural() {
        natural.sample(&mut rng);
    }
    let _ = language.count(3);
    language.next_sets(&[]);
}

pub(crate) fn string() -> Fuzzed {
    let case = |entry: &registry::LanguageEntry| {
        let strings = entry.members.iter().chain(entry.nonmembers);
        let mut files = file("language", entry.name.as_bytes());
        files.0.insert("strings".to_owned(), strings.copied().collect::<Vec<_>>().join("\n").into_bytes());
        files
    };
    Fuzzed::new(LANGUAGES.iter().map(case).collect(), |files| {
        let Some(language) = built(&text(files, "language"), Reading::Corrected) else { return false };
        // More would measure cubic parsers.
        let strings = text(files, "strings");
        strings
            .lines()
            .take(50)
            .filter(|line| line.len() < 300)
            .filter(|line| check(language.as_ref(), line))
            .count()
            > 0
    })
}

/// What `wug check` does with a line.
fn check(language: &dyn Language, line: &str) -> bool {
    let Ok(word) = language.alphabet().parse(line) else { return false };
    let sets = language.next_sets(&word);
    assert_eq!(sets.last().is_some_and(wug_lab::language::NextSet::end), language.contains(&word), "{line}");
    if let Some(near) = language.automaton().and_then(|dfa| dfa.nearest(&word)) {
        assert!(language.contains(&near.word) && (near.distance == 0) == language.contains(&word), "{line}");
    }
    if let Ok(distribution) = language.by_length(word.len()..=word.len()) {
        distribution.log_prob(&word);
    }
    language.natural().map(|natural| natural.log_prob(&word));
    true
}

const COMMANDS: &[&str] = &[
    "check\nparity\n0110\n--next\n--distance\n--prob\n--json",
    "check\nnested:terminals=5,classes=3\n--reading\npublished\na1 b1\n--next",
    "check\ndyck-2-3\n(0 (1 )1 )0\n--prob",
    "show\ncycle-navigation\n--dot",
    "show\nan-bn:prior=0.1\n--json",
    "show\nqa",
    "list\nlanguages\n--json",
    "sample\nmajority\n-n\n5\n--length\n10..20\n--negative\n--json\n--seed\n3",
    "sample\nan-bn:prior=0.1\n--natural",
    "run\nquickstart\n--scale\nsmoke\n--set\nseeds=1\n--set\nlearners=lstm,rnn\n--json",
    "run\nbliss_table2\n--scale\nquick\n--set\nfactors=1,2\n--jobs\n2\n--checkpoint\n3",
    "validate\nnothing\n--format\nflare\n--language\nparity\n--json",
    "report\nnothing\n--format\nmarkdown",
    "export\nnothing\n--format\ncsv",
    "completions\nbash",
    "man\ndata",
];

/// The arguments of a command, one per line. Only commands that write nothing are run, in an empty directory.
pub(crate) fn command() -> Fuzzed {
    let corpus: Vec<MemoryFiles> = COMMANDS.iter().map(|args| file("arguments", args.as_bytes())).collect();
    let dir = tempfile::tempdir().unwrap();
    Fuzzed::new(corpus, move |files| {
        let arguments = text(files, "arguments");
        let mut arguments: Vec<&str> = arguments.lines().filter(|line| !line.contains(['\0', '/'])).collect();
        let allowed = COMMANDS.iter().filter_map(|args| args.lines().next());
        let Some(name) = arguments.first().filter(|name| allowed.clone().any(|a| a == **name)) else {
            return false;
        };
        if *name == "run" {
            arguments.push("--plan");
        } else if *name == "sample" {
            arguments.extend(["-n", "3", "--length", "0..40"]);
        }
        if arguments.iter().any(|argument| argument.starts_with("--o") || *argument == "..") {
            return false;
        }
        // The limit on time is the child's own.
        let output = Command::new("sh")
            .args(["-c", "ulimit -t 10; exec \"$@\"", "sh"])
            .arg(assert_cmd::cargo::cargo_bin("wug"))
            .args(&arguments)
            .current_dir(dir.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=2)), "{arguments:?}: {}: {said}", output.status);
        true
    })
}
