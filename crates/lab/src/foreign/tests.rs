//! Children of every kind, the hostile ones first: none may hang a run, be lost or stay.

mod flood;
mod planned;

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wug_dataset::Seed;
use wug_language::registry;
use wug_learner::interface::{NextSymbol as _, Recognizer as _};
use wug_learner::registry::Settings;
use wug_score::RunResult;

use super::child::ChildProcess;
use super::*;
use crate::Keep;
use crate::spec::{Experiment, Scale};
use crate::sweep::{PlannedRun, Sweep};
use crate::work::{Observer, Progress, WorkerOptions, work};

const LIMITS: Limits = Limits { fit: Duration::from_secs(2), answer: Duration::from_secs(2) };

/// A child in Python. `at` says what is done at which message; all others are answered well.
fn child(at: &str, does: &str) -> Vec<String> {
    let script = format!(
        r#"
import json, os, sys, time
good = {{
    "hello": '{{"hello": {{"protocol": 1, "roles": ["recognizer"], "version": "1"}}}}',
    "fit": '{{"fitted": {{}}}}',
    "ask": '{{"answers": [1.5, -2]}}',
}}
for line in sys.stdin:
    [what] = json.loads(line)
    if what == "goodbye": break
    if what == "{at}":
        {does}
    print(good[what], flush=True)
"#
    );
    ["python3", "-c", &script].map(str::to_owned).to_vec()
}

fn task() -> Task {
    let language = registry::build("parity").unwrap();
    let labels = Some(vec![false, true]);
    let examples = Examples { strings: vec![vec![1], vec![2, 1]], labels, outputs: None };
    Task::new(Role::Recognizer, Seed::new(1), &Settings::default(), language.alphabet().tokens(), examples)
}

/// A whole conversation: two strings, asked once.
fn talk(command: &[String], host: &Host) -> Result<Vec<f64>, String> {
    let talk = || {
        let mut child = ChildProcess::begin(command, LIMITS, host)?;
        child.fit(&task(), &mut go_on)?;
        let mut recognizer = ForeignRecognizer(Box::new(child));
        recognizer.ask(&[&[1][..], &[2, 1]])
    };
    talk().map_err(|failure: Failure| format!("{failure:?}"))
}

/// What becomes of each child, within seconds, and what the message must say.
const HOSTILE: [(&str, &str, &str, &str); 17] = [
    (
        "exits at once",
        "hello",
        "sys.exit('out of paper')",
        "ended (exit status: 1) before it answered `hello`. Its last words: out of paper",
    ),
    ("exits while fitted", "fit", "os._exit(3)", "ended (exit status: 3) before it answered `fit`"),
    ("is killed by a signal", "fit", "os.abort()", "before it answered `fit`"),
    ("never answers", "ask", "time.sleep(60)", "did not answer `ask` within 2s"),
    (
        "answers about fewer strings",
        "ask",
        r#"print('{"answers": [1]}', flush=True); continue"#,
        "was asked about 2 strings and answered about 1",
    ),
    (
        "answers with too many numbers",
        "ask",
        r#"print('{"answers": [[1, 2], 3]}', flush=True); continue"#,
        "string 0 of the question (1 symbols) has 2 numbers; there must be 1",
    ),
    ("NaN", "ask", r#"print('{"answers": [NaN, 1]}', flush=True); continue"#, "cannot be read"),
    (
        "a number too large",
        "ask",
        r#"print('{"answers": [1e999, 1]}', flush=True); continue"#,
        "cannot be read",
    ),
    (
        "a gigabyte without an end of line",
        "ask",
        "\n        while True: sys.stdout.write('x' * (1 << 20))",
        "is longer than",
    ),
    (
        "a gigabyte of lines",
        "fit",
        "\n        while True: sys.stdout.write('{}\\n' * (1 << 18))",
        "cannot be read",
    ),
    (
        "a wrong version",
        "hello",
        r"good[what] = good[what].replace('1,', '2,')",
        "speaks version 2 of the protocol",
    ),
    (
        "an unknown role",
        "hello",
        r"good[what] = good[what].replace('recognizer', 'oracle')",
        "has a role `oracle`; the roles are: recognizer, next-symbol",
    ),
    (
        "talks nonsense",
        "fit",
        "print('Epoch 1: loss 0.3', flush=True)",
        "cannot be read (expected value at line 1 column 1): `Epoch 1: loss 0.3`",
    ),
    (
        "closes its stdin",
        "fit",
        "os.close(0); print(good['fit'], flush=True); time.sleep(60)",
        "before it answered `ask`",
    ),
    (
        "writes slowly",
        "ask",
        "\n        for c in good['ask'] * 99: sys.stdout.write(c); sys.stdout.flush(); time.sleep(0.05)",
        "did not answer `ask` within 2s",
    ),
    (
        "speaks twice",
        "fit",
        "print(good['fit'], flush=True); time.sleep(0.2)",
        "answered `ask` with `fitted`",
    ),
    (
        "says what is wrong",
        "fit",
        r"print(json.dumps({'error': 'no memory'}), flush=True); continue",
        "answered `fit` with an error: no memory",
    ),
];

#[test]
fn hostile_children_end_with_a_message_in_time() {
    for (name, at, does, expected) in HOSTILE {
        let begun = Instant::now();
        let outcome = talk(&child(at, does), &Host::default());
        let took = begun.elapsed();
        let message = outcome.expect_err(name);
        let expected = expected.replace('"', "\\\"");
        // Two answers at once are either found early or taken for the answer to the next question.
        let early = name == "speaks twice" && message.contains("spoke before it was asked");
        assert!(message.contains(&expected) || early, "{name}: {message}");
        assert!(took < Duration::from_secs(15), "{name}: {took:?}");
        let _ = writeln!(
            std::io::stderr(),
            "| {name} | {} | {:.2} s |",
            message.replace('\n', " "),
            took.as_secs_f64()
        );
    }
}

#[test]
fn a_healthy_child_answers_and_is_waited_for() {
    assert_eq!(talk(&child("", "pass"), &Host::default()).unwrap(), [1.5, -2.0]);
}

/// Whether a process is there (a zombie is).
fn is_there(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn what_a_child_starts_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pids");
    for (end, expected) in [("", None), ("os._exit(0)", Some("ended"))] {
        let does = format!(
            "\n        if os.fork() == 0:\n            open({path:?}, 'w').write(f'{{os.getpid()}} {{os.getppid()}}'); time.sleep(60)\n        time.sleep(0.3); {end}"
        );
        let begun = Instant::now();
        let outcome = talk(&child("fit", &does), &Host::default());
        match expected {
            None => assert_eq!(outcome.unwrap(), [1.5, -2.0]),
            Some(words) => assert!(outcome.unwrap_err().contains(words)),
        }
        assert!(begun.elapsed() < Duration::from_secs(10));
        let pids = std::fs::read_to_string(&path).unwrap();
        // Whoever is orphaned is waited for by the system, a little later.
        let until = Instant::now() + Duration::from_secs(5);
        let gone = |pid: &str| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        while !pids.split(' ').all(gone) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(pids.split(' ').all(gone), "{pids}");
        let leader: u32 = pids.split(' ').next_back().unwrap().parse().unwrap();
        assert!(!is_there(leader), "a zombie");
    }
}

#[test]
fn a_run_that_is_to_stop_does_not_wait_for_a_child() {
    let stop = Arc::new(AtomicBool::new(true));
    let host = Host { stop, ..Host::default() };
    let begun = Instant::now();
    assert_eq!(talk(&child("hello", "time.sleep(60)"), &host).unwrap_err(), "Stopped");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn stderr_goes_to_the_log_up_to_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let host = Host { log: Some(dir.path().join("run.stderr")), ..Host::default() };
    let chatty = child("fit", "\n        for i in range(40): sys.stderr.write('x' * (1 << 16))");
    talk(&chatty, &host).unwrap();
    let length = std::fs::metadata(dir.path().join("run.stderr")).unwrap().len();
    assert!((1 << 20..(1 << 20) + (1 << 15)).contains(&length), "{length}");
}

/// A learner of this program, for tests: it says what it was asked.
struct Fixed(Vec<f64>);

impl Conversation for Fixed {
    fn fit(&mut self, _: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
        Ok(Fitted::default())
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        Ok(self.0.iter().copied().cycle().take(question.all_numbers()).collect())
    }
}

#[test]
fn probabilities_must_add_up_to_one() {
    let model =
        |row: [f64; 3]| ForeignNextSymbol { conversation: Box::new(Fixed(row.to_vec())), vocabulary: 3 };
    let rows = model([0.5, 0.25, 0.25]).rows(&[&[0, 1][..], &[0]]).unwrap();
    assert_eq!(rows, [vec![0.5, 0.25, 0.25, 0.5, 0.25, 0.25], vec![0.5, 0.25, 0.25]]);
    let error = |row| format!("{:?}", model(row).rows(&[&[0, 1]]).unwrap_err());
    assert!(error([0.5, 0.5, 0.5]).contains("the probabilities after `0` add up to 1.5"));
    assert!(error([1.5, -0.5, 0.0]).contains("a probability after `0` is -0.5"));
    assert!(error([f64::NAN, 0.5, 0.5]).contains("a probability after `0` is NaN"));
    let logs = model([0.5, 0.25, 0.25]).log_probs(&[0, 1, 2, 0]).unwrap();
    assert_eq!(logs[1..], [0.25_f64.ln(), 0.25_f64.ln(), 0.5_f64.ln()]);
    let mut recognizer = ForeignRecognizer(Box::new(Fixed(vec![2.0])));
    assert_eq!(recognizer.log_odds(&[&[1, 2][..], &[]]).unwrap(), [2.0, 2.0]);
}

/// A learner that takes its time.
struct Slow;

impl Conversation for Slow {
    fn fit(&mut self, _: &Task, _: Hear<'_>) -> Result<Fitted, Failure> {
        std::thread::sleep(Duration::from_millis(1100));
        Ok(Fitted::default())
    }

    fn ask(&mut self, _: Question<'_>) -> Result<Vec<f64>, Failure> {
        Ok(Vec::new())
    }
}

#[test]
fn learners_of_this_program_have_limits_too() {
    let begin: Box<Begin> = Box::new(|| Ok(Box::new(Slow) as Box<dyn Conversation>));
    let learners = Arc::new(BTreeMap::from([("slow".to_owned(), begin)]));
    let host = Host { learners, ..Host::default() };
    let plan = |fit| {
        let limits = Limits { fit: Duration::from_secs(fit), ..Limits::default() };
        limits.external(LearnerPlace::Host("test".to_owned()), "1".to_owned())
    };
    let fitted = |fit| host.begin("slow", &plan(fit)).unwrap().fit(&task(), &mut go_on);
    assert!(fitted(60).is_ok());
    let error = format!("{:?}", fitted(1).unwrap_err());
    assert!(error.contains("it took 1.1 s to be fitted; it may take 1 s"), "{error}");
}

#[test]
fn a_hello_has_a_limit_of_its_own_unless_one_is_chosen() {
    assert_eq!(Limits::default().hello(), Duration::from_secs(20));
    let chosen = Limits { answer: Duration::from_secs(50), ..Limits::default() };
    assert_eq!(chosen.hello(), Duration::from_secs(50));
}

#[test]
fn outputs_are_not_rounded_to_ids() {
    for (answer, expected) in [
        ("[3, 1]", None),
        ("[3, 1.5]", Some("1.5")),
        ("[-1]", Some("-1")),
        ("[4294967297]", Some("4294967297")),
    ] {
        let does = format!("print('{{\"answers\": [{answer}]}}', flush=True); continue");
        let mut child = ChildProcess::begin(&child("ask", &does), LIMITS, &Host::default()).unwrap();
        match (child.output(&[1], 1..=9), expected) {
            (Ok(output), None) => assert_eq!(output, [3, 1]),
            (Err(error), Some(id)) => {
                let error = format!("{error:?}");
                assert!(error.contains(&format!("an output has {id}; outputs are made of ids")), "{error}");
            }
            (other, _) => panic!("{answer}: {other:?}"),
        }
    }
}

#[test]
fn a_transducer_that_is_loaded_knows_the_symbols_of_its_outputs() {
    let mut task = task();
    assert!(message::load(&task, "x")["load"].get("output_alphabet").is_none());
    task.output_alphabet = Some(vec!["b".to_owned()]);
    assert_eq!(message::load(&task, "x")["load"]["output_alphabet"], serde_json::json!(["b"]));
}

#[derive(Default)]
struct Notes(std::sync::Mutex<Vec<String>>);

impl Observer for Notes {
    fn begins(&self, _: usize, _: &PlannedRun) {}
    fn epoch(&self, _: usize, _: usize, _: f64) {}
    fn evaluating(&self, _: usize, _: &str) {}
    fn ends(&self, _: usize, _: &RunResult, _: Duration, _: Progress) {}
    fn note(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

/// The results of an experiment, and what the observer was told.
fn results(text: &str, keep: Keep) -> (Vec<RunResult>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let experiment = Experiment::read("x", "x.toml", text, Scale::Paper, &[]).unwrap();
    let sweep = Sweep::begin(&dir.path().join("runs"), &experiment).unwrap();
    let notes = Notes::default();
    work(&sweep, WorkerOptions { keep, ..WorkerOptions::new(1) }, &notes).unwrap();
    (sweep.status().unwrap().results(), notes.0.into_inner().unwrap())
}

#[test]
fn a_child_without_a_hello_fails_its_runs_and_the_others_go_on() {
    let section = |command: &str| {
        format!(
            "title = \"x\"\n[[generalization]]\nlanguages = [\"dyck-1\"]\norder = 2\nfactors = [1]\nseeds = 1\n\
             learners = [{{ name = \"mine\", command = {command} }}, \"bigram\"]\n"
        )
    };
    let dies = section(r#"["python3", "-c", "import sys; sys.exit('out of paper')"]"#);
    let (results, notes) = results(&dies, Keep { models: true, ..Keep::default() });
    let message = |result: &RunResult| match &result.ending {
        wug_score::Ending::Failed { message } => message.clone(),
        other => format!("{other:?}"),
    };
    let messages: Vec<String> = results.iter().map(message).collect();
    assert!(messages[0].contains("before it answered `hello`. Its last words: out of paper"), "{messages:?}");
    assert_eq!(messages[1], "Finished");
    // Bigrams have no model that could be kept.
    assert_eq!(notes.iter().filter(|note| note.contains("`bigram` has no model")).count(), 1, "{notes:?}");
    let missing = section(r#"["/no/such/program"]"#);
    let error = Experiment::read("x", "x.toml", &missing, Scale::Paper, &[]).unwrap_err().to_string();
    assert!(error.contains("`/no/such/program` cannot be started"), "{error}");
}

#[test]
fn what_an_incremental_child_says_of_its_parameters_is_in_the_result() {
    let script = r#"
import json, sys
for line in sys.stdin:
    [(what, said)] = json.loads(line).items()
    if what == "goodbye": break
    answers = [[1] * len(p) for p in said["positions"]] if what == "ask" else None
    print(json.dumps({"hello": {"hello": {"protocol": 1, "roles": ["incremental"], "version": "1"}},
        "fit": {"fitted": PARAMETERS}, "observe": {"observed": {}}, "ask": {"answers": answers}}[what]), flush=True)
"#;
    for (said, expected) in [(r#"{"parameters": 7}"#, Some(7)), ("{}", None)] {
        let command = serde_json::json!(["python3", "-c", script.replace("PARAMETERS", said)]);
        let text = format!(
            "title = \"x\"\n[[speed]]\nlanguages = [\"qa\"]\nsequences = 20\nseeds = 1\n\
             learners = [{{ name = \"mine\", command = {command} }}]\n"
        );
        let (results, _) = results(&text, Keep::default());
        assert_eq!(results[0].parameters, expected, "{:?}", results[0].ending);
    }
}
