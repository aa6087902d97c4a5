//! From words to a page of results.
//!
//! **Invariant:** any text is a query. What is no syntax is looked for as it is.
//! **Invariant:** an answer is whole: what the index has not taken in yet is searched too, and what
//! could not be searched is said.
//! **Invariant:** where nothing matches, what comes near is found instead, and the answer says so.

mod cursor;
mod date;
mod error;
mod limits;
mod parse;
mod search;
mod snippet;
mod stage;
mod terms;

pub use error::QueryError;
pub use limits::{DEFAULT_HITS, MAX_HITS};
pub use parse::{Problem, Query, Wanted, parse};
pub use search::{Answer, Coverage, Hit, Request, search};
pub use snippet::{Snippet, snippet};
pub use terms::Terms;
