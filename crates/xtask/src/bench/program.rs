//! The program, started and watched.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::scratch::Folder;

/// How often the memory of a process is looked at. The kernel keeps the peak, so that only what
/// is taken in the last moment is missed.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// In `/proc`, times are counted in hundredths of a second, whatever the kernel.
const TICK: Duration = Duration::from_millis(10);

/// The program, with a home and a state.
pub(super) struct Program {
    binary: PathBuf,
    home: PathBuf,
    state: PathBuf,
}

/// What a run took.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) wall: Duration,
    pub(super) cpu: Option<Duration>,
    /// The most bytes it had in memory.
    pub(super) peak: Option<u64>,
}

impl Program {
    pub(super) fn new(binary: &Path, folder: &Folder) -> Self {
        Self { binary: binary.to_owned(), home: folder.home(), state: folder.state() }
    }

    /// The program, to be started: with this home and nothing else of who runs it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("AI_HIST_HOME", &self.state)
            .env("USER", "dev")
            .current_dir(&self.home);
        command
    }

    /// Runs it to its end; it must succeed.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<Run, String> {
        let begins = Instant::now();
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", self.binary.display()))?;
        let process = child.id();
        let is_over = Arc::new(AtomicBool::new(false));
        let watcher = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || watch(process, &is_over)
        });
        // Its output ends when it does.
        let mut output = Vec::new();
        if let Some(mut stdout) = child.stdout.take() {
            let _ = stdout.read_to_end(&mut output);
        }
        let wall = begins.elapsed();
        is_over.store(true, Ordering::Relaxed);
        let peak = watcher.join().ok().flatten();
        let cpu = cpu_at_end(process);
        finish(child, arguments)?;
        Ok(Run { wall, cpu, peak })
    }
}

fn finish(mut child: Child, arguments: &[&str]) -> Result<(), String> {
    let status = child.wait().map_err(|error| format!("cannot wait: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{}`: {status}", arguments.join(" "))) }
}

/// Looks at the memory of `process` until `is_over`. Gives the peak that was last seen.
fn watch(process: u32, is_over: &AtomicBool) -> Option<u64> {
    let mut peak = None;
    while !is_over.load(Ordering::Relaxed) {
        let status = fs::read_to_string(format!("/proc/{process}/status"));
        peak = status.ok().as_deref().and_then(peak_in).or(peak);
        thread::sleep(LOOK_EVERY);
    }
    peak
}

/// The time that `process` took, once it has ended and nobody has waited for it yet.
fn cpu_at_end(process: u32) -> Option<Duration> {
    loop {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (state, cpu) = cpu_in(&stat)?;
        if state == "Z" {
            return Some(cpu);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The peak in a `/proc/<process>/status`, in bytes.
fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The state in a `/proc/<process>/stat`, and the time in user and kernel mode.
fn cpu_in(stat: &str) -> Option<(&str, Duration)> {
    // The name before it may hold anything.
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    let state = words.next()?;
    let mut times = words.skip(10).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((state, TICK * (user + system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_of_a_process_is_read() {
        let status = "Name:\tx\nVmPeak:\t  999 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 1 kB\n";
        assert_eq!(peak_in(status), Some(2_097_152));
        assert_eq!(peak_in("Name:\tx\nState:\tZ (zombie)\n"), None);
        let stat = "7 (a) b) Z 1 7 7 0 -1 4194304 91 0 2 0 123 45 0 0 20 0 1 0 8 0 0";
        assert_eq!(cpu_in(stat), Some(("Z", Duration::from_millis(1_680))));
        assert_eq!(cpu_in("7 (a"), None);
    }
}
