//! Bounds of the store.

use std::time::Duration;

/// How much text is compressed together. Larger pages compress better and cost more to read one
/// event from; at 256 KiB unpacking takes a fifth of a millisecond.
pub(crate) const MAX_BODY_BYTES: usize = 256 * 1024;

/// How many damaged records of one feed are kept by place. All are counted; past this number a
/// list helps nobody.
pub(crate) const MAX_SKIPPED_PER_FEED: i64 = 100;

/// How much of the first prompt is kept beside its session, in characters: what a list shows.
pub(crate) const MAX_PREVIEW_CHARS: usize = 200;

/// How long a writer waits for another process. Readers never wait.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How many idle connections are kept. Each holds some hundred kilobytes.
pub(crate) const MAX_IDLE_CONNECTIONS: usize = 4;

/// From how much text on a session begins another page when it goes on. Below that the last page is
/// made anew with what is added: a fraction of a millisecond.
pub(crate) const MIN_BODY_BYTES: usize = 32 * 1024;

/// How many raw bytes are compressed together at most. Larger chunks compress better, and one is
/// unpacked whole for the record that somebody asks for: half a millisecond.
pub(crate) const MAX_CHUNK_BYTES: usize = 1024 * 1024;

/// From how many raw bytes on a feed begins another chunk when it goes on. See [`MIN_BODY_BYTES`].
pub(crate) const MIN_CHUNK_BYTES: i64 = 64 * 1024;

/// How large a page may be that is unpacked, against a page that was made to exhaust memory. Pages
/// are smaller, but for a text that is larger than a page.
pub(crate) const MAX_PAGE_BYTES: usize = 1024 * 1024 * 1024;

/// How many of a session's first events are known by name, to recognise a copy of it. A copy may
/// lack records that its agent does not copy, so one is not enough; more than a few add nothing.
pub(crate) const N_BEGINNING: i64 = 4;

/// How many sessions a feed may tell of for forks to be looked for among them. A list of prompts
/// tells of all sessions and copies none.
pub(crate) const MAX_SETTLED_SESSIONS: usize = 16;

/// From how many bytes on a text is looked for in its record. A shorter one costs more to look for,
/// and to find again, than to keep.
pub(crate) const MIN_QUOTED_BYTES: usize = 256;

/// How much of a record before the last text is looked through for a text that does not follow it.
/// Beyond that a text is kept on a page, so that a record of many texts costs no more than one look
/// at it for each.
pub(crate) const MAX_SECOND_LOOK_BYTES: usize = 256 * 1024;

/// How many sessions may share a beginning and be looked at for copies. More have a name in common
/// that names nothing; what they copied is then counted in each.
pub(crate) const MAX_FAMILY: usize = 64;

/// How much of a text is looked for, and how often that may be found without the rest. Texts differ
/// soon; what does not is kept on a page.
pub(crate) const HEAD_BYTES: usize = 64;
/// See [`HEAD_BYTES`].
pub(crate) const MAX_VAIN_LOOKS: usize = 64;
