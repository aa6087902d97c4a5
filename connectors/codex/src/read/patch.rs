//! File edits: the patches that the model writes, and the changes that Codex says it made.

use std::{borrow::Cow, collections::BTreeMap};

use ai_hist_connector::model::{Author, Change, EventBody};
use memchr::memmem;

use super::{
    json::{Json, Malformed},
    scribe::Scribe,
    words::{loose, text},
};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// The file, as recorded.
    pub(super) path: String,
    /// What is done to it.
    pub(super) change: Change,
    /// The difference, or the new content of a new file.
    pub(super) diff: String,
}

/// Says the edits that `call` made.
pub(super) fn say(edits: Vec<Edit>, call: &str, to: &mut Scribe<'_>) {
    for Edit { path, change, diff } in edits {
        let call = Some(call.to_owned());
        to.say(Author::Tool, EventBody::FileEdit { call, path, change, diff });
    }
}

/// The edits that a call makes if it succeeds.
///
/// A patch is the input of a custom tool, an argument of a function (`apply_patch`, or `shell`
/// with the program of that name), or a here-document in a shell command.
pub(super) fn edits_of_call(item: Json<'_>) -> Result<Vec<Edit>, Malformed> {
    if memmem::find(item.as_str().as_bytes(), BEGIN.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let [name] = item.fields(["name"])?;
    let inputs = item.fields(["input", "arguments", "action"])?;
    // A script's text is JavaScript; what it changes is told in records of its own.
    if inputs[0].is_some() && text(name)? == "exec" {
        return Ok(Vec::new());
    }
    let mut edits = Vec::new();
    for input in inputs.into_iter().flatten() {
        let input = loose(Some(input))?;
        if !input.trim_start().starts_with('{') {
            edits.extend(edits_of(&input));
        } else if let Ok(value) = Json::parse(&input) {
            edits_in(value, &mut edits)?;
        }
    }
    Ok(edits)
}

/// The edits in every string in `value`.
fn edits_in(value: Json<'_>, edits: &mut Vec<Edit>) -> Result<(), Malformed> {
    match value.as_str().as_bytes().first() {
        Some(b'"') => edits.extend(edits_of(&value.string()?)),
        Some(b'[') => value.items()?.into_iter().try_for_each(|it| edits_in(it, edits))?,
        Some(b'{') => value.entries()?.into_iter().try_for_each(|it| edits_in(it.1, edits))?,
        Some(_) | None => {}
    }
    Ok(())
}

/// The edits in every patch in `text`.
fn edits_of(text: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut rest = text;
    while let Some((_, patch)) = split_once(rest, BEGIN) {
        let (patch, after) = split_once(patch, END).unwrap_or((patch, ""));
        rest = after;
        let mut open = false;
        for line in patch.lines().skip(1) {
            if let Some((path, change)) = header(line) {
                open = true;
                edits.push(Edit { path: path.to_owned(), change, diff: String::new() });
            } else if open && let Some(edit) = edits.last_mut() {
                match line.strip_prefix("*** Move to: ") {
                    Some(place) => move_to(edit, place),
                    None => push(edit, line),
                }
            }
        }
    }
    edits
}

/// What stands before and after `mark`, found faster than the standard library finds it.
fn split_once<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let at = memmem::find(text.as_bytes(), mark.as_bytes())?;
    Some((&text[..at], &text[at + mark.len()..]))
}

fn header(line: &str) -> Option<(&str, Change)> {
    [
        ("*** Add File: ", Change::Create),
        ("*** Update File: ", Change::Update),
        ("*** Delete File: ", Change::Delete),
    ]
    .into_iter()
    .find_map(|(head, change)| Some((line.strip_prefix(head)?.trim(), change)))
}

/// A moved file stands under its new path; the old one is the first line of the difference.
fn move_to(edit: &mut Edit, path: &str) {
    edit.diff = format!("*** Move from: {}\n", edit.path);
    path.trim().clone_into(&mut edit.path);
    edit.change = Change::Move;
}

fn push(edit: &mut Edit, line: &str) {
    // The lines of a new file all begin with a plus, which is not its content.
    let line = match edit.change {
        Change::Create => line.strip_prefix('+').unwrap_or(line),
        Change::Update | Change::Delete | Change::Move => line,
    };
    edit.diff.push_str(line);
    edit.diff.push('\n');
}

/// Reads the changes that Codex says it made: `{path: {type: "update", unified_diff, …}}`, or in
/// older versions `{path: {update: {unified_diff, …}}}`. By path.
pub(super) fn changes(changes: Option<Json<'_>>) -> Result<Vec<Edit>, Malformed> {
    let Some(changes) = changes else {
        return Ok(Vec::new());
    };
    let by_path: BTreeMap<Cow<'_, str>, Json<'_>> = changes.entries()?.into_iter().collect();
    by_path.into_iter().map(|(path, said)| change(path.into_owned(), said)).collect()
}

fn change(path: String, said: Json<'_>) -> Result<Edit, Malformed> {
    let [add, update, delete] = said.fields(["add", "update", "delete"])?;
    for (inner, change) in
        [(add, Change::Create), (update, Change::Update), (delete, Change::Delete)]
    {
        if let Some(inner) = inner {
            return edit(path, change, inner);
        }
    }
    let [kind] = said.fields(["type"])?;
    let change = match text(kind)?.as_ref() {
        "add" => Change::Create,
        "delete" => Change::Delete,
        _ => Change::Update,
    };
    edit(path, change, said)
}

fn edit(path: String, change: Change, said: Json<'_>) -> Result<Edit, Malformed> {
    let [content, diff, place] = said.fields(["content", "unified_diff", "move_path"])?;
    let mut edit = Edit { path, change, diff: String::new() };
    let place = text(place)?;
    if !place.is_empty() && place != edit.path {
        move_to(&mut edit, &place);
    }
    edit.diff.push_str(&text(diff.or(content))?);
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Json<'_> {
        Json::parse(json).expect("is JSON")
    }

    fn shown(edits: Vec<Edit>) -> Vec<String> {
        edits.into_iter().map(|it| format!("{:?} {} {:?}", it.change, it.path, it.diff)).collect()
    }

    #[test]
    fn a_patch_is_read_wherever_it_stands() {
        let patch = "*** Begin Patch\\n*** Update File: a.rs\\n@@\\n-x\\n+y\\n*** End Patch";
        let in_json = patch.replace("\\n", "\\\\n");
        let table = [
            format!(r#"{{"type":"custom_tool_call","name":"apply_patch","input":"{patch}"}}"#),
            format!(
                r#"{{"type":"function_call","name":"apply_patch","arguments":"{{\"input\":\"{in_json}\"}}"}}"#
            ),
            format!(
                r#"{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"apply_patch\",\"{in_json}\"]}}"}}"#
            ),
            format!(
                r#"{{"type":"function_call","name":"shell","arguments":"{{\"command\":[\"bash\",\"-lc\",\"apply_patch <<'E'\\n{in_json}\\nE\"]}}"}}"#
            ),
            format!(
                r#"{{"type":"local_shell_call","action":{{"type":"exec","command":["apply_patch","{patch}"]}}}}"#
            ),
        ];
        for item in table {
            let edits = edits_of_call(value(&item)).expect("reads");
            assert_eq!(shown(edits), [r#"Update a.rs "@@\n-x\n+y\n""#], "{item}");
        }
        let script = format!(r#"{{"type":"custom_tool_call","name":"exec","input":"{patch}"}}"#);
        assert!(edits_of_call(value(&script)).expect("reads").is_empty());
    }

    #[test]
    fn a_patch_may_do_several_things() {
        let patch = "*** Begin Patch\n*** Add File: n.txt\n+one\n+\n*** Update File: a\n*** Move to: b\n@@\n-x\n*** Delete File: c\n*** End Patch\nnoise\n*** Begin Patch\n*** Delete File: d\n*** End Patch";
        let expected = [
            r#"Create n.txt "one\n\n""#,
            r#"Move b "*** Move from: a\n@@\n-x\n""#,
            r#"Delete c """#,
            r#"Delete d """#,
        ];
        assert_eq!(shown(edits_of(patch)), expected);
        assert!(edits_of("*** Begin Patch\nno file\n").is_empty());
    }

    #[test]
    fn changes_are_read_in_both_forms() {
        let json = r#"{
            "/c": {"type":"delete","content":"gone"},
            "/a": {"type":"add","content":"x\n"},
            "/b": {"update":{"unified_diff":"@@","move_path":"/d"}},
            "/e": {"type":"update","unified_diff":"@@","move_path":null}
        }"#;
        let expected = [
            r#"Create /a "x\n""#,
            r#"Move /d "*** Move from: /b\n@@""#,
            r#"Delete /c "gone""#,
            r#"Update /e "@@""#,
        ];
        assert_eq!(shown(changes(Some(value(json))).expect("reads")), expected);
    }
}
