//! `create_handoff`.

use std::sync::Arc;

use ai_hist_engine::HandoffRequest;
use rmcp::{
    ErrorData, RoleServer,
    handler::server::wrapper::Parameters,
    model::{CallToolResult, JsonObject},
    service::RequestContext,
    tool, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    schema::{answer, text},
    server::Server,
};

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What the receiver is to do, in your words: 1 to 4,000 characters.
    #[schemars(length(min = 1, max = 4000))]
    intent: String,
    /// The agent of the session to hand over, as `claude` or `codex`. Leave out, with
    /// `session_id`, for your own current session.
    #[schemars(with = "String")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The session to hand over. Leave out, with `source`, for your own current session.
    #[schemars(with = "String")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

fn output() -> Arc<JsonObject> {
    answer(
        &json!({
            "source": text("The agent that held the session."),
            "session_id": text("The session, in that agent's words."),
            "intent": text("A complete prompt for the receiver: give it this, unchanged."),
            "origin_agent": text("Who hands over."),
            "origin_user": text("For whom.")
        }),
        &["source", "session_id", "intent", "origin_agent", "origin_user"],
    )
}

#[tool_router(router = create_handoff_tool, vis = "pub(crate)")]
impl Server {
    #[tool(
        title = "Create handoff",
        description = "Makes a pointer to your own current session (or to the one you name) for \
            another agent to resume. Returns five strings: source, session_id, intent, \
            origin_agent, origin_user. Give the receiver `intent` as its prompt. Reads the \
            session up to this moment and, where a shared workspace is configured, uploads it \
            there with secrets redacted. `intent` in the answer is at most 4,000 characters; the \
            end of your words is cut if they do not fit.",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        ),
        output_schema = output()
    )]
    async fn create_handoff(
        &self,
        Parameters(args): Parameters<Args>,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        self.call(cx, None, move |engine, call| {
            let request = HandoffRequest {
                intent: args.intent,
                source: args.source,
                session_id: args.session_id,
                caller: call.hints.clone(),
            };
            Ok(call.shape.answer(&engine.create_handoff(&request)?))
        })
        .await
    }
}
