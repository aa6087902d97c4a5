//! End to end: the real program on machines made for each test.

mod bad_input;
mod config;
mod faults;
mod handoff;
mod history;
mod lifecycle;
mod machine;
mod mcp;
mod quickstart;
mod watch;
