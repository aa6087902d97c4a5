//! A client of the MCP server.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout},
    sync::Arc,
};

use serde_json::{Value, json};

use crate::{
    fleet::{Berth, Ended},
    machine::Place,
};

/// A server that was started, and its client.
pub(crate) struct Server {
    berth: Arc<Berth>,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    id: u64,
}

/// A tool's answer.
pub(crate) enum Answer {
    /// The structured content.
    Given(Value),
    /// The error.
    Refused(Value),
    /// There was none: the server has ended, like this.
    Gone(Ended),
}

impl Server {
    /// Starts a server in `berth`. It has not answered yet.
    pub(crate) fn start(place: Place<'_>, berth: &Arc<Berth>) -> io::Result<Self> {
        let (to, from) = berth.start(&mut place.command(&["mcp"]))?;
        Ok(Self { berth: Arc::clone(berth), to: Some(to), from: BufReader::new(from), id: 0 })
    }

    /// Shakes hands.
    pub(crate) fn greet(&mut self) -> Answer {
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.request("initialize", &hello);
        if let Answer::Given(_) = answer {
            let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            if self.send(&done).is_err() {
                return self.gone();
            }
        }
        answer
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        match self.request("tools/call", &json!({"name": tool, "arguments": arguments})) {
            Answer::Given(mut result) => {
                let content = result["structuredContent"].take();
                if result["isError"] == true {
                    return Answer::Refused(content["error"].clone());
                }
                Answer::Given(content)
            }
            none @ (Answer::Refused(_) | Answer::Gone(_)) => none,
        }
    }

    /// Lets the server end.
    pub(crate) fn end(mut self) -> Ended {
        self.to = None;
        let mut rest = Vec::new();
        let _ = io::Read::read_to_end(&mut self.from, &mut rest);
        self.berth.reap().expect("is waited for")
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Answer {
        self.id += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": parameters});
        if self.send(&message).is_err() {
            return self.gone();
        }
        loop {
            let mut line = String::new();
            // A server that is killed may leave half a line.
            let read = self.from.read_line(&mut line);
            if read.is_err() || !line.ends_with('\n') {
                return self.gone();
            }
            let mut answer: Value = serde_json::from_str(&line).expect("a line is JSON");
            if answer["id"] == self.id {
                let error = answer["error"].take();
                if error.is_null() {
                    return Answer::Given(answer["result"].take());
                }
                return Answer::Refused(error);
            }
        }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let to = self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(to, "{message}")
    }

    fn gone(&mut self) -> Answer {
        self.to = None;
        Answer::Gone(self.berth.reap().expect("is waited for"))
    }
}
