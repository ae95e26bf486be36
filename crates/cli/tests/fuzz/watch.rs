//! Watches a reader: counts its inputs, catches its panics, ends the process if one input takes too long, and saves the
//! inputs that went wrong.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use wug_lab::dataset::MemoryFiles;

/// The file that names the input being read.
pub(crate) const CURRENT: &str = "current";

/// The processor time of one input.
const LIMIT: Duration = Duration::from_secs(10);

/// The time of one input by the clock: one that waits for ever takes no processor time.
const WAIT: Duration = Duration::from_secs(100);

/// What is being read, its name, and when it began.
type Current = Arc<Mutex<Option<(String, Arc<MemoryFiles>, ProcessTime, Instant)>>>;

pub(crate) struct Watch {
    out: PathBuf,
    begun: Instant,
    current: Current,
    /// Holds the name of the input: a process that is killed for its memory cannot say it.
    name: File,
    /// The message and place of the last panic.
    panic: Arc<Mutex<String>>,
    inputs: usize,
    accepted: usize,
    slowest: (Duration, String),
    /// By message and place: how often, and the first input.
    panics: BTreeMap<String, (usize, String)>,
}

impl Watch {
    pub(crate) fn new(reader: &str) -> Self {
        let out = folder(reader);
        std::fs::create_dir_all(&out).unwrap();
        let (current, panic) = (Current::default(), Arc::new(Mutex::new(String::new())));
        let last = Arc::clone(&panic);
        std::panic::set_hook(Box::new(move |info| *last.lock().unwrap() = info.to_string()));
        end_if_slow(out.clone(), Arc::clone(&current));
        let name = File::create(out.join(CURRENT)).unwrap();
        Self {
            out,
            begun: Instant::now(),
            current,
            name,
            panic,
            inputs: 0,
            accepted: 0,
            slowest: (Duration::ZERO, String::new()),
            panics: BTreeMap::new(),
        }
    }

    /// Reads an input.
    pub(crate) fn input(&mut self, name: &str, input: &Arc<MemoryFiles>, read: impl FnOnce() -> bool) {
        self.name.write_all_at(format!("{name:<60}").as_bytes(), 0).unwrap();
        let begun = ProcessTime::now();
        *self.current.lock().unwrap() = Some((name.to_owned(), Arc::clone(input), begun, Instant::now()));
        let result = catch_unwind(AssertUnwindSafe(read));
        *self.current.lock().unwrap() = None;
        let took = begun.elapsed();
        if took > self.slowest.0 {
            self.slowest = (took, name.to_owned());
        }
        self.inputs += 1;
        match result {
            Ok(accepted) => self.accepted += usize::from(accepted),
            Err(_) => self.panicked(name, input),
        }
    }

    fn panicked(&mut self, name: &str, input: &MemoryFiles) {
        let message = self.panic.lock().unwrap().clone();
        // Only the place tells panics apart: messages hold values.
        let place = message.lines().next().unwrap_or_default().to_owned();
        if let Some((times, _)) = self.panics.get_mut(&place) {
            *times += 1;
            return;
        }
        super::write(input, &self.out.join(name));
        self.panics.insert(place, (1, format!("input {name}: {message}")));
    }

    /// How long the reader has been watched: only long runs ask.
    pub(crate) fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    pub(crate) fn count(&self) -> Count {
        let panics = self.panics.values().map(|(times, _)| times).sum();
        let (took, slowest) = (self.slowest.0.as_millis(), self.slowest.1.clone());
        Count { inputs: self.inputs, accepted: self.accepted, panics, took, slowest, peak: peak() }
    }

    /// Fails if there was a panic.
    pub(crate) fn finish(self) {
        let _ = std::panic::take_hook();
        let panics: Vec<String> =
            self.panics.into_values().map(|(times, message)| format!("{times} × {message}")).collect();
        assert!(panics.is_empty(), "{}\nthe inputs are in {}", panics.join("\n"), self.out.display());
    }
}

/// What came of the inputs of a reader.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Count {
    pub(crate) inputs: usize,
    accepted: usize,
    panics: usize,
    /// The processor time of the slowest input, in milliseconds.
    took: u128,
    slowest: String,
    /// The most memory that the process held, in KiB.
    peak: u64,
}

impl Count {
    pub(crate) const HEADER: &str =
        "reader          inputs    accepted panics  slowest  its seed             peak";

    /// The numbers in a line, for the process that asked for them.
    pub(crate) fn line(&self) -> String {
        let Self { inputs, accepted, panics, took, slowest, peak } = self;
        format!("{inputs} {accepted} {panics} {took} {slowest} {peak}")
    }

    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let [inputs, accepted, panics, took, slowest, peak] = line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let number = |text: &str| text.parse().ok();
        let (inputs, accepted, panics) = (number(inputs)?, number(accepted)?, number(panics)?);
        let (took, peak) = (took.parse().ok()?, peak.parse().ok()?);
        Some(Self { inputs, accepted, panics, took, slowest: slowest.to_owned(), peak })
    }

    /// The count of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let (took, slowest) =
            if other.took >= self.took { (other.took, other.slowest) } else { (self.took, self.slowest) };
        Self {
            inputs: self.inputs + other.inputs,
            accepted: self.accepted + other.accepted,
            panics: self.panics + other.panics,
            took,
            slowest,
            peak: self.peak.max(other.peak),
        }
    }

    /// A row below the header.
    pub(crate) fn row(&self, reader: &str) -> String {
        let Self { inputs, accepted, panics, took, slowest, peak } = self;
        let peak = peak / 1024;
        format!(
            "{reader:<10} {inputs:>11} {accepted:>11} {panics:>6} {took:>5} ms  {slowest:<16} {peak:>5} MiB"
        )
    }
}

/// The most memory that this process held at a time, in KiB; 0 where the system does not say.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Where the inputs of a reader that went wrong are saved.
pub(crate) fn folder(reader: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(reader)
}

/// Saves an input that has had its time, and ends the process.
fn end_if_slow(out: PathBuf, current: Current) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            if let Some((name, input, cpu, clock)) = &*current.lock().unwrap()
                && (cpu.elapsed() > LIMIT || clock.elapsed() > WAIT)
            {
                super::write(input, &out.join(name));
                std::process::abort();
            }
        }
    });
}
