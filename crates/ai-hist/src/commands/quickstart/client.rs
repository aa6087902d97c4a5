//! A small MCP client: starts our own server as an agent would, and makes a handoff through it.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use ai_hist_engine::SessionRow;
use serde_json::{Value, json};

use crate::{report::CliError, text::line};

/// How many pages are walked before the rest is left to the reader.
const PAGES_SHOWN: usize = 50;

/// Where the server finds everything.
pub(super) struct Server<'a> {
    pub(super) state: &'a Path,
    pub(super) config: Option<&'a Path>,
    pub(super) home: &'a Path,
}

impl Server<'_> {
    /// Makes a pointer to `session` and resumes it page by page. Gives what was handed over.
    pub(super) fn hand_over(
        &self,
        session: &SessionRow,
        say: &dyn Fn(&str) -> io::Result<()>,
    ) -> Result<Value, CliError> {
        let mut connection = self.start()?;
        let pointer = connection.call(
            "create_handoff",
            &json!({
                "source": session.source,
                "session_id": session.session_id,
                "intent": "continue where this session ended",
            }),
        )?;
        say(&format!("   create_handoff → {}", line(&pointer["intent"].to_string(), 160)))?;
        let mut cursor = Value::Null;
        let (mut n_pages, mut n_rows) = (0, 0);
        loop {
            let mut arguments =
                json!({ "source": session.source, "session_id": session.session_id });
            if cursor.is_string() {
                arguments["cursor"] = cursor;
            }
            let page = connection.call("resume_handoff", &arguments)?;
            let lists = ["prompts", "events", "tool_calls", "file_edits"];
            let sizes = lists.map(|it| page[it].as_array().map_or(0, Vec::len));
            n_pages += 1;
            n_rows += sizes.iter().sum::<usize>();
            say(&format!(
                "   resume_handoff → page {n_pages}: {} prompts, {} events, {} tool calls, {} \
                 file edits",
                sizes[0], sizes[1], sizes[2], sizes[3]
            ))?;
            cursor = page["next_cursor"].clone();
            if cursor.is_null() || n_pages == PAGES_SHOWN {
                let total = page["hydration"]["rows_total"].clone();
                say(&format!("   {n_rows} of {total} rows, each exactly once"))?;
                return Ok(json!({
                    "pointer": pointer, "pages": n_pages, "rows": n_rows, "rows_total": total
                }));
            }
        }
    }

    fn start(&self) -> Result<Connection, CliError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("mcp").env("AI_HIST_HOME", self.state).env("HOME", self.home);
        command.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        if let Some(config) = self.config {
            command.env("AI_HIST_PLUGIN_CONFIG", config);
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(CliError::Quickstart("the MCP server has no pipes".to_owned()));
        };
        let mut connection = Connection { child, to: Some(to), from: BufReader::new(from), id: 0 };
        connection.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "ai-hist-quickstart", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        connection.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(connection)
    }
}

/// A server that was started, until it is dropped.
struct Connection {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    id: u64,
}

impl Connection {
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, CliError> {
        let result =
            self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        if result["isError"] == true {
            return Err(CliError::Quickstart(format!("{tool}: {}", result["structuredContent"])));
        }
        Ok(result["structuredContent"].clone())
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Result<Value, CliError> {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        loop {
            let mut text = String::new();
            if self.from.read_line(&mut text)? == 0 {
                return Err(CliError::Quickstart(format!("the MCP server ended at {method}")));
            }
            let answer: Value = serde_json::from_str(&text).map_err(io::Error::from)?;
            if answer["id"] != id {
                continue;
            }
            if !answer["error"].is_null() {
                return Err(CliError::Quickstart(format!("{method}: {}", answer["error"])));
            }
            return Ok(answer["result"].clone());
        }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let to = self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(to, "{message}")?;
        to.flush()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The server ends when its input does.
        self.to = None;
        let _ = self.child.wait();
    }
}
