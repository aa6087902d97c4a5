//! The Messages protocol, which Claude Code speaks.

use serde_json::{Value, json};

use super::{
    events::{Events, flat, unique},
    scenario::{Call, Reply, Turn},
};

/// The conversation that a request carries.
pub(super) fn turns(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("assistant") if turns.last() != Some(&Turn::Model) => turns.push(Turn::Model),
            Some("user") => turns.extend(user(&message["content"])),
            _ => {}
        }
    }
    turns
}

/// A message of the user's role holds what tools gave, and words.
fn user(content: &Value) -> Vec<Turn> {
    let Some(blocks) = content.as_array() else { return vec![Turn::User(flat(content))] };
    let turn = |block: &Value| {
        if block["type"] == "tool_result" {
            Turn::ToolResult(flat(&block["content"]))
        } else {
            Turn::User(flat(block))
        }
    };
    blocks.iter().map(turn).collect()
}

/// Whether the request offers tools. One that does not is a side task of the client.
pub(super) fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

/// The answer, as the client reads it.
pub(super) fn answer(body: &Value, reply: &Reply) -> String {
    let (start, delta, stop) = match reply {
        Reply::Say(text) => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": text }),
            "end_turn",
        ),
        Reply::Call(Call::Function { name, arguments, .. }) => (
            json!({ "type": "tool_use", "id": unique("toolu_"), "name": name, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
            "tool_use",
        ),
        Reply::Call(Call::Custom { .. } | Call::ToolSearch { .. }) => {
            panic!("this protocol has functions only")
        }
    };
    let usage = json!({
        "input_tokens": 100, "output_tokens": 10,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    });
    let message = json!({
        "id": unique("msg_"), "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let mut events = Events::default();
    events.push("message_start", json!({ "message": message }));
    events.push("content_block_start", json!({ "index": 0, "content_block": start }));
    events.push("content_block_delta", json!({ "index": 0, "delta": delta }));
    events.push("content_block_stop", json!({ "index": 0 }));
    let end = json!({ "stop_reason": stop, "stop_sequence": null });
    events.push("message_delta", json!({ "delta": end, "usage": usage }));
    events.push("message_stop", json!({}));
    events.text()
}
