//! What stands at the head of a session and between its turns: what the program tells the model,
//! copies of what was sent, and states of the program.

use std::fmt::Write as _;

use super::{Assignment, MODEL, Session, VERSION, Who};
use crate::history::{boilerplate::cut, random::Random};

impl Session<'_> {
    /// Writes what precedes the first turn.
    pub(super) fn head(&mut self) -> Result<(), String> {
        if self.spent > 0 {
            return Ok(());
        }
        if self.who == Who::Session {
            self.meta("mode", format_args!(",\"mode\":\"normal\""))?;
            self.permission_mode()?;
            self.meta("atis-latch", format_args!(",\"atis\":\"\""))?;
        }
        Ok(())
    }

    pub(super) fn permission_mode(&mut self) -> Result<(), String> {
        let mode = ",\"permissionMode\":\"acceptEdits\"";
        self.meta("permission-mode", format_args!("{mode}"))
    }

    /// Writes what the model is told after the first prompt, and what is then sent.
    pub(super) fn announce(&mut self) -> Result<(), String> {
        let share = Assignment::share(self.limit);
        let boilerplate = self.assignment.boilerplate;
        let project = self.speech.project;
        let (cwd, branch) = (&project.cwd, &project.branch);
        let environment = format!(
            "\"snapshot\":{{\"workingDirectory\":\"{cwd}\",\"isWorktree\":false,\"isGitRepo\":true,\
             \"additionalWorkingDirectories\":[],\"platform\":\"linux\",\"shell\":\"bash\"}}"
        );
        let about = format!("# Environment\nYou work in {cwd}, on branch {branch}.");
        self.attachment("environment", &environment, &about)?;
        let model = format!("\"identity\":{{\"modelId\":\"{MODEL}\"}}");
        self.attachment("model", &model, "You are powered by the model named Opus 5.5.")?;
        let agents = cut(&boilerplate.skills, 33 * share);
        self.attachment("agent_listing_delta", &listing("addedLines", agents), agents)?;
        let skills = cut(&boilerplate.skills, 60 * share);
        self.attachment("skill_listing", &listing("names", skills), skills)?;
        let status = format!("gitStatus: on branch {branch}, commit {}", project.commit);
        self.attachment("session_context", "\"context\":{}", &status)?;
        let date = self.now.iso()[..10].to_owned();
        self.attachment("date", &format!("\"date\":\"{date}\""), &format!("It is {date}."))?;
        self.prompt_snapshot(70 * share)?;
        self.request_shape(share)
    }

    /// Writes that something was sent to the model.
    pub(super) fn request(&mut self) -> Result<(), String> {
        let id = self.random.uuid();
        let [shape, tail, digest] = [(); 3].map(|()| self.random.hex_word(64));
        let (time, keep) = (self.now.iso(), self.random.below(400));
        self.line.clear();
        self.line.put(format_args!(
            "{{\"type\":\"api-request\",\"sessionId\":\"{}\",\"id\":\"{id}\",\"timestamp\":\"{time}\",\
             \"version\":\"{VERSION}\",\"querySource\":\"repl_main_thread\",\"shapeHash\":\"{shape}\",\
             \"params\":{{\"model\":\"{MODEL}\",\"betas\":[\"claude-code-20250219\",\
             \"interleaved-thinking-2025-05-14\",\"context-management-2025-06-27\"],\
             \"max_tokens\":128000,\"thinking\":{{\"type\":\"adaptive\"}},\
             \"output_config\":{{\"effort\":\"medium\"}}}},\"thread\":{{\"type\":\"none\"}},\
             \"keep\":{keep},\"tail\":[\"{tail}\"],\
             \"cacheControl\":[{{\"path\":[\"system\",0],\"value\":{{\"type\":\"ephemeral\"}}}}],\
             \"requestDigest\":\"{digest}\"}}",
            self.id
        ));
        self.end_meta()
    }

    /// Writes a copy of the message `text` of the person, as it was sent.
    pub(super) fn request_blob(&mut self, text: &str) -> Result<(), String> {
        let hash = self.random.hex_word(64);
        self.line.clear();
        self.line.put(format_args!(
            "{{\"type\":\"api-request-blob\",\"sessionId\":\"{}\",\"hash\":\"{hash}\",\
             \"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":",
            self.id
        ));
        self.line.string(text).raw("}]}}");
        self.end_meta()
    }

    /// Writes how the session has been paid for up to here.
    pub(super) fn cost_state(&mut self) -> Result<(), String> {
        let random = &mut Random::of_part(self.spent, self.n_turns);
        let (cents, input, output) =
            (random.below(4_000), random.below(400_000), random.below(9_000));
        let begins = self.assignment.begins.0;
        self.meta(
            "cost-state",
            format_args!(
                ",\"totalCostUSD\":{}.{:02},\"totalAPIDuration\":{output},\
                 \"totalToolDuration\":{cents},\"totalLinesAdded\":{},\"totalLinesRemoved\":{},\
                 \"startTime\":{begins},\"modelUsage\":{{\"{MODEL}\":{{\"inputTokens\":{input},\
                 \"outputTokens\":{output},\"costUSD\":{}.{:02}}}}},\"hasUnknownModelCost\":false",
                cents / 100,
                cents % 100,
                cents / 9,
                cents / 20,
                cents / 100,
                cents % 100,
            ),
        )
    }

    /// Writes what was copied of the files before they were changed.
    pub(super) fn file_history(&mut self) -> Result<(), String> {
        let (message, time) = (self.random.uuid(), self.now.iso());
        let mut files = String::new();
        for i in 0..self.random.below(4) {
            let path = &self.speech.project.file(&mut self.random).path;
            let comma = if i > 0 { "," } else { "" };
            let (hash, version) = (self.random.hex_word(16), self.random.between(1, 9));
            let _ = write!(
                files,
                "{comma}\"{path}\":{{\"backupFileName\":\"{hash}@v{version}\",\
                 \"version\":{version},\"backupTime\":\"{time}\"}}"
            );
        }
        self.meta(
            "file-history-snapshot",
            format_args!(
                ",\"messageId\":\"{message}\",\"snapshot\":{{\"messageId\":\"{message}\",\
                 \"trackedFileBackups\":{{{files}}},\"timestamp\":\"{time}\"}},\
                 \"isSnapshotUpdate\":false"
            ),
        )
    }

    /// Writes an attachment: `fields` for the program, and `text` as the model is told it.
    fn attachment(&mut self, kind: &str, fields: &str, text: &str) -> Result<(), String> {
        self.begin();
        self.line.put(format_args!("\"attachment\":{{\"type\":\"{kind}\",{fields}}}"));
        self.line.raw(",\"type\":\"attachment\",\"rendered\":[{\"content\":");
        self.line.string(&format!("<system-reminder>\n{text}\n</system-reminder>"));
        self.line.raw("}],\"renderedRole\":\"system\"");
        self.end().map(drop)
    }

    fn prompt_snapshot(&mut self, n_bytes: u64) -> Result<(), String> {
        let text = cut(&self.assignment.boilerplate.instructions, n_bytes);
        self.begin();
        self.line.raw("\"attachment\":{\"type\":\"prompt_snapshot\",\"systemPrompt\":[");
        self.line.string(text).raw("],\"reminderFold\":false},\"type\":\"attachment\"");
        self.end().map(drop)
    }

    /// Writes the instructions and tools that every request has, once.
    fn request_shape(&mut self, share: u64) -> Result<(), String> {
        let (hash, time) = (self.random.hex_word(64), self.now.iso());
        let boilerplate = self.assignment.boilerplate;
        self.line.clear();
        self.line.put(format_args!(
            "{{\"type\":\"api-request-shape\",\"sessionId\":\"{}\",\"shapeHash\":\"{hash}\",\
             \"timestamp\":\"{time}\",\"version\":\"{VERSION}\",\
             \"shape\":{{\"system\":[{{\"type\":\"text\",\"text\":",
            self.id
        ));
        self.line.string(cut(&boilerplate.instructions, 70 * share)).raw("}],\"tools\":[");
        let n_tools = boilerplate.tools.len() * usize::try_from(share).unwrap_or(100) / 100;
        self.line.raw(&boilerplate.tools[..n_tools.max(1)].join(",")).raw("]}}");
        self.end_meta()
    }
}

/// A list of the first words of `lines`.
fn listing(field: &str, lines: &str) -> String {
    let names: Vec<String> = lines
        .lines()
        .filter_map(|it| it.strip_prefix("- ")?.split_once(':'))
        .map(|it| format!("\"{}\"", it.0))
        .collect();
    format!("\"{field}\":[{}],\"isInitial\":true", names.join(","))
}
