//! The traits, and what passes through them.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use ai_hist_model::{Batch, Cursor, FeedId, SessionKey};
use serde_json::{Map, Value};

use crate::{ConnectorError, Discovery, Feed, Workspace};

/// Reads the transcripts of one source.
pub trait Connector: fmt::Debug + Send + Sync {
    /// Lists the feeds that exist now, by id. Looks at names and metadata, never inside a
    /// transcript.
    ///
    /// # Errors
    ///
    /// Only if nothing could be listed. A part that could not be listed is said in
    /// [`Discovery::problems`]; a feed missing from a partial discovery is not thereby deleted.
    fn discover(&self) -> Result<Discovery, ConnectorError>;

    /// Opens `feed` just after `cursor`, or at its beginning.
    ///
    /// # Errors
    ///
    /// If the feed is gone or unreadable. A cursor that no longer fits is not an error: the
    /// reader then says [`Start::Restarted`].
    fn open(
        &self,
        feed: &Feed,
        cursor: Option<&Cursor>,
    ) -> Result<Box<dyn FeedReader>, ConnectorError>;

    /// The feeds that hold `session`, where that can be told without reading feeds.
    ///
    /// A handoff asks this to bring a session up to date. Empty means "look for yourself", not
    /// "there is none".
    fn locate(&self, session: &SessionKey) -> Result<Vec<Feed>, ConnectorError> {
        let _ = session;
        Ok(Vec::new())
    }

    /// The command that starts this source's agent.
    ///
    /// # Errors
    ///
    /// [`ConnectorError::Unsupported`] for a launch that [`Capabilities`] does not declare.
    ///
    /// [`Capabilities`]: crate::Capabilities
    fn command(&self, launch: &Launch<'_>) -> Result<AgentCommand, ConnectorError> {
        let _ = launch;
        Err(ConnectorError::Unsupported { what: "start an agent" })
    }

    /// The command that makes `server`, a program with its arguments, known to this source's agent
    /// as the MCP server `ai-hist`. `None` if the agent has no such command.
    fn wiring(&self, server: &[OsString]) -> Option<AgentCommand> {
        let _ = server;
        None
    }

    /// Which of this source's sessions makes `call`.
    ///
    /// What the client says of itself is a default for convenience, never an authority.
    fn caller(&self, call: &Call<'_>) -> Result<Caller, ConnectorError> {
        let _ = call;
        Ok(Caller::NotMine)
    }

    /// The version of how this connector understands records. Raised when records that were read
    /// before would now give other events: they are then read again from the archive.
    fn reading(&self) -> u32 {
        1
    }

    /// Whether `feed` can be read again from its archived bytes alone. A list whose records count
    /// only where there is no transcript cannot: its transcripts may be gone since.
    fn can_reread(&self, feed: &FeedId) -> bool {
        let _ = feed;
        true
    }

    /// How long the agent keeps transcripts. `None` if it removes none by itself.
    fn retention(&self) -> Option<Retention> {
        None
    }

    /// When to look again.
    fn watch(&self) -> Watch;

    /// The workspace, where this connector shares sessions.
    fn workspace(&self) -> Option<&dyn Workspace> {
        None
    }
}

/// One pass over one feed.
pub trait FeedReader: fmt::Debug + Send {
    /// Whether this pass continues the last one.
    fn start(&self) -> Start;

    /// Reads on. `None` once the present end of the feed is reached.
    ///
    /// Between two calls the reader holds no lock and no transaction in the source.
    ///
    /// # Errors
    ///
    /// If reading failed. Batches already returned stand.
    fn next_batch(&mut self, budget: Budget) -> Result<Option<Batch>, ConnectorError>;

    /// After the end: the bytes beyond the last whole record, a line that is still being written
    /// or was torn by a crash. They are archived as they stand and read again next time.
    fn rest(&self) -> &[u8] {
        &[]
    }
}

/// Whether a pass continues the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It begins where the cursor points.
    Continued,
    /// It begins at the beginning: there was no cursor, or the feed was rewritten under it.
    Restarted,
}

/// How much one batch may hold. A reader stops after the record that meets either bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Records, at least 1.
    pub records: usize,
    /// Raw bytes, at least 1.
    pub bytes: usize,
}

/// What the agent is started for.
#[derive(Debug, Clone, Copy)]
pub enum Launch<'a> {
    /// To go on with one of its own sessions.
    Resume(&'a SessionKey),
    /// To begin a new session with this prompt.
    Seed {
        /// The text it is given first.
        prompt: &'a str,
    },
}

/// A program and its arguments: an argument vector, never a shell string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where to start it; `None` for the session's own working directory.
    pub cwd: Option<PathBuf>,
}

/// A call that reached our MCP server, as far as it tells who made it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The client's name, as it gave it at the handshake: `claude-code`, `codex-mcp-client`.
    pub client: Option<&'a str>,
    /// The request's `_meta`.
    pub meta: &'a Map<String, Value>,
    /// The server's working directory, which clients set to the session's.
    pub cwd: Option<&'a Path>,
    /// The process that started the server.
    pub parent_pid: Option<u32>,
    /// Whether to ask again is worth it.
    pub patience: Patience,
}

/// Whether a caller that is not to be seen yet may be asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The same call is asked again in a moment.
    More,
    /// This is the last time: fall back on weaker evidence, or say that there is none.
    Exhausted,
}

/// Which session makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The client is not this source's agent, or says nothing that would tell.
    NotMine,
    /// It is this source's, and the transcript does not show the call yet.
    NotYet,
    /// This one.
    Session(SessionKey),
    /// The client named this one, and there is no transcript of it.
    Missing(SessionKey),
    /// One of these, newest first.
    Candidates(Vec<SessionKey>),
}

/// How long an agent keeps transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// For how many days after the last change.
    pub days: u32,
    /// How to keep them for longer: one imperative sentence.
    pub hint: String,
}

/// When to look again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watch {
    /// When something under these changes.
    Paths(Vec<PathBuf>),
    /// After this long.
    Every(Duration),
    /// Only when asked.
    Never,
}
