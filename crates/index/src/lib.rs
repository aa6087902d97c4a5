//! The search index: which events hold given words, the best first.
//!
//! **Invariant:** it is derived. Whatever is wrong with it, deleting it and following the store
//! again heals it; so a damaged, foreign or outdated index counts as an empty one.
//! **Invariant:** it holds no text. What a hit says is read from the store.
//! **Invariant:** reading takes no lock and writes nothing, so no process, however it is stopped,
//! keeps another from searching.
//! **Invariant:** one writer at a time. What it added and how far it got are committed together.
//! **Invariant:** the only crate that names tantivy.

mod compile;
mod directory;
mod doc;
mod error;
mod excerpt;
mod folder;
mod index;
pub mod limits;
mod plan;
mod rank;
mod record;
mod schema;
mod search;
#[cfg(test)]
mod tests;
mod words;
mod writer;

pub use doc::Doc;
pub use error::IndexError;
pub use index::{Identity, Index, Mark, View};
pub use plan::{Clause, ClauseTerm, Closeness, Demand, Filters, Plan};
pub use search::{Found, Hit, Page};
pub use words::{Place, Role, Words, ansi_end};
pub use writer::Writer;
