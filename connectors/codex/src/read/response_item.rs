//! Items of the model's API: what is sent to the model and what it answers.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody};

use super::{
    bare,
    envelope::own_kind,
    json::{Json, Malformed},
    prompt::{Prompt, repeated},
    scribe::{Scribe, Verdict},
    state::{Form, Repeatable},
    tool,
    voice::proposed_plan,
    words::{self, Piece, content, pieces, push_line, tag, text},
};

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// In an envelope.
    Envelope,
    /// In an envelope that says that it is what a compaction made.
    Compaction,
    /// On a line of its own.
    Bare,
}

/// Reads a `response_item`.
pub(super) fn read(
    item: Json<'_>,
    origin: Origin,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    match tag(item).as_deref().unwrap_or_default() {
        "message" => message(item, origin, to),
        "reasoning" => reasoning(item, origin, to),
        "function_call" => tool::function_call(item, to),
        "custom_tool_call" => tool::custom_tool_call(item, to),
        "local_shell_call" => tool::local_shell_call(item, to),
        "web_search_call" => tool::web_search_call(item, to),
        "tool_search_call" => tool::tool_search_call(item, to),
        "image_generation_call" => tool::image_generation_call(item, to),
        "function_call_output" => tool::output(item, "function_call_output", to),
        "custom_tool_call_output" => tool::output(item, "custom_tool_call_output", to),
        "local_shell_call_output" => tool::output(item, "local_shell_call_output", to),
        "tool_search_output" => tool::tool_search_output(item, to),
        "agent_message" => agent_message(item, to),
        "additional_tools" => Ok(Verdict::ignored("additional_tools")),
        "compaction" => Ok(Verdict::ignored("compaction")),
        "compaction_summary" => Ok(Verdict::ignored("compaction_summary")),
        "context_compaction" => Ok(Verdict::ignored("context_compaction")),
        "ghost_snapshot" => Ok(Verdict::ignored("ghost_snapshot")),
        "other" => Ok(Verdict::ignored("other")),
        kind => Ok(Verdict::unknown(own_kind(kind))),
    }
}

fn message(item: Json<'_>, origin: Origin, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [role, content] = item.fields(["role", "content"])?;
    match text(role)?.as_ref() {
        "user" => {
            let [passthrough] = item.fields(["internal_chat_message_metadata_passthrough"])?;
            let kinds = passthrough.and_then(|it| kinds(it).ok());
            user(content, &kinds.unwrap_or_default(), origin, to)
        }
        "assistant" if origin == Origin::Compaction => {
            Ok(Verdict::ignored(repeated("message/assistant")))
        }
        "assistant" => assistant(content, origin, to),
        "developer" => context(content, "message/developer", to),
        "system" => context(content, "message/system", to),
        role => Ok(Verdict::unknown(own_kind(&format!("message/{role}")))),
    }
}

fn user(
    said: Option<Json<'_>>,
    kinds: &[Cow<'_, str>],
    origin: Origin,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let kind = "message/user";
    let mut prompt = Prompt::default();
    match pieces(said) {
        Some(pieces) => {
            for (i, piece) in pieces.into_iter().enumerate() {
                if origin == Origin::Bare
                    && let Piece::Words(words) = &piece
                    && words.trim_start().starts_with("<environment_context>")
                    && let Some(cwd) = bare::cwd(words)
                {
                    to.state_cwd(cwd);
                }
                prompt.add(piece, kinds.get(i).map(|it| &**it));
            }
        }
        None => prompt.add(Piece::Words(words::loose(said)?), None),
    }
    Ok(prompt.say(Form::Api, kind, to))
}

fn assistant(
    said: Option<Json<'_>>,
    origin: Origin,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let pieces = match pieces(said) {
        Some(pieces) => pieces,
        None => vec![Piece::Words(words::loose(said)?)],
    };
    let form = if origin == Origin::Bare { None } else { Some(Form::Api) };
    Ok(answer(pieces, form, "message/assistant", to))
}

/// Says what the model said, but for the pieces that it said in the other form.
pub(super) fn answer(
    pieces: Vec<Piece<'_>>,
    form: Option<Form>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Verdict {
    let is_repeat = |what, words: &str, to: &mut Scribe<'_>| {
        form.is_some_and(|form| to.state.is_repeat(what, form, words))
    };
    let mut out = String::new();
    let mut has_repeat = false;
    let mut plans = Vec::new();
    for piece in pieces {
        let words = match piece {
            Piece::Words(words) => words,
            Piece::Note(note) => note.into(),
            Piece::Wrapper => continue,
        };
        if words.trim().is_empty() {
            continue;
        }
        if let Some(plan) = proposed_plan(&words) {
            if is_repeat(Repeatable::Plan, plan, to) {
                has_repeat = true;
            } else {
                plans.push(plan.to_owned());
            }
        } else if is_repeat(Repeatable::Answer, &words, to) {
            has_repeat = true;
        } else {
            push_line(&mut out, &words);
        }
    }
    if out.is_empty() && plans.is_empty() {
        return Verdict::ignored(if has_repeat {
            repeated(kind)
        } else {
            format!("{kind} (empty)").into()
        });
    }
    if !out.is_empty() {
        to.say(to.model(), EventBody::Message { text: out });
    }
    for text in plans {
        to.say(to.model(), EventBody::Plan { text });
    }
    Verdict::understood(kind)
}

/// What Codex tells the model in its own name.
fn context(
    said: Option<Json<'_>>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let text = content(said)?.into_owned();
    to.say(Author::Harness, EventBody::Message { text });
    Ok(Verdict::understood(kind))
}

/// What Codex calls each piece of a message, where it says.
fn kinds(passthrough: Json<'_>) -> Result<Vec<Cow<'_, str>>, Malformed> {
    let [kinds] = passthrough.fields(["content_item_kinds"])?;
    kinds.map_or(Ok(Vec::new()), |it| it.items()?.into_iter().map(Json::string).collect())
}

fn reasoning(item: Json<'_>, origin: Origin, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let told = item.fields(["summary", "content"])?;
    let thoughts = told.into_iter().filter_map(pieces).flatten().filter_map(|piece| match piece {
        Piece::Words(words) => Some(words),
        Piece::Note(_) | Piece::Wrapper => None,
    });
    let form = if origin == Origin::Bare { None } else { Some(Form::Api) };
    Ok(think(thoughts, form, "reasoning", to))
}

/// Says what the model thought, but for the thoughts that were told in the other form.
pub(super) fn think<'a>(
    thoughts: impl IntoIterator<Item = Cow<'a, str>>,
    form: Option<Form>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Verdict {
    let mut has_repeat = false;
    let mut has_news = false;
    for thought in thoughts {
        if thought.trim().is_empty() {
            continue;
        }
        if form.is_some_and(|form| to.state.is_repeat(Repeatable::Thought, form, &thought)) {
            has_repeat = true;
            continue;
        }
        has_news = true;
        to.say(to.model(), EventBody::Reasoning { text: thought.into_owned() });
    }
    match (has_news, has_repeat) {
        (true, _) => Verdict::understood(kind),
        (false, true) => Verdict::ignored(repeated(kind)),
        (false, false) => Verdict::ignored(format!("{kind} (sealed)")),
    }
}

/// What another agent of the team says. The task of a sub-agent is sealed by the provider.
fn agent_message(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [said] = item.fields(["content"])?;
    let text = content(said)?.into_owned();
    to.say(Author::Agent, EventBody::Message { text });
    Ok(Verdict::understood("agent_message"))
}
