//! Codex on a machine made for a test.

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

/// A model that calls functions.
pub(crate) const FUNCTIONS: &str = "gpt-5.5";

/// A model whose only tool runs JavaScript, in which it calls all others.
pub(crate) const CODE: &str = "gpt-6.2-sol";

/// Codex on its machine.
pub(crate) struct Codex {
    pub(crate) machine: Machine,
}

impl Codex {
    /// Codex with our server, in the workspace that lies in `shared`.
    pub(crate) fn new(shared: &Path) -> Self {
        let machine = Machine::new(shared);
        fs::create_dir(machine.home().join(".codex")).expect("makes a folder");
        Self { machine }
    }

    /// Runs `codex exec` with `arguments` and a prompt after a script; gives the last answer.
    #[track_caller]
    pub(crate) fn run(
        &self,
        model: &MockModel,
        arguments: &[&str],
        prompt: &str,
        script: &str,
    ) -> String {
        let config = self.config(model);
        fs::write(self.machine.home().join(".codex/config.toml"), config).expect("writes");
        let mut command = self.machine.command(&install::codex(), model);
        command
            .env("MODEL_KEY", "none")
            .args(["exec", "--json", "--skip-git-repo-check"])
            .args(arguments)
            .arg(tagged(prompt, script));
        let ended = runner::run(&mut command, RUN_DEADLINE).expect("starts");
        ended.must_succeed("codex");
        let lines = ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
        let mut messages = lines.filter(|line: &Value| line["item"]["type"] == "agent_message");
        let answer =
            messages.next_back().and_then(|it| it["item"]["text"].as_str().map(str::to_owned));
        answer.unwrap_or_else(|| panic!("no answer: {}\n{}", ended.stdout, ended.stderr))
    }

    /// Its transcripts.
    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        transcripts(&self.machine.home().join(".codex/sessions"))
    }

    fn config(&self, model: &MockModel) -> String {
        let vars = self.machine.server_vars();
        let vars = vars.as_object().into_iter().flatten();
        let vars: Vec<_> = vars.map(|(name, value)| format!("{name} = {value}")).collect();
        let url = json!(format!("{}/v1", model.url()));
        let program = json!(env!("CARGO_BIN_EXE_ai-hist"));
        let vars = vars.join(", ");
        format!(
            r#"
model = "{FUNCTIONS}"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
features.apps = false

[model_providers.mock]
name = "mock"
base_url = {url}
wire_api = "responses"
env_key = "MODEL_KEY"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1

[mcp_servers.ai-hist]
command = {program}
args = ["mcp"]
env = {{ {vars} }}
required = true
default_tools_approval_mode = "approve"
"#
        )
    }
}

/// A piece of work with function calls: looks, changes the file.
pub(crate) fn works(script: Script) -> Script {
    let patch = Call::Custom { namespace: None, name: "apply_patch", input: patch() };
    script.call(function("exec_command", json!({ "cmd": look() }))).call(patch)
}

/// The same work in JavaScript.
pub(crate) fn works_in_code(script: Script) -> Script {
    let look = json!({ "cmd": look() });
    let patch = json!(patch());
    script
        .call(code(format!("text(await tools.exec_command({look}));")))
        .call(code(format!("text(await tools.apply_patch({patch}));")))
}

fn look() -> String {
    format!("seq -f 'line %g of what was there before' 1 100; cat {FILE}")
}

fn patch() -> String {
    format!(
        "*** Begin Patch\n*** Update File: {FILE}\n@@\n def add(a, b):\n-    {WRONG}\n+    {RIGHT}\n\
         *** End Patch\n"
    )
}

/// Finds tools of ours, as the client asks before their first use.
pub(crate) fn find(query: &'static str) -> Call {
    Call::ToolSearch { query }
}

/// A call of a tool of ours.
pub(crate) fn ours(name: &'static str, arguments: Value) -> Call {
    Call::Function { namespace: Some("mcp__ai_hist"), name, arguments }
}

/// A call of a tool for sub-agents.
pub(crate) fn agents(name: &'static str, arguments: Value) -> Call {
    Call::Function { namespace: Some("multi_agent_v1"), name, arguments }
}

/// A call of a tool of Codex.
pub(crate) fn function(name: &'static str, arguments: Value) -> Call {
    Call::Function { namespace: None, name, arguments }
}

/// A piece of JavaScript.
pub(crate) fn code(input: String) -> Call {
    Call::Custom { namespace: Some("functions"), name: "exec", input }
}
