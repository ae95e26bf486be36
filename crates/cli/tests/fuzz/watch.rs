//! Watches a reader: counts its inputs, catches its panics, ends the process if one input takes too long, and saves the
//! inputs that went wrong.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use wug_lab::dataset::MemoryFiles;

/// The file that names the input being read.
pub(crate) const CURRENT: &str = "current";

/// The processor time of one input.
const LIMIT: Duration = Duration::from_secs(10);

/// What is being read, its name, and when it began.
type Current = Arc<Mutex<Option<(String, MemoryFiles, ProcessTime)>>>;

pub(crate) struct Watch {
    out: PathBuf,
    begun: Instant,
    current: Current,
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
        Self {
            out,
            begun: Instant::now(),
            current,
            panic,
            inputs: 0,
            accepted: 0,
            slowest: (Duration::ZERO, String::new()),
            panics: BTreeMap::new(),
        }
    }

    /// Reads an input. Its name is on disk meanwhile: a process that is killed for its memory cannot say it.
    pub(crate) fn input(&mut self, name: &str, input: &MemoryFiles, read: impl FnOnce() -> bool) {
        let begun = ProcessTime::now();
        std::fs::write(self.out.join(CURRENT), name).unwrap();
        *self.current.lock().unwrap() = Some((name.to_owned(), input.clone(), begun));
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
        save(&self.out.join(name), input);
        self.panics.insert(place, (1, format!("input {name}: {message}")));
    }

    /// How long the reader has been watched: only long runs ask.
    pub(crate) fn seconds(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    pub(crate) fn summary(&self) -> String {
        let Self { inputs, accepted, slowest: (took, name), panics, .. } = self;
        let panics: usize = panics.values().map(|(times, _)| times).sum();
        let took = took.as_millis();
        format!("{inputs} inputs, {accepted} accepted, {panics} panics, slowest {took} ms (input {name})")
    }

    /// Fails if there was a panic.
    pub(crate) fn finish(self) {
        let _ = std::panic::take_hook();
        let panics: Vec<String> =
            self.panics.into_values().map(|(times, message)| format!("{times} × {message}")).collect();
        assert!(panics.is_empty(), "{}\nthe inputs are in {}", panics.join("\n"), self.out.display());
    }
}

/// Where the inputs of a reader that went wrong are saved.
pub(crate) fn folder(reader: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(reader)
}

/// Writes an input as a directory.
pub(crate) fn save(folder: &Path, input: &MemoryFiles) {
    for (name, bytes) in &input.0 {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Saves an input that has had its time, and ends the process.
fn end_if_slow(out: PathBuf, current: Current) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            if let Some((name, input, begun)) = &*current.lock().unwrap()
                && begun.elapsed() > LIMIT
            {
                save(&out.join(name), input);
                std::process::abort();
            }
        }
    });
}
