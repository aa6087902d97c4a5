//! A turn: what the person asks, what the model does about it, and what it answers.

use super::{Session, Usage};
use crate::history::{boilerplate::cut, limits::MAX_SPEECH_BYTES};

impl Session<'_> {
    /// Writes a turn about `task`, or about what a person asks. It ends early where there is no
    /// more room.
    pub(super) fn turn(&mut self, task: Option<&str>) -> Result<(), String> {
        if self.is_window_full() {
            self.compact()?;
        }
        self.wait(90_000);
        self.begin_turn()?;
        let begins = self.now;
        let prompt = match task {
            Some(task) => task.to_owned(),
            None => {
                let n_bytes = self.size(140, MAX_SPEECH_BYTES);
                self.speech.prompt(&mut self.random, n_bytes)
            }
        };
        self.message("user", "user.text", &prompt)?;
        let id = self.random.uuid_of_time(self.now.0);
        self.begin_completed("UserMessage");
        self.line.put(format_args!(",\"id\":\"{id}\",\"content\":[{{\"type\":\"text\",\"text\":"));
        self.line.string(&prompt).raw(",\"text_elements\":[]}]");
        self.end_completed()?;
        for _ in 0..self.random.spread(9, 18).clamp(1, 80) {
            if !self.has_room() {
                break;
            }
            self.step()?;
        }
        let n_bytes = self.size(700, MAX_SPEECH_BYTES);
        let answer = self.say("final_answer", n_bytes)?;
        self.account()?;
        let (turn_id, duration) = (self.turn_id.clone(), self.now.0 - begins.0);
        self.begin("event_msg");
        self.line.put(format_args!(
            "{{\"type\":\"task_complete\",\"root_turn_id\":\"{turn_id}\",\
             \"turn_id\":\"{turn_id}\",\"last_agent_message\":"
        ));
        self.line.string(&answer).put(format_args!(
            ",\"started_at\":{},\"completed_at\":{},\"duration_ms\":{duration}}}",
            begins.0 / 1000,
            self.now.0 / 1000
        ));
        self.end()
    }

    /// Writes one answer of the model's and what its call gives.
    fn step(&mut self) -> Result<(), String> {
        self.wait(4_000);
        if self.random.percent(60) {
            self.think()?;
        }
        if self.random.percent(30) {
            let n_bytes = self.size(160, MAX_SPEECH_BYTES);
            self.say("commentary", n_bytes)?;
        }
        if self.random.percent(1) && self.room_for_agent() > 0 {
            return self.delegate();
        }
        match self.random.below(100) {
            0..74 => self.command()?,
            74..90 => self.patch()?,
            90..95 => self.plan()?,
            _ => self.mcp()?,
        }
        self.account()
    }

    /// Writes what the model says, in both forms. Gives it.
    fn say(&mut self, phase: &str, n_bytes: u64) -> Result<String, String> {
        let text = self.speech.answer(&mut self.random, n_bytes);
        let id = self.random.hex_word(24);
        self.wait(300);
        self.begin_completed("AgentMessage");
        self.line
            .put(format_args!(",\"id\":\"msg_{id}\",\"content\":[{{\"type\":\"Text\",\"text\":"));
        self.line.string(&text).put(format_args!("}}],\"phase\":\"{phase}\""));
        self.end_completed()?;
        self.begin("response_item");
        self.line.put(format_args!(
            "{{\"type\":\"message\",\"status\":\"completed\",\"id\":\"msg_{id}\",\
             \"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":"
        ));
        self.line.string(&text);
        self.line.put(format_args!(",\"annotations\":[]}}],\"phase\":\"{phase}\""));
        self.end_item()?;
        Ok(text)
    }

    /// Writes what the model thinks: a summary in both forms, and the whole of it sealed.
    fn think(&mut self) -> Result<(), String> {
        let title = self.speech.title(&mut self.random);
        let n_bytes = self.size(260, MAX_SPEECH_BYTES);
        let text = format!("**{title}**\n\n{}", self.speech.answer(&mut self.random, n_bytes));
        let id = self.random.hex_word(24);
        let mut sealed = String::new();
        let n_digits = usize::try_from(n_bytes * 3 + 900).expect("it is a few thousand");
        self.random.base64(n_digits, &mut sealed);
        self.begin_completed("Reasoning");
        self.line.put(format_args!(",\"id\":\"rs_{id}\",\"summary_text\":["));
        self.line.string(&text).raw("],\"raw_content\":[]");
        self.end_completed()?;
        self.begin("response_item");
        self.line.put(format_args!(
            "{{\"type\":\"reasoning\",\"id\":\"rs_{id}\",\
             \"summary\":[{{\"type\":\"summary_text\",\"text\":"
        ));
        self.line.string(&text);
        self.line.put(format_args!("}}],\"content\":null,\"encrypted_content\":\"{sealed}\""));
        self.end_item()
    }

    /// Writes what a request has cost, in both forms.
    fn account(&mut self) -> Result<(), String> {
        let input = self.random.spread(60_000, 16).max(1_000);
        let last = Usage {
            input,
            cached: input - self.random.below(input / 4),
            output: self.random.spread(200, 24),
        };
        self.usage = self.usage.plus(last);
        let (last, total) = (last.json(), self.usage.json());
        let response = self.random.hex_word(24);
        let (id, turn_id) = (self.id.clone(), self.turn_id.clone());
        self.begin("token_usage_record");
        self.line.put(format_args!(
            "{{\"thread_id\":\"{id}\",\"turn_id\":\"{turn_id}\",\"session_id\":\"{id}\",\
             \"root_turn_id\":\"{turn_id}\",\"response_id\":\"resp_{response}\",\"usage\":{last},\
             \"turn_token_usage\":{last},\"thread_token_usage\":{total}}}"
        ));
        self.end()?;
        let percent = self.random.below(100);
        self.begin("event_msg");
        self.line.put(format_args!(
            "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{total},\
             \"last_token_usage\":{last},\"model_context_window\":258400}},\
             \"rate_limits\":{{\"limit_id\":\"codex\",\"primary\":{{\"used_percent\":{percent}.0,\
             \"window_minutes\":300,\"resets_at\":{}}},\"secondary\":null}}}}",
            self.now.0 / 1000 + 9_000
        ));
        self.end()
    }

    /// Writes a compaction.
    fn compact(&mut self) -> Result<(), String> {
        self.wait(40_000);
        let n_bytes = self.size(6_000, 20_000);
        let summary = self.speech.answer(&mut self.random, n_bytes);
        self.begin("compacted");
        self.line.raw("{\"message\":").string(&summary);
        self.line.raw(
            ",\"replacement_history\":[{\"type\":\"message\",\"role\":\"developer\",\
             \"content\":[{\"type\":\"input_text\",\"text\":",
        );
        self.line.string(cut(&self.assignment.boilerplate.skills, 4_700));
        self.line.raw(
            "}]},{\"type\":\"message\",\"role\":\"user\",\
             \"content\":[{\"type\":\"input_text\",\"text\":",
        );
        self.line.string(&summary).raw("}]}],\"window_number\":1}");
        self.end()?;
        let id = self.random.uuid_of_time(self.now.0);
        self.begin_completed("ContextCompaction");
        self.line.put(format_args!(",\"id\":\"{id}\""));
        self.end_completed()?;
        self.since_compaction = 0;
        Ok(())
    }
}
