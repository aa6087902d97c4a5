//! Which session a transcript belongs to, from its name and, where that does not say it, its head.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use ai_hist_connector::{
    jsonl,
    model::{AgentId, NativeSessionId, SessionKey},
    walk,
};
use memchr::memmem;
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    limits::{MAX_CALLER_FILES, MAX_HEAD_BYTES, MAX_SIDECAR_BYTES},
    read::Scalar,
};

/// The agent.
pub(crate) const AGENT: AgentId = AgentId::from_static("claude");

/// The folder of a session's sub-agents.
pub(crate) const SUBAGENTS: &str = "subagents";

/// What joins a sub-agent's name to its parent's.
const AGENT_INFIX: &str = ".agent-";

/// The name of the history of prompts.
pub(crate) const HISTORY: &str = "history.jsonl";

/// How the name of a sub-agent's transcript begins.
const AGENT_PREFIX: &str = "agent-";

/// How the program names the sub-agents that it starts itself, to answer a question about all that
/// was said: to sum it up, to answer the person's aside, to guess the next prompt.
const WITH_COPIES: &[&str] = &["acompact-", "aside_question-", "aprompt_suggestion-"];

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The transcript of a session.
    Main(SessionKey),
    /// The transcript of a sub-agent.
    SubAgent(SubAgent),
    /// The prompts of all sessions, as the person typed them.
    History,
    /// The account of a workflow: which sub-agent began and ended when. It holds no session.
    Journal,
}

/// A sub-agent, as its file's name and its sidecar present it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubAgent {
    /// Itself.
    pub(crate) key: SessionKey,
    /// The session that started it, or the sub-agent.
    pub(crate) parent: Option<SessionKey>,
    /// Its type.
    pub(crate) nickname: Option<String>,
    /// What it is for, in a few words by its parent.
    pub(crate) description: Option<String>,
    /// It begins with copies of its parent's records.
    pub(crate) has_copies: bool,
}

impl Identity {
    /// Looks at the name of `path`, and into its head only if the name does not say enough.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::of_copy(path, path)
    }

    /// The same of a copy at `path` of the file `original`, which may be gone: what stands beside
    /// that is looked for there.
    pub(crate) fn of_copy(path: &Path, original: &Path) -> io::Result<Self> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if is_journal(path) {
            return Ok(Self::Journal);
        }
        if is_history(path)? {
            return Ok(Self::History);
        }
        if let Some(agent) = stem.strip_prefix(AGENT_PREFIX) {
            return Ok(Self::SubAgent(sub_agent(path, original, agent)?));
        }
        let native = if is_uuid(&stem) { parse(&stem) } else { None };
        let native = match native {
            Some(native) => native,
            None => {
                session_in_head(path)?.or_else(|| parse(&stem)).unwrap_or_else(|| derived(&stem))
            }
        };
        Ok(Self::Main(key(native)))
    }

    /// The session, where there is one.
    pub(crate) const fn key(&self) -> Option<&SessionKey> {
        match self {
            Self::Main(key) | Self::SubAgent(SubAgent { key, .. }) => Some(key),
            Self::History | Self::Journal => None,
        }
    }
}

/// The key of a session of this agent.
pub(crate) const fn key(native: NativeSessionId) -> SessionKey {
    SessionKey { agent: AGENT, native }
}

/// Takes `name` as a session's if it is harmless, also as an argument of a command.
pub(crate) fn parse(name: &str) -> Option<NativeSessionId> {
    if name.starts_with('-') {
        return None;
    }
    NativeSessionId::parse(name)
}

/// The parent's and the agent's own name, if `native` names a sub-agent.
pub(crate) fn split(native: &NativeSessionId) -> Option<(&str, &str)> {
    native.as_str().split_once(AGENT_INFIX)
}

/// The name of the file that a sub-agent writes.
pub(crate) fn sub_agent_file(agent: &str) -> String {
    format!("{AGENT_PREFIX}{agent}.jsonl")
}

/// Whether `path` is the history of prompts: its records have no type. A session may have that name
/// too, and a file in which nothing can be read is taken as what it is called.
fn is_history(path: &Path) -> io::Result<bool> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow, default, rename = "type")]
        kind: Scalar<'a>,
        #[serde(borrow, default)]
        display: Scalar<'a>,
    }
    if path.file_name().is_none_or(|it| it != HISTORY) {
        return Ok(false);
    }
    let mut head = Vec::new();
    File::open(path)?.take(MAX_HEAD_BYTES).read_to_end(&mut head)?;
    let verdict = |line| {
        let text = jsonl::text(line);
        let line: Line<'_> = serde_json::from_str(&text).ok()?;
        let is_typed = line.kind.words().is_some();
        (is_typed || line.display.words().is_some()).then_some(!is_typed)
    };
    Ok(head.split(|it| *it == b'\n').find_map(verdict).unwrap_or(true))
}

/// Whether `path` is the account of a workflow.
fn is_journal(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it == "journal.jsonl")
        && path.components().any(|it| it.as_os_str() == "workflows")
}

fn sub_agent(path: &Path, original: &Path, agent: &str) -> io::Result<SubAgent> {
    let folder = parent_folder(path);
    let parent = match folder.as_deref().filter(|it| is_uuid(it)) {
        Some(folder) => parse(folder),
        None => session_in_head(path)?.or_else(|| folder.as_deref().and_then(parse)),
    };
    let native = match &parent {
        Some(parent) => format!("{parent}{AGENT_INFIX}{agent}"),
        None => format!("{AGENT_PREFIX}{agent}"),
    };
    let sidecar = Sidecar::of(original);
    let caller = parent.as_ref().and_then(|it| calling_agent(original, it, &sidecar));
    Ok(SubAgent {
        key: key(parse(&native).unwrap_or_else(|| derived(&native))),
        parent: caller.or(parent).map(key),
        nickname: sidecar.agent_type,
        description: sidecar.description,
        has_copies: WITH_COPIES.iter().any(|it| agent.starts_with(it)),
    })
}

/// The sub-agent that started the one at `path`, if none but a sub-agent did: the one beside it that
/// makes the call and is less deep. Without that rule two could be found to have started each other.
fn calling_agent(
    path: &Path,
    parent: &NativeSessionId,
    sidecar: &Sidecar,
) -> Option<NativeSessionId> {
    let call = sidecar.tool_use.as_ref().filter(|_| 1 < sidecar.depth)?;
    let needle = format!("\"id\":\"{call}\"");
    let walk = walk::files(path.parent()?, |it| it.extension().is_some_and(|it| it == "jsonl"));
    let others = walk.files.iter().map(|it| it.0.as_path()).filter(|it| *it != path);
    let makes_call = |other: &&Path| {
        (1..sidecar.depth).contains(&Sidecar::of(other).depth)
            && fs::read(other).is_ok_and(|it| memmem::find(&it, needle.as_bytes()).is_some())
    };
    let stem = others.take(MAX_CALLER_FILES).find(makes_call)?.file_stem()?.to_string_lossy();
    parse(&format!("{parent}{AGENT_INFIX}{}", stem.strip_prefix(AGENT_PREFIX)?))
}

/// The folder that holds `subagents`: it is named after the parent.
fn parent_folder(path: &Path) -> Option<String> {
    let subagents = path.ancestors().skip(1).find(|it| it.ends_with(SUBAGENTS))?;
    Some(subagents.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// The session that the first record with one names.
fn session_in_head(path: &Path) -> io::Result<Option<NativeSessionId>> {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow, default, rename = "sessionId")]
        session_id: Scalar<'a>,
    }
    let mut head = Vec::new();
    File::open(path)?.take(MAX_HEAD_BYTES).read_to_end(&mut head)?;
    let session = |line| {
        let text = jsonl::text(line);
        let line: Line<'_> = serde_json::from_str(&text).ok()?;
        line.session_id.words().and_then(parse)
    };
    Ok(head.split(|it| *it == b'\n').find_map(session))
}

/// A name for a session whose own is none, or is not harmless.
fn derived(name: &str) -> NativeSessionId {
    made_of("file", name)
}

/// The session that holds the prompts given in `project`, where it is not said in which session.
pub(crate) fn of_project(project: &str) -> SessionKey {
    key(made_of("history", project))
}

/// Whether `session` is [of a project](of_project): there is no conversation that it is.
pub(crate) fn is_of_project(session: &SessionKey) -> bool {
    let hash = session.native.as_str().strip_prefix("history-");
    hash.is_some_and(|it| it.len() == 16 && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

fn made_of(prefix: &str, name: &str) -> NativeSessionId {
    let name = format!("{prefix}-{:016x}", xxh3_64(name.as_bytes()));
    NativeSessionId::parse(&name).expect("letters, digits and a hyphen are harmless")
}

/// Whether `name` has the form of a UUID.
fn is_uuid(name: &str) -> bool {
    let is_in_place = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    name.len() == 36 && name.bytes().enumerate().all(is_in_place)
}

/// The file beside a sub-agent's transcript.
#[derive(Default)]
struct Sidecar {
    agent_type: Option<String>,
    description: Option<String>,
    /// The call that started it.
    tool_use: Option<String>,
    /// How many sub-agents it is away from the session; 0 if that is not said.
    depth: u64,
}

impl Sidecar {
    /// What the sidecar of `path` says. One that is missing or damaged says nothing: it only
    /// repeats what the parent's transcript has, and it may be written after the transcript.
    fn of(path: &Path) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields<'a> {
            #[serde(borrow, default)]
            agent_type: Scalar<'a>,
            #[serde(borrow, default)]
            description: Scalar<'a>,
            #[serde(borrow, default)]
            tool_use_id: Scalar<'a>,
            #[serde(borrow, default)]
            spawn_depth: Scalar<'a>,
        }
        let mut text = String::new();
        let read = File::open(path.with_extension("meta.json"))
            .and_then(|it| it.take(MAX_SIDECAR_BYTES).read_to_string(&mut text));
        let fields = read.ok().and_then(|_| serde_json::from_str::<Fields<'_>>(&text).ok());
        let owned = |it: Scalar<'_>| it.words().map(str::to_owned);
        fields.map_or_else(Self::default, |it| Self {
            agent_type: owned(it.agent_type),
            description: owned(it.description),
            tool_use: owned(it.tool_use_id),
            depth: it.spawn_depth.count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PARENT: &str = "11111111-1111-4111-8111-111111111111";

    /// The session of a file at `path` that holds `text`, and its parent.
    fn check(path: &str, text: &str, expected: Option<(&str, Option<&str>)>) {
        let root = tempfile::tempdir().expect("makes a folder");
        let file = root.path().join(path);
        fs::create_dir_all(file.parent().expect("has a folder")).expect("makes folders");
        fs::write(&file, text).expect("writes");
        let identity = Identity::of(&file).expect("reads");
        let parent = match &identity {
            Identity::SubAgent(it) => it.parent.as_ref().map(|it| it.native.as_str()),
            Identity::Main(_) | Identity::History | Identity::Journal => None,
        };
        let found = identity.key().map(|it| (it.native.as_str(), parent));
        assert_eq!(found, expected, "`{path}` with `{text}`");
    }

    #[test]
    fn the_name_decides_and_else_the_head_of_the_file() {
        let line =
            format!("\n{{\"broken\": tru\n{{\"type\":\"x\"}}\n{{\"sessionId\":\"{PARENT}\"}}\n");
        let other = "{\"sessionId\":\"ses_2\"}";
        check(&format!("p/{PARENT}.jsonl"), other, Some((PARENT, None)));
        check("p/full.jsonl", &line, Some((PARENT, None)));
        check("p/full.jsonl", "{}", Some(("full", None)));
        check("p/full.jsonl", "{\"sessionId\":\"a b\"}", Some(("full", None)));
        check("p/a b.jsonl", "", Some(("file-8044f8a624582c4c", None)));
        check("p/--help.jsonl", "", Some(("file-fa4cd14b3563b252", None)));
        check("p/x/subagents/workflows/wf_1/journal.jsonl", other, None);
        check("p/journal.jsonl", other, Some(("ses_2", None)));
        check("history.jsonl", "\n{\"broken\": tru\n{\"display\":\"x\"}", None);
        check("history.jsonl", "", None);
        check("p/history.jsonl", "{\"type\":\"user\"}", Some(("history", None)));
    }

    #[test]
    fn a_sub_agent_is_named_after_its_parent_in_every_layout() {
        let line = format!("{{\"sessionId\":\"{PARENT}\",\"agentId\":\"a1\"}}\n");
        let native = format!("{PARENT}.agent-a1");
        let both = Some((native.as_str(), Some(PARENT)));
        check("p/agent-a1.jsonl", &line, both);
        check(&format!("p/{PARENT}/subagents/agent-a1.jsonl"), "{\"sessionId\":\"z\"}", both);
        check(&format!("p/{PARENT}/subagents/workflows/wf_1/agent-a1.jsonl"), "", both);
        check("p/case/subagents/agent-a1.jsonl", &line, both);
        check("p/case/subagents/agent-a1.jsonl", "", Some(("case.agent-a1", Some("case"))));
        check("p/agent-a1.jsonl", "", Some(("agent-a1", None)));
    }
}
