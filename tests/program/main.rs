//! End to end: the real program on machines made for each test.

mod bad_input;
mod config;
mod handoff;
mod history;
mod machine;
mod mcp;
mod quickstart;
mod watch;
