//! The plan: a to-do list that is written whole, or tasks that change one at a time.

use std::fmt::Write as _;

use ai_hist_connector::jsonl;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    earlier::Earlier,
    record::{Block, Record},
    scalar::{Object, Scalar},
};

/// The plan that a tool call writes, if it writes one whole.
pub(super) fn of_call(call: &Block<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Todos<'a> {
        #[serde(borrow, default)]
        todos: Vec<Object<Item<'a>>>,
    }
    #[derive(Deserialize)]
    struct Plan<'a> {
        #[serde(borrow, default)]
        plan: Scalar<'a>,
    }
    let input = call.input?.get();
    match call.name.words()? {
        "TodoWrite" => {
            let todos: Todos<'_> = serde_json::from_str(input).ok()?;
            let items = todos.todos.iter().filter_map(|it| it.0.as_ref());
            let items = items.filter_map(|it| Some((it.status.words(), it.content.words()?)));
            Some(list(items)).filter(|it| !it.is_empty())
        }
        "ExitPlanMode" => {
            let plan: Plan<'_> = serde_json::from_str(input).ok()?;
            plan.plan.words().map(str::to_owned)
        }
        _ => None,
    }
}

/// An item of a to-do list, a task, or a change of one.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    subject: Scalar<'a>,
    #[serde(borrow, default)]
    content: Scalar<'a>,
    #[serde(borrow, default)]
    status: Scalar<'a>,
}

/// The tasks as they stand, of which a result tells one change each.
#[derive(Debug)]
pub(super) struct Tasks {
    /// `None` until a pass that began in the middle of the file has looked at what was before.
    known: Option<Vec<Task>>,
}

#[derive(Debug)]
struct Task {
    id: String,
    subject: String,
    status: String,
}

impl Tasks {
    /// The tasks of a pass from the beginning.
    pub(super) const fn none_yet() -> Self {
        Self { known: Some(Vec::new()) }
    }

    /// The tasks of a pass from the middle.
    pub(super) const fn to_be_looked_up() -> Self {
        Self { known: None }
    }

    /// The plan after the change that `result`, in the record at byte `at`, tells. `None` if it
    /// tells none.
    pub(super) fn after(
        &mut self,
        result: &RawValue,
        at: u64,
        earlier: &Earlier,
    ) -> Option<String> {
        if !tells_of_tasks(result.get()) {
            return None;
        }
        let result: Told<'_> = serde_json::from_str(result.get()).ok()?;
        let tasks = self.known.get_or_insert_with(|| looked_up(earlier, at));
        apply(tasks, &result)
            .then(|| list(tasks.iter().map(|it| (Some(it.status.as_str()), it.subject.as_str()))))
    }
}

/// What the result of a task tool tells.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    #[serde(borrow, default)]
    task: Object<Item<'a>>,
    #[serde(borrow, default)]
    tasks: Vec<Object<Item<'a>>>,
    #[serde(borrow, default)]
    task_id: Scalar<'a>,
    #[serde(borrow, default)]
    status_change: Object<StatusChange<'a>>,
}

#[derive(Debug, Deserialize)]
struct StatusChange<'a> {
    #[serde(borrow, default)]
    to: Scalar<'a>,
}

/// Whether a result may be one of a task tool: such a one begins so.
fn tells_of_tasks(result: &str) -> bool {
    const BEGINNINGS: &[&str] =
        &["{\"task\":{\"id\":", "{\"tasks\":[", "{\"success\":true,\"taskId\":"];
    BEGINNINGS.iter().any(|it| result.starts_with(it))
}

fn looked_up(earlier: &Earlier, end: u64) -> Vec<Task> {
    let mut tasks = Vec::new();
    let finder = memmem::Finder::new("\"toolUseResult\":{");
    // What cannot be read again is as if it had not been told.
    let _ = earlier.each_line(end, |line| {
        let Some(at) = finder.find(line) else {
            return;
        };
        let text = jsonl::text(line);
        let result = at + "\"toolUseResult\":".len();
        if !text.get(result..).is_some_and(tells_of_tasks) {
            return;
        }
        let Ok(record) = serde_json::from_str::<Record<'_>>(&text) else {
            return;
        };
        let told = record.tool_use_result.and_then(|it| serde_json::from_str(it.get()).ok());
        if let Some(told) = told {
            apply(&mut tasks, &told);
        }
    });
    tasks
}

/// Whether `told` changes the tasks.
fn apply(tasks: &mut Vec<Task>, told: &Told<'_>) -> bool {
    if !told.tasks.is_empty() {
        tasks.clear();
    }
    let mut changed = false;
    for item in told.tasks.iter().chain([&told.task]).filter_map(|it| it.0.as_ref()) {
        changed |= put(tasks, item);
    }
    let id = told.task_id.words();
    let status = told.status_change.0.as_ref().and_then(|it| it.to.words());
    if let (Some(id), Some(status)) = (id, status)
        && let Some(at) = tasks.iter().position(|it| it.id == id)
    {
        changed = true;
        if status == "deleted" {
            tasks.remove(at);
        } else {
            status.clone_into(&mut tasks[at].status);
        }
    }
    changed
}

fn put(tasks: &mut Vec<Task>, item: &Item<'_>) -> bool {
    let (Some(id), Some(subject)) = (item.id.words(), item.subject.words()) else {
        return false;
    };
    let status = item.status.words();
    if let Some(task) = tasks.iter_mut().find(|it| it.id == id) {
        subject.clone_into(&mut task.subject);
        if let Some(status) = status {
            status.clone_into(&mut task.status);
        }
        return true;
    }
    let status = status.unwrap_or("pending").to_owned();
    tasks.push(Task { id: id.to_owned(), subject: subject.to_owned(), status });
    true
}

fn list<'t>(items: impl Iterator<Item = (Option<&'t str>, &'t str)>) -> String {
    let mut text = String::new();
    for (status, words) in items {
        let mark = match status {
            Some("completed") => 'x',
            Some("in_progress") => '~',
            Some(_) | None => ' ',
        };
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "[{mark}] {words}");
    }
    text
}
