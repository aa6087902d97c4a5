//! Changes to files, from the results of the tools that make them.

use std::fmt::Write as _;

use ai_hist_connector::model::{Change, EventBody};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    record::Block,
    scalar::{Object, Scalar},
};

/// A change that took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    path: String,
    change: Change,
    diff: String,
}

impl Edit {
    pub(super) fn into_body(self, call: &str) -> EventBody {
        let call = Some(call.to_owned()).filter(|it| !it.is_empty());
        EventBody::FileEdit { call, path: self.path, change: self.change, diff: self.diff }
    }
}

/// What a result says of the file it changed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Told<'a> {
    #[serde(borrow)]
    file_path: Scalar<'a>,
    #[serde(borrow, rename = "type")]
    kind: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    old_string: Scalar<'a>,
    #[serde(borrow)]
    new_string: Scalar<'a>,
    structured_patch: Vec<Hunk>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Hunk {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    lines: Vec<String>,
}

/// What a notebook tool's result says.
#[derive(Debug, Deserialize)]
struct ToldOfNotebook<'a> {
    #[serde(borrow)]
    notebook_path: Scalar<'a>,
    #[serde(borrow, default)]
    new_source: Scalar<'a>,
}

/// What a tool call asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked<'a> {
    #[serde(borrow)]
    file_path: Scalar<'a>,
    #[serde(borrow)]
    notebook_path: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    old_string: Scalar<'a>,
    #[serde(borrow)]
    new_string: Scalar<'a>,
    #[serde(borrow)]
    new_source: Scalar<'a>,
    #[serde(borrow)]
    edits: Vec<Object<Replacement<'a>>>,
}

#[derive(Debug, Deserialize)]
struct Replacement<'a> {
    #[serde(borrow, default)]
    old_string: Scalar<'a>,
    #[serde(borrow, default)]
    new_string: Scalar<'a>,
}

/// The edit that a result tells of in its own fields.
pub(super) fn of_result(result: &RawValue) -> Option<Edit> {
    let json = result.get();
    if memmem::find(json.as_bytes(), b"\"structuredPatch\":").is_some() {
        let told: Told<'_> = serde_json::from_str(json).ok()?;
        return of_told(&told);
    }
    if memmem::find(json.as_bytes(), b"\"notebook_path\":").is_some() {
        let told: ToldOfNotebook<'_> = serde_json::from_str(json).ok()?;
        let path = told.notebook_path.words()?.to_owned();
        let diff = added(told.new_source.words().unwrap_or_default());
        return Some(Edit { path, change: Change::Update, diff });
    }
    None
}

fn of_told(told: &Told<'_>) -> Option<Edit> {
    let path = told.file_path.words()?.to_owned();
    if told.kind.words() == Some("create") {
        let diff = told.content.words().unwrap_or_default().to_owned();
        return Some(Edit { path, change: Change::Create, diff });
    }
    let mut diff = String::new();
    for hunk in &told.structured_patch {
        let Hunk { old_start, old_lines, new_start, new_lines, lines } = hunk;
        let _ = writeln!(diff, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
        for line in lines {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    if diff.is_empty() {
        diff = replaced(&told.old_string, &told.new_string);
    }
    Some(Edit { path, change: Change::Update, diff })
}

/// The edit of a result that tells of it in its text alone, as sub-agents write them. What was
/// edited stands in the call: `lookup` finds it and gives it to what reads it.
pub(super) fn of_text(
    output: &str,
    lookup: impl FnOnce(&dyn Fn(&Block<'_>) -> Option<Edit>) -> Option<Option<Edit>>,
) -> Option<Edit> {
    let (change, path) = path_in(output)?;
    match lookup(&|call| of_call(call, change)) {
        Some(edit) => edit,
        None => Some(Edit { path: path?.to_owned(), change, diff: String::new() }),
    }
}

/// What a result's text says was done, and to which file if that is plain.
fn path_in(output: &str) -> Option<(Change, Option<&str>)> {
    if let Some(rest) = output.strip_prefix("The file ") {
        let end = rest.lines().next()?.find(" has been updated")?;
        return Some((Change::Update, Some(&rest[..end])));
    }
    if let Some(rest) = output.strip_prefix("File created successfully at: ") {
        let line = rest.lines().next().unwrap_or_default();
        let end = line.find(" (file state").unwrap_or(line.len());
        return Some((Change::Create, Some(&line[..end])));
    }
    if output.starts_with("Applied ") && output.contains(" edit") {
        return Some((Change::Update, None));
    }
    let is_cell = ["Updated cell ", "Inserted cell ", "Deleted cell "];
    is_cell.iter().any(|it| output.starts_with(it)).then_some((Change::Update, None))
}

fn of_call(call: &Block<'_>, change: Change) -> Option<Edit> {
    let asked: Asked<'_> = serde_json::from_str(call.input?.get()).ok()?;
    let path = asked.file_path.words().or(asked.notebook_path.words())?.to_owned();
    let diff = match call.name.words()? {
        "Write" => asked.content.words().unwrap_or_default().to_owned(),
        "Edit" => replaced(&asked.old_string, &asked.new_string),
        "MultiEdit" => {
            let edits = asked.edits.iter().filter_map(|it| it.0.as_ref());
            edits.map(|it| replaced(&it.old_string, &it.new_string)).collect()
        }
        "NotebookEdit" => added(asked.new_source.words().unwrap_or_default()),
        _ => return None,
    };
    Some(Edit { path, change, diff })
}

fn replaced(old: &Scalar<'_>, new: &Scalar<'_>) -> String {
    let mut diff = String::new();
    for line in old.words().unwrap_or_default().lines() {
        let _ = writeln!(diff, "-{line}");
    }
    diff.push_str(&added(new.words().unwrap_or_default()));
    diff
}

fn added(text: &str) -> String {
    let mut diff = String::new();
    for line in text.lines() {
        let _ = writeln!(diff, "+{line}");
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, change: Change, diff: &str) -> Edit {
        Edit { path: path.to_owned(), change, diff: diff.to_owned() }
    }

    #[test]
    fn a_result_tells_its_edit_in_its_fields() {
        let table = [
            (
                r#"{"filePath":"/a","oldString":"x","newString":"y","originalFile":"x\n","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-x","+y"]}]}"#,
                Some(edit("/a", Change::Update, "@@ -1,1 +1,1 @@\n-x\n+y\n")),
            ),
            (
                r#"{"type":"create","filePath":"/b","content":"new\n","structuredPatch":[]}"#,
                Some(edit("/b", Change::Create, "new\n")),
            ),
            (
                r#"{"filePath":"/c","oldString":"x","newString":"y","structuredPatch":[]}"#,
                Some(edit("/c", Change::Update, "-x\n+y\n")),
            ),
            (
                r#"{"notebook_path":"/d.ipynb","cell_id":"1","new_source":"1+1","edit_mode":"replace"}"#,
                Some(edit("/d.ipynb", Change::Update, "+1+1\n")),
            ),
            (r#"{"type":"text","file":{"filePath":"/e","content":"structuredPatch"}}"#, None),
            (r#""\"structuredPatch\":""#, None),
        ];
        for (json, expected) in table {
            let result: &RawValue = serde_json::from_str(json).expect("parses");
            assert_eq!(of_result(result), expected, "{json}");
        }
    }

    #[test]
    fn a_result_of_words_takes_its_edit_from_the_call() {
        let call = r#"{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/a b","old_string":"x","new_string":"y"}}"#;
        let call: Block<'_> = serde_json::from_str(call).expect("parses");
        let updated = "The file /a b has been updated successfully.";
        let created = "File created successfully at: /n.txt (file state is current)";
        let table = [
            (updated, true, Some(edit("/a b", Change::Update, "-x\n+y\n"))),
            (updated, false, Some(edit("/a b", Change::Update, ""))),
            (created, false, Some(edit("/n.txt", Change::Create, ""))),
            ("Applied 2 edits to /a b:", false, None),
            ("The file is empty", true, None),
            ("total 0", true, None),
        ];
        let other = r#"{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo"}}"#;
        let other: Block<'_> = serde_json::from_str(other).expect("parses");
        assert_eq!(of_text(updated, |read| Some(read(&other))), None, "another tool says so");
        for (output, is_found, expected) in table {
            let found = of_text(output, |read| is_found.then(|| read(&call)));
            assert_eq!(found, expected, "`{output}`");
        }
    }
}
