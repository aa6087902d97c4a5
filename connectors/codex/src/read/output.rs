//! What a tool answered, and how it went.

use std::borrow::Cow;

use ai_hist_connector::model::ToolOutcome;

use super::{
    json::{Json, Malformed},
    words::{content, loose},
};
use crate::limits::MAX_HEADER_LINES;

/// How an answer begins that reports a failure, where it has no exit code.
const FAILURES: &[&str] = &[
    "Script error",
    "Script failed",
    "aborted",
    "apply_patch verification failed",
    "collab spawn failed",
    "command timed out",
    "err: ",
    "error: ",
    "exec command rejected",
    "exec_command failed",
    "execution error",
    "failed in sandbox",
    "failed to parse function arguments",
    "patch rejected",
    "tool call error",
    "unsupported call",
    "unsupported custom tool call",
    "write_stdin failed",
];

/// How an answer begins that reports success.
const SUCCESSES: &[&str] =
    &["Plan updated", "Script completed", "Success. Updated the following files"];

/// A tool's answer.
#[derive(Debug)]
pub(super) struct Output<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) outcome: ToolOutcome,
}

/// Reads the `output` of a call, in any of its forms.
///
/// | form | since |
/// |---|---|
/// | `{content, success}` | the first versions |
/// | a string that is JSON: `{"output": …, "metadata": {"exit_code": …}}` | 2025-08 |
/// | a string with a header: `Exit code: 0`, `Process exited with code 0` | 0.6x |
/// | a list of pieces of content | 0.12x |
pub(super) fn read(output: Option<Json<'_>>) -> Result<Output<'_>, Malformed> {
    if let Some(judged) = output.filter(|it| it.as_str().starts_with('{')) {
        let [said, success] = judged.fields(["content", "success"])?;
        if said.is_some() {
            let text = content(said)?;
            let outcome = match success {
                Some(success) => of_success(success.flag()?),
                None => outcome(&text),
            };
            return Ok(Output { text, outcome });
        }
    }
    let text = content(output)?;
    if let Some(wrapped) = unwrap(&text) {
        return Ok(wrapped);
    }
    let outcome = outcome(&text);
    Ok(Output { text, outcome })
}

/// The output in `{"output": …, "metadata": {"exit_code": …}}`.
fn unwrap(text: &str) -> Option<Output<'static>> {
    if !text.starts_with("{\"") {
        return None;
    }
    let (_, [output, metadata]) = Json::object(text, ["output", "metadata"]).ok()?;
    let [exit_code] = metadata?.fields(["exit_code"]).ok()?;
    let exit_code = exit_code.map(Json::number).transpose().ok()?;
    let text = loose(Some(output?)).ok()?.into_owned();
    let outcome = exit_code.map_or_else(|| outcome(&text), of_exit_code);
    Some(Output { text: Cow::Owned(text), outcome })
}

/// How it went, as the text itself tells: by an exit code in its header, or by its first words.
pub(super) fn outcome(text: &str) -> ToolOutcome {
    for line in text.lines().take(MAX_HEADER_LINES) {
        match line {
            "Output:" => break,
            "aborted by user" => return ToolOutcome::Failure,
            _ => {}
        }
        let code =
            line.strip_prefix("Exit code: ").or(line.strip_prefix("Process exited with code "));
        if let Some(code) = code.and_then(|it| it.trim().parse().ok()) {
            return of_exit_code(code);
        }
    }
    if FAILURES.iter().any(|it| text.starts_with(it)) {
        return ToolOutcome::Failure;
    }
    if SUCCESSES.iter().any(|it| text.starts_with(it)) {
        return ToolOutcome::Success;
    }
    ToolOutcome::Unstated
}

/// What an exit code means.
pub(super) const fn of_exit_code(code: i64) -> ToolOutcome {
    if code == 0 { ToolOutcome::Success } else { ToolOutcome::Failure }
}

/// What a flag for success means.
pub(super) const fn of_success(success: bool) -> ToolOutcome {
    if success { ToolOutcome::Success } else { ToolOutcome::Failure }
}

/// What a status means.
pub(super) fn of_status(status: &str) -> ToolOutcome {
    match status {
        "completed" | "success" => ToolOutcome::Success,
        "failed" | "declined" | "error" | "cancelled" | "interrupted" => ToolOutcome::Failure,
        _ => ToolOutcome::Unstated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_in_all_its_forms() {
        use ToolOutcome::{Failure, Success, Unstated};
        let table = [
            (r#""hello""#, "hello", Unstated),
            (r#""{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":0}}""#, "a\nb", Success),
            (r#""{\"output\":\"a\",\"metadata\":{\"exit_code\":2}}""#, "a", Failure),
            (r#""{\"output\":\"a\"}""#, r#"{"output":"a"}"#, Unstated),
            (r#"{"content":"a","success":false}"#, "a", Failure),
            (r#"{"content":"Exit code: 0\n","success":null}"#, "Exit code: 0\n", Success),
            (r#"{"other":1}"#, r#"{"other":1}"#, Unstated),
            (r#"[{"type":"input_text","text":"Script failed\n"}]"#, "Script failed\n", Failure),
            (
                r#""Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nx""#,
                "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nx",
                Failure,
            ),
            (r#""Output:\nExit code: 1""#, "Output:\nExit code: 1", Unstated),
            (
                r#""Wall time: 2.0 seconds\naborted by user""#,
                "Wall time: 2.0 seconds\naborted by user",
                Failure,
            ),
            (r#""Plan updated""#, "Plan updated", Success),
            (r#""unsupported call: x""#, "unsupported call: x", Failure),
        ];
        for (json, text, outcome) in table {
            let value = Json::parse(json).expect("is JSON");
            let output = read(Some(value)).expect("reads");
            assert_eq!((&*output.text, output.outcome), (text, outcome), "{json}");
        }
    }
}
