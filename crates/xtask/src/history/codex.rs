//! A session of Codex, as version 0.171 writes it.

mod agent;
mod head;
mod record;
mod turn;
mod work;

use std::path::{Path, PathBuf};

use super::{
    assignment::{Assignment, Origin},
    clock::Time,
    limits::WINDOW_BYTES,
    line::Line,
    random::Random,
    speech::Speech,
    transcript::Transcript,
};

const VERSION: &str = "0.171.0";

const MODEL: &str = "gpt-6.2-sol";

/// A rollout under construction.
struct Session<'a> {
    assignment: &'a Assignment<'a>,
    speech: Speech<'a>,
    random: Random,
    transcript: Transcript,
    line: Line,
    home: PathBuf,
    /// The thread's id.
    id: String,
    who: Who,
    now: Time,
    turn_id: String,
    ordinal: u64,
    spent: u64,
    limit: u64,
    since_compaction: u64,
    usage: Usage,
    n_agent_bytes: u64,
}

/// Whose rollout it is.
#[derive(PartialEq, Eq)]
enum Who {
    Thread,
    /// A sub-agent of the thread `parent`.
    Agent {
        parent: String,
        nickname: String,
    },
}

/// Tokens, of one request or of many.
#[derive(Clone, Copy, Default)]
struct Usage {
    input: u64,
    cached: u64,
    output: u64,
}

/// Writes a session below `home`. Gives how many bytes it has, its sub-agents included.
pub(super) fn write(home: &Path, assignment: &Assignment<'_>) -> Result<u64, String> {
    let mut session = Session::new(home, assignment, Who::Thread)?;
    session.session_meta()?;
    while session.has_room() {
        session.turn(None)?;
    }
    session.finish()
}

impl<'a> Session<'a> {
    fn new(home: &Path, assignment: &'a Assignment<'a>, who: Who) -> Result<Self, String> {
        let begins = assignment.begins;
        let id = Assignment::thread_id(assignment.seed, begins);
        let day = begins.calendar();
        let path = home.join(format!(
            ".codex/sessions/{:04}/{:02}/{:02}/rollout-{}-{id}.jsonl",
            day.year,
            day.month,
            day.day,
            begins.file_name()
        ));
        Ok(Self {
            assignment,
            speech: Speech { vocabulary: assignment.vocabulary, project: assignment.project },
            random: Random::of_part(assignment.seed, 2),
            transcript: Transcript::create(&path)?,
            line: Line::default(),
            home: home.to_owned(),
            id,
            who,
            now: begins,
            turn_id: String::new(),
            ordinal: assignment.origin.as_ref().map_or(0, Origin::n_ordinals),
            spent: 0,
            limit: assignment.n_bytes,
            since_compaction: 0,
            usage: Usage::default(),
            n_agent_bytes: 0,
        })
    }

    fn finish(self) -> Result<u64, String> {
        Ok(self.transcript.finish(self.now)? + self.n_agent_bytes)
    }

    fn has_room(&self) -> bool {
        self.spent < self.limit
    }

    fn is_window_full(&self) -> bool {
        self.since_compaction > WINDOW_BYTES
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

impl Usage {
    fn plus(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cached: self.cached + other.cached,
            output: self.output + other.output,
        }
    }

    fn json(self) -> String {
        format!(
            "{{\"input_tokens\":{},\"cached_input_tokens\":{},\"cache_write_input_tokens\":0,\
             \"output_tokens\":{},\"reasoning_output_tokens\":{},\"total_tokens\":{}}}",
            self.input,
            self.cached,
            self.output,
            self.output / 3,
            self.input + self.output
        )
    }
}
