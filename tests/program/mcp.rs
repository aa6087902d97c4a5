//! The MCP server over real pipes, in both protocol eras.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::machine::{CLAUDE, Machine};

/// A client that started the server.
pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    /// Starts the server and shakes hands as a client of `name`.
    pub(crate) fn start(machine: &Machine, name: &str) -> Self {
        let mut client = Self::spawn(machine);
        let answer = client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": name, "version": "1" },
            }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "ai-hist");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn spawn(machine: &Machine) -> Self {
        let mut command = machine.command();
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("is piped"));
        Self { child, to, from, id: 0 }
    }

    pub(crate) fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let mut text = String::new();
            assert_ne!(self.from.read_line(&mut text).expect("reads"), 0, "the server is gone");
            let answer: Value = serde_json::from_str(&text).expect("is JSON");
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool; gives the whole result.
    pub(crate) fn result(&mut self, tool: &str, arguments: &Value, meta: &Value) -> Value {
        let parameters = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let answer = self.request("tools/call", &parameters);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool that must succeed; gives the structured content.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.result(tool, arguments, &json!({}));
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must fail; gives the error.
    pub(crate) fn failure(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.result(tool, arguments, &json!({}));
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let error = result["structuredContent"]["error"].clone();
        let text = result["content"][0]["text"].as_str().expect("says it as text too");
        assert!(text.starts_with(error["code"].as_str().expect("has a code")), "{text}");
        error
    }

    fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("is open");
        writeln!(to, "{message}").expect("writes");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server ends when its input does.
        self.to = None;
        let _ = self.child.wait();
    }
}

#[test]
fn the_tools_are_listed_with_their_hints_and_schemas() {
    let machine = Machine::new();
    let mut client = Client::start(&machine, "test");
    let answer = client.request("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().expect("is a list").clone();
    let names: Vec<&str> = tools.iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "create_handoff",
            "get_session",
            "get_session_events",
            "get_session_tree",
            "list_sessions",
            "resume_handoff",
            "search_history"
        ]
    );
    for tool in &tools {
        let name = &tool["name"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        assert_eq!(tool["annotations"]["destructiveHint"], false, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        assert!(tool["description"].as_str().expect("has one").len() < 2_048, "{name}");
    }
    assert!(!machine.state().exists(), "the handshake and the list touch no store");
}

#[test]
fn a_client_of_the_stateless_era_is_answered() {
    let machine = Machine::new().with_claude();
    let mut client = Client::spawn(&machine);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let answer = client.request("server/discover", &json!({ "_meta": meta }));
    assert!(answer["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{answer}");
    let result = client.result("list_sessions", &json!({}), &meta);
    assert_eq!(result["structuredContent"]["sessions"][0]["session_id"], CLAUDE);
}

#[test]
fn history_can_be_listed_read_and_searched() {
    let machine = Machine::new().with_claude().with_codex();
    let mut client = Client::start(&machine, "test");
    let list = client.call("list_sessions", &json!({}));
    assert_eq!(list["sessions"].as_array().expect("is a list").len(), 2);
    let found = client.call("search_history", &json!({ "query": "retryWithBackoff" }));
    assert_eq!(found["hits"][0]["session_id"], CLAUDE);
    let session = json!({ "source": "claude", "session_id": CLAUDE });
    let view = client.call("get_session", &session);
    assert_eq!(view["session"]["title"], "Retry with backoff in the payment client");
    let mut asked = session.clone();
    asked["kinds"] = json!(["prompt"]);
    let events = client.call("get_session_events", &asked);
    assert_eq!(events["events"].as_array().expect("is a list").len(), 2);
}

#[test]
fn a_long_text_is_had_whole_a_stretch_at_a_time() {
    let long = "0123456789".repeat(9_000);
    let line = json!({
        "type": "user", "uuid": "00000000-0000-4000-8000-000000000001", "parentUuid": null,
        "sessionId": CLAUDE, "cwd": "/x", "version": "2.1.332", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-19T14:00:00.000Z",
        "message": { "role": "user", "content": long },
    });
    let machine = Machine::new();
    machine.write(&format!(".claude/projects/-x/{CLAUDE}.jsonl"), format!("{line}\n"));
    let mut client = Client::start(&machine, "claude-code");
    let mut asked = json!({ "source": "claude", "session_id": CLAUDE, "event": 0, "offset": 0 });
    let mut whole = String::new();
    loop {
        let part = client.call("get_session_events", &asked);
        whole.push_str(part["text"].as_str().expect("has text"));
        if part["next_offset"].is_null() {
            break;
        }
        asked["offset"] = part["next_offset"].clone();
    }
    assert_eq!(whole, long);
}

#[test]
fn wrong_arguments_are_named() {
    let machine = Machine::new().with_claude();
    let mut client = Client::start(&machine, "test");
    for (tool, arguments, code) in [
        ("get_session", json!({ "source": "claude", "session_id": "../x" }), "INVALID_ARGUMENT"),
        ("get_session", json!({ "source": "claude", "session_id": "zzz" }), "SESSION_NOT_FOUND"),
        (
            "get_session_events",
            json!({ "source": "claude", "session_id": CLAUDE, "max_bytes": 1 }),
            "INVALID_ARGUMENT",
        ),
        (
            "get_session_events",
            json!({ "source": "claude", "session_id": CLAUDE, "kinds": ["nothing"] }),
            "INVALID_ARGUMENT",
        ),
        ("list_sessions", json!({ "cursor": "nonsense" }), "INVALID_CURSOR"),
        ("list_sessions", json!({ "bogus": 1 }), "INVALID_ARGUMENT"),
        ("resume_handoff", json!({ "source": "claude" }), "INVALID_ARGUMENT"),
        ("search_history", json!({ "query": 7 }), "INVALID_ARGUMENT"),
        ("create_handoff", json!({ "intent": "x" }), "CURRENT_SESSION_UNAVAILABLE"),
        ("create_handoff", json!({ "intent": "x", "source": "claude" }), "INVALID_ARGUMENT"),
    ] {
        assert_eq!(client.failure(tool, &arguments)["code"], code, "{tool} {arguments}");
    }
}
