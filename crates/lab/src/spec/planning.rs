//! What planning needs beside the text: what stops it, and what commands of external learners said of themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use crate::foreign::{Failure, Hello, Host, Limits, started_hello};

/// Planning, from the text of an experiment to its runs.
#[derive(Debug, Default)]
pub struct Planning {
    /// Once this is set, commands that were started are ended.
    stop: Arc<AtomicBool>,
    /// What each command said; `None` if it was started and gave no hello that could be read.
    heard: BTreeMap<Vec<String>, Result<Option<Hello>, String>>,
    /// Whether what is planned is to be compared with, and not to be run.
    recipes: bool,
}

/// How many commands are greeted at the same time.
const TOGETHER: usize = 32;

impl Planning {
    /// Planning that a signal stops.
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..Self::default() }
    }

    /// Planning of what runs are compared with.
    pub(super) fn of_recipes() -> Self {
        Self { recipes: true, ..Self::default() }
    }

    pub(super) fn is_of_recipes(&self) -> bool {
        self.recipes
    }

    /// Greets commands at the same time: silent ones are waited for together and not one after the other.
    pub(super) fn greet(&mut self, commands: BTreeMap<Vec<String>, Limits>) {
        let stop = &self.stop;
        // A command that several sections name is started once.
        let unknown: Vec<_> =
            commands.into_iter().filter(|(command, _)| !self.heard.contains_key(command)).collect();
        // In groups: each command is a process, often with a large library, and hundreds at once would exhaust the memory.
        for some in unknown.chunks(TOGETHER) {
            let heard: Vec<_> = thread::scope(|scope| {
                let begun: Vec<_> = some
                    .iter()
                    .map(|(command, limits)| {
                        thread::Builder::new().spawn_scoped(scope, || hello_of(command, *limits, stop))
                    })
                    .collect();
                // Without a thread, or with one that broke, it is greeted when it is planned.
                begun.into_iter().map(|thread| thread.ok()?.join().ok()).collect()
            });
            for ((command, _), hello) in some.iter().zip(heard) {
                self.heard.extend(hello.map(|hello| (command.clone(), hello)));
            }
        }
    }

    /// What a command says of itself; `None` if it gave no hello that could be read.
    pub(super) fn hello(&self, command: &[String], limits: Limits) -> Result<Option<Hello>, String> {
        self.heard.get(command).cloned().unwrap_or_else(|| hello_of(command, limits, &self.stop))
    }
}

fn hello_of(command: &[String], limits: Limits, stop: &Arc<AtomicBool>) -> Result<Option<Hello>, String> {
    let host = Host { stop: Arc::clone(stop), ..Host::default() };
    match started_hello(command, limits, &host) {
        Ok(Ok(hello)) => Ok(Some(hello)),
        // Nothing is known of a learner that cannot be started, or whose hello was cut short.
        Err(failure) | Ok(Err(failure @ Failure::Stopped)) => Err(failure.to_string()),
        Ok(Err(_)) => Ok(None),
    }
}
