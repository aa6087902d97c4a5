//! Work that Codex reports as done: commands, calls of MCP servers, file changes, web searches.
//!
//! The same work stands in the model's own calls, and is told from there. There is one exception:
//! what a script does in code mode. Its steps are nowhere else; their ids begin with `exec-`.

use std::borrow::Cow;

use ai_hist_connector::model::ToolOutcome;

use super::{
    json::{Json, Malformed},
    output,
    patch::{self, Edit},
    prompt::repeated,
    scribe::{Scribe, Verdict},
    tool::{say_call, say_result},
    words::{content, loose, text},
};

/// A piece of work, in an `item_completed` (`id`) or an event of its own (`call_id`).
struct Work<'a> {
    json: Json<'a>,
    call: Cow<'a, str>,
}

impl<'a> Work<'a> {
    fn of(json: Json<'a>) -> Result<Self, Malformed> {
        let [id] = json.fields(["id"])?;
        let call = match id {
            Some(id) => id.string()?,
            None => text(json.fields(["call_id"])?[0])?,
        };
        Ok(Self { json, call })
    }

    /// What only is told here, as what a script does in code mode is.
    fn own(json: Json<'a>) -> Result<Option<Self>, Malformed> {
        Ok(Some(Self::of(json)?).filter(Self::is_own))
    }

    fn is_own(&self) -> bool {
        self.call.starts_with("exec-")
    }

    fn outcome(&self) -> Result<ToolOutcome, Malformed> {
        let [success, exit_code, status] = self.json.fields(["success", "exit_code", "status"])?;
        Ok(match (success, exit_code) {
            (Some(success), _) => output::of_success(success.flag()?),
            (None, Some(code)) => output::of_exit_code(code.number()?),
            (None, None) => output::of_status(&text(status)?),
        })
    }

    /// Says the call.
    fn say_call(&self, tool: String, input: Cow<'_, str>, to: &mut Scribe<'_>) {
        say_call(self.call.clone().into_owned(), tool, input.into_owned(), to);
    }

    /// Says its result.
    fn say_result(self, outcome: ToolOutcome, output: Cow<'_, str>, to: &mut Scribe<'_>) {
        say_result(self.call.into_owned(), outcome, output.into_owned(), to);
    }
}

/// Reads a command that ran.
pub(super) fn command(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let Some(work) = Work::own(json)? else {
        return Ok(Verdict::ignored(repeated(kind)));
    };
    let [command, output] = json.fields(["command", "aggregated_output"])?;
    let (input, output) = (loose(command)?, text(output)?);
    let outcome = work.outcome()?;
    work.say_call("exec_command".to_owned(), input, to);
    work.say_result(outcome, output, to);
    Ok(Verdict::understood(kind))
}

/// Reads a call of an MCP server.
pub(super) fn mcp(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let Some(work) = Work::own(json)? else {
        return Ok(Verdict::ignored(repeated(kind)));
    };
    let [invocation] = json.fields(["invocation"])?;
    let names = ["server", "tool", "arguments"];
    let [server, tool, arguments] = invocation.unwrap_or(json).fields(names)?;
    let name = format!("mcp__{}__{}", text(server)?, text(tool)?);
    let input = loose(arguments)?;
    let (output, outcome) = mcp_result(&work)?;
    work.say_call(name, input, to);
    work.say_result(outcome, output, to);
    Ok(Verdict::understood(kind))
}

/// What a server answered: `{content, isError?}`, which an event wraps in `Ok` or `Err`.
fn mcp_result<'a>(work: &Work<'a>) -> Result<(Cow<'a, str>, ToolOutcome), Malformed> {
    let [error, result] = work.json.fields(["error", "result"])?;
    if let Some(error) = error {
        let message = error.fields(["message"]).ok().and_then(|it| it[0]).unwrap_or(error);
        return Ok((loose(Some(message))?, ToolOutcome::Failure));
    }
    let [ok, err] = result.and_then(|it| it.fields(["Ok", "Err"]).ok()).unwrap_or_default();
    if err.is_some() {
        return Ok((loose(err)?, ToolOutcome::Failure));
    }
    let answer = ok.or(result);
    let names = ["content", "isError", "is_error"];
    let [said, is_error, is_error_too] =
        answer.and_then(|it| it.fields(names).ok()).unwrap_or_default();
    let outcome = match is_error.or(is_error_too).map(Json::flag).transpose()? {
        Some(true) => ToolOutcome::Failure,
        Some(false) | None => work.outcome()?,
    };
    Ok((content(said.or(result))?, outcome))
}

/// Reads changes of files. The edits are told from here, whoever made them: the model's own call
/// has the patch that it meant to make.
pub(super) fn file_change(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let work = Work::of(json)?;
    let [changes, stdout, stderr] = json.fields(["changes", "stdout", "stderr"])?;
    let (outcome, edits) = (work.outcome()?, patch::changes(changes)?);
    let output = text(stdout)? + text(stderr)?;
    let is_own = work.is_own();
    // Its result is not to tell them again.
    to.state.take_edits(&work.call);
    if is_own {
        let paths: Vec<&str> = edits.iter().map(|it: &Edit| it.path.as_str()).collect();
        work.say_call("apply_patch".to_owned(), paths.join("\n").into(), to);
    }
    let has_edits = outcome != ToolOutcome::Failure && !edits.is_empty();
    if has_edits {
        patch::say(edits, &work.call, to);
    }
    if is_own {
        work.say_result(outcome, output, to);
    }
    let gave = is_own || has_edits;
    Ok(if gave { Verdict::understood(kind) } else { Verdict::ignored(repeated(kind)) })
}

/// Reads a search of the web. What it found stands nowhere else.
pub(super) fn web_search(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let work = Work::of(json)?;
    let [action, query, results] = json.fields(["action", "query", "results"])?;
    let input = match action {
        Some(action) => Cow::Borrowed(action.as_str()),
        None => text(query)?,
    };
    let output = results.and_then(|it| found(it).ok()).unwrap_or_default();
    let is_own = work.is_own();
    if !is_own && output.is_empty() {
        return Ok(Verdict::ignored(repeated(kind)));
    }
    if is_own {
        work.say_call("web_search".to_owned(), input, to);
    }
    work.say_result(ToolOutcome::Success, output.into(), to);
    Ok(Verdict::understood(kind))
}

/// What a search found.
fn found(results: Json<'_>) -> Result<String, Malformed> {
    let mut lines = Vec::new();
    for result in results.items()? {
        let [title, url, snippet] = result.fields(["title", "url", "snippet"])?;
        let words = [text(title)?, text(url)?, text(snippet)?];
        let words: Vec<_> = words.into_iter().filter(|it| !it.is_empty()).collect();
        lines.push(words.join("\n"));
    }
    Ok(lines.join("\n\n"))
}

/// Reads a look at an image.
pub(super) fn image_view(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let Some(work) = Work::own(json)? else {
        return Ok(Verdict::ignored(repeated(kind)));
    };
    let [path] = json.fields(["path"])?;
    work.say_call("view_image".to_owned(), loose(path)?, to);
    Ok(Verdict::understood(kind))
}

/// Reads a call that concerns other agents.
pub(super) fn collaboration(
    json: Json<'_>,
    kind: &'static str,
    to: &mut Scribe<'_>,
) -> Result<Verdict, Malformed> {
    let Some(work) = Work::own(json)? else {
        return Ok(Verdict::ignored(repeated(kind)));
    };
    let [tool, prompt, status] = json.fields(["tool", "prompt", "status"])?;
    let (tool, prompt, output) = (text(tool)?.into_owned(), text(prompt)?, text(status)?);
    let outcome = work.outcome()?;
    work.say_call(tool, prompt, to);
    work.say_result(outcome, output, to);
    Ok(Verdict::understood(kind))
}
