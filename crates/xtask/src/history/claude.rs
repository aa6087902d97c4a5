//! A session of Claude Code, as version 2.1.332 writes it.

mod agent;
mod call;
mod compaction;
mod head;
mod record;
mod turn;

use std::path::{Path, PathBuf};

use super::{
    assignment::{Assignment, Origin},
    clock::Time,
    line::Line,
    project::Project,
    random::Random,
    speech::Speech,
    transcript::Transcript,
};

/// The version that is written into every record.
const VERSION: &str = "2.1.332";

const MODEL: &str = "claude-opus-5-5";

/// A transcript under construction.
struct Session<'a> {
    assignment: &'a Assignment<'a>,
    speech: Speech<'a>,
    /// The seed of what is being written: its own, or that of the session it copies.
    seed: u64,
    random: Random,
    transcript: Transcript,
    line: Line,
    /// Where the transcripts of its sub-agents go.
    folder: PathBuf,
    /// The session's id; in a sub-agent, the parent's.
    id: String,
    who: Who,
    now: Time,
    /// The `uuid` of the last record in the chain.
    last: Option<String>,
    prompt_id: String,
    last_prompt: String,
    /// How many bytes of records there are, those not written included.
    spent: u64,
    /// How many there may be.
    limit: u64,
    since_compaction: u64,
    n_turns: u64,
    mode: Mode,
    /// What its sub-agents wrote.
    n_agent_bytes: u64,
}

/// Whose transcript it is.
#[derive(Clone, PartialEq, Eq)]
enum Who {
    Session,
    /// A sub-agent, by its id.
    Agent(String),
}

/// Whether records are the session's own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Own,
    /// Copied from the session that it was forked from: with its `uuid`s, and without what has
    /// none.
    Copied,
}

/// Writes a session below `home`. Gives how many bytes it has, its sub-agents included.
pub(super) fn write(home: &Path, assignment: &Assignment<'_>) -> Result<u64, String> {
    let project = assignment.project;
    let folder = home.join(".claude/projects").join(project.slug());
    let id = Random::of_part(assignment.seed, 1).uuid();
    let path = folder.join(format!("{id}.jsonl"));
    let folder = folder.join(&id).join("subagents");
    let mut session = Session::new(assignment, project, &path, folder, id, Who::Session)?;
    if let Some(origin) = &assignment.origin {
        session.copy(origin)?;
    }
    session.head()?;
    while session.has_room() {
        session.turn()?;
    }
    session.cost_state()?;
    let n_agent_bytes = session.n_agent_bytes;
    Ok(session.transcript.finish(session.now)? + n_agent_bytes)
}

impl<'a> Session<'a> {
    fn new(
        assignment: &'a Assignment<'a>,
        project: &'a Project,
        path: &Path,
        folder: PathBuf,
        id: String,
        who: Who,
    ) -> Result<Self, String> {
        Ok(Self {
            assignment,
            speech: Speech { vocabulary: assignment.vocabulary, project },
            seed: assignment.seed,
            random: Random::of_part(assignment.seed, 2),
            transcript: Transcript::create(path)?,
            line: Line::default(),
            folder,
            id,
            who,
            now: assignment.begins,
            last: None,
            prompt_id: String::new(),
            last_prompt: String::new(),
            spent: 0,
            limit: assignment.n_bytes,
            since_compaction: 0,
            n_turns: 0,
            mode: Mode::Own,
            n_agent_bytes: 0,
        })
    }

    /// Begins as `origin` did, and goes its own way from about the middle of it on.
    fn copy(&mut self, origin: &Origin) -> Result<(), String> {
        let own = (self.random.clone(), self.now, self.limit);
        self.mode = Mode::Copied;
        self.seed = origin.seed;
        self.random = Random::of_part(origin.seed, 2);
        self.now = origin.begins;
        self.limit = origin.n_bytes;
        self.head()?;
        while self.spent < origin.n_copied && self.has_room() {
            self.turn()?;
        }
        self.mode = Mode::Own;
        self.seed = self.assignment.seed;
        self.random = own.0;
        self.now = self.now.max(own.1);
        self.limit = self.spent + own.2;
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.spent < self.limit
    }

    /// A size around `median`, at most `max`, and no more than there is room for.
    fn size(&mut self, median: u64, max: u64) -> u64 {
        let left = self.limit.saturating_sub(self.spent);
        self.random.spread(median, 24).min(max).min(left / 3).max(16)
    }

    /// Lets time go by, `median` milliseconds of it or more or less.
    fn wait(&mut self, median: u64) {
        self.now = self.now.after(self.random.spread(median, 20).clamp(1, 20 * median));
    }
}
