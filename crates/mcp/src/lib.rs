//! MCP over stdio: the tools by which agents reach their history and each other's.
//!
//! **Invariant:** the only crate that names rmcp and JSON schemas.
//! **Invariant:** names, descriptions, schemas and instructions are constants: no recorded text is
//! ever in them.
//! **Invariant:** stdout belongs to the protocol.
//! **Invariant:** the handshake touches no store; the first call that needs one opens it.
//! **Invariant:** an answer, as serialized, has at most the bytes that were asked for, and never
//! more than [`limits::MAX_ANSWER_BYTES`].

mod answer;
pub mod limits;
mod schema;
mod server;
mod tools;

pub use server::{ServeError, serve};
