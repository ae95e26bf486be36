//! The lines between wug and a child: a JSON object with one field, which says what it is.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use wug_learner::registry::Role;

use super::{Event, Failure, Fitted, Hello, Question, Task};
use crate::sweep::VERSION;

/// The version of the messages.
pub(super) const PROTOCOL: u64 = 1;

/// What a child says.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    Hello(HelloReply),
    Progress(ProgressReply),
    Checkpoint(String),
    Fitted(FittedReply),
    /// Numbers, in any lists.
    Answers(Numbers),
    Saved(String),
    Loaded(IgnoredAny),
    Observed(IgnoredAny),
    Error(String),
}

impl Reply {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Progress(_) => "progress",
            Self::Checkpoint(_) => "checkpoint",
            Self::Fitted(_) => "fitted",
            Self::Answers(_) => "answers",
            Self::Saved(_) => "saved",
            Self::Loaded(_) => "loaded",
            Self::Observed(_) => "observed",
            Self::Error(_) => "error",
        }
    }
}

#[derive(Deserialize)]
pub(super) struct HelloReply {
    protocol: u64,
    roles: Vec<String>,
    version: String,
    #[serde(default)]
    saves: bool,
}

#[derive(Deserialize)]
pub(super) struct ProgressReply {
    epoch: usize,
    training: Option<f64>,
    validation: Option<f64>,
}

#[derive(Deserialize, Default)]
pub(super) struct FittedReply {
    parameters: Option<usize>,
}

/// Numbers for each string, flattened, and how many there were of each.
pub(super) struct Numbers {
    pub(super) values: Vec<f64>,
    pub(super) ends: Vec<usize>,
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// A number, or a list of such, at any depth that an answer has.
        struct Nested<'a> {
            values: &'a mut Vec<f64>,
            depth: usize,
        }
        impl<'de> serde::de::DeserializeSeed<'de> for Nested<'_> {
            type Value = ();
            fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
                from.deserialize_any(self)
            }
        }
        impl<'de> serde::de::Visitor<'de> for Nested<'_> {
            type Value = ();
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number or a list of numbers")
            }
            fn visit_f64<E>(self, x: f64) -> Result<(), E> {
                self.values.push(x);
                Ok(())
            }
            fn visit_u64<E>(self, x: u64) -> Result<(), E> {
                self.values.push(x as f64);
                Ok(())
            }
            fn visit_i64<E>(self, x: i64) -> Result<(), E> {
                self.values.push(x as f64);
                Ok(())
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
                let Some(depth) = self.depth.checked_sub(1) else {
                    return Err(serde::de::Error::custom("lists in lists in lists"));
                };
                while items.next_element_seed(Nested { values: self.values, depth })?.is_some() {}
                Ok(())
            }
        }
        struct Strings;
        impl<'de> serde::de::Visitor<'de> for Strings {
            type Value = Numbers;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list with an answer per string")
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Numbers, A::Error> {
                let mut numbers = Numbers { values: Vec::new(), ends: Vec::new() };
                // Two levels within a string's answer: a row after each prefix, and the probabilities in it.
                while items.next_element_seed(Nested { values: &mut numbers.values, depth: 2 })?.is_some() {
                    numbers.ends.push(numbers.values.len());
                }
                Ok(numbers)
            }
        }
        // Flat from the start: a large answer as lists in lists would take several times the memory.
        from.deserialize_seq(Strings)
    }
}

pub(super) fn hello() -> Value {
    json!({ "hello": { "protocol": PROTOCOL, "wug": VERSION } })
}

pub(super) fn fit(task: &Task) -> Value {
    json!({ "fit": task })
}

pub(super) fn load(task: &Task, state: &str) -> Value {
    let mut load = json!({
        "role": task.role, "state": state, "settings": task.settings,
        "alphabet": task.alphabet, "vocabulary": task.vocabulary,
    });
    if let Some(outputs) = &task.output_alphabet {
        load["output_alphabet"] = json!(outputs);
    }
    json!({ "load": load })
}

pub(super) fn ask(question: Question<'_>) -> Value {
    let strings = question.strings();
    match question {
        Question::LogOdds(_) => json!({ "ask": { "what": "log-odds", "strings": strings } }),
        Question::NextSymbols(..) => json!({ "ask": { "what": "next-symbols", "strings": strings } }),
        Question::Answers(_, positions) => {
            json!({ "ask": { "what": "answers", "strings": strings, "positions": positions } })
        }
        Question::LogProbs(_, outputs) => {
            json!({ "ask": { "what": "log-probs", "strings": strings, "outputs": outputs } })
        }
    }
}

impl TryFrom<HelloReply> for Hello {
    type Error = Failure;

    fn try_from(reply: HelloReply) -> Result<Self, Failure> {
        if reply.protocol != PROTOCOL {
            return Err(Failure::learner(format!(
                "it speaks version {} of the protocol, and this wug speaks version {PROTOCOL}",
                reply.protocol
            )));
        }
        let role = |name: &String| {
            Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
                let names = Role::ALL.map(Role::name).join(", ");
                Failure::learner(format!("it has a role `{name}`; the roles are: {names}"))
            })
        };
        let roles = reply.roles.iter().map(role).collect::<Result<_, _>>()?;
        Ok(Self { roles, version: reply.version, saves: reply.saves })
    }
}

impl From<ProgressReply> for Event {
    fn from(ProgressReply { epoch, training, validation }: ProgressReply) -> Self {
        Self::Progress { epoch, training, validation }
    }
}

impl From<FittedReply> for Fitted {
    fn from(FittedReply { parameters }: FittedReply) -> Self {
        Self { parameters }
    }
}
