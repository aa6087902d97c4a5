//! Calls of tools, and what they give.

use std::fmt::Write as _;

use super::Session;
use crate::history::{limits::MAX_OUTPUT_BYTES, line::Line};

impl Session<'_> {
    /// Writes a command and what it prints: a file it shows, or the output of something else.
    pub(super) fn command(&mut self) -> Result<(), String> {
        let n_bytes = self.size(3_000, MAX_OUTPUT_BYTES);
        let (command, output) = if self.random.percent(40) {
            let file = self.speech.project.file(&mut self.random);
            let from = self.random.below(file.n_lines);
            let to = (from + n_bytes / 28 + 1).min(file.n_lines);
            let command = format!("sed -n '{},{to}p' {}", from + 1, file.path);
            (command, self.speech.source(file, from, to))
        } else {
            self.speech.command(&mut self.random, n_bytes)
        };
        let exit_code = u64::from(self.random.percent(9));
        let cwd = &self.speech.project.cwd;
        let mut arguments = Line::default();
        arguments.raw("{\"cmd\":").string(&command);
        arguments.put(format_args!(",\"workdir\":\"{cwd}\",\"yield_time_ms\":10000}}"));
        let call = self.function_call("exec_command", "", arguments.as_str())?;
        self.wait(900);
        let process = self.random.below(99_999);
        self.begin_completed("CommandExecution");
        self.line.put(format_args!(
            ",\"id\":\"{call}\",\"process_id\":\"{process}\",\
             \"command\":[\"/bin/bash\",\"-lc\","
        ));
        self.line.string(&command);
        self.line.put(format_args!(
            "],\"cwd\":\"file://{cwd}\",\"source\":\"unified_exec_startup\",\
             \"status\":\"{}\",\"aggregated_output\":",
            if exit_code == 0 { "completed" } else { "failed" }
        ));
        self.line.string(&output);
        self.line.put(format_args!(
            ",\"exit_code\":{exit_code},\"duration\":{{\"secs\":0,\"nanos\":{}}}",
            process * 1_000
        ));
        self.end_completed()?;
        let chunk = self.random.hex_word(6);
        let answer = format!(
            "Chunk ID: {chunk}\nWall time: 0.{process:05} seconds\n\
             Process exited with code {exit_code}\nOriginal token count: {}\nOutput:\n{output}",
            output.len() / 4
        );
        self.function_output("function_call_output", &call, &answer)
    }

    /// Writes a patch of a file.
    pub(super) fn patch(&mut self) -> Result<(), String> {
        let file = self.speech.project.file(&mut self.random);
        let path = format!("{}/{}", self.speech.project.cwd, file.path);
        let at = self.random.below(file.n_lines);
        let n_old = self.random.spread(4, 16).clamp(1, 30);
        let mut hunk = String::new();
        for line in self.speech.source(file, at, at + 3).lines() {
            let _ = writeln!(hunk, " {line}");
        }
        for line in self.speech.source(file, at + 3, at + 3 + n_old).lines() {
            let _ = writeln!(hunk, "-{line}");
        }
        let n_new = self.random.spread(14, 24).clamp(1, 200);
        for _ in 0..n_new {
            let line = self.speech.new_line(file, &mut self.random);
            let _ = writeln!(hunk, "+{line}");
        }
        let call = format!("call_{}", self.random.hex_word(24));
        let id = self.random.hex_word(24);
        self.begin("response_item");
        self.line.put(format_args!(
            "{{\"type\":\"custom_tool_call\",\"id\":\"ctc_{id}\",\"status\":\"completed\",\
             \"call_id\":\"{call}\",\"name\":\"apply_patch\",\"input\":"
        ));
        self.line.string(&format!(
            "*** Begin Patch\n*** Update File: {}\n@@\n{hunk}*** End Patch",
            file.path
        ));
        self.end_item()?;
        self.begin_completed("FileChange");
        self.line.put(format_args!(
            ",\"id\":\"{call}\",\"changes\":{{\"{path}\":{{\"type\":\"update\",\"unified_diff\":"
        ));
        self.line.string(&format!(
            "@@ -{},{} +{},{} @@\n{hunk}",
            at + 1,
            n_old + 3,
            at + 1,
            n_new + 3
        ));
        self.line.raw(",\"move_path\":null}},\"status\":\"completed\",\"stdout\":");
        let done = format!("Success. Updated the following files:\nM {}\n", file.path);
        self.line.string(&done).raw(",\"stderr\":\"\"");
        self.end_completed()?;
        let answer = format!("Exit code: 0\nWall time: 0 seconds\nOutput:\n{done}");
        self.function_output("custom_tool_call_output", &call, &answer)
    }

    /// Writes a change of the plan.
    pub(super) fn plan(&mut self) -> Result<(), String> {
        let mut arguments = Line::default();
        arguments.raw("{\"plan\":[");
        for i in 0..self.random.between(2, 6) {
            let status = ["completed", "in_progress", "pending"][self.random.index(3)];
            arguments.raw(if i > 0 { ",{\"step\":" } else { "{\"step\":" });
            arguments.string(&self.speech.title(&mut self.random));
            arguments.put(format_args!(",\"status\":\"{status}\"}}"));
        }
        arguments.raw("]}");
        let call = self.function_call("update_plan", "", arguments.as_str())?;
        self.function_output("function_call_output", &call, "Plan updated")
    }

    /// Writes a call of an MCP server.
    pub(super) fn mcp(&mut self) -> Result<(), String> {
        let n_bytes = self.size(1_200, MAX_OUTPUT_BYTES);
        let output = self.speech.output(&mut self.random, n_bytes);
        let mut arguments = Line::default();
        arguments.raw("{\"query\":").string(&self.speech.title(&mut self.random)).raw("}");
        let namespace = ",\"namespace\":\"mcp__tracker\"";
        let call = self.function_call("search_issues", namespace, arguments.as_str())?;
        self.wait(900);
        self.begin_completed("McpToolCall");
        self.line.put(format_args!(
            ",\"id\":\"{call}\",\"server\":\"tracker\",\"tool\":\"search_issues\",\
             \"arguments\":{},\"status\":\"completed\",\
             \"result\":{{\"content\":[{{\"type\":\"text\",\"text\":",
            arguments.as_str()
        ));
        self.line.string(&output).raw("}]},\"duration\":{\"secs\":0,\"nanos\":3334067}");
        self.end_completed()?;
        self.function_output("function_call_output", &call, &output)
    }

    /// Writes a call of `name`. Gives the call's id.
    pub(super) fn function_call(
        &mut self,
        name: &str,
        namespace: &str,
        arguments: &str,
    ) -> Result<String, String> {
        let call = format!("call_{}", self.random.hex_word(24));
        let id = self.random.hex_word(24);
        self.begin("response_item");
        self.line.put(format_args!(
            "{{\"type\":\"function_call\",\"status\":\"completed\",\"id\":\"fc_{id}\",\
             \"name\":\"{name}\"{namespace},\"arguments\":"
        ));
        self.line.string(arguments).put(format_args!(",\"call_id\":\"{call}\""));
        self.end_item()?;
        Ok(call)
    }

    /// Writes what `call` gave to the model.
    pub(super) fn function_output(
        &mut self,
        kind: &str,
        call: &str,
        output: &str,
    ) -> Result<(), String> {
        let id = self.random.uuid_of_time(self.now.0);
        self.begin("response_item");
        self.line.put(format_args!(
            "{{\"type\":\"{kind}\",\"id\":\"fco_{id}\",\"call_id\":\"{call}\",\"output\":"
        ));
        self.line.string(output);
        self.end_item()
    }
}
