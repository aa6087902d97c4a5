//! Items of the user interface: `event_msg/item_completed`, in place of the older events.

use ai_hist_connector::model::EventBody;
use serde::Deserialize;
use serde_json::{Error, value::RawValue};

use super::{
    envelope::own_kind,
    event_msg::review_ended,
    prompt::{Prompt, repeated},
    response_item::{answer, think},
    scribe::{Scribe, Verdict},
    state::{Form, Repeatable},
    words::{Str, pieces, tag, text},
    work,
};

/// Reads `item_completed`.
pub(super) fn completed(payload: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Completed<'a> {
        #[serde(borrow)]
        item: &'a RawValue,
    }
    let completed: Completed<'_> = serde_json::from_str(payload)?;
    Ok(item(completed.item.get(), to)?.below("item_completed"))
}

fn item(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    match tag(item).as_deref().unwrap_or_default() {
        "UserMessage" => user_message(item, to),
        "AgentMessage" => {
            let Content { content } = serde_json::from_str(item)?;
            let pieces = pieces(content)?.unwrap_or_default();
            Ok(answer(pieces, Some(Form::Interface), "AgentMessage", to))
        }
        "Reasoning" => reasoning(item, to),
        "Plan" => plan(item, to),
        "CommandExecution" => work::command(item, "CommandExecution", to),
        "McpToolCall" => work::mcp(item, "McpToolCall", to),
        "FileChange" => work::file_change(item, "FileChange", to),
        "WebSearch" => work::web_search(item, "WebSearch", to),
        "ImageView" => work::image_view(item, "ImageView", to),
        "CollabAgentToolCall" => work::collaboration(item, "CollabAgentToolCall", to),
        "EnteredReviewMode" => Ok(Verdict::ignored(repeated("EnteredReviewMode"))),
        "ExitedReviewMode" => review_ended(item, "ExitedReviewMode", to),
        "ContextCompaction" => Ok(Verdict::ignored("ContextCompaction")),
        "DynamicToolCall" => Ok(Verdict::ignored("DynamicToolCall")),
        "FunctionCallOutput" => Ok(Verdict::ignored("FunctionCallOutput")),
        "HookPrompt" => Ok(Verdict::ignored("HookPrompt")),
        "ImageGeneration" => Ok(Verdict::ignored("ImageGeneration")),
        "Sleep" => Ok(Verdict::ignored("Sleep")),
        "SubAgentActivity" => Ok(Verdict::ignored("SubAgentActivity")),
        kind => Ok(Verdict::unknown(own_kind(kind))),
    }
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// What the person said. Codex itself speaks in other items only.
fn user_message(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let Content { content } = serde_json::from_str(item)?;
    let mut prompt = Prompt::default();
    for piece in pieces(content)?.unwrap_or_default() {
        prompt.add(piece, Some("user.text"));
    }
    Ok(prompt.say(Form::Interface, "UserMessage", to))
}

fn reasoning(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Reasoning<'a> {
        #[serde(borrow)]
        summary_text: Option<Vec<Str<'a>>>,
        #[serde(borrow)]
        raw_content: Option<Vec<Str<'a>>>,
    }
    let reasoning: Reasoning<'_> = serde_json::from_str(item)?;
    let thoughts = [reasoning.summary_text, reasoning.raw_content];
    let thoughts = thoughts.into_iter().flatten().flatten().map(|it| it.0);
    Ok(think(thoughts, Some(Form::Interface), "Reasoning", to))
}

fn plan(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Plan<'a> {
        #[serde(borrow)]
        text: Option<Str<'a>>,
    }
    let plan: Plan<'_> = serde_json::from_str(item)?;
    let text = text(plan.text);
    if to.state.is_repeat(Repeatable::Plan, Form::Interface, &text) {
        return Ok(Verdict::ignored(repeated("Plan")));
    }
    to.say(to.model(), EventBody::Plan { text: text.trim().to_owned() });
    Ok(Verdict::understood("Plan"))
}
