//! Records: what is around what is said.

use super::Session;

impl Session<'_> {
    /// Begins a record; its payload follows.
    pub(super) fn begin(&mut self, kind: &str) {
        let (time, ordinal) = (self.now.iso(), self.ordinal);
        self.ordinal += 1;
        self.line.clear();
        self.line.put(format_args!(
            "{{\"timestamp\":\"{time}\",\"ordinal\":{ordinal},\"type\":\"{kind}\",\"payload\":"
        ));
    }

    /// Ends and writes the record that was begun.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.line.raw("}");
        let n_bytes = self.line.as_str().len() as u64 + 1;
        self.spent += n_bytes;
        self.since_compaction += n_bytes;
        self.transcript.line(&self.line)
    }

    /// Ends and writes a `response_item`, with what is noted of its place.
    pub(super) fn end_item(&mut self) -> Result<(), String> {
        let ordinal = self.ordinal;
        self.line.put(format_args!(
            ",\"internal_chat_message_metadata_passthrough\":{{\"turn_id\":\"{}\"}}}},\
             \"metadata\":{{\"history_sequence\":{},\"sampled_through_sequence\":{},\
             \"client_authored\":false,\"model_search_state\":\"unused\"}}",
            self.turn_id,
            ordinal / 3,
            ordinal / 3 - (ordinal / 3).min(1)
        ));
        self.end()
    }

    /// Begins an `item_completed`; the rest of the item follows its type.
    pub(super) fn begin_completed(&mut self, kind: &str) {
        self.begin("event_msg");
        self.line.put(format_args!(
            "{{\"type\":\"item_completed\",\"thread_id\":\"{}\",\"turn_id\":\"{}\",\
             \"item\":{{\"type\":\"{kind}\"",
            self.id, self.turn_id
        ));
    }

    /// Ends and writes an `item_completed`.
    pub(super) fn end_completed(&mut self) -> Result<(), String> {
        let at = self.now.0;
        self.line.put(format_args!("}},\"started_at_ms\":{},\"completed_at_ms\":{at}}}", at - 1));
        self.end()
    }

    /// Writes what `role` is told in `kind` of text.
    pub(super) fn message(&mut self, role: &str, kind: &str, text: &str) -> Result<(), String> {
        let id = self.random.uuid_of_time(self.now.0);
        let turn_id = self.turn_id.clone();
        let at = self.now.0;
        self.begin("response_item");
        self.line.put(format_args!(
            "{{\"type\":\"message\",\"id\":\"msg_{id}\",\"role\":\"{role}\",\
             \"content\":[{{\"type\":\"input_text\",\"text\":"
        ));
        self.line.string(text).put(format_args!(
            "}}],\"internal_chat_message_metadata_passthrough\":{{\"turn_id\":\"{turn_id}\",\
             \"create_time\":{}.{:03},\"content_item_kinds\":[\"{kind}\"]}}}},\
             \"metadata\":{{\"history_sequence\":1,\"client_authored\":false}}",
            at / 1000,
            at % 1000
        ));
        self.end()
    }
}
