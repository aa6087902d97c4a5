//! Events of the user interface: `event_msg`.

use ai_hist_connector::model::{Author, EventBody, Title, TitleOrigin, Usage};
use serde::Deserialize;
use serde_json::{Error, value::RawValue};

use super::{
    envelope::own_kind,
    fact, item,
    prompt::{Prompt, repeated},
    response_item::{answer, think},
    scribe::{Scribe, Verdict},
    state::Form,
    words::{Piece, Str, image_note, loose, tag, text},
    work,
};

/// Kinds that hold nothing of their own, with the reason in the README.
const IGNORED: &[&str] = &[
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_output_delta",
    "guardian_assessment",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "model_reroute",
    "patch_apply_begin",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "request_permissions",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "sub_agent_activity",
    "task_complete",
    "terminal_interaction",
    "turn_complete",
    "turn_diff",
    "undo_started",
    "view_image_tool_call",
    "web_search_begin",
];

/// Reads an `event_msg`.
pub(super) fn read(event: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let tag = tag(event);
    let tag = tag.as_deref().unwrap_or_default();
    match tag {
        "token_count" => token_count(event, to),
        "item_completed" => item::completed(event, to),
        "user_message" => user_message(event, to),
        "agent_message" => {
            let message = Piece::Words(said(event)?.into());
            Ok(answer(vec![message], Some(Form::Interface), "agent_message", to))
        }
        "agent_reasoning" => thought(event, "agent_reasoning", to),
        "agent_reasoning_raw_content" => thought(event, "agent_reasoning_raw_content", to),
        "exec_command_end" => work::command(event, "exec_command_end", to),
        "mcp_tool_call_end" => work::mcp(event, "mcp_tool_call_end", to),
        "patch_apply_end" => work::file_change(event, "patch_apply_end", to),
        "web_search_end" => work::web_search(event, "web_search_end", to),
        "task_started" => fact::task_started(event, "task_started", to),
        "turn_started" => fact::task_started(event, "turn_started", to),
        "thread_settings_applied" => fact::thread_settings(event, to),
        "thread_name_updated" => thread_name_updated(event, to),
        "turn_aborted" => notice(event, "turn_aborted", "interrupted", to),
        "error" => notice(event, "error", "error", to),
        "stream_error" => notice(event, "stream_error", "error", to),
        "warning" => notice(event, "warning", "warning", to),
        "entered_review_mode" => notice(event, "entered_review_mode", "review", to),
        "exited_review_mode" => review_ended(event, "exited_review_mode", to),
        "thread_rolled_back" => notice(event, "thread_rolled_back", "rolled-back", to),
        "undo_completed" => notice(event, "undo_completed", "undo", to),
        "thread_goal_updated" => notice(event, "thread_goal_updated", "goal", to),
        _ => Ok(match IGNORED.binary_search(&tag) {
            Ok(at) => Verdict::ignored(IGNORED[at]),
            Err(_) => Verdict::unknown(own_kind(tag)),
        }),
    }
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    message: Option<Str<'a>>,
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    images: Option<Vec<Str<'a>>>,
    #[serde(borrow)]
    local_images: Option<Vec<Str<'a>>>,
}

fn said(event: &str) -> Result<String, Error> {
    let said: Said<'_> = serde_json::from_str(event)?;
    Ok(text(said.message.or(said.text)).into_owned())
}

/// What the person said; until 0.47 also what Codex injected, under another `kind`, which stands
/// as an item too.
fn user_message(event: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let said: Said<'_> = serde_json::from_str(event)?;
    if !matches!(text(said.kind).as_ref(), "" | "plain") {
        return Ok(Verdict::ignored(repeated("user_message")));
    }
    let mut prompt = Prompt::default();
    prompt.add(Piece::Words(text(said.message)), None);
    let images = [said.images, said.local_images].into_iter().flatten().flatten();
    for Str(at) in images {
        prompt.add(Piece::Note(image_note(&at)), None);
    }
    if prompt.is_injected() {
        return Ok(Verdict::ignored(repeated("user_message")));
    }
    Ok(prompt.say(Form::Interface, "user_message", to))
}

fn thought(event: &str, kind: &'static str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let thought = said(event)?;
    Ok(think([thought].iter(), Some(Form::Interface), kind, to))
}

fn thread_name_updated(event: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Renamed<'a> {
        #[serde(borrow)]
        thread_name: Option<Str<'a>>,
    }
    let renamed: Renamed<'_> = serde_json::from_str(event)?;
    let text = text(renamed.thread_name);
    if text.trim().is_empty() || to.state.is_inherited(to.at) {
        return Ok(Verdict::ignored("thread_name_updated (empty)"));
    }
    let title = Title { text: text.trim().to_owned(), origin: TitleOrigin::Person };
    to.facts().title = Some(title);
    Ok(Verdict::understood("thread_name_updated"))
}

/// Says something worth a line of its own.
fn notice(
    event: &str,
    kind: &'static str,
    name: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Notice<'a> {
        #[serde(borrow)]
        message: Option<Str<'a>>,
        #[serde(borrow)]
        reason: Option<Str<'a>>,
        #[serde(borrow)]
        user_facing_hint: Option<Str<'a>>,
        #[serde(borrow)]
        goal: Option<Goal<'a>>,
        num_turns: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Goal<'a> {
        #[serde(borrow)]
        objective: Option<Str<'a>>,
    }
    let notice: Notice<'_> = serde_json::from_str(event)?;
    let goal = notice.goal.and_then(|it| it.objective);
    let words = notice.message.or(notice.reason).or(notice.user_facing_hint).or(goal);
    let text = match notice.num_turns {
        Some(n) => format!("turns: {n}"),
        None => text(words).into_owned(),
    };
    to.say(Author::Harness, EventBody::Marker { name: name.to_owned(), text });
    Ok(Verdict::understood(kind))
}

/// Says that a review has ended, and with what.
pub(super) fn review_ended(
    json: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Ended<'a> {
        #[serde(borrow)]
        review_output: Option<&'a RawValue>,
        #[serde(borrow)]
        review: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Review<'a> {
        #[serde(borrow)]
        overall_explanation: Option<Str<'a>>,
    }
    let ended: Ended<'_> = serde_json::from_str(json)?;
    let review = ended.review_output.or(ended.review);
    let judged = review.and_then(|it| serde_json::from_str::<Review<'_>>(it.get()).ok());
    let text = match judged.and_then(|it| it.overall_explanation) {
        Some(Str(explanation)) => explanation,
        None => loose(review)?,
    };
    let body = EventBody::Marker { name: "review-ended".to_owned(), text: text.into_owned() };
    to.say(Author::Harness, body);
    Ok(Verdict::understood(kind))
}

#[derive(Deserialize)]
struct Tokens {
    /// Those from the cache and those written to it included.
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "cached_input_tokens")]
    cache_read: u64,
    #[serde(default, rename = "cache_write_input_tokens")]
    cache_write: u64,
    /// Reasoning included.
    #[serde(default, rename = "output_tokens")]
    output: u64,
}

/// Reads `token_count`: what the last call of the model cost, and all of them.
///
/// It is repeated whenever the limits are asked for. The totals then are the same, so they name
/// the call. What a fork copied was paid by its parent.
fn token_count(event: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct TokenCount {
        info: Option<Info>,
    }
    #[derive(Deserialize)]
    struct Info {
        total_token_usage: Option<Tokens>,
        last_token_usage: Option<Tokens>,
    }
    let count: TokenCount = serde_json::from_str(event)?;
    let Some(Info { total_token_usage: Some(total), last_token_usage: Some(last) }) = count.info
    else {
        return Ok(Verdict::ignored("token_count (limits)"));
    };
    if to.state.is_inherited(to.at) {
        return Ok(Verdict::ignored("token_count (of another session)"));
    }
    if last.input == 0 && last.output == 0 {
        return Ok(Verdict::ignored("token_count (no cost)"));
    }
    let model = to.state.model.clone();
    let at = to.at;
    to.charge(|session| Usage {
        session,
        key: format!("{}+{}", total.input, total.output),
        model,
        at,
        input: last.input.saturating_sub(last.cache_read).saturating_sub(last.cache_write),
        cache_read: last.cache_read,
        cache_write: last.cache_write,
        output: last.output,
    });
    Ok(Verdict::understood("token_count"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_in_order_and_explained() {
        assert!(IGNORED.is_sorted());
        let readme = include_str!("../../README.md");
        for kind in IGNORED {
            assert!(readme.contains(&format!("`{kind}`")), "`{kind}` is not in the README");
        }
    }
}
