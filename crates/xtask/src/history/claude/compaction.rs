//! Compaction: the context is full, and a summary takes its place.

use super::Session;
use crate::history::limits::WINDOW_BYTES;

impl Session<'_> {
    /// Writes a compaction.
    pub(super) fn compact(&mut self) -> Result<(), String> {
        self.wait(40_000);
        let before = self.last.take();
        self.begin();
        if let Some(uuid) = &before {
            self.line.put(format_args!("\"logicalParentUuid\":\"{uuid}\","));
        }
        let n_tokens = self.random.between(WINDOW_BYTES / 16, WINDOW_BYTES / 14);
        self.line.put(format_args!(
            "\"type\":\"system\",\"subtype\":\"compact_boundary\",\
             \"content\":\"Conversation compacted\",\"isMeta\":false,\"level\":\"info\",\
             \"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":{n_tokens},\
             \"durationMs\":{}}}",
            n_tokens / 3
        ));
        self.end()?;
        let n_bytes = self.size(9_000, 20_000);
        let summary = self.speech.answer(&mut self.random, n_bytes);
        self.begin();
        self.line.raw("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        self.line.string(&format!(
            "This session is being continued from a previous conversation that ran out of \
             context. The summary below covers the earlier portion of the conversation.\n\n\
             Summary:\n{summary}"
        ));
        self.line.raw("},\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true");
        self.end()?;
        self.since_compaction = 0;
        Ok(())
    }
}
