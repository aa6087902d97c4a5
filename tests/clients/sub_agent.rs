//! An agent's agent hands over its own session, not that of the agent that started it.

use serde_json::json;

use crate::{
    claude::{self, Claude},
    codex::{self, Codex},
    handoff::{INTENT, PROMPT, codex_resumes, intent, name, pages, pointer, thread},
    mock_model::{
        MockModel,
        scenario::{Script, object_with, tagged},
    },
};

#[test]
fn a_sub_agent_of_claude_hands_over_its_own_session() {
    let shared = tempfile::tempdir().expect("makes a folder");
    let (claude, codex) = (Claude::new(shared.path()), Codex::new(shared.path()));
    let errand = "Find out what the calculator does.";
    let agent = json!({
        "description": "Look at it",
        "prompt": tagged(errand, "errand"),
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let model = MockModel::start(vec![
        Script::new("delegate").call(claude::function("Agent", agent)).say("Somebody else does."),
        claude
            .works(Script::new("errand"))
            .call(claude::load(claude::CREATE))
            .call(claude::function(claude::CREATE, json!({ "intent": INTENT })))
            .say("It adds, and I handed it over."),
        codex_resumes(),
    ]);
    assert_eq!(claude.run(&model, PROMPT, "delegate", &[]), "Somebody else does.");
    let transcripts = claude.transcripts();
    let (agents, parents): (Vec<_>, Vec<_>) =
        transcripts.iter().map(|path| name(path)).partition(|name| name.starts_with("agent-"));
    let ([parent], [agent]) = (parents.as_slice(), agents.as_slice()) else {
        panic!("not one session and its agent: {transcripts:?}")
    };
    let pointer = pointer(&model.last("errand"), "claude", &format!("{parent}.{agent}"));
    assert_eq!(codex.run(&model, &[], intent(&pointer), "resume"), "It adds.");
    let first = pages(&model.last("resume")).swap_remove(0);
    assert!(first.to_string().contains(errand), "{first:#}");
    assert!(!first.to_string().contains(PROMPT), "{first:#}");
}

#[test]
fn a_sub_agent_of_codex_hands_over_its_own_session() {
    let shared = tempfile::tempdir().expect("makes a folder");
    let codex = Codex::new(shared.path());
    let spawn = json!({ "message": tagged("Find out what the calculator does.", "errand") });
    let wait = json!({ "targets": ["{{result:agent_id}}"], "timeout_ms": 20_000 });
    let model = MockModel::start(vec![
        Script::new("delegate")
            .call(codex::find("spawn an agent and wait for it"))
            .call(codex::agents("spawn_agent", spawn))
            .call(codex::agents("wait_agent", wait))
            .say("Somebody else did."),
        codex::works(Script::new("errand"))
            .call(codex::find("hand work over to another agent"))
            .call(codex::ours("create_handoff", json!({ "intent": INTENT })))
            .say("It adds, and I handed it over."),
    ]);
    assert_eq!(codex.run(&model, &[], PROMPT, "delegate"), "Somebody else did.");
    let shown = object_with(&model.last("delegate").results[1], "agent_id").expect("has an agent");
    let agent = shown["agent_id"].as_str().expect("is text");
    let transcripts = codex.transcripts();
    assert_eq!(transcripts.len(), 2, "{transcripts:?}");
    assert!(transcripts.iter().any(|path| thread(&name(path)) == agent), "{transcripts:?}");
    pointer(&model.last("errand"), "codex", agent);
}
