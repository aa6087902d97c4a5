//! Bounds of this connector.

/// How much of a record that is not understood goes into its event. The archive keeps all of it;
/// this is enough to be found by.
pub(crate) const MAX_UNKNOWN_BYTES: usize = 4096;

/// How much of a file's head is searched for a session id, where the file's name does not say it.
/// Past it the name alone decides. The id stands in the first record of a conversation; what comes
/// before are a few summaries.
pub(crate) const MAX_HEAD_BYTES: u64 = 256 * 1024;

/// The longest sidecar of a sub-agent that is read. A longer one is taken as absent; real ones have
/// some hundred bytes.
pub(crate) const MAX_SIDECAR_BYTES: u64 = 64 * 1024;

/// How far back from a result its tool call is searched, where the result does not say what was
/// edited. Past it the edit has a path and no difference. A call stands some lines before its
/// result, and the lines between are rarely long.
pub(crate) const MAX_CALL_DISTANCE_BYTES: u64 = 256 * 1024;

/// How far back from a summary the line is searched that it summarizes, and from a tag the same
/// one. Past it the summary is taken to be of another session, which it is as a rule, and the tag
/// is told again.
pub(crate) const MAX_LEAF_DISTANCE_BYTES: u64 = 4 * 1024 * 1024;

/// How far back the queue of prompts is followed when one is taken from it. A prompt that was typed
/// before that is not found, and is then missing. It waits for a tool to end, which may print much.
pub(crate) const MAX_QUEUE_DISTANCE_BYTES: u64 = 4 * 1024 * 1024;

/// How many transcripts are looked into for a tool call that was just made, newest first, or that
/// started a sub-agent's sub-agent. Past it the call counts as not seen. An agent with many sub-agents writes to one file for each; this is
/// a guess of how many speak at once.
pub(crate) const MAX_CALLER_FILES: usize = 64;

/// How much of each transcript's end is searched for the call: it was written within the last
/// seconds, and the records in between are small. A guess.
pub(crate) const MAX_CALLER_TAIL_BYTES: u64 = 2 * 1024 * 1024;

/// How much older than the newest transcript of a folder another may be to count as active too.
/// Past it the newest one alone is taken. A guess.
pub(crate) const MAX_ACTIVE_LAG_MS: i64 = 10 * 60 * 1000;

/// How many candidates are named. The rest is not: nobody chooses from more.
pub(crate) const MAX_CANDIDATES: usize = 10;

/// How much older than the history of prompts itself a prompt in it must be to be told as one whose
/// session left no transcript. A younger one waits: the agent writes the prompt first and makes the
/// transcript when its hooks have run, which takes seconds. A guess, on the safe side.
pub(crate) const MIN_HISTORY_AGE_MS: i64 = 10 * 60 * 1000;

/// How long before the first record of a transcript its first prompt may have been typed. The hooks
/// run in between, for a minute at most if nobody says otherwise.
pub(crate) const MAX_RECORD_LAG_MS: i64 = 60 * 1000;

/// How much of each end of a transcript is searched for the time it begins and ends at. Without
/// one there the transcript counts as one of no time. Every record of the conversation has its
/// time near its beginning.
pub(crate) const MAX_TIME_DISTANCE_BYTES: u64 = 64 * 1024;

/// The longest pasted text that is read from a file of its own. Of a longer one the beginning is
/// taken: enough to be found by.
pub(crate) const MAX_PASTE_BYTES: u64 = 1024 * 1024;
