//! Which session calls us.
//!
//! The agent names the tool call in the request and writes it into the transcript of the caller at
//! about the same time: so the transcript that holds the call is the caller's, also if it is a
//! sub-agent's. What the agent says of its session elsewhere is weaker: the environment is that of
//! the moment at which it started us, and is wrong after it moved on to another session.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use ai_hist_connector::{Call, Caller, ConnectorError, Feed, Patience, model::SessionKey};
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    discover::Roots,
    identity::{self, Identity},
    limits::{MAX_ACTIVE_LAG_MS, MAX_CALLER_FILES, MAX_CALLER_TAIL_BYTES, MAX_CANDIDATES},
    read::{self, Scalar},
};

/// What the agent calls itself.
const CLIENT: &str = "claude-code";

/// Where a request names the tool call it is made for.
const TOOL_USE_ID: &str = "claudecode/toolUseId";

/// What the environment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The session in which we were started, `CLAUDE_CODE_SESSION_ID`.
    pub(crate) session: Option<String>,
    /// The agent started us, `CLAUDECODE`.
    pub(crate) is_inside: bool,
}

/// Finds the session that makes `call`.
pub(crate) fn find(
    roots: &Roots,
    surroundings: &Surroundings,
    call: &Call<'_>,
) -> Result<Caller, ConnectorError> {
    let tool_use = call.meta.get(TOOL_USE_ID).and_then(Value::as_str);
    let is_ours = match call.client {
        Some(client) => client == CLIENT || tool_use.is_some(),
        None => tool_use.is_some() || surroundings.is_inside || surroundings.session.is_some(),
    };
    if !is_ours {
        return Ok(Caller::NotMine);
    }
    if let Some(tool_use) = tool_use {
        if let Some(key) = with_call(roots, tool_use) {
            return Ok(Caller::Session(key));
        }
        if call.patience == Patience::More {
            return Ok(Caller::NotYet);
        }
    }
    Ok(by_weaker_evidence(roots, surroundings, call))
}

fn by_weaker_evidence(roots: &Roots, surroundings: &Surroundings, call: &Call<'_>) -> Caller {
    let registered = call.parent_pid.and_then(|it| registered(roots, it));
    if let Some(key) = registered.filter(|it| !roots.locate(it).is_empty()) {
        return Caller::Session(key);
    }
    let started_in = surroundings.session.as_deref().and_then(identity::parse).map(identity::key);
    if let Some(key) = started_in.as_ref().filter(|it| !roots.locate(it).is_empty()) {
        return Caller::Session(key.clone());
    }
    let mut active = call.cwd.map(|it| active_in(roots, it)).unwrap_or_default();
    match (active.len(), started_in) {
        (0, Some(key)) => Caller::Missing(key),
        (0, None) => Caller::NotMine,
        (1, _) => Caller::Session(active.remove(0)),
        _ => Caller::Candidates(active),
    }
}

/// The session whose transcript holds the tool call `id`.
fn with_call(roots: &Roots, id: &str) -> Option<SessionKey> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    if id.is_empty() || !id.bytes().all(is_plain) {
        return None;
    }
    let mut feeds = roots.transcripts().feeds;
    feeds.sort_by_key(|it| std::cmp::Reverse(modified_ms(it)));
    let paths = feeds.iter().filter_map(|it| it.place.path()).take(MAX_CALLER_FILES);
    // A file that cannot be read just now does not hold the call.
    let holds = |path: &&PathBuf| holds_call(path, id).unwrap_or(false);
    Identity::of(paths.into_iter().find(holds)?).ok()?.key().cloned()
}

fn holds_call(path: &Path, id: &str) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_CALLER_TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(MAX_CALLER_TAIL_BYTES).read_to_end(&mut bytes)?;
    let needle = format!("\"id\":\"{id}\"");
    let mentions: Vec<usize> = memmem::find_iter(&bytes, needle.as_bytes()).collect();
    Ok(mentions.into_iter().rev().any(|at| {
        let first = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |it| it + 1);
        let last = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it);
        read::makes_call(&bytes[first..last], id)
    }))
}

/// The session that the agent's process `pid` says it is in. It keeps this current.
fn registered(roots: &Roots, pid: u32) -> Option<SessionKey> {
    #[derive(Deserialize)]
    struct Entry<'a> {
        #[serde(borrow, default, rename = "sessionId")]
        session_id: Scalar<'a>,
    }
    roots.paths().find_map(|root| {
        let text = fs::read_to_string(root.join("sessions").join(format!("{pid}.json"))).ok()?;
        let entry: Entry<'_> = serde_json::from_str(&text).ok()?;
        entry.session_id.words().and_then(identity::parse).map(identity::key)
    })
}

/// The sessions that were active last in the project of `cwd`, newest first.
fn active_in(roots: &Roots, cwd: &Path) -> Vec<SessionKey> {
    let folders = roots.projects_of(cwd);
    let mut feeds = roots.transcripts().feeds;
    let is_here = |it: &Feed| {
        let folder = it.place.path().and_then(|it| it.parent());
        folder.is_some_and(|folder| folders.iter().any(|it| it == folder))
    };
    feeds.retain(is_here);
    feeds.sort_by_key(|it| std::cmp::Reverse(modified_ms(it)));
    let newest = feeds.first().map_or(0, modified_ms);
    let mut keys = Vec::new();
    for feed in feeds.iter().take_while(|it| newest - modified_ms(it) <= MAX_ACTIVE_LAG_MS) {
        let identity = feed.place.path().and_then(|it| Identity::of(it).ok());
        if let Some(Identity::Main(key)) = identity
            && keys.len() < MAX_CANDIDATES
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    keys
}

fn modified_ms(feed: &Feed) -> i64 {
    feed.stamp.map_or(0, |it| it.modified_ms)
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        time::{Duration, UNIX_EPOCH},
    };

    use ai_hist_connector::{Host, Settings};
    use serde_json::{Map, json};

    use super::*;

    const ONE: &str = "11111111-1111-4111-8111-111111111111";
    const TWO: &str = "22222222-2222-4222-8222-222222222222";
    const THREE: &str = "33333333-3333-4333-8333-333333333333";
    const CALL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_9","name":"mcp__x__y","input":{}}]}}"#;

    /// A machine with a folder for the project `/home/dev/demo`.
    struct Machine {
        home: tempfile::TempDir,
        minute: u64,
    }

    impl Machine {
        fn new() -> Self {
            Self { home: tempfile::tempdir().expect("makes a folder"), minute: 0 }
        }

        /// Adds a file of the project, each a minute newer than the one before.
        fn with(mut self, file: &str, text: &str) -> Self {
            let path =
                self.home.path().join(".claude").join(file.replace('~', "projects/-home-dev-demo"));
            fs::create_dir_all(path.parent().expect("has a folder")).expect("makes folders");
            fs::write(&path, text).expect("writes");
            self.minute += 1;
            let modified = UNIX_EPOCH + Duration::from_mins(30_000_000 + self.minute);
            File::options()
                .append(true)
                .open(&path)
                .and_then(|it| it.set_modified(modified))
                .expect("sets the time");
            self
        }

        fn call(&self, call: &Call<'_>, session: Option<&str>) -> Caller {
            let host = Host { home: self.home.path().to_owned(), vars: BTreeMap::new() };
            let roots = Roots::of(&Settings::default(), &host);
            let session = session.map(str::to_owned);
            let surroundings = Surroundings { is_inside: session.is_some(), session };
            find(&roots, &surroundings, call).expect("tells")
        }
    }

    fn meta(id: &str) -> Map<String, Value> {
        Map::from_iter([(TOOL_USE_ID.to_owned(), json!(id))])
    }

    fn call(meta: &Map<String, Value>, patience: Patience) -> Call<'_> {
        let cwd = Some(Path::new("/home/dev/demo"));
        Call { client: Some(CLIENT), meta, cwd, parent_pid: Some(77), patience }
    }

    fn session(native: &str) -> SessionKey {
        identity::key(identity::parse(native).expect("is harmless"))
    }

    #[test]
    fn the_transcript_that_makes_the_call_is_the_callers() {
        let mention = format!("{{\"type\":\"progress\",\"data\":{{\"message\":{CALL}}}}}");
        let quote = CALL.replace('"', "\\\"");
        let quote = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{quote}\"}}}}");
        let machine = Machine::new()
            .with(&format!("~/{ONE}/subagents/agent-a.jsonl"), &format!("{{}}\n{CALL}\n{{}}\n"))
            .with(&format!("~/{ONE}.jsonl"), &format!("{mention}\n"))
            .with(&format!("~/{TWO}.jsonl"), &format!("{quote}\n"));
        let meta = meta("toolu_9");
        for client in [Some(CLIENT), Some("other"), None] {
            let call = Call { client, ..call(&meta, Patience::More) };
            let expected = Caller::Session(session(&format!("{ONE}.agent-a")));
            assert_eq!(machine.call(&call, None), expected, "{client:?}");
        }
    }

    #[test]
    fn a_call_that_is_not_written_yet_is_waited_for_and_then_guessed_at() {
        let machine = Machine::new().with(&format!("~/{ONE}.jsonl"), "{}\n");
        let meta = meta("toolu_9");
        assert_eq!(machine.call(&call(&meta, Patience::More), None), Caller::NotYet);
        let expected = Caller::Session(session(ONE));
        assert_eq!(machine.call(&call(&meta, Patience::Exhausted), None), expected);
    }

    #[test]
    fn weaker_evidence_counts_in_order_of_its_strength() {
        let registry = format!("{{\"pid\":77,\"sessionId\":\"{TWO}\"}}");
        let machine = Machine::new()
            .with(&format!("~/{ONE}.jsonl"), "{}\n")
            .with(&format!("~/{TWO}.jsonl"), "{}\n")
            .with("sessions/77.json", &registry);
        let meta = Map::new();
        let call = call(&meta, Patience::More);
        let by_registry = Caller::Session(session(TWO));
        assert_eq!(machine.call(&call, Some(ONE)), by_registry);
        let unregistered = Call { parent_pid: Some(78), ..call };
        assert_eq!(machine.call(&unregistered, Some(ONE)), Caller::Session(session(ONE)));
        let both = Caller::Candidates(vec![session(TWO), session(ONE)]);
        assert_eq!(machine.call(&unregistered, Some(THREE)), both);
        assert_eq!(machine.call(&unregistered, None), both);
        let elsewhere = Call { cwd: Some(Path::new("/tmp")), ..unregistered };
        assert_eq!(machine.call(&elsewhere, Some(THREE)), Caller::Missing(session(THREE)));
        assert_eq!(machine.call(&elsewhere, None), Caller::NotMine);
    }

    #[test]
    fn another_agents_call_is_not_ours_whatever_it_inherited() {
        let machine = Machine::new().with(&format!("~/{ONE}.jsonl"), "{}\n");
        let meta = Map::new();
        let other = Call { client: Some("codex-mcp-client"), ..call(&meta, Patience::Exhausted) };
        assert_eq!(machine.call(&other, Some(ONE)), Caller::NotMine);
        let nameless = Call { client: None, ..other };
        assert_eq!(machine.call(&nameless, None), Caller::NotMine);
        assert_eq!(machine.call(&nameless, Some(ONE)), Caller::Session(session(ONE)));
    }
}
