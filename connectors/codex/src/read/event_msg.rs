//! Events of the user interface: `event_msg`.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody, Title, TitleOrigin, Usage};

use super::{
    envelope::own_kind,
    fact, item,
    json::{Json, Malformed},
    prompt::{Prompt, repeated},
    response_item::{answer, think},
    scribe::{Scribe, Verdict},
    state::Form,
    words::{Piece, image_note, loose, tag, text},
    work,
};

/// Kinds that hold nothing of their own, with the reason in the README.
const IGNORED: &[&str] = &[
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
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
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "exec_command_begin",
    "exec_command_output_delta",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "patch_apply_begin",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
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

/// Kinds that mostly hold nothing of their own, but may have words that stand nowhere else; and the
/// marker that they become then.
const REMARKS: &[(&str, &str)] = &[
    ("apply_patch_approval_request", "approval"),
    ("background_event", "notice"),
    ("deprecation_notice", "notice"),
    ("elicitation_request", "question"),
    ("exec_approval_request", "approval"),
    ("guardian_assessment", "assessment"),
    ("hook_completed", "hook"),
    ("model_reroute", "notice"),
    ("request_permissions", "approval"),
];

/// Reads an `event_msg`.
pub(super) fn read(event: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let tag = tag(event);
    let tag = tag.as_deref().unwrap_or_default();
    match tag {
        "token_count" => token_count(event, to),
        "item_completed" => item::completed(event, to),
        "user_message" => user_message(event, to),
        "agent_message" => {
            let message = Piece::Words(said(event)?);
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
        _ => {
            if let Some((kind, name)) = REMARKS.iter().find(|it| it.0 == tag) {
                return remark(event, kind, name, to);
            }
            Ok(match IGNORED.binary_search(&tag) {
                Ok(at) => Verdict::ignored(IGNORED[at]),
                Err(_) => Verdict::unknown(own_kind(tag)),
            })
        }
    }
}

fn said(event: Json<'_>) -> Result<Cow<'_, str>, Malformed> {
    let [message, words] = event.fields(["message", "text"])?;
    text(message.or(words))
}

/// What the person said; until 0.47 also what Codex injected, under another `kind`, which stands
/// as an item too.
fn user_message(event: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let names = ["message", "kind", "images", "local_images"];
    let [message, kind, images, local_images] = event.fields(names)?;
    if !matches!(text(kind)?.as_ref(), "" | "plain") {
        return Ok(Verdict::ignored(repeated("user_message")));
    }
    let mut prompt = Prompt::default();
    prompt.add(Piece::Words(text(message)?), None);
    for images in [images, local_images].into_iter().flatten() {
        for at in images.items()? {
            prompt.add(Piece::Note(image_note(&at.string()?)), None);
        }
    }
    if prompt.is_injected() {
        return Ok(Verdict::ignored(repeated("user_message")));
    }
    Ok(prompt.say(Form::Interface, "user_message", to))
}

fn thought(event: Json<'_>, kind: &'static str, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    Ok(think([said(event)?], Some(Form::Interface), kind, to))
}

fn thread_name_updated(event: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [name] = event.fields(["thread_name"])?;
    let text = text(name)?;
    if text.trim().is_empty() || to.is_inherited {
        return Ok(Verdict::ignored("thread_name_updated (empty)"));
    }
    let title = Title { text: text.trim().to_owned(), origin: TitleOrigin::Person };
    to.facts().title = Some(title);
    Ok(Verdict::understood("thread_name_updated"))
}

/// Says something worth a line of its own.
fn notice(
    event: Json<'_>,
    kind: &'static str,
    name: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let names = ["message", "reason", "user_facing_hint", "goal", "num_turns"];
    let [message, reason, hint, goal, n_turns] = event.fields(names)?;
    let objective = match goal {
        Some(goal) => goal.fields(["objective"])?[0],
        None => None,
    };
    let text = match n_turns {
        Some(n) => format!("turns: {}", n.number::<u64>()?),
        None => text(message.or(reason).or(hint).or(objective))?.into_owned(),
    };
    to.say(Author::Harness, EventBody::Marker { name: name.to_owned(), text });
    Ok(Verdict::understood(kind))
}

/// Says the words of an event that may have some.
fn remark(
    event: Json<'_>,
    kind: &'static str,
    name: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let mut words = Vec::new();
    let [inner, run] = event.fields(["request", "run"])?;
    for told in [Some(event), inner, run].into_iter().flatten() {
        let names = ["message", "summary", "details", "reason", "rationale", "status_message"];
        // Some of these names are others' too, who keep something else there.
        let found = told.fields(names).unwrap_or_default();
        words.extend(found.into_iter().flatten().filter_map(|it| it.string().ok()));
    }
    let [entries] = run.and_then(|it| it.fields(["entries"]).ok()).unwrap_or_default();
    for entry in entries.and_then(|it| it.items().ok()).unwrap_or_default() {
        let [said] = entry.fields(["text"]).unwrap_or_default();
        words.extend(said.and_then(|it| it.string().ok()));
    }
    words.retain(|it| !it.trim().is_empty());
    if words.is_empty() {
        return Ok(Verdict::ignored(kind));
    }
    let text = words.join("\n");
    to.say(Author::Harness, EventBody::Marker { name: name.to_owned(), text });
    Ok(Verdict::understood(kind))
}

/// Says that a review has ended, and with what.
pub(super) fn review_ended(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [output, review] = json.fields(["review_output", "review"])?;
    let review = output.or(review);
    let explanation = review.and_then(|it| it.fields(["overall_explanation"]).ok()?[0]);
    let text = match explanation.map(Json::string) {
        Some(Ok(explanation)) => explanation,
        Some(Err(Malformed)) | None => loose(review)?,
    };
    let body = EventBody::Marker { name: "review-ended".to_owned(), text: text.into_owned() };
    to.say(Author::Harness, body);
    Ok(Verdict::understood(kind))
}

/// Tokens of one call of the model, or of all of them.
struct Tokens {
    /// Those from the cache and those written to it included.
    input: u64,
    cache_read: u64,
    cache_write: u64,
    /// Reasoning included.
    output: u64,
}

impl Tokens {
    fn of(usage: Json<'_>) -> Result<Self, Malformed> {
        let names =
            ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"];
        let counts = usage.fields(names)?;
        let count = |it: Option<Json<'_>>| it.map_or(Ok(0), Json::number);
        let [input, cache_read, cache_write, output] = counts.map(count);
        Ok(Self {
            input: input?,
            cache_read: cache_read?,
            cache_write: cache_write?,
            output: output?,
        })
    }
}

/// Reads `token_count`: what the last call of the model cost, and all of them.
///
/// It is repeated whenever the limits are asked for. The totals then are the same, so they name
/// the call. What a fork copied was paid by its parent.
fn token_count(event: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [info] = event.fields(["info"])?;
    let usages = match info {
        Some(info) => info.fields(["total_token_usage", "last_token_usage"])?,
        None => [None; 2],
    };
    let [total, last] = usages.map(|it| it.map(Tokens::of).transpose());
    let (Some(total), Some(last)) = (total?, last?) else {
        return Ok(Verdict::ignored("token_count (limits)"));
    };
    if to.is_inherited {
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
        assert!(REMARKS.iter().all(|it| IGNORED.binary_search(&it.0).is_err()));
        for kind in IGNORED.iter().chain(REMARKS.iter().map(|it| &it.0)) {
            assert!(readme.contains(&format!("`{kind}`")), "`{kind}` is not in the README");
        }
    }
}
