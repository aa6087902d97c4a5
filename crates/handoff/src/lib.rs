//! From a reference to something an agent can go on with.
//!
//! A handoff carries a [`Pointer`], never a transcript: the sender's session goes to the workspace
//! ([`share`]), the receiver fetches it there ([`fetch`]) and reads it a bounded page at a time
//! ([`Pager`]).
//!
//! **Invariant:** the workspace is the authority. A session of the same id that happens to be on
//! this machine never satisfies a resume.
//! **Invariant:** nothing is shared before its secrets are replaced.
//! **Invariant:** walking the pages gives every row exactly once, also while the session grows:
//! the first page pins how far the walk goes.

mod cursor;
mod error;
mod limits;
mod page;
mod pointer;
mod quote;
mod reference;
mod row;
mod share;
mod summary;

pub use error::HandoffError;
pub use limits::{
    DEFAULT_PAGE_BYTES, DEFAULT_PAGE_ROWS, MAX_INTENT_CHARS, MAX_PAGE_BYTES, MAX_PAGE_ROWS,
    MIN_PAGE_BYTES,
};
pub use page::{Hydration, HydrationStatus, Order, PageRequest, Pager, ResumePage, within};
pub use pointer::{Pointer, intent};
pub use quote::{CONTENT_TRUST, quoted};
pub use reference::{Reference, resolve};
pub use row::{Row, RowStyle, slice, time};
pub use share::{Fetched, fetch, share};
pub use summary::{FirstPrompt, Git, Parent, Plan, SessionSummary, UsageRow, summarize};
