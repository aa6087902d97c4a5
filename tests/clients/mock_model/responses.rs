//! The Responses protocol, which Codex speaks.

use serde_json::{Value, json};

use super::{
    events::{Events, flat, unique},
    scenario::{Call, Reply, Turn},
};

/// The conversation that a request carries.
pub(super) fn turns(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for item in body["input"].as_array().into_iter().flatten() {
        let turn = match (item["type"].as_str(), item["role"].as_str()) {
            (Some("message") | None, Some("user")) => Turn::User(flat(&item["content"])),
            (Some("message") | None, Some("assistant")) | (Some("reasoning"), _) => Turn::Model,
            (Some(kind), _) if kind.ends_with("_call") => Turn::Model,
            (Some("tool_search_output"), _) => Turn::ToolResult(item["tools"].to_string()),
            (Some(kind), _) if kind.ends_with("_output") => Turn::ToolResult(flat(&item["output"])),
            _ => continue,
        };
        if turn != Turn::Model || turns.last() != Some(&Turn::Model) {
            turns.push(turn);
        }
    }
    turns
}

/// Whether the request offers tools. One that does not is a side task of the client.
pub(super) fn has_tools(body: &Value) -> bool {
    // With the newer models the tools are an item of the conversation.
    let inside = body["input"].as_array().into_iter().flatten().map(|item| &item["tools"]);
    inside.chain([&body["tools"]]).any(|it| it.as_array().is_some_and(|tools| !tools.is_empty()))
}

/// The answer, as the client reads it.
pub(super) fn answer(body: &Value, reply: &Reply) -> String {
    let item = item(reply);
    let mut response = json!({
        "id": unique("resp_"), "object": "response", "status": "in_progress",
        "model": body["model"], "output": [],
    });
    let mut events = Events::default();
    events.push("response.created", json!({ "response": response }));
    events.push("response.output_item.added", json!({ "output_index": 0, "item": item }));
    events.push("response.output_item.done", json!({ "output_index": 0, "item": item }));
    response["status"] = json!("completed");
    response["end_turn"] = json!(matches!(reply, Reply::Say(_)));
    response["output"] = json!([item]);
    response["usage"] = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 10, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": 110,
    });
    events.push("response.completed", json!({ "response": response }));
    events.text()
}

fn item(reply: &Reply) -> Value {
    match reply {
        Reply::Say(text) => json!({
            "type": "message", "id": unique("msg_"), "role": "assistant", "status": "completed",
            "phase": "final_answer",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Reply::Call(Call::Function { namespace, name, arguments }) => json!({
            "type": "function_call", "id": unique("fc_"), "call_id": unique("call_"),
            "namespace": namespace, "name": name, "arguments": arguments.to_string(),
            "status": "completed",
        }),
        Reply::Call(Call::Custom { namespace, name, input }) => json!({
            "type": "custom_tool_call", "id": unique("ctc_"), "call_id": unique("call_"),
            "namespace": namespace, "name": name, "input": input, "status": "completed",
        }),
        Reply::Call(Call::ToolSearch { query }) => json!({
            "type": "tool_search_call", "id": unique("tsc_"), "call_id": unique("call_"),
            "execution": "client", "arguments": { "query": query, "limit": 8 },
            "status": "completed",
        }),
    }
}
