//! A learner that is another process: JSON lines on its stdin and stdout.
//!
//! Whatever a child does, a run ends: every exchange has a deadline and a longest line. A child has a process group of its own,
//! which is killed when the conversation is over or when we end ([`guard`](super::guard)), and is always waited for.

use std::fs::OpenOptions;
use std::ops::RangeInclusive;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::guard::Guard;
use super::message::{self, Reply};
use super::pipes::{NoLine, Pipes};
use super::{Conversation, Event, Failure, Fitted, Hear, Hello, Host, Limits, Question, Task, go_on};
use crate::disk::open_own;

/// How long a child may take to end after the goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// The longest line that is no answer.
const SMALL: usize = 64 << 10;
/// The longest saved model or checkpoint.
const STATE: usize = 256 << 20;
/// What a number takes in an answer, with blanks around it.
const PER_NUMBER: usize = 64;
/// How many characters of last words a message quotes.
const QUOTED: usize = 400;

/// A child that has said hello.
pub(super) struct ChildProcess {
    process: Child,
    guard: Option<Guard>,
    pipes: Pipes,
    hello: Hello,
    limits: Limits,
    /// Whether it did something that it must not: it is not talked to any more.
    broken: bool,
}

impl ChildProcess {
    /// Starts a command and waits for its hello.
    pub(super) fn begin(command: &[String], limits: Limits, host: &Host) -> Result<Self, Failure> {
        Self::start(command, limits, host)?.greeted()
    }

    /// Starts a command, which is to say hello.
    pub(super) fn start(command: &[String], limits: Limits, host: &Host) -> Result<Self, Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::learner("the command is empty"))?;
        let mut guard = Guard::start();
        // A process group of its own: Ctrl-C reaches us alone, and we can kill all that the child starts.
        let started = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut process = started.map_err(|error| {
            Failure::learner(format!("`{}` cannot be started: {error}", command.join(" ")))
        })?;
        if let Some(guard) = &mut guard {
            guard.watch(process.id());
        }
        let log = host
            .log
            .as_ref()
            .and_then(|path| open_own(path, OpenOptions::new().create(true).append(true)).ok().flatten());
        let pipes = match (process.stdin.take(), process.stdout.take(), process.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Pipes::new((stdin, stdout, stderr), log, std::sync::Arc::clone(&host.stop))
            }
            _ => Err(NoLine::System("it has no pipes".to_owned())),
        };
        let pipes = pipes.map_err(|error| {
            end(&mut process, guard.take());
            Failure::learner(format!("`{program}` cannot be talked to: {error:?}"))
        })?;
        let hello = Hello { roles: Vec::new(), version: String::new(), saves: false };
        Ok(Self { process, guard, pipes, hello, limits, broken: false })
    }

    /// The child once it has said hello.
    pub(super) fn greeted(mut self) -> Result<Self, Failure> {
        match self.say("hello", &message::hello(), SMALL, self.limits.hello(), &mut go_on)? {
            Reply::Hello(reply) => self.hello = reply.try_into()?,
            other => return Err(self.unexpected("hello", other.name())),
        }
        Ok(self)
    }

    pub(super) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Sends a message and hears the reply, of at most so many bytes.
    fn say(
        &mut self,
        what: &str,
        message: &serde_json::Value,
        longest: usize,
        limit: Duration,
        hear: Hear<'_>,
    ) -> Result<Reply, Failure> {
        let mut bytes = serde_json::to_vec(message).map_err(|error| Failure::learner(error.to_string()))?;
        bytes.push(b'\n');
        // A late line would be taken for this answer, and every answer after it would be one behind.
        if self.pipes.has_unheard() {
            return Err(self.failure(&format!("it spoke before it was asked `{what}`")));
        }
        // One deadline for the whole exchange: lines about progress do not extend it.
        let deadline = Instant::now() + limit;
        let mut rest: &[u8] = &bytes;
        loop {
            let process = &mut self.process;
            let line = self.pipes.exchange(rest, longest, deadline, || {
                if hear(Event::Waiting).is_break() {
                    return Err(NoLine::Stopped);
                }
                Ok(!matches!(process.try_wait(), Ok(Some(_))))
            });
            rest = &[];
            let line = line.map_err(|error| self.silence(what, error, longest, limit))?;
            let said = match serde_json::from_slice(&line) {
                Ok(reply @ (Reply::Progress(_) | Reply::Fitted(_))) if line.len() > SMALL => {
                    let (name, bytes) = (reply.name(), line.len());
                    return Err(
                        self.failure(&format!("its `{name}` has {bytes} bytes; it may have at most {SMALL}"))
                    );
                }
                // An error that a child reports breaks no rule: it is not `broken`, and is still told to go.
                Ok(Reply::Error(message)) => {
                    let message: String = message.chars().take(4 * QUOTED).collect();
                    return Err(Failure::learner(format!("it answered `{what}` with an error: {message}")));
                }
                Ok(Reply::Progress(progress)) => hear(progress.into()),
                Ok(Reply::Checkpoint(state)) => hear(Event::Checkpoint(state)),
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    let line = String::from_utf8_lossy(&line);
                    let start: String = line.chars().take(100).collect();
                    let more = if line.chars().nth(100).is_some() { "…" } else { "" };
                    return Err(self.failure(&format!(
                        "its answer to `{what}` cannot be read ({error}): `{start}{more}`"
                    )));
                }
            };
            if said.is_break() {
                return Err(self.silence(what, NoLine::Stopped, longest, limit));
            }
            // Lines that have arrived already are no reason to go on for longer.
            self.pipes.check_time(deadline).map_err(|error| self.silence(what, error, longest, limit))?;
        }
    }

    /// Why a child said nothing that could be read.
    fn silence(&mut self, what: &str, error: NoLine, longest: usize, limit: Duration) -> Failure {
        match error {
            NoLine::Stopped => {
                self.broken = true;
                Failure::Stopped
            }
            NoLine::Late => self.failure(&format!("it did not answer `{what}` within {limit:?}")),
            NoLine::Long => self.failure(&format!(
                "its answer to `{what}` is longer than {longest} bytes, without an end of line"
            )),
            NoLine::Early => self.failure(&format!("it spoke before it had read `{what}`, and at length")),
            NoLine::System(error) => self.failure(&format!("talking to it failed at `{what}`: {error}")),
            NoLine::Closed => {
                // A child that has just closed its pipes mostly ends too, and with what is worth knowing.
                let status = wait(&mut self.process, Duration::from_millis(500));
                let how = status.map_or("closed its pipes".to_owned(), |status| format!("ended ({status})"));
                self.failure(&format!("it {how} before it answered `{what}`"))
            }
        }
    }

    /// A failure with the child's last words.
    fn failure(&mut self, message: &str) -> Failure {
        self.broken = true;
        let words = self.pipes.last_words();
        if words.is_empty() {
            return Failure::learner(message);
        }
        let skipped = words.chars().count().saturating_sub(QUOTED);
        let end: String = words.chars().skip(skipped).collect();
        let dots = if skipped > 0 { "…" } else { "" };
        Failure::learner(format!("{message}. Its last words: {dots}{end}"))
    }

    fn unexpected(&mut self, what: &str, got: &str) -> Failure {
        self.failure(&format!("it answered `{what}` with `{got}`"))
    }
}

impl Conversation for ChildProcess {
    fn fit(&mut self, task: &Task, hear: Hear<'_>) -> Result<Fitted, Failure> {
        match self.say("fit", &message::fit(task), STATE, self.limits.fit, hear)? {
            Reply::Fitted(reply) => Ok(reply.into()),
            other => Err(self.unexpected("fit", other.name())),
        }
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        let strings = question.strings();
        // From the question: an answer that is longer than its numbers can be is refused while it is read.
        let longest = SMALL + (question.all_numbers() + strings.len()) * PER_NUMBER;
        match self.say("ask", &message::ask(question), longest, self.limits.answer, &mut go_on)? {
            Reply::Answers(numbers) => {
                if numbers.ends.len() != strings.len() {
                    return Err(self.failure(&format!(
                        "it was asked about {} strings and answered about {}",
                        strings.len(),
                        numbers.ends.len()
                    )));
                }
                let mut before = 0;
                for (i, (&end, string)) in numbers.ends.iter().zip(strings).enumerate() {
                    let (got, needed) = (end - before, question.numbers(i));
                    if got != needed {
                        return Err(self.failure(&format!(
                            "its answer for string {i} of the question ({} symbols) has {got} numbers; there must be {needed}",
                            string.len()
                        )));
                    }
                    before = end;
                }
                Ok(numbers.values)
            }
            other => Err(self.unexpected("ask", other.name())),
        }
    }

    fn observe(&mut self, strings: &[&[u32]], positions: &[&[usize]]) -> Result<(), Failure> {
        let message = serde_json::json!({ "observe": { "strings": strings, "positions": positions } });
        match self.say("observe", &message, SMALL, self.limits.answer, &mut go_on)? {
            Reply::Observed(_) => Ok(()),
            other => Err(self.unexpected("observe", other.name())),
        }
    }

    fn output(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        let (shortest, longest) = lengths.into_inner();
        let message = serde_json::json!({ "ask": {
            "what": "outputs", "strings": [input], "shortest": shortest, "longest": longest,
        } });
        let size = SMALL + longest.min(STATE / PER_NUMBER) * PER_NUMBER;
        match self.say("ask", &message, size, self.limits.answer, &mut go_on)? {
            Reply::Answers(numbers) if numbers.ends.len() == 1 => {
                let ids: Result<Vec<u32>, f64> = numbers.values.iter().map(|&id| whole(id)).collect();
                ids.map_err(|id| self.failure(&format!("an output has {id}; outputs are made of ids")))
            }
            Reply::Answers(numbers) => Err(self
                .failure(&format!("it was asked about 1 input and answered about {}", numbers.ends.len()))),
            other => Err(self.unexpected("ask", other.name())),
        }
    }

    fn save(&mut self) -> Result<Option<String>, Failure> {
        if !self.hello.saves {
            return Ok(None);
        }
        match self.say("save", &serde_json::json!({ "save": {} }), STATE, self.limits.answer, &mut go_on)? {
            Reply::Saved(state) => Ok(Some(state)),
            other => Err(self.unexpected("save", other.name())),
        }
    }

    fn load(&mut self, task: &Task, state: &str) -> Result<(), Failure> {
        // The data are not sent again: a loaded model has learned what it has to.
        match self.say("load", &message::load(task, state), SMALL, self.limits.answer, &mut go_on)? {
            Reply::Loaded(_) => Ok(()),
            other => Err(self.unexpected("load", other.name())),
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // A child that is idle is told to go; one that is busy or broken is not asked, and a user who wants the process to end does
        // not wait for it.
        if !self.broken && !self.pipes.stopping() && !std::thread::panicking() {
            let deadline = Instant::now() + GOODBYE;
            let goodbye = b"{\"goodbye\":{}}\n";
            let _ =
                self.pipes.exchange(goodbye, SMALL, Instant::now() + Duration::from_millis(20), || Ok(true));
            self.pipes.close();
            let _ = wait(&mut self.process, deadline - Instant::now().min(deadline));
        }
        end(&mut self.process, self.guard.take());
    }
}

/// A number as an id, if it is one.
fn whole(id: f64) -> Result<u32, f64> {
    let is_whole = (0.0..=f64::from(u32::MAX)).contains(&id) && id.fract().abs() < f64::EPSILON;
    is_whole.then_some(id as u32).ok_or(id)
}

/// Waits for a process, but not longer than this.
fn wait(process: &mut Child, longest: Duration) -> Option<std::process::ExitStatus> {
    let until = Instant::now() + longest;
    loop {
        match process.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            _ => return None,
        }
    }
}

/// Kills a child and all that it started in its process group, and waits for it.
fn end(process: &mut Child, guard: Option<Guard>) {
    if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        // There may be no such group any more.
        let _ = kill_process_group(group, Signal::KILL);
    }
    // By its own number too: it may have left its group.
    let _ = process.kill();
    // Before the child is waited for: the system may then give its number to another process.
    drop(guard);
    let _ = process.wait();
}
