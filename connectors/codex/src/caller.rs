//! Which thread is calling our MCP server.

use ai_hist_connector::{Call, Caller, Patience, model::NativeSessionId};
use serde_json::Value;

use crate::{discover::Roots, session_key};

const CLIENT: &str = "codex-mcp-client";

/// Which thread makes `call`.
///
/// Codex names it in the request's `_meta`: `threadId`, which for a sub-agent is its own thread
/// and not the root's. A rollout is written lazily, so there may be none yet.
///
/// | what is known | answer |
/// |---|---|
/// | an id, and a rollout of that name | the session |
/// | an id, no rollout, more patience | not yet |
/// | an id, no rollout, no more patience | missing |
/// | an id by a client that is another, no rollout | not ours |
/// | nothing but `CODEX_THREAD_ID` | as if `_meta` had named it, unless the client is another |
/// | nothing | not ours |
pub(crate) fn caller(roots: &Roots, thread: Option<&str>, call: &Call<'_>) -> Caller {
    let is_other = call.client.is_some_and(|it| it != CLIENT);
    let named = call.meta.get("threadId").and_then(Value::as_str);
    let of_turn = || call.meta.get("x-codex-turn-metadata")?.get("thread_id")?.as_str();
    let from_shell = || thread.filter(|_| !is_other);
    let id = named.or_else(of_turn).or_else(from_shell);
    let Some(native) = id.and_then(NativeSessionId::parse) else {
        return Caller::NotMine;
    };
    if !roots.locate(&native).is_empty() {
        return Caller::Session(session_key(native));
    }
    match call.patience {
        _ if is_other => Caller::NotMine,
        Patience::More => Caller::NotYet,
        Patience::Exhausted => Caller::Missing(session_key(native)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ai_hist_connector::{Host, Settings};
    use serde_json::{Map, json};

    use super::*;

    const HERE: &str = "aaaaaaaa-1111-4111-8111-111111111111";
    const GONE: &str = "bbbbbbbb-2222-4222-8222-222222222222";

    #[test]
    fn a_call_is_its_threads() {
        let home = tempfile::tempdir().expect("makes a folder");
        let folder = home.path().join(".codex/sessions/2026/01/02");
        fs::create_dir_all(&folder).expect("makes a folder");
        let file = format!("rollout-2026-01-02T03-04-05-{HERE}.jsonl");
        fs::write(folder.join(file), "").expect("writes");
        let host = Host { home: home.path().to_owned(), vars: [].into() };
        let roots = Roots::of(&Settings::default(), &host);
        let key = |id| session_key(NativeSessionId::parse(id).expect("is harmless"));

        let codex = Some(CLIENT);
        let more = Patience::More;
        let last = Patience::Exhausted;
        let nothing = json!({});
        let turn = |id| json!({"x-codex-turn-metadata": {"thread_id": id}});
        let thread = |id| json!({"threadId": id});
        let both = json!({"threadId": HERE, "x-codex-turn-metadata": {"thread_id": GONE}});
        let table = [
            (codex, thread(HERE), None, more, Caller::Session(key(HERE))),
            (None, thread(HERE), None, more, Caller::Session(key(HERE))),
            (codex, both, None, more, Caller::Session(key(HERE))),
            (codex, turn(HERE), None, more, Caller::Session(key(HERE))),
            (codex, thread(GONE), None, more, Caller::NotYet),
            (codex, thread(GONE), None, last, Caller::Missing(key(GONE))),
            (Some("other"), thread(GONE), None, last, Caller::NotMine),
            (codex, json!({"threadId": 7}), None, more, Caller::NotMine),
            (codex, thread("../etc"), None, more, Caller::NotMine),
            (codex, nothing.clone(), Some(HERE), more, Caller::Session(key(HERE))),
            (None, nothing.clone(), Some(HERE), more, Caller::Session(key(HERE))),
            (Some("claude-code"), nothing.clone(), Some(HERE), more, Caller::NotMine),
            (codex, nothing.clone(), None, more, Caller::NotMine),
            (None, nothing, None, last, Caller::NotMine),
        ];
        for (client, meta, variable, patience, expected) in table {
            let meta: Map<_, _> = meta.as_object().expect("is an object").clone();
            let call = Call { client, meta: &meta, cwd: None, parent_pid: None, patience };
            assert_eq!(
                caller(&roots, variable, &call),
                expected,
                "{client:?} {meta:?} {patience:?}"
            );
        }
    }
}
