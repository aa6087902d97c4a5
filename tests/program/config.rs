//! Configurations that cannot be used: said where and why, and nothing else fails.

use serde_json::json;

use crate::{
    machine::{CLAUDE, Machine},
    mcp::Client,
};

#[test]
fn a_broken_configuration_fails_what_needs_it_and_nothing_else() {
    let table = [
        ("{\"plugins\":[\n{\"module\":\"clod\"}]}", "plugins.json`:2:11: unknown module `clod`"),
        ("not json", "plugins.json`:1:"),
        (
            "{\"plugins\":[{\"module\":\"cloud\",\"options\":{\"path\":\"/x\",\"wrkspace\":\"y\"}}]}",
            "`cloud` has no option `wrkspace`",
        ),
        ("{\"plugins\":[{\"module\":\"cloud\"}]}", "plugins.json`:1:23: option `path`"),
    ];
    for (text, said) in table {
        let machine = Machine::new().with_claude().with_config(text);
        let mut client = Client::start(&machine, "test");
        let asked = json!({ "source": "claude", "session_id": CLAUDE });
        let error = client.failure("resume_handoff", &asked);
        assert_eq!(error["code"], "CONNECTOR_CONFIG_INVALID", "{text}");
        let message = error["message"].as_str().expect("says what");
        assert!(message.contains(said), "{message}");
        assert!(!error["hint"].as_str().expect("has a hint").is_empty(), "{text}");
        let list = client.call("list_sessions", &json!({}));
        assert_eq!(list["sessions"].as_array().expect("is a list").len(), 1, "{text}");
    }
}

#[test]
fn the_command_line_says_the_same_with_its_exit_status() {
    let machine = Machine::new().with_config("{\"plugins\":[{\"module\":\"clod\"}]}");
    let (status, error) = machine.failure(&["handoff", "resume", "claude", CLAUDE]);
    assert_eq!((status, error["code"].as_str()), (78, Some("CONNECTOR_CONFIG_INVALID")));
    let output = machine.run(&["handoff", "resume", "claude", CLAUDE]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error[CONNECTOR_CONFIG_INVALID]: "), "{said}");
    assert!(said.contains("\nhint: use one of: "), "{said}");
}

#[test]
fn a_configuration_that_is_not_there_is_said() {
    let machine = Machine::new().with_var("AI_HIST_PLUGIN_CONFIG", "/nowhere/plugins.json");
    let (_, error) = machine.failure(&["handoff", "resume", "claude", CLAUDE]);
    assert_eq!(error["code"], "CONNECTOR_CONFIG_INVALID");
    assert!(error["message"].as_str().expect("says what").contains("/nowhere/plugins.json"));
}
