//! A turn: what the person asks, what the model does about it, and what it answers.

use super::{MODEL, Session, Who, call::Call};
use crate::history::{
    boilerplate::cut,
    limits::{MAX_SPEECH_BYTES, WINDOW_BYTES},
    line::Line,
};

/// An answer of the model's that is written block by block, a record each.
pub(super) struct Message {
    id: String,
    request: String,
    n_blocks: u64,
    usage: String,
}

impl Session<'_> {
    /// Writes a turn. It ends early where there is no more room.
    pub(super) fn turn(&mut self) -> Result<(), String> {
        if self.since_compaction > WINDOW_BYTES && self.who == Who::Session {
            self.compact()?;
        }
        let n_bytes = self.size(140, MAX_SPEECH_BYTES);
        let prompt = self.speech.prompt(&mut self.random, n_bytes);
        self.prompt(&prompt)?;
        self.request_blob(&prompt)?;
        for _ in 0..self.random.spread(7, 18).clamp(1, 60) {
            if !self.has_room() {
                break;
            }
            self.step()?;
        }
        self.finish_turn()
    }

    /// Writes what the person, or the parent of a sub-agent, asks for.
    pub(super) fn prompt(&mut self, text: &str) -> Result<(), String> {
        self.wait(90_000);
        if self.who == Who::Session {
            self.file_history()?;
            if self.random.percent(10) {
                self.queue(text)?;
            }
        }
        self.prompt_id = self.random.uuid();
        text.clone_into(&mut self.last_prompt);
        self.begin();
        self.line.put(format_args!(
            "\"promptId\":\"{}\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":",
            self.prompt_id
        ));
        self.line.string(text).raw("}");
        if self.who == Who::Session {
            self.line.raw(",\"permissionMode\":\"acceptEdits\",\"promptSource\":\"typed\"");
        }
        self.end()?;
        self.n_turns += 1;
        if self.n_turns == 1 {
            self.announce()?;
        }
        Ok(())
    }

    /// Writes one answer of the model's and what its calls give.
    pub(super) fn step(&mut self) -> Result<(), String> {
        self.wait(4_000);
        self.request()?;
        let mut message = self.message("tool_use");
        if self.random.percent(35) {
            self.think(&mut message)?;
        }
        if self.random.percent(40) {
            let n_bytes = self.size(160, MAX_SPEECH_BYTES);
            self.say(&mut message, n_bytes)?;
        }
        if self.random.percent(2) && self.room_for_agent() > 0 {
            return self.delegate(&mut message);
        }
        let n_calls = if self.random.percent(12) { self.random.between(2, 3) } else { 1 };
        let mut calls = Vec::new();
        for _ in 0..n_calls {
            let call = self.call();
            let uuid = self.tool_use(&mut message, &call)?;
            calls.push((call, uuid));
        }
        for (call, uuid) in &calls {
            self.wait(900);
            self.tool_result(call, uuid)?;
        }
        Ok(())
    }

    pub(super) fn tool_use(&mut self, to: &mut Message, call: &Call) -> Result<String, String> {
        self.begin_block(to);
        self.line.put(format_args!(
            "{{\"type\":\"tool_use\",\"id\":\"{}\",\"name\":\"{}\",\"input\":{}}}",
            call.id, call.name, call.input
        ));
        self.end_block(to)
    }

    /// Writes what `call` gave; record `uuid` made it.
    pub(super) fn tool_result(&mut self, call: &Call, uuid: &str) -> Result<(), String> {
        self.begin();
        self.line.put(format_args!(
            "\"promptId\":\"{}\",\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\
             [{{\"tool_use_id\":\"{}\",\"type\":\"tool_result\",\"content\":",
            self.prompt_id, call.id
        ));
        self.line.string(&call.answer);
        self.line.put(format_args!(",\"is_error\":{}}}]}}", call.is_error));
        // Sub-agents leave it out.
        if self.who == Who::Session {
            self.line.raw(",\"toolUseResult\":").raw(&call.outcome);
        }
        self.line.put(format_args!(",\"sourceToolAssistantUUID\":\"{uuid}\""));
        self.end().map(drop)
    }

    /// Writes a paragraph or more that the model says.
    pub(super) fn say(&mut self, message: &mut Message, n_bytes: u64) -> Result<(), String> {
        let text = self.speech.answer(&mut self.random, n_bytes);
        self.begin_block(message);
        self.line.raw("{\"type\":\"text\",\"text\":").string(&text).raw("}");
        self.end_block(message).map(drop)
    }

    pub(super) fn message(&mut self, stop_reason: &str) -> Message {
        let random = &mut self.random;
        let (id, request) = (random.hex_word(24), random.hex_word(24));
        let [written, read, output] = [(900, 20), (60_000, 16), (160, 24)]
            .map(|(median, deviation)| random.spread(median, deviation));
        let usage = format!(
            "\"stop_reason\":\"{stop_reason}\",\"stop_sequence\":null,\"usage\":{{\
             \"input_tokens\":{},\"cache_creation_input_tokens\":{written},\
             \"cache_read_input_tokens\":{read},\"output_tokens\":{output},\
             \"server_tool_use\":{{\"web_search_requests\":0,\"web_fetch_requests\":0}},\
             \"service_tier\":\"standard\",\"cache_creation\":{{\"ephemeral_1h_input_tokens\":0,\
             \"ephemeral_5m_input_tokens\":{written}}},\"inference_geo\":\"\",\"iterations\":[],\
             \"speed\":\"standard\"}}",
            random.between(1, 12)
        );
        Message { id, request, n_blocks: 0, usage }
    }

    /// Writes the last answer of a turn, and what follows it.
    fn finish_turn(&mut self) -> Result<(), String> {
        self.wait(5_000);
        self.request()?;
        let mut message = self.message("end_turn");
        let n_bytes = self.size(700, MAX_SPEECH_BYTES);
        self.say(&mut message, n_bytes)?;
        if self.who != Who::Session {
            return Ok(());
        }
        self.begin();
        let duration = self.random.spread(40_000, 24);
        self.line.put(format_args!(
            "\"type\":\"system\",\"subtype\":\"turn_duration\",\"durationMs\":{duration},\
             \"messageCount\":{},\"isMeta\":false",
            self.n_turns * 9
        ));
        let leaf = self.end()?;
        let prompt = cut(&self.last_prompt, 200);
        let mut quoted = Line::default();
        quoted.string(prompt);
        self.meta(
            "last-prompt",
            format_args!(",\"lastPrompt\":{},\"leafUuid\":\"{leaf}\"", quoted.as_str()),
        )?;
        if self.n_turns == 1 && self.random.percent(60) {
            let title = self.speech.title(&mut self.random);
            self.meta("ai-title", format_args!(",\"aiTitle\":\"{title}\""))?;
        }
        self.meta("mode", format_args!(",\"mode\":\"normal\""))?;
        self.permission_mode()?;
        self.meta("atis-latch", format_args!(",\"atis\":\"\""))?;
        if self.random.percent(20) { self.cost_state() } else { Ok(()) }
    }

    /// Writes that `text` was typed while the model worked, and then taken up.
    fn queue(&mut self, text: &str) -> Result<(), String> {
        let time = self.now.iso();
        let mut quoted = Line::default();
        quoted.string(text);
        self.meta(
            "queue-operation",
            format_args!(
                ",\"operation\":\"enqueue\",\"timestamp\":\"{time}\",\"content\":{}",
                quoted.as_str()
            ),
        )?;
        self.meta(
            "queue-operation",
            format_args!(",\"operation\":\"dequeue\",\"timestamp\":\"{time}\""),
        )
    }

    fn think(&mut self, message: &mut Message) -> Result<(), String> {
        let n_bytes = self.size(500, MAX_SPEECH_BYTES);
        let text = self.speech.answer(&mut self.random, n_bytes);
        let mut signature = String::new();
        let n_digits = usize::try_from(n_bytes / 2 + 200).expect("it is a few thousand");
        self.random.base64(n_digits, &mut signature);
        self.begin_block(message);
        self.line.raw("{\"type\":\"thinking\",\"thinking\":").string(&text);
        self.line.put(format_args!(",\"signature\":\"{signature}\"}}"));
        self.end_block(message).map(drop)
    }

    fn begin_block(&mut self, message: &Message) {
        self.begin();
        self.line.put(format_args!(
            "\"message\":{{\"id\":\"msg_{}\",\"type\":\"message\",\"role\":\"assistant\",\
             \"model\":\"{MODEL}\",\"content\":[",
            message.id
        ));
    }

    fn end_block(&mut self, message: &mut Message) -> Result<String, String> {
        self.line.put(format_args!(
            "],{},\"stop_details\":null}},\"apiBlockIndex\":{},\"requestId\":\"req_{}\",\
             \"requestedModel\":\"{MODEL}\",\"type\":\"assistant\"",
            message.usage, message.n_blocks, message.request
        ));
        message.n_blocks += 1;
        self.line.raw(",\"effort\":\"medium\",\"madeBy\":\"model\"");
        self.wait(300);
        self.end()
    }
}
