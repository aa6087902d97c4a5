//! Calls of tools, and their results.

use std::fmt::Write as _;

use ai_hist_connector::model::{Author, EventBody, ToolOutcome};
use serde::Deserialize;
use serde_json::{Error, value::RawValue};

use super::{
    output, patch,
    scribe::{Scribe, Verdict},
    words::{Str, loose, text},
};

#[derive(Deserialize)]
struct Call<'a> {
    /// The item's.
    #[serde(borrow)]
    id: Option<Str<'a>>,
    /// What joins it to its result.
    #[serde(borrow, rename = "call_id")]
    joint: Option<Str<'a>>,
    #[serde(borrow)]
    name: Option<Str<'a>>,
    #[serde(borrow)]
    namespace: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    revised_prompt: Option<Str<'a>>,
    result: Option<serde::de::IgnoredAny>,
}

/// Reads `function_call`, whose arguments are JSON in a string.
pub(super) fn function_call(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let call: Call<'_> = serde_json::from_str(item)?;
    let input = loose(call.arguments)?.into_owned();
    let name = text(call.name);
    let tool = match call.namespace {
        Some(Str(namespace)) if namespace.starts_with("mcp__") => format!("{namespace}__{name}"),
        Some(_) | None => name.clone().into_owned(),
    };
    let plan = if name == "update_plan" { plan(&input) } else { None };
    let id = id(call.joint.or(call.id), to);
    expect_edits(item, &id, to)?;
    say_call(id, tool, input, to);
    if let Some(text) = plan {
        to.say(to.model(), EventBody::Plan { text });
    }
    Ok(Verdict::understood("function_call"))
}

/// Reads `custom_tool_call`, whose input is text: a patch, a script.
pub(super) fn custom_tool_call(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let call: Call<'_> = serde_json::from_str(item)?;
    let input = loose(call.input)?.into_owned();
    let id = id(call.joint.or(call.id), to);
    expect_edits(item, &id, to)?;
    say_call(id, text(call.name).into_owned(), input, to);
    Ok(Verdict::understood("custom_tool_call"))
}

/// Reads `local_shell_call`.
pub(super) fn local_shell_call(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let call: Call<'_> = serde_json::from_str(item)?;
    let input = loose(call.action)?.into_owned();
    let id = id(call.joint.or(call.id), to);
    expect_edits(item, &id, to)?;
    say_call(id, "local_shell".to_owned(), input, to);
    Ok(Verdict::understood("local_shell_call"))
}

/// Reads `web_search_call`. The provider runs it; there is no result.
pub(super) fn web_search_call(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let call: Call<'_> = serde_json::from_str(item)?;
    let input = loose(call.action)?.into_owned();
    let id = id(call.joint.or(call.id), to);
    say_call(id, "web_search".to_owned(), input, to);
    Ok(Verdict::understood("web_search_call"))
}

/// Reads `tool_search_call`: the model looks for tools that it has not been shown.
pub(super) fn tool_search_call(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let call: Call<'_> = serde_json::from_str(item)?;
    let input = loose(call.arguments)?.into_owned();
    let id = id(call.joint.or(call.id), to);
    say_call(id, "tool_search".to_owned(), input, to);
    Ok(Verdict::understood("tool_search_call"))
}

/// Reads `image_generation_call`, which holds its result.
pub(super) fn image_generation_call(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let call: Call<'_> = serde_json::from_str(item)?;
    let has_result = call.result.is_some();
    let id = id(call.joint.or(call.id), to);
    let input = text(call.revised_prompt).into_owned();
    say_call(id.clone(), "image_generation".to_owned(), input, to);
    if has_result {
        say_result(id, ToolOutcome::Success, "[image]".to_owned(), to);
    }
    Ok(Verdict::understood("image_generation_call"))
}

#[derive(Deserialize)]
struct CallOutput<'a> {
    #[serde(borrow)]
    call_id: Option<Str<'a>>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<Str<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

/// Reads the result of a call. If a patch was to be applied and was, these are its edits: older
/// versions record no others.
pub(super) fn output(
    item: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    let said: CallOutput<'_> = serde_json::from_str(item)?;
    let output = output::read(said.output)?;
    let call = text(said.call_id).into_owned();
    let edits = to.state.take_edits(&call);
    if output.outcome == ToolOutcome::Success {
        patch::say(edits, &call, to);
    }
    say_result(call, output.outcome, output.text.into_owned(), to);
    Ok(Verdict::understood(kind))
}

/// Reads `tool_search_output`. Of the tools found the names are told: their descriptions are the
/// servers', and long.
pub(super) fn tool_search_output(item: &str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Tool<'a> {
        #[serde(borrow)]
        name: Option<Str<'a>>,
        #[serde(borrow)]
        tools: Option<Vec<Tool<'a>>>,
    }
    let said: CallOutput<'_> = serde_json::from_str(item)?;
    let tools = said.tools.map_or("[]", RawValue::get);
    let mut out = String::new();
    for tool in serde_json::from_str::<Option<Vec<Tool<'_>>>>(tools)?.unwrap_or_default() {
        let inner: Vec<_> = tool.tools.into_iter().flatten().map(|it| text(it.name)).collect();
        let name = text(tool.name);
        let _ = if inner.is_empty() {
            writeln!(out, "{name}")
        } else {
            writeln!(out, "{name}: {}", inner.join(", "))
        };
    }
    let outcome = output::of_status(said.status.as_ref());
    say_result(text(said.call_id).into_owned(), outcome, out, to);
    Ok(Verdict::understood("tool_search_output"))
}

/// Says that the model calls a tool.
pub(super) fn say_call(call: String, tool: String, input: String, to: &mut Scribe<'_>) {
    to.say(to.model(), EventBody::ToolCall { call, tool, input });
}

/// Says what a tool answers.
pub(super) fn say_result(call: String, outcome: ToolOutcome, output: String, to: &mut Scribe<'_>) {
    to.say(Author::Tool, EventBody::ToolResult { call, outcome, output });
}

/// The call's own name, or the record's where it has none.
fn id(id: Option<Str<'_>>, to: &Scribe<'_>) -> String {
    match id {
        Some(Str(id)) if !id.is_empty() => id.into_owned(),
        Some(_) | None => to.key().to_owned(),
    }
}

fn expect_edits(item: &str, call: &str, to: &mut Scribe<'_>) -> Result<(), Error> {
    let edits = patch::edits_of_call(item)?;
    if !edits.is_empty() {
        to.state.expect_edits(call, to.span, edits);
    }
    Ok(())
}

/// The plan in the arguments of `update_plan`: an item a line.
pub(super) fn plan(arguments: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Plan<'a> {
        #[serde(borrow)]
        plan: Vec<Step<'a>>,
    }
    #[derive(Deserialize)]
    struct Step<'a> {
        #[serde(borrow)]
        step: Option<Str<'a>>,
        #[serde(borrow)]
        status: Option<Str<'a>>,
    }
    let plan: Plan<'_> = serde_json::from_str(arguments).ok()?;
    let mut out = String::new();
    for Step { step, status } in plan.plan {
        let mark = match text(status).as_ref() {
            "completed" => 'x',
            "in_progress" => '~',
            _ => ' ',
        };
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "[{mark}] {}", text(step));
    }
    Some(out).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_an_item_a_line() {
        let arguments = r#"{"explanation":"x","plan":[{"step":"a","status":"completed"},{"step":"b","status":"in_progress"},{"step":"c","status":"pending"}]}"#;
        assert_eq!(plan(arguments).as_deref(), Some("[x] a\n[~] b\n[ ] c"));
        assert_eq!(plan(r#"{"plan":[]}"#), None);
        assert_eq!(plan("not JSON"), None);
    }
}
