//! A made-up history of coding agents: a home folder of any size, in the shapes and proportions
//! of real ones.
//!
//! Everything comes from a seed: the same seed and sizes give the same bytes on every machine.
//! No text of a person is in it.

mod assignment;
mod boilerplate;
mod claude;
mod clock;
mod codex;
mod limits;
mod line;
mod long_line;
pub(crate) mod options;
mod project;
mod random;
mod speech;
mod transcript;
mod vocabulary;
mod words;

use std::{fs, path::Path};

use assignment::{Assignment, Delegates, Origin};
use boilerplate::Boilerplate;
use clock::{EPOCH, SPAN_MS};
use limits::MIN_SESSION_BYTES;
use options::Options;
use project::Project;
use random::Random;
use vocabulary::Vocabulary;

/// How many sessions there are about one project.
const SESSIONS_PER_PROJECT: u64 = 25;

/// What was written.
pub(crate) struct Written {
    pub(crate) n_bytes: u64,
    pub(crate) n_sessions: u64,
}

/// What all sessions of a history are made from.
struct World {
    seed: u64,
    vocabulary: Vocabulary,
    boilerplate: Boilerplate,
    projects: Vec<Project>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agent {
    Claude,
    Codex,
}

/// Writes what `arguments` ask for, and says what it was.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    let Written { n_bytes, n_sessions } = write(&options)?;
    println!("{n_bytes} bytes, {n_sessions} sessions in `{}`", options.out.display());
    Ok(())
}

/// Writes a history. The folder must be empty or not exist: what is in it is somebody's.
pub(crate) fn write(options: &Options) -> Result<Written, String> {
    let out = &options.out;
    if fs::read_dir(out).is_ok_and(|mut it| it.next().is_some()) {
        return Err(format!("`{}` is not empty", out.display()));
    }
    fs::create_dir_all(out).map_err(|error| format!("cannot make `{}`: {error}", out.display()))?;
    let world = World::new(options);
    let mut written = world.sessions(out, options)?;
    if let Some(n_bytes) = options.one_session {
        let assignment = world.assignment(u64::MAX, n_bytes, None);
        let assignment = Assignment { delegates: Delegates::Never, ..assignment };
        written.n_bytes += claude::write(out, &assignment)?;
        written.n_sessions += 1;
    }
    if let Some(n_bytes) = options.long_line {
        written.n_bytes += long_line::write(out, &world.assignment(u64::MAX - 1, n_bytes, None))?;
        written.n_sessions += 1;
    }
    Ok(written)
}

impl World {
    fn new(options: &Options) -> Self {
        let seed = options.seed;
        let vocabulary = Vocabulary::new();
        let n_projects = (options.n_sessions / SESSIONS_PER_PROJECT).max(3);
        let projects =
            (0..n_projects).map(|n| Project::new(part(seed, 1, n), &vocabulary)).collect();
        // Agents tell the same in every history.
        let boilerplate = Boilerplate::new(0, &vocabulary);
        Self { seed, vocabulary, boilerplate, projects }
    }

    /// Writes the sessions of all sizes. A few are much larger than the rest.
    fn sessions(&self, home: &Path, options: &Options) -> Result<Written, String> {
        let weigh = |n| Random::new(part(self.seed, 2, n)).spread(1_000, 37).max(20);
        let mut weight_left: u64 = (0..options.n_sessions).map(weigh).sum();
        let mut written = Written { n_bytes: 0, n_sessions: 0 };
        // The last one of each agent that another may be forked from.
        let mut origins: [Option<Origin>; 2] = [None, None];
        for n in 0..options.n_sessions {
            let weight = weigh(n);
            let left = options.n_bytes.saturating_sub(written.n_bytes);
            let share = u128::from(left) * u128::from(weight) / u128::from(weight_left);
            let n_bytes = u64::try_from(share).expect("it is at most what is left");
            weight_left -= weight;
            let random = &mut Random::new(part(self.seed, 3, n));
            let agent = if random.percent(65) { Agent::Claude } else { Agent::Codex };
            let origin = &mut origins[agent as usize];
            let forked = if random.percent(4) { origin.take() } else { None };
            let mut assignment = self.assignment(n, n_bytes.max(MIN_SESSION_BYTES), forked);
            assignment.begins = EPOCH.after(SPAN_MS / options.n_sessions * n);
            let size = match agent {
                Agent::Claude => claude::write(home, &assignment)?,
                Agent::Codex => codex::write(home, &assignment)?,
            };
            if assignment.origin.is_none() && size > 2 * MIN_SESSION_BYTES {
                *origin = Some(self.origin(n, &assignment));
            }
            written.n_bytes += size;
            written.n_sessions += 1;
        }
        Ok(written)
    }

    /// The session with number `n`, about the project of `origin` if it has one.
    fn assignment(&self, n: u64, n_bytes: u64, origin: Option<Origin>) -> Assignment<'_> {
        let project = origin.as_ref().map_or_else(|| self.project_of(n), |it| it.project);
        Assignment {
            vocabulary: &self.vocabulary,
            boilerplate: &self.boilerplate,
            project: &self.projects[project],
            seed: part(self.seed, 4, n),
            n_bytes,
            begins: EPOCH,
            origin,
            delegates: Delegates::Sometimes,
        }
    }

    /// What a later session needs to begin as `assignment` does, with number `n`.
    fn origin(&self, n: u64, assignment: &Assignment<'_>) -> Origin {
        Origin {
            project: self.project_of(n),
            seed: assignment.seed,
            n_bytes: assignment.n_bytes,
            begins: assignment.begins,
            n_copied: assignment.n_bytes.min(400_000) / 2,
        }
    }

    fn project_of(&self, n: u64) -> usize {
        Random::new(part(self.seed, 5, n)).index(self.projects.len())
    }
}

/// The seed of number `n` of the things of `kind`.
fn part(seed: u64, kind: u64, n: u64) -> u64 {
    Random::of_part(Random::of_part(seed, kind).next(), n).next()
}

#[cfg(test)]
mod tests;
