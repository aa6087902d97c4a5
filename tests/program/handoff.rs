//! Handing over, as two machines see it.

use std::{
    fs,
    io::Write as _,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    machine::{CLAUDE, CODEX, Machine},
    mcp::Client,
};

fn pointer_to_claude(machine: &Machine) -> Value {
    let mut client = Client::start(machine, "test");
    let arguments = json!({ "source": "claude", "session_id": CLAUDE, "intent": "fix the test" });
    client.call("create_handoff", &arguments)
}

#[test]
fn a_pointer_has_five_strings_and_leads_to_the_session_on_another_machine() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let sender = Machine::new().with_claude().with_workspace(folder.path(), "demo");
    let pointer = pointer_to_claude(&sender);
    assert_eq!(
        pointer,
        json!({
            "source": "claude",
            "session_id": CLAUDE,
            "intent": format!(
                "Resume this handoff: call resume_handoff(source=claude, session_id={CLAUDE}) via \
                 the ai-hist MCP, then continue: fix the test"
            ),
            "origin_agent": "claude",
            "origin_user": "dev",
        })
    );
    let receiver = Machine::new().with_workspace(folder.path(), "demo");
    let mut client = Client::start(&receiver, "codex-mcp-client");
    let asked = json!({ "source": "claude", "session_id": CLAUDE });
    let page = client.call("resume_handoff", &asked);
    assert_eq!(page["contract_version"], 1);
    assert_eq!(page["hydration"]["status"], "fetched");
    assert_eq!(page["session"]["title"], "Retry with backoff in the payment client");
    assert_eq!(
        page["session"]["plan"]["text"],
        "[~] Add retryWithBackoff\n[ ] Test the give-up case"
    );
    assert_eq!(page["prompts"].as_array().expect("is a list").len(), 2);
    assert_eq!(page["file_edits"][0]["path"], "/home/me/shop/src/payment/client.ts");
    assert!(page["tool_calls"].to_string().contains("error-504"), "a call carries its result");
    assert_eq!(page["next_cursor"], Value::Null);
    assert_eq!(client.call("resume_handoff", &asked)["hydration"]["status"], "unchanged");
    // What was fetched is found afterwards.
    let found = client.call("search_history", &json!({ "query": "retryWithBackoff" }));
    assert_eq!(found["hits"][0]["session_id"], CLAUDE);
}

#[test]
fn a_copy_of_what_is_here_itself_is_not_found_twice() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let machine = Machine::new().with_claude().with_workspace(folder.path(), "demo");
    let before = machine.json(&["search", "backoff"])["total"].clone();
    pointer_to_claude(&machine);
    let mut client = Client::start(&machine, "codex-mcp-client");
    client.call("resume_handoff", &json!({ "source": "claude", "session_id": CLAUDE }));
    assert_eq!(machine.json(&["search", "backoff"])["total"], before);
}

#[test]
fn a_page_fetches_only_what_is_new_and_shows_it() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let sender = Machine::new().with_claude().with_workspace(folder.path(), "demo");
    pointer_to_claude(&sender);
    let receiver = Machine::new().with_workspace(folder.path(), "demo");
    let mut client = Client::start(&receiver, "codex-mcp-client");
    let asked = json!({ "source": "claude", "session_id": CLAUDE });
    let before = client.call("resume_handoff", &asked);
    let path = sender.home().join(format!(".claude/projects/-home-me-shop/{CLAUDE}.jsonl"));
    let mut file = fs::OpenOptions::new().append(true).open(path).expect("opens");
    let line = json!({
        "type": "user", "uuid": "00000099-0000-4000-8000-0000000000aa", "parentUuid": null,
        "sessionId": CLAUDE, "cwd": "/home/me/shop", "version": "2.1.332", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-19T15:00:00.000Z",
        "message": { "role": "user", "content": "one thing more" },
    });
    writeln!(file, "{line}").expect("writes");
    pointer_to_claude(&sender);
    let after = client.call("resume_handoff", &asked);
    assert_eq!(after["hydration"]["status"], "fetched");
    assert_ne!(after["hydration"]["revision"], before["hydration"]["revision"]);
    assert_eq!(after["prompts"][2]["text"], "one thing more");
}

#[test]
fn without_a_cloud_connector_nothing_is_resumed_and_everything_else_works() {
    let configs = [None, Some("{\"plugins\":[]}"), Some("{\"plugins\":[{\"module\":\"codex\"}]}")];
    for config in configs {
        let mut machine = Machine::new().with_claude();
        if let Some(config) = config {
            machine = machine.with_config(config);
        }
        let mut client = Client::start(&machine, "test");
        let asked = json!({ "source": "claude", "session_id": CLAUDE });
        let error = client.failure("resume_handoff", &asked);
        assert_eq!(error["code"], "HANDOFF_CONNECTOR_NOT_CONFIGURED");
        assert!(error["hint"].as_str().expect("has a hint").contains("\"module\":\"cloud\""));
        assert!(!machine.state().exists(), "nothing was read or written");
        let list = client.call("list_sessions", &json!({}));
        assert_eq!(list["sessions"].as_array().expect("is a list").len(), 1);
    }
}

#[test]
fn a_session_of_another_workspace_cannot_be_told_from_none() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let sender = Machine::new().with_claude().with_workspace(folder.path(), "one");
    pointer_to_claude(&sender);
    let receiver = Machine::new().with_workspace(folder.path(), "two");
    let mut client = Client::start(&receiver, "test");
    let foreign =
        client.failure("resume_handoff", &json!({ "source": "claude", "session_id": CLAUDE }));
    let nothing = client.failure(
        "resume_handoff",
        &json!({ "source": "claude", "session_id": "00000000-0000-4000-8000-000000000000" }),
    );
    assert_eq!(foreign["code"], "HANDOFF_WORKSPACE_MISMATCH");
    let anonymous = |error: &Value, id: &str| error.to_string().replace(id, "ID");
    assert_eq!(
        anonymous(&foreign, CLAUDE),
        anonymous(&nothing, "00000000-0000-4000-8000-000000000000")
    );
}

#[test]
fn a_session_that_is_only_here_satisfies_no_resume() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let machine = Machine::new().with_claude().with_workspace(folder.path(), "demo");
    let mut client = Client::start(&machine, "test");
    client.call("list_sessions", &json!({}));
    let error =
        client.failure("resume_handoff", &json!({ "source": "claude", "session_id": CLAUDE }));
    assert_eq!(error["code"], "HANDOFF_WORKSPACE_MISMATCH");
    assert!(error["hint"].as_str().expect("has a hint").contains("on this machine"));
}

#[test]
fn codex_is_known_by_the_thread_that_it_names() {
    let machine = Machine::new().with_claude().with_codex();
    let mut client = Client::start(&machine, "codex-mcp-client");
    let result = client.result(
        "create_handoff",
        &json!({ "intent": "go on" }),
        &json!({ "threadId": CODEX, "sessionId": CLAUDE }),
    );
    assert_eq!(result["structuredContent"]["session_id"], CODEX, "{result}");
    assert_eq!(result["structuredContent"]["source"], "codex");
    let result = client.result(
        "create_handoff",
        &json!({ "intent": "go on" }),
        &json!({ "threadId": "019a9f10-52aa-7c10-8c5e-000000000000" }),
    );
    assert_eq!(result["structuredContent"]["error"]["code"], "CURRENT_SESSION_NOT_FOUND");
}

#[test]
fn claude_is_known_by_the_call_in_its_transcript_also_if_that_comes_late() {
    let machine = Machine::new().with_claude();
    let path = machine.home().join(format!(".claude/projects/-home-me-shop/{CLAUDE}.jsonl"));
    let mut client = Client::start(&machine, "claude-code");
    let line = json!({
        "type": "assistant", "uuid": "00000098-0000-4000-8000-0000000000aa", "parentUuid": null,
        "sessionId": CLAUDE, "cwd": "/home/me/shop", "version": "2.1.332", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-19T15:00:00.000Z",
        "message": { "id": "msg_99", "type": "message", "role": "assistant", "model": "opus",
            "content": [{ "type": "tool_use", "id": "toolu_late", "name": "x", "input": {} }],
            "stop_reason": null, "stop_sequence": null, "usage": {} },
    });
    let writer = std::thread::spawn(move || {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(300) {
            std::thread::yield_now();
        }
        let mut file = fs::OpenOptions::new().append(true).open(path).expect("opens");
        writeln!(file, "{line}").expect("writes");
    });
    let result = client.result(
        "create_handoff",
        &json!({ "intent": "go on" }),
        &json!({ "claudecode/toolUseId": "toolu_late" }),
    );
    writer.join().expect("wrote");
    assert_eq!(result["structuredContent"]["session_id"], CLAUDE, "{result}");
}

#[test]
fn who_hands_over_can_be_said() {
    let machine = Machine::new()
        .with_codex()
        .with_var("AI_HIST_ORIGIN_AGENT", "reviewer")
        .with_var("AI_HIST_ORIGIN_USER", "ann");
    let pointer =
        machine.json(&["handoff", "create", "--session", &format!("codex:{CODEX}"), "look again"]);
    assert_eq!(pointer["origin_agent"], "reviewer");
    assert_eq!(pointer["origin_user"], "ann");
    let machine = Machine::new().with_codex();
    let pointer = machine.json(&["handoff", "create", "--session", "latest", "look again"]);
    assert_eq!(pointer["origin_agent"], "codex-tui");
    assert_eq!(pointer["origin_user"], "dev");
}

#[test]
fn secrets_do_not_reach_the_workspace_and_stay_here() {
    let secret = format!("ghp_{}", "aB3".repeat(12));
    let machine = Machine::new();
    let folder = tempfile::tempdir().expect("makes a folder");
    let machine = machine.with_workspace(folder.path(), "demo");
    let line = json!({
        "type": "user", "uuid": "00000001-0000-4000-8000-0000000000aa", "parentUuid": null,
        "sessionId": CLAUDE, "cwd": "/x", "version": "2.1.332", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-19T14:00:00.000Z",
        "message": { "role": "user", "content": format!("use {secret} to push") },
    });
    machine.write(&format!(".claude/projects/-x/{CLAUDE}.jsonl"), format!("{line}\n"));
    pointer_to_claude(&machine);
    let mut client = Client::start(&machine, "test");
    let page = client.call("resume_handoff", &json!({ "source": "claude", "session_id": CLAUDE }));
    let text = page["prompts"][0]["text"].as_str().expect("has words");
    assert!(text.starts_with("use [redacted:") && !text.contains(&secret), "{text}");
    let events = machine.run(&["events", CLAUDE]);
    assert!(String::from_utf8_lossy(&events.stdout).contains(&secret), "the user sees his own");
}
