//! Claude Code on a machine made for a test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    install,
    limits::RUN_DEADLINE,
    machine::{FILE, Machine, RIGHT, WRONG, transcripts},
    mock_model::{
        MockModel,
        scenario::{Call, Script, tagged},
    },
    runner,
};

/// Claude Code on its machine.
pub(crate) struct Claude {
    pub(crate) machine: Machine,
}

impl Claude {
    /// Claude Code with our server, in the workspace that lies in `shared`.
    pub(crate) fn new(shared: &Path) -> Self {
        let machine = Machine::new(shared);
        let servers = json!({ "mcpServers": { "ai-hist": {
            "type": "stdio",
            "command": env!("CARGO_BIN_EXE_ai-hist"),
            "args": ["mcp"],
            "env": machine.server_vars(),
        }}});
        let claude = Self { machine };
        fs::write(claude.servers(), servers.to_string()).expect("writes");
        claude
    }

    /// Runs a prompt after a script, with more arguments; gives the last answer.
    #[track_caller]
    pub(crate) fn run(
        &self,
        model: &MockModel,
        prompt: &str,
        script: &str,
        more: &[&str],
    ) -> String {
        let mut command = self.machine.command(&install::claude(), model);
        command
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "none")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            // Lets root pass over the questions.
            .env("IS_SANDBOX", "1")
            .args(["-p", &tagged(prompt, script), "--dangerously-skip-permissions"])
            .args(["--output-format", "stream-json", "--verbose", "--strict-mcp-config"])
            .arg("--mcp-config")
            .arg(self.servers())
            .args(more);
        let ended = runner::run(&mut command, RUN_DEADLINE).expect("starts");
        ended.must_succeed("claude");
        let last = ended.stdout.lines().last().unwrap_or_default();
        let last: Value = serde_json::from_str(last).unwrap_or_default();
        let answer = last["result"].as_str();
        answer.unwrap_or_else(|| panic!("no result: {}", ended.stdout)).to_owned()
    }

    /// Its transcripts, those of sub-agents too.
    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        transcripts(&self.machine.home().join(".claude/projects"))
    }

    fn servers(&self) -> PathBuf {
        self.machine.home().join("servers.json")
    }

    /// A piece of work: looks, reads, changes the file.
    pub(crate) fn works(&self, script: Script) -> Script {
        let file = self.machine.work().join(FILE);
        let look = format!("seq -f 'line %g of what was there before' 1 100; cat {FILE}");
        let edit = json!({ "file_path": file, "old_string": WRONG, "new_string": RIGHT });
        script
            .call(function("Bash", json!({ "command": look, "description": "Look around" })))
            .call(function("Read", json!({ "file_path": file })))
            .call(function("Edit", edit))
    }
}

/// Loads tools of ours, as the client asks before their first use.
pub(crate) fn load(tools: &str) -> Call {
    let query = format!("select:{tools}");
    function("ToolSearch", json!({ "query": query, "max_results": 5 }))
}

pub(crate) const CREATE: &str = "mcp__ai-hist__create_handoff";
pub(crate) const RESUME: &str = "mcp__ai-hist__resume_handoff";

/// A call of a tool.
pub(crate) fn function(name: &'static str, arguments: Value) -> Call {
    Call::Function { namespace: None, name, arguments }
}
