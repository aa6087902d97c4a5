//! What becomes of a session after it was read: restored, forgotten, kept out, exported, copied.

use std::fs;

use serde_json::Value;

use crate::machine::{CLAUDE, CODEX, Machine, said, sample};

const FORK: &str = "6c1d6b1f-8e1f-4e1b-8a4c-2a2a7a1a3b02";

fn machine() -> Machine {
    let machine = Machine::new().with_claude().with_codex();
    machine.json(&["sync"]);
    machine
}

fn claude_path(session: &str) -> String {
    format!(".claude/projects/-home-me-shop/{session}.jsonl")
}

fn ids(machine: &Machine) -> Vec<String> {
    let list = machine.json(&["sessions", "--all"]);
    let sessions = list["sessions"].as_array().expect("is a list").clone();
    sessions.iter().filter_map(|it| it["session_id"].as_str().map(str::to_owned)).collect()
}

fn n_hits(machine: &Machine, query: &str) -> Value {
    machine.json(&["search", "--", query])["total"].clone()
}

#[test]
fn a_deleted_transcript_is_written_back_as_it_was() {
    let machine = machine();
    let path = machine.home().join(claude_path(CLAUDE));
    let before = fs::read(&path).expect("reads");
    fs::remove_file(&path).expect("removes");
    machine.json(&["sync"]);
    let gone = machine.json(&["doctor"])["retention"][0].clone();
    assert_eq!((gone["gone"].clone(), gone["days"].clone()), (1.into(), 30.into()));
    let report = machine.json(&["restore", CLAUDE]);
    assert_eq!(report["files"][0]["status"], "written");
    assert_eq!(fs::read(&path).expect("is back"), before);
    assert_eq!(machine.json(&["restore", CLAUDE])["files"][0]["status"], "unchanged");
}

#[test]
fn a_file_that_differs_is_never_overwritten_and_every_generation_can_be_had() {
    let machine = machine();
    let path = machine.home().join(claude_path(CLAUDE));
    let before = fs::read(&path).expect("reads");
    fs::write(&path, "{\"type\":\"user\"}\n").expect("writes");
    let (status, error) = machine.failure(&["restore", CLAUDE]);
    assert_eq!((status, error["code"].as_str()), (2, Some("RESTORE_CONFLICT")));
    assert_eq!(fs::read(&path).expect("reads"), b"{\"type\":\"user\"}\n");
    machine.json(&["sync"]);
    let elsewhere = machine.home().join("elsewhere");
    let to = elsewhere.display().to_string();
    let report = machine.json(&["restore", CLAUDE, "--to", &to, "--generation", "0"]);
    assert_eq!(report["files"][0]["n_generations"], 2);
    assert_eq!(fs::read(elsewhere.join(claude_path(CLAUDE))).expect("is there"), before);
}

#[test]
fn what_is_forgotten_is_gone_and_stays_away() {
    let machine = machine();
    let path = machine.home().join(claude_path(CLAUDE));
    let plan = machine.json(&["forget", CLAUDE, "--dry-run"]);
    assert_eq!(plan["sessions"][0]["session_id"], CLAUDE);
    let (status, error) = machine.failure(&["forget", CLAUDE]);
    assert_eq!((status, error["code"].as_str()), (2, Some("NOT_AGREED")));
    assert_eq!(ids(&machine).len(), 2, "nothing has happened yet");
    let report = machine.json(&["forget", CLAUDE, "--yes"]);
    assert_eq!(report["n_sessions"], 1);
    assert_eq!(report["left_on_disk"][0], path.display().to_string());
    for _ in 0..2 {
        assert_eq!(ids(&machine), [CODEX]);
        assert_eq!(n_hits(&machine, "\"payment client\""), 0);
        machine.json(&["sync"]);
    }
    assert_eq!(machine.failure(&["restore", CLAUDE]).0, 2, "the archive has it no more");
    machine.json(&["forget", "--undo", &format!("claude:{CLAUDE}")]);
    machine.json(&["sync"]);
    assert_eq!(ids(&machine).len(), 2);
}

#[test]
fn sessions_are_chosen_for_forgetting_by_words_place_and_age() {
    let machine = machine();
    let chosen = |args: &[&str]| {
        let plan = machine.json(&[&["forget", "--dry-run"], args].concat());
        plan["sessions"].as_array().expect("is a list").len()
    };
    assert_eq!(chosen(&["--match", "ECONNRESET"]), 1);
    assert_eq!(chosen(&["--match", "ECONNREST"]), 0, "what is only like it is kept");
    assert_eq!(chosen(&["--project", "/nowhere"]), 0);
    assert_eq!(chosen(&["--older-than", "0d"]), 2);
    assert_eq!(chosen(&["--older-than", "100y"]), 0);
    assert_eq!(machine.failure(&["forget"]).0, 2, "without a condition nothing is meant");
}

#[test]
fn words_are_forgotten_also_where_a_fork_has_copied_them() {
    let machine = Machine::new().with_claude().with_codex();
    machine.write(&claude_path(FORK), sample("claude.jsonl").replace(CLAUDE, FORK));
    machine.json(&["sync"]);
    let report = machine.json(&["forget", "--match", "Payment Client", "--yes"]);
    assert_eq!(report["n_sessions"], 2, "{report}");
    assert_eq!(ids(&machine), [CODEX]);
    assert_eq!(n_hits(&machine, "\"payment client\""), 0);
}

#[test]
fn what_happens_in_an_excluded_folder_is_read_only_once_it_is_no_longer() {
    let machine = Machine::new().with_codex();
    let cwd = "/home/me/private/notes";
    let text = sample("claude.jsonl").replace("/home/me/shop", cwd);
    assert!(text.contains(cwd), "the sample works in another folder");
    machine.write(&claude_path(CLAUDE), text);
    machine.json(&["exclude", "/home/me/private"]);
    machine.json(&["sync"]);
    assert_eq!(ids(&machine), [CODEX]);
    assert_eq!(machine.json(&["doctor"])["excluded"][0], "/home/me/private");
    machine.json(&["exclude", "--remove", "/home/me/private"]);
    machine.json(&["sync"]);
    assert_eq!(ids(&machine).len(), 2);
}

#[test]
fn an_export_has_everything_but_secrets() {
    let machine = Machine::new().with_claude();
    let secret = ["ghp_", "q8Zr2LxV7nTb4KsJ9wYd", "H3mF6pGc1aEo5RiU"].concat();
    let text = sample("claude.jsonl").replace("Hand the rest", &format!("{secret} Hand the rest"));
    machine.write(&claude_path(CLAUDE), text);
    machine.json(&["sync"]);
    let document = said(&machine.run(&["export", CLAUDE]));
    assert!(document.starts_with("# ") && document.contains("## Prompt"), "{document}");
    assert!(!document.contains(&secret) && document.contains("[redacted"), "{document}");
    let kept = said(&machine.run(&["export", CLAUDE, "--keep-secrets"]));
    assert!(kept.contains(&secret));
    let lines = said(&machine.run(&["export", CLAUDE, "--format", "jsonl"]));
    let head: Value =
        serde_json::from_str(lines.lines().next().expect("has one")).expect("is JSON");
    assert_eq!(head["n_events"], lines.lines().count() - 1);
}

#[test]
fn a_fork_stands_below_its_parent_and_is_found_once() {
    let machine = Machine::new().with_claude();
    let text = sample("claude.jsonl");
    machine.write(&claude_path(FORK), text.replace(CLAUDE, FORK));
    machine.json(&["sync"]);
    let alone = Machine::new().with_claude();
    alone.json(&["sync"]);
    assert_eq!(n_hits(&machine, "\"payment client\""), n_hits(&alone, "\"payment client\""));
    let tree = machine.json(&["sessions", "--tree", FORK]);
    assert_eq!(tree["n_sessions"], 2);
    assert_eq!(tree["root"]["children"][0]["relation"], "fork");
}

#[test]
fn reading_the_archive_again_changes_no_id_and_no_text() {
    let machine = machine();
    let events = |machine: &Machine| said(&machine.run(&["events", CLAUDE, "--json"]));
    let before = events(&machine);
    fs::remove_file(machine.home().join(claude_path(CLAUDE))).expect("removes");
    let report = machine.json(&["reparse"]);
    assert_eq!(report["n_transcripts"], 2, "{report}");
    assert_eq!(events(&machine), before);
    assert_eq!(n_hits(&machine, "\"payment client\""), {
        let other = self::machine();
        n_hits(&other, "\"payment client\"")
    });
}
