//! The pipes of a child, read and written without ever waiting longer than a deadline. A child may write while it is written
//! to, write too much, too slowly or nothing; all of it goes through one loop over `poll`.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::time::Timespec;

/// How often a run looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);
/// How much of the stderr is remembered, for the last words of a child.
const REMEMBERED: usize = 8 << 10;
/// How much of it is written to the log.
const LOGGED: u64 = 1 << 20;
/// How much is read at a time.
const CHUNK: usize = 1 << 14;
/// How many times in a row the stdout is read before the deadline is looked at again.
const CHUNKS: usize = 64;
/// How much a child may say before it has read the whole message.
const EARLY: usize = 64 << 10;

/// Why there is no line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoLine {
    /// The child closed its stdout.
    Closed,
    /// The time is up.
    Late,
    /// The line is longer than it may be.
    Long,
    /// The child said too much before it had read the message.
    Early,
    /// The run is to stop.
    Stopped,
    System(String),
}

/// The pipes of a child.
pub(super) struct Pipes {
    stdin: Option<File>,
    stdout: File,
    stderr: Option<File>,
    /// What was read. At most one chunk follows the end of a line: nothing more is read while there is a whole line.
    read: Vec<u8>,
    /// Where what was not taken begins in `read`. Taking a line moves this and not the bytes behind it.
    taken: usize,
    /// Up to where `read` was searched for the end of a line.
    searched: usize,
    /// The end of the stderr.
    last_words: Vec<u8>,
    log: Option<File>,
    logged: u64,
    stop: Arc<AtomicBool>,
}

fn without_waiting(pipe: impl Into<OwnedFd>) -> Result<File, NoLine> {
    let fd: OwnedFd = pipe.into();
    let flags = fcntl_getfl(&fd).map_err(system)?;
    fcntl_setfl(&fd, flags | OFlags::NONBLOCK).map_err(system)?;
    Ok(File::from(fd))
}

fn system(error: impl std::fmt::Display) -> NoLine {
    NoLine::System(error.to_string())
}

impl Pipes {
    pub(super) fn new(
        (stdin, stdout, stderr): (ChildStdin, ChildStdout, ChildStderr),
        log: Option<File>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, NoLine> {
        Ok(Self {
            stdin: Some(without_waiting(stdin)?),
            stdout: without_waiting(stdout)?,
            stderr: Some(without_waiting(stderr)?),
            read: Vec::new(),
            taken: 0,
            searched: 0,
            last_words: Vec::new(),
            log,
            logged: 0,
            stop,
        })
    }

    /// What the child wrote to its stderr last.
    pub(super) fn last_words(&self) -> String {
        String::from_utf8_lossy(&self.last_words).trim().to_owned()
    }

    /// Closes the child's stdin.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// Whether the child has said something that was not taken.
    pub(super) fn has_unheard(&mut self) -> bool {
        let _ = self.read_stdout(0, true);
        self.unread() > 0
    }

    /// How many bytes were read and not taken.
    fn unread(&self) -> usize {
        self.read.len() - self.taken
    }

    /// Whether the run is to stop.
    pub(super) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Why nothing more is to be heard, if so.
    pub(super) fn check_time(&self, deadline: Instant) -> Result<(), NoLine> {
        if self.stopping() {
            return Err(NoLine::Stopped);
        }
        if Instant::now() >= deadline { Err(NoLine::Late) } else { Ok(()) }
    }

    /// Writes a message and takes the next line, of at most `longest` bytes. While there is nothing, `wait` says whether the
    /// child is still there.
    pub(super) fn exchange(
        &mut self,
        mut message: &[u8],
        longest: usize,
        deadline: Instant,
        mut wait: impl FnMut() -> Result<bool, NoLine>,
    ) -> Result<Vec<u8>, NoLine> {
        let mut silent_since_death = false;
        loop {
            // Only after the whole message: a child that answers before it has read the question has not read it.
            if message.is_empty()
                && let Some(line) = self.line(longest)?
            {
                return Ok(line);
            }
            self.check_time(deadline)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if !self.ready(!message.is_empty(), LOOK.min(left))? {
                // What it wrote before it ended is in the pipe: one look later there is nothing more.
                let dead = !wait()?;
                if dead && silent_since_death {
                    return Err(NoLine::Closed);
                }
                silent_since_death = dead;
                continue;
            }
            // Always: a child whose stderr is full blocks, and answers nothing.
            self.read_stderr();
            let asked = message.is_empty();
            let closed = self.read_stdout(if asked { longest } else { EARLY }, asked)?;
            if !asked && self.unread() > EARLY {
                return Err(NoLine::Early);
            }
            if !asked {
                let written = self.write(message)?;
                message = &message[written..];
            }
            if closed && (self.line_end().is_none() || !message.is_empty()) {
                self.linger();
                return Err(NoLine::Closed);
            }
        }
    }

    /// Reads what a child that has closed its stdout still says on its stderr, for a moment.
    fn linger(&mut self) {
        let until = Instant::now() + Duration::from_millis(500);
        while self.stderr.is_some() && Instant::now() < until {
            self.read_stderr();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until something can be read or written; false if nothing can.
    fn ready(&self, writes: bool, longest: Duration) -> Result<bool, NoLine> {
        let mut fds = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        if let Some(stderr) = &self.stderr {
            fds.push(PollFd::new(stderr, PollFlags::IN));
        }
        if let Some(stdin) = self.stdin.as_ref().filter(|_| writes) {
            fds.push(PollFd::new(stdin, PollFlags::OUT));
        }
        let longest = Timespec::try_from(longest).map_err(system)?;
        match poll(&mut fds, Some(&longest)) {
            Ok(n) => Ok(n > 0),
            // A signal: the caller looks whether to stop, and polls again.
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(system(error)),
        }
    }

    fn line_end(&mut self) -> Option<usize> {
        let found = self.read[self.searched..].iter().position(|&byte| byte == b'\n');
        let end = found.map(|at| self.searched + at);
        // Each byte is searched once: a large answer in small reads would take quadratic time.
        self.searched = end.unwrap_or(self.read.len());
        end
    }

    fn line(&mut self, longest: usize) -> Result<Option<Vec<u8>>, NoLine> {
        match self.line_end() {
            Some(end) if end - self.taken <= longest => {
                let mut line = if self.taken == 0 && end + 1 == self.read.len() {
                    // Nothing follows: a large answer is not copied.
                    std::mem::take(&mut self.read)
                } else {
                    self.read[self.taken..=end].to_vec()
                };
                line.pop();
                self.taken = if self.read.is_empty() { 0 } else { end + 1 };
                self.searched = self.taken;
                Ok(Some(line))
            }
            Some(_) => Err(NoLine::Long),
            None if self.unread() > longest => Err(NoLine::Long),
            None => Ok(None),
        }
    }

    /// Reads what there is, up to a bound, and with `one_line` no further than to the end of a line; whether the pipe is closed. A
    /// child that floods its stdout fills the pipe and waits.
    fn read_stdout(&mut self, longest: usize, one_line: bool) -> Result<bool, NoLine> {
        // What is left is less than a chunk, or it all belongs to one line that has just begun.
        self.read.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        let mut buffer = [0; CHUNK];
        for _ in 0..CHUNKS {
            if self.unread() > longest || (one_line && self.line_end().is_some()) {
                break;
            }
            match self.stdout.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(n) => self.read.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(system(error)),
            }
        }
        Ok(false)
    }

    fn read_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        let mut buffer = [0; CHUNK];
        match stderr.read(&mut buffer) {
            Ok(0) => self.stderr = None,
            Ok(n) => {
                self.last_words.extend_from_slice(&buffer[..n]);
                let over = self.last_words.len().saturating_sub(REMEMBERED);
                self.last_words.drain(..over);
                if let Some(log) = self.log.as_mut().filter(|_| self.logged < LOGGED) {
                    // A log that cannot be written is no reason to fail a run.
                    let _ = log.write_all(&buffer[..n]);
                    self.logged += n as u64;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => self.stderr = None,
        }
    }

    /// Writes what the pipe takes.
    fn write(&mut self, message: &[u8]) -> Result<usize, NoLine> {
        let Some(stdin) = &mut self.stdin else { return Err(NoLine::Closed) };
        match stdin.write(message) {
            Ok(n) => Ok(n),
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(0),
            // It may have said why on its stderr; it can still be heard.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.linger();
                Err(NoLine::Closed)
            }
            Err(error) => Err(system(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_is_read_of_a_flood_is_bounded() {
        let mut flood = Command::new("yes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ends = (flood.stdin.take().unwrap(), flood.stdout.take().unwrap(), flood.stderr.take().unwrap());
        let mut pipes = Pipes::new(ends, None, Arc::default()).unwrap();
        let deadline = Instant::now() + Duration::from_mins(2);
        let mut most = 0;
        for _ in 0..200_000 {
            assert_eq!(pipes.exchange(b"", 256 << 20, deadline, || Ok(true)), Ok(b"y".to_vec()));
            most = most.max(pipes.read.capacity());
        }
        flood.kill().unwrap();
        flood.wait().unwrap();
        assert!(most <= 4 * CHUNK, "{most}");
    }
}
