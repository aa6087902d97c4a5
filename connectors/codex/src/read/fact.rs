//! Records that state facts: `session_meta`, `turn_context`, `compacted`, and their kin.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody, Lineage, NativeSessionId, Relation};
use serde::Deserialize;
use serde_json::{Error, value::RawValue};

use super::{
    scribe::{Scribe, Verdict},
    state::Mark,
    words::{Str, content, text},
};
use crate::session_key;

#[derive(Deserialize)]
struct SessionMeta<'a> {
    #[serde(borrow)]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    cwd: Option<Str<'a>>,
    #[serde(borrow)]
    originator: Option<Str<'a>>,
    #[serde(borrow)]
    cli_version: Option<Str<'a>>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    forked_from_id: Option<Str<'a>>,
    #[serde(borrow)]
    parent_thread_id: Option<Str<'a>>,
    #[serde(borrow)]
    history_base: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_nickname: Option<Str<'a>>,
    #[serde(borrow)]
    agent_role: Option<Str<'a>>,
    #[serde(borrow)]
    agent_path: Option<Str<'a>>,
    #[serde(borrow)]
    git: Option<Git<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Git<'a> {
    #[serde(borrow)]
    commit_hash: Option<Str<'a>>,
    #[serde(borrow)]
    branch: Option<Str<'a>>,
    #[serde(borrow)]
    repository_url: Option<Str<'a>>,
}

/// Where a sub-agent's session comes from.
#[derive(Default)]
struct Spawn<'a> {
    parent: Option<Cow<'a, str>>,
    nickname: Option<Cow<'a, str>>,
}

/// Reads `session_meta`.
///
/// The first of a file is its own, whatever id it carries: some sub-agents are written with their
/// parent's. A later one with another id is the head of a history that was copied into this file.
pub(super) fn session_meta(payload: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let mut meta: SessionMeta<'_> = serde_json::from_str(payload)?;
    let id = text(meta.id.take());
    if to.state.is(Mark::HasMeta) && !to.is_own(&id) {
        to.state.inherit_from(to.at);
        let is_news = lineage(to, &id, Relation::Fork);
        let kind = "(of another session)";
        return Ok(if is_news { Verdict::understood(kind) } else { Verdict::ignored(kind) });
    }
    to.state.set(Mark::HasMeta);
    to.state_cwd(&text(meta.cwd.take()));
    let facts = to.facts();
    state(&mut facts.originator, meta.originator.take());
    state(&mut facts.agent_version, meta.cli_version.take());
    if let Some(git) = meta.git.take() {
        state_git(to, git);
    }
    state_origin(to, meta, &id);
    Ok(Verdict::understood(""))
}

/// States what a sub-agent is called and where the session comes from.
fn state_origin(to: &mut Scribe<'_>, meta: SessionMeta<'_>, id: &str) {
    let spawn = meta.source.and_then(|it| spawn(it.get()));
    let is_sub_agent = spawn.is_some() || meta.parent_thread_id.is_some();
    let spawn = spawn.unwrap_or_default();
    let named = [meta.agent_nickname, meta.agent_role, meta.agent_path].into_iter().flatten();
    let nickname = named.map(|it| it.0).find(|it| !it.is_empty()).or(spawn.nickname);
    if let Some(nickname) = nickname {
        to.facts().nickname = Some(nickname.into_owned());
    }
    let forked_from = meta.forked_from_id.map(|it| it.0).or_else(|| base(meta.history_base?.get()));
    if is_sub_agent {
        to.state.set(Mark::IsSubAgent);
        let parent = meta.parent_thread_id.map(|it| it.0).or(spawn.parent).or(forked_from);
        lineage(to, parent.as_deref().unwrap_or(id), Relation::SubAgent);
    } else if let Some(parent) = forked_from {
        lineage(to, &parent, Relation::Fork);
    }
}

/// States that the session comes from `parent`, unless that is itself or another was stated.
fn lineage(to: &mut Scribe<'_>, parent: &str, relation: Relation) -> bool {
    let Some(native) = NativeSessionId::parse(parent).filter(|_| !to.is_own(parent)) else {
        return false;
    };
    if !to.state.set(Mark::HasLineage) {
        return false;
    }
    to.facts().lineage = Some(Lineage { parent: session_key(native), relation });
    true
}

/// `source`, where it says that this is a sub-agent: `{subagent: {thread_spawn: {…}}}`, or
/// `{subagent: "review"}` and `{subagent: {other: "guardian"}}` for those that Codex starts itself.
fn spawn(source: &str) -> Option<Spawn<'_>> {
    #[derive(Deserialize)]
    struct Source<'a> {
        #[serde(borrow)]
        subagent: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct SubAgent<'a> {
        #[serde(borrow)]
        thread_spawn: Option<ThreadSpawn<'a>>,
        #[serde(borrow)]
        other: Option<Str<'a>>,
    }
    #[derive(Deserialize)]
    struct ThreadSpawn<'a> {
        #[serde(borrow)]
        parent_thread_id: Option<Str<'a>>,
        #[serde(borrow)]
        agent_nickname: Option<Str<'a>>,
        #[serde(borrow)]
        agent_role: Option<Str<'a>>,
        #[serde(borrow)]
        agent_path: Option<Str<'a>>,
    }
    if !source.starts_with('{') {
        return None;
    }
    let subagent = serde_json::from_str::<Source<'_>>(source).ok()?.subagent?.get();
    if let Ok(Str(nickname)) = serde_json::from_str(subagent) {
        return Some(Spawn { parent: None, nickname: Some(nickname) });
    }
    let Ok(SubAgent { thread_spawn, other }) = serde_json::from_str(subagent) else {
        return Some(Spawn::default());
    };
    let Some(spawn) = thread_spawn else {
        return Some(Spawn { parent: None, nickname: other.map(|it| it.0) });
    };
    let names = [spawn.agent_nickname, spawn.agent_role, spawn.agent_path];
    Some(Spawn {
        parent: spawn.parent_thread_id.map(|it| it.0),
        nickname: names.into_iter().flatten().map(|it| it.0).find(|it| !it.is_empty()),
    })
}

fn base(history_base: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Base<'a> {
        #[serde(borrow)]
        thread_id: Option<Str<'a>>,
    }
    serde_json::from_str::<Base<'_>>(history_base).ok()?.thread_id.map(|it| it.0)
}

/// States which revision of which repository was checked out.
pub(super) fn state_git(to: &mut Scribe<'_>, git: Git<'_>) {
    let facts = to.facts();
    state(&mut facts.git_commit, git.commit_hash);
    state(&mut facts.git_branch, git.branch);
    state(&mut facts.git_remote, git.repository_url);
}

fn state(fact: &mut Option<String>, said: Option<Str<'_>>) {
    if let Some(Str(said)) = said.filter(|it| !it.0.is_empty()) {
        *fact = Some(said.into_owned());
    }
}

/// What is in force from here on.
#[derive(Deserialize)]
struct Settings<'a> {
    #[serde(borrow)]
    model: Option<Str<'a>>,
    #[serde(borrow)]
    cwd: Option<Str<'a>>,
    #[serde(borrow)]
    turn_id: Option<Str<'a>>,
}

/// Reads `turn_context`: the model, which is in force until the next.
pub(super) fn turn_context(payload: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let said: Settings<'_> = serde_json::from_str(payload)?;
    if let Some(Str(turn)) = &said.turn_id {
        to.begin_turn(turn);
    }
    settings(said, to);
    Ok(Verdict::understood(""))
}

/// Reads `event_msg/thread_settings_applied`.
pub(super) fn thread_settings(payload: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Applied<'a> {
        #[serde(borrow)]
        thread_settings: Option<Settings<'a>>,
    }
    let applied: Applied<'_> = serde_json::from_str(payload)?;
    if let Some(said) = applied.thread_settings {
        settings(said, to);
    }
    Ok(Verdict::understood("thread_settings_applied"))
}

fn settings(said: Settings<'_>, to: &mut Scribe<'_>) {
    to.state_cwd(&text(said.cwd));
    let is_inherited = to.state.is_inherited(to.at);
    let model = text(said.model);
    if to.state.set_model(&model) && !is_inherited {
        let body = EventBody::Marker { name: "model".to_owned(), text: model.into_owned() };
        to.say(Author::Harness, body);
    }
}

/// Reads `task_started`: whose turn it is, if it is a sub-agent's.
pub(super) fn task_started(
    payload: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Started<'a> {
        #[serde(borrow)]
        turn_id: Option<Str<'a>>,
        #[serde(borrow)]
        turn_attribution: Option<Attribution<'a>>,
    }
    #[derive(Deserialize)]
    struct Attribution<'a> {
        #[serde(borrow)]
        parent_turn_id: Option<Str<'a>>,
        #[serde(borrow)]
        initiating_agent_path: Option<Str<'a>>,
    }
    let started: Started<'_> = serde_json::from_str(payload)?;
    to.begin_turn(&text(started.turn_id));
    to.state.clear(Mark::IsPersonsTurn);
    if let Some(Attribution { parent_turn_id: None, initiating_agent_path: None }) =
        started.turn_attribution
    {
        to.state.set(Mark::IsPersonsTurn);
    }
    Ok(Verdict::ignored(kind))
}

/// Reads `compacted`. What replaces the history repeats it and is passed over.
pub(super) fn compacted(payload: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Compacted<'a> {
        #[serde(borrow)]
        message: Option<Str<'a>>,
    }
    let compacted: Compacted<'_> = serde_json::from_str(payload)?;
    let summary = text(compacted.message).into_owned();
    let model = to.model();
    to.say(model, EventBody::Compaction { summary });
    Ok(Verdict::understood(""))
}

/// Reads `inter_agent_communication`: what another agent of the team says.
pub(super) fn inter_agent_communication(
    payload: &str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Communication<'a> {
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    let said: Communication<'_> = serde_json::from_str(payload)?;
    let text = content(said.content)?;
    if text.is_empty() {
        return Ok(Verdict::ignored("sealed"));
    }
    to.say(Author::Agent, EventBody::Message { text: text.into_owned() });
    Ok(Verdict::understood(""))
}
