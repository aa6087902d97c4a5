//! The filters of the query language.

use ai_hist_model::{AgentId, EventKind};

use crate::{Wanted, date};

use EventKind::{
    Compaction, Context, FileEdit, Marker, Message, Plan, Prompt, Reasoning, Task, ToolCall,
    ToolResult,
};

/// The names of filters.
pub(super) const NAMES: &[&str] = &[
    "source", "project", "cwd", "path", "tool", "kind", "role", "session", "before", "after",
    "model", "branch",
];

/// Words for several kinds at once.
const ROLES: &[(&str, &[EventKind])] = &[
    ("user", &[Prompt]),
    ("assistant", &[Message, Reasoning, Plan, ToolCall]),
    ("tool", &[ToolResult, FileEdit]),
    ("system", &[Context, Marker, Compaction, Task]),
];

/// The kinds that were named.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    named: Vec<EventKind>,
    of_roles: Vec<EventKind>,
    excluded: Vec<EventKind>,
}

impl Kinds {
    /// The kinds that are wanted. `None` if none was named.
    pub(super) fn wanted(&self) -> Option<Vec<EventKind>> {
        let Self { named, of_roles, excluded } = self;
        if named.is_empty() && of_roles.is_empty() && excluded.is_empty() {
            return None;
        }
        let passes = |list: &[EventKind], it: &EventKind| list.is_empty() || list.contains(it);
        let is_wanted =
            |it: &EventKind| passes(named, it) && passes(of_roles, it) && !excluded.contains(it);
        Some(EventKind::ALL.iter().copied().filter(is_wanted).collect())
    }
}

/// Adds the filter `name` with `value`, or says what is wrong with it.
pub(super) fn apply(
    name: &str,
    value: &str,
    is_excluded: bool,
    wanted: &mut Wanted,
    kinds: &mut Kinds,
) -> Result<(), String> {
    if value.is_empty() {
        return Err(format!("`{name}:` has no value"));
    }
    if is_excluded && name != "kind" && name != "role" {
        return Err(format!("`{name}:` cannot be excluded"));
    }
    match name {
        "source" => {
            let agent = AgentId::parse(&value.to_ascii_lowercase());
            let agent = agent.ok_or_else(|| format!("`{value}` is no agent's name"))?;
            wanted.sources.push(agent.as_str().to_owned());
        }
        "kind" | "role" => {
            let list = match (is_excluded, name) {
                (true, _) => &mut kinds.excluded,
                (false, "role") => &mut kinds.of_roles,
                (false, _) => &mut kinds.named,
            };
            list.extend(self::kinds(name, value)?);
        }
        "project" | "cwd" => wanted.projects.push(value.to_owned()),
        "path" => wanted.paths.push(value.to_owned()),
        "tool" => wanted.tools.push(value.to_owned()),
        "session" => wanted.sessions.push(value.to_owned()),
        "after" | "before" => {
            let day =
                date::parse(value).ok_or_else(|| format!("`{value}` is no day like 2026-11-01"))?;
            let bound = if name == "after" { &mut wanted.after } else { &mut wanted.before };
            *bound = Some(day);
        }
        _ => return Err(format!("`{name}:` is no filter yet")),
    }
    Ok(())
}

fn kinds(name: &str, value: &str) -> Result<Vec<EventKind>, String> {
    let mut kinds = Vec::new();
    for word in value.split(',').filter(|it| !it.is_empty()) {
        let word = word.to_ascii_lowercase().replace('-', "_");
        let role = ROLES.iter().find(|it| it.0 == word).map(|it| it.1);
        match (role, EventKind::parse(&word)) {
            (Some(role), _) => kinds.extend(role),
            (None, Some(kind)) if name == "kind" => kinds.push(kind),
            (None, _) => {
                return Err(format!("`{word}` is no {name} of event"));
            }
        }
    }
    Ok(kinds)
}
