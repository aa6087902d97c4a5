//! Runs a program to its end, or to its deadline.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    os::unix::process::CommandExt as _,
    process::{Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};

/// How a program ended.
pub(crate) struct Ended {
    /// `None` if it was killed at the deadline.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Panics with all that the program said unless it succeeded in time.
    #[track_caller]
    pub(crate) fn must_succeed(&self, name: &str) {
        let how = match self.status {
            Some(status) if status.success() => return,
            Some(status) => status.to_string(),
            None => "killed at its deadline".to_owned(),
        };
        panic!("{name}: {how}\n-- stdout\n{}\n-- stderr\n{}", self.stdout, self.stderr);
    }
}

/// Runs a program with no input. At the deadline it is killed; whatever it started and left in its
/// process group is killed in any case.
pub(crate) fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    // Files, as a pipe would stay open for as long as anything that the program started lives.
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .process_group(0);
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    let waiter = thread::spawn(move || sender.send(child.wait()));
    let status = receiver.recv_timeout(limit).ok().transpose()?;
    // An error says that the group is empty.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = waiter.join();
    Ok(Ended { status, stdout: text(&mut stdout)?, stderr: text(&mut stderr)? })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
