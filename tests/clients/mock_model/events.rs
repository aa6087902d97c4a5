//! What both protocols are made of: server-sent events, ids, and texts within texts.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};

/// A stream of server-sent events.
#[derive(Debug, Default)]
pub(super) struct Events {
    text: String,
    count: usize,
}

impl Events {
    /// Adds an event of a type, which its data say too.
    pub(super) fn push(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.count);
        self.count += 1;
        write!(self.text, "event: {kind}\ndata: {data}\n\n").expect("a string takes all");
    }

    pub(super) fn text(self) -> String {
        self.text
    }
}

/// An id that no other answer has.
pub(super) fn unique(prefix: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    format!("{prefix}{:024}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// All text in a content, which is a text, a block or a list of blocks.
pub(super) fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(flat).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => block.get("text").map_or_else(|| content.to_string(), flat),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
