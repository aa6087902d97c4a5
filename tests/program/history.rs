//! Finding, showing and reopening sessions from the command line.

use std::process::Stdio;

use crate::machine::{CLAUDE, CODEX, Machine, said};

fn machine() -> Machine {
    Machine::new().with_claude().with_codex()
}

#[test]
fn the_first_run_says_what_it_found_and_what_to_do_next() {
    let machine = machine();
    let first = said(&machine.run(&[]));
    for part in ["found Claude Code", "found Codex", "read 2 of 2 transcripts", "next:"] {
        assert!(first.contains(part), "`{part}` is not in:\n{first}");
    }
    let second = said(&machine.run(&[]));
    assert!(second.contains("nothing new in 2 transcripts"), "{second}");
}

#[test]
fn a_machine_without_agents_is_told_so() {
    let output = Machine::new().run(&[]);
    assert!(output.status.success());
    assert!(said(&output).contains("no sessions yet"));
}

#[test]
fn search_finds_words_parts_of_identifiers_and_nothing_without_failing() {
    let machine = machine();
    for (query, session) in [
        ("exponential backoff", CLAUDE),
        ("\"payment client\"", CLAUDE),
        ("retryWithBackoff", CLAUDE),
        ("backoff source:claude", CLAUDE),
        ("error-504", CLAUDE),
        ("src/payment/client.ts", CLAUDE),
        ("ECONNRESET", CODEX),
        ("nightly import", CODEX),
    ] {
        let found = machine.json(&["search", "--", query]);
        assert_eq!(found["hits"][0]["session_id"], session, "`{query}`");
    }
    assert_eq!(machine.json(&["search"])["hits"][0]["session_id"], CODEX, "the newest first");
    for query in ["zzzqqq", "\"", "AND", "(", "*", "NEAR(a b", "-", "a:b:c", "迁移", "\u{0}x"] {
        let query = query.replace('\u{0}', " ");
        let found = machine.json(&["search", "--", &query]);
        assert!(found["total"].is_number(), "`{query}`");
        assert!(found["coverage"].is_object() && found["notes"].is_array(), "`{query}`");
    }
}

#[test]
fn sessions_are_listed_latest_first_and_by_page() {
    let machine = machine();
    let list = machine.json(&["sessions"]);
    let ids: Vec<&str> = list["sessions"]
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(|it| it["session_id"].as_str())
        .collect();
    assert_eq!(ids, [CODEX, CLAUDE]);
    assert!(list["next_cursor"].is_null());
    let first = machine.json(&["sessions", "--limit", "1"]);
    let cursor = first["next_cursor"].as_str().expect("has a next page");
    let second = machine.json(&["sessions", "--limit", "1", "--cursor", cursor]);
    assert_eq!(second["sessions"][0]["session_id"], CLAUDE);
    let of_claude = machine.json(&["sessions", "--source", "claude"]);
    assert_eq!(of_claude["sessions"].as_array().expect("is a list").len(), 1);
}

#[test]
fn a_reference_may_be_short_and_is_never_guessed() {
    let machine = machine();
    for reference in [CLAUDE, &CLAUDE[..8], &format!("claude:{CLAUDE}"), "Retry with backoff"] {
        let view = machine.json(&["show", reference]);
        assert_eq!(view["session_id"], CLAUDE, "`{reference}`");
    }
    assert_eq!(machine.json(&["show", "latest"])["session_id"], CODEX);
    let (status, error) = machine.failure(&["show", "nothing of the kind"]);
    assert_eq!((status, error["code"].as_str()), (2, Some("SESSION_NOT_FOUND")));
    let (_, error) = machine.failure(&["show", "the"]);
    assert_eq!(error["code"], "SESSION_AMBIGUOUS");
}

#[test]
fn events_come_whole_one_a_line() {
    let machine = machine();
    let output = machine.run(&["events", CLAUDE, "--json"]);
    let lines: Vec<serde_json::Value> = said(&output)
        .lines()
        .map(|it| serde_json::from_str(it).expect("is one JSON value"))
        .collect();
    let seqs: Vec<u64> = lines.iter().filter_map(|it| it["seq"].as_u64()).collect();
    assert_eq!(seqs, (0..lines.len() as u64).collect::<Vec<_>>());
    let prompts = machine.run(&["events", CLAUDE, "--json", "--kind", "prompt"]);
    assert_eq!(said(&prompts).lines().count(), 2);
}

#[test]
fn a_session_reopens_where_it_began() {
    let machine = machine();
    let printed = said(&machine.run(&["resume", CLAUDE, "--print"]));
    assert_eq!(printed.trim(), format!("cd /home/me/shop && claude --resume {CLAUDE}"));
    let printed = said(&machine.run(&["resume", CODEX, "--print"]));
    assert_eq!(printed.trim(), format!("cd /home/me/shop && codex resume {CODEX}"));
    let output = machine.run(&["resume", CLAUDE]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("/home/me/shop` is not there any more"), "{error}");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let machine = machine();
    machine.run(&[]);
    let mut child = machine
        .command()
        .args(["events", CLAUDE])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn a_damaged_index_is_made_anew() {
    let machine = machine();
    machine.run(&["sync"]);
    let index = machine.state().join("index");
    let mut folders = vec![index];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("lists") {
            let path = entry.expect("lists").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "term" || it == "idx") {
                let mut bytes = std::fs::read(&path).expect("reads");
                for byte in &mut bytes {
                    *byte ^= 0x55;
                }
                std::fs::write(&path, bytes).expect("writes");
            }
        }
    }
    let report = said(&machine.run(&["doctor"]));
    assert!(report.contains("made anew"), "{report}");
    assert_eq!(machine.json(&["search", "ECONNRESET"])["hits"][0]["session_id"], CODEX);
    assert!(machine.run(&["doctor"]).status.success());
}

#[test]
fn completions_are_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let script = said(&Machine::new().run(&["completions", shell]));
        assert!(script.contains("ai-hist") && script.contains("quickstart"), "{shell}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = machine();
    machine.run(&[]);
    let mut folders = vec![machine.state()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("lists") {
            let entry = entry.expect("lists");
            let mode = entry.metadata().expect("is there").permissions().mode();
            if entry.path().is_dir() {
                assert_eq!(mode & 0o077, 0, "{}", entry.path().display());
                folders.push(entry.path());
            }
        }
    }
    let mode = std::fs::metadata(machine.state()).expect("is there").permissions().mode();
    assert_eq!(mode & 0o077, 0);
}
