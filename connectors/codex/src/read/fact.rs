//! Records that state facts: `session_meta`, `turn_context`, `compacted`, and their kin.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody, Lineage, NativeSessionId, Relation};

use super::{
    inherited::made,
    json::{Json, Malformed},
    scribe::{Scribe, Verdict},
    state::Mark,
    words::{content, text},
};
use crate::session_key;

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
pub(super) fn session_meta(payload: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let names = ["id", "cwd", "originator", "cli_version", "git"];
    let [id, cwd, originator, version, git] = payload.fields(names)?;
    let id = text(id)?;
    if to.state.is(Mark::HasMeta) && !to.is_own(&id) {
        to.state.inherited.begin(to.at);
        let is_news = lineage(to, &id, Relation::Fork);
        let kind = "(of another session)";
        return Ok(if is_news { Verdict::understood(kind) } else { Verdict::ignored(kind) });
    }
    let (cwd, originator, version) = (text(cwd)?, text(originator)?, text(version)?);
    let origin = Origin::of(payload)?;
    to.state.set(Mark::HasMeta);
    to.state_cwd(&cwd);
    let facts = to.facts();
    state(&mut facts.originator, originator);
    state(&mut facts.agent_version, version);
    if let Some(git) = git {
        state_git(to, git)?;
    }
    origin.state(&id, to);
    Ok(Verdict::understood(""))
}

/// What a `session_meta` says of where the session comes from.
struct Origin<'a> {
    /// What Codex says of a sub-agent in `source`.
    spawn: Option<Spawn<'a>>,
    parent: Option<Cow<'a, str>>,
    forked_from: Option<Cow<'a, str>>,
    nickname: Option<Cow<'a, str>>,
    /// The ordinal of the first record that is not copied.
    first_own: Option<u64>,
}

impl<'a> Origin<'a> {
    fn of(payload: Json<'a>) -> Result<Self, Malformed> {
        let names = ["source", "parent_thread_id", "forked_from_id"];
        let [source, parent, forked_from] = payload.fields(names)?;
        let names = ["history_base", "subagent_history_start_ordinal"];
        let [base, first_own] = payload.fields(names)?;
        let [base_thread, base_end] = match base.map(|it| it.fields(BASE_NAMES)) {
            Some(Ok(found)) => found,
            Some(Err(Malformed)) | None => [None; 2],
        };
        let string = |it: Option<Json<'a>>| it.map(Json::string).transpose();
        let forked_from = match string(forked_from)? {
            Some(thread) => Some(thread),
            None => base_thread.and_then(|it| it.string().ok()),
        };
        Ok(Self {
            spawn: source.and_then(spawn),
            parent: string(parent)?,
            forked_from,
            nickname: first_of(payload.fields(["agent_nickname", "agent_role", "agent_path"])?)?,
            first_own: first_own.or(base_end).and_then(|it| it.number().ok()),
        })
    }

    /// States what a sub-agent is called and where the session comes from.
    fn state(self, id: &str, to: &mut Scribe<'_>) {
        if let Some(ordinal) = self.first_own {
            to.state.inherited.end_at_ordinal(ordinal);
        }
        let is_sub_agent = self.spawn.is_some() || self.parent.is_some();
        let spawn = self.spawn.unwrap_or_default();
        if let Some(nickname) = self.nickname.or(spawn.nickname) {
            to.facts().nickname = Some(nickname.into_owned());
        }
        if is_sub_agent {
            to.state.set(Mark::IsSubAgent);
            let parent = self.parent.or(spawn.parent).or(self.forked_from);
            lineage(to, parent.as_deref().unwrap_or(id), Relation::SubAgent);
        } else if let Some(parent) = self.forked_from {
            lineage(to, &parent, Relation::Fork);
        }
    }
}

const BASE_NAMES: [&str; 2] = ["thread_id", "end_ordinal_exclusive"];

/// The first of strings that is not empty.
fn first_of<const N: usize>(
    strings: [Option<Json<'_>>; N],
) -> Result<Option<Cow<'_, str>>, Malformed> {
    for string in strings.into_iter().flatten() {
        let string = string.string()?;
        if !string.is_empty() {
            return Ok(Some(string));
        }
    }
    Ok(None)
}

/// States that the session comes from `parent`, unless another was stated or it cannot be: it is
/// the session itself, or was made later. So two sessions never come from each other.
fn lineage(to: &mut Scribe<'_>, parent: &str, relation: Relation) -> bool {
    let is_later = made(to.own()).zip(made(parent)).is_some_and(|(own, parent)| own < parent);
    let Some(native) = NativeSessionId::parse(parent).filter(|_| !to.is_own(parent) && !is_later)
    else {
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
fn spawn(source: Json<'_>) -> Option<Spawn<'_>> {
    let [sub_agent] = source.fields(["subagent"]).ok()?;
    let sub_agent = sub_agent?;
    if let Ok(nickname) = sub_agent.string() {
        return Some(Spawn { parent: None, nickname: Some(nickname) });
    }
    Some(thread_spawn(sub_agent).unwrap_or_default())
}

fn thread_spawn(sub_agent: Json<'_>) -> Result<Spawn<'_>, Malformed> {
    let [spawn, other] = sub_agent.fields(["thread_spawn", "other"])?;
    let Some(spawn) = spawn else {
        return Ok(Spawn { parent: None, nickname: other.map(Json::string).transpose()? });
    };
    let [parent] = spawn.fields(["parent_thread_id"])?;
    Ok(Spawn {
        parent: parent.map(Json::string).transpose()?,
        nickname: first_of(spawn.fields(["agent_nickname", "agent_role", "agent_path"])?)?,
    })
}

/// States which revision of which repository was checked out.
pub(super) fn state_git(to: &mut Scribe<'_>, git: Json<'_>) -> Result<(), Malformed> {
    let [commit, branch, remote] = git.fields(["commit_hash", "branch", "repository_url"])?;
    let (commit, branch, remote) = (text(commit)?, text(branch)?, text(remote)?);
    let facts = to.facts();
    state(&mut facts.git_commit, commit);
    state(&mut facts.git_branch, branch);
    state(&mut facts.git_remote, remote);
    Ok(())
}

fn state(fact: &mut Option<String>, said: Cow<'_, str>) {
    if !said.is_empty() {
        *fact = Some(said.into_owned());
    }
}

/// Reads `turn_context`: the model, which is in force until the next.
pub(super) fn turn_context(payload: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [turn, cwd, model] = payload.fields(["turn_id", "cwd", "model"])?;
    let (turn, cwd, model) = (text(turn)?, text(cwd)?, text(model)?);
    to.begin_turn(&turn);
    settings(&cwd, &model, to);
    Ok(Verdict::understood(""))
}

/// Reads `event_msg/thread_settings_applied`.
pub(super) fn thread_settings(
    payload: Json<'_>,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [applied] = payload.fields(["thread_settings"])?;
    if let Some(applied) = applied {
        let [cwd, model] = applied.fields(["cwd", "model"])?;
        settings(&text(cwd)?, &text(model)?, to);
    }
    Ok(Verdict::understood("thread_settings_applied"))
}

/// States what is in force from here on.
fn settings(cwd: &str, model: &str, to: &mut Scribe<'_>) {
    to.state_cwd(cwd);
    if to.state.set_model(model) && !to.is_inherited {
        let body = EventBody::Marker { name: "model".to_owned(), text: model.to_owned() };
        to.say(Author::Harness, body);
    }
}

/// Reads `task_started`: whose turn it is, if it is a sub-agent's.
pub(super) fn task_started(
    payload: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [turn, attribution] = payload.fields(["turn_id", "turn_attribution"])?;
    to.begin_turn(&text(turn)?);
    to.state.clear(Mark::IsPersonsTurn);
    if let Some(attribution) = attribution
        && let [None, None] = attribution.fields(["parent_turn_id", "initiating_agent_path"])?
    {
        to.state.set(Mark::IsPersonsTurn);
    }
    Ok(Verdict::ignored(kind))
}

/// Reads `compacted`. What replaces the history repeats it and is passed over.
pub(super) fn compacted(payload: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [message] = payload.fields(["message"])?;
    let summary = text(message)?.into_owned();
    to.say(to.model(), EventBody::Compaction { summary });
    Ok(Verdict::understood(""))
}

/// Reads `inter_agent_communication`: what another agent of the team says.
pub(super) fn inter_agent_communication(
    payload: Json<'_>,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [said] = payload.fields(["content"])?;
    let text = content(said)?;
    if text.is_empty() {
        return Ok(Verdict::ignored("sealed"));
    }
    to.say(Author::Agent, EventBody::Message { text: text.into_owned() });
    Ok(Verdict::understood(""))
}
