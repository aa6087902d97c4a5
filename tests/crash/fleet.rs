//! Processes that may be stopped and killed from another thread than the one that waits for them.

use std::{
    io::{self, Read as _, Seek as _},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::machine::text;

/// A place for one process at a time.
///
/// A process is reaped under the same lock under which it is signalled, so that a signal never
/// reaches another process that was given its number.
#[derive(Debug)]
pub(crate) struct Berth {
    pub(crate) name: String,
    ship: Mutex<Option<Ship>>,
}

#[derive(Debug)]
struct Ship {
    child: Child,
    errors: std::fs::File,
    was_killed: bool,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Whether that is the nemesis's doing.
    pub(crate) was_killed: bool,
    /// What it said of its errors.
    pub(crate) errors: String,
}

impl Berth {
    pub(crate) fn new(name: String) -> Self {
        Self { name, ship: Mutex::new(None) }
    }

    fn ship(&self) -> MutexGuard<'_, Option<Ship>> {
        self.ship.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process here; gives the ends of its pipes.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<(ChildStdin, ChildStdout)> {
        // A file, as nobody reads it while the process lives.
        let errors = tempfile::tempfile()?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take()).expect("both are piped");
        *self.ship() = Some(Ship { child, errors, was_killed: false });
        Ok(pipes)
    }

    /// Waits for the end of a process whose output has ended.
    pub(crate) fn reap(&self) -> io::Result<Ended> {
        let mut berth = self.ship();
        let Ship { mut child, mut errors, was_killed } = berth.take().expect("one was started");
        let status = child.wait()?;
        let mut said = Vec::new();
        errors.rewind()?;
        errors.read_to_end(&mut said)?;
        Ok(Ended { status, was_killed, errors: text(&said) })
    }

    /// Runs a process to its end; gives what it said, too.
    pub(crate) fn run(&self, command: &mut Command) -> io::Result<(Ended, String)> {
        let (stdin, mut stdout) = self.start(command)?;
        drop(stdin);
        let mut said = Vec::new();
        stdout.read_to_end(&mut said)?;
        Ok((self.reap()?, text(&said)))
    }

    /// The process that is here.
    pub(crate) fn pid(&self) -> Option<i32> {
        self.ship().as_ref().map(|it| Pid::from_child(&it.child).as_raw_nonzero().get())
    }

    /// Signals the process that is here, if it is `pid`. Says whether it was.
    pub(crate) fn signal(&self, pid: i32, signal: Signal) -> bool {
        let mut berth = self.ship();
        let Some(ship) = berth.as_mut() else { return false };
        let here = Pid::from_child(&ship.child);
        if here.as_raw_nonzero().get() != pid {
            return false;
        }
        ship.was_killed |= signal == Signal::KILL;
        kill_process(here, signal).is_ok()
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        // A test that fails leaves nothing running, and nothing stopped.
        if let Some(ship) = self.ship().as_mut() {
            let _ = ship.child.kill();
            let _ = ship.child.wait();
        }
    }
}
