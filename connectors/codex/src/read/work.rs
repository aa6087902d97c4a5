//! Work that Codex reports as done: commands, calls of MCP servers, file changes, web searches.
//!
//! The same work stands in the model's own calls, and is told from there. There is one exception:
//! what a script does in code mode. Its steps are nowhere else; their ids begin with `exec-`.

use std::borrow::Cow;

use ai_hist_connector::model::ToolOutcome;
use serde::Deserialize;
use serde_json::{Error, value::RawValue};

use super::{
    output,
    patch::{self, Edit},
    prompt::repeated,
    scribe::{Scribe, Verdict},
    tool::{say_call, say_result},
    words::{Str, content, loose, text},
};

/// A piece of work, in an `item_completed` (`id`) or an event of its own (`call_id`).
#[derive(Deserialize)]
struct Work<'a> {
    #[serde(borrow, alias = "call_id")]
    id: Option<Str<'a>>,
    #[serde(borrow)]
    status: Option<Str<'a>>,
    success: Option<bool>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Option<Str<'a>>,
    exit_code: Option<i64>,
    #[serde(borrow)]
    invocation: Option<Invocation<'a>>,
    #[serde(borrow)]
    server: Option<Str<'a>>,
    #[serde(borrow)]
    tool: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    stdout: Option<Str<'a>>,
    #[serde(borrow)]
    stderr: Option<Str<'a>>,
    #[serde(borrow)]
    query: Option<Str<'a>>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    results: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt: Option<Str<'a>>,
}

#[derive(Deserialize)]
struct Invocation<'a> {
    #[serde(borrow)]
    server: Option<Str<'a>>,
    #[serde(borrow)]
    tool: Option<Str<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Work<'_> {
    fn is_own(&self) -> bool {
        self.id.as_ref().is_some_and(|it| it.0.starts_with("exec-"))
    }

    fn outcome(&self) -> ToolOutcome {
        match (self.success, self.exit_code) {
            (Some(success), _) => output::of_success(success),
            (None, Some(code)) => output::of_exit_code(code),
            (None, None) => output::of_status(self.status.as_ref()),
        }
    }
}

/// Reads a command that ran.
pub(super) fn command(
    json: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    let work: Work<'_> = serde_json::from_str(json)?;
    if !work.is_own() {
        return Ok(Verdict::ignored(repeated(kind)));
    }
    let outcome = work.outcome();
    let input = loose(work.command)?.into_owned();
    let call = text(work.id).into_owned();
    say_call(call.clone(), "exec_command".to_owned(), input, to);
    say_result(call, outcome, text(work.aggregated_output).into_owned(), to);
    Ok(Verdict::understood(kind))
}

/// Reads a call of an MCP server.
pub(super) fn mcp(json: &str, kind: &'static str, to: &mut Scribe<'_>) -> Result<Verdict, Error> {
    let mut work: Work<'_> = serde_json::from_str(json)?;
    if !work.is_own() {
        return Ok(Verdict::ignored(repeated(kind)));
    }
    if let Some(invocation) = work.invocation.take() {
        work.server = invocation.server;
        work.tool = invocation.tool;
        work.arguments = invocation.arguments;
    }
    let (output, outcome) = mcp_result(&work)?;
    let name = format!("mcp__{}__{}", text(work.server), text(work.tool));
    let input = loose(work.arguments)?.into_owned();
    let output = output.into_owned();
    let call = text(work.id).into_owned();
    say_call(call.clone(), name, input, to);
    say_result(call, outcome, output, to);
    Ok(Verdict::understood(kind))
}

/// What a server answered: `{content, isError?}`, which an event wraps in `Ok` or `Err`.
fn mcp_result<'a>(work: &Work<'a>) -> Result<(Cow<'a, str>, ToolOutcome), Error> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow, rename = "Ok")]
        ok: Option<&'a RawValue>,
        #[serde(borrow, rename = "Err")]
        err: Option<&'a RawValue>,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(rename = "isError", alias = "is_error")]
        is_error: Option<bool>,
    }
    let parse = |it: &'a RawValue| serde_json::from_str::<Answer<'a>>(it.get()).ok();
    if let Some(error) = work.error {
        let message = parse(error).and_then(|it| it.message).unwrap_or(error);
        return Ok((loose(Some(message))?, ToolOutcome::Failure));
    }
    let mut answer = work.result.and_then(parse);
    if let Some(error) = answer.as_ref().and_then(|it| it.err) {
        return Ok((loose(Some(error))?, ToolOutcome::Failure));
    }
    if let Some(ok) = answer.as_ref().and_then(|it| it.ok) {
        answer = parse(ok);
    }
    let outcome = match &answer {
        Some(Answer { is_error: Some(true), .. }) => ToolOutcome::Failure,
        Some(_) | None => work.outcome(),
    };
    let said = answer.and_then(|it| it.content).or(work.result);
    Ok((content(said)?, outcome))
}

/// Reads changes of files. The edits are told from here, whoever made them: the model's own call
/// has the patch that it meant to make.
pub(super) fn file_change(
    json: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    let work: Work<'_> = serde_json::from_str(json)?;
    let outcome = work.outcome();
    let is_own = work.is_own();
    let edits = patch::changes(work.changes)?;
    let call = text(work.id).into_owned();
    // Its result is not to tell them again.
    to.state.take_edits(&call);
    if is_own {
        let paths: Vec<&str> = edits.iter().map(|it: &Edit| it.path.as_str()).collect();
        say_call(call.clone(), "apply_patch".to_owned(), paths.join("\n"), to);
    }
    let has_edits = outcome != ToolOutcome::Failure && !edits.is_empty();
    if has_edits {
        patch::say(edits, &call, to);
    }
    if is_own {
        let mut output = text(work.stdout).into_owned();
        output.push_str(&text(work.stderr));
        say_result(call, outcome, output, to);
    }
    let gave = is_own || has_edits;
    Ok(if gave { Verdict::understood(kind) } else { Verdict::ignored(repeated(kind)) })
}

/// Reads a search of the web.
pub(super) fn web_search(
    json: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    #[derive(Deserialize)]
    struct Found<'a> {
        #[serde(borrow)]
        title: Option<Str<'a>>,
        #[serde(borrow)]
        url: Option<Str<'a>>,
        #[serde(borrow)]
        snippet: Option<Str<'a>>,
    }
    let work: Work<'_> = serde_json::from_str(json)?;
    if !work.is_own() {
        return Ok(Verdict::ignored(repeated(kind)));
    }
    let input = match work.action {
        Some(action) => action.get().to_owned(),
        None => text(work.query).into_owned(),
    };
    let results = work.results.map_or("[]", RawValue::get);
    let found = serde_json::from_str::<Vec<Found<'_>>>(results).unwrap_or_default();
    let lines = found.into_iter().map(|it| {
        let words = [text(it.title), text(it.url), text(it.snippet)];
        words.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
    });
    let output = lines.collect::<Vec<_>>().join("\n\n");
    let call = text(work.id).into_owned();
    say_call(call.clone(), "web_search".to_owned(), input, to);
    say_result(call, ToolOutcome::Success, output, to);
    Ok(Verdict::understood(kind))
}

/// Reads a look at an image.
pub(super) fn image_view(
    json: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    let work: Work<'_> = serde_json::from_str(json)?;
    if !work.is_own() {
        return Ok(Verdict::ignored(repeated(kind)));
    }
    let input = loose(work.path)?.into_owned();
    let call = text(work.id).into_owned();
    say_call(call, "view_image".to_owned(), input, to);
    Ok(Verdict::understood(kind))
}

/// Reads a call that concerns other agents.
pub(super) fn collaboration(
    json: &str,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Error> {
    let work: Work<'_> = serde_json::from_str(json)?;
    if !work.is_own() {
        return Ok(Verdict::ignored(repeated(kind)));
    }
    let outcome = work.outcome();
    let call = text(work.id).into_owned();
    say_call(call.clone(), text(work.tool).into_owned(), text(work.prompt).into_owned(), to);
    let output = text(work.status).into_owned();
    say_result(call, outcome, output, to);
    Ok(Verdict::understood(kind))
}
