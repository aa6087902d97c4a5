//! How fast the real program is, and what it takes, on a history of a given size.
//!
//! Everything happens in a folder made for it; the home of who runs it is not looked at. CPU time
//! and memory are read from `/proc`, and are missing on a machine without it.

mod append;
mod figure;
mod options;
mod program;
mod scratch;
mod server;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use figure::{Figure, Unit};
use options::Options;
use program::{Program, Run};
use scratch::{Folder, Scratch};

use crate::{
    history::{self, options::Options as Wanted},
    tree,
};

/// How often a figure that varies is taken.
const N_RUNS: usize = 5;

/// How many lines are added one by one: enough that put-off work of the index falls among them.
const N_APPENDS: usize = 12;

/// Sizes of a session that a line is appended to.
const SESSION_SIZES: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// What is measured on, with its size in bytes.
#[derive(Clone, Copy)]
enum Subject {
    /// Sessions of all sizes.
    History(u64),
    /// A single session.
    Session(u64),
    /// A session with a line of this size.
    Line(u64),
}

/// Measures what `arguments` ask for, and prints it.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    let binary = match &options.binary {
        Some(binary) => fs::canonicalize(binary)
            .map_err(|error| format!("cannot find `{}`: {error}", binary.display()))?,
        None => build()?,
    };
    let scratch = Scratch::new(options.keeps)?;
    let mut figures = of_history(&options, &binary, &scratch)?;
    for n_bytes in SESSION_SIZES {
        figures.extend(of_session(n_bytes, &binary, &scratch)?);
    }
    figures.push(of_long_line(&binary, &scratch)?);
    if options.is_large {
        figures.extend(of_large_session(&binary, &scratch)?);
    }
    let text = if options.is_json { figure::json(&figures) } else { figure::table(&figures) };
    println!("{text}");
    Ok(())
}

/// Builds the program as it is released. Gives where it is.
fn build() -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .args(["build", "--release", "--package", "ai-hist", "--message-format", "json"])
        .current_dir(tree::root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err("the program does not build".to_owned());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    // The last artifact with an executable is the program itself.
    let path = messages.rsplit("\"executable\":\"").next().and_then(|it| it.split('"').next());
    let path = path.ok_or("cargo names no executable")?;
    if Path::new(path).is_file() { Ok(path.into()) } else { Err(format!("no program at `{path}`")) }
}

/// What a whole history costs, and then a line more of its largest session.
fn of_history(options: &Options, binary: &Path, scratch: &Scratch) -> Result<Vec<Figure>, String> {
    let folder = scratch.folder("history")?;
    match &options.home {
        Some(home) => folder.copy_home(home)?,
        None => Subject::History(options.n_bytes).write(&folder)?,
    }
    let n_bytes = folder.n_home_bytes()?;
    let program = Program::new(binary, &folder);
    // What was just written lies in memory already; a home that was copied does too.
    let cold = program.run(&["sync"])?;
    let mut figures = of_first(&cold, n_bytes);

    let mut idle = Vec::new();
    let mut n_touched = 0;
    for _ in 0..N_RUNS {
        let before = folder.state_files()?;
        idle.push(program.run(&["sync"])?);
        n_touched = n_touched.max(scratch::n_changed_bytes(&before, &folder.state_files()?));
    }
    figures.push(Figure::new("no change: wall", usual(&idle).wall.into(), None));
    figures.push(Figure::new("no change: CPU", usual(&idle).cpu.into(), None));
    figures.push(Figure::new(
        "no change: bytes written to the state",
        Unit::Bytes(n_touched),
        Some(Unit::Bytes(0)),
    ));

    let largest = folder.largest_session()?;
    let mut words = append::Words::new();
    figures.extend(of_appends("the largest session", &program, &largest, &mut words)?);
    figures.extend(append::until_found(&program, &largest, &mut words)?);
    figures.extend(of_size(&folder, n_bytes)?);
    Ok(figures)
}

/// What the first pass over `n_bytes` took.
fn of_first(run: &Run, n_bytes: u64) -> Vec<Figure> {
    // 8 seconds for 500 MB, in proportion.
    let target = Duration::from_millis(n_bytes * 8 / 500_000);
    vec![
        Figure::new("input", Unit::Bytes(n_bytes), None),
        Figure::new("first pass: wall", run.wall.into(), None),
        Figure::new("first pass: CPU", run.cpu.into(), Some(target.into())),
        Figure::new("first pass: peak memory", Unit::of_memory(run.peak), Some(Unit::MEMORY)),
    ]
}

/// How large the state is, next to what it holds.
fn of_size(folder: &Folder, n_bytes: u64) -> Result<Vec<Figure>, String> {
    let (mut n_store, mut n_index) = (0, 0);
    for (path, file) in folder.state_files()? {
        if path.starts_with("index") {
            n_index += file.n_bytes;
        } else {
            n_store += file.n_bytes;
        }
    }
    Ok(vec![
        Figure::new("store and archive", Unit::Bytes(n_store), None),
        Figure::new("index", Unit::Bytes(n_index), None),
        Figure::new(
            "index / input",
            Unit::Ratio { of: n_index, to: n_bytes },
            Some(Unit::Ratio { of: 4, to: 10 }),
        ),
        Figure::new(
            "store, archive and index / input",
            Unit::Ratio { of: n_store + n_index, to: n_bytes },
            None,
        ),
    ])
}

/// What it costs that a session of `n_bytes` grows by a line.
fn of_session(n_bytes: u64, binary: &Path, scratch: &Scratch) -> Result<Vec<Figure>, String> {
    let folder = scratch.folder(&format!("session-{n_bytes}"))?;
    Subject::Session(n_bytes).write(&folder)?;
    let program = Program::new(binary, &folder);
    program.run(&["sync"])?;
    let session = folder.largest_session()?;
    let name = format!("{} MB", n_bytes / 1_000_000);
    let figures = of_appends(&name, &program, &session, &mut append::Words::new())?;
    folder.remove()?;
    Ok(figures)
}

/// What passes cost that find a line more each in `session`. The dearest is told too: the work
/// that is put off for many passes falls to one of them.
fn of_appends(
    name: &str,
    program: &Program,
    session: &Path,
    words: &mut append::Words,
) -> Result<Vec<Figure>, String> {
    let mut runs = Vec::new();
    for _ in 0..N_APPENDS {
        words.append(session)?;
        runs.push(program.run(&["sync"])?);
    }
    let Run { wall, cpu, .. } = usual(&runs);
    let worst = runs.iter().map(|it| it.wall).max().unwrap_or_default();
    let name = |what| format!("a line more in {name}: {what}");
    Ok(vec![
        Figure::new(&name("wall"), wall.into(), None),
        Figure::new(&name("worst wall"), worst.into(), None),
        Figure::new(&name("mean CPU"), cpu.into(), None),
    ])
}

fn of_large_session(binary: &Path, scratch: &Scratch) -> Result<Vec<Figure>, String> {
    let folder = scratch.folder("large")?;
    Subject::Session(1_000_000_000).write(&folder)?;
    let run = Program::new(binary, &folder).run(&["sync"])?;
    folder.remove()?;
    Ok(vec![
        Figure::new("a session of 1 GB: wall", run.wall.into(), None),
        Figure::new(
            "a session of 1 GB: peak memory",
            Unit::of_memory(run.peak),
            Some(Unit::MEMORY),
        ),
    ])
}

fn of_long_line(binary: &Path, scratch: &Scratch) -> Result<Figure, String> {
    let folder = scratch.folder("long-line")?;
    Subject::Line(200_000_000).write(&folder)?;
    let run = Program::new(binary, &folder).run(&["sync"])?;
    folder.remove()?;
    let peak = Unit::of_memory(run.peak);
    Ok(Figure::new("a line of 200 MB: peak memory", peak, Some(Unit::MEMORY)))
}

impl Subject {
    /// Writes it into the home of `folder`.
    fn write(self, folder: &Folder) -> Result<(), String> {
        let home = folder.home();
        let wanted = match self {
            Self::History(n_bytes) => Wanted::new(home, n_bytes, None, None),
            Self::Session(n_bytes) => Wanted::new(home, 0, Some(n_bytes), None),
            Self::Line(n_bytes) => Wanted::new(home, 0, None, Some(n_bytes)),
        };
        history::write(&wanted).map(drop)
    }
}

/// What is usual of `runs`: the wall time in the middle; of the CPU time, which is counted
/// coarsely, the mean; the most memory.
fn usual(runs: &[Run]) -> Run {
    let mut walls: Vec<Duration> = runs.iter().map(|it| it.wall).collect();
    walls.sort_unstable();
    let cpu: Option<Duration> = runs.iter().map(|it| it.cpu).sum();
    let n_runs = u32::try_from(runs.len()).expect("they are a few");
    Run {
        wall: walls[walls.len() / 2],
        cpu: cpu.map(|it| it / n_runs),
        peak: runs.iter().filter_map(|it| it.peak).max(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_run_has_the_middle_wall_and_the_mean_cpu() {
        let run = |wall, cpu: Option<u64>, peak| Run {
            wall: Duration::from_millis(wall),
            cpu: cpu.map(Duration::from_millis),
            peak: Some(peak),
        };
        let runs = [run(90, Some(10), 5), run(10, Some(0), 9), run(20, Some(20), 7)];
        let Run { wall, cpu, peak } = usual(&runs);
        assert_eq!(wall, Duration::from_millis(20));
        assert_eq!(cpu, Some(Duration::from_millis(10)));
        assert_eq!(peak, Some(9));
        assert_eq!(usual(&[run(1, None, 1), run(1, Some(1), 1)]).cpu, None);
    }
}
