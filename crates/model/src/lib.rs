//! The vocabulary of ai-hist: sessions, and the events recorded in them.
//!
//! **Invariant:** plain data. No I/O, no clock, no async and no serde. A type here is
//! what we mean by a word; how it is stored or sent is some other crate's business.

mod error_code;
mod event;
mod feed;
mod id;
pub mod limits;
mod session;
mod time;

pub use error_code::{Class, Coded, ErrorCode, message_with_causes};
pub use event::{Author, Change, Event, EventBody, EventKind, ToolOutcome};
pub use feed::{Batch, Cursor, FeedId, Skipped, Span, Stamp, Tally};
pub use id::{AgentId, ConnectorId, EventId, NativeEventKey, NativeSessionId, SessionId};
pub use session::{Lineage, Relation, SessionFacts, SessionKey, Title, TitleOrigin, Usage};
pub use time::Timestamp;
