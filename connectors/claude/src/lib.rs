//! Reads the transcripts of Claude Code.
//!
//! `README.md` describes the format, and what becomes of each kind of record.
//!
//! **Invariant:** every record of a file belongs to the session that the file is of, also one that
//! was copied into it from another.
//! **Invariant:** what a record gives depends on its own bytes and on those before it in its file,
//! never on what a reader has seen. So a pass may begin after any record.

mod caller;
mod discover;
mod identity;
mod limits;
mod read;
mod retention;

use std::{ffi::OsString, path::Path};

use ai_hist_connector::{
    AgentCommand, Availability, Call, Caller, Capabilities, Connector, ConnectorError,
    ConnectorSpec, Discovery, Feed, FeedReader, Host, Launch, OptionKind, OptionSpec, Retention,
    Settings, Watch,
    model::{ConnectorId, Cursor, FeedId, SessionKey},
};

use self::{
    caller::Surroundings,
    discover::Roots,
    identity::Identity,
    read::{History, Reader},
};

/// The connector.
pub const CONNECTOR: ConnectorSpec = ConnectorSpec {
    id: ConnectorId::from_static("claude"),
    display_name: "Claude Code",
    capabilities: Capabilities { resume: true, seed: true, workspace: false },
    options: &[OptionSpec {
        name: "roots",
        kind: OptionKind::Texts,
        help: "The folders that hold `projects`, instead of `$CLAUDE_CONFIG_DIR`, `~/.claude` and `~/.config/claude`.",
    }],
    default_on: true,
    configure,
};

const PROGRAM: &str = "claude";

fn configure(settings: &Settings, host: &Host) -> Result<Availability, ConnectorError> {
    let roots = Roots::of(settings, host);
    if let Some(reason) = roots.absence() {
        return Ok(Availability::Absent(reason));
    }
    let surroundings = Surroundings {
        session: host.var("CLAUDE_CODE_SESSION_ID").map(str::to_owned),
        is_inside: host.var("CLAUDECODE").is_some(),
    };
    Ok(Availability::Ready(Box::new(Claude { roots, surroundings })))
}

/// Claude Code on this machine.
#[derive(Debug)]
struct Claude {
    roots: Roots,
    surroundings: Surroundings,
}

impl Connector for Claude {
    fn discover(&self) -> Result<Discovery, ConnectorError> {
        Ok(self.roots.discover())
    }

    fn open(
        &self,
        feed: &Feed,
        cursor: Option<&Cursor>,
    ) -> Result<Box<dyn FeedReader>, ConnectorError> {
        let Some(path) = feed.place.path() else {
            return Err(ConnectorError::Unsupported { what: "read a feed that is no file" });
        };
        let identity = Identity::of_copy(path, Path::new(&feed.id.0))
            .map_err(|source| ConnectorError::Read { path: path.clone(), source })?;
        if identity == Identity::History {
            return Ok(Box::new(History::open(feed, path, &self.roots, cursor)?));
        }
        Ok(Box::new(Reader::open(path, identity, cursor)?))
    }

    fn locate(&self, session: &SessionKey) -> Result<Vec<Feed>, ConnectorError> {
        Ok(self.roots.locate(session))
    }

    fn command(&self, launch: &Launch<'_>) -> Result<AgentCommand, ConnectorError> {
        let args = match launch {
            // A sub-agent is gone with its task: who wants to go on from it talks to its parent.
            Launch::Resume(session) => {
                let native = session.native.as_str();
                let native = identity::split(&session.native).map_or(native, |it| it.0);
                if identity::parse(native).is_none() || identity::is_of_project(session) {
                    return Err(ConnectorError::Unsupported {
                        what: "resume a session of this name",
                    });
                }
                vec!["--resume".to_owned(), native.to_owned()]
            }
            Launch::Seed { prompt } => vec![as_prompt(prompt)],
        };
        let args = args.into_iter().map(OsString::from).collect();
        Ok(AgentCommand { program: PROGRAM.into(), args, cwd: None })
    }

    fn wiring(&self, server: &[OsString]) -> Option<AgentCommand> {
        let mut args: Vec<OsString> =
            ["mcp", "add", "--scope", "user", "ai-hist", "--"].map(OsString::from).to_vec();
        args.extend_from_slice(server);
        Some(AgentCommand { program: PROGRAM.into(), args, cwd: None })
    }

    fn caller(&self, call: &Call<'_>) -> Result<Caller, ConnectorError> {
        caller::find(&self.roots, &self.surroundings, call)
    }

    fn reading(&self) -> u32 {
        2
    }

    fn retention(&self) -> Option<Retention> {
        self.roots.first().map(retention::of)
    }

    fn can_reread(&self, feed: &FeedId) -> bool {
        !feed.0.ends_with("history.jsonl")
    }

    fn watch(&self) -> Watch {
        Watch::Paths(self.roots.watched())
    }
}

/// `prompt` as an argument that the agent's command line cannot take for anything else: with a
/// space before what begins like a flag, and before a single word, which may be a subcommand.
fn as_prompt(prompt: &str) -> String {
    let is_word = !prompt.contains(char::is_whitespace);
    if prompt.starts_with('-') || is_word { format!(" {prompt}") } else { prompt.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use ai_hist_connector::{Budget, FeedPlace, model::NativeSessionId};

    use super::*;

    #[test]
    fn keeps_the_contract() {
        ai_hist_connector_testkit::check(&CONNECTOR);
    }

    fn claude() -> (tempfile::TempDir, Box<dyn Connector>) {
        let home = tempfile::tempdir().expect("makes a folder");
        fs::create_dir(home.path().join(".claude")).expect("makes a folder");
        let host = Host { home: home.path().to_owned(), vars: BTreeMap::new() };
        match configure(&Settings::default(), &host).expect("configures") {
            Availability::Ready(connector) => (home, connector),
            Availability::Absent(why) => panic!("{why}"),
        }
    }

    #[test]
    fn a_copy_is_read_as_the_file_it_is_of() {
        let (home, claude) = claude();
        let folder = home.path().join(".claude/projects/-p/s/subagents");
        fs::create_dir_all(&folder).expect("makes folders");
        let line = r#"{"type":"user","uuid":"u","message":{"content":"look"}}"#;
        fs::write(folder.join("agent-a.jsonl"), line).expect("writes");
        fs::write(folder.join("agent-a.meta.json"), r#"{"agentType":"Explore"}"#).expect("writes");
        let feed = claude.discover().expect("lists").feeds.remove(0);
        let copy = home.path().join("copy/s/subagents/agent-a.jsonl");
        fs::create_dir_all(copy.parent().expect("has a folder")).expect("makes folders");
        fs::rename(folder.join("agent-a.jsonl"), &copy).expect("moves");
        let feed = Feed { place: FeedPlace::AppendedFile(copy), stamp: None, ..feed };
        let mut reader = claude.open(&feed, None).expect("opens");
        let budget = Budget { records: 9, bytes: 9_000 };
        let batch = reader.next_batch(budget).expect("reads").expect("has a record");
        assert_eq!(batch.sessions[0].nickname.as_deref(), Some("Explore"));
        assert_eq!(batch.sessions[0].key.native.as_str(), "s.agent-a");
    }

    #[test]
    fn a_command_does_what_it_says_whatever_the_words() {
        let (_home, claude) = claude();
        let args = |launch: Launch<'_>| {
            let command = claude.command(&launch);
            command.map(|it| {
                it.args.iter().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>()
            })
        };
        let resume = |native: &str| {
            let native = NativeSessionId::parse(native).expect("is harmless");
            args(Launch::Resume(&identity::key(native)))
        };
        assert_eq!(resume("a-1").expect("resumes"), ["--resume", "a-1"]);
        assert_eq!(resume("a-1.agent-b").expect("resumes"), ["--resume", "a-1"]);
        assert!(resume("--help").is_err());
        let of_project = identity::of_project("/home/dev/demo").native;
        assert!(resume(of_project.as_str()).is_err(), "it is no session of the agent's");
        let seeds = [
            ("go on", "go on"),
            ("-p is a flag", " -p is a flag"),
            ("doctor", " doctor"),
            ("$(x) \"y\"\nz", "$(x) \"y\"\nz"),
        ];
        for (prompt, expected) in seeds {
            assert_eq!(args(Launch::Seed { prompt }).expect("seeds"), [expected]);
        }
    }
}
