//! A machine for one test: a home, and one or more state folders that read it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use ai_hist_store::Store;
use serde_json::{Value, json};

/// A machine for one test.
pub(crate) struct Machine {
    dir: tempfile::TempDir,
}

/// A state folder of a machine.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    machine: &'a Machine,
    name: &'a str,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self { dir: tempfile::tempdir().expect("makes a folder") };
        fs::create_dir(machine.home()).expect("makes a folder");
        machine
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// The state folder of this name, with a workspace of its own.
    pub(crate) fn place<'a>(&'a self, name: &'a str) -> Place<'a> {
        let place = Place { machine: self, name };
        let config = json!({"plugins": [{"module": "cloud", "options": {
            "path": self.folder().join(format!("{name}-workspace")),
            "workspace": "demo",
            "account": "dev",
        }}]});
        fs::write(place.config(), config.to_string()).expect("writes");
        place
    }
}

impl<'a> Place<'a> {
    pub(crate) fn state(&self) -> PathBuf {
        self.machine.folder().join(self.name)
    }

    fn config(&self) -> PathBuf {
        self.machine.folder().join(format!("{}-plugins.json", self.name))
    }

    /// The program, to be started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.wrapped(Command::new(env!("CARGO_BIN_EXE_ai-hist")), args)
    }

    /// The same, started by a shell that does `before` first. `shell` is the command that starts
    /// the shell.
    pub(crate) fn command_after(&self, shell: &[&str], before: &str, args: &[&str]) -> Command {
        let mut command = Command::new(shell[0]);
        let script = format!("{before}\nexec \"$0\" \"$@\"");
        command.args(&shell[1..]).arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_ai-hist"));
        self.wrapped(command, args)
    }

    fn wrapped(&self, mut command: Command, args: &[&str]) -> Command {
        command
            .args(args)
            .env_clear()
            .env("HOME", self.machine.home())
            .env("AI_HIST_HOME", self.state())
            .env("AI_HIST_PLUGIN_CONFIG", self.config())
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("USER", "dev")
            .current_dir(self.machine.home())
            .stdin(Stdio::null());
        command
    }

    /// What the program says with `--json`; it must succeed.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        let (said, warned) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{args:?}: {}\n{said}\n{warned}", output.status);
        serde_json::from_str(&said).expect("is one JSON value")
    }

    /// Runs it with `--json`, whatever comes of it.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).arg("--json").output().expect("runs")
    }

    /// Brings it up to date, and says what that did.
    pub(crate) fn sync(&self) -> Value {
        let report = self.json(&["sync"]);
        assert_eq!(report["n_failed"], 0, "{report}");
        report
    }

    /// A copy of this state folder as it stands, under another name.
    pub(crate) fn copied(&self, name: &'a str) -> Place<'a> {
        let copy = self.machine.place(name);
        let _ = fs::remove_dir_all(copy.state());
        copy_folder(&self.state(), &copy.state());
        copy
    }

    /// What stands in it.
    pub(crate) fn store(&self) -> Store {
        Store::open(&self.state()).expect("the store opens")
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("makes a folder");
    for entry in fs::read_dir(from).expect("lists a folder") {
        let path = entry.expect("lists a folder").path();
        let copy = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("copies");
        }
    }
}

/// Whether the program failed as it should: with a status that says so, a stable code, and what
/// to do.
pub(crate) fn is_loud(output: &Output) -> bool {
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let says = |part: &str| said["error"][part].as_str().is_some_and(|it| !it.is_empty());
    LOUD.contains(&output.status.code()) && says("code") && says("hint")
}

/// Damaged data; try again.
const LOUD: [Option<i32>; 2] = [Some(65), Some(75)];
