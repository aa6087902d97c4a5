//! What the model says: a script for each conversation, chosen by a tag in a prompt.
//!
//! Nothing is kept between requests. Each request carries its whole conversation; the last tag in
//! it names the script, and the model's turns since then are counted to find the reply. So a
//! resumed, forked or repeated conversation, and one of a sub-agent, goes on where it stands.

use serde_json::Value;

/// A conversation as a script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Words in the user's role, of the human or of the client.
    User(String),
    /// The model's own turn.
    Model,
    /// What a tool gave.
    ToolResult(String),
}

/// The replies of one conversation, in order.
#[derive(Debug)]
pub(crate) struct Script {
    name: &'static str,
    replies: Vec<Reply>,
}

/// One turn of the model.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Say(String),
    Call(Call),
}

/// A call of a tool. In its strings `{{prompt:session_id}}` stands for what the tagged prompt says
/// as `session_id=…`, and `{{result:next_cursor}}` for the field of that name in the last result
/// that has it.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    /// With arguments that are an object.
    Function { namespace: Option<&'static str>, name: &'static str, arguments: Value },
    /// With an input that is free text.
    Custom { namespace: Option<&'static str>, name: &'static str, input: String },
    /// The search for tools that Codex does itself.
    ToolSearch { query: &'static str },
}

/// Where in which script a reply stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) script: &'static str,
    pub(crate) number: usize,
}

impl Script {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, replies: Vec::new() }
    }

    #[must_use]
    pub(crate) fn call(mut self, call: Call) -> Self {
        self.replies.push(Reply::Call(call));
        self
    }

    /// Says something, which ends the model's turn.
    #[must_use]
    pub(crate) fn say(mut self, text: &str) -> Self {
        self.replies.push(Reply::Say(text.to_owned()));
        self
    }
}

/// A prompt that is answered after the script `name`.
pub(crate) fn tagged(prompt: &str, name: &str) -> String {
    format!("{prompt}\n\n[[script:{name}]]")
}

/// The reply to a conversation, and the results that the model was shown since the tag.
pub(crate) fn answer(scripts: &[Script], turns: &[Turn]) -> (Option<Step>, Reply, Vec<String>) {
    let Some((at, prompt, script)) = last_tag(scripts, turns) else {
        return (None, Reply::Say("Nothing is asked of me here.".to_owned()), Vec::new());
    };
    let since = turns.get(at + 1..).unwrap_or_default();
    let results: Vec<String> = since
        .iter()
        .filter_map(|turn| match turn {
            Turn::ToolResult(text) => Some(text.clone()),
            Turn::User(_) | Turn::Model => None,
        })
        .collect();
    let number = since.iter().filter(|turn| **turn == Turn::Model).count();
    let step = Step { script: script.name, number };
    let reply = match script.replies.get(number) {
        Some(Reply::Say(text)) => Reply::Say(text.clone()),
        Some(Reply::Call(call)) => Reply::Call(call.filled(prompt, &results)),
        None => Reply::Say(format!("The script `{}` has no step {number}.", script.name)),
    };
    (Some(step), reply, results)
}

fn last_tag<'a>(scripts: &'a [Script], turns: &'a [Turn]) -> Option<(usize, &'a str, &'a Script)> {
    turns.iter().enumerate().rev().find_map(|(at, turn)| {
        let Turn::User(text) = turn else { return None };
        let (_, rest) = text.rsplit_once("[[script:")?;
        let (name, _) = rest.split_once("]]")?;
        let script = scripts.iter().find(|script| script.name == name)?;
        Some((at, text.as_str(), script))
    })
}

impl Call {
    fn filled(&self, prompt: &str, results: &[String]) -> Self {
        match self {
            Self::Function { namespace, name, arguments } => {
                let mut arguments = arguments.clone();
                fill_all(&mut arguments, prompt, results);
                Self::Function { namespace: *namespace, name, arguments }
            }
            Self::Custom { namespace, name, input } => {
                let input = fill(input, prompt, results);
                Self::Custom { namespace: *namespace, name, input }
            }
            Self::ToolSearch { query } => Self::ToolSearch { query },
        }
    }
}

fn fill_all(value: &mut Value, prompt: &str, results: &[String]) {
    match value {
        Value::String(text) => *text = fill(text, prompt, results),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_all(item, prompt, results)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| fill_all(field, prompt, results));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn fill(text: &str, prompt: &str, results: &[String]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (hole, behind) = after.split_once("}}").expect("a hole is closed");
        let value = match hole.split_once(':') {
            Some(("prompt", field)) => said(prompt, field),
            Some(("result", field)) => results.iter().rev().find_map(|it| field_of(it, field)),
            _ => None,
        };
        filled.push_str(before);
        // What cannot be filled goes to the tool as it is, whose error then names it.
        filled.push_str(&value.unwrap_or_else(|| format!("{{{{{hole}}}}}")));
        rest = behind;
    }
    filled + rest
}

/// What a prompt says as `field=…`.
fn said(prompt: &str, field: &str) -> Option<String> {
    let (_, rest) = prompt.split_once(&format!("{field}="))?;
    rest.split([',', ')', ' ', '\n']).next().map(str::to_owned)
}

/// The text field of that name in a JSON object that stands in a text.
fn field_of(text: &str, field: &str) -> Option<String> {
    object_with(text, field)?[field].as_str().map(str::to_owned)
}

/// The last JSON object in a text that has a field of that name, or the least deep one in it that
/// has. Clients put lines before a result, or wrap it.
pub(crate) fn object_with(text: &str, field: &str) -> Option<Value> {
    objects(text).iter().rev().find_map(|object| holder(object, field)).cloned()
}

fn objects(text: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let parsed = values.next().and_then(Result::ok);
        let end = if parsed.is_some() { values.byte_offset() } else { 1 };
        objects.extend(parsed);
        rest = &rest[end..];
    }
    objects
}

fn holder<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    let mut level = vec![value];
    while !level.is_empty() {
        if let Some(holder) = level.iter().find(|it| it.get(field).is_some()) {
            return Some(holder);
        }
        level = level.into_iter().flat_map(children).collect();
    }
    None
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(result: &str, filled: &str) {
        assert_eq!(fill("go to {{result:next}}", "", &[result.to_owned()]), filled, "{result}");
    }

    #[test]
    fn a_field_is_found_however_a_client_wraps_it() {
        check(r#"{"next":"a"}"#, "go to a");
        check("Wall time: 1 s\nOutput:\n{\"next\":\"a\"}\n", "go to a");
        check(r#"{"content":[{"next":"deep"}],"structuredContent":{"next":"a"}}"#, "go to a");
        check(r#"{ not JSON {"next":"a"} {"other":1}"#, "go to a");
        check(r#"{"next":null}"#, "go to {{result:next}}");
        check("", "go to {{result:next}}");
    }

    #[test]
    fn the_last_tag_and_the_turns_since_then_choose_the_reply() {
        let scripts = [Script::new("a").say("a0").say("a1"), Script::new("b").say("b0")];
        let user = |name: &str| Turn::User(tagged("Do it.", name));
        let said = |turns: &[Turn]| match answer(&scripts, turns).1 {
            Reply::Say(text) => text,
            Reply::Call(call) => format!("{call:?}"),
        };
        assert_eq!(said(&[user("a")]), "a0");
        let result = Turn::ToolResult(tagged("quoted", "b"));
        assert_eq!(said(&[user("a"), Turn::Model, result]), "a1");
        assert_eq!(said(&[user("a"), Turn::Model, user("b")]), "b0");
        assert_eq!(said(&[user("b"), Turn::Model]), "The script `b` has no step 1.");
        assert_eq!(said(&[user("c")]), "Nothing is asked of me here.");
    }

    #[test]
    fn what_the_prompt_says_is_filled_in() {
        let prompt = "call it(source=claude, session_id=a-b.c) and go on";
        let mut arguments = json!({ "list": ["{{prompt:source}}/{{prompt:session_id}}"], "n": 1 });
        fill_all(&mut arguments, prompt, &[]);
        assert_eq!(arguments, json!({ "list": ["claude/a-b.c"], "n": 1 }));
    }
}
