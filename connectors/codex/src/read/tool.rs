//! Calls of tools, and their results.

use std::fmt::Write as _;

use ai_hist_connector::model::{Author, EventBody, ToolOutcome};

use super::{
    json::{Json, Malformed},
    output, patch,
    scribe::{Scribe, Verdict},
    words::{loose, text},
};

/// Reads `function_call`, whose arguments are JSON in a string.
pub(super) fn function_call(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let names = ["name", "arguments", "call_id", "namespace"];
    let [name, arguments, call, namespace] = item.fields(names)?;
    let input = loose(arguments)?.into_owned();
    let (name, namespace) = (text(name)?, text(namespace)?);
    let plan = if name == "update_plan" { plan(&input) } else { None };
    let tool = match &*namespace {
        namespace if namespace.starts_with("mcp__") => format!("{namespace}__{name}"),
        _ => name.into_owned(),
    };
    let id = id(call, item, to)?;
    expect_edits(item, &id, to)?;
    say_call(id, tool, input, to);
    if let Some(text) = plan {
        to.say(to.model(), EventBody::Plan { text });
    }
    Ok(Verdict::understood("function_call"))
}

/// Reads `custom_tool_call`, whose input is text: a patch, a script.
pub(super) fn custom_tool_call(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [name, input, call] = item.fields(["name", "input", "call_id"])?;
    let input = loose(input)?.into_owned();
    let id = id(call, item, to)?;
    expect_edits(item, &id, to)?;
    say_call(id, text(name)?.into_owned(), input, to);
    Ok(Verdict::understood("custom_tool_call"))
}

/// Reads `local_shell_call`.
pub(super) fn local_shell_call(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [input, call] = item.fields(["action", "call_id"])?;
    let input = loose(input)?.into_owned();
    let id = id(call, item, to)?;
    expect_edits(item, &id, to)?;
    say_call(id, "local_shell".to_owned(), input, to);
    Ok(Verdict::understood("local_shell_call"))
}

/// Reads `web_search_call`. The provider runs it; there is no result.
pub(super) fn web_search_call(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [input, call] = item.fields(["action", "call_id"])?;
    let input = loose(input)?.into_owned();
    let id = id(call, item, to)?;
    say_call(id, "web_search".to_owned(), input, to);
    Ok(Verdict::understood("web_search_call"))
}

/// Reads `tool_search_call`: the model looks for tools that it has not been shown.
pub(super) fn tool_search_call(item: Json<'_>, to: &mut Scribe<'_>) -> Result<Verdict, Malformed> {
    let [input, call] = item.fields(["arguments", "call_id"])?;
    let input = loose(input)?.into_owned();
    let id = id(call, item, to)?;
    say_call(id, "tool_search".to_owned(), input, to);
    Ok(Verdict::understood("tool_search_call"))
}

/// Reads `image_generation_call`, which holds its result.
pub(super) fn image_generation_call(
    item: Json<'_>,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [prompt, result, call] = item.fields(["revised_prompt", "result", "call_id"])?;
    let id = id(call, item, to)?;
    let input = text(prompt)?.into_owned();
    say_call(id.clone(), "image_generation".to_owned(), input, to);
    if result.is_some() {
        say_result(id, ToolOutcome::Success, "[image]".to_owned(), to);
    }
    Ok(Verdict::understood("image_generation_call"))
}

/// Reads the result of a call. If a patch was to be applied and was, these are its edits: older
/// versions record no others.
pub(super) fn output(
    item: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [call, output] = item.fields(["call_id", "output"])?;
    let output = output::read(output)?;
    let call = text(call)?.into_owned();
    let edits = to.state.take_edits(&call);
    if output.outcome == ToolOutcome::Success {
        patch::say(edits, &call, to);
    }
    say_result(call, output.outcome, output.text.into_owned(), to);
    Ok(Verdict::understood(kind))
}

/// Reads `tool_search_output`. Of the tools found the names are told: their descriptions are the
/// servers', and long.
pub(super) fn tool_search_output(
    item: Json<'_>,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let [call, tools, status] = item.fields(["call_id", "tools", "status"])?;
    let mut out = String::new();
    for tool in tools.map_or(Ok(Vec::new()), Json::items)? {
        let [name, inner] = tool.fields(["name", "tools"])?;
        let name = text(name)?;
        let mut names = Vec::new();
        for tool in inner.map_or(Ok(Vec::new()), Json::items)? {
            let [name] = tool.fields(["name"])?;
            names.push(text(name)?);
        }
        let _ = if names.is_empty() {
            writeln!(out, "{name}")
        } else {
            writeln!(out, "{name}: {}", names.join(", "))
        };
    }
    let outcome = output::of_status(&text(status)?);
    say_result(text(call)?.into_owned(), outcome, out, to);
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

/// What joins a call to its result: `call`, its own name; or the item's, or the record's.
fn id(call: Option<Json<'_>>, item: Json<'_>, to: &mut Scribe<'_>) -> Result<String, Malformed> {
    let id = match call {
        Some(call) => Some(call),
        None => item.fields(["id"])?[0],
    };
    match text(id)? {
        id if id.is_empty() => Ok(to.key().to_owned()),
        id => Ok(id.into_owned()),
    }
}

fn expect_edits(item: Json<'_>, call: &str, to: &mut Scribe<'_>) -> Result<(), Malformed> {
    let edits = patch::edits_of_call(item)?;
    if !edits.is_empty() {
        to.state.expect_edits(call, to.span, edits);
    }
    Ok(())
}

/// The plan in the arguments of `update_plan`: an item a line.
pub(super) fn plan(arguments: &str) -> Option<String> {
    let (_, [plan]) = Json::object(arguments, ["plan"]).ok()?;
    let mut out = String::new();
    for item in plan?.items().ok()? {
        let [step, status] = item.fields(["step", "status"]).ok()?;
        let mark = match text(status).ok()?.as_ref() {
            "completed" => 'x',
            "in_progress" => '~',
            _ => ' ',
        };
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "[{mark}] {}", text(step).ok()?);
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
