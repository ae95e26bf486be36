//! A child must not outlive us, however we end: by a signal that cannot be caught, an abort, or a second Ctrl-C.
//!
//! A child that is busy does not see its pipe close, and Linux' parent-death signal reaches neither what a child has started (`uv
//! run`, a shell script) nor any child on other systems. So each child has a guard: a shell that reads from a pipe whose other end
//! only we hold. The system closes it when we end, and the guard kills the child's process group.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// The first line is the process group; there is no second line, only the end of the pipe. The guard ignores the signals that are
/// often sent to all processes of a session.
const SCRIPT: &str = r#"trap '' HUP INT QUIT TERM; read group && { read end; kill -s KILL -- "-$group"; }"#;

/// A guard of one process group. It is dismissed when it is dropped.
pub(super) struct Guard(Child);

impl Guard {
    /// Starts a guard before its child, so that the child is not without one for longer than it takes to write a line. There is none
    /// on systems without a shell.
    pub(super) fn start() -> Option<Self> {
        // At `/`, so that it keeps no directory from being unmounted; in a group of its own, out of reach of Ctrl-C.
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn();
        shell.ok().map(Self)
    }

    /// Guards the process group of a child.
    pub(super) fn watch(&mut self, group: u32) {
        if let Some(pipe) = &mut self.0.stdin {
            // A guard that was killed is missed only if we are killed too.
            let _ = writeln!(pipe, "{group}");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Killed before its pipe is closed, which `wait` does.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
