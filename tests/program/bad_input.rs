//! Bad input is normal input: counted, shown by `doctor`, never fatal to the rest.

use std::fs;

use serde_json::{Value, json};

use crate::machine::{CLAUDE, Machine, sample};

fn line(n: u32, text: &str) -> String {
    json!({
        "type": "user", "uuid": format!("{n:08}-0000-4000-8000-0000000000bb"), "parentUuid": null,
        "sessionId": "x", "cwd": "/x", "version": "2.1.332", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-19T14:00:00.000Z",
        "message": { "role": "user", "content": text },
    })
    .to_string()
}

/// A home with one transcript for each kind of bad input, next to a good one.
fn machine() -> Machine {
    let machine = Machine::new().with_claude();
    let write = |n: u32, bytes: &[u8]| {
        let path = format!(".claude/projects/-x/0000000{n}-0000-4000-8000-000000000000.jsonl");
        machine.write(&path, bytes);
    };
    let good = |n: u32| format!("{}\n", line(n, "a good line"));
    write(1, format!("{}{}", good(1), &line(2, "torn")[..40]).as_bytes());
    write(2, &good(3).as_bytes()[..60]);
    write(3, &[good(4).as_bytes(), &line(5, "?").replace('?', "bad \u{1}").into_bytes()].concat());
    let invalid = line(6, "latin QQ").into_bytes();
    let invalid: Vec<u8> = invalid.iter().map(|it| if *it == b'Q' { 0xe9 } else { *it }).collect();
    write(4, &[invalid.as_slice(), b"\n", b"\0\0\0\0\n", good(7).as_bytes()].concat());
    write(5, format!("\u{feff}{}\r\n{}\r\n", line(8, "bom"), line(9, "crlf")).as_bytes());
    write(6, b"");
    let long = "x".repeat(40 * 1024 * 1024);
    write(7, format!("{}{}\n{}", good(10), line(11, &long), good(12)).as_bytes());
    write(8, b"not json\n[1,2]\n{\"type\":\"from-the-future\",\"sessionId\":\"x\"}\n");
    machine
}

/// The account of the transcript whose name has `n`.
fn account(doctor: &Value, n: u32) -> &Value {
    let rows = doctor["accounting"].as_array().expect("is a list");
    let part = format!("/0000000{n}-");
    rows.iter()
        .find(|it| it["path"].as_str().is_some_and(|it| it.contains(&part)))
        .unwrap_or_else(|| panic!("transcript {n} is not accounted for"))
}

fn doctor(machine: &Machine) -> Value {
    let output = machine.run(&["doctor", "--json"]);
    serde_json::from_slice(&output.stdout).expect("is one JSON value")
}

#[test]
fn every_kind_is_counted_and_the_rest_is_read() {
    let machine = machine();
    let report = machine.json(&["sync"]);
    assert_eq!(report["n_failed"], 0, "{report}");
    let doctor = doctor(&machine);
    assert_eq!(doctor["ok"], false);
    for row in doctor["accounting"].as_array().expect("is a list") {
        let sum: u64 = ["events_lines", "ignored", "unknown", "damaged"]
            .iter()
            .map(|it| row[it].as_u64().expect("is a number"))
            .sum();
        assert_eq!(row["lines"], sum, "{row}");
    }
    let numbers = |n: u32| {
        let row = account(&doctor, n);
        ["lines", "events_lines", "damaged"].map(|it| row[it].as_u64().expect("is a number"))
    };
    assert_eq!(numbers(1), [2, 1, 1], "a torn last line");
    assert_eq!(numbers(2), [1, 0, 1], "half a file");
    assert_eq!(numbers(5), [2, 2, 0], "BOM and CRLF");
    assert_eq!(numbers(7), [3, 2, 1], "a line of 40 MB");
    assert_eq!(account(&doctor, 4)["damaged"], 0, "invalid UTF-8 is read with marks");
    let future = account(&doctor, 8);
    assert_eq!((future["lines"].as_u64(), future["unknown"].as_u64()), (Some(3), Some(1)));
    assert_eq!(future["damaged"], 2);
    assert!(account(&doctor, 7)["damage"][0]["reason"].is_string());
    let found = machine.json(&["search", "retryWithBackoff"]);
    assert_eq!(found["hits"][0]["session_id"], CLAUDE);
}

#[test]
fn a_torn_line_is_read_once_it_is_whole() {
    let machine = Machine::new();
    let path = ".claude/projects/-x/00000001-0000-4000-8000-000000000000.jsonl";
    let whole = format!("{}\n{}\n", line(1, "first"), line(2, "second"));
    machine.write(path, &whole[..whole.len() - 30]);
    assert_eq!(machine.json(&["sync"])["n_events"], 1);
    machine.write(path, &whole);
    assert_eq!(machine.json(&["sync"])["n_events"], 1);
    assert_eq!(machine.json(&["sync"])["n_read"], 0);
    assert_eq!(doctor(&machine)["ok"], true);
}

#[cfg(unix)]
#[test]
fn loops_pipes_and_dead_links_stop_nothing() {
    let machine = Machine::new().with_claude();
    let projects = machine.home().join(".claude/projects");
    std::os::unix::fs::symlink(&projects, projects.join("-home-me-shop/loop")).expect("links");
    std::os::unix::fs::symlink("/nowhere", projects.join("dead.jsonl")).expect("links");
    let pipe = projects.join("pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs");
    assert!(made.success());
    let report = machine.json(&["sync"]);
    assert_eq!((report["n_feeds"].as_u64(), report["n_failed"].as_u64()), (Some(1), Some(0)));
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_said_and_the_rest_is_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = Machine::new().with_claude();
    let path = "closed/00000001-0000-4000-8000-000000000000.jsonl";
    machine.write(&format!(".claude/projects/{path}"), sample("claude.jsonl"));
    let closed = machine.home().join(".claude/projects/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("closes");
    // The system lets root in all the same; then there is nothing to be said.
    let is_open = fs::read_dir(&closed).is_ok();
    let report = machine.json(&["sync"]);
    let n_problems = report["problems"].as_array().expect("is a list").len();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("opens");
    assert_eq!(n_problems, usize::from(!is_open), "{report}");
    assert!(1 <= report["n_read"].as_u64().expect("is a number"));
}
