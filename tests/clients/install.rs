//! The pinned agents, from npm into `target/clients/`, once.

use std::{
    env::consts::{ARCH, OS},
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{limits::INSTALL_DEADLINE, runner};

const CLAUDE_VERSION: &str = "2.1.332";
const CODEX_VERSION: &str = "0.171.0";

/// The program of Claude Code.
pub(crate) fn claude() -> PathBuf {
    let name = format!("@anthropic-ai/claude-code-{}", platform().0);
    let program = format!("node_modules/{name}/claude");
    installed(&format!("claude-{CLAUDE_VERSION}"), &format!("{name}@{CLAUDE_VERSION}"), &program)
}

/// The program of Codex.
pub(crate) fn codex() -> PathBuf {
    // The programs are published as versions of the package whose script starts them.
    let (platform, triple) = platform();
    let package = format!("@openai/codex@{CODEX_VERSION}-{platform}");
    let program = format!("node_modules/@openai/codex/vendor/{triple}/bin/codex");
    installed(&format!("codex-{CODEX_VERSION}"), &package, &program)
}

/// This machine in the words of npm, and of Rust.
fn platform() -> (&'static str, &'static str) {
    match (OS, ARCH) {
        ("linux", "x86_64") => ("linux-x64", "x86_64-unknown-linux-musl"),
        ("linux", "aarch64") => ("linux-arm64", "aarch64-unknown-linux-musl"),
        ("macos", "x86_64") => ("darwin-x64", "x86_64-apple-darwin"),
        ("macos", "aarch64") => ("darwin-arm64", "aarch64-apple-darwin"),
        (system, machine) => panic!("no agents are pinned for {system} on {machine}"),
    }
}

/// Installs `package` into its folder unless the marker says that it is there. Any number of
/// processes may ask at once.
fn installed(folder: &str, package: &str, program: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("clients");
    let lock = all.join(format!("{folder}.lock"));
    let folder = all.join(folder);
    let program = folder.join(program);
    let marker = folder.join("installed");
    if marker.exists() {
        return program;
    }
    fs::create_dir_all(&all).expect("makes a folder");
    let lock = File::create(lock).expect("makes a lock file");
    lock.lock().expect("locks");
    if !marker.exists() {
        install(&folder, package);
        assert!(program.exists(), "`{package}` holds no `{}`", program.display());
        fs::write(&marker, package).expect("writes");
    }
    program
}

fn install(folder: &Path, package: &str) {
    if folder.exists() {
        fs::remove_dir_all(folder).expect("removes a half-made folder");
    }
    fs::create_dir_all(folder).expect("makes a folder");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .args([folder, Path::new(package)])
        .current_dir(folder);
    let ended = runner::run(&mut npm, INSTALL_DEADLINE).unwrap_or_else(|error| {
        panic!("`npm`, which comes with Node, must be on the path to install `{package}`: {error}")
    });
    ended.must_succeed(&format!("npm install {package}"));
}
