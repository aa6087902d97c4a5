//! One of the processes that work on a store, replaced whenever it has ended or was killed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::{
    fleet::{Berth, Ended},
    machine::Place,
    mcp::{Answer, Server},
    transcript::SUBJECTS,
    world::World,
};

/// What a worker does again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// `ai-hist sync`
    Sync,
    /// `ai-hist search`
    Search,
    /// `ai-hist events`: reads a session to its present end, whoever leads.
    Events,
    /// `ai-hist sessions`
    Sessions,
    /// A server that is asked for everything.
    Serve,
}

/// What all workers share.
pub(crate) struct Site<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) world: &'a Mutex<World>,
    pub(crate) is_over: &'a AtomicBool,
    /// What must not be.
    pub(crate) faults: &'a Mutex<Vec<String>>,
    /// How often each thing was answered.
    pub(crate) answers: &'a Mutex<BTreeMap<String, u32>>,
}

/// A worker.
pub(crate) struct Worker<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) berth: Arc<Berth>,
    pub(crate) task: Task,
    pub(crate) rng: Rng,
}

/// Refusals that say the truth while sessions come and go.
const TRUE_REFUSALS: &[&str] = &[
    "CONNECTOR_READ_FAILED",
    "CURRENT_SESSION_NOT_FOUND",
    "HANDOFF_WORKSPACE_MISMATCH",
    "SESSION_NOT_FOUND",
];

/// Takes a lock that a thread which failed may have left.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Site<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn fault(&self, what: String) {
        lock(self.faults).push(what);
    }

    fn count(&self, what: &str) {
        *lock(self.answers).entry(what.to_owned()).or_default() += 1;
    }
}

impl Worker<'_> {
    /// Works until it is over.
    pub(crate) fn work(mut self) {
        while !self.site.is_over() {
            match self.task {
                Task::Sync => self.sync(),
                Task::Search => {
                    let subject = self.subject();
                    self.run(&["search", subject]);
                }
                Task::Events => self.events(),
                Task::Sessions => drop(self.run(&["sessions", "--all", "-n", "200"])),
                Task::Serve => self.serve(),
            }
        }
    }

    fn subject(&mut self) -> &'static str {
        SUBJECTS[self.rng.usize(..SUBJECTS.len())]
    }

    fn session(&mut self) -> (&'static str, String) {
        lock(self.site.world).hot(&mut self.rng)
    }

    fn sync(&mut self) {
        let from = lock(self.site.world).now();
        let Some(said) = self.run(&["sync"]) else { return };
        let report: Value = serde_json::from_str(&said).expect("is one JSON value");
        let is_whole = report["n_failed"] == 0 && report["problems"] == json!([]);
        // A file that went away between being listed and being opened is no fault.
        if is_whole {
            lock(self.site.world).acknowledge(from);
        }
    }

    fn events(&mut self) {
        let (source, id) = self.session();
        let Some(said) = self.run(&["events", &format!("{source}:{id}")]) else { return };
        for (i, line) in said.lines().enumerate() {
            let row: Value = serde_json::from_str(line).expect("each line is JSON");
            if row["seq"] != i {
                return self.site.fault(format!("event {i} of `{id}` is {row}"));
            }
        }
    }

    /// Runs a command; gives what it said if it succeeded.
    fn run(&mut self, args: &[&str]) -> Option<String> {
        let mut command = self.site.place.command(args);
        let (ended, said) = self.berth.run(command.arg("--json")).expect("runs");
        if ended.was_killed {
            return None;
        }
        if ended.status.success() {
            self.site.count(args[0]);
            return Some(said);
        }
        let error: Value = serde_json::from_str(&said).unwrap_or_default();
        self.refusal(args[0], &error["error"], &ended);
        None
    }

    fn refusal(&self, what: &str, error: &Value, ended: &Ended) {
        let code = error["code"].as_str().unwrap_or_default();
        if TRUE_REFUSALS.contains(&code) {
            return self.site.count(&format!("{what}: {code}"));
        }
        let Ended { status, errors, .. } = ended;
        self.site.fault(format!("`{what}` failed: {status}: {error} {errors}"));
    }

    /// Asks a server until it dies or it is over.
    fn serve(&mut self) {
        let mut server = Server::start(self.site.place, &self.berth).expect("starts");
        if let Answer::Gone(ended) = server.greet() {
            return self.dead("the handshake", &ended);
        }
        while !self.site.is_over() {
            let (tool, arguments) = self.question();
            match server.call(tool, &arguments) {
                Answer::Given(_) => self.site.count(tool),
                Answer::Refused(error) => {
                    let code = error["code"].as_str().unwrap_or_default();
                    if !TRUE_REFUSALS.contains(&code) {
                        self.site.fault(format!("`{tool}` {arguments} was refused: {error}"));
                    }
                    self.site.count(&format!("{tool}: {code}"));
                }
                Answer::Gone(ended) => return self.dead(tool, &ended),
            }
        }
        let ended = server.end();
        if !ended.status.success() {
            self.dead("its end", &ended);
        }
    }

    fn question(&mut self) -> (&'static str, Value) {
        let (source, session_id) = self.session();
        let session = json!({"source": source, "session_id": session_id});
        match self.rng.u8(..6) {
            0 | 1 => ("search_history", json!({"query": self.subject()})),
            2 => ("resume_handoff", session),
            3 => ("get_session_events", session),
            _ => {
                let mut asked = session;
                asked["intent"] = json!("go on with it");
                ("create_handoff", asked)
            }
        }
    }

    fn dead(&self, at: &str, ended: &Ended) {
        let Ended { status, was_killed, errors } = ended;
        if !was_killed {
            self.site.fault(format!("a server died by itself at {at}: {status}: {errors}"));
        }
    }
}
