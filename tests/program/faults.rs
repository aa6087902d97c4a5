//! A store that is damaged, closed or full: said with what to do, never silently made anew.

use std::fs;

use serde_json::json;

use crate::{
    machine::{CLAUDE, CODEX, Machine},
    mcp::Client,
};

/// A machine whose store was read in and then overwritten, its first page included.
fn damaged() -> Machine {
    let machine = Machine::new().with_claude().with_codex();
    machine.json(&["sync"]);
    let file = machine.state().join("store.db");
    let n_bytes = fs::metadata(&file).expect("is there").len();
    let noise: Vec<u8> = (0..n_bytes).map(|it| u8::try_from(it % 251).unwrap_or(0)).collect();
    fs::write(&file, noise).expect("writes");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(machine.state().join(format!("store.db{suffix}")));
    }
    machine
}

#[test]
fn a_damaged_store_is_said_by_every_way_in() {
    let machine = damaged();
    let before = fs::read(machine.state().join("store.db")).expect("reads");
    for command in [&["search", "retry"][..], &["sessions"], &["sync"], &["show", "latest"]] {
        let (status, error) = machine.failure(command);
        assert_eq!((status, error["code"].as_str()), (65, Some("STORE_CORRUPT")), "{command:?}");
        let hint = error["hint"].as_str().expect("has one");
        assert!(hint.contains("ai-hist doctor --repair"), "{command:?}: {hint}");
    }
    let mut client = Client::start(&machine, "test");
    let error = client.failure("search_history", &json!({ "query": "retry" }));
    assert_eq!(error["code"], "STORE_CORRUPT");
    assert!(error["hint"].as_str().is_some_and(|it| it.contains("doctor --repair")), "{error}");
    let after = fs::read(machine.state().join("store.db")).expect("reads");
    assert!(before == after, "nobody touches it unasked");
}

#[test]
fn a_repair_reads_every_transcript_again_and_keeps_the_damaged_file() {
    let machine = damaged();
    let before = fs::read(machine.state().join("store.db")).expect("reads");
    let report = machine.json(&["doctor", "--repair"]);
    assert!(report["damage"].is_string(), "{report}");
    let moved_to = report["moved_to"].as_str().expect("says where").to_owned();
    let kept = fs::read(std::path::Path::new(&moved_to).join("store.db")).expect("is kept");
    assert!(kept == before);
    let list = machine.json(&["sessions"]);
    let ids: Vec<&str> = list["sessions"]
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(|it| it["session_id"].as_str())
        .collect();
    assert!(ids.contains(&CLAUDE) && ids.contains(&CODEX), "{ids:?}");
    let found = machine.json(&["search", "retryWithBackoff"]);
    assert_eq!(found["hits"][0]["session_id"], CLAUDE);
    let again = machine.json(&["doctor", "--repair"]);
    assert!(again["damage"].is_null(), "{again}");
}

#[test]
fn a_server_that_has_the_damaged_file_open_says_that_it_was_replaced() {
    let machine = Machine::new().with_claude();
    machine.json(&["sync"]);
    let mut client = Client::start(&machine, "test");
    client.call("list_sessions", &json!({}));
    fs::remove_file(machine.state().join("store.db-wal")).expect("removes");
    fs::write(machine.state().join("store.db"), b"no store").expect("writes");
    machine.json(&["doctor", "--repair"]);
    let error = client.failure("list_sessions", &json!({}));
    assert_eq!(error["code"], "STORE_UNAVAILABLE", "{error}");
    assert!(error["hint"].as_str().is_some_and(|it| it.contains("start this program")), "{error}");
}

#[cfg(unix)]
#[test]
fn a_home_that_may_not_be_written_is_said_with_the_way_out() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::new().with_claude();
    let closed = machine.home().join("closed");
    fs::create_dir(&closed).expect("makes a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).expect("closes");
    // The system lets root in all the same; then there is nothing to be said.
    if fs::write(closed.join("test"), b"").is_ok() {
        return;
    }
    let state = closed.join("state").display().to_string();
    let machine = machine.with_var("AI_HIST_HOME", &state);
    let (_, error) = machine.failure(&["search", "retry"]);
    assert_eq!(error["code"], "STORE_UNAVAILABLE", "{error}");
    assert!(error["hint"].as_str().is_some_and(|it| it.contains("AI_HIST_HOME")), "{error}");
}
