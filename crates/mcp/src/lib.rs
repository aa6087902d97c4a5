//! MCP over stdio.
