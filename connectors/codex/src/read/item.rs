//! Items of the user interface: `event_msg/item_completed`, in place of the older events.

use ai_hist_connector::model::EventBody;

use super::{
    envelope::own_kind,
    event_msg::review_ended,
    json::{Json, Malformed},
    prompt::{Prompt, repeated},
    response_item::{answer, think},
    scribe::{Scribe, Verdict},
    state::{Form, Repeatable},
    words::{pieces, tag, text},
    work,
};

/// Reads `item_completed`.
pub(super) fn completed(payload: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [completed] = payload.fields(["item"])?;
    Ok(item(completed.ok_or(Malformed)?, to)?.below("item_completed"))
}

fn item(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    match tag(item).as_deref().unwrap_or_default() {
        "UserMessage" => user_message(item, to),
        "AgentMessage" => {
            let [content] = item.fields(["content"])?;
            let pieces = pieces(content).unwrap_or_default();
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

/// What the person said. Codex itself speaks in other items only.
fn user_message(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [content] = item.fields(["content"])?;
    let mut prompt = Prompt::default();
    for piece in pieces(content).unwrap_or_default() {
        prompt.add(piece, Some("user.text"));
    }
    Ok(prompt.say(Form::Interface, "UserMessage", to))
}

fn reasoning(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let mut thoughts = Vec::new();
    for told in item.fields(["summary_text", "raw_content"])?.into_iter().flatten() {
        for thought in told.items()? {
            thoughts.push(thought.string()?);
        }
    }
    Ok(think(thoughts, Some(Form::Interface), "Reasoning", to))
}

fn plan(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [said] = item.fields(["text"])?;
    let text = text(said)?;
    if to.state.is_repeat(Repeatable::Plan, Form::Interface, &text) {
        return Ok(Verdict::ignored(repeated("Plan")));
    }
    to.say(to.model(), EventBody::Plan { text: text.trim().to_owned() });
    Ok(Verdict::understood("Plan"))
}
