//! Where the strings of a section come from: drawn, or read from a directory.

use std::path::PathBuf;

use wug_language::Language;
use wug_language::registry::Named;
use wug_score::plan::{Recognition, RecognitionData, StringSource};

use super::data::Data;
use super::grid::{
    DIRECTORY, DISTANCES, DRAWN, HELD_OUT, LONG, LONGEST_TEST, RecognitionSubject, SHORT, TEST, TRAINING,
    VALIDATION_STRINGS,
};
use crate::spec::{Problem, Section};

/// Checks what numbers have to do with each other.
pub(super) fn check(section: &Section<Recognition>) -> Result<(), Problem> {
    if section.get(&DIRECTORY).is_some() {
        return match DRAWN.iter().find(|field| section.gives_named(field.name)) {
            None => Ok(()),
            Some(field) => {
                let message = "cannot be given with `directory`: data that are read have sizes and lengths of their own";
                Err(Problem::new(field.name, "", message.to_owned()))
            }
        };
    }
    let (short, long) = (section.get(&SHORT), section.get(&LONG));
    if short > long {
        let allowed = format!("at most `long`, {long}");
        return Err(Problem::value(SHORT.name(), &short.to_string(), &allowed).because(LONG.name()));
    }
    Ok(())
}

fn drawn(section: &Section<Recognition>) -> RecognitionData {
    RecognitionData {
        source: StringSource::Drawn,
        training: section.get(&TRAINING),
        validation: section.get(&VALIDATION_STRINGS),
        test: section.get(&TEST),
        held_out: section.get(&HELD_OUT),
        distances: section.get(&DISTANCES),
        short: section.get(&SHORT),
        long: section.get(&LONG),
        longest: section.get(&LONGEST_TEST),
    }
}

/// A language and its data, drawn or read.
pub(super) fn subject(section: &Section<Recognition>, named: &Named) -> Result<RecognitionSubject, Problem> {
    let language = named.build(section.reading).map_err(|error| Problem::of_language(named, &error))?;
    let data = if let Some(directory) = section.get(&DIRECTORY) {
        read(section, named, language.as_ref(), &directory)?
    } else {
        let data = drawn(section);
        // Built once now: a length that a language cannot sample is found with its line, and not in the first run.
        for length in [data.short, data.long, data.longest] {
            language.by_length(0..=length).map_err(|error| Problem::of_language(named, &error))?;
        }
        data
    };
    Ok(RecognitionSubject { spelled: named.spelled(), alphabet: language.alphabet().len(), data })
}

fn read(
    section: &Section<Recognition>,
    named: &Named,
    language: &dyn Language,
    directory: &str,
) -> Result<RecognitionData, Problem> {
    let problem = |message: String| Problem::new(DIRECTORY.name(), directory, message);
    let path = Data::find(&PathBuf::from(directory), named).map_err(problem)?;
    let files = Data::read(&path, language).map_err(|error| problem(error.to_string()))?;
    files.check_reading(section.reading).map_err(problem)?;
    Ok(files.plan(path))
}
