//! The tools, one a file: its arguments, its words, its answer.

mod create_handoff;
mod get_session;
mod get_session_events;
mod get_session_tree;
mod list_sessions;
mod resume_handoff;
mod search_history;

use rmcp::handler::server::router::tool::ToolRouter;

use crate::server::Server;

/// Every tool. They are listed by name.
pub(crate) fn router() -> ToolRouter<Server> {
    Server::create_handoff_tool()
        + Server::get_session_tool()
        + Server::get_session_events_tool()
        + Server::get_session_tree_tool()
        + Server::list_sessions_tool()
        + Server::resume_handoff_tool()
        + Server::search_history_tool()
}
