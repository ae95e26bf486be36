//! The real binary: what it prints, how it fails, and that it leaves nothing half written.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::Value;

fn wug(args: &[&str]) -> (i32, String, String) {
    run(args, "")
}

fn run(args: &[&str], stdin: &str) -> (i32, String, String) {
    let output = Command::cargo_bin("wug").unwrap().args(args).write_stdin(stdin).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn ok(args: &[&str]) -> String {
    let (code, out, err) = wug(args);
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&ok(args)).unwrap()
}

/// Names of files below a directory, in order.
fn files(path: &Path) -> Vec<String> {
    fn walk(path: &Path, root: &Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, names);
            } else {
                names.push(path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let mut names = Vec::new();
    walk(path, path, &mut names);
    names.sort();
    names
}

#[test]
fn list_shows_the_registry() {
    let table = ok(&["list"]);
    assert!(table.starts_with("NAME"), "{table}");
    assert_eq!(table.lines().count(), 29);
    let languages = json(&["list", "languages", "--json"]);
    assert_eq!(languages.as_array().unwrap().len(), 28);
    assert_eq!(languages[0]["name"], "even-pairs");
    assert_eq!(json(&["list", "suites", "--json"]).as_array().unwrap().len(), 5);
    assert!(json(&["list", "tasks", "--json"]).as_array().unwrap().len() >= 16);
}

#[test]
fn show_prints_a_language_in_full() {
    assert_snapshot!(ok(&["show", "repeat-01"]), @r"
    name: repeat-01
    suite: flare
    class: regular
    summary: 01 repeated any number of times
    definition: { (01)^n | n >= 0 }
    citation: Butoi et al. 2025, Training Neural Networks as Recognizers of Formal Languages (ICLR), Table 1 and App. E
    alphabet: 0 1
    strings of length 0: 1, 1: 0, 2: 1, 3: 0, 4: 1, 5: 0, 6: 1, 7: 0, 8: 1, …
    members:
      (the empty string)
      0 1
      0 1 0 1
    nonmembers:
      0
      1 0 1 0 1
      0 1 1 0 0 1
    automaton: 2 states, 2 transitions
    ");
    assert_snapshot!(ok(&["show", "repeat-01", "--dot"]), @r#"
    digraph {
      rankdir=LR;
      start [shape=point];
      0 [shape=doublecircle];
      1 [shape=circle];
      start -> 0;
      0 -> 1 [label="0"];
      1 -> 0 [label="1"];
    }
    "#);
}

/// Everything that is listed can be shown, as text and as JSON.
#[test]
fn everything_listed_can_be_shown() {
    for what in ["languages", "tasks", "suites", "learners", "protocols", "metrics", "experiments"] {
        for row in json(&["list", what, "--json"]).as_array().unwrap() {
            let name = row["name"].as_str().unwrap();
            let first = if what == "experiments" { "title = " } else { "name: " };
            assert!(ok(&["show", name]).starts_with(first), "{name}");
            assert!(json(&["show", name, "--json"])["name"].is_string(), "{name}");
        }
    }
}

#[test]
fn sample_prints_members_and_check_knows_them() {
    for row in json(&["list", "languages", "--json"]).as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        let strings = ok(&["sample", name, "-n", "20", "--seed", "3"]);
        assert_eq!(strings.lines().count(), 20, "{name}");
        assert_eq!(strings, ok(&["sample", name, "-n", "20", "--seed", "3"]), "{name}");
        let (code, verdicts, _) = run(&["check", name, "-", "--prob", "--json"], &strings);
        assert_eq!(code, 0, "{name}");
        for line in verdicts.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(row["member"], true, "{name}: {line}");
            assert!(row["log_prob_given_length"].is_number(), "{name}: {line}");
        }
        let negatives = ok(&["sample", name, "-n", "20", "--negative"]);
        let (_, verdicts, _) = run(&["check", name, "--json"], &negatives);
        assert_eq!(verdicts.matches("\"member\":false").count(), 20, "{name}");
    }
}

#[test]
fn check_prints_text() {
    assert_snapshot!(ok(&["check", "dyck-2-3", "(0 )0", "--next"]), @r"
    member	(0 )0
         0  (start)      then: (0 (1 (end)
         1  (0           then: (0 (1 )0
         2  )0           then: (0 (1 (end)
    ");
    assert_snapshot!(ok(&["check", "repeat-01", "0110", "--distance"]), @"not a member	distance 2 from `0 1`	0 1 1 0");
    assert_snapshot!(ok(&["check", "an-bn", "aabb", "--prob"]), @"member	log-probability given its length 0.0, of itself -1.5606477482646683	a a b b");
}

#[test]
fn usage_errors_say_what_is_allowed() {
    let error = |args: &[&str]| {
        let (code, out, err) = wug(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        err
    };
    assert_snapshot!(error(&["show", "even-pair"]), @"wug: nothing is called `even-pair`: no language, task, suite, learner, protocol, metric or experiment; did you mean `even-pairs`?; `wug list` shows languages, `wug list --help` says what else");
    let learner = error(&["show", "lstm-stack"]);
    assert!(
        learner.contains("nothing is called `lstm-stack`") && !learner.contains("unknown language"),
        "{learner}"
    );
    let dyck = ok(&["show", "dyck-3-5"]);
    for fact in ["of 3 kinds, at most 5 deep", "kinds=3:", "depth=5:"] {
        assert!(dyck.contains(fact), "{fact}: {dyck}");
    }
    let (code, _, err) = wug(&["validate", "nodir"]);
    assert!(code == 2 && err.contains("there is no directory nodir"), "{err}");
    for command in ["data", "validate"] {
        assert!(ok(&[command, "--help"]).contains("lm-eval"), "{command}");
    }
    assert_snapshot!(error(&["sample", "parity", "--length", "0..0"]), @"wug: no string of the language has a length in 0..0; the nearest possible length is 1");
    assert_snapshot!(error(&["sample", "nested:terminals=0"]), @"wug: `nested`: `terminals` cannot be 0; it must be a whole number from 1 to 65535");
    assert_snapshot!(error(&["check", "parity", "012"]), @"wug: unknown token `2` at position 2; the alphabet is: 0 1");
    assert_snapshot!(error(&["check", "majority", "1", "--distance"]), @"wug: --distance needs a regular language, which `majority` is not");
    assert_snapshot!(error(&["show", "majority", "--dot"]), @"wug: `majority` is not regular, so it has no automaton to draw");
    assert_snapshot!(error(&["data", "flair", "--out", "x"]), @"wug: unknown suite `flair`; there are: bliss, wade, flare, tse, find");
    assert_snapshot!(error(&["data", "flare/parity", "--out", "x", "--set", "test.sise=3"]), @"wug: `flare`: there is no setting `test.sise`; did you mean `test.size`? There are: training.size, training.lengths, validation-short.size, validation-short.lengths, validation-long.size, validation-long.lengths, test.size, test.lengths, test-short-held-out.size, test-short-held-out.lengths, test-edit-distance.size, test-edit-distance.lengths");
    assert_snapshot!(error(&["data", "wade/qa", "--out", "x", "--format", "scan"]), @"wug: wade/qa is not written as `scan`; it can be: jsonl, parquet");
    assert_snapshot!(error(&["data", "tse/an-bn", "--out", "x"]), @"wug: asked for 110000 distinct strings of length 4..30, but only 14 exist");
    assert_snapshot!(error(&["data", "tse/nested", "--out", "x", "--set", "ood.lengths=20..100"]), @"wug: the greater lengths cannot be 20..100; they must begin above the lengths of training, 4..30");
    assert!(error(&["sample", "parity", "--length", "9..3"]).contains("A not above B"));
    assert!(error(&["sample", "parity", "--reading", "wrong"]).contains("there are: published, corrected"));
    assert!(!Path::new("x").exists());
}

const SMALL: &[(&str, &[&str])] = &[
    ("flare/parity", &["--set", "training.size=200", "--set", "test.size=50"]),
    ("flare/stack-manipulation", &["--set", "training.size=200", "--reading", "published"]),
    ("flare/parity", &["--format", "flare", "--set", "training.size=200"]),
    ("flare/parity", &["--format", "parquet", "--set", "training.size=200"]),
    ("bliss/dyck-1", &["--set", "sizes=100,1000", "--set", "tests=stored"]),
    ("bliss/dyck-2", &["--format", "jsonl"]),
    ("bliss/dyck-2", &["--reading", "published", "--set", "tests=stored"]),
    ("bliss/dyck-2", &["--reading", "published", "--format", "bliss"]),
    ("bliss/dyck-1", &["--set", "sizes=1000", "--set", "tests=stored", "--format", "parquet"]),
    ("bliss/an-bm-cn-plus-m", &["--reading", "published"]),
    ("tse/nested:terminals=5", &["--set", "train=90", "--set", "test=50", "--set", "ood=50"]),
    ("tse/np-vp", &["--format", "jsonl", "--set", "train=90", "--set", "test=50", "--set", "ood=50"]),
    (
        "tse/nested:terminals=5",
        &["--format", "tse", "--set", "train=90", "--set", "test=50", "--set", "ood=50"],
    ),
    ("tse/np-vp", &["--format", "parquet", "--set", "train=90", "--set", "test=50", "--set", "ood=50"]),
    ("wade/qa", &["--set", "n=100", "--format", "parquet"]),
    ("wade/hard-sym-ct", &["--set", "n=100", "--reading", "published"]),
    ("find/count-or-memorization:length=10", &[]),
    ("find/composition-or-memorization:shown=6", &["--format", "find"]),
    ("find/composition-or-memorization:shown=6", &["--format", "parquet"]),
    ("find/scan", &[]),
];

/// Every suite: written, valid without naming its format, and the same bytes when written again.
#[test]
fn data_validate_and_repeat() {
    for (what, extra) in SMALL {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let dir = root.path().join(name);
            let mut args = vec!["data", what, "--out", dir.to_str().unwrap()];
            args.extend(*extra);
            ok(&args);
            dir
        };
        let (one, two) = (write("one"), write("two"));
        assert!(
            ["wug.json", "README.md"].iter().all(|name| files(&one).contains(&(*name).to_owned())),
            "{what}"
        );
        assert_eq!(files(&one), files(&two), "{what}");
        for name in files(&one) {
            assert_eq!(
                std::fs::read(one.join(&name)).unwrap(),
                std::fs::read(two.join(&name)).unwrap(),
                "{what} {name}"
            );
        }
        let (code, out, err) = wug(&["validate", one.to_str().unwrap(), "--json"]);
        assert_eq!(code, 0, "{what} {extra:?}: {out}{err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(report["errors"], 0, "{what}");
        assert!(!report["splits"].as_object().unwrap().is_empty(), "{what}");
    }
}

/// A directory of many data sets: each is checked in the reading of its own manifest, or one by name.
#[test]
fn directories_of_many_sets_are_checked_one_by_one() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().to_str().unwrap();
    let sizes = [
        "training.size=60",
        "validation-short.size=9",
        "validation-long.size=9",
        "test.size=9",
        "test-short-held-out.size=9",
    ];
    let mut args = vec!["data", "flare", "--reading", "published", "--out", dir];
    args.extend(sizes.iter().flat_map(|size| ["--set", size]));
    ok(&args);
    let reports = json(&["validate", dir, "--json"]);
    assert_eq!(reports.as_array().unwrap().len(), 18);
    assert!(
        reports.as_array().unwrap().iter().all(|r| r["reading"] == "published" && r["errors"] == 0),
        "{reports}"
    );
    let one = json(&["validate", dir, "--language", "Stack_Manipulation", "--json"]);
    assert_eq!(one["language"], "stack-manipulation");
    assert_eq!(wug(&["validate", dir, "--language", "an-bn"]).0, 2);
}

/// Changed corpora are found.
#[test]
fn corpora_that_were_tampered_with_are_found() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    ok(&["data", "bliss/an-bn", "--out", &path("c"), "--set", "sizes=1000", "--set", "tests=stored"]);
    let text = std::fs::read_to_string(path("c/test_1000.txt")).unwrap();
    let fewer: Vec<&str> = text.lines().skip(1).collect();
    std::fs::write(path("c/test_1000.txt"), fewer.join("\n")).unwrap();
    std::fs::remove_file(path("c/wug.json")).unwrap();
    let (code, out, _) = wug(&["validate", &path("c"), "--language", "an-bn", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert!(report["splits"]["test_1000.txt"]["strings_that_differ"].as_u64().unwrap() >= 999, "{report}");
}

#[test]
fn force_does_not_mix_data_sets() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().to_str().unwrap();
    ok(&["data", "flare/parity", "--out", dir, "--set", "training.size=20"]);
    assert!(root.path().join("test-edit-distance.jsonl").exists());
    ok(&["data", "flare/majority", "--out", dir, "--set", "training.size=20", "--force"]);
    assert!(!root.path().join("test-edit-distance.jsonl").exists());
    assert_eq!(wug(&["validate", dir]).0, 0);
}

#[test]
fn huge_numbers_are_refused() {
    for args in [
        ["sample", "parity", "--length", "1000000000..1000000000"],
        ["sample", "marked-copy", "--length", "18446744073709551614..18446744073709551615"],
        ["data", "bliss/an-bn", "--set=sizes=1", "--out=nowhere"],
        ["data", "tse/nested:classes=1", "--out", "nowhere"],
        ["show", "dyck-1-40000", "--dot", "--json"],
        ["sample", "an-bn:prior=1e-300", "--natural", "--json"],
    ] {
        let (code, out, err) = wug(&args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
    }
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn scan_has_its_published_layout() {
    let root = tempfile::tempdir().unwrap();
    ok(&["data", "find/scan", "--format", "scan", "--out", root.path().to_str().unwrap()]);
    let count = |name: &str| std::fs::read_to_string(root.path().join(name)).unwrap().lines().count();
    assert_eq!(count("tasks.txt"), 20_910);
    assert_eq!(count("add_prim_split/tasks_train_addprim_jump.txt"), 14_670);
    assert_eq!(count("add_prim_split/tasks_test_addprim_jump.txt"), 7_706);
}

#[test]
fn published_bliss_is_plain_text_of_known_names() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().to_str().unwrap();
    let said = ok(&["data", "bliss/dyck-1", "--reading", "published", "--out", dir]);
    assert!(said.contains("The 15000 test strings are described in `tests.jsonl`"), "{said}");
    ok(&["data", "bliss/dyck-1", "--reading", "published", "--out", dir, "--set", "tests=stored", "--force"]);
    let expected = [
        "README.md",
        "test.txt",
        "tests.jsonl",
        "train_1000_p_0_3_seed_100.txt",
        "train_100_p_0_3_seed_100.txt",
        "train_250_p_0_3_seed_100.txt",
        "train_500_p_0_3_seed_100.txt",
        "wug.json",
    ];
    assert_eq!(files(root.path()), expected);
}

#[test]
fn invalid_data_are_found_and_the_exit_code_is_1() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().to_str().unwrap();
    let sizes = ["--set", "training.size=50", "--set", "test.size=20"];
    ok(&[&["data", "flare/parity", "--format", "flare", "--out", dir][..], &sizes].concat());
    let labels = root.path().join("labels.txt");
    let flipped: String = std::fs::read_to_string(&labels)
        .unwrap()
        .chars()
        .map(|c| match c {
            '0' => '1',
            '1' => '0',
            other => other,
        })
        .collect();
    // The other files are joined to labels by line, so they no longer fit.
    std::fs::write(&labels, &flipped).unwrap();
    for file in ["next-symbols.jsonl", "num-edits.txt", "log-probabilities.txt"] {
        std::fs::remove_file(root.path().join(file)).unwrap();
    }
    let (code, out, _) = wug(&["validate", dir, "--format", "flare", "--language", "parity", "--json"]);
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["splits"]["training"]["label_errors"], 50);
    assert_eq!(report["splits"]["test"]["label_errors"], 0);
    assert_eq!(report["manifest"]["changed_files"], 1);
    assert_eq!(report["manifest"]["missing_files"], 3);
}

#[test]
fn failures_are_clear_and_leave_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let failed = |args: &[&str], expected: &str| {
        let (code, _, err) = wug(args);
        assert_eq!(code, 1, "{args:?}: {err}");
        assert!(err.contains(expected) && !err.contains("panicked"), "{args:?}: {err}");
    };
    // A directory below a file.
    std::fs::write(path("file"), "x").unwrap();
    failed(&["data", "flare/parity", "--out", &path("file/below")], "file/below");
    // Files in the way.
    std::fs::create_dir(path("taken")).unwrap();
    std::fs::write(path("taken/README.md"), "mine").unwrap();
    failed(&["data", "flare/parity", "--out", &path("taken"), "--set", "training.size=9"], "--force");
    assert_eq!(std::fs::read_to_string(path("taken/README.md")).unwrap(), "mine");
    assert_eq!(files(Path::new(&path("taken"))), ["README.md"]);
    // A truncated archive, and a file that is no archive.
    ok(&["data", "bliss/dyck-1", "--reading", "published", "--format", "bliss", "--out", &path("bliss")]);
    let zip = path("bliss/train_1000_p_0_3_seed_100.txt.zip");
    let bytes = std::fs::read(&zip).unwrap();
    std::fs::write(&zip, &bytes[..bytes.len() / 2]).unwrap();
    failed(&["validate", &path("bliss")], "train_1000_p_0_3_seed_100.txt.zip: the file is truncated");
    std::fs::write(&zip, b"hello").unwrap();
    failed(&["validate", &path("bliss")], "not a zip archive");
    // A malformed line.
    ok(&["data", "flare/first", "--format", "flare", "--out", &path("first"), "--set", "training.size=9"]);
    std::fs::write(path("first/main.tok"), "0 1\n0 x\n").unwrap();
    failed(&["validate", &path("first")], "labels.txt");
    // More strings than there are: nothing is written.
    let (code, _, err) = wug(&["data", "tse/np-vp:terminals=1", "--out", &path("few")]);
    assert_eq!(code, 2);
    assert!(err.contains("but only 14 exist"), "{err}");
    assert!(!Path::new(&path("few")).exists());
}

#[test]
fn help_completions_and_manual_are_there() {
    assert!(ok(&["--help"]).contains("First steps"));
    for command in ["list", "show", "sample", "check", "data", "validate"] {
        assert!(ok(&[command, "--help"]).contains("Example"), "{command}");
        assert!(ok(&["man", command]).contains(".TH"), "{command}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(ok(&["completions", shell]).contains("wug"), "{shell}");
    }
    assert_eq!(wug(&["man", "nothing"]).0, 2);
    assert_eq!(wug(&["nonsense"]).0, 2);
}

/// The README's commands work as printed, and print what it says.
#[test]
fn readme_is_true() {
    let readme = include_str!("../../../README.md");
    let root = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for part in block.split("$ ").skip(1) {
            let (command, expected) = part.split_once('\n').unwrap_or((part, ""));
            let Some(arguments) = command.strip_prefix("wug ") else { continue };
            let output = Command::cargo_bin("wug")
                .unwrap()
                .args(words(arguments))
                .current_dir(root.path())
                .output()
                .unwrap();
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            let printed = String::from_utf8(output.stdout).unwrap();
            if expected.contains("…\n") {
                for piece in expected.split("…\n") {
                    assert!(printed.contains(piece.trim_end()), "{command} prints\n{printed}");
                }
            } else if !expected.trim().is_empty() {
                assert_eq!(printed.trim_end(), expected.trim_end(), "{command}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}

/// Splits a command line, with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
