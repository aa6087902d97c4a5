//! A machine for one agent: its home, its work, its state of ours, and a workspace shared with
//! others.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::mock_model::MockModel;

/// The file that there is to work on.
pub(crate) const FILE: &str = "calculator.py";

/// The words in it that the work is to replace, and what by.
pub(crate) const WRONG: &str = "return a - b";
pub(crate) const RIGHT: &str = "return a + b";

/// A machine for one agent.
pub(crate) struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    /// Makes a machine whose workspace lies in the folder `shared`.
    pub(crate) fn new(shared: &Path) -> Self {
        let machine = Self { dir: tempfile::tempdir().expect("makes a folder") };
        for folder in ["home", "work", "tmp"] {
            fs::create_dir(machine.dir.path().join(folder)).expect("makes a folder");
        }
        let file = format!("def add(a, b):\n    {WRONG}\n");
        fs::write(machine.work().join(FILE), file).expect("writes");
        let config = json!({"plugins": [{"module": "cloud", "options": {
            "path": shared, "workspace": "demo", "account": "dev"
        }}]});
        fs::write(machine.config(), config.to_string()).expect("writes");
        machine
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The folder that the agent works in.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// What the file to work on holds.
    pub(crate) fn file(&self) -> String {
        fs::read_to_string(self.work().join(FILE)).expect("reads")
    }

    /// The variables that our server needs, as a client's configuration names them.
    pub(crate) fn server_vars(&self) -> Value {
        json!({
            "AI_HIST_HOME": self.dir.path().join("state"),
            "AI_HIST_PLUGIN_CONFIG": self.config(),
            "USER": "dev",
        })
    }

    /// A program with nothing of this process's environment. Whoever wants to reach another host
    /// is led to the model, which refuses.
    pub(crate) fn command(&self, program: &Path, model: &MockModel) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            // Codex puts its own programs on its path only if its home is not below this.
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("SHELL", "/bin/sh")
            .env("LANG", "C.UTF-8")
            .env("TERM", "dumb")
            .env("HTTP_PROXY", model.url())
            .env("HTTPS_PROXY", model.url())
            .env("NO_PROXY", "127.0.0.1")
            .current_dir(self.work());
        command
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("plugins.json")
    }
}

/// The files below a folder whose names end in `.jsonl`, in order of name.
pub(crate) fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("lists a folder") {
            let path = entry.expect("lists a folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
