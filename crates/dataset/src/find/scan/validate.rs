//! Checking files of SCAN lines against the interpreter.

use std::collections::BTreeSet;
use std::path::Path;

use wug_language::{Reading, Word};

use super::files::{FILES, File, Holds};
use super::lines::each_line;
use super::{Split, interpret, source, target};
use crate::validation::{Findings, Validation};
use crate::{DataError, FileSource, TransductionPair};

/// Checks every `.txt` file of SCAN lines, in whatever folder: all files whose first line begins with `IN:`,
/// and all of a published name.
///
/// Lines that cannot be read, and actions other than the command asks for, are errors. In files of a
/// published name so are another number of lines than published, commands that are repeated (but for
/// the bare primitive that a training set shows many times), and test commands that the training file
/// of the same folder has.
///
/// ```
/// use wug_dataset::{MemoryFiles, find::scan};
/// let mut memory = MemoryFiles::default();
/// let lines = "IN: run twice OUT: I_RUN I_RUN\nIN: run left OUT: I_RUN\n";
/// memory.0.insert("mine.txt".to_owned(), lines.into());
/// let report = scan::validate_scan(&memory).unwrap();
/// assert_eq!(report.splits["mine.txt"]["output_errors"], 1);
/// ```
pub fn validate_scan(files: &dyn FileSource) -> Result<Validation, DataError> {
    let mut report = Validation::new("scan", "scan", Reading::Published);
    let names = files.names().map_err(DataError::io("."))?;
    let mut training: Vec<Training> = Vec::new();
    let mut tests = Vec::new();
    for path in names.iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "txt")) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let published = FILES.iter().find(|file| file.name == name);
        let Some(bytes) = files.bytes(path).map_err(DataError::io(path))? else { continue };
        if published.is_none() && !bytes.starts_with(b"IN:") {
            continue;
        }
        // Bytes that are no text become characters that no line may have.
        let text = String::from_utf8_lossy(&bytes);
        let (mut findings, commands) = check_lines(&text);
        if let Some(file) = published {
            check_published(file, &text, &commands, &mut findings);
        }
        let commands: BTreeSet<Word> = commands.into_iter().collect();
        match published.map(|file| file.holds) {
            Some(Holds::Train(split)) => {
                training.push(Training { folder, split, commands });
                report.add(path, findings);
            }
            // Until all files are read: the training file of a test may come after it.
            Some(Holds::Test(split)) => tests.push((path, folder, split, commands, findings)),
            _ => report.add(path, findings),
        }
    }
    for (path, folder, split, commands, mut findings) in tests {
        match training.iter().find(|train| train.folder == folder && train.split == split) {
            Some(train) => check_overlap(&commands, &train.commands, &mut findings),
            None => report.unchecked(format!("{path}: its training file is not there to compare with")),
        }
        report.add(path, findings);
    }
    if report.splits.is_empty() {
        let hint = " of SCAN lines (`IN: <command> OUT: <actions>`)".to_owned();
        return Err(DataError::Missing { file: "*.txt".to_owned(), hint });
    }
    Ok(report)
}

/// The distinct commands of a training file.
struct Training<'a> {
    folder: &'a str,
    split: Split,
    commands: BTreeSet<Word>,
}

/// Checks every line by itself; also returns the commands that could be read, in order.
fn check_lines(text: &str) -> (Findings, Vec<Word>) {
    let (source, target, mut findings) = (source(), target(), Findings::default());
    let (mut examples, mut malformed, mut wrong, mut commands) = (0, 0, 0, Vec::new());
    for (line, read) in (1..).zip(each_line(text)) {
        examples += 1;
        let meaning = read.map_err(|error| error.to_string()).and_then(|pair| {
            let actions = interpret(&source.format(&pair.input)).map_err(|e| format!("line {line}: {e}"))?;
            Ok((pair, actions.join(" ")))
        });
        let (TransductionPair { input, output }, expected) = match meaning {
            Ok(read) => read,
            Err(message) => {
                malformed += 1;
                findings.sample(|| message);
                continue;
            }
        };
        let given = target.format(&output);
        if given != expected {
            wrong += 1;
            findings.sample(|| {
                format!("line {line}: `{}` is `{given}`, not `{expected}`", source.format(&input))
            });
        }
        commands.push(input);
    }
    findings.fact("examples", examples);
    findings.fact("distinct", commands.iter().collect::<BTreeSet<_>>().len());
    findings.error("malformed", malformed);
    findings.error("output_errors", wrong);
    (findings, commands)
}

fn check_published(file: &File, text: &str, commands: &[Word], findings: &mut Findings) {
    let lines = text.lines().count();
    findings.fact("published_size", file.lines);
    findings.error("size_differs", usize::from(lines != file.lines));
    if lines != file.lines {
        findings.sample(|| format!("{lines} lines instead of {}", file.lines));
    }
    let primitive = match file.holds {
        Holds::Train(split) => split.primitive().map(|pair| pair.input),
        Holds::All | Holds::Test(_) => None,
    };
    let others = || commands.iter().filter(|&command| Some(command) != primitive.as_ref());
    findings.error("repeated_commands", others().count() - others().collect::<BTreeSet<_>>().len());
}

fn check_overlap(test: &BTreeSet<Word>, train: &BTreeSet<Word>, findings: &mut Findings) {
    let both: Vec<&Word> = test.intersection(train).collect();
    for command in &both {
        findings.sample(|| format!("`{}` was trained on", source().format(command)));
    }
    findings.error("overlap_with_training", both.len());
}
