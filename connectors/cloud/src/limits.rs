//! Bounds of a workspace.

use std::time::Duration;

/// How many events go into one page. A page is what is stored, checked and unpacked at once:
/// larger ones compress better, and cost more to read one event from.
pub(crate) const MAX_PAGE_EVENTS: usize = 200;

/// How many bytes of lines go into one page, before compression. One event that is longer has a
/// page to itself.
pub(crate) const MAX_PAGE_BYTES: usize = 256 * 1024;

/// The longest line. A push with a longer one is refused, and a page that says it unpacks to more
/// is not unpacked. A record has at most 32 MiB, and JSON makes at most six bytes of one.
pub(crate) const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

/// How long a workspace's or an account's name may be.
pub(crate) const MAX_NAME_BYTES: usize = 64;

/// How long a process waits for another one that is writing. A push holds the database for some
/// milliseconds; past this bound somebody is stuck, and the caller is told to try again.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How many idle connections are kept. Each holds some hundred kilobytes.
pub(crate) const MAX_IDLE_CONNECTIONS: usize = 2;
