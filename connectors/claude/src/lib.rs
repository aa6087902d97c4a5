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

use std::ffi::OsString;

use ai_hist_connector::{
    AgentCommand, Availability, Call, Caller, Capabilities, Connector, ConnectorError,
    ConnectorSpec, Discovery, Feed, FeedReader, Host, Launch, OptionKind, OptionSpec, Settings,
    Watch,
    model::{ConnectorId, Cursor, SessionKey},
};

use self::{caller::Surroundings, discover::Roots, identity::Identity, read::Reader};

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
        let identity = Identity::of(path)
            .map_err(|source| ConnectorError::Read { path: path.clone(), source })?;
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
                if identity::parse(native).is_none() {
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

    use ai_hist_connector::model::NativeSessionId;

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
