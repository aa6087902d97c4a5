//! Output schemas, and what makes input schemas plain.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::Schema;
use serde_json::{Value, json};

/// The schema of an answer that has `properties`, all of `required` among them, or is an error.
///
/// TypeScript clients check the structured content of a failure too, so the schema admits it. The
/// root keeps `type: object`, which peers of older revisions need.
pub(crate) fn answer(properties: &Value, required: &[&str]) -> Arc<JsonObject> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "anyOf": [
            { "type": "object", "properties": properties, "required": required },
            {
                "type": "object",
                "properties": { "error": {
                    "type": "object",
                    "properties": {
                        "code": { "type": "string" },
                        "message": { "type": "string" },
                        "hint": { "type": "string" },
                        "retryable": { "type": "boolean" }
                    },
                    "required": ["code", "message", "hint", "retryable"]
                }},
                "required": ["error"]
            }
        ]
    });
    match schema {
        Value::Object(schema) => Arc::new(schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            unreachable!("it is written as an object above")
        }
    }
}

/// A list of rows.
pub(crate) fn rows(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "object" }, "description": description })
}

/// A string.
pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// A string, or null.
pub(crate) fn text_or_null(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}

/// Leaves out `format: uint64`, which is no JSON Schema format and which strict clients warn of.
pub(crate) fn drop_format(schema: &mut Schema) {
    schema.remove("format");
}
