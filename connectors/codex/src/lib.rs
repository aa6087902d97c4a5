//! Reads the transcripts of OpenAI's Codex: CLI, IDE extension, desktop and SDK alike.
//!
//! The format, with its oddities, and what becomes of every kind of record is in `README.md`.
//!
//! **Invariant:** a session is named by the thread id in its file's name, so a transcript that is
//! archived or compressed stays the session it was.
//! **Invariant:** what an event of a rollout is, and its id, depends on the rollout's bytes before
//! it and on nothing else: not on the batch, the pass, the folder or the compression.

mod caller;
mod discover;
mod limits;
mod read;

use std::ffi::{OsStr, OsString};

use ai_hist_connector::{
    AgentCommand, Availability, Call, Caller, Capabilities, Connector, ConnectorError,
    ConnectorSpec, Discovery, Feed, FeedReader, Host, Launch, OptionKind, OptionSpec, Settings,
    Watch,
    model::{AgentId, ConnectorId, Cursor, FeedId, NativeSessionId, SessionKey},
};

use discover::{LedgerKind, Roots};

/// The connector.
pub const CONNECTOR: ConnectorSpec = ConnectorSpec {
    id: ConnectorId::from_static("codex"),
    display_name: "Codex",
    capabilities: Capabilities { resume: true, seed: true, workspace: false },
    options: &[OptionSpec {
        name: "roots",
        kind: OptionKind::Texts,
        help: "The folders that hold `sessions` and `archived_sessions`, instead of `$CODEX_HOME` or `~/.codex`.",
    }],
    default_on: true,
    configure,
};

const PROGRAM: &str = "codex";

/// Raised whenever records that were read before would give other events.
const READING: u32 = 2;

fn configure(settings: &Settings, host: &Host) -> Result<Availability, ConnectorError> {
    let roots = Roots::of(settings, host);
    if let Some(reason) = roots.absence() {
        return Ok(Availability::Absent(reason));
    }
    Ok(Availability::Ready(Box::new(Codex {
        roots,
        home: host.var("CODEX_HOME").map(str::to_owned),
        thread: host.var("CODEX_THREAD_ID").map(str::to_owned),
    })))
}

/// Codex on one machine.
#[derive(Debug)]
struct Codex {
    roots: Roots,
    /// Where Codex keeps its files, if not in the usual place.
    home: Option<String>,
    /// The thread that started us as a shell command.
    thread: Option<String>,
}

impl Connector for Codex {
    fn discover(&self) -> Result<Discovery, ConnectorError> {
        Ok(self.roots.discover())
    }

    fn open(
        &self,
        feed: &Feed,
        cursor: Option<&Cursor>,
    ) -> Result<Box<dyn FeedReader>, ConnectorError> {
        let path = feed.place.path();
        let path = path.ok_or(ConnectorError::Unsupported { what: "read what is not a file" })?;
        match LedgerKind::of(path) {
            Some(kind) => {
                let roots = &self.roots;
                Ok(Box::new(read::Ledger::open(kind, path, feed.stamp, roots, cursor)?))
            }
            None => Ok(Box::new(read::Reader::open(path, cursor)?)),
        }
    }

    fn locate(&self, session: &SessionKey) -> Result<Vec<Feed>, ConnectorError> {
        if session.agent.as_str() != CONNECTOR.id.as_str() {
            return Ok(Vec::new());
        }
        Ok(self.roots.locate(&session.native))
    }

    fn command(&self, launch: &Launch<'_>) -> Result<AgentCommand, ConnectorError> {
        // After `--` nothing is taken for a flag.
        let args = match launch {
            Launch::Resume(session) => vec![OsStr::new("resume"), session.native.as_str().as_ref()],
            Launch::Seed { prompt } => vec![OsStr::new("--"), prompt.as_ref()],
        };
        Ok(command(args.into_iter().map(OsStr::to_owned).collect()))
    }

    fn wiring(&self, server: &[OsString]) -> Option<AgentCommand> {
        let mut args: Vec<OsString> = ["mcp", "add"].map(OsString::from).to_vec();
        // Codex hands no variable of its own to a server, and ours would look in the usual place.
        if let Some(home) = &self.home {
            args.extend(["--env".into(), format!("CODEX_HOME={home}").into()]);
        }
        args.extend(["ai-hist", "--"].map(OsString::from));
        args.extend_from_slice(server);
        Some(command(args))
    }

    fn caller(&self, call: &Call<'_>) -> Result<Caller, ConnectorError> {
        Ok(caller::caller(&self.roots, self.thread.as_deref(), call))
    }

    fn reading(&self) -> u32 {
        READING
    }

    fn can_reread(&self, feed: &FeedId) -> bool {
        !feed.0.starts_with("history") && !feed.0.starts_with("session_index")
    }

    fn watch(&self) -> Watch {
        Watch::Paths(self.roots.watched())
    }
}

fn command(args: Vec<OsString>) -> AgentCommand {
    AgentCommand { program: PROGRAM.into(), args, cwd: None }
}

/// The key of the session that Codex calls `native`.
fn session_key(native: NativeSessionId) -> SessionKey {
    SessionKey { agent: AgentId::from_static("codex"), native }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_contract() {
        ai_hist_connector_testkit::check(&CONNECTOR);
    }

    fn codex(home: Option<&str>) -> Codex {
        Codex { roots: Roots::default(), home: home.map(str::to_owned), thread: None }
    }

    #[test]
    fn a_prompt_never_becomes_a_flag() {
        for prompt in ["--help", "resume", "-", "fix it"] {
            let command = codex(None).command(&Launch::Seed { prompt }).expect("starts");
            assert_eq!(command.args, ["--", prompt]);
        }
    }

    #[test]
    fn wiring_names_the_home_only_where_it_is_not_the_usual_one() {
        let server = ["/opt/ai-hist", "mcp"].map(OsString::from);
        let args = |home| codex(home).wiring(&server).expect("has a command").args;
        assert_eq!(args(None), ["mcp", "add", "ai-hist", "--", "/opt/ai-hist", "mcp"]);
        assert_eq!(args(Some("/c"))[2..4], ["--env", "CODEX_HOME=/c"]);
    }
}
