//! What is known about a session, for an answer.

use ai_hist_model::{EventKind, Relation};
use ai_hist_store::{Store, StoreError, StoredSession};
use serde::Serialize;

use crate::{
    limits::{MAX_FILES, MAX_MODELS},
    row::{RowStyle, time},
};

/// What is known about a session. Absent fields were not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// Its title: recorded, else the beginning of its first prompt.
    pub title: String,
    /// Where it worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What was checked out there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// The models that spoke, with what they cost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usage: Vec<UsageRow>,
    /// The agent's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The program that started the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originator: Option<String>,
    /// A sub-agent's own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// When its first event happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_activity: Option<String>,
    /// When its last event happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<String>,
    /// How many events it has.
    pub n_events: u64,
    /// How many of them are prompts.
    pub n_prompts: u64,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The files that it changed, the last changed first; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_touched: Vec<String>,
    /// What it began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<FirstPrompt>,
    /// Its plan as it last stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
}

/// What was checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Git {
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The remote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// What one model cost, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsageRow {
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Model calls.
    pub calls: u64,
    /// Input tokens read anew.
    pub input: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
    /// Output tokens.
    pub output: u64,
}

/// The session that another comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parent {
    /// Its agent.
    pub source: String,
    /// Its id.
    pub session_id: String,
    /// In what way: `sub_agent`, `fork`.
    pub relation: &'static str,
}

/// What a session began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstPrompt {
    /// The event.
    pub seq: u64,
    /// Its words.
    pub text: String,
}

/// A plan as it stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The event.
    pub seq: u64,
    /// Its items, one a line.
    pub text: String,
}

/// What is known about `session`, up to event `head`.
pub fn summarize(
    store: &Store,
    session: &StoredSession,
    head: u64,
    style: RowStyle<'_>,
) -> Result<SessionSummary, StoreError> {
    let facts = &session.facts;
    let name = |text: &Option<String>| text.as_deref().map(|it| style.name(it));
    let git = Git {
        branch: name(&facts.git_branch),
        commit: name(&facts.git_commit),
        remote: name(&facts.git_remote),
    };
    let has_git = git.branch.is_some() || git.commit.is_some() || git.remote.is_some();
    let mut usage = store.usage(session.row)?;
    usage.truncate(MAX_MODELS);
    let files = store.files_touched(session.row, MAX_FILES)?;
    Ok(SessionSummary {
        title: style.name(session.display_title()),
        cwd: name(&facts.cwd),
        git: has_git.then_some(git),
        usage: usage
            .into_iter()
            .map(|it| UsageRow {
                model: name(&it.model),
                calls: it.n_calls,
                input: it.input,
                cache_read: it.cache_read,
                cache_write: it.cache_write,
                output: it.output,
            })
            .collect(),
        agent_version: name(&facts.agent_version),
        originator: name(&facts.originator),
        nickname: name(&facts.nickname),
        first_activity: session.started.and_then(time),
        last_activity: session.ended.and_then(time),
        n_events: session.n_events,
        n_prompts: session.n_prompts,
        parent: facts.lineage.as_ref().map(|it| Parent {
            source: it.parent.agent.to_string(),
            session_id: it.parent.native.to_string(),
            relation: match it.relation {
                Relation::SubAgent => "sub_agent",
                Relation::Fork => "fork",
            },
        }),
        files_touched: files.iter().map(|it| style.name(it)).collect(),
        first_prompt: first_prompt(store, session, head, style)?,
        plan: plan(store, session, head, style)?,
    })
}

fn first_prompt(
    store: &Store,
    session: &StoredSession,
    head: u64,
    style: RowStyle<'_>,
) -> Result<Option<FirstPrompt>, StoreError> {
    let mut first = store.first_of_kind(session.row, EventKind::Prompt, head)?;
    if first.is_none() {
        first = store.first_of_kind(session.row, EventKind::Task, head)?;
    }
    Ok(first
        .map(|it| FirstPrompt { seq: it.seq, text: style.row(&it, None).text.unwrap_or_default() }))
}

fn plan(
    store: &Store,
    session: &StoredSession,
    head: u64,
    style: RowStyle<'_>,
) -> Result<Option<Plan>, StoreError> {
    let last = store.last_of_kind(session.row, EventKind::Plan, head)?;
    Ok(last.map(|it| Plan { seq: it.seq, text: style.row(&it, None).text.unwrap_or_default() }))
}
