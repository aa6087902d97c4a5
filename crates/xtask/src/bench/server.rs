//! The MCP server, as an agent has it: started once, asked many times.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use super::program::Program;

/// A server that listens.
pub(super) struct Server {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    n_requests: u64,
}

impl Server {
    /// Starts it and shakes hands.
    pub(super) fn start(program: &Program) -> Result<Self, String> {
        let mut child = program
            .command()
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start the server: {error}"))?;
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().ok_or("the server has no output")?);
        let mut server = Self { child, to, from, n_requests: 0 };
        server.request(
            "initialize",
            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\
             \"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}",
        )?;
        server.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}")?;
        Ok(server)
    }

    /// What `search_history` answers to `query`, a word.
    pub(super) fn search(&mut self, query: &str) -> Result<String, String> {
        let parameters =
            format!("{{\"name\":\"search_history\",\"arguments\":{{\"query\":\"{query}\"}}}}");
        self.request("tools/call", &parameters)
    }

    fn request(&mut self, method: &str, parameters: &str) -> Result<String, String> {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{parameters}}}"
        ))?;
        loop {
            let mut answer = String::new();
            let n_bytes = self
                .from
                .read_line(&mut answer)
                .map_err(|error| format!("cannot hear the server: {error}"))?;
            if n_bytes == 0 {
                return Err("the server is gone".to_owned());
            }
            if answer.contains(&format!("\"id\":{id},"))
                || answer.contains(&format!("\"id\":{id}}}"))
            {
                return Ok(answer);
            }
        }
    }

    fn send(&mut self, message: &str) -> Result<(), String> {
        let to = self.to.as_mut().ok_or("the server has no input")?;
        writeln!(to, "{message}").map_err(|error| format!("cannot ask the server: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server ends when its input does.
        self.to = None;
        let _ = self.child.wait();
    }
}
