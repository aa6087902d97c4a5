//! A session that is gone on with, and one that branches off, are named by their own transcripts.

use std::path::PathBuf;

use serde_json::json;

use crate::{
    claude::{self, Claude},
    codex::{self, Codex},
    handoff::{INTENT, PROMPT, name, pointer, thread},
    mock_model::{MockModel, scenario::Script},
};

#[test]
fn claude_hands_over_the_session_that_it_continues() {
    let shared = tempfile::tempdir().expect("makes a folder");
    let claude = Claude::new(shared.path());
    let model = MockModel::start(vec![
        Script::new("begin").say("I see."),
        Script::new("go-on")
            .call(claude::load(claude::CREATE))
            .call(claude::function(claude::CREATE, json!({ "intent": INTENT })))
            .say("I handed it over."),
    ]);
    assert_eq!(claude.run(&model, PROMPT, "begin", &[]), "I see.");
    let begun = claude.transcripts();
    assert_eq!(claude.run(&model, "Hand it over.", "go-on", &["--continue"]), "I handed it over.");
    assert_eq!(claude.transcripts(), begun, "it goes on in its transcript");
    pointer(&model.last("go-on"), "claude", &name(&begun[0]));
}

#[test]
fn codex_hands_over_the_session_that_it_resumes_and_the_one_that_it_forks() {
    let shared = tempfile::tempdir().expect("makes a folder");
    let codex = Codex::new(shared.path());
    let model = MockModel::start(vec![
        Script::new("begin").say("I see."),
        Script::new("go-on")
            .call(codex::find("hand work over to another agent"))
            .call(codex::ours("create_handoff", json!({ "intent": INTENT })))
            .say("I handed it over."),
    ]);
    assert_eq!(codex.run(&model, &[], PROMPT, "begin"), "I see.");
    let threads = |paths: Vec<PathBuf>| -> Vec<String> {
        paths.iter().map(|path| thread(&name(path)).to_owned()).collect()
    };
    let begun = threads(codex.transcripts());
    let [first] = begun.as_slice() else { panic!("not one session: {begun:?}") };
    for (verb, number) in [("resume", 1), ("fork", 2)] {
        let said = codex.run(&model, &[verb, first], "Hand it over.", "go-on");
        assert_eq!(said, "I handed it over.");
        let mut now = threads(codex.transcripts());
        assert_eq!(now.len(), number, "{verb}");
        now.retain(|thread| number == 1 || thread != first);
        pointer(&model.last("go-on"), "codex", &now[0]);
    }
}
