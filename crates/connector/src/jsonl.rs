//! Reading a file of JSON lines that another program is still appending to.
//!
//! [`Tail`] finds the lines; [`text`] and [`repair`] turn a line's bytes into something that a
//! JSON parser takes, whatever an editor, a crash or a careless writer did to them.

mod source;
mod tail;
mod text;

pub use tail::{Line, LineBody, Tail};
pub use text::{repair, text};
