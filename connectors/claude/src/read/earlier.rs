//! What stands earlier in the file.
//!
//! A reader may begin after any record, so what a record needs of those before it is read again
//! from the file. That is rare: most records are complete in themselves.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::PathBuf,
};

use ai_hist_connector::jsonl;
use memchr::memmem;

use super::record::{Block, Content, Meta, Record};
use crate::limits::{
    MAX_CALL_DISTANCE_BYTES, MAX_HEAD_BYTES, MAX_LEAF_DISTANCE_BYTES, MAX_QUEUE_DISTANCE_BYTES,
};

/// How the questions begin that the program asks of all that was said.
const QUESTIONS: &[&[u8]] = &[
    b"Your task is to create a detailed summary of",
    b"<system-reminder>This is a side question from the user",
    b"[SUGGESTION MODE: ",
];

/// The record that a summary ends at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) uuid: String,
    pub(super) summary: String,
}

/// The file, as far as it stood when the record was written that asks.
#[derive(Debug)]
pub(super) struct Earlier {
    path: PathBuf,
}

impl Earlier {
    pub(super) const fn of(path: PathBuf) -> Self {
        Self { path }
    }

    /// What `read` makes of the tool call `id`, which stands shortly before byte `end`.
    pub(super) fn call<T>(
        &self,
        end: u64,
        id: &str,
        read: impl FnOnce(&Block<'_>) -> T,
    ) -> Option<T> {
        let bytes = self.window(end, MAX_CALL_DISTANCE_BYTES).ok()?;
        let needle = format!("\"id\":\"{id}\"");
        let at = memmem::rfind(&bytes, needle.as_bytes())?;
        let first = memchr::memrchr(b'\n', &bytes[..at])? + 1;
        let last = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it);
        let text = jsonl::text(&bytes[first..last]);
        let record: Record<'_> = serde_json::from_str(&text).ok()?;
        let Content::Blocks(blocks) = &record.message.0.as_ref()?.content else {
            return None;
        };
        blocks.iter().find(|it| it.id.words() == Some(id)).map(read)
    }

    /// Whether the record `uuid` stands before byte `end`.
    pub(super) fn has_record(&self, end: u64, uuid: &str) -> bool {
        let needle = format!("\"uuid\":\"{uuid}\"");
        let bytes = self.window(end, MAX_LEAF_DISTANCE_BYTES).unwrap_or_default();
        memmem::rfind(&bytes, needle.as_bytes()).is_some()
    }

    /// Whether a line that begins with `line` stands before byte `end`.
    pub(super) fn has_line(&self, end: u64, line: &str) -> bool {
        let bytes = self.window(end, MAX_LEAF_DISTANCE_BYTES).unwrap_or_default();
        memmem::rfind(&bytes, format!("\n{line}").as_bytes()).is_some()
    }

    /// The records before byte `end` among which a queued prompt stands.
    pub(super) fn queue(&self, end: u64) -> Vec<u8> {
        self.window(end, MAX_QUEUE_DISTANCE_BYTES).unwrap_or_default()
    }

    /// The summaries at the head of the file, each with the id of the record it ends at.
    pub(super) fn head_summaries(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let Ok(file) = File::open(&self.path) else {
            return leaves;
        };
        let mut lines = BufReader::new(file.take(MAX_HEAD_BYTES));
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).is_ok_and(|n_bytes| n_bytes != 0) {
            // Every record of a conversation has an id. Most files begin with one.
            if memmem::find(&line, b"\"uuid\":\"").is_some() {
                break;
            }
            let text = jsonl::text(&line);
            if let Ok(record) = serde_json::from_str::<Meta<'_>>(&text) {
                if record.kind.words() != Some("summary") {
                    break;
                }
                let (uuid, summary) = (record.leaf_uuid.words(), record.summary.words());
                if let (Some(uuid), Some(summary)) = (uuid, summary) {
                    leaves.push(Leaf { uuid: uuid.to_owned(), summary: summary.to_owned() });
                }
            }
            line.clear();
        }
        leaves
    }

    /// Where the question stands for which a sub-agent was given copies of its parent's records. At
    /// the beginning, if there is none: then all is its own.
    pub(super) fn question(&self) -> u64 {
        let mut at = 0;
        let mut question = 0;
        // What cannot be read is as if it were not there; to read the file itself will say so.
        let _ = self.each_line(u64::MAX, |line| {
            let is_candidate = QUESTIONS.iter().any(|it| memmem::find(line, it).is_some());
            if is_candidate && is_question(line) {
                question = at;
            }
            at += line.len() as u64;
        });
        question
    }

    /// Gives each whole line before byte `end` to `read`.
    pub(super) fn each_line(&self, end: u64, mut read: impl FnMut(&[u8])) -> io::Result<()> {
        let mut lines = BufReader::new(File::open(&self.path)?.take(end));
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? != 0 {
            read(&line);
            line.clear();
        }
        Ok(())
    }

    /// At most `n_bytes` before byte `end`, with a newline before the first line in it.
    fn window(&self, end: u64, n_bytes: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        let first = end.saturating_sub(n_bytes);
        file.seek(SeekFrom::Start(first))?;
        let mut bytes = if first == 0 { vec![b'\n'] } else { Vec::new() };
        file.take(end - first).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn is_question(line: &[u8]) -> bool {
    let text = jsonl::text(line);
    let Ok(record) = serde_json::from_str::<Record<'_>>(&text) else {
        return false;
    };
    let Some(message) = record.message.0.filter(|_| record.kind.words() == Some("user")) else {
        return false;
    };
    let begins_so = |text: &str| QUESTIONS.iter().any(|it| text.as_bytes().starts_with(it));
    match message.content {
        Content::Absent => false,
        Content::Words(text) => begins_so(&text),
        Content::Blocks(blocks) => blocks.iter().any(|it| it.text.words().is_some_and(begins_so)),
    }
}
