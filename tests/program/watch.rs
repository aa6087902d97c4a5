//! Live watching: what is appended is taken in without anybody asking.
//!
//! `doctor` is the witness: it takes nothing in, and says how far store and index are.

use std::{
    fs::OpenOptions,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    machine::{CLAUDE, Machine, sample},
    mcp::Client,
};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(2);

/// Watchers whose lines come in one queue, each with the watcher's number.
struct Watchers {
    children: Vec<Child>,
    sender: Sender<(usize, Value)>,
    said: Receiver<(usize, Value)>,
}

impl Watchers {
    fn new() -> Self {
        let (sender, said) = channel();
        Self { children: Vec::new(), sender, said }
    }

    /// Starts another one, and waits until it watches; gives how it does.
    fn start(&mut self, machine: &Machine, args: &[&str]) -> Value {
        let number = self.children.len();
        let mut command = machine.command();
        command.args(["--json", "watch"]).args(args).stdout(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let lines = BufReader::new(child.stdout.take().expect("is piped")).lines();
        self.children.push(child);
        let sender = self.sender.clone();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let value = serde_json::from_str(&line).expect("is JSON");
                if sender.send((number, value)).is_err() {
                    return;
                }
            }
        });
        self.next("watching").1
    }

    /// The next line of this kind, and whose it is.
    fn next(&self, event: &str) -> (usize, Value) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (number, value) = self.said.recv_timeout(left).expect("it is said in time");
            if value["event"] == event {
                return (number, value);
            }
        }
    }
}

impl Drop for Watchers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Appends a prompt to the Claude session of the machine.
fn append(machine: &Machine, n: u32, text: &str) {
    let line = json!({
        "type": "user", "uuid": format!("00000000-0000-4000-8000-{n:012}"), "parentUuid": null,
        "sessionId": CLAUDE, "cwd": "/home/me/shop", "version": "2.1.332", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-19T15:00:00.000Z",
        "message": { "role": "user", "content": text },
    });
    let path = machine.home().join(format!(".claude/projects/-home-me-shop/{CLAUDE}.jsonl"));
    let mut file = OpenOptions::new().append(true).open(path).expect("opens");
    writeln!(file, "{line}").expect("writes");
}

/// How far the store is, once the index is as far.
fn indexed(machine: &Machine) -> Option<u64> {
    let index = &machine.json(&["doctor"])["index"];
    (index["last_row"] == index["watermark"]).then(|| index["last_row"].as_u64().expect("is one"))
}

#[test]
fn a_server_takes_in_what_is_appended_without_being_asked() {
    let machine = Machine::new().with_claude();
    let mut client = Client::start(&machine, "test");
    client.call("list_sessions", &json!({}));
    let before = indexed(&machine).expect("the question indexed it");
    append(&machine, 1, "the word is zanzibarian");
    let deadline = Instant::now() + PATIENCE;
    while indexed(&machine) != Some(before + 1) {
        assert!(Instant::now() < deadline, "it is not taken in");
    }
    let found = client.call("search_history", &json!({ "query": "zanzibarian" }));
    assert_eq!(found["hits"][0]["session_id"], CLAUDE);
}

#[test]
fn a_watcher_says_what_it_takes_in() {
    let machine = Machine::new().with_claude();
    let mut watchers = Watchers::new();
    let watching = watchers.start(&machine, &[]);
    assert_eq!(watching, json!({"event": "watching", "by": "notices"}));
    let first = watchers.next("took").1;
    assert_eq!(first["sessions"], json!([format!("claude:{CLAUDE}")]));
    append(&machine, 1, "one more");
    let second = watchers.next("took").1;
    assert_eq!((&second["transcripts"], &second["events"]), (&json!(1), &json!(1)), "{second}");
    assert_eq!((&second["indexed"], &second["failed"]), (&json!(1), &json!(0)), "{second}");
}

#[test]
fn when_the_one_at_work_is_killed_the_other_takes_over() {
    let machine = Machine::new().with_claude();
    let mut watchers = Watchers::new();
    watchers.start(&machine, &[]);
    watchers.next("took");
    watchers.start(&machine, &[]);
    append(&machine, 1, "who takes it?");
    let (quicker, _) = watchers.next("took");
    watchers.children[quicker].kill().expect("is running");
    watchers.children[quicker].wait().expect("ends");
    append(&machine, 2, "and now?");
    let (other, took) = watchers.next("took");
    assert_ne!(other, quicker);
    assert_eq!(took["events"], 1, "neither twice nor not at all: {took}");
}

#[test]
fn without_notices_it_looks_at_intervals() {
    let machine = Machine::new().with_claude();
    let mut watchers = Watchers::new();
    let watching = watchers.start(&machine, &["--poll"]);
    assert_eq!(watching["by"], "intervals");
    assert_eq!(watching["reason"], "it was asked to");
    watchers.next("took");
    append(&machine, 1, "one more");
    assert_eq!(watchers.next("took").1["events"], 1);
}

#[test]
fn a_first_session_is_seen_when_it_comes() {
    let machine = Machine::new();
    std::fs::create_dir(machine.home().join(".claude")).expect("makes a folder");
    let mut watchers = Watchers::new();
    watchers.start(&machine, &[]);
    let path = format!(".claude/projects/-home-me-shop/{CLAUDE}.jsonl");
    machine.write(&path, sample("claude.jsonl"));
    let sessions = &watchers.next("took").1["sessions"];
    assert_eq!(*sessions, json!([format!("claude:{CLAUDE}")]));
}

#[cfg(unix)]
#[test]
fn asked_to_end_it_ends_well() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::INT, Signal::TERM] {
        let machine = Machine::new().with_claude();
        let mut watchers = Watchers::new();
        watchers.start(&machine, &[]);
        let child = &mut watchers.children[0];
        kill_process(Pid::from_child(child), signal).expect("is running");
        assert_eq!(child.wait().expect("ends").code(), Some(0), "{signal:?}");
    }
}
