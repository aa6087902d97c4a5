//! One agent hands its work to the other.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    claude::{self, Claude},
    codex::{self, CODE, Codex, FUNCTIONS},
    machine::{FILE, RIGHT},
    mock_model::{
        Asked, MockModel,
        scenario::{Script, object_with},
    },
};

/// What the human asks of the agent that hands over.
pub(crate) const PROMPT: &str = "The addition in the calculator is wrong, please repair it.";

/// What that agent asks of its successor.
pub(crate) const INTENT: &str = "test the addition";

#[test]
fn codex_resumes_with_functions_what_claude_did() {
    claude_to_codex(FUNCTIONS, codex_resumes());
}

#[test]
fn codex_resumes_in_code_what_claude_did() {
    let resume = |arguments: Value| {
        codex::code(format!("text(await tools.mcp__ai_hist__resume_handoff({arguments}));"))
    };
    let script = Script::new("resume")
        .call(resume(asked()))
        .call(resume(further()))
        .call(codex::code("text(await tools.exec_command({cmd: 'echo tested'}));".to_owned()))
        .say("It adds.");
    claude_to_codex(CODE, script);
}

#[track_caller]
fn claude_to_codex(language: &str, resume: Script) {
    let shared = tempfile::tempdir().expect("makes a folder");
    let (claude, codex) = (Claude::new(shared.path()), Codex::new(shared.path()));
    let work = claude
        .works(Script::new("work"))
        .call(claude::load(claude::CREATE))
        .call(claude::function(claude::CREATE, json!({ "intent": INTENT })))
        .say("I handed it over.");
    let model = MockModel::start(vec![work, resume]);
    assert_eq!(claude.run(&model, PROMPT, "work", &[]), "I handed it over.");
    assert!(claude.machine.file().contains(RIGHT));
    let [transcript] = claude.transcripts().try_into().expect("is one session");
    let pointer = pointer(&model.last("work"), "claude", &name(&transcript));
    assert_eq!(codex.run(&model, &["-m", language], intent(&pointer), "resume"), "It adds.");
    check_resumed(&model.last("resume"), intent(&pointer));
    check_transcripts(&transcript, &codex.transcripts());
}

#[test]
fn claude_resumes_what_codex_did_with_functions() {
    let work = codex::works(Script::new("work"))
        .call(codex::find("hand work over to another agent"))
        .call(codex::ours("create_handoff", json!({ "intent": INTENT })))
        .say("I handed it over.");
    codex_to_claude(FUNCTIONS, work);
}

#[test]
fn claude_resumes_what_codex_did_in_code() {
    let create = format!("text(await tools.mcp__ai_hist__create_handoff({{intent: '{INTENT}'}}));");
    let work = codex::works_in_code(Script::new("work"))
        .call(codex::code(create))
        .say("I handed it over.");
    codex_to_claude(CODE, work);
}

#[track_caller]
fn codex_to_claude(language: &str, work: Script) {
    let shared = tempfile::tempdir().expect("makes a folder");
    let (claude, codex) = (Claude::new(shared.path()), Codex::new(shared.path()));
    let model = MockModel::start(vec![work, claude_resumes()]);
    assert_eq!(codex.run(&model, &["-m", language], PROMPT, "work"), "I handed it over.");
    assert!(codex.machine.file().contains(RIGHT));
    let [transcript] = codex.transcripts().try_into().expect("is one session");
    let pointer = pointer(&model.last("work"), "codex", thread(&name(&transcript)));
    assert_eq!(claude.run(&model, intent(&pointer), "resume", &[]), "It adds.");
    check_resumed(&model.last("resume"), intent(&pointer));
    check_transcripts(&transcript, &claude.transcripts());
}

/// Resumes from the prompt alone, looks one page further back, and goes on.
pub(crate) fn codex_resumes() -> Script {
    Script::new("resume")
        .call(codex::find("resume a handoff"))
        .call(codex::ours("resume_handoff", asked()))
        .call(codex::ours("resume_handoff", further()))
        .call(codex::function("exec_command", json!({ "cmd": "echo tested" })))
        .say("It adds.")
}

fn claude_resumes() -> Script {
    Script::new("resume")
        .call(claude::load(claude::RESUME))
        .call(claude::function(claude::RESUME, asked()))
        .call(claude::function(claude::RESUME, further()))
        .call(claude::function("Bash", json!({ "command": "echo tested", "description": "Test" })))
        .say("It adds.")
}

/// The limit is so low that a short session has two pages.
fn asked() -> Value {
    json!({ "source": "{{prompt:source}}", "session_id": "{{prompt:session_id}}", "limit": 3 })
}

fn further() -> Value {
    let mut asked = asked();
    asked["cursor"] = json!("{{result:next_cursor}}");
    asked
}

/// The pointer that the model was shown, which must name that session.
#[track_caller]
pub(crate) fn pointer(asked: &Asked, source: &str, session_id: &str) -> Value {
    let shown = asked.results.last().expect("a tool was called");
    let pointer = object_with(shown, "intent").unwrap_or_else(|| panic!("no pointer: {shown}"));
    let fields: Vec<&String> = pointer.as_object().into_iter().flatten().map(|it| it.0).collect();
    assert_eq!(fields, ["source", "session_id", "intent", "origin_agent", "origin_user"]);
    assert_eq!(pointer["source"], source);
    assert_eq!(pointer["session_id"], session_id);
    let instruction = format!(
        "Resume this handoff: call resume_handoff(source={source}, session_id={session_id}) via \
         the ai-hist MCP, then continue: {INTENT}"
    );
    assert_eq!(pointer["intent"], instruction);
    assert!(pointer["origin_agent"].as_str().is_some_and(|agent| !agent.is_empty()), "{pointer}");
    assert_eq!(pointer["origin_user"], "dev");
    pointer
}

pub(crate) fn intent(pointer: &Value) -> &str {
    pointer["intent"].as_str().expect("is text")
}

/// The pages that the model was shown while it resumed.
pub(crate) fn pages(asked: &Asked) -> Vec<Value> {
    asked.results.iter().filter_map(|result| object_with(result, "contract_version")).collect()
}

/// The model began from the intent alone. The first page was enough to go on; the second one holds
/// what came before.
#[track_caller]
fn check_resumed(asked: &Asked, intent: &str) {
    assert!(asked.body.to_string().contains(intent), "{:#}", asked.body);
    let [first, second] = pages(asked).try_into().unwrap_or_else(|_| {
        panic!("not two pages: {:#?}", asked.results);
    });
    let begun = first["session"]["first_prompt"].to_string();
    assert!(begun.contains(PROMPT), "{first:#}");
    let edits = first["file_edits"].to_string();
    assert!(edits.contains(FILE) && edits.contains(RIGHT), "{first:#}");
    assert!(first["tool_calls"].to_string().contains("create_handoff"), "{first:#}");
    assert!(second["tool_calls"].to_string().contains("line 7 of what was there"), "{second:#}");
    let (newer, older) = (numbers(&first), numbers(&second));
    assert!(older.iter().max() < newer.iter().min(), "{older:?} and then {newer:?}");
    assert_eq!(first["hydration"]["revision"], second["hydration"]["revision"]);
}

/// The numbers of all rows on a page.
fn numbers(page: &Value) -> Vec<u64> {
    let lists = ["prompts", "events", "tool_calls", "file_edits"];
    let rows = lists.iter().flat_map(|list| page[list].as_array().expect("is a list"));
    rows.map(|row| row["seq"].as_u64().expect("has a number")).collect()
}

/// Each agent's own record of it: the pointer was made in the one, and its work is in the other.
#[track_caller]
fn check_transcripts(sender: &Path, receivers: &[PathBuf]) {
    let sent = fs::read_to_string(sender).expect("reads");
    assert!(sent.contains("Resume this handoff: call resume_handoff("), "{}", sender.display());
    let [transcript] = receivers else { panic!("not one session: {receivers:?}") };
    let received = fs::read_to_string(transcript).expect("reads");
    for words in [PROMPT, FILE, RIGHT, "line 7 of what was there"] {
        assert!(received.contains(words), "`{words}` is not in {}", transcript.display());
    }
}

/// The name of a transcript, without what says its kind.
pub(crate) fn name(transcript: &Path) -> String {
    transcript.file_stem().expect("has a name").to_string_lossy().into_owned()
}

/// The thread in the name of a transcript of Codex.
pub(crate) fn thread(name: &str) -> &str {
    &name[name.len() - 36..]
}
