//! A transcript that its agent has lost and that is written back is one that the agent goes on with.

use std::{fs, path::Path};

use crate::{
    claude::Claude,
    codex::Codex,
    handoff::{PROMPT, name, thread},
    limits::RUN_DEADLINE,
    machine::Machine,
    mock_model::{MockModel, scenario::Script},
    runner,
};

/// Runs ai-hist on the machine.
fn ai_hist(machine: &Machine, model: &MockModel, args: &[&str]) {
    let mut command = machine.command(Path::new(env!("CARGO_BIN_EXE_ai-hist")), model);
    let vars = machine.server_vars();
    for (name, value) in vars.as_object().into_iter().flatten() {
        command.env(name, value.as_str().expect("is text"));
    }
    runner::run(command.args(args), RUN_DEADLINE).expect("starts").must_succeed("ai-hist");
}

/// Takes the transcript in, loses it, and has it written back: as it was.
fn lose_and_restore(machine: &Machine, model: &MockModel, transcript: &Path, session: &str) {
    ai_hist(machine, model, &["sync"]);
    let before = fs::read(transcript).expect("reads");
    fs::remove_file(transcript).expect("removes");
    ai_hist(machine, model, &["sync"]);
    ai_hist(machine, model, &["restore", session]);
    assert!(fs::read(transcript).expect("is back") == before, "it is not as it was");
}

fn model() -> MockModel {
    MockModel::start(vec![
        Script::new("begin").say("I see."),
        Script::new("go-on").say("I remember."),
    ])
}

#[test]
fn claude_goes_on_with_a_session_that_was_written_back() {
    let shared = tempfile::tempdir().expect("makes a folder");
    let claude = Claude::new(shared.path());
    let model = model();
    assert_eq!(claude.run(&model, PROMPT, "begin", &[]), "I see.");
    let transcripts = claude.transcripts();
    let session = name(&transcripts[0]);
    lose_and_restore(&claude.machine, &model, &transcripts[0], &session);
    let size = fs::metadata(&transcripts[0]).expect("is there").len();
    let said = claude.run(&model, "Go on.", "go-on", &["--resume", &session]);
    assert_eq!(said, "I remember.");
    assert_eq!(claude.transcripts(), transcripts, "it goes on in its transcript");
    assert!(size < fs::metadata(&transcripts[0]).expect("is there").len());
}

#[test]
fn codex_goes_on_with_a_session_that_was_written_back() {
    let shared = tempfile::tempdir().expect("makes a folder");
    let codex = Codex::new(shared.path());
    let model = model();
    assert_eq!(codex.run(&model, &[], PROMPT, "begin"), "I see.");
    let transcripts = codex.transcripts();
    let file = name(&transcripts[0]);
    let session = thread(&file);
    lose_and_restore(&codex.machine, &model, &transcripts[0], session);
    let size = fs::metadata(&transcripts[0]).expect("is there").len();
    assert_eq!(codex.run(&model, &["resume", session], "Go on.", "go-on"), "I remember.");
    assert_eq!(codex.transcripts(), transcripts, "it goes on in its transcript");
    assert!(size < fs::metadata(&transcripts[0]).expect("is there").len());
}
