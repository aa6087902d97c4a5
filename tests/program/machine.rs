//! A machine for one test: an empty home, no inherited environment.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

/// The session that [`Machine::with_claude`] puts into the home.
pub(crate) const CLAUDE: &str = "5b0c5a0e-7d0e-4d0a-9f3b-1f1f6f0e2a01";

/// The session that [`Machine::with_codex`] puts into the home.
pub(crate) const CODEX: &str = "019a9f10-52aa-7c10-8c5e-3d9b6a1c7e02";

/// A machine for one test.
pub(crate) struct Machine {
    dir: tempfile::TempDir,
    vars: Vec<(String, String)>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("makes a folder");
        let machine = Self { dir, vars: Vec::new() };
        fs::create_dir_all(machine.home()).expect("makes a folder");
        machine
    }

    pub(crate) fn with_claude(self) -> Self {
        let path = format!(".claude/projects/-home-me-shop/{CLAUDE}.jsonl");
        self.write(&path, sample("claude.jsonl"));
        self
    }

    pub(crate) fn with_codex(self) -> Self {
        let path = format!(".codex/sessions/2026/11/20/rollout-2026-11-20T09-30-00-{CODEX}.jsonl");
        self.write(&path, sample("codex.jsonl"));
        self
    }

    /// Configures a workspace in a folder. Two machines share it if they name one folder.
    pub(crate) fn with_workspace(self, folder: &Path, workspace: &str) -> Self {
        let config = json!({"plugins": [{"module": "cloud", "options": {
            "path": folder.display().to_string(), "workspace": workspace, "account": "dev"
        }}]});
        self.with_config(&config.to_string())
    }

    pub(crate) fn with_config(mut self, text: &str) -> Self {
        let path = self.dir.path().join("plugins.json");
        fs::write(&path, text).expect("writes");
        self.vars.push(("AI_HIST_PLUGIN_CONFIG".to_owned(), path.display().to_string()));
        self
    }

    pub(crate) fn with_var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Writes a file below the home.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().expect("is below the home")).expect("makes a folder");
        fs::write(path, text).expect("writes");
    }

    /// The program, to be started.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ai-hist"));
        command
            .env_clear()
            .env("HOME", self.home())
            .env("AI_HIST_HOME", self.state())
            .env("USER", "dev")
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command().args(args).output().expect("runs")
    }

    /// What the program says with `--json`; it must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.command().arg("--json").args(args).output().expect("runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
        serde_json::from_slice(&output.stdout).expect("is one JSON value")
    }

    /// What the program says of its failure: exit status and code.
    pub(crate) fn failure(&self, args: &[&str]) -> (i32, Value) {
        let output = self.command().arg("--json").args(args).output().expect("runs");
        let value: Value = serde_json::from_slice(&output.stdout).expect("is one JSON value");
        (output.status.code().expect("ended by itself"), value["error"].clone())
    }
}

/// A bundled sample session.
pub(crate) fn sample(name: &str) -> String {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    fs::read_to_string(samples.join(name)).expect("reads")
}

/// The standard output as text.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
