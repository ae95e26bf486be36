//! SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal is closed): the first signal asks the runs to save a checkpoint and stop, the
//! second ends the process at once.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signals received so far.
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Signals {
    #[cfg(unix)]
    pub(crate) fn watch() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::flag;
        let signals = Self { stop: Arc::default(), number: Arc::default() };
        let hangup = handles_hangup().then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
            // In this order, so that the first signal finds the flag unset.
            flag::register_conditional_shutdown(signal, 128 + signal, signals.stop())?;
            flag::register(signal, signals.stop())?;
            flag::register_usize(signal, Arc::clone(&signals.number), signal as usize)?;
        }
        Ok(signals)
    }

    /// On other systems a signal ends the process at once; runs resume from their last checkpoints.
    #[cfg(not(unix))]
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self { stop: Arc::default(), number: Arc::default() })
    }

    /// Set when a signal has been received.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The exit code after a signal.
    pub(crate) fn exit_code(&self) -> Option<ExitCode> {
        let number = u8::try_from(self.number.load(Ordering::SeqCst)).ok().filter(|number| *number > 0)?;
        Some(ExitCode::from(128 + number))
    }
}

/// Whether SIGHUP is to be handled: not under `nohup`, which has it ignored. A handler would undo that. Only Linux tells; elsewhere
/// SIGHUP keeps its effect, and runs resume from their last checkpoints.
#[cfg(unix)]
fn handles_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| !ignores_hangup(&status))
}

/// Whether a process ignores SIGHUP, the first of the bits of `SigIgn`.
#[cfg(unix)]
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}
