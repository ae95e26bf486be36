//! What a plan says of a foreign learner, and how its settings carry that.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use wug_learner::registry::{Learner, Role, SettingValue, Settings};

use super::{Failure, Hello, Host, started_hello};

/// Where a foreign learner is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// A process of its own: the program and its arguments.
    Command(Vec<String>),
    /// The program that runs the sweep; its name.
    Host(String),
}

/// How long a learner may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub fit: Duration,
    /// For any other answer.
    pub answer: Duration,
}

/// How long a child may take to say hello, unless its limits say otherwise. Some import large libraries first.
const HELLO: Duration = Duration::from_secs(20);

impl Limits {
    /// The most seconds that can be allowed: a year. Clocks cannot count to just any number.
    pub const LONGEST: u64 = 366 * 24 * 3600;

    /// For the hello: as long as for any other answer if that was chosen, else less.
    pub(super) fn hello(self) -> Duration {
        if self.answer == Self::default().answer { HELLO } else { self.answer }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { fit: Duration::from_hours(24), answer: Duration::from_mins(10) }
    }
}

/// What a plan says of a foreign learner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignPlan {
    pub place: Where,
    pub version: String,
    /// How long it may take.
    pub limits: Limits,
}

const PREFIX: &str = "foreign.";
const COMMAND: &str = "foreign.command";
const HOST: &str = "foreign.host";
/// The setting that every foreign learner has, and no other.
pub(crate) const VERSION: &str = "foreign.version";
/// The names of the limits, in settings after the prefix and in experiments as they are.
pub(crate) const LIMITS: [&str; 2] = ["fit_seconds", "answer_seconds"];

impl ForeignPlan {
    /// What settings say of a foreign learner; `None` if they are those of one of ours.
    pub fn of(settings: &Settings) -> Option<Self> {
        let place = match (settings.text(COMMAND), settings.text(HOST)) {
            (Some(command), _) => Where::Command(serde_json::from_str(command).ok()?),
            (None, Some(host)) => Where::Host(host.to_owned()),
            (None, None) => return None,
        };
        let default = Limits::default();
        let seconds = |name: &str, default: Duration| {
            let given = settings.count(&format!("{PREFIX}{name}"));
            given.map_or(default, |n| Duration::from_secs((n as u64).min(Limits::LONGEST)))
        };
        Some(Self {
            place,
            version: settings.text(VERSION)?.to_owned(),
            limits: Limits {
                fit: seconds(LIMITS[0], default.fit),
                answer: seconds(LIMITS[1], default.answer),
            },
        })
    }

    /// Settings that say this; limits only where they are not the default.
    pub fn settings(&self) -> Settings {
        let name = |text: String| SettingValue::Name(text);
        let (key, place) = match &self.place {
            Where::Command(command) => (COMMAND, json!(command).to_string()),
            Where::Host(host) => (HOST, host.clone()),
        };
        let mut settings =
            Settings::default().with(key, name(place)).with(VERSION, name(self.version.clone()));
        let (limits, default) = (self.limits, Limits::default());
        for (key, given, default) in
            [(LIMITS[0], limits.fit, default.fit), (LIMITS[1], limits.answer, default.answer)]
        {
            if given != default {
                settings = settings.with(&format!("{PREFIX}{key}"), SettingValue::Count(given.as_secs()));
            }
        }
        settings
    }

    /// The learner's own settings, as JSON.
    pub(super) fn own(settings: &Settings) -> Value {
        let own = settings.iter().filter(|(name, _)| !name.starts_with(PREFIX));
        own.map(|(name, value)| (name.to_owned(), json!(value))).collect::<serde_json::Map<_, _>>().into()
    }
}

/// The version of a learner that gave no hello when its runs were planned. They are planned all the same: each of them fails with
/// what the learner says then, and the others go on.
pub(super) const UNHEARD: &str = "unheard";

impl Hello {
    /// What is taken for the hello of a learner that gave none.
    pub(crate) fn unheard(role: Role) -> Self {
        Self { roles: vec![role], version: UNHEARD.to_owned(), saves: false }
    }
}

/// What stops planning, if something does.
static STOP: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);

/// From now on, commands that are started while runs are planned are ended once this is set. Experiments are read far from where
/// signals are heard, so that this is known to the whole program.
pub fn planning_stops_with(stop: &Arc<AtomicBool>) {
    *STOP.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(Arc::clone(stop));
}

/// The hello of each command that was started, or `None` if it gave none that could be read.
type Said = BTreeMap<Vec<String>, Option<Hello>>;

fn said() -> MutexGuard<'static, Said> {
    static SAID: Mutex<Said> = Mutex::new(BTreeMap::new());
    SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// How many commands are greeted at the same time.
const TOGETHER: usize = 32;

/// Greets commands at the same time: silent ones are waited for together and not one after the other. What they say is known to
/// [`hello_of`], which also says why one cannot be started.
pub(crate) fn greet(commands: &BTreeMap<Vec<String>, Limits>) {
    let known = said().clone();
    let unknown: Vec<_> = commands.iter().filter(|(command, _)| !known.contains_key(*command)).collect();
    for some in unknown.chunks(TOGETHER) {
        thread::scope(|scope| {
            for &(command, &limits) in some {
                // Without a thread it is greeted later.
                let _ = thread::Builder::new().spawn_scoped(scope, move || hello_of(command, limits));
            }
        });
    }
}

/// What a command says of itself; `None` if it was started and gave no hello that could be read. Each command is started once: an
/// experiment is read several times.
pub(crate) fn hello_of(command: &[String], limits: Limits) -> Result<Option<Hello>, String> {
    if let Some(hello) = said().get(command) {
        return Ok(hello.clone());
    }
    let stop = STOP.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone().unwrap_or_default();
    let host = Host { stop, ..Host::default() };
    let heard = match started_hello(command, limits, &host) {
        Ok(Ok(hello)) => Some(hello),
        // Nothing is known of a learner that cannot be started, or whose hello was cut short.
        Err(failure) | Ok(Err(failure @ Failure::Stopped)) => return Err(failure.to_string()),
        Ok(Err(_)) => None,
    };
    said().insert(command.to_vec(), heard.clone());
    Ok(heard)
}

/// An entry for a foreign learner, like those of the registry but without any way to build it. There is one per name, for the
/// life of the program.
pub(crate) fn interned(name: &str) -> &'static Learner {
    static NAMES: Mutex<BTreeMap<String, &'static Learner>> = Mutex::new(BTreeMap::new());
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(learner) = names.get(name) {
        return learner;
    }
    let learner: &'static Learner = Box::leak(Box::new(Learner::foreign(name.to_owned().leak())));
    names.insert(name.to_owned(), learner);
    learner
}
