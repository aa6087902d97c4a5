//! What a rollout as a whole says: which of it is copied, where it comes from, what is whose.

use std::fs;

use ai_hist_connector::{
    Budget, FeedReader as _,
    model::{Batch, EventKind, Lineage, Relation},
};

use super::Reader;

const PARENT: &str = "01900000-0001-7000-8000-000000000001";
const OWN: &str = "01900000-0003-7000-8000-000000000003";
const YOUNGER: &str = "01900000-0005-7000-8000-000000000005";
const PARENTS_TURN: &str = "01900000-0002-7000-8000-0000000000aa";
const OWN_TURN: &str = "01900000-0004-7000-8000-0000000000aa";

/// Reads a rollout of these lines, whose name says that it is [`OWN`].
fn read(lines: &[String]) -> Batch {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join(format!("rollout-2026-01-02T03-04-05-{OWN}.jsonl"));
    fs::write(&path, lines.join("\n") + "\n").expect("writes");
    let mut reader = Reader::open(&path, None).expect("opens");
    let budget = Budget { records: 1000, bytes: 1_000_000 };
    reader.next_batch(budget).expect("reads").expect("has a batch")
}

/// The texts, each with whether it is inherited.
fn told(batch: &Batch) -> Vec<(&str, bool)> {
    batch.events.iter().map(|it| (it.body.text(), it.inherited)).collect()
}

fn lineage(batch: &Batch) -> Option<&Lineage> {
    batch.sessions.first().and_then(|it| it.lineage.as_ref())
}

/// A record at so many milliseconds.
fn record(ms: u32, kind: &str, payload: &str) -> String {
    let (s, ms) = (ms / 1000, ms % 1000);
    format!(
        r#"{{"timestamp":"2026-01-02T03:04:{s:02}.{ms:03}Z","type":"{kind}","payload":{payload}}}"#
    )
}

fn meta(ms: u32, id: &str, more: &str) -> String {
    record(ms, "session_meta", &format!(r#"{{"id":"{id}","cwd":"/home/dev/demo"{more}}}"#))
}

fn turn(ms: u32, id: &str) -> String {
    record(ms, "event_msg", &format!(r#"{{"type":"task_started","turn_id":"{id}"}}"#))
}

fn prompt(ms: u32, text: &str) -> String {
    record(ms, "event_msg", &format!(r#"{{"type":"user_message","message":"{text}"}}"#))
}

fn cost(ms: u32, total: u32) -> String {
    let usage = format!(r#"{{"input_tokens":{total},"output_tokens":1}}"#);
    let info = format!(r#"{{"total_token_usage":{usage},"last_token_usage":{usage}}}"#);
    record(ms, "event_msg", &format!(r#"{{"type":"token_count","info":{info}}}"#))
}

/// Records that give several events each: a patch that is applied, a plan.
fn work(ms: u32) -> [String; 3] {
    let patch = r"*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch";
    let call = format!(
        r#"{{"type":"custom_tool_call","name":"apply_patch","call_id":"c","input":"{patch}"}}"#
    );
    let output = r#"{"type":"custom_tool_call_output","call_id":"c","output":"Exit code: 0"}"#;
    let plan = r#"{"type":"function_call","name":"update_plan","call_id":"p","arguments":"{\"plan\":[{\"step\":\"x\"}]}"}"#;
    [call.as_str(), output, plan].map(|it| record(ms, "response_item", it))
}

#[test]
fn every_event_of_a_copied_record_is_inherited_and_its_cost_is_the_parents() {
    let mut lines = vec![meta(0, OWN, ""), meta(1, PARENT, ""), turn(1, PARENTS_TURN)];
    lines.extend([prompt(2, "theirs"), cost(2, 10)]);
    lines.extend(work(3));
    lines.extend([turn(4, OWN_TURN), prompt(5, "ours"), cost(6, 20)]);
    lines.extend(work(7));
    let batch = read(&lines);
    let (copied, own) = batch.events.split_at(batch.events.len() / 2);
    assert!(copied.iter().all(|it| it.inherited) && own.iter().all(|it| !it.inherited));
    let kinds = |it: &[_]| it.iter().map(ai_hist_connector::model::Event::kind).collect::<Vec<_>>();
    assert_eq!(kinds(copied), kinds(own));
    assert!(2 <= kinds(own).iter().filter(|it| **it == EventKind::FileEdit).count());
    let costs: Vec<_> = batch.usage.iter().map(|it| it.input).collect();
    assert_eq!(costs, [20]);
}

#[test]
fn the_first_rule_that_applies_tells_copies() {
    let by_ordinal = |ordinal: u32, line: String| {
        line.replacen("\"type\"", &format!("\"ordinal\":{ordinal},\"type\""), 1)
    };
    let stated = ",\"subagent_history_start_ordinal\":2";
    let base =
        format!(",\"history_base\":{{\"thread_id\":\"{PARENT}\",\"end_ordinal_exclusive\":2}}");
    // Times and turns would say the contrary.
    for more in [stated, base.as_str()] {
        let lines = [
            by_ordinal(0, meta(0, OWN, more)),
            by_ordinal(1, prompt(9000, "theirs")),
            by_ordinal(2, prompt(9000, "ours")),
            by_ordinal(3, turn(9000, PARENTS_TURN)),
            by_ordinal(4, prompt(9000, "ours too")),
        ];
        let expected = [("theirs", true), ("ours", false), ("ours too", false)];
        assert_eq!(told(&read(&lines)), expected, "{more}");
    }

    let by_turn = [
        meta(0, OWN, ""),
        meta(0, PARENT, ""),
        turn(0, PARENTS_TURN),
        prompt(1, "theirs"),
        turn(1, OWN_TURN),
        prompt(1, "ours"),
    ];
    assert_eq!(told(&read(&by_turn)), [("theirs", true), ("ours", false)]);

    let by_pause = [
        meta(0, OWN, ""),
        meta(0, PARENT, ""),
        prompt(900, "theirs"),
        prompt(1800, "theirs too"),
        prompt(3000, "ours"),
        prompt(3001, "ours too"),
    ];
    let expected = [("theirs", true), ("theirs too", true), ("ours", false), ("ours too", false)];
    assert_eq!(told(&read(&by_pause)), expected);

    let by_none = [meta(0, OWN, ""), meta(0, OWN, ""), turn(0, PARENTS_TURN), prompt(1, "ours")];
    assert_eq!(told(&read(&by_none)), [("ours", false)]);
}

#[test]
fn a_file_with_two_heads_is_whose_its_name_says() {
    for heads in [[OWN, PARENT], [PARENT, OWN]] {
        let mut lines = heads.map(|it| meta(0, it, "")).to_vec();
        lines.extend((0..30).map(|_| turn(1, OWN_TURN)));
        lines.push(prompt(2, "ours"));
        let batch = read(&lines);
        assert_eq!(batch.sessions.len(), 1, "{heads:?}");
        assert_eq!(batch.sessions[0].key.native.as_str(), OWN, "{heads:?}");
        assert_eq!(told(&batch), [("ours", false)], "{heads:?}");
    }
}

#[test]
fn a_session_comes_from_its_parent_and_from_nothing_younger() {
    let spawned_by = |parent: &str| {
        let spawn = format!(r#"{{"parent_thread_id":"{parent}","depth":2}}"#);
        format!(r#","session_id":"{YOUNGER}","source":{{"subagent":{{"thread_spawn":{spawn}}}}}"#)
    };
    let forked_from = |parent: &str| format!(r#","forked_from_id":"{parent}""#);
    let table = [
        (spawned_by(PARENT), Some(Relation::SubAgent)),
        (forked_from(PARENT), Some(Relation::Fork)),
        (spawned_by(OWN), None),
        (forked_from(OWN), None),
        (spawned_by(YOUNGER), None),
        (forked_from(YOUNGER), None),
        (spawned_by("../../etc"), None),
    ];
    for (more, expected) in table {
        let batch = read(&[meta(0, OWN, &more)]);
        let lineage = lineage(&batch);
        assert_eq!(lineage.map(|it| it.relation), expected, "{more}");
        assert!(lineage.is_none_or(|it| it.parent.native.as_str() == PARENT), "{more}");
    }
}

#[test]
fn only_a_text_that_is_wrapped_whole_is_the_harness_speaking() {
    let goal = "<codex_internal_context source=\\\"goal\\\">go on</codex_internal_context>";
    let item = |text: &str| {
        let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
        let payload = format!(r#"{{"type":"message","role":"user","content":{content}}}"#);
        record(0, "response_item", &payload)
    };
    let batch = read(&[meta(0, OWN, ""), item(goal), item(&format!("what is {goal}?"))]);
    let kinds: Vec<_> = batch.events.iter().map(ai_hist_connector::model::Event::kind).collect();
    assert_eq!(kinds, [EventKind::Context, EventKind::Prompt]);
}
